"""Surveys a repository, and writes the documents of set-up from what the code shows.

`stacks` reads the manifests. `project_files` reads each file once, in a process that may die: `facts` reads the forms of `frameworks/`,
one YAML for each framework, which `found_forms` finds by ast-grep; `conventions` finds traces of what is of the language alone, and
counts traces and facts, `imports` counts imports. `documents` writes what was found. No I/O but `SurveyedTree.read`.
"""

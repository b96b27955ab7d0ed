"""Surveys a repository, and writes the documents of set-up from what the code shows.

`find_stacks` reads the manifests. `reports` looks at each file once, in a process that may die: `facts` reads the forms of
`frameworks/`, one YAML for each framework, which `found_forms` finds by ast-grep; `errors` and `layout` find traces of what is of
the language alone. `survey` sums them up; `middleware`, `responses` and `required` count the facts; `layers`, `imports`, `packages`
and `naming` count paths and imports alone. `documents` and `patterns` write what was found. No I/O but `SurveyedTree.read`.
"""

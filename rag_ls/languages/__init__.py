"""Languages as data: `names` tells the language of a document, a file and a module of `families` hold tables and rules of languages
that are alike.

Other rooms ask a `Language`; none has a table by names of languages. Pure functions of texts, paths and manifests: no I/O. A module
of `families` is imported when a document of its languages comes, and a pattern is compiled when it is first used.
"""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)

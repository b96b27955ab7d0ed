"""Languages as data: `names` tells the language of a document, a file and a module of `families` hold tables and rules of languages
that are alike.

Other rooms ask a `Language`; none has a table by names of languages. Pure functions of texts, paths and manifests: no I/O. A module
of `families` is imported when a document of its languages comes, and a pattern is compiled when it is first used.
"""

from rag_ls.languages.language import Language
from rag_ls.languages.names import Role, by_alias, detect_language, family_of, related_languages, role_of
from rag_ls.languages.registry import LANGUAGES, ImportResolver, find_language, holds_language, languages_holding
from rag_ls.languages.source_tree import SourceTree, Target, closest

__all__ = [
    "LANGUAGES",
    "ImportResolver",
    "Language",
    "Role",
    "SourceTree",
    "Target",
    "by_alias",
    "closest",
    "detect_language",
    "family_of",
    "find_language",
    "holds_language",
    "languages_holding",
    "related_languages",
    "role_of",
]

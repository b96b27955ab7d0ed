"""Languages as data: one module holds all that is known of one language (`kotlin.py`), `registry` collects them.

Other rooms ask a `Language`; none has a table by names of languages. Things that several languages share stand in modules named
after them (`jvm`, `scripts`, `markup`, `import_readers`, `comments`); languages that are known by suffix alone are the
table of `plain`. Pure functions of texts, paths and manifests: no I/O.

Every process that cuts imports all of it, so little is made then: rules are named tuples (a dataclass takes a millisecond to
make), and patterns are compiled when they are first used.
"""

from rag_ls.languages.detection import by_alias, detect_language
from rag_ls.languages.families import holds_language, languages_holding
from rag_ls.languages.language import Language, Role
from rag_ls.languages.registry import LANGUAGES, SYNTAXES, family_of, find_language
from rag_ls.languages.resolver import ImportResolver
from rag_ls.languages.source_tree import SourceTree, Target, closest

__all__ = [
    "LANGUAGES",
    "SYNTAXES",
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
]

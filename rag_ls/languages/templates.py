"""Templates: texts with pieces of code of another language. They have no grammar here; the names that their code uses are read."""

from __future__ import annotations

from rag_ls.languages.elixir import ELIXIR
from rag_ls.languages.javascript import JAVASCRIPT
from rag_ls.languages.language import Language, TemplateRule
from rag_ls.languages.ruby import RUBY

# A tag ends before the next one begins, so that an unclosed tag costs no more than its text. `-` and `_` before the end remove
# the white space after the tag.
_INSIDE = rb"((?:[^%<-]|-(?!%>)|%(?!>)|<(?!%))*+)-?%>"
_ESCAPED_INSIDE = rb"((?:[^%<_-]|[_-](?!%>)|%(?!>)|<(?!%))*+)[_-]?%>"
_TAGS = rb"<%(?![#%])[=-]*" + _INSIDE
_ESCAPED_TAGS = rb"<%(?![#%])[=_-]?" + _ESCAPED_INSIDE
_INTERPOLATED = rb"#\{([^{}\n]*)\}"
_LINES = rb"(?m)^[ \t]*[-=~&!]+[<>]*[ \t]*([^\n]*)"
_HAML_ATTRIBUTES = rb"(?m)^[ \t]*[%.#][\w:.#-]*(\{[^\n]*\})"
_HAML_TAGS = rb"(?m)^[ \t]*[%.#][\w:.#-]*(?:[({\[][^\n]*[)}\]])?[&!]?={1,2}[<>]*[ \t]+([^\n]*)"
_SLIM_TAGS = rb"(?m)^[ \t]*[\w.#-][^\n]*?[ \t)\w\"]={1,2}[<>]*[ \t]+([^\n]*)"
_SLIM_ATTRIBUTES = rb"\b[\w-]{1,40}=([a-z@][\w.?!@]*(?:\([^()\n]*\))?)"


def _make(name: str, suffixes: str, code: Language, *patterns: bytes) -> Language:
    return Language(
        name=name,
        suffixes=tuple(suffixes.split()),
        family=code.name,
        references=code.references,
        template=TemplateRule(code.name, patterns),
    )


ERB = _make("erb", "erb rhtml", RUBY, _TAGS)
HAML = _make("haml", "haml", RUBY, _HAML_ATTRIBUTES, _HAML_TAGS, _LINES, _INTERPOLATED)
SLIM = _make("slim", "slim", RUBY, _SLIM_TAGS, _LINES, _INTERPOLATED, _SLIM_ATTRIBUTES)
EEX = _make("eex", "eex heex leex", ELIXIR, _TAGS, rb"<\.(\w+)", rb"=\{([^{}\n]*)\}")
EJS = _make("ejs", "ejs", JAVASCRIPT, _ESCAPED_TAGS)

TEMPLATES = (ERB, HAML, SLIM, EEX, EJS)

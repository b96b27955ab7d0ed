"""Templates: texts with pieces of code of another language. They have no grammar here; the names that their code uses are read."""

from __future__ import annotations

from rag_ls.languages.families.dotnet import CSHARP
from rag_ls.languages.families.functional import ELIXIR
from rag_ls.languages.families.jvm import JAVA
from rag_ls.languages.families.php import PHP
from rag_ls.languages.families.ruby import RUBY
from rag_ls.languages.families.web import JAVASCRIPT, REFERENCES
from rag_ls.languages.language import Language, TemplateRule
from rag_ls.util.records import replace

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
# No further directive, so that brackets without an end cost no more than their text.
_FLAT = rb"(?:[^()@]|@(?!\w+\s*\())*+"


def _nest(levels: int) -> bytes:
    """A pattern of what stands in brackets, with so many levels of them in it."""
    return _FLAT + rb"(?:\(" + _nest(levels - 1) + rb"\)" + _FLAT + rb")*+" if levels else _FLAT


_BRACKETS = _nest(5)
_BLADE_DIRECTIVES = rb"(?<!@)@\w+[ \t]*\((" + _BRACKETS + rb")\)"
_BLADE_TEXTS = rb"(?<!@)\{\{(?!--)((?:[^{}]|\}(?!\})|\{(?!\{))*+)\}\}", rb"\{!!((?:[^{}!]|!(?!!\}))*+)!!\}"
_BLADE_ATTRIBUTES = rb"\s:[\w.-]+=\"([^\"]*+)\""
_BLADE_BLOCKS = rb"@php\b(?!\s*\()((?:[^@]|@(?!endphp|php))*+)@endphp", rb"<\?(?:php|=)((?:[^?<]|\?(?!>)|<(?!\?))*+)\?>"
_RAZOR_WORDS = (
    rb"(?:page|inject|model|using|inherits|implements|attribute|code|functions|section|layout|namespace|rendermode|typeparam"
    rb"|if|foreach|for|while|switch|lock|else|try|key|bind|on[a-z]+)\b"
)
_RAZOR_NAMES = (
    rb"(?<![\w@])@(?!" + _RAZOR_WORDS + rb")(?:await\s+)?"
    rb"((?:[A-Za-z_]\w*)(?:\??\.\w+|\(" + _BRACKETS + rb"\)|\[[^\[\]\n]*+\])*)"
)  # fmt: skip
_RAZOR_BRACKETS = rb"(?<!@)@(?:\w+\s*)?\((" + _BRACKETS + rb")\)", rb"(?m)^[ \t}]*else if \((" + _BRACKETS + rb")\)"
_RAZOR_BLOCKS = rb"@(?:code|functions)\s*\{([^\0]*+)\Z", rb"@\{((?:[^{}]|\{[^{}]*+\})*+)\}"
_RAZOR_LINES = rb"(?m)^[ \t]*(\w[^<>\n;]*+(?:<[\w<>, ]*>[^<>\n;]*+)*+);[ \t]*$"
_RAZOR_DIRECTIVES = rb"(?m)^@(?:model|inherits|inject|implements|using|attribute)[ \t]+\[?([\w.<>]+)"
_RAZOR_TAGS = rb"<([A-Z]\w*)", rb"@(?:on|bind)[\w:-]*+=\"@?([^\"]*+)\""
_TWIG_TAGS = (
    rb"\{\{-?((?:[^{}%]|\}(?!\})|%(?!\}))*+)\}\}",
    rb"\{%-?\s*\w+((?:[^{}%]|\}(?!\})|\{(?![{%#])|%(?!\}))*+)%\}",
)
_EL = rb"[$#*]\{([^{}]*+)\}"


def _make(name: str, code: Language, *patterns: bytes, opening: bytes = b"") -> Language:
    return Language(name, references=code.references, template=TemplateRule(code.name, patterns, opening))


# Its expressions are like those of scripts; what they call is PHP.
_TWIG = _make("twig", replace(JAVASCRIPT, references=REFERENCES._replace(kin="php", is_open=True)), *_TWIG_TAGS)

LANGUAGES = (
    _make("erb", RUBY, _TAGS), _make("haml", RUBY, _HAML_ATTRIBUTES, _HAML_TAGS, _LINES, _INTERPOLATED),
    _make("slim", RUBY, _SLIM_TAGS, _LINES, _INTERPOLATED, _SLIM_ATTRIBUTES),
    _make("eex", ELIXIR, _TAGS, rb"<\.(\w+)", rb"=\{([^{}\n]*)\}"), _make("ejs", JAVASCRIPT, _ESCAPED_TAGS),
    _make("blade", PHP, _BLADE_DIRECTIVES, *_BLADE_TEXTS, _BLADE_ATTRIBUTES, *_BLADE_BLOCKS, opening=b"<?"),
    _make("razor", CSHARP, _RAZOR_NAMES, *_RAZOR_BRACKETS, *_RAZOR_BLOCKS, _RAZOR_LINES, _RAZOR_DIRECTIVES, *_RAZOR_TAGS),
    _make("jsp", JAVA, _TAGS, _EL), _TWIG,
)  # fmt: skip

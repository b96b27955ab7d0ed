"""Text of a repository or a memory, quoted for agents, editors and people, so that it can only be read.

A stranger may have written it: it must give no instruction in our name, and its Markdown is not rendered.
"""

from __future__ import annotations

import json
import re
import unicodedata

from rag_ls.util.patterns import lazy_pattern

# Control characters (ANSI escapes among them), separators of lines and paragraphs, half characters.
_UNSEEN = frozenset(("Cc", "Zl", "Zp", "Cs"))
# Characters that reorder or hide text (bidi marks, tag characters); the joiners among them stay, since scripts and emoji need them.
_HIDING, _JOINERS = "Cf", "\u200c\u200d"
# Places where Markdown begins (CommonMark 0.31, GitHub's extensions). A backslash before them shows them as they are. Nothing
# more is escaped, because some editors show the backslashes.
_MARKDOWN = lazy_pattern(
    r"""[\\`*<\[\]~]                       # code, emphasis, HTML, links, images
    | (?<![^\W_]) _ | _ (?![^\W_])       # emphasis, which does not begin within a word
    | & (?=\#?\w+;) | \$ (?=\()          # entities; icons of VS Code
    | (?<=\w) : (?=//) | (?<=www) \. | @ # addresses that GitHub's Markdown makes links of
    | ^ [#>+=-]                          # headings, quotations, lists, rules
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LIST_NUMBER = lazy_pattern(r"^(\d+)([.)])")
_NO_LANGUAGE = lazy_pattern(r"[^\w+#.-]")
_ENDS_ADDRESS = lazy_pattern(r"[^\w\-.~:/?#@!$&'*+,;=%\[\]]")
_RUN_OF_TICKS = lazy_pattern(r"`+")
# Where Python, terminals and readers of Unicode begin a new line.
_LINE_BREAKS = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")
# Characters that may be unseen: all that JSON does not escape already. The line ends of indented JSON stay.
_UNSEEN_IN_JSON = lazy_pattern("[\x7f-\xa0\xad\u0600-\U000e0fff]")


def make_visible(text: str) -> str:
    """The text in one line, without what a reader does not see; its spaces stay, so that a path still names its file."""
    return text if text.isprintable() else "".join(map(_make_visible, text))


def keep_in_line(text: str) -> str:
    """A line of code as it stands, with a space for each character at which a reader may begin a new line."""
    return text if text.isprintable() else text.translate(_LINE_BREAKS)


def escape_json(text: str) -> str:
    """JSON with an escape for each character that a reader does not see or takes for the end of a line: its values stay."""
    return _UNSEEN_IN_JSON.sub(_escape_unseen, text)


def fold(text: str, at_most: int = 0) -> str:
    """The text in one line, without what a reader does not see; cut to `at_most` characters with `…`, 0 for all."""
    line = " ".join(make_visible(text).split())
    return line if not at_most or len(line) <= at_most else line[: at_most - 1].rstrip() + "…"


def quote(text: str, at_most: int = 0) -> str:
    """The text in one line between quotation marks, which end nowhere inside."""
    return '"' + fold(text, at_most).replace('"', "'") + '"'


def escape_markdown(text: str, at_most: int = 0) -> str:
    """The text in one line as Markdown that shows it as it is: no link, image, command, heading or HTML."""
    escaped = _MARKDOWN.sub(r"\\\g<0>", fold(text, at_most))
    return _LIST_NUMBER.sub(r"\1\\\2", escaped)


def code_span(text: str, at_most: int = 0) -> str:
    """The text in one line as code within Markdown, between more backticks than it holds in a row."""
    line = fold(text, at_most)
    ticks = "`" * (_longest_run(line) + 1)
    # Markdown removes one space at each end. Without these spaces, backticks at the ends would belong to the fence.
    return f"{ticks} {line} {ticks}" if line[:1] == "`" or line[-1:] == "`" else f"{ticks}{line}{ticks}"


def fence(text: str, language: str = "") -> str:
    """A block of code that ends only at its end: its fence is longer than any run of backticks inside."""
    ticks = "`" * max(3, _longest_run(text) + 1)
    name = _NO_LANGUAGE.sub("", language)
    return f"{ticks}{name}\n{text}\n{ticks}"


def link(text: str, uri: str) -> str:
    """A link of ours in Markdown: its text is shown as it is, and its address holds no character that ends it."""
    address = _ENDS_ADDRESS.sub(_percent, uri)
    return f"[{escape_markdown(text)}]({address})"


def _make_visible(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    kind = unicodedata.category(character)
    if kind == _HIDING and character not in _JOINERS:
        return ""
    return " " if kind in _UNSEEN else character


def _escape_unseen(found: re.Match[str]) -> str:
    character = found[0]
    is_seen = unicodedata.category(character) not in (*_UNSEEN, _HIDING) or character in _JOINERS
    return character if is_seen else json.dumps(character)[1:-1]


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def message(text: str) -> str:
    """The text for an editor's message box, line by line: VS Code makes links of `[text](address)` there, commands too."""
    lines = [fold(line) for line in re.split(r"\r\n|\n|\r", text)]
    return "\n".join(lines).replace("](", "] (")


def _longest_run(text: str) -> int:
    return max(map(len, _RUN_OF_TICKS.findall(text)), default=0)


_MASK = "***"
# To a database, a user's name is no secret; a web server may use it as the key.
_NAMES_ARE_KNOWN = ("postgres", "postgresql")
_SECRET_NAMES = r"[\w.-]*(?:password|passwd|pwd|secret|token|key|sig|signature|auth|credential)s?"
_PARAMETER = lazy_pattern(rf"(?i)(?<![\w.-])({_SECRET_NAMES})(\s*=\s*)('(?:[^'\\]|\\.)*'|[^&\s#]+)")
# A password may hold an unescaped `@`, `/` or `#`: it goes up to the last `@` of the text.
_USER = lazy_pattern(r"(?s)\b([a-zA-Z][\w+.-]*)://(.*)@")
_USER_WITHOUT_SCHEME = lazy_pattern(r"(?s)^([^:]*):.*@")


def mask_secrets(address: str) -> str:
    """An address (a URL, or `name=value` pairs) without its passwords and keys, well formed or not."""
    pattern, masked = (_USER, _masked_user) if "://" in address else (_USER_WITHOUT_SCHEME, rf"\1:{_MASK}@")
    return _PARAMETER.sub(rf"\1\2{_MASK}", pattern.sub(masked, address))


def _masked_user(found: re.Match[str]) -> str:
    scheme, user = found.groups()
    name, separator, _ = user.partition(":")
    if scheme.lower() in _NAMES_ARE_KNOWN:
        return f"{scheme}://{name}{separator and ':' + _MASK}@"
    return f"{scheme}://{_MASK}@"

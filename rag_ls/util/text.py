"""Makes text safe for storage, tokenizers and JSON."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import PurePosixPath

from rag_ls.util.patterns import lazy_pattern


def without_surrogates(text: str) -> str:
    """The text with lone surrogates, which no encoding can hold, as question marks.

    JSON may carry them (an editor that cuts an emoji in half sends one).
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


LINE_END = lazy_pattern(r"\r\n|\n|\r")


def end_lines_in_lf(text: bytes) -> bytes:
    """The text with LF for each CRLF and CR."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


MARK = "\ufeff"
"""The byte order mark, which files of UTF-8 may begin with."""


def utc_stamp(at: datetime) -> str:
    """A time as records and answers hold it: RFC 3339, UTC, milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def content_hash(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, in hex; a lone surrogate is encoded as three bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends: LF, CRLF or CR, and nothing else, as editors count them."""
    return LINE_END.split(text)


def column_in_bytes(line: str, column: int) -> int:
    """A column of a line in bytes, as grep and vim count, from one in characters; both from 1."""
    return len(line[: column - 1].encode("utf-8", "surrogatepass")) + 1


def count_of(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 file", "2,000 memories". Without a `plural`, it is the regular one of English."""
    if number == 1:
        return f"1 {noun}"
    regular = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural or regular}"


_MAX_SHOWN = 3
_MIN_LIKENESS = 0.5


def nearest(wanted: str, known: Iterable[str]) -> list[str]:
    """The names most like the wanted one, else those that contain it; at most three."""
    import difflib

    names = list(dict.fromkeys(known))
    return (
        difflib.get_close_matches(wanted, names, _MAX_SHOWN, _MIN_LIKENESS)
        or [name for name in names if wanted.lower() in name.lower()][:_MAX_SHOWN]
    )


def nearest_paths(wanted: str, known: Iterable[str]) -> list[str]:
    """The paths whose file names are most like the wanted one's, whatever their suffixes; of equal names, those in the most
    similar folders.
    """
    import difflib

    by_name: dict[str, list[str]] = {}
    for path in known:
        by_name.setdefault(PurePosixPath(path).stem, []).append(path)
    found = [path for name in nearest(PurePosixPath(wanted).stem, by_name) for path in by_name[name]]
    found.sort(key=lambda path: -difflib.SequenceMatcher(None, wanted, path).ratio())
    return found[:_MAX_SHOWN]


def nearest_text(found: Iterable[str]) -> str:
    """The part of a message that names them; empty for none."""
    names = list(dict.fromkeys(found))
    if not names:
        return ""
    return f"the nearest {'is' if len(names) == 1 else 'are'} {', '.join(names)}; "


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

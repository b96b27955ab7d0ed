"""Finds secrets in texts by their form: one list of forms, for what is indexed and for what is remembered.

Secrets of no distinctive form belong into an ignore file.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import re2

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of

# Words that stand for a secret where none is shown: in documentation, in templates, and in keys that everybody knows.
_EXAMPLE = lazy_pattern(
    r"example|sample|dummy|fake|placeholder|changeme|your|redacted|0123456|1234567|abcdef|x{6}|(.)\1{5}|Eby8vdM02xNOcqFl",
    re.I,
)
_KNOWN_PASSWORD = lazy_pattern(
    r"(?:my|some|the|test|db|user|basic)?[_-]?(?:pass(?:w(?:or)?d|phrase)?|pwd?|secrets?|token|test|(?:foo|bar|baz)+|hidden|admin|root|guest|"
    r"postgres|mysql|user(?:name)?|open sesame|[x.*#]+|[a-z])[_-]?\d{0,4}",
    re.I,
)


@dataclass(frozen=True, slots=True)
class SecretLines:
    """Consecutive lines that hold one secret."""

    kind: str
    first: int
    """The first line, from 1."""
    last: int


@dataclass(frozen=True, slots=True)
class Blanked:
    """A text without its secrets: each of their lines holds blanks alone, as many bytes as before."""

    text: str
    lines: int = 0
    """The number of lines that were blanked."""


def _is_mixed(value: str) -> bool:
    """Whether a value has letters and digits, as nearly all secrets have that a machine made, and words have not."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_no_example(found: re.Match[str]) -> bool:
    return not _EXAMPLE.search(found["value"] if "value" in found.re.groupindex else found[0])


def _is_random(found: re.Match[str]) -> bool:
    return _is_no_example(found) and _is_mixed(found["value"])


def _is_random_letters(found: re.Match[str]) -> bool:
    return _is_no_example(found) and found["value"].lower() != found["value"] != found["value"].upper()


def _is_password(user: str, password: str) -> bool:
    """Whether a password may be one that somebody uses: neither a word that stands for one nor the user's own name."""
    return user != password and not (_KNOWN_PASSWORD.fullmatch(password) or _EXAMPLE.search(password))


def _is_web_password(found: re.Match[str]) -> bool:
    return _is_password(found["user"], found["value"])


def _decode(value: str) -> str:
    """The text that a value in base64, of either alphabet, encodes; empty if it is none."""
    try:
        data = base64.b64decode(
            value.translate({45: "+", 95: "/"}).rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), validate=True
        )
        return data.decode()
    except (binascii.Error, ValueError):
        return ""


def _holds_password(found: re.Match[str]) -> bool:
    user, separator, password = _decode(found["value"]).partition(":")
    return bool(separator) and password.isprintable() and _is_password(user, password) and user.lower() != "aladdin"


def _is_signed(found: re.Match[str]) -> bool:
    """Whether a text is a token with a header of JSON, and claims that are not those of documentation."""
    try:
        header = json.loads(_decode(found["header"]))
    except ValueError:
        return False
    return (
        isinstance(header, dict)
        and "alg" in header
        and not _EXAMPLE.search(_decode(found["claims"]) or found["claims"])
    )


def _has_number(found: re.Match[str]) -> bool:
    """Whether a Discord token begins with the number of an account."""
    return _decode(found[0].partition(".")[0]).isdigit()


def _encodes_key(found: re.Match[str]) -> bool:
    return "PRIVATE KEY" in _decode(found[0][:52]) and len(found[0]) > _MIN_ENCODED_KEY


_TESTS: Mapping[str, Callable[[re.Match[str]], bool]] = {
    "any": lambda found: True, "no example": _is_no_example, "random": _is_random, "letters in both cases": _is_random_letters,
    "encodes a key": _encodes_key, "has an account": _has_number, "signed": _is_signed, "web password": _is_web_password,
    "holds a password": _holds_password,
}  # fmt: skip


@cache
def _read_forms() -> tuple[tuple[str, str, Callable[[re.Match[str]], bool]], ...]:
    """The kind of each form, its pattern, and the test of a match."""
    lines = Path(__file__).with_name("secret_forms.txt").read_text("utf-8").splitlines()
    rows = (line.split(" :: ") for line in lines if not line.startswith("#"))
    return tuple((kind, pattern, _TESTS[test]) for kind, test, pattern in rows)


# Keys of several lines, as their programs write them: with line ends, or with those escaped in a string.
_PRIVATE_KEY, _PUTTY_KEY = "private key", "PuTTY key"
_KEY_MARK, _PUTTY_MARK = "PRIVATE KEY", "PuTTY-User-Key-File-"
_BEGIN = r"BEGIN (?P<name>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?) ?----"
_END = r"END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?"
# The text after the first line of a key: the end of the line, an escaped one, or more of it in a further string.
_AFTER_BEGIN = r"-?(?:[^\S\r\n]*(?:[\r\n]|\Z)|\\+[nr]|[\"'`+,.;&\s\\nr]{1,40}[A-Za-z0-9+/=]{20})"
_PUTTY_BEGIN = r"PuTTY-User-Key-File-\d: (?:ssh|ecdsa)-"
_PUTTY_END = r"Private-(?:MAC|Hash): ?\w+"
_MAX_KEY_CHARACTERS = 200_000
_MIN_KEY_CHARACTERS = 40
_MIN_ENCODED_KEY = 100
_MAX_AUTOMATON_BYTES = 16 << 20
# The lines of a key that has no end: those of its head and an empty one, if there are any, and those of its body.
_KEY_LINES = (
    r"(?:\r?\n[^\S\n]*[A-Z][\w-]+: [^\r\n]*)*(?:\r?\n[^\S\n]*(?=\r?\n))?"
    r"(?:\r?\n[^\S\n]*[\"'`]?[A-Za-z0-9+/=]{4,}+[\"'`,;+\\nr ]*+(?=\r?\n|\Z))*"
)

# A file of variables, as `.env` is, under another name.
_PLAIN_SUFFIXES = frozenset(
    " .txt .conf .cfg .ini .properties .sh .bash .zsh .fish .envrc .vars .local .prod .production .dev .development .staging "
    ".test .bak .old .backup .save .orig .secret .secrets".split(" ")
)
_TEMPLATE = r"(?i)example|sample|template|dist\b|default|schema"
_MAX_VARIABLES_CHARACTERS = 50_000
_ASSIGNMENT = r"(?:export\s+|set\s+(?:-\w+\s+)*)?[A-Za-z_][\w.]*\s*="
_SET_SECRET = r"""(?ix)(?:export\s+|set\s+(?:-\w+\s+)*)?
    (?=\w*(?:SECRET|PASSWORD|PASSWD|PASSPHRASE|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?|DATABASE_URL))\w++
    \s*+=\s*+["']?(?P<value>[^\s"'#$<{%]{8,})"""

# A value that a sentence or a line gives to such a name. `_NO_SECRET` excludes references, paths, algorithms and types.
_NAMED = r"""(?ix)(?:^|[\s"'`{,(\[_.-]) (?P<name>pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|credentials?
    |(?:api|access|auth|secret|private|signing|client)[_\- ]?(?:key|token|secret)) ["'`]?
    (?:\s*(?::=|=>|==?|:)\s*|\s+(?:is|was|to)\s+)
    (?:(?P<quote>["'`]) (?P<quoted>[^\s"'`]{6,}) (?P=quote) | (?P<plain>[^\s"'`,;)}\]]{8,}))"""
_NO_SECRET = r"""(?ix)[$<{%*.#] .* | .*[(\[/\\] .* | \w+(?:\.\w+)+ | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+ | [\d.,:_-]+\w{0,2} | x+ | \w+://.* |
    .*(?:sha-?\d|md5|base(?:32|64)|utf-?\d|uuid|bcrypt|argon2|scrypt|pbkdf2|aes|rsa|hs256|rs256|es256|ed25519|oauth|jwt|http|ipv|
    example|placeholder|changeme|your|dummy|redacted) .* |
    (?:\w*[_-]|\d)?(?:secret|password|token|env|vault)[_-]?\d{0,2}"""

_compiled = cache(re.compile)


def find_secrets(text: str, path: str = "") -> list[SecretLines]:
    """The lines of a text that hold secrets, in order. A text of nothing but variables is told by the name of its file."""
    spans = [*_find_tokens(text), *_find_keys(text), *_find_variables(path, text)]
    return _as_lines(text, sorted(spans)) if spans else []


def blank_secrets(path: str, text: str) -> Blanked:
    """A text of the file at a path without its secrets. Its lines keep their numbers, and all that hold none their bytes."""
    found = find_secrets(text, path)
    if not found:
        return Blanked(text)
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    numbers = sorted({number for each in found for number in range(each.first, each.last + 1)})
    # JSON without its marks would be none, and a notebook a text without cells.
    kept = r'\\.|[^\s"\[\]{}:,]' if path.endswith((".json", ".ipynb")) else r"\S"
    for number in numbers:
        lines[number - 1] = re.sub(kept, _make_blanks, lines[number - 1])
    return Blanked("".join(lines), len(numbers))


def find_set_secret(line: str) -> str:
    """The name (`password`, `token`) of a secret that a line sets in plain text; empty if it sets none."""
    for found in _compiled(_NAMED).finditer(line):
        value = found["quoted"] or found["plain"].rstrip(".!?")
        has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
        has_mark = any(not character.isalnum() and character not in "-_" for character in value)
        is_one = has_letter and (has_digit or (found["quoted"] and has_mark))
        if is_one and not _compiled(_NO_SECRET).fullmatch(value):
            return " ".join(found["name"].lower().replace("_", " ").split())
    return ""


def describe_secret_lines(counts: Mapping[str, int]) -> str:
    """Counts of lines, by path, that are left out because they look like secrets, in words; empty if there are none."""
    if not counts:
        return ""
    total = sum(counts.values())
    look = "looks like a secret and was" if total == 1 else "look like secrets and were"
    return f"{count_of(total, 'line')} in {count_of(len(counts), 'file')} {look} left out (e.g. in {min(counts)})"


_Span = tuple[int, int, str]
"""The beginning and the end of a secret, and its kind."""


def _find_tokens(text: str) -> Iterator[_Span]:
    if not _search_any_token()(text.encode("utf-8", "replace")):
        return
    for kind, pattern, accepts in _read_forms():
        for found in _compiled(f"(?a){pattern}").finditer(text):
            if accepts(found):
                yield found.start(), found.end(), kind


def _find_keys(text: str) -> Iterator[_Span]:
    if _KEY_MARK in text:
        yield from _find_blocks(text, _PRIVATE_KEY, _BEGIN, _AFTER_BEGIN, _END)
    if _PUTTY_MARK in text:
        yield from _find_blocks(text, _PUTTY_KEY, _PUTTY_BEGIN, "", _PUTTY_END)


def _find_blocks(text: str, kind: str, begin: str, after: str, end: str) -> Iterator[_Span]:
    begins, ends = list(_compiled(begin).finditer(text)), [found.end() for found in _compiled(end).finditer(text)]
    followings = [*(each.start() for each in begins), len(text)][1:]
    for found, following in zip(begins, followings, strict=True):
        start = found.end()
        at = bisect(ends, start)
        has_end = at < len(ends) and ends[at] <= min(following, start + _MAX_KEY_CHARACTERS)
        if has_end and _is_key(text[start : ends[at]]):
            yield found.start(), ends[at], kind
            continue
        if not _compiled(after).match(text, start):
            continue
        lines = _compiled(_KEY_LINES).match(text, _end_of_line(text, start, following), following)
        # Code that writes keys has their first and last line, too, and no key in between.
        if lines and (not has_end or _is_key(lines[0])):
            yield found.start(), lines.end(), kind


def _is_key(body: str) -> bool:
    """Whether a text is that of a key for the most part, and not code or three dots."""
    of_key = sum(map(len, _compiled(r"[A-Za-z0-9+/=]{24,}").findall(body)))
    return of_key >= max(_MIN_KEY_CHARACTERS, (len(body) - len(_compiled(r"\s").findall(body))) / 2)


def _find_variables(path: str, text: str) -> Iterator[_Span]:
    """The secrets of a text that is nothing but variables."""
    name = path.rpartition("/")[2]
    is_plain = os.path.splitext(name)[1].lower() in _PLAIN_SUFFIXES and name and len(text) <= _MAX_VARIABLES_CHARACTERS
    if not is_plain or _compiled(_TEMPLATE).search(name):
        return
    spans = []
    for whole in _compiled(r"[^\r\n]+").finditer(text):
        line = whole[0].strip()
        if not line or line.startswith(("#", ";", "[")):
            continue
        if not _compiled(_ASSIGNMENT).match(line):
            return
        found = _compiled(_SET_SECRET).match(line)
        if found and _is_random(found):
            spans.append((whole.start(), whole.end(), "variable that is set to a secret"))
    yield from spans


def _as_lines(text: str, spans: Iterable[_Span]) -> list[SecretLines]:
    begins = [0, *(found.end() for found in _compiled(r"\r\n|\r|\n").finditer(text))]
    return [SecretLines(kind, bisect(begins, start), bisect(begins, max(start, end - 1))) for start, end, kind in spans]


def _end_of_line(text: str, at: int, most: int) -> int:
    """The end of the line at a place; that of the text where the line goes on beyond `most`."""
    found = _compiled(r"[\r\n]").search(text, at, most)
    return found.start() if found else len(text)


def _make_blanks(found: re.Match[str]) -> str:
    return " " * len(found[0].encode("utf-8", "surrogatepass"))


@cache
def _search_any_token() -> Callable[[bytes], object]:
    """The search that finds something wherever a pattern of the table does: most texts cost no more, and it does 300 MB a second."""
    patterns = (re.sub(r"\(\?<?[=!][^()]*\)", "", pattern) for _, pattern, _ in _read_forms())
    options = re2.Options()
    options.max_mem, options.log_errors = _MAX_AUTOMATON_BYTES, False
    search: Callable[[bytes], object] = re2.compile(
        "|".join(re.sub(r"\(\?P<\w+>", "(?:", each) for each in patterns).encode(), options
    ).search
    return search

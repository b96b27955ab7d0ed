"""Refuses content that is empty, trivial, too long, or a secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from rag_ls.errors import InvalidRequest
from rag_ls.model import MemoryMetadata
from rag_ls.retrieval.terms import note_terms, says_something
from rag_ls.util.text import without_surrogates

MAX_CONTENT = 100_000
PRIVATE = "private"
"""A memory with this tag is not shared with a team."""
MAX_TAGS = 50
MAX_TAG = 100
MAX_CUSTOM = 20_000
MAX_CUSTOM_DEPTH = 5
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MIN_WIDE_CHARACTERS = 4
# Phrases that agents store at the end of a task, and that help nobody later.
_CHATTER = re.compile(
    r"""(?:all\ |the\ )? (?:task|work|everything|it|that|this|tests?|build|code|changes?)?
    (?:\s+(?:is|are|was|were|has\ been|have\ been))? \s* (?:now\s+)?
    (?:done|finished|completed?|ok(?:ay)?|fine|good|works?|working|fixed|pass(?:es|ed|ing)?|green|great|thanks?|thank\ you|
      yes|no|lgtm|todo|test|testing|hello|hi|looks\ good(?:\ to\ me)?|(?:did|fixed)\ (?:it|this|that))
    (?:\s+(?:now|again|successfully|as\ expected))? [\s.!?]*""",
    re.IGNORECASE | re.VERBOSE,
)
# Only secrets of a distinctive form. Entropy and keyword detectors would refuse hashes and harmless sentences.
_NEWER = re.compile(
    r"(?P<anthropic>sk-ant-[\w-]{20,})|(?P<openai>sk-(?:proj|svcacct)-[\w-]{20,})|(?P<github>github_pat_\w{22,})"
    r"|(?P<google>AIza[\w-]{35})|(?P<stripe>[sr]k_live_\w{10,})"
    r"|(?P<aws>(?i:aws_secret_access_key)\W{1,6}[A-Za-z0-9/+]{40})|(?P<key>-----BEGIN (?:ENCRYPTED )?PRIVATE KEY-----)"
)
# A value that is assigned to such a name. `_NO_SECRET` excludes references, paths, algorithms and types.
_NAMED = re.compile(
    r"""(?:^|[\s"'`{,(\[_.-]) (?P<name>pass(?:word|wd|phrase|code)?|pwd|pw|secret|(?:api|access|auth|secret|private|signing|client)
        [_\- ]?(?:key|token|secret)|token|credentials?) ["'`]?
    (?:\s*(?::=|=>|==?|:)\s*|\s+(?:is|was|to)\s+)
    (?:(?P<quote>["'`]) (?P<quoted>[^\s"'`]{6,}) (?P=quote) | (?P<plain>[^\s"'`,;)}\]]{8,}))""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_SECRET = re.compile(
    r"""[$<{%*.#] .* | .*[(\[/\\] .* | \w+(?:\.\w+)+ | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+ | [\d.,:_-]+\w{0,2} | x+ | \w+://.* |
    .*(?:sha-?\d|md5|base(?:32|64)|utf-?\d|uuid|bcrypt|argon2|scrypt|pbkdf2|aes|rsa|hs256|rs256|es256|ed25519|oauth|jwt|http|ipv|
    example|placeholder|changeme|your|dummy|redacted) .* |
    (?:\w*[_-]|\d)?(?:secret|password|token|env|vault)[_-]?\d{0,2}""",
    re.IGNORECASE | re.VERBOSE,
)
_NEWER_NAMES = {
    "anthropic": "Anthropic API key", "openai": "OpenAI project key", "github": "GitHub token", "google": "Google API key",
    "stripe": "Stripe key", "aws": "AWS secret key",
    "key": "Private Key",
}  # fmt: skip
# The detectors of detect-secrets that are used. Each runs only on texts that hold one of its strings, because most memories
# hold none and running all detectors takes several times as long. A string in lower case matches upper case too. If a pattern
# ignores case, its "s" and "k" also match letters that `str.lower` leaves alone, so the strings avoid these two.
_DETECTORS = {
    "ArtifactoryDetector": ("AKC", "AP"),
    "AWSKeyDetector": ("A3T", "ABIA", "ACCA", "AKIA", "ASIA", "aw"),
    "AzureStorageKeyDetector": ("AccountKey=",),
    "BasicAuthDetector": ("://",),
    "CloudantDetector": ("cl",),
    "DiscordBotTokenDetector": (".",),
    "GitHubTokenDetector": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "GitLabTokenDetector": ("gl", "GR1348941"),
    "IbmCosHmacDetector": ("ecret",),
    "JwtTokenDetector": ("eyJ",),
    "MailchimpDetector": ("-us",),
    "NpmDetector": ("/:_authToken=",),
    "OpenAIDetector": ("T3BlbkFJ",),
    "PrivateKeyDetector": ("PRIVATE KEY", "PuTTY-User-Key-File-2"),
    "PypiTokenDetector": ("pypi-",),
    "SendGridDetector": ("SG.",),
    "SlackDetector": ("xox", "://hoo"),
    "SquareOAuthDetector": ("sq0csp-",),
    "StripeDetector": ("k_live_",),
    "TelegramBotTokenDetector": (":",),
    "TwilioKeyDetector": ("AC", "SK"),
}


def check_content(content: str, *, force: bool = False) -> str:
    """The content in its stored form. Raises `InvalidRequest` if it is empty, trivial or too long.

    `force` allows trivial content.
    """
    content = without_surrogates(content.strip())
    if not content:
        raise InvalidRequest("content is empty; give the text to remember")
    if len(content) > MAX_CONTENT:
        raise InvalidRequest(
            f"content has {len(content):,} characters, at most {MAX_CONTENT:,} are kept; store a summary and name the source"
        )
    if not force and _is_trivial(content):
        raise InvalidRequest(
            f"{content[:24]!r} says nothing that is worth recalling: name what it is about and what holds there, "
            "or give force = true"
        )
    return content


def check_metadata(metadata: MemoryMetadata) -> MemoryMetadata:
    """The metadata, within the limits. Raises `InvalidRequest`."""
    if len(metadata.tags) > MAX_TAGS:
        raise InvalidRequest(f"{len(metadata.tags)} tags are too many; give at most {MAX_TAGS}")
    if long := next((tag for tag in metadata.tags if len(tag) > MAX_TAG), None):
        raise InvalidRequest(f"the tag {long[:40]!r}... has {len(long)} characters; give at most {MAX_TAG}")
    try:
        size = len(json.dumps(metadata.custom, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"custom is no JSON object: {error}") from error
    if size > MAX_CUSTOM:
        raise InvalidRequest(f"custom takes {size:,} characters as JSON; give at most {MAX_CUSTOM:,}")
    if _is_deeper(metadata.custom, MAX_CUSTOM_DEPTH):
        raise InvalidRequest(f"custom is nested more than {MAX_CUSTOM_DEPTH} levels deep; make it flatter")
    return replace(metadata, tags=tuple(map(without_surrogates, metadata.tags)))


def refuse_secrets(content: str, metadata: MemoryMetadata, *others: str | None) -> None:
    """Raise `InvalidRequest` if a text looks like a secret. The error names its kind and place, never the secret.

    Uses detect-secrets' detectors, and patterns for secrets that it does not know. Nothing is verified online, so
    nothing leaves the machine. `others` are further texts of the memory.
    """
    lines = content.splitlines()
    fields = (metadata.source_file, metadata.language, metadata.parent_id, metadata.ast_node_type, *others)
    texts = [*lines, *metadata.tags, *_strings(metadata.custom), *(text for text in fields if text)]
    suspects = _suspects(texts)
    for number, text in enumerate(texts if suspects else (), 1):
        for detector in suspects:
            if any(detector.analyze_string(text)):
                raise InvalidRequest(
                    f"{_place(number, lines)} looks like a secret ({detector.secret_type}), which was not stored: "
                    "say where it is kept instead, or give force = true if it is none"
                )
    if found := _NEWER.search("\n".join(texts)):
        raise InvalidRequest(
            f"it looks like it holds a secret ({_NEWER_NAMES[found.lastgroup or '']}), which was not stored: "
            "say where it is kept instead, or give force = true if it is none"
        )
    for number, text in enumerate(texts, 1):
        if name := _set_secret(text):
            raise InvalidRequest(
                f"{_place(number, lines)} looks like it sets a {name}, which was not stored: "
                "say where it is kept instead, or give force = true if it is none"
            )


def _place(number: int, lines: Sequence[str]) -> str:
    """The place of the text with a number (from 1): the first ones are the lines of the content."""
    return f"line {number}" if number <= len(lines) else "the metadata"


def _set_secret(line: str) -> str:
    """The name (`password`, `token`) of a secret that a line sets in plain text; empty if it sets none."""
    for found in _NAMED.finditer(line):
        value = found["quoted"] or found["plain"].rstrip(".!?")
        has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
        has_mark = any(not character.isalnum() and character not in "-_" for character in value)
        if has_letter and (has_digit or (found["quoted"] and has_mark)) and not _NO_SECRET.fullmatch(value):
            return " ".join(found["name"].lower().replace("_", " ").split())
    return ""


def _is_trivial(content: str) -> bool:
    if _CHATTER.fullmatch(content):
        return True
    if len(_WIDE.findall(content)) >= _MIN_WIDE_CHARACTERS:
        return False
    return len(set(note_terms(content))) < 2 or not says_something(content)


def _is_deeper(value: object, levels: int) -> bool:
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else None
    return inside is not None and (levels == 0 or any(_is_deeper(item, levels - 1) for item in inside))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.splitlines()
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _suspects(texts: Iterable[str]) -> list[Any]:
    """The detectors that may find something in these lines."""
    text = "\n".join(texts)
    lower = text.lower()
    return [
        _detectors()[name] for name, marks in _DETECTORS.items() if any(mark in text or mark in lower for mark in marks)
    ]


@cache
def _detectors() -> dict[str, Any]:
    """The detectors by name."""
    # Imported only when a memory is stored, because it takes a quarter of a second.
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    plugins: dict[str, Any] = get_mapping_from_secret_type_to_class()
    return {plugin.__name__: plugin() for plugin in plugins.values() if plugin.__name__ in _DETECTORS}

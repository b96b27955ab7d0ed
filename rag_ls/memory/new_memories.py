"""A memory to store, and the checks that refuse content that is empty, trivial, too long, or a secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from rag_ls.errors import InvalidRequest
from rag_ls.model import Anchor, Hit, Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.search import note_terms, says_something
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, field, replace
from rag_ls.util.secret_texts import find_secrets, find_set_secret
from rag_ls.util.text import without_surrogates

SUPERSEDES = "supersedes"
"""The key in `custom` that names the memory which this one takes the place of."""
MAX_CONTENT = 100_000
MAX_TAGS = 50
MAX_TAG = 100
MAX_CUSTOM = 20_000
MAX_CUSTOM_DEPTH = 5
_WIDE = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MIN_WIDE_CHARACTERS = 4
# Phrases that agents store at the end of a task, and that help nobody later.
_CHATTER = lazy_pattern(
    r"""(?:all\ |the\ )? (?:task|work|everything|it|that|this|tests?|build|code|changes?)?
    (?:\s+(?:is|are|was|were|has\ been|have\ been))? \s* (?:now\s+)?
    (?:done|finished|completed?|ok(?:ay)?|fine|good|works?|working|fixed|pass(?:es|ed|ing)?|green|great|thanks?|thank\ you|
      yes|no|lgtm|todo|test|testing|hello|hi|looks\ good(?:\ to\ me)?|(?:did|fixed)\ (?:it|this|that))
    (?:\s+(?:now|again|successfully|as\ expected))? [\s.!?]*""",
    re.IGNORECASE | re.VERBOSE,
)


# "Use Go": a word that tells nothing elsewhere is a name here.
_NAMED = lazy_pattern(r"\S\s+\W*[A-Z0-9]")


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to store. `anchor` is the place in the code that it is about, `branch` the git branch it is tied to."""

    content: str
    scope: Scope
    metadata: MemoryMetadata = field(default_factory=MemoryMetadata)
    memory_type: MemoryType = MemoryType.SEMANTIC
    source_uri: str | None = None
    anchor: Anchor | None = None
    branch: str | None = None
    summary_key: str | None = None
    source_memory_ids: tuple[str, ...] = ()
    project_id: str | None = None
    force: bool = False
    """Store it even if it looks trivial, or like a secret."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The outcome of storing: `status` is inserted, updated, duplicate, unchanged or restored."""

    status: str
    memory: Memory
    known: tuple[Hit, ...] = ()
    """The nearest existing memories."""
    is_uncompared: bool = False
    """Whether a new one was not compared with them, because it has no vector yet."""
    is_duplicate: bool = False
    """Whether the same content existed already."""
    evicted: tuple[str, ...] = ()
    """The ids of session memories that were deleted to make room."""


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

    The forms are those that are left out of the index, and besides passwords that a sentence tells. `others` are further texts
    of the memory.
    """
    lines = content.splitlines()
    fields = (metadata.source_file, metadata.language, metadata.parent_id, metadata.ast_node_type, *others)
    inside = (line for text in (*metadata.tags, *filter(None, fields)) for line in text.splitlines())
    texts = [*lines, *inside, *_strings(metadata.custom)]
    if found := find_secrets("\n".join(texts)):
        what = f"{_place(found[0].first, lines)} looks like a secret ({found[0].kind})"
    else:
        set_there = ((number, name) for number, text in enumerate(texts, 1) if (name := find_set_secret(text)))
        number, name = next(set_there, (0, ""))
        if not name:
            return
        what = f"{_place(number, lines)} looks like it sets a {name}"
    raise InvalidRequest(
        f"{what}, which was not stored: say where it is kept instead, or give force = true if it is none"
    )


def _place(number: int, lines: Sequence[str]) -> str:
    """The place of the text with a number (from 1): the first ones are the lines of the content."""
    return f"line {number}" if number <= len(lines) else "the metadata"


def _is_trivial(content: str) -> bool:
    if _CHATTER.fullmatch(content):
        return True
    if len(_WIDE.findall(content)) >= _MIN_WIDE_CHARACTERS:
        return False
    return len(set(note_terms(content))) < 2 or not (says_something(content) or _NAMED.search(content))


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

"""One memory as a Markdown file that people edit and git merges: front matter, then the text.

The keys that rag-ls knows are written anew; whatever else stands in the front matter stays as it is.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence

from rag_ls.errors import InvalidRequest
from rag_ls.memory.new_memories import MAX_CONTENT, SUPERSEDES, check_content, check_metadata, refuse_secrets
from rag_ls.memory.portable.formats import FENCE, parse_lines
from rag_ls.model import PRIVATE, Memory, MemoryMetadata, MemoryType, Scope
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import content_hash, without_surrogates

MAX_FILE_BYTES = 8 * MAX_CONTENT
_KNOWN = ("id", "type", "tags", "place", SUPERSEDES, "importance", "branch", "created")
# The namespace of ids of files that name none. Never change it: each clone must give a file the same id.
_IDS = uuid.UUID("0c9a3f6b-6a53-5b8e-8a51-4f0d0d1f7a11")
# Words, ids and times, which YAML takes for texts as they are.
_PLAIN = lazy_pattern(
    r"(?!(?:true|false|null|yes|no|on|off)$)[A-Za-z](?:[\w./-]|:(?=\S)| (?=\S))*$"
    r"|[0-9a-f]{8}-[0-9a-f-]+$|\d{4}-\d\d-\d\dT[\d:.]+Z$"
)
_ID = lazy_pattern(r"[\w-]{4,200}$")
_KEY = lazy_pattern(r"([A-Za-z_][\w.-]*)\s*:(?:\s|$)")
_MERGE_CONFLICT = lazy_pattern(r"(?ms)^<{7} .*^={7}$.*^>{7} ")
_NO_NAME = lazy_pattern(r"[^\w]+")
_MAX_NAME_CHARACTERS = 48


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """The content of a file. An empty `id` stands for one that names none."""

    id: str
    content: str
    memory_type: MemoryType = MemoryType.SEMANTIC
    tags: tuple[str, ...] = ()
    place: str = ""
    """`PATH`, `PATH:LINE` or `PATH:SYMBOL`."""
    supersedes: str = ""
    importance: float = MemoryMetadata().importance_score
    branch: str = ""
    created: str = ""
    others: tuple[str, ...] = ()
    """The lines of the front matter with keys that rag-ls does not know."""
    begins_with_mark: bool = False
    """Whether the file begins with a byte order mark."""
    line_end: str = "\n"

    def change(self, memory: Memory) -> Memory:
        """The memory with what the file says of it, its anchor apart. Raises `InvalidRequest` for what no memory may say."""
        custom = {key: value for key, value in memory.metadata.custom.items() if key != SUPERSEDES}
        if self.supersedes:
            custom[SUPERSEDES] = self.supersedes
        metadata = check_metadata(
            replace(memory.metadata, tags=self.tags, importance_score=self.importance, custom=custom)
        )
        content = check_content(self.content, force=True)
        refuse_secrets(content, metadata, self.branch, self.place)
        return replace(
            memory, content=content, content_hash=content_hash(content), metadata=metadata,
            memory_type=self.memory_type, branch=self.branch or None,
        )  # fmt: skip

    def make_memory(self, scope: Scope, now: str) -> Memory:
        """A new memory of what the file says. Raises `InvalidRequest`."""
        created = self.created or now
        empty = Memory(
            id=self.id, content="", scope=scope, metadata=MemoryMetadata(), memory_type=self.memory_type, created_at=created,
            updated_at=now, version=1, content_hash="",
        )  # fmt: skip
        return self.change(empty)


def may_be_written(memory: Memory) -> bool:
    """Whether a memory may leave the machine: none that is private, made of others, or looks like a secret."""
    if PRIVATE in memory.metadata.tags or memory.summary_key:
        return False
    try:
        refuse_secrets(memory.content[:MAX_CONTENT], memory.metadata, memory.source_uri, memory.branch)
    except InvalidRequest:
        # Its owner stored it with `force`: a decision for the owner, and not for others.
        return False
    return True


def make_file(memory: Memory, former: MemoryFile | None = None) -> MemoryFile:
    """The file of a memory; what it does not tell stays as in its `former` file."""
    anchor = memory.anchor
    place = f"{anchor.path}:{anchor.symbol or anchor.start_line or ''}".rstrip(":") if anchor else ""
    base = former or MemoryFile(memory.id, "")
    return replace(
        base, id=memory.id, content=memory.content, memory_type=memory.memory_type, tags=memory.metadata.tags,
        place=place or memory.metadata.source_file or "", supersedes=str(memory.metadata.custom.get(SUPERSEDES) or ""),
        importance=memory.metadata.importance_score, branch=memory.branch or "", created=base.created or memory.created_at,
    )  # fmt: skip


def name_file(memory: Memory) -> str:
    """A name for a new file: the first words of the text, and the beginning of the id."""
    words = _NO_NAME.sub("-", memory.content.split("\n", 1)[0].lower())[:_MAX_NAME_CHARACTERS].strip("-")
    return f"{words or 'memory'}-{_NO_NAME.sub('-', memory.id)[:8]}.md"


def derive_id(name: str, content: str) -> str:
    """The id of a file that names none, the same in each clone."""
    return str(uuid.uuid5(_IDS, f"{name}\0{content}"))


def parse_file(data: bytes) -> MemoryFile:
    """Read a file. Raises `ValueError`, which says what is wrong with it."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is no UTF-8 text") from None
    line_end = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    if "\0" in text:
        raise ValueError("is no text")
    if _MERGE_CONFLICT.search(text):
        raise ValueError("holds both sides of a merge: choose one, or join them")
    lines = text.split("\n")
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() == FENCE), None)
    if lines[0].rstrip() == FENCE and end is None:
        raise ValueError("has front matter that does not end: close it with ---")
    head, body = (lines[1:end], lines[end + 1 :]) if lines[0].rstrip() == FENCE and end else ([], lines)
    known, others = _split_keys(head)
    values = parse_lines(known)
    content = "\n".join(body).strip()
    if not content:
        raise ValueError("holds no text")
    return MemoryFile(
        id=_read_id(values), content=content, memory_type=_memory_type(values), tags=_tags(values.get("tags")),
        place=_text(values, "place"), supersedes=_text(values, SUPERSEDES), importance=_importance(values),
        branch=_text(values, "branch"), created=_text(values, "created"), others=others,
        begins_with_mark=data.startswith(b"\xef\xbb\xbf"), line_end=line_end,
    )  # fmt: skip


def render_file(file: MemoryFile) -> bytes:
    """The bytes of a file."""
    values: list[tuple[str, object]] = [("id", file.id), ("type", file.memory_type.value)]
    optional: dict[str, object] = {
        "tags": list(file.tags), "place": file.place, SUPERSEDES: file.supersedes, "branch": file.branch,
        "created": file.created,
    }  # fmt: skip
    values += [(key, value) for key, value in optional.items() if value]
    if file.importance != MemoryMetadata().importance_score:
        values.append(("importance", file.importance))
    head = [f"{key}: {_format(value)}" for key, value in values]
    text = "\n".join([FENCE, *head, *file.others, FENCE, "", file.content, ""])
    mark = "\ufeff" if file.begins_with_mark else ""
    return (mark + without_surrogates(text).replace("\n", file.line_end)).encode()


def _format(value: object) -> str:
    """A value as YAML: words as they are, anything else as JSON, which YAML includes."""
    if isinstance(value, list):
        return f"[{', '.join(map(_format, value))}]"
    return value if isinstance(value, str) and _PLAIN.match(value) else json.dumps(value, ensure_ascii=False)


def _split_keys(lines: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The lines of known keys, and those of others; a line without a key belongs to the one above."""
    known: list[str] = []
    others: list[str] = []
    into = others
    for line in lines:
        if key := _KEY.match(line):
            into = known if key[1] in _KNOWN else others
        into.append(line)
    return known, tuple(line for line in others if line.strip())


def _text(values: dict[str, object], key: str) -> str:
    value = values.get(key)
    return "" if value is None else str(value).strip()


def _read_id(values: dict[str, object]) -> str:
    found = _text(values, "id")
    if found and not _ID.match(found):
        raise ValueError(f"has the id {found[:40]!r}, which is none: take that line out, and it gets its own")
    return found


def _tags(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else str(value or "").split(",")
    return tuple(dict.fromkeys(tag for item in items if item is not None and (tag := str(item).strip())))


def _memory_type(values: dict[str, object]) -> MemoryType:
    named = _text(values, "type") or MemoryType.SEMANTIC
    if named not in tuple(MemoryType):
        raise ValueError(f"has type {named[:40]!r}: give one of {', '.join(MemoryType)}")
    return MemoryType(named)


def _importance(values: dict[str, object]) -> float:
    value = values.get("importance", MemoryMetadata().importance_score)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"has importance {str(value)[:40]}: give a number from 0 to 1")
    return float(value)

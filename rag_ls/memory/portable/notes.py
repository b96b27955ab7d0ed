"""The notes of basic-memory (github.com/basicmachines-co/basic-memory, `NOTE-FORMAT.md` and `markdown/plugins.py`).

Markdown with title, type, permalink and tags in the front matter, and anywhere in the text observations, list items
of the form `- [category] text #tag (context)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from rag_ls.errors import NotFound
from rag_ls.memory.portable import front_matter
from rag_ls.memory.portable.foreign_records import file_uri, read_text, record, times, words
from rag_ls.memory.portable.sections import Block, pieces, sections
from rag_ls.model import MemoryType

KIND = "basic-memory"

_OBSERVATION = re.compile(r" ?[-*+]\s+(?:\[(?P<category>[^\[\]()]+)\]\s+)?(?P<text>\S.*)", re.DOTALL)
_HASHTAG = re.compile(r"(?:^|(?<=\s))#([^\s#]+)")
# Brackets with a clock time mark a line of a transcript; brackets with a mark or nothing mark a task.
_NO_CATEGORY = re.compile(r"\d+:[\d:.,\s-]*$|\W?$|[xX]$")
_PROCEDURAL = frozenset(
    "technique method rule convention process procedure howto how-to tip practice workflow preference".split()
)
_EPISODIC = frozenset("event status meeting incident progress log".split())


def read_basic_memory(path: Path) -> list[dict[str, object]]:
    """Read a note, or all notes below a folder: each observation, and the rest of the text. Raises `NotFound`."""
    if not path.is_dir():
        return list(_note(path))
    found = sorted(path.rglob("*.md"))
    files = [file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if not files:
        raise NotFound(f"{path} holds no notes (*.md); give the folder of a basic-memory project")
    return [item for file in files for item in _note(file)]


def _note(file: Path) -> Iterator[dict[str, object]]:
    values, text = front_matter.split_text(read_text(file).replace("\r\n", "\n"))
    title = _text(values.get("title")) or file.stem
    note_tags = [KIND, *_tags(values.get("tags"))]
    when = times(values.get("created"), values.get("modified"))
    custom = {name: value for name, value in values.items() if name not in ("tags", "created", "modified")}
    for section in sections(text):
        path = (title, *(heading for heading in section.path if heading != title))
        found = {number: match for number, block in enumerate(section.blocks) if (match := _observation(block))}
        for match in found.values():
            category = (match["category"] or "").strip()
            tags = [*note_tags, category, *(tag.rstrip(".,;:!?)") for tag in _HASHTAG.findall(match["text"]))]
            shown = f"[{category}] " if category else ""
            yield record(
                f"{title}\n\n{shown}{match['text']}",
                _type_of(category),
                tags,
                source=file_uri(file),
                times=when,
                custom=custom,
            )
        for piece in pieces([block for number, block in enumerate(section.blocks) if number not in found]):
            content = f"{' > '.join(path)}\n\n{piece}"
            tags = [*note_tags, *words(" ".join(path))]
            yield record(content, MemoryType.SEMANTIC, tags, source=file_uri(file), times=when, custom=custom)


def _observation(block: Block) -> re.Match[str] | None:
    match = _OBSERVATION.match(block.text) if block.is_item else None
    if match is None or (match["category"] and _NO_CATEGORY.match(match["category"].strip())):
        return None
    return match if match["category"] or _HASHTAG.search(match["text"]) else None


def _type_of(category: str) -> MemoryType:
    if category.lower() in _PROCEDURAL:
        return MemoryType.PROCEDURAL
    return MemoryType.EPISODIC if category.lower() in _EPISODIC else MemoryType.SEMANTIC


def _tags(value: object) -> list[str]:
    tags = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [_text(tag).lstrip("#") for tag in tags]


def _text(value: object) -> str:
    if isinstance(value, Mapping) or value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

"""Reads rule files of coding agents: CLAUDE.md and related files, AGENTS.md, and Claude Code's own notes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_ls.errors import NotFound
from rag_ls.memory.portable import front_matter
from rag_ls.memory.portable.foreign_records import file_uri, read_text, record, words
from rag_ls.memory.portable.sections import Section, pieces, sections
from rag_ls.model import MemoryType
from rag_ls.util.patterns import lazy_pattern

CLAUDE = "claude"
AGENTS = "agents"

_CLAUDE_FILES = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.local.md")
_INDEX = "MEMORY.md"
# Folders whose AGENTS.md belongs to other people's code.
_FOREIGN_FOLDERS = frozenset(
    {"node_modules", "vendor", "third_party", "venv", "site-packages", "target", "dist", "build"}
)
_POINTER = lazy_pattern(r"\s*[-*+]\s+\[[^\]]*\]\(([^)\s]+\.md)\)")
_RULE_HEADING = lazy_pattern(
    r"\b(?:rules?|conventions?|guidelines?|style|standards?|practices?|polic(?:y|ies)|workflows?|commands?|instructions?|"
    r"testing|tests?|commits?|pull requests?|setup|how to|do'?s|don'?ts|preferences?|process|security|build(?:ing)?|"
    r"deploy\w*|releas\w*|feedback)\b",
    re.IGNORECASE,
)
_RULE = lazy_pattern(
    r"^(?:[ \t]*(?:[-*+]|\d+[.)])[ \t]+)?[*_`]*(?:always|never|do not|don't|avoid|prefer|use|run|ensure|make sure|keep|write|add|check|"
    r"must)\b|\b(?:must(?: not)?|should(?: not|n't)?|always|never|required to|not allowed)\b",
    re.IGNORECASE | re.MULTILINE,
)
_FACT_HEADING = lazy_pattern(
    r"\b(?:overview|architecture|structure|layout|about|background|glossary|terminology|stack|project|introduction|"
    r"reference|status)\b",
    re.IGNORECASE,
)  # fmt: skip

Record = dict[str, object]


def read_claude(path: Path) -> list[Record]:
    """The rules of a CLAUDE.md, or of a project's folder that has one, or the notes of a folder of Claude Code.

    Lines that import another file (`@path`) stay as they are; that file is not read. Raises `NotFound`.
    """
    if not path.is_dir():
        return _file_records(CLAUDE, path)
    rules = [path / name for name in _CLAUDE_FILES if (path / name).is_file()]
    rules += sorted((path / ".claude" / "rules").rglob("*.md"))
    if not rules:
        folder = path / "memory" if (path / "memory" / _INDEX).is_file() else path
        rules = sorted(folder.glob("*.md"))
    if not rules:
        raise NotFound(f"{path} holds no CLAUDE.md, no .claude/CLAUDE.md and no *.md; give the file itself")
    return [item for file in rules for item in _file_records(CLAUDE, file)]


def read_agents(path: Path) -> list[Record]:
    """The rules of an AGENTS.md, or of all below a folder; rules for a subfolder name it. Raises `NotFound`."""
    if not path.is_dir():
        return _file_records(AGENTS, path)
    files = [folder / "AGENTS.md" for folder in _folders(path) if (folder / "AGENTS.md").is_file()]
    if not files:
        raise NotFound(f"there is no AGENTS.md in {path}, nor below it; give the file itself")
    return [item for file in files for item in _file_records(AGENTS, file, [f"{part}/" for part in _below(file, path)])]


def _below(file: Path, folder: Path) -> tuple[str, ...]:
    where = file.parent.relative_to(folder).as_posix()
    return () if where == "." else (where,)


def _folders(path: Path) -> Iterator[Path]:
    for folder, below, _ in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in _FOREIGN_FOLDERS)
        yield Path(folder)


def _file_records(kind: str, file: Path, under: Sequence[str] = ()) -> list[Record]:
    """The records of one file; `under` goes before its headings."""
    values, text = front_matter.split_text(read_text(file).replace("\r\n", "\n"))
    if "description" in values or "name" in values:
        return [_fact(kind, file, values, text)] if text.strip() else []
    paths = values.get("paths") or values.get("globs")
    custom = {"paths": paths if isinstance(paths, list) else [paths]} if paths else {}
    found = []
    for section in sections(_without_pointers(text, file) if file.name == _INDEX else text):
        path = (*under, *(title for title in section.path if title != file.name))
        tags = [kind, *words(" ".join(path))]
        for piece in pieces(section.blocks):
            content = f"{' > '.join(path)}\n\n{piece}" if path else piece
            found.append(record(content, _type_of(section, piece), tags, source=file_uri(file), custom=custom))
    return found


def _fact(kind: str, file: Path, values: Record, text: str) -> Record:
    """A note of Claude Code: one fact, with its purpose in the front matter."""
    about = values.get("metadata")
    note_type = str((about.get("type") if isinstance(about, dict) else None) or values.get("type") or "")
    description, text = str(values.get("description") or ""), text.strip()
    content = text if not description or description in text else f"{description}\n\n{text}"
    rule = note_type == "feedback" or (not note_type and _RULE.search(text) is not None)
    return record(
        content,
        MemoryType.PROCEDURAL if rule else MemoryType.SEMANTIC,
        [kind, note_type, *words(str(values.get("name") or file.stem).replace("-", " ").replace("_", " "))],
        source=file_uri(file),
        custom={"name": values.get("name")},
    )


def _without_pointers(text: str, index: Path) -> str:
    """An index without the lines that only point to notes beside it, which are read themselves."""
    return "\n".join(line for line in text.split("\n") if not _points_beside(line, index))


def _points_beside(line: str, index: Path) -> bool:
    match = _POINTER.match(line)
    return match is not None and "/" not in match[1] and (index.parent / match[1]).is_file()


def _type_of(section: Section, piece: str) -> MemoryType:
    heading = section.path[-1] if section.path else ""
    rules = len(_RULE.findall(piece))
    if _FACT_HEADING.search(heading) and not _RULE_HEADING.search(heading):
        return MemoryType.SEMANTIC
    return MemoryType.PROCEDURAL if rules or _RULE_HEADING.search(heading) else MemoryType.SEMANTIC

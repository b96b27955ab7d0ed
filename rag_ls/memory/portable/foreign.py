"""Reads the rule files of coding agents as records: CLAUDE.md and related files, AGENTS.md, and Claude Code's own notes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rag_ls.chunking import find_fenced_lines
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory.new_memories import MAX_TAG, MAX_TAGS
from rag_ls.memory.portable.formats import split_text
from rag_ls.model import MemoryType
from rag_ls.util.files import read_regular
from rag_ls.util.patterns import lazy_pattern

CLAUDE = "claude"
AGENTS = "agents"

_CLAUDE_FILES = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.local.md")
_INDEX = "MEMORY.md"
# Folders whose AGENTS.md belongs to other people's code.
_FOREIGN_FOLDERS = frozenset(
    {"node_modules", "vendor", "third_party", "venv", "site-packages", "target", "dist", "build"}
)
_MAX_TEXT_BYTES = 5 * 2**20
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
)
_WORD = lazy_pattern(r"\w[\w.+#-]*\w[+#]*|\w")
_MAX_WORDS, _MIN_WORD_CHARACTERS = 6, 3
_FILLERS = frozenset("the and for with how from into this that are you our your its not what when use".split())

# About as many characters as an embedding model reads at once; a section up to this length stays whole.
MAX_SHORT_CHARACTERS = 800
_MIN_PIECE_CHARACTERS = 80
_MAX_PIECE_CHARACTERS = 50_000
_HEADING = lazy_pattern(r" {0,3}(#{1,6})\s++(.*)$")
_ITEM = lazy_pattern(r" ?(?:[-*+]|\d{1,9}[.)])\s+\S")
# A text of these characters only divides.
_RULES = "-*_ \n"

Record = dict[str, object]


def read_foreign(kind: str, path: Path) -> list[Record]:
    """The records of agents' files at a path, for `import_records`. Nothing is written.

    They have no ids, so that records imported before are recognised by their content. Raises `InvalidRequest` for an
    unknown kind or an unreadable file, `NotFound` for a missing one.
    """
    reader = _READERS.get(kind)
    if reader is None:
        raise InvalidRequest(f"there is no kind {kind[:40]!r}; give one of {', '.join(KINDS)}")
    if not path.exists():
        raise NotFound(f"there is no {path}; give the file or the folder to import")
    return reader(path)


def _read_claude(path: Path) -> list[Record]:
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


def _read_agents(path: Path) -> list[Record]:
    """The rules of an AGENTS.md, or of all below a folder; rules for a subfolder name it. Raises `NotFound`."""
    if not path.is_dir():
        return _file_records(AGENTS, path)
    files = [folder / "AGENTS.md" for folder in _walk_folders(path) if (folder / "AGENTS.md").is_file()]
    if not files:
        raise NotFound(f"there is no AGENTS.md in {path}, nor below it; give the file itself")
    return [
        item
        for file in files
        for item in _file_records(AGENTS, file, [] if file.parent == path else [f"{_inner(file.parent, path)}/"])
    ]


_READERS: Mapping[str, Callable[[Path], list[Record]]] = {CLAUDE: _read_claude, AGENTS: _read_agents}
KINDS = tuple(_READERS)


def _inner(folder: Path, top: Path) -> str:
    return folder.relative_to(top).as_posix()


def _walk_folders(path: Path) -> Iterator[Path]:
    for folder, below, _ in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in _FOREIGN_FOLDERS)
        yield Path(folder)


def _read_text(path: Path) -> str:
    """Read a text file. Raises `NotFound` and `InvalidRequest`, which name the file."""
    try:
        if path.is_file() and path.stat().st_size > _MAX_TEXT_BYTES:
            raise InvalidRequest(f"{path} has more than {_MAX_TEXT_BYTES:,} bytes; split it")
        return read_regular(path, _MAX_TEXT_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is no UTF-8 text ({error.reason} at byte {error.start}); convert it") from error
    except FileNotFoundError as error:
        raise NotFound(f"there is no {path}; give the file or the folder to import") from error
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error


def _file_records(kind: str, file: Path, under: Sequence[str] = ()) -> list[Record]:
    """The records of one file; `under` goes before its headings."""
    values, text = split_text(_read_text(file))
    if "description" in values or "name" in values:
        return [_make_note(kind, file, values, text)] if text.strip() else []
    paths = values.get("paths") or values.get("globs")
    custom = {"paths": [str(each) for each in (paths if isinstance(paths, list) else [paths])]} if paths else {}
    found = []
    for headings, lines in sections(_without_pointers(text, file) if file.name == _INDEX else text):
        path = (*under, *(title for title in headings if title != file.name))
        for piece in pieces(lines):
            content = f"{' > '.join(path)}\n\n{piece}" if path else piece
            memory_type = _type_of(headings[-1] if headings else "", piece)
            found.append(_make_record(content, memory_type, [kind, *_tag_words(" ".join(path))], file, custom))
    return found


def _make_note(kind: str, file: Path, values: Record, text: str) -> Record:
    """A note of Claude Code: one fact, with its purpose in the front matter."""
    about = values.get("metadata")
    note_type = str((about.get("type") if isinstance(about, dict) else None) or values.get("type") or "")
    description, text = str(values.get("description") or ""), text.strip()
    content = text if not description or description in text else f"{description}\n\n{text}"
    rule = note_type == "feedback" or (not note_type and _RULE.search(text) is not None)
    memory_type = MemoryType.PROCEDURAL if rule else MemoryType.SEMANTIC
    name = str(values.get("name") or file.stem)
    tags = [kind, note_type, *_tag_words(name.replace("-", " ").replace("_", " "))]
    return _make_record(content, memory_type, tags, file, {"name": name})


def _make_record(
    content: str, memory_type: MemoryType, tags: Iterable[str], file: Path, custom: Mapping[str, object]
) -> Record:
    """A record without an id, so that each import derives the same id from the same content."""
    kept = list(dict.fromkeys(tag for tag in map(str.strip, tags) if 0 < len(tag) <= MAX_TAG))[:MAX_TAGS]
    return {
        "content": content,
        "memory_type": memory_type.value,
        "metadata": {"tags": kept, "custom": custom},
        "source_uri": file.absolute().as_uri(),
    }


def _tag_words(text: str) -> list[str]:
    """The words of a heading that make tags."""
    found = [word for word in _WORD.findall(text.lower()) if len(word) >= _MIN_WORD_CHARACTERS and word not in _FILLERS]
    return list(dict.fromkeys(found[:_MAX_WORDS]))


def _without_pointers(text: str, index: Path) -> str:
    """An index without the lines that only point to notes beside it, which are read themselves."""
    return "\n".join(line for line in text.split("\n") if not _points_beside(line, index))


def _points_beside(line: str, index: Path) -> bool:
    match = _POINTER.match(line)
    return match is not None and "/" not in match[1] and (index.parent / match[1]).is_file()


def _type_of(heading: str, piece: str) -> MemoryType:
    if _FACT_HEADING.search(heading) and not _RULE_HEADING.search(heading):
        return MemoryType.SEMANTIC
    return MemoryType.PROCEDURAL if _RULE.search(piece) or _RULE_HEADING.search(heading) else MemoryType.SEMANTIC


# --- cutting


def sections(text: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The lines below each heading, with the headings above them, the outermost first; code between fences has none."""
    lines = re.split(r"\r\n|\r|\n", text)
    code = _list_code_lines(lines)
    path: list[tuple[int, str]] = []
    start = 0
    for number, line in enumerate([*lines, "# end"]):
        heading = None if number in code else _HEADING.match(line)
        if heading is not None:
            if start < number:
                yield tuple(title for _, title in path), lines[start:number]
            level, title = len(heading[1]), heading[2].rstrip().rstrip("#").rstrip()
            path = [*((above, known) for above, known in path if above < level), (level, title)]
            start = number + 1


def pieces(lines: Sequence[str]) -> list[str]:
    """The text of a section: whole if it is short, else cut between its list items and paragraphs, never within code.

    A line that leads in (it ends with a colon) stays with what follows, and a small rest with the text before it.
    """
    groups: list[str] = []
    for block in filter(_says_something, _split_blocks(lines)):
        leads_in = groups and len(groups[-1]) < MAX_SHORT_CHARACTERS and groups[-1].rstrip().endswith(":")
        if groups and (leads_in or len(groups[-1]) + len(block) <= MAX_SHORT_CHARACTERS):
            groups[-1] += block
        else:
            groups.append(block)
    if len(groups) > 1 and len(groups[-1]) < _MIN_PIECE_CHARACTERS:
        rest = groups.pop()
        groups[-1] += rest
    return [piece for group in groups for piece in _cut(group.strip("\n"))]


def _split_blocks(lines: Sequence[str]) -> Iterator[str]:
    """The list items and paragraphs of some lines, each with the indented lines and the code that follow."""
    code, start = _list_code_lines(lines), 0
    for number, line in enumerate(lines):
        is_paragraph = number > 0 and not lines[number - 1].strip() and bool(line.strip()) and not line[:1].isspace()
        if number not in code and (is_paragraph or _ITEM.match(line)) and start < number:
            yield "".join(each + "\n" for each in lines[start:number])
            start = number
    yield "".join(each + "\n" for each in lines[start:])


def _list_code_lines(lines: Sequence[str]) -> set[int]:
    return {number for first, end in find_fenced_lines(lines) for number in range(first, end)}


def _says_something(text: str) -> bool:
    """Whether a text is more than comments and rules."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return bool("".join((*kept, text[at:])).strip(_RULES))


def _cut(text: str) -> Iterator[str]:
    """Cut a text that is too long for one memory, at line ends if possible."""
    while len(text) > _MAX_PIECE_CHARACTERS:
        end = text.rfind("\n", 1, _MAX_PIECE_CHARACTERS) + 1 or _MAX_PIECE_CHARACTERS
        yield text[:end].strip("\n")
        text = text[end:]
    yield text

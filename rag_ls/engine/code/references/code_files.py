"""The documents of one client, as the resolution of names reads them, each once for a question; and files whose uses are not known."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from rag_ls.chunking import read_uses
from rag_ls.engine.project_status import without_textless
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import FileRules, Rejected, read_source
from rag_ls.languages import Language, ReferenceRule, Role, find_language, role_of
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredImport, StoredSymbol, find_terms, last_name
from rag_ls.util.files import read_most
from rag_ls.util.paths import project_file
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_MAX_SYMBOLS = 200_000
_MAX_NAMESAKES = 2_000
_OWNER = lazy_pattern(r"(?:\.|::|(?<=\w)#| > )(?=[^.:>]+$)")
_USUAL = ReferenceRule()


def split_owner(symbol: str) -> tuple[str, str]:
    """The qualified name of the declaration that holds a symbol, and the symbol's own name."""
    parts = _OWNER.split(symbol)
    return (symbol[: -len(parts[-1])].rstrip(".:# >"), parts[-1]) if len(parts) > 1 else ("", symbol)


def symbol_key(item: StoredSymbol) -> tuple[str, int, str]:
    """The place and the name that tell a declaration from all others."""
    return item.path, item.start_line, item.symbol


@dataclass(frozen=True, eq=False)
class CodeFile:
    """A document with all that was read of it."""

    id: int
    path: str
    language: Language
    symbols: tuple[StoredSymbol, ...]
    imports: tuple[StoredImport, ...]
    packed: bytes

    @property
    def rule(self) -> ReferenceRule:
        """The rule by which its names are read."""
        return self.language.references or _USUAL

    @cached_property
    def by_name(self) -> dict[str, list[StoredSymbol]]:
        """Its declarations by their own names."""
        found: dict[str, list[StoredSymbol]] = defaultdict(list)
        for item in self.symbols:
            found[split_owner(item.symbol)[1]].append(item)
        return found

    @cached_property
    def types(self) -> dict[str, StoredSymbol]:
        """Its types by their qualified names."""
        return {item.symbol: item for item in self.symbols if item.kind == "type"}

    @cached_property
    def bases(self) -> list[Use]:
        """The names from which its types derive."""
        return read_uses(self.packed, kind=UseKind.IMPLEMENT)

    def read_uses(self, names: Collection[str] | None = None) -> list[Use]:
        """The uses of some names in it."""
        return read_uses(self.packed, names)

    def declaration_around(self, line: int, *kinds: str) -> StoredSymbol | None:
        """The innermost declaration around a line, of some kinds if any are given."""
        found = [item for item in self._find_covering(line) if not kinds or item.kind in kinds]
        return min(found, key=lambda item: item.end_line - item.start_line) if found else None

    def _find_covering(self, line: int) -> Iterable[StoredSymbol]:
        at = bisect_right(self._starts, line)
        return (item for item in self._ordered[:at] if item.end_line >= line)

    @cached_property
    def _ordered(self) -> list[StoredSymbol]:
        return sorted(self.symbols, key=lambda item: item.start_line)

    @cached_property
    def _starts(self) -> list[int]:
        return [item.start_line for item in self._ordered]


class CodeFiles:
    """The documents that one client sees. For one question; not safe from several threads."""

    def __init__(self, session: ProjectSession) -> None:
        self._store = session.store
        self._lexical = session.project.index.lexical
        self._hidden = session.hidden_documents()
        self._known: dict[int, CodeFile] = {}
        self._packed: dict[int, bytes] = {}
        self._texts: dict[int, list[str]] = {}
        self._named: dict[str, list[StoredSymbol]] = {}
        self._holding: dict[str, list[int]] = {}

    @cached_property
    def _documents(self) -> dict[int, tuple[str, str]]:
        return {
            number: (path, language)
            for number, path, language, _ in self._store.document_paths()
            if number not in self._hidden
        }

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {path: number for number, (path, _) in self._documents.items()}

    @property
    def count(self) -> int:
        """The number of documents."""
        return len(self._documents)

    def find_holding(self, name: str) -> list[int]:
        """The documents that may hold a name, by id."""
        term = next(iter(find_terms(name)[-1:]), "")
        if term not in self._holding:
            found = self._lexical.documents_holding([term]) if term else []
            self._holding[term] = [number for number in found if number in self._documents]
        return self._holding[term]

    def language_of(self, number: int) -> str:
        """The language of a document."""
        return self._documents[number][1]

    def path_of(self, number: int) -> str:
        """The path of a document."""
        return self._documents[number][0]

    def read_packed(self, numbers: Collection[int]) -> dict[int, bytes]:
        """The packed uses in some documents (`read_uses`), each read once; empty for those that have none."""
        if missing := [number for number in numbers if number not in self._packed]:
            self._packed.update(dict.fromkeys(missing, b"") | self._store.outlines.uses(missing))
        return {number: self._packed[number] for number in numbers}

    def load_files(self, numbers: Iterable[int]) -> list[CodeFile]:
        """Some documents by id, each read once, in order of their paths."""
        wanted = [number for number in dict.fromkeys(numbers) if number in self._documents]
        missing = [number for number in wanted if number not in self._known]
        if missing:
            outlines = self._store.outlines
            symbols: dict[int, list[StoredSymbol]] = defaultdict(list)
            for item in outlines.of_documents(missing, _MAX_SYMBOLS):
                symbols[item.document_id].append(item)
            imports: dict[int, list[StoredImport]] = defaultdict(list)
            for imported in outlines.imports(missing):
                imports[imported.document_id].append(imported)
            packed = self.read_packed(missing)
            for number in missing:
                path, language = self._documents[number]
                self._known[number] = CodeFile(
                    id=number, path=path, language=find_language(language), symbols=tuple(symbols[number]),
                    imports=tuple(imports[number]), packed=packed[number],
                )  # fmt: skip
        return sorted((self._known[number] for number in wanted), key=lambda source: source.path)

    def file_at(self, path: str) -> CodeFile | None:
        """The document at a path; None if it is not indexed."""
        number = self._ids.get(path)
        if number is None:
            return None
        return self._known.get(number) or self.load_files([number])[0]

    def find_named(self, name: str) -> list[StoredSymbol]:
        """The declarations whose own name is this one; case counts."""
        if name not in self._named:
            found = self._store.outlines.named([last_name(name)], _MAX_NAMESAKES)
            self._named[name] = [
                item for item in found if item.document_id not in self._hidden and split_owner(item.symbol)[1] == name
            ]
        return self._named[name]

    def read_lines(self, source: CodeFile) -> list[str]:
        """The lines of a document's text, without their ends."""
        if source.id not in self._texts:
            self._texts[source.id] = _split_lines(self._store.chunks.text_of(source.id))
        return self._texts[source.id]

    def text_before(self, source: CodeFile, use: Use) -> str:
        """The text of its line before a use; empty where the text ends above that, as a change is indexed right now."""
        lines = self.read_lines(source)
        line = lines[use.line - 1] if use.line <= len(lines) else ""
        if line.isascii():
            return line[: use.column]
        return line.encode("utf-8", "surrogatepass")[: use.column].decode("utf-8", "ignore")

    def text_after(self, source: CodeFile, use: Use) -> str:
        """The text of its line behind a use."""
        return self.read_lines(source)[use.line - 1][len(self.text_before(source, use)) + len(use.name) :]

    def read_text(self, source: CodeFile, first: int, last: int) -> str:
        """The text of some lines, from 1, both included."""
        return "\n".join(self.read_lines(source)[max(0, first - 1) : last])


def _split_lines(text: str) -> list[str]:
    return re.split(r"\r\n|\n|\r", text) if "\r" in text else text.split("\n")


_MAX_FILES = 100
_MAX_FILE_BYTES = 2_000_000
_MAX_BYTES = 10_000_000
_ALL = FileRules(forced=("**",))


@dataclass(frozen=True, slots=True)
class UnreadPlace:
    """The first line of a file that holds a name, and the reason why its uses there are not known."""

    path: str
    line: int
    reason: str
    """The language, or why the file is not indexed."""


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """Files whose uses are missing from an answer."""

    holding: tuple[UnreadPlace, ...] = ()
    not_looked_at: int = 0
    """The number of files that are not indexed and may hold the name, too."""
    many: int = 0
    """The number of indexed files that were not looked at, either: there are many of them."""


NOTHING_UNREAD = UnreadFiles()


def find_unread(session: ProjectSession, files: CodeFiles, name: str, without: Collection[int] = ()) -> UnreadFiles:
    """The files in which the uses of a name are not known, save some documents."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    sources = files.load_files(
        _find_without_uses(files, [each for each in files.find_holding(name) if each not in without])
    )
    holding = list(_find_in_documents(files, sources[:_MAX_FILES], word))
    read, not_looked_at, left = 0, 0, _MAX_BYTES
    for path, item in session.store.skipped().items():
        if not without_textless({item.reason: 1}):
            continue
        size = item.state.size
        is_read = read < _MAX_FILES and 0 <= size <= min(left, _MAX_FILE_BYTES)
        read, left = read + is_read, left - size * is_read
        if is_read and not _may_hold(session.project.root, path, name):
            continue
        source = read_source(session.project.root, path, limit=_MAX_FILE_BYTES, rules=_ALL) if is_read else None
        if source is None or isinstance(source, Rejected):
            not_looked_at += 1
        elif found := word.search(source.text):
            holding.append(UnreadPlace(path, source.text.count("\n", 0, found.start()) + 1, item.reason))
    return UnreadFiles(tuple(holding), not_looked_at, len(sources[_MAX_FILES:]))


def _may_hold(root: Path, path: str, name: str) -> bool:
    """Whether a file's bytes hold a name: decoding and judging them takes much longer. True where they cannot be read."""
    try:
        with project_file(root, path) as stream:
            data = read_most(stream, _MAX_FILE_BYTES)
    except OSError:
        return True
    return any(name.encode(encoding, "ignore") in data for encoding in ("utf-8", "utf-16-le", "utf-16-be"))


def _find_in_documents(files: CodeFiles, sources: Iterable[CodeFile], word: re.Pattern[str]) -> Iterator[UnreadPlace]:
    for source in sources:
        if source.imports and source.language.references and not source.language.is_markup:
            # It was read, and uses no name: it passes on what other files export.
            continue
        known = {use.line for use in source.read_uses() if word.fullmatch(use.name)}
        line = next(
            (
                number
                for number, text in enumerate(files.read_lines(source), 1)
                if number not in known and word.search(text)
            ),
            0,
        )
        if line:
            yield UnreadPlace(source.path, line, source.language.title or source.language.name)


def _find_without_uses(files: CodeFiles, numbers: Collection[int]) -> Iterator[int]:
    """The documents whose names are not read; of markup, those of its scripts alone are."""
    for number, packed in files.read_packed(numbers).items():
        language = find_language(files.language_of(number))
        if (not packed or language.is_markup) and role_of(language.name) is not Role.DOCS:
            yield number

"""Finds out what a change of several files touches: its public names, who must change along, tests, memories."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum
from functools import partial

from rag_ls.chunking import recognise
from rag_ls.engine.code.code_memories import find_in_document
from rag_ls.engine.code.impact import find_covering_tests
from rag_ls.engine.code.references import find_uses
from rag_ls.engine.code.references.code_files import CodeFiles, split_owner
from rag_ls.engine.code.related_tests import find_reaching_tests
from rag_ls.engine.session import ProjectSession
from rag_ls.languages import ImportResolver, SourceTree
from rag_ls.model import Memory, Outline
from rag_ls.rules import ALL, ChangedFile, Dependent, ImpactFinder
from rag_ls.search import is_docs
from rag_ls.storage import StoredSymbol
from rag_ls.util.git_changes import ChangeStatus
from rag_ls.util.paths import text_in
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_PARTS = lazy_pattern(r"\.|::|#| > ")


class NameChange(StrEnum):
    """The ways in which a public name differs."""

    ADDED = "added"
    REMOVED = "removed"
    SIGNATURE = "signature"
    """It is declared otherwise: its users may have to change."""
    BODY = "body"
    """It is declared as before, and does something else."""


@dataclass(frozen=True, slots=True)
class ChangedName:
    """A public name that a change touches."""

    name: str
    line: int
    """Of its declaration; of a removed one, where it was."""
    change: NameChange


@dataclass(frozen=True, slots=True)
class FileImpact:
    """The things that the change of one file touches."""

    file: ChangedFile
    language: str
    """Empty for a file that was not looked into."""
    names: tuple[ChangedName, ...]
    dependents: tuple[Dependent, ...]
    """All that depend on it outside the change."""
    breaking: tuple[Dependent, ...]
    """Those that use what is gone, and those outside the change that use what is declared otherwise, with lines and names."""
    tests: tuple[str, ...]
    memories: tuple[Memory, ...]


def find_change_impact(session: ProjectSession, files: Sequence[ChangedFile]) -> list[FileImpact]:
    """The impact of each file that differs, in their order."""
    session.catch_up()
    changed = {file.path for file in files}
    gone = {file.former_path for file in files if file.former_path} - {
        file.path for file in files if file.status is not ChangeStatus.DELETED
    }
    there = {path for _, path, _, _ in session.store.document_paths()}
    # Deleted files count as present: remaining imports of them mean the former files.
    tree = SourceTree(there | gone, partial(text_in, session.project.root))
    finder = ImpactFinder(session.store, ImportResolver(tree), session.hidden_documents())
    return [_find_file_impact(session, finder, file, changed) for file in files]


def _find_file_impact(
    session: ProjectSession, finder: ImpactFinder, file: ChangedFile, changed: Collection[str]
) -> FileImpact:
    language = recognise(file.path, (file.after or file.before)[:4096]) or "text"
    is_code = not (file.note or is_docs(language))
    before, after = (
        session.project.cutters.outline(text, file.path, language) if is_code else Outline()
        for text in (file.before, file.after)
    )
    roles = session.project.roles
    names = [] if roles.is_test(file.path) else list(_compare_names(file, before, after))
    gone = file.former_path if file.status in (ChangeStatus.DELETED, ChangeStatus.RENAMED) else ""
    former = _find_dependents(finder, gone, language, before) if gone and is_code else ()
    direct = _find_dependents(finder, file.path, language, after) if is_code and file.path != gone else ()
    removed = {each.name for each in names if each.change is NameChange.REMOVED}
    if removed and not gone:
        # Removed declarations that other files still import.
        direct = merge_dependents((*direct, *_find_dependents(finder, file.path, language, before)))
    everyone = merge_dependents((*former, *direct))
    outside = [each for each in everyone if each.path not in changed]
    # A file that is part of the change is taken to fit the changed declarations. A removed declaration breaks every file.
    breaking = [each for each in _uses_of_changed(session, file, names) if each.path not in changed]
    still = (*former, *_uses_of_removed(session, removed, language, everyone))
    breaking = list(merge_dependents([*breaking, *(each for each in still if each.path != file.path)]))
    all_direct = (*former, *direct)
    tests = find_covering_tests(session, file.path, [item.name for item in after.symbols], language, all_direct)
    if not tests and is_code and not roles.is_test(file.path):
        reaching = find_reaching_tests(finder, roles, file.path, {each.path for each in all_direct})
        tests = tuple(each.path for each in reaching)
    return FileImpact(
        file=file, language="" if file.note else language, names=tuple(names),
        dependents=tuple(outside), breaking=tuple(breaking), tests=tests,
        memories=_find_memories(session, file),
    )  # fmt: skip


def _compare_names(file: ChangedFile, before: Outline, after: Outline) -> Iterator[ChangedName]:
    """The public names that differ, in the order of the present text, the removed ones last."""
    former, present = _public_names(before, file.before), _public_names(after, file.after)
    for name, (line, heads, bodies) in present.items():
        if name not in former:
            yield ChangedName(name, line, NameChange.ADDED)
        elif former[name][1] != heads:
            yield ChangedName(name, line, NameChange.SIGNATURE)
        elif former[name][2] != bodies:
            yield ChangedName(name, line, NameChange.BODY)
    for name, (line, _, _) in former.items():
        if name not in present:
            yield ChangedName(name, line, NameChange.REMOVED)


def _public_names(outline: Outline, text: str) -> dict[str, tuple[int, list[str], list[str]]]:
    """The public names of a text: the first line of each, and all its signatures and texts (a name may be overloaded)."""
    lines, found = text.splitlines(), dict[str, tuple[int, list[str], list[str]]]()
    hidden = {symbol.name for symbol in outline.symbols if not symbol.exported}
    for symbol in outline.symbols:
        parts = _PARTS.split(symbol.name)
        owners = {symbol.name[: -len(part) - 1] for part in parts[1:]}
        if symbol.exported and symbol.kind != "section" and parts[-1][:1] != "_" and not owners & hidden:
            _, heads, bodies = found.setdefault(symbol.name, (symbol.start_line, [], []))
            heads.append(" ".join(symbol.signature.split()))
            # Code that is merely formatted otherwise has not changed.
            own = [" ".join(line.split()) for line in lines[symbol.start_line - 1 : symbol.end_line]]
            bodies.append("\n".join(filter(None, own)))
    return found


def _find_dependents(finder: ImpactFinder, path: str, language: str, outline: Outline) -> tuple[Dependent, ...]:
    declared = [
        StoredSymbol(
            document_id=0, path=path, language=language, symbol=item.name, kind=item.kind, start_line=item.start_line,
            end_line=item.end_line, signature=item.signature, exported=item.exported,
        )
        for item in outline.symbols
    ]  # fmt: skip
    return finder.dependents(path, declared, followed=0).direct


def _uses_of_changed(session: ProjectSession, file: ChangedFile, names: Sequence[ChangedName]) -> Iterator[Dependent]:
    """The lines that use a name which is declared otherwise."""
    source = CodeFiles(session).file_at(file.path)
    wanted = {each.name for each in names if each.change is NameChange.SIGNATURE}
    for item in source.symbols if source is not None else ():
        if item.symbol in wanted:
            for use in find_uses(session, [item]):
                uses = ((use.line, item.symbol),)
                yield Dependent(use.path, (), (item.symbol,), (use.line,), uses, is_by_name=not use.resolved)


def _uses_of_removed(
    session: ProjectSession, removed: Collection[str], language: str, dependents: Sequence[Dependent]
) -> Iterator[Dependent]:
    """The lines that use a name which is gone: where it is imported; of a member, wherever nothing else has its name."""
    files = CodeFiles(session)
    for name in sorted(removed):
        own = split_owner(name)[1]
        if own == name:
            paths = [each.path for each in dependents if name in each.names or ALL in each.names]
        else:
            paths = (
                [] if files.find_named(own) else [source.path for source in files.load_files(files.find_holding(own))]
            )
        for source in filter(None, map(files.file_at, paths)):
            for use in source.read_uses({own}) if source.language.name == language else ():
                if own == name or use.receiver:
                    yield Dependent(source.path, (), (name,), (use.line,), ((use.line, name),))


def merge_dependents(found: Sequence[Dependent]) -> tuple[Dependent, ...]:
    """One record for each file, with all its imports, names and lines."""
    merged: dict[str, Dependent] = {}
    for each in found:
        known = merged.setdefault(each.path, each)
        merged[each.path] = Dependent(
            path=each.path, imports=tuple(dict.fromkeys((*known.imports, *each.imports))),
            names=tuple(dict.fromkeys((*known.names, *each.names))), lines=tuple(sorted({*known.lines, *each.lines})),
            uses=tuple(sorted({*known.uses, *each.uses})), is_by_name=known.is_by_name and each.is_by_name,
        )  # fmt: skip
    return tuple(merged[path] for path in sorted(merged))


def _find_memories(session: ProjectSession, file: ChangedFile) -> tuple[Memory, ...]:
    found = [item for _, items in find_in_document(session, file.path) for item in items]
    if file.former_path and (file.status in (ChangeStatus.DELETED, ChangeStatus.RENAMED)):
        found += session.memories.find_about(file.former_path, (), ())
    return tuple({item.id: item for item in found}.values())

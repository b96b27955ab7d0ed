"""Lists the places that use a symbol for agents: each path once, and of uses that are alike the lines."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rag_ls.languages import detect_language
from rag_ls.operations.code.lookup import SymbolRecord
from rag_ls.operations.code.references import RESOLVED, ReferenceRecord, ReferencesAnswer
from rag_ls.search.roles import is_data
from rag_ls.util.text import count_of

_R = ReferenceRecord
_CALL, _IMPORT, _DEFINITION, _IMPLEMENT, _MENTION = "call", "import", "definition", "implement", "mention"
# So many files of data that have the name, and of tests, are listed; of others the folders are told.
_MAX_DATA, _MAX_TESTS = 5, 20
_MAX_FOLDERS, _FOLDER_PARTS = 4, 3
# So much of a long line is shown, around the name that is used in it.
_MAX_USE_CHARACTERS, _MAX_CHARACTERS_IN_LONG_LIST = 120, 80
# In a longer list, the uses in one declaration are told by their lines, with the text of the first; so many texts show how it is used.
_MAX_WHOLE_USES, _MAX_TEXTS = 20, 12
# More uses in tests than this have neither a text nor the test's name: other code shows how the symbol is used.
_MAX_WHOLE_TESTS = 5


def format_each(answer: ReferencesAnswer) -> list[str]:
    """A line for each reference: its steps as indent, its place, kind, and the line; `?` where its name alone is known."""
    return [
        f"{'  ' * (record.depth - 1)}{name_path(record)}:{record.line} {_describe_use(record)}: {_show_line(record, answer)}"
        for record in _leave_out_known(answer)
    ]


def list_by_file(answer: ReferencesAnswer) -> Iterator[str]:
    """The references; several of one file stand beneath its path, and in a long list none repeats a text."""
    by_path: dict[str, list[ReferenceRecord]] = {}
    for record in _leave_out_known(answer):
        by_path.setdefault(name_path(record), []).append(record)
    told: set[str] | None = set() if len(answer.references) > _MAX_WHOLE_USES else None
    many_tests = sum(record.test for record in answer.references) > _MAX_WHOLE_TESTS
    shown, left = _leave_out_many(by_path)
    for path, records in shown.items():
        lines = list(dict.fromkeys(_list_alike(records, answer, told, is_brief=many_tests and records[0].test)))
        yield from join_file(path, lines)
    for name, others in left.items():
        yield _count_by_folder(name, others)


def _leave_out_many(by_path: Mapping[str, list[_R]]) -> tuple[dict[str, list[_R]], dict[str, dict[str, list[_R]]]]:
    """The files that are listed, and by what they are those that are counted: keys of data by name alone, and tests, if they are many."""
    shown: dict[str, list[_R]] = {}
    left: dict[str, dict[str, list[_R]]] = {}
    listed: Counter[str] = Counter()
    for path, records in by_path.items():
        is_data_alone = all(_is_key(record) for record in records)
        name, most = ("data", _MAX_DATA) if is_data_alone else ("tests", _MAX_TESTS)
        if (is_data_alone or records[0].test) and listed[name] == most:
            left.setdefault(name, {})[path] = records
        else:
            listed[name] += is_data_alone or records[0].test
            shown[path] = records
    return shown, left


def _is_key(record: ReferenceRecord) -> bool:
    """Whether a use is a key or value in a file of data that has the name."""
    return record.kind == _MENTION and record.sure != RESOLVED and is_data(detect_language(record.path) or "")


def _count_by_folder(name: str, files: Mapping[str, list[_R]]) -> str:
    """One line for files that are not listed: their number, and the folders that most of them are in."""
    lines = sum(map(len, files.values()))
    folders = Counter("/".join(path.split("/")[:-1][:_FOLDER_PARTS]) or "." for path in files)
    shown = folders.most_common(_MAX_FOLDERS)
    others = folders.total() - sum(count for _, count in shown)
    named = [*(f"{folder} {count}" for folder, count in shown), *([f"others {others}"] if others else [])]
    where = count_of(len(files), f"file of {name}", f"files of {name}")
    return f"{lines} more in {where}: {', '.join(named)} (detail = full lists them)"


def _leave_out_known(answer: ReferencesAnswer) -> list[ReferenceRecord]:
    """The references, with their targets only where these tell one declaration from another."""
    meant = {record.target for record in answer.references if record.kind != _DEFINITION} - {""}
    known = {answer.symbol} if len(meant) > 1 else {answer.symbol, *meant}
    return [
        replace(record, target="") if record.kind == _DEFINITION or record.target in known else record
        for record in answer.references
    ]


def _list_alike(
    records: Sequence[ReferenceRecord], answer: ReferencesAnswer, told: set[str] | None, *, is_brief: bool
) -> Iterator[str]:
    """The references in a file, without texts and names of functions if `is_brief`; a call has no kind.

    An import beside its uses needs no text; in a long list, neither do uses after the first in a
    declaration, nor one whose text was told, nor any after enough texts.
    """
    has_uses = any(record.kind not in (_IMPORT, _DEFINITION) for record in records)
    if is_brief:
        records = sorted((_name_container(record) for record in records), key=lambda record: record.kind)
    for what, group in itertools.groupby(records, _describe_in_list):
        alike = list(group)
        kind = alike[0].kind
        is_plain = is_brief or (kind == _IMPORT and has_uses) or (kind == _IMPLEMENT and told is not None)
        if told is None and not is_plain:
            yield from (f"{record.line}{what}: {_show_line(record, answer)}" for record in alike)
            continue
        lines = ",".join(map(str, dict.fromkeys(record.line for record in alike)))
        text = _show_line(alike[0], answer, _MAX_USE_CHARACTERS if told is None else _MAX_CHARACTERS_IN_LONG_LIST)
        if is_plain or told is None or text in told or len(told) == _MAX_TEXTS:
            yield f"{lines}{what}"
        else:
            told.add(text)
            yield f"{lines}{what}: {text}"


def _name_container(record: _R) -> _R:
    """A use in a test, in the class around the test alone."""
    return replace(record, symbol=record.symbol.rpartition(".")[0])


def _describe_in_list(record: _R) -> str:
    """The kind of a use and what is around it, after its line; a call has no kind."""
    described = _describe_use(record)
    is_call = record.kind == _CALL and record.sure == RESOLVED
    return f" {described.removeprefix(_CALL).lstrip()}".rstrip() if is_call else f" {described}"


def _describe_use(record: ReferenceRecord) -> str:
    """The kind of a use, the declaration that it means, and the one around it."""
    target = f" of {record.target}" if record.target else ""
    around = f" in {record.symbol}" if record.symbol and record.kind not in (_DEFINITION, "override") else ""
    return f"{record.kind}{'' if record.sure == RESOLVED else '?'}{target}{around}"


def _show_line(record: ReferenceRecord, answer: ReferencesAnswer, longest: int = _MAX_USE_CHARACTERS) -> str:
    return cut_around(record.text, record.text.find(answer.symbol.rpartition(".")[2]), longest)


def name_path(record: ReferenceRecord | SymbolRecord) -> str:
    """The path of a record, whole where several projects answer."""
    return f"{record.project}/{record.path}" if record.project else record.path


def join_file(path: str, lines: Sequence[str]) -> Iterator[str]:
    """The lines of one file: one beside its path, several beneath it."""
    if len(lines) == 1:
        yield f"{path}:{lines[0]}"
    else:
        yield path
        yield from (f" {line}" for line in lines)


def cut_around(line: str, at: int, longest: int) -> str:
    """A line; of one that is longer than `longest` the part around a column, from 0."""
    if len(line) <= longest:
        return line
    start = max(0, min(at - longest // 2, len(line) - longest))
    end = start + longest
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"

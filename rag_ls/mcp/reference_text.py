"""Lists the places that use a symbol for agents: each path once, and of uses that are alike the lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_ls.operations.code.references import RESOLVED, ReferenceRecord, ReferencesAnswer

_IMPORT, _DEFINITION, _IMPLEMENT = "import", "definition", "implement"
# So much of a long line is shown, around the name that is used in it.
_MAX_USE_CHARACTERS, _MAX_CHARACTERS_IN_LONG_LIST = 120, 80
# In a longer list, the uses in one declaration are told by their lines, with the text of the first.
_MAX_WHOLE_USES = 20
# More uses in tests than this have no text: other code shows how the symbol is used.
_MAX_WHOLE_TESTS = 5


def format_each(answer: ReferencesAnswer) -> list[str]:
    """A line for each reference: its steps as indent, its place, kind, and the line; `?` where its name alone is known."""
    return [
        f"{'  ' * (record.depth - 1)}{_name_path(record)}:{record.line} {_describe(record)}: {_show_line(record, answer)}"
        for record in _leave_out_known(answer)
    ]


def list_by_file(answer: ReferencesAnswer) -> Iterator[str]:
    """The references; several of one file stand beneath its path, and in a long list none repeats a text."""
    by_path: dict[str, list[ReferenceRecord]] = {}
    for record in _leave_out_known(answer):
        by_path.setdefault(_name_path(record), []).append(record)
    told: set[str] | None = set() if len(answer.references) > _MAX_WHOLE_USES else None
    many_tests = sum(record.test for record in answer.references) > _MAX_WHOLE_TESTS
    for path, records in by_path.items():
        lines = list(dict.fromkeys(_list_alike(records, answer, told, is_brief=many_tests and records[0].test)))
        if len(lines) == 1:
            yield f"{path}:{lines[0]}"
        else:
            yield path
            yield from (f" {line}" for line in lines)


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
    """The references in a file, without texts if `is_brief`.

    An import beside its uses needs no text; in a long list, neither do uses after the first in a
    declaration, nor one whose text was told.
    """
    has_uses = any(record.kind not in (_IMPORT, _DEFINITION) for record in records)
    for what, group in itertools.groupby(records, _describe):
        alike = list(group)
        kind = alike[0].kind
        is_plain = is_brief or (kind == _IMPORT and has_uses) or (kind == _IMPLEMENT and told is not None)
        if told is None and not is_plain:
            yield from (f"{record.line} {what}: {_show_line(record, answer)}" for record in alike)
            continue
        lines = ",".join(map(str, dict.fromkeys(record.line for record in alike)))
        text = _show_line(alike[0], answer, _MAX_USE_CHARACTERS if told is None else _MAX_CHARACTERS_IN_LONG_LIST)
        if is_plain or told is None or text in told:
            yield f"{lines} {what}"
        else:
            told.add(text)
            yield f"{lines} {what}: {text}"


def _describe(record: ReferenceRecord) -> str:
    """The kind of a use, the declaration that it means, and the one around it."""
    target = f" of {record.target}" if record.target else ""
    around = f" in {record.symbol}" if record.symbol and record.kind not in (_DEFINITION, "override") else ""
    return f"{record.kind}{'' if record.sure == RESOLVED else '?'}{target}{around}"


def _show_line(record: ReferenceRecord, answer: ReferencesAnswer, longest: int = _MAX_USE_CHARACTERS) -> str:
    return cut_around(record.text, record.text.find(answer.symbol.rpartition(".")[2]), longest)


def _name_path(record: ReferenceRecord) -> str:
    """The path of a record, whole where several projects answer."""
    return f"{record.project}/{record.path}" if record.project else record.path


def cut_around(line: str, at: int, longest: int) -> str:
    """A line; of one that is longer than `longest` the part around a column, from 0."""
    if len(line) <= longest:
        return line
    start = max(0, min(at - longest // 2, len(line) - longest))
    end = start + longest
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"

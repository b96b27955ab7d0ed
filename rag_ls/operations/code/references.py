"""The operation that lists where a symbol is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rag_ls.engine import (
    ALL_KINDS,
    MAX_DEPTH,
    AskedSymbol,
    PlacesRequest,
    ProjectSession,
    Reference,
    ReferenceKind,
    References,
    find_callees,
    find_callers,
    split_owner,
)
from rag_ls.engine import find_references as find_all
from rag_ls.errors import InvalidRequest
from rag_ls.operations.code.exact_places import find_exact
from rag_ls.operations.code.lookup import note_refused, note_unread
from rag_ls.operations.code.preparation import QuestionScope, read_first
from rag_ls.operations.fields import argument, join_notes, make_record, optional
from rag_ls.operations.operation import Caller, Tool, Verb, operation
from rag_ls.search import TextQuery
from rag_ls.util.paths import names_line
from rag_ls.util.records import dataclass
from rag_ls.util.text import count_of, nearest_text

ALL, CALLERS, CALLEES, IMPLEMENTS = "all", "callers", "callees", "implements"
RESOLVED, BY_NAME = "resolved", "by name"
_DEFAULT_COUNT, _MAX_COUNT, _MAX_DECLARED, _MAX_UNREAD, _MAX_LINES = 100, 1000, 8, 5, 5
_Found = tuple[ProjectSession, Reference]
_IMPLEMENTING = frozenset({ReferenceKind.IMPLEMENT, ReferenceKind.OVERRIDE})
_SURE = frozenset({ReferenceKind.DEFINITION, ReferenceKind.OVERRIDE, ReferenceKind.DOCS})
_PLURALS = {
    ReferenceKind.DEFINITION: ("definition", "definitions"),
    ReferenceKind.CALL: ("call", "calls"),
    ReferenceKind.IMPORT: ("import", "imports"),
    ReferenceKind.IMPLEMENT: ("implementation", "implementations"),
    ReferenceKind.OVERRIDE: ("override", "overrides"),
    ReferenceKind.MENTION: ("mention", "mentions"),
    ReferenceKind.DOCS: ("line of docs", "lines of docs"),
}


@dataclass(frozen=True, slots=True)
class FindReferences:
    symbol: str = argument("", "a name, or a qualified one: Session.refresh")
    path: str = argument("", "the file that declares it", is_path=True)
    line: int | None = argument(None, "a line of it, from 1", least=1)
    column: int | None = argument(
        None, "of that line, from 1: the name there is meant, wherever it is declared", least=1
    )
    show: str = argument(
        ALL, "all, its callers, the functions that it calls, or what implements it",
        choices=(ALL, CALLERS, CALLEES, IMPLEMENTS),
    )  # fmt: skip
    depth: int | None = argument(None, f"callers of callers, to {MAX_DEPTH} steps", least=1)
    k: int | None = argument(None, "how many references at most", least=1, flag="-k")
    offset: int | None = argument(None, "how many to pass over", least=0)
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class ReferenceRecord:
    """A place that uses a symbol."""

    kind: str
    """`definition`, `call`, `import`, `implement`, `override`, `mention` or `docs`."""
    path: str
    line: int
    column: int
    symbol: str
    """The declaration around it; empty at the top of a file."""
    text: str
    """The line."""
    sure: str
    """`resolved` by scopes, imports or types, or `by name` alone."""
    target: str = optional("")
    """The symbol that it means, where several have the name, or what a function calls."""
    depth: int = optional(1)
    """The number of steps to the symbol: 2 for a call of what calls it."""
    test: bool = optional(False)
    """Whether it is in a test."""
    project: str = optional("")


@dataclass(frozen=True, slots=True)
class ReferencesAnswer:
    """The places that use a symbol: definitions first, then kind by kind. Of each the resolved ones come first, of a name with very
    many uses in each part that was looked at."""

    symbol: str
    references: tuple[ReferenceRecord, ...]
    total: int
    summary: str
    """The numbers: `12 calls in 5 files, 9 resolved`."""
    offset: int = optional(0)
    estimated: bool = optional(False)
    """Whether `total` and `summary` count uses of a frequent name that were not looked at: some may mean another declaration."""
    root: str = optional("")
    """The folder that the paths are below; empty where several projects answer."""
    note: str = optional("")


@operation(
    tool=Tool(
        "code",
        "Where a symbol is defined, called, imported, implemented, tested: before you grep.",
        ("symbol", "path", "line", "show", "depth"),
    ),
    command="ragLs.references",
    verb=Verb(
        "refs",
        "list where a symbol is used",
        ("symbol",),
        ("path", "line", "column", "show"),
        example="rag-ls refs Session.refresh --callers --depth 2",
    ),
)
def find_references(caller: Caller, request: FindReferences) -> ReferencesAnswer:
    """The places where a symbol is defined, called, imported, implemented, overridden, tested, and named in docs."""
    if not (request.symbol.strip() or (request.path.strip() and (request.line or names_line(request.path)))):
        raise InvalidRequest("find_references needs a symbol, or a path with a line of its declaration")
    path = request.path.strip()
    sessions = caller.projects.find_candidates(path, request.project)
    read_first(caller, sessions, QuestionScope(request.symbol, path), compares=True)
    if path:
        sessions = [caller.projects.find_holding(path, request.project)]
    first = request.offset or 0
    last = first + min(request.k or _DEFAULT_COUNT, _MAX_COUNT)
    answers = [(session, _find_uses(session, request, last)) for session in sessions]
    found = [(session, each) for session, answer in answers for each in answer.references]
    shown = found[first:last]
    left = sum((Counter(answer.left) for _, answer in answers), Counter())
    total = len(found) + left.total()
    declared = {item for _, answer in answers for item in answer.declarations}
    names_target = len(declared) > 1 or request.show == CALLEES or request.depth is not None
    records = tuple(
        _make_record(each, names_target=names_target, project=str(session.project.root) if len(sessions) > 1 else "")
        for session, each in shown
    )
    is_used = any(each.kind is not ReferenceKind.DEFINITION for _, each in found)
    as_text = "" if declared and is_used else _describe_lines(sessions, answers, found)
    notes = (caller.projects.note_elsewhere(sessions), *_describe_answers(answers, first + len(shown), total, as_text))
    name = next((answer.name for _, answer in answers), request.symbol)
    return ReferencesAnswer(
        symbol=name, references=records, total=total, summary=_summarize_kinds([each for _, each in found], left), offset=first,
        estimated=_is_estimated(left), root=str(sessions[0].project.root) if len(sessions) == 1 else "", note=join_notes(*notes),
    )  # fmt: skip


def _describe_lines(
    sessions: Sequence[ProjectSession], answers: Sequence[tuple[ProjectSession, References]], found: Sequence[_Found]
) -> str:
    """The lines beside the uses that hold a name that nothing declares or uses: in strings, comments and data."""
    name = answers[0][1].name if answers else ""
    told = {(each.path, each.line) for _, each in found}
    return describe_lines(sessions, name, told, {each.path for _, answer in answers for each in answer.unread.holding})


def describe_lines(
    sessions: Sequence[ProjectSession], name: str, told: Collection[tuple[str, int]], without: Collection[str] = ()
) -> str:
    """The lines that hold a name as a word, beside those that are `told` and those of some files; empty where there are none."""
    if not name:
        return ""
    exact = find_exact(sessions, PlacesRequest((TextQuery(name, whole_words=True),), count=_MAX_COUNT))
    places = [place for place in exact.places if place.path not in without] if exact else []
    others = [place for place in places if (place.path, place.line) not in told]
    if not others:
        return ""
    shown = ", ".join(f"{place.path}:{place.line}" for place in others[:_MAX_LINES])
    more = f" and {len(others) - _MAX_LINES} more" if len(others) > _MAX_LINES else ""
    hold = "holds" if len(others) == 1 else "hold"
    lines = f"{count_of(len(others), 'more line')} {hold} it, in texts or as another's name"
    return f"{lines}: {shown}{more}: search_code with match = exact lists all"


def _describe_answers(
    answers: Sequence[tuple[ProjectSession, References]], last: int, total: int, as_text: str
) -> Iterator[str]:
    yield note_unread([session for session, _ in answers])
    yield note_refused([session for session, _ in answers])
    declared = [item for _, answer in answers for item in answer.declarations]
    name = answers[0][1].name if answers else ""
    if len(declared) > 1:
        shown = ", ".join(f"{item.symbol} ({item.path}:{item.start_line})" for item in declared[:_MAX_DECLARED])
        more = f" and {len(declared) - _MAX_DECLARED} more" if len(declared) > _MAX_DECLARED else ""
        yield f"{len(declared)} declarations have this name: {shown}{more}; a qualified name, or path and line, mean one"
    elif not declared and total:
        yield f"no declaration is called {name!r} here: these are its uses"
    elif not declared:
        looked_at = sum(answer.looked_at for _, answer in answers)
        near = nearest_text(dict.fromkeys(each for _, answer in answers for each in answer.nearest))
        words = "" if as_text else "search_code takes questions in words"
        yield f"{name!r} is used in none of {count_of(looked_at, 'file')}; {near}{words}".rstrip("; ")
    yield as_text
    for _, answer in answers:
        yield _describe_unread(answer, is_empty=not total and not as_text)
        if answer.uncreated:
            owner = split_owner(answer.declarations[0].symbol)[0]
            yield (f"where {answer.uncreated} types are created was not looked for: {owner}.{answer.name} asks for one")
    if last < total:
        about = "about " if any(_is_estimated(answer.left) for _, answer in answers) else ""
        yield f"{about}{total - last} more: offset = {last} goes on"
    if any(answer.is_cut for _, answer in answers):
        yield "there are more callers than are followed: ask for fewer steps"


def _describe_unread(answer: References, *, is_empty: bool) -> str:
    """The files that hold the name, and in which its uses are not known; empty where there are none."""
    found = answer.unread.holding
    shown = [f"{each.path}:{each.line} ({each.reason})" for each in found[:_MAX_UNREAD]]
    more = [f"{len(found) - _MAX_UNREAD} more"] if len(found) > _MAX_UNREAD else []
    more += [f"{answer.unread.many} that may hold the name"] if answer.unread.many else []
    held = f"also in files whose uses are not read: {', '.join((*shown, *more))}" if shown or more else ""
    # If something was found, files that are never indexed hardly matter.
    count = answer.unread.not_looked_at if is_empty else 0
    unseen = f"{count_of(count, 'file')} not looked at: index_status with skipped = true lists them" if count else ""
    return join_notes(held, unseen)


def _find_uses(session: ProjectSession, request: FindReferences, enough: int) -> References:
    question = AskedSymbol(request.symbol.strip(), request.path.strip(), request.line or 0, request.column or 0)
    if request.show == CALLERS or request.depth is not None:
        return find_callers(session, question, request.depth or 1)
    if request.show == CALLEES:
        return find_callees(session, question)
    return find_all(session, question, kinds=_IMPLEMENTING if request.show == IMPLEMENTS else ALL_KINDS, enough=enough)


def _make_record(reference: Reference, *, names_target: bool, project: str) -> ReferenceRecord:
    return make_record(
        ReferenceRecord, reference, sure=RESOLVED if reference.resolved else BY_NAME, test=reference.is_test, project=project,
        target=reference.target.symbol if names_target and reference.target is not None else "",
    )  # fmt: skip


def _is_estimated(left: Mapping[ReferenceKind, int]) -> bool:
    """Whether uses that were not looked at are left; declarations need no look."""
    return any(kind is not ReferenceKind.DEFINITION for kind in left)


def _summarize_kinds(references: Iterable[Reference], left: Mapping[ReferenceKind, int]) -> str:
    """The number of references of each kind: `12 calls in 5 files, 9 resolved; about 400 mentions, not looked at yet`."""
    by_kind: dict[ReferenceKind, list[Reference]] = {}
    for each in references:
        by_kind.setdefault(each.kind, []).append(each)
    kinds = (kind for kind in ReferenceKind if kind in by_kind or kind in left)
    return "; ".join(_count_kind(kind, by_kind.get(kind, ()), left.get(kind, 0)) for kind in kinds) or "no references"


def _count_kind(kind: ReferenceKind, found: Sequence[Reference], left: int) -> str:
    """The number of references of a kind, with those that are left."""
    name = _PLURALS[kind][len(found) + left != 1]
    resolved = sum(each.resolved for each in found)
    if left and kind is ReferenceKind.DEFINITION:
        return f"{len(found) + left} {name}"
    if left and not found:
        return f"about {left} {name}, not looked at yet"
    if left:
        return f"about {len(found) + left} {name}, {resolved} of them resolved so far"
    part = f"{len(found)} {name} in {count_of(len({each.path for each in found}), 'file')}"
    return part if kind in _SURE else f"{part}, {resolved} resolved"

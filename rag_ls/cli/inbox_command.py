"""The verb `inbox`: memories that were proposed, to keep, edit or drop; and proposals from commits and comments."""

from __future__ import annotations

from types import SimpleNamespace

from rag_ls.cli.backend import Json, ask
from rag_ls.cli.memory_commands import format_stored
from rag_ls.cli.progress import show_reading
from rag_ls.cli.terminal import NAME, PLACE, Paint, paint, show_answer
from rag_ls.errors import InvalidRequest
from rag_ls.util.text import count_of, fold

_ID_CHARACTERS = 8
_HOW = "`rag-ls inbox keep ID` (with --content TEXT: edited), `drop ID`, `drop ID --never`; what waits for 30 days goes"
_EMPTY = "nothing waits; `rag-ls inbox scan` proposes memories from commits and comments that say why"


def manage_inbox(arguments: SimpleNamespace) -> int:
    """List the inbox, or do with it what `action` says."""
    actions = {"list": _list_proposals, "keep": _keep_proposals, "drop": _drop_proposals, "scan": _scan_project}
    return actions[arguments.action](arguments)


def _list_proposals(arguments: SimpleNamespace) -> int:
    answer = ask(arguments, "list_inbox", {"k": arguments.k, "offset": arguments.offset}, in_project=True)
    return _show_page(arguments, answer, _EMPTY)


def _keep_proposals(arguments: SimpleNamespace) -> int:
    ids = _read_ids(arguments)
    if arguments.content is not None and len(ids) > 1:
        raise InvalidRequest("--content is the text of one proposal: give one id")
    for each in ids:
        answer = ask(arguments, "keep_proposal", {"id": each, "content": arguments.content}, in_project=True)
        show_answer(arguments, answer, format_stored(answer))
    return 0


def _drop_proposals(arguments: SimpleNamespace) -> int:
    asked = {"ids": _read_ids(arguments), "never": arguments.never}
    answer = ask(arguments, "drop_proposals", asked, in_project=True)
    end = ", and nothing that says nearly the same is proposed again" if arguments.never else ""
    return show_answer(arguments, answer, f"dropped {count_of(len(answer['dropped']), 'proposal')}{end}")


def _scan_project(arguments: SimpleNamespace) -> int:
    with show_reading() as show:
        answer = ask(arguments, "propose_memories", {}, show=show, in_project=True)
    return _show_page(arguments, answer, "nothing new: no further commit or comment says why, as far as was looked")


def _read_ids(arguments: SimpleNamespace) -> list[str]:
    if not arguments.id:
        raise InvalidRequest(f"name the proposals: rag-ls inbox {arguments.action} ID; `rag-ls inbox` lists them")
    return list(arguments.id)


def _show_page(arguments: SimpleNamespace, answer: Json, empty: str) -> int:
    style = paint()
    shown = [_format_proposal(each, style) for each in answer["proposals"]]
    rest = answer["total"] - len(shown) - arguments.offset
    if rest > 0:
        shown.append(f"({rest:,} more: --offset {arguments.offset + len(shown)})")
    return show_answer(arguments, answer, "\n\n".join([*shown, _HOW]) if shown else empty)


def _format_proposal(proposal: Json, style: Paint) -> str:
    anchor = proposal.get("anchor") or {}
    place = f"{anchor['path']}:{anchor.get('symbol') or anchor.get('line') or ''}".rstrip(":") if anchor else ""
    origin = proposal["origin"] if proposal["origin"] != place else ""
    if proposal["kind"] == "drifted":
        origin = f"a memory: `rag-ls update {proposal['id'][:_ID_CHARACTERS]} --confirm`, --content, or `rag-ls delete`"
    where = "  ".join(style.style(fold(each), PLACE) for each in (place, origin) if each)
    text = "\n".join(f"    {fold(line)}" for line in proposal["content"].splitlines())
    return f"{style.style(proposal['id'][:_ID_CHARACTERS], NAME)}  {where}\n{text}\n    ({fold(proposal['why'])})"

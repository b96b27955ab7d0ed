"""The sentences of a session that are proposed as memories."""

from __future__ import annotations

import pytest

from rag_ls.memory.capture import propose_from_session
from rag_ls.memory.transcripts import split_sentences
from rag_ls.model import MemoryType


def _proposed(text: str, *, by_user: bool = True) -> list[str]:
    return [each.content for each in propose_from_session(split_sentences(text, by_user=by_user), "session 1")]


@pytest.mark.parametrize(
    "text",
    [
        "no, never edit the files in api/gen by hand, change the proto and run make gen instead",
        "We decided to stay on Postgres 14, since the hosting company has nothing newer before March",
        "the sleep in the scanner is there on purpose: the device drops the first byte after it wakes up",
        "never use moment.js here, use date-fns.",
        "We decided that the default stays 30 s.",
        "Do not touch the vendor folder.",
        "bei uns dürfen Migrationen niemals gelöscht werden, auch wenn sie leer sind, das will die Revision so",
    ],
)
def test_what_people_decide_forbid_and_explain_is_proposed(text: str) -> None:
    assert _proposed(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "fix the failing test",
        "thanks, looks good",
        "could you run the whole suite once more and tell me what fails now?",
        "should we never retry here, what do you think?",
        "ok now add the button to the page for now, we do the rest tomorrow",
    ],
)
def test_orders_questions_and_thanks_are_not(text: str) -> None:
    assert _proposed(text) == []


def test_the_agents_reports_are_not() -> None:
    text = "I'll now run the tests. All 14 tests pass. I have changed the parser, so that it keeps the comments."
    assert _proposed(text, by_user=False) == []


def test_a_reason_that_follows_is_kept_with_it() -> None:
    first = "we always round once per rate and never per line of the invoice, in all shops"
    (proposal,) = propose_from_session(
        split_sentences(f"{first}. Otherwise the printed total differs.", by_user=True), "s"
    )
    assert proposal.content == f"{first}. Otherwise the printed total differs."
    assert (proposal.origin, proposal.memory_type) == ("s", MemoryType.SEMANTIC)


def test_a_session_proposes_a_dozen_at_most() -> None:
    lines = "\n".join(
        f"we must always keep rule number {at} of the long house rules, without any exception at all"
        for at in range(50)
    )
    assert len(_proposed(lines)) == 12

"""Questions to a server that fails: how long one waits, and that nobody waits twice."""

from __future__ import annotations

import threading

import pytest

from rag_ls.errors import NotFound, StoreUnavailable
from rag_ls.storage import ServerQuestions, ask_server


def test_a_server_that_failed_is_not_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def fail() -> int:
        asked.append(1)
        raise StoreUnavailable("it is away", "vectors")

    questions = ServerQuestions("postgresql://db/x", "vectors", 5.0)
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="it is away"):
            questions.ask(fail)
    assert len(asked) == 1
    assert questions.problem == "it is away"
    monkeypatch.setattr("rag_ls.storage.served._REST_S", 0.0)
    assert questions.ask(lambda: 7) == 7
    assert questions.problem == ""


def test_a_question_ends_in_time() -> None:
    end = threading.Event()
    with pytest.raises(StoreUnavailable, match=r"postgresql://db/x did not answer within 0\.1 s"):
        ask_server(lambda: end.wait(60), "postgresql://db/x", "vectors", 0.1)
    end.set()


def test_what_cannot_be_read_is_a_failure_of_the_server_and_an_error_of_ours_is_not() -> None:
    with pytest.raises(StoreUnavailable, match="db answers what cannot be read; the log has it"):
        ask_server(lambda: int("x"), "db", "vectors", 5.0)

    def refuse() -> None:
        raise NotFound("no such project")

    with pytest.raises(NotFound, match="no such project"):
        ask_server(refuse, "db", "vectors", 5.0)

"""Waiting for what the threads of indexing do."""

from __future__ import annotations

import threading

from rag_ls.indexing.progress import Phase, Progress, ProgressBoard
from tests.support import PATIENCE_S


def test_who_waits_is_woken_by_a_step() -> None:
    board, done = ProgressBoard(), threading.Event()
    looks = threading.Semaphore(0)

    def is_reached() -> bool:
        looks.release()
        return done.is_set()

    answers: list[bool] = []
    waiting = threading.Thread(target=lambda: answers.append(any(is_reached() for _ in board.follow_steps())))
    waiting.start()
    assert looks.acquire(timeout=PATIENCE_S)
    board.report(Progress(Phase.READING, 1, 2))
    assert looks.acquire(timeout=PATIENCE_S)
    done.set()
    board.note_step()
    waiting.join(PATIENCE_S)
    assert answers == [True]


def test_a_step_while_the_question_is_asked_is_not_missed() -> None:
    board, asked = ProgressBoard(), 0

    def is_reached() -> bool:
        nonlocal asked
        asked += 1
        if asked == 1:
            board.note_step()
        return asked == 2

    assert any(is_reached() for _ in board.follow_steps(PATIENCE_S))


def test_the_wait_ends_at_its_time_and_without_a_step_it_looks_now_and_then() -> None:
    board, asked = ProgressBoard(), 0

    def is_reached() -> bool:
        nonlocal asked
        asked += 1
        return False

    assert not any(is_reached() for _ in board.follow_steps(0.1, look_s=0.01))
    assert asked > 2

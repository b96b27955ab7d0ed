"""The engine's own state: what opens slowly holds up nothing else."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rag_ls.engine.client import Client
from rag_ls.locations import user_data_folder
from rag_ls.project import make_private_folder
from tests.support import PATIENCE_S


@contextmanager
def _opening_waits(folder: Path, open_it: Callable[[], object]) -> Iterator[threading.Thread]:
    """Another program holds the memories of a folder, so that the thread that opens them waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "memories.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        opening = threading.Thread(target=open_it)
        opening.start()
        opening.join(0.5)
        yield opening
        other.execute("ROLLBACK")
        opening.join(PATIENCE_S)


def _answer_of(ask: Callable[[], object]) -> list[object]:
    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    asking.start()
    asking.join(PATIENCE_S)
    return answers


def test_the_users_memories_that_open_slowly_keep_nobody_from_the_engine(client: Client, shop: Path) -> None:
    engine, folder = client.engine, user_data_folder()
    make_private_folder(folder)
    with _opening_waits(folder, engine.global_memories) as opening:
        assert _answer_of(lambda: client.open(shop) in client.projects()) == [True]
        assert _answer_of(lambda: client.about in engine.clients()) == [True]
        assert opening.is_alive(), "nothing was asked while the memories were being opened"
    assert engine.global_memories().count() == 0


def test_a_collection_that_opens_slowly_keeps_nobody_from_another(client: Client) -> None:
    collections = client.engine.collections
    collections.make("quick")
    folder = user_data_folder() / "collections" / "slow"
    with _opening_waits(folder, lambda: collections.make("slow")) as opening:
        assert _answer_of(lambda: collections.existing("quick").count()) == [0]
        assert opening.is_alive(), "nothing was asked while the collection was being opened"
    assert collections.existing("slow").count() == 0

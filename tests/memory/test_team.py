"""Memories that a team shares on a real PostgreSQL: whatever people do in whatever order, all end with the same."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rag_ls.config.engine_settings import SummarySettings
from rag_ls.config.settings import Settings
from rag_ls.errors import StoreUnavailable
from rag_ls.memory import Memories, NewMemory
from rag_ls.memory.consolidation import plan
from rag_ls.memory.summarise import SummaryRequest, summarise
from rag_ls.memory.team import Exchanged, TeamMemories
from rag_ls.model import PRIVATE, MemoryFilters, MemoryMetadata, Scope
from rag_ls.storage import MemoryStore, SharedMemory, open_memories
from rag_ls.storage.postgres.schema import schema_of
from rag_ls.storage.postgres.shared import SharedMemories
from rag_ls.util.text import content_hash, utc_stamp
from tests.storage.postgres.servers import Postgres, postgres
from tests.support import MODEL, scale_examples, unit_vectors

PROJECT = "github.com/acme/shop"


class User:
    """Somebody with an own store, who exchanges it with the team's."""

    def __init__(self, url: str, now: Callable[[], datetime], store: MemoryStore | None = None) -> None:
        self.store = store or open_memories(None, Scope.PROJECT, Settings())
        self._now = now
        self.memories = Memories({Scope.PROJECT: lambda: self.store}, now)
        self.shared = SharedMemories(url, PROJECT)
        self.team = TeamMemories(self.shared)

    def remember(self, content: str, *tags: str) -> str:
        """Store a memory; returns its id."""
        new = NewMemory(content, Scope.PROJECT, MemoryMetadata(tags=tags), force=True)
        return self.memories.store(new, None).memory.id

    def exchange(self) -> Exchanged:
        return self.team.exchange(self.store, utc_stamp(self._now()))

    def starts_anew(self) -> None:
        """As after a restart of the engine, which keeps nothing but the store."""
        self.team = TeamMemories(self.shared)

    def contents(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        return {each.id: (each.content, tuple(sorted(each.metadata.tags))) for each in self.store.all()}

    def close(self) -> None:
        self.shared.close()
        self.store.close()


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """Every look at it is a second later."""
    seconds = itertools.count()
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(seconds))


@pytest.fixture
def users(server: Postgres, clock: Callable[[], datetime]) -> Iterator[tuple[User, User]]:
    """Two users of one project."""
    url = server.url(server.database())
    both = User(url, clock), User(url, clock)
    yield both
    for each in both:
        each.close()


@pytest.mark.slow
def test_what_one_remembers_the_other_knows(users: tuple[User, User]) -> None:
    ann, ben = users
    memory_id = ann.remember("We round half to even, because auditors asked for it.", "decision")
    assert ann.exchange() == Exchanged(0, 1)
    assert ben.exchange() == Exchanged(1, 0)
    assert ben.contents() == ann.contents()
    memory = ben.store.get(memory_id)
    assert memory is not None
    assert memory.created_at == ann.store.all()[0].created_at
    assert (ann.exchange(), ben.exchange()) == (Exchanged(), Exchanged()), "nothing is sent back"


def test_a_change_a_deletion_and_a_return_reach_the_other(users: tuple[User, User]) -> None:
    ann, ben = users
    memory_id = ann.remember("Retries: three times, then give up and tell the user.")
    ann.exchange()
    ben.exchange()
    ben.memories.update(memory_id, lambda memory: _with(memory, "Retries: five times, with a growing pause."), None)
    ben.exchange()
    ann.exchange()
    assert ann.contents()[memory_id][0] == "Retries: five times, with a growing pause."
    assert [each.memory.content for each in ann.store.history(memory_id)] == [
        "Retries: three times, then give up and tell the user."
    ]
    ann.memories.delete(memory_id)
    ann.exchange()
    ben.exchange()
    assert ben.contents() == {}
    assert ben.store.history(memory_id), "what was deleted elsewhere can be brought back here"
    ben.memories.restore(memory_id, 1, None)
    ben.exchange()
    ann.exchange()
    assert ann.contents() == ben.contents() != {}


def _tagged(memory, tag):  # type: ignore[no-untyped-def]
    return replace(memory, metadata=replace(memory.metadata, tags=(tag,)))


def _with(memory, content):  # type: ignore[no-untyped-def]
    return replace(memory, content=content, content_hash=content_hash(content))


def test_the_later_of_two_changes_counts_and_the_other_is_in_the_history(users: tuple[User, User]) -> None:
    ann, ben = users
    memory_id = ann.remember("The cache lives for a minute, says the specification.")
    ann.exchange()
    ben.exchange()
    ann.memories.update(memory_id, lambda memory: _with(memory, "The cache lives for two minutes, Ann measured."), None)
    ben.memories.update(memory_id, lambda memory: _with(memory, "The cache lives for an hour, Ben decided."), None)
    for each in (ann, ben, ann, ben):
        each.exchange()
    assert ann.contents()[memory_id][0] == ben.contents()[memory_id][0] == "The cache lives for an hour, Ben decided."
    histories = [{version.memory.content for version in each.store.history(memory_id)} for each in users]
    assert "The cache lives for two minutes, Ann measured." in histories[0]


def test_two_who_said_the_same_end_with_one(users: tuple[User, User]) -> None:
    ann, ben = users
    first = ann.remember("Money is kept in cents, never as a float.", "money")
    ben.remember("Money is kept in cents, never as a float.", "float")
    for each in (ben, ann, ben, ann, ben):
        each.exchange()
    assert ann.contents() == ben.contents()
    assert ann.contents() == {first: ("Money is kept in cents, never as a float.", ("float", "money"))}


def test_what_is_private_or_looks_like_a_secret_stays(users: tuple[User, User]) -> None:
    ann, ben = users
    ann.remember("I do not trust this module, and will rewrite it in summer.", PRIVATE)
    ann.remember("The key of the test system is AKIAIOSFODNN7EXAMPLQ, do not lose it.")
    assert ann.exchange() == Exchanged()
    assert ben.exchange() == Exchanged()
    assert len(ann.contents()) == 2


def test_what_is_private_deletes_nothing_that_others_share(users: tuple[User, User]) -> None:
    ann, ben = users
    text = "The payment service is down every Sunday at four."
    ann.remember(text, PRIVATE)
    ben.remember(text, "payment")
    for each in (ben, ann, ben, ann, ben):
        each.exchange()
    assert [tags for _, tags in ben.contents().values()] == [("payment",)]
    assert sorted(tags for _, tags in ann.contents().values()) == [("payment",), (PRIVATE,)]


def test_a_memory_that_becomes_private_stays_with_the_others_as_it_was(users: tuple[User, User]) -> None:
    ann, ben = users
    memory_id = ann.remember("We will move to another provider in spring.")
    ann.exchange()
    ben.exchange()
    ann.memories.update(memory_id, lambda memory: _tagged(memory, PRIVATE), None)
    ben.memories.update(memory_id, lambda memory: _with(memory, "We moved to another provider in spring."), None)
    for each in (ben, ann, ben, ann):
        each.exchange()
    assert ann.contents()[memory_id] == ("We will move to another provider in spring.", (PRIVATE,))
    ann.memories.delete(memory_id)
    ann.exchange()
    ben.exchange()
    assert ben.contents()[memory_id] == ("We moved to another provider in spring.", ())


def test_a_summary_of_what_is_private_is_private(users: tuple[User, User]) -> None:
    ann, ben = users
    ann.remember("I do not trust this module of Carl, and will rewrite it.", PRIVATE)
    ann.remember("The module of Carl reads invoices and sends them to the printer.")
    summarise(ann.memories, SummaryRequest(MemoryFilters(scopes=(Scope.PROJECT,))), None, SummarySettings())
    ann.exchange()
    ben.exchange()
    assert [content for content, _ in ben.contents().values()] == [
        "The module of Carl reads invoices and sends them to the printer."
    ]


@pytest.mark.parametrize(("tags", "merges"), [((PRIVATE,), 0), ((), 1)])
def test_what_is_private_is_not_merged_with_what_is_shared(tags: tuple[str, ...], merges: int) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    store = open_memories(None, Scope.PROJECT, Settings())
    memories = Memories({Scope.PROJECT: lambda: store}, lambda: now)
    for content, each in (("The cache lives an hour, as agreed.", tags), ("The cache lives an hour, as agreed", ())):
        new = NewMemory(content, Scope.PROJECT, MemoryMetadata(tags=each), force=True)
        memory = memories.store(new, None).memory
        store.vectors.add(memory.id, MODEL, memory.content_hash, unit_vectors(1))
    assert len(plan(store, MODEL, 0.8, now).merges) == merges
    store.close()


def test_a_server_that_has_lost_everything_is_given_everything_again(
    server: Postgres, users: tuple[User, User]
) -> None:
    ann, ben = users
    for number in range(3):
        ann.remember(_TEXTS[number])
        ann.exchange()
    ben.exchange()
    database = ann.shared.place.rpartition("/")[2]
    server.run(f"DROP SCHEMA {schema_of(PROJECT)} CASCADE", database)
    ben.remember(_TEXTS[3])
    for each in (ben, ann, ben):
        each.exchange()
    assert len(ann.contents()) == 4
    assert ann.contents() == ben.contents()
    assert server.run(f"SELECT count(*) FROM {schema_of(PROJECT)}.rag_memory", database) == [(4,)]


def test_who_brings_back_what_was_deleted_with_a_strange_version_has_it_for_good(users: tuple[User, User]) -> None:
    ann, _ = users
    memory_id = ann.remember("It was deleted by somebody who wished it gone for ever.")
    ann.exchange()
    ann.shared.put([SharedMemory(memory_id, 1000, True, "2026-01-01T00:00:00Z")])
    ann.exchange()
    assert ann.contents() == {}
    ann.memories.restore(memory_id, None, None)
    ann.exchange()
    ann.starts_anew()
    ann.exchange()
    assert memory_id in ann.contents()
    ann.shared.put([SharedMemory(memory_id, 2**60, True, "2026-01-01T00:00:00Z")])
    ann.exchange()
    assert memory_id in ann.contents(), "nobody changed it that often"


def test_what_was_deleted_while_the_engine_was_down_does_not_come_back(users: tuple[User, User]) -> None:
    ann, ben = users
    memory_id = ann.remember("Deploys happen on Tuesdays, before noon.")
    ann.exchange()
    ben.exchange()
    ben.memories.delete(memory_id)
    ben.starts_anew()
    ben.exchange()
    ann.starts_anew()
    ann.exchange()
    assert ann.contents() == ben.contents() == {}


@pytest.mark.parametrize(
    "record",
    ["", "no json", "[]", "{}", '{"id": "other", "content": "It has the id of another memory altogether."}',
     '{"id": "x", "content": 7}', '{"id": "x", "content": "' + "a" * 2_000_000 + '"}',
     '{"id": "x", "content": "The password is AKIAIOSFODNN7EXAMPLQ, says the intruder."}', "[" * 5000],
)  # fmt: skip
def test_what_somebody_wrote_wrongly_is_left_out_and_the_rest_is_taken(
    server: Postgres, users: tuple[User, User], record: str
) -> None:
    ann, ben = users
    ann.shared.put([SharedMemory("x", 1, False, "2026-01-01T00:00:00Z", record)])
    ann.remember("A sound memory that comes after the damaged one.")
    ann.exchange()
    assert ben.exchange() == Exchanged(1, 0)
    assert [content for content, _ in ben.contents().values()] == ["A sound memory that comes after the damaged one."]


def test_who_may_only_read_takes_and_gives_nothing(server: Postgres, clock: Callable[[], datetime]) -> None:
    database = server.database()
    ann = User(server.url(database), clock)
    ann.remember("Only the release manager may write to the team's store.")
    ann.exchange()
    server.run("DROP ROLE IF EXISTS listener")
    server.run("CREATE ROLE listener LOGIN PASSWORD 'l'")
    schema = schema_of(PROJECT)
    server.run(f"GRANT USAGE ON SCHEMA {schema} TO listener", database)
    server.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO listener", database)
    listener = User(server.url(database, "listener", "l"), clock)
    listener.remember("This one is the listener's alone, and stays.")
    assert listener.exchange() == Exchanged(1, 0)
    assert ann.exchange() == Exchanged()
    ann.close()
    listener.close()
    server.run("DROP OWNED BY listener", database)


@pytest.mark.slow
def test_an_exchange_that_fails_is_made_good_by_the_next(
    tmp_path_factory: pytest.TempPathFactory, clock: Callable[[], datetime], tmp_path: Path
) -> None:
    with postgres(tmp_path_factory.mktemp("gone")) as server:
        url = server.url(server.database())
        ann = User(url, clock, open_memories(tmp_path, Scope.PROJECT, Settings()))
        ann.remember("It was remembered while the server was there.")
        ann.exchange()
        server.stop()
        ann.remember("It was remembered while the server was away.")
        with pytest.raises(StoreUnavailable):
            ann.exchange()
        server.start()
        assert ann.exchange() == Exchanged(0, 1)
        ben = User(url, clock)
        assert ben.exchange() == Exchanged(2, 0)
        ann.close()
        ben.close()


_STEPS = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["remember", "change", "delete", "restore", "exchange", "restart", "lose"]),
        st.integers(0, 3),
    ),
    max_size=25,
)  # fmt: skip
_TEXTS = [f"What the team knows about part {number} of the system." for number in range(4)]


@pytest.mark.slow
@settings(max_examples=scale_examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_STEPS)
@example([(0, "remember", 0), (0, "exchange", 0), (0, "lose", 0)])
def test_whatever_people_do_all_end_with_the_same(
    server: Postgres, clock: Callable[[], datetime], steps: list[tuple[int, str, int]]
) -> None:
    url = _shared_database(server)
    project = str(uuid.uuid4())
    users = [User(url, clock) for _ in range(3)]
    for user in users:
        user.shared.close()
        user.shared = SharedMemories(url, project)
        user.starts_anew()
    try:
        for number, step, which in steps:
            if step == "lose":
                server.run(f"DROP SCHEMA IF EXISTS {schema_of(project)} CASCADE", "steps")
            else:
                _do(users[number], step, which)
        for user in users * 4:
            user.exchange()
        assert users[0].contents() == users[1].contents() == users[2].contents()
        contents = [content for content, _ in users[0].contents().values()]
        assert len(contents) == len(set(contents))
        assert all(user.exchange() == Exchanged() for user in users), "it comes to rest"
    finally:
        for user in users:
            user.close()


def _shared_database(server: Postgres) -> str:
    if not server.run("SELECT 1 FROM pg_database WHERE datname = 'steps'"):
        server.run("CREATE DATABASE steps OWNER teammate")
    return server.url("steps")


def _do(user: User, step: str, which: int) -> None:
    ids = sorted(user.store.versions())
    if step == "remember":
        user.remember(_TEXTS[which], f"tag{which}")
    elif step == "exchange":
        user.exchange()
    elif step == "restart":
        user.starts_anew()
    elif step == "restore":
        gone, _ = user.store.deleted(-1)
        if gone and user.store.twin(gone[0].memory) is None:
            user.memories.restore(gone[0].memory.id, gone[0].memory.version, None)
    elif ids and step == "delete":
        user.memories.delete(ids[which % len(ids)])
    elif ids:
        text = f"{_TEXTS[which]} Changed."
        chosen = ids[which % len(ids)]
        memory = user.store.get(chosen)
        assert memory is not None
        if user.store.twin(_with(memory, text)) is None:
            user.memories.update(chosen, lambda found: _with(found, text), None)

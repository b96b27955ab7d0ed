"""Searching code that the team published, as somebody who has no checkout of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from rag_ls.engine.client import Client, local_client
from rag_ls.engine.engine import About
from rag_ls.errors import InvalidRequest, NotFound, StoreUnavailable
from rag_ls.indexing import Publishing
from rag_ls.operations import Operations
from rag_ls.storage import Publication
from rag_ls.storage.postgres.publication import Publisher
from rag_ls.storage.postgres.schema import PostgresProjects, schema_of
from tests.indexing.test_sharing import user
from tests.storage.postgres.servers import Postgres
from tests.support import PATIENCE_S, SHOP, write

pytestmark = pytest.mark.slow

QUESTIONS = ("amount to be paid by the customer", "exchange_token", "where are invoices sent", "refresh", "cart.py")
NAMES = ("github.com/acme/shop", "github.com/acme/store", "github.com/other/store")


@pytest.fixture
def answers(tmp_path: Path, server: Postgres, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[tuple[str, int]]]:
    """What a checkout answers, which is published under several names."""
    url = server.url(server.vector_database())
    with user(tmp_path / "home1", write(tmp_path / "shop", SHOP), monkeypatch) as (client, view):
        operations = Operations(client, wait_for_model_s=PATIENCE_S)
        found = {question: _places(operations, question) for question in QUESTIONS}
        for name in NAMES:
            publisher = Publisher(url, name)
            stamp = Publication("", "0123456789abcdef", "main", "2026-01-02T03:04:05Z")
            Publishing(view.project.index, publisher).publish(stamp)
            publisher.close()
    monkeypatch.setenv("RAG_LS_STORE_URL", url)
    return found


@pytest.fixture
def other(answers: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Somebody else, who works in another project."""
    files = {"page.py": "def page():\n    pass\n"} | {f"a{n}.py": f"def a{n}():\n    return {n}\n" for n in range(6)}
    with user(tmp_path / "home2", write(tmp_path / "web", files), monkeypatch) as (client, _):
        yield client


@pytest.fixture
def operations(other: Client) -> Operations:
    """What that user can do."""
    return Operations(other, wait_for_model_s=PATIENCE_S)


def _places(operations: Operations, question: str, *projects: str) -> list[tuple[str, int]]:
    found = operations.run("search_code", {"query": question, "project": list(projects)})
    return [(hit["path"], hit["start_line"]) for hit in found["results"]]


def test_it_finds_what_the_checkout_finds(answers: dict[str, list[tuple[str, int]]], operations: Operations) -> None:
    assert {question: _places(operations, question, "shop") for question in QUESTIONS} == answers


def test_a_hit_says_where_it_comes_from(operations: Operations) -> None:
    answer = operations.run("search_code", {"query": "total price", "project": ["github.com/acme/shop"]})
    best = answer["results"][0]
    assert (best["path"], best["freshness"], best["project"]) == ("src/cart.py", "published", "github.com/acme/shop")
    assert "file" not in best
    assert "def total_price" in best["text"]
    assert answer["stats"]["dense"]
    assert answer["stats"]["complete"]
    assert (
        "as published 2026-01-02T03:04:05Z from main at 0123456789; it is not checked out here"
        in answer["stats"]["note"]
    )


def test_filters_count_and_say_when_nothing_passes(operations: Operations) -> None:
    def paths(**filters: object) -> set[str]:
        found = operations.run("search_code", {"query": "invoice", "project": ["shop"], **filters})
        return {hit["path"] for hit in found["results"]}

    assert paths(language="javascript") == {"src/mail.js"}
    assert paths(path_glob="docs/**") == {"docs/guide.md"}
    assert "src/mail.js" in paths(kind="function")
    assert "docs/guide.md" not in paths(kind="function")
    nothing = operations.run("search_code", {"query": "invoice", "project": ["shop"], "language": "rust"})
    assert "no published file passes the filters" in nothing["stats"]["note"]


def test_it_is_searched_together_with_a_project_that_is_here(operations: Operations) -> None:
    answer = operations.run("search_code", {"query": "def page price", "project": ["shop", "web"]})
    assert {hit["project"].rpartition("/")[2] for hit in answer["results"]} == {"shop", "web"}


def test_a_language_of_published_files_alone_may_be_asked_for(operations: Operations) -> None:
    found = operations.run("search_code", {"query": "invoice", "project": ["shop", "web"], "language": "javascript"})
    assert {hit["path"] for hit in found["results"]} == {"src/mail.js"}


def test_a_published_project_that_fails_takes_no_other_answer_with_it(
    operations: Operations, other: Client, server: Postgres
) -> None:
    asked = {"query": "def page", "project": ["web", "published:github.com/acme/shop"]}
    assert operations.run("search_code", asked)["results"]
    url = other.engine.settings.store.url
    server.run(f"ALTER TABLE {schema_of('github.com/acme/shop')}.rag_chunk RENAME tally TO spoilt", _database(url))
    answer = operations.run("search_code", asked | {"query": "def page, of something else"})
    assert answer["results"][0]["path"] == "page.py"
    assert "github.com/acme/shop does not answer: " in answer["stats"]["note"]
    with pytest.raises(StoreUnavailable):
        operations.run("search_code", {"query": "refund", "project": ["github.com/acme/shop"]})


def _database(url: str) -> str:
    return urlsplit(url).path.strip("/")


def test_names_are_listed_and_wrong_ones_are_told(operations: Operations) -> None:
    assert operations.run("list_repos", {})["published"] == list(NAMES)
    with pytest.raises(NotFound, match=r"'shopp'.*published are github.com/acme/shop, "):
        operations.run("search_code", {"query": "x", "project": ["shopp"]})
    with pytest.raises(
        InvalidRequest, match=r"'store' may be several published projects: name one of github.com/acme/store"
    ):
        operations.run("search_code", {"query": "x", "project": ["store"]})


def test_a_client_of_one_project_sees_nothing_published(other: Client) -> None:
    guest = Client(other.engine, about=About("http"), only=["web"])
    operations = Operations(guest, wait_for_model_s=PATIENCE_S)
    assert "published" not in operations.run("list_repos", {})
    with pytest.raises(NotFound):
        operations.run("search_code", {"query": "x", "project": ["github.com/acme/shop"]})
    guest.close()


def test_without_the_server_it_says_why(other: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAG_LS_STORE_URL", "postgresql://me:hush@127.0.0.1:1/x")
    client = local_client("cli")
    client.open(tmp_path / "web")
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    assert "problems" not in operations.run("list_repos", {"here_alone": True})
    (problem,) = operations.run("list_repos", {})["problems"]
    assert "what the team published cannot be told: postgresql://me@127.0.0.1:1/x cannot be reached" in problem
    with pytest.raises(StoreUnavailable, match=r"called 'shop'.*cannot be told: .*127.0.0.1:1") as raised:
        operations.run("search_code", {"query": "x", "project": ["shop"]})
    assert "hush" not in str(raised.value)
    # What is here answers all the same.
    answer = operations.run("search_code", {"query": "def page", "project": ["web", "published:shop"]})
    assert answer["results"][0]["path"] == "page.py"
    assert "what the team published cannot be told: " in answer["stats"]["note"]
    assert not answer["stats"]["complete"]
    client.close()


def test_another_model_here_leaves_words(
    answers: object, server: Postgres, operations: Operations, other: Client
) -> None:
    code = other.engine.published.find_called("github.com/acme/shop")
    assert code is not None
    publisher = Publisher(other.engine.settings.store.url, "github.com/acme/shop")
    publisher.finish(Publication("another@1", at="2026-01-02T03:04:05Z"))
    publisher.close()
    answer = operations.run("search_code", {"query": "total price", "project": ["github.com/acme/shop"]})
    assert answer["results"][0]["path"] == "src/cart.py"
    assert "words alone: its vectors are of another@1, the model here is" in answer["stats"]["note"]
    assert not answer["stats"]["dense"]


def test_where_no_model_is_wanted_words_answer_and_none_is_missed(
    answers: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "none")
    web = write(tmp_path / "web2", {"page.py": "def page():\n    pass\n"})
    with user(tmp_path / "home3", web, monkeypatch) as (client, _):
        asked = {"query": "total price", "project": ["github.com/acme/shop"]}
        answer = Operations(client, wait_for_model_s=PATIENCE_S).run("search_code", asked)
    assert answer["results"][0]["path"] == "src/cart.py"
    assert "words alone" not in answer["stats"]["note"]


def test_what_was_published_with_the_former_model_is_found_by_meaning(
    tmp_path: Path, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url(server.vector_database())
    monkeypatch.setenv("RAG_LS_EMBEDDING_MODEL", "all-MiniLM-L6-v2")
    with user(tmp_path / "home1", write(tmp_path / "shop", SHOP), monkeypatch) as (_, view):
        publisher = Publisher(url, NAMES[0])
        Publishing(view.project.index, publisher).publish(
            Publication("", "0123456789abcdef", "main", "2026-01-02T03:04:05Z")
        )
        publisher.close()
    monkeypatch.delenv("RAG_LS_EMBEDDING_MODEL")
    monkeypatch.setenv("RAG_LS_STORE_URL", url)
    with user(tmp_path / "home2", write(tmp_path / "web", {"page.py": "def page():\n    pass\n"}), monkeypatch) as (
        client,
        _,
    ):
        asked = {"query": "what does the customer have to pay", "project": [NAMES[0]]}
        answer = Operations(client, wait_for_model_s=PATIENCE_S).run("search_code", asked)
    assert answer["stats"]["dense"]
    assert f"{NAMES[0]} as published" in answer["stats"]["note"]


def test_what_was_dropped_and_published_anew_is_not_answered_from_before(
    operations: Operations, other: Client, tmp_path: Path
) -> None:
    def found() -> list[str]:
        answer = operations.run("search_code", {"query": "page", "project": ["github.com/acme/shop"]})
        return [hit["path"] for hit in answer["results"]]

    assert "page.py" not in found()
    url = other.engine.settings.store.url
    projects = PostgresProjects(url)
    projects.drop("github.com/acme/shop")
    projects.close()
    with pytest.raises(NotFound):
        found()
    index = other.open(tmp_path / "web").project.index
    publisher = Publisher(url, "github.com/acme/shop")
    Publishing(index, publisher).publish(Publication("", at="2026-01-02T03:04:05Z"))
    publisher.close()
    assert found()[0] == "page.py"


def test_every_line_that_holds_a_text_is_found_and_counted(operations: Operations) -> None:
    def ask(query: str, **arguments: object) -> dict[str, Any]:
        asked = {"query": query, "match": "exact", "project": ["github.com/acme/shop"], **arguments}
        exact: dict[str, Any] = operations.run("search_code", asked)["exact"]
        return exact

    held = [
        (path, number)
        for path, text in sorted(SHOP.items())
        for number, line in enumerate(text.splitlines(), 1)
        if "token" in line
    ]
    exact = ask("token")
    assert sorted((place["path"], place["line"]) for place in exact["places"]) == held
    assert (exact["total"], exact["places"][0]["project"]) == (len(held), "github.com/acme/shop")
    assert exact["places"][0]["symbol"]
    assert ask("TOKEN", ignore_case=True)["total"] == len(held)
    assert ask("nowhere_at_all")["total"] == 0
    assert ask(r"def (refresh|nothing)\(", match="regex")["total"] == 1
    assert ask(r"(re|un)fresh|zzz", match="regex", path_glob="docs/**")["total"] == 0

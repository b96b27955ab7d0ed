"""Every line that holds a text is found, and counted, whatever the index has made of it; and what was not looked into is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from rag_ls.engine.client import Client
from rag_ls.engine.code.exact_places import PlacesFound, describe_gaps
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest
from rag_ls.indexing import Buffer
from rag_ls.indexing.agenda import Inbox
from rag_ls.operations import Operations
from tests.support import PATIENCE_S, write

FILES = {
    "src/raw.go": "package raw\n\nfunc Encode(m Message) []byte {\n\treturn MakeRaw(m)\n}\n\ntype Raw []byte\n",
    "src/send.go": "package raw\n\nfunc Send(m Message) {\n\tpost(raw.MakeRaw(m), maxRetryCount)\n}\n",
    "src/fee.py": "class Fee:\n    def total(self):\n        raise  NotImplementedError()\n\n    def retry(self):\n        return 1\n",
    "tests/test_fee.py": "def test_retry():\n    assert Fee().retry() == 1\n",
    "docs/guide.md": "# Guide\n\nUse `retry` to try again: 密码过期.\n" + "a" * 60 + "b\n",
    "long.txt": "first" + " the end." * 9_000 + " needle();" + " the end." * 9_000 + "\n",
    "page.min.js": "var retry = 1;\n",
}


@pytest.fixture
def session(client: Client, tmp_path: Path) -> ProjectSession:
    """A client's session in a project that is read, and not embedded."""
    view = client.open(write(tmp_path / "shop", FILES))
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    return view


@pytest.fixture
def operations(session: ProjectSession, client: Client) -> Operations:
    """What the client can ask."""
    return Operations(client)


def ask(operations: Operations, query: str, match: str = "exact", **arguments: object) -> Any:
    return operations.run("search_code", {"query": query, "match": match, **arguments})["exact"]


def places(exact: Any) -> list[tuple[str, int]]:
    return [(place["path"], place["line"]) for place in exact["places"]]


@pytest.mark.slow
def test_a_name_that_is_used_and_declared_nowhere_comes_first_and_is_counted(operations: Operations) -> None:
    exact = ask(operations, "MakeRaw", "auto")
    assert (exact["match"], exact["total"], exact["files"]) == ("exact", 2, 2)
    assert places(exact) == [("src/raw.go", 4), ("src/send.go", 4)]
    assert [place["column"] for place in exact["places"]] == [9, 11]
    assert [place["symbol"] for place in exact["places"]] == ["Encode", "Send"]
    assert exact["places"][0]["text"] == "\treturn MakeRaw(m)"


def test_whole_words_come_first_then_names_inside_longer_ones(operations: Operations) -> None:
    exact = ask(operations, "retry")
    assert places(exact)[0] == ("src/fee.py", 5)
    assert places(exact)[-1] == ("tests/test_fee.py", 1)
    assert (exact["total"], exact["inside_words"]) == (4, 1)
    assert ask(operations, "retry", ignore_case=True)["total"] == 5
    assert ask(operations, "retry", whole_words=True)["total"] == 3


@pytest.mark.parametrize(
    ("query", "match", "found"),
    [
        (r"raise\s+NotImplementedError\(", "regex", [("src/fee.py", 3)]),
        ('"NotImplementedError()"', "exact", [("src/fee.py", 3)]),
        ("`raw.MakeRaw`", "exact", [("src/send.go", 4)]),
        ("Fee().retry() == 1", "exact", [("tests/test_fee.py", 2)]),
        ("total()", "exact", [("src/fee.py", 2)]),
        ("密码过期", "exact", [("docs/guide.md", 3)]),
        ("where is `maxRetryCount` used", "exact", [("src/send.go", 4)]),
        ("def (test|re)try", "regex", [("src/fee.py", 5)]),
        (r"retry\b(?=\()", "exact", []),
        ("nowhere_at_all", "exact", []),
    ],
)
def test_a_question_tells_what_it_was_taken_for(
    operations: Operations, query: str, match: str, found: list[tuple[str, int]]
) -> None:
    exact = ask(operations, query, "auto")
    assert (exact["match"], places(exact)) == (match, found)


@pytest.mark.parametrize("query", ["how is a fee retried", "what happens after a payment", "Encode a message."])
def test_a_question_in_words_is_no_text_to_look_for(operations: Operations, query: str) -> None:
    assert "exact" not in operations.run("search_code", {"query": query})


def test_a_line_that_is_cut_into_several_chunks_is_one_line(operations: Operations, session: ProjectSession) -> None:
    assert session.store.counts().chunks > 20
    text = FILES["long.txt"]
    at = text.index("needle")
    for query in ("needle();", text[at - 9000 : at + 9000]):
        exact = ask(operations, query)
        assert places(exact) == [("long.txt", 1)], query[:20]
    assert ask(operations, "first.*needle", "regex")["total"] == 1


def test_unsaved_text_counts_in_place_of_the_file(operations: Operations, session: ProjectSession) -> None:
    session.buffer_changed(Buffer("src/raw.go", "package raw\n\n// MakeRow\n"))
    assert places(ask(operations, "MakeRaw")) == [("src/send.go", 4)]
    assert places(ask(operations, "MakeRow")) == [("src/raw.go", 3)]
    session.buffer_closed("src/raw.go")
    assert ask(operations, "MakeRaw")["total"] == 2


def test_files_that_are_not_cut_yet_are_looked_into_as_they_are(client: Client, tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    session = client.open(root)
    with FileLock(session.project.folder.data_folder / "index.lock", thread_local=False):
        # Another process has the queue, and reads nothing.
        session.store.queue.add(["src/raw.go", "src/send.go", "page.min.js", "gone.go"])
        exact = ask(Operations(client), "MakeRaw")
        assert places(exact) == [("src/raw.go", 4), ("src/send.go", 4)]
        assert "1 generated" in exact["left_out"]
        assert "still being listed" in exact["left_out"]


def test_files_that_wait_are_counted_with_what_to_do() -> None:
    found = PlacesFound((), total=0, whole=0, files=0, unread=3, waiting=2)
    assert describe_gaps(found) == (
        "2 files are not read yet and were not looked into in time: index_status with wait_s waits until they are read; "
        "1 file could not be looked into in time: narrow the search by path"
    )


def test_a_file_that_changed_a_moment_ago_is_looked_into_as_it_is(
    operations: Operations, session: ProjectSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Inbox, "take_files", lambda _: [])
    write(session.project.root, {"src/raw.go": "package raw\n\n\n// one MakeRaw\n", "src/send.go": ""})
    (session.project.root / "src/send.go").unlink()
    assert places(ask(operations, "MakeRaw")) == [("src/raw.go", 4)]


def test_what_another_editor_has_typed_is_looked_into_before_it_is_indexed(
    operations: Operations, session: ProjectSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As when an engine has just started: the editor has handed over its texts, and nothing is cut yet.
    with monkeypatch.context() as patch:
        patch.setattr(Inbox, "take_typed", lambda _: None)
        session.indexing.inbox.put_buffer("an editor", Buffer("src/raw.go", "package raw\n\n// typed FreshlyTyped\n"))
        assert places(ask(operations, "FreshlyTyped")) == [("src/raw.go", 3)]
        assert places(ask(operations, "MakeRaw")) == [("src/send.go", 4)]
        session.indexing.inbox.close_buffer("an editor", "src/raw.go")
        assert ask(operations, "FreshlyTyped")["total"] == 0


def test_a_declaration_that_changed_a_moment_ago_is_shown_where_it_is_now(
    operations: Operations, session: ProjectSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Inbox, "take_files", lambda _: [])
    write(session.project.root, {"src/raw.go": "package raw\n\n\n\nfunc Encode(m Message, at int) []byte {}\n"})
    exact = ask(operations, "Encode")
    assert (places(exact), exact["total"]) == ([("src/raw.go", 5)], 1)
    assert "at int" in exact["places"][0]["text"]


def test_what_the_index_skips_is_said_with_the_count(operations: Operations) -> None:
    assert "1 generated" in ask(operations, "nowhere at all")["left_out"]
    assert "generated" not in ask(operations, "nowhere", path_glob="src/**").get("left_out", "")


@pytest.mark.parametrize(("query", "found"), [("!!", 0), ("`", 1), ("1", 2), ("q", 0), ("密", 1), ("[0-9]+$", 2)])
def test_signs_numbers_and_single_letters_are_looked_for_as_they_stand(
    operations: Operations, query: str, found: int
) -> None:
    answer: Any = operations.run("search_code", {"query": query})
    assert answer["exact"]["files"] == found
    is_word = query.isalpha() and not query.isascii()
    assert bool(answer["results"]) is is_word
    assert ("has no words" in answer["stats"].get("note", "")) is not is_word


@pytest.mark.slow
def test_filters_hold_and_pages_follow_each_other(operations: Operations) -> None:
    assert places(ask(operations, "retry", kind="test")) == [("tests/test_fee.py", 2), ("tests/test_fee.py", 1)]
    assert places(ask(operations, "retry", language="markdown")) == [("docs/guide.md", 3)]
    assert places(ask(operations, "retry", path_glob="src/**")) == [("src/fee.py", 5)]
    paged: list[tuple[str, int]] = []
    offset: int | None = 0
    while offset is not None:
        exact = ask(operations, "e", k=3, offset=offset)
        paged += places(exact)
        offset = exact.get("next_offset")
    assert paged == places(ask(operations, "e"))
    assert len(set(paged)) == exact["total"] > 10
    assert len(places(ask(operations, "e", files_only=True))) == exact["files"]


@pytest.mark.slow
def test_beside_hits_a_common_word_is_counted_to_a_limit_and_it_is_said(client: Client, tmp_path: Path) -> None:
    files = {f"part{number}.py": f"value = compute(value)  # {'-' * 230}\n" * 20 for number in range(450)}
    session = client.open(write(tmp_path / "many", files))
    session.indexing.index_tree()
    assert session.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    assert ask(Operations(client), "compute")["total"] == 9000
    exact = ask(Operations(client), "compute", "auto")
    assert 2000 <= exact["total"] < 9000
    assert exact["is_partial"]
    assert "match = exact counts all" in exact["left_out"]


def test_any_place_in_a_script_without_spaces_is_whole_and_nothing_denies_it(operations: Operations) -> None:
    exact = ask(operations, "过期")
    assert (exact["total"], exact.get("inside_words", 0)) == (1, 0)
    answer = operations.run("search_code", {"query": "过期"})
    assert answer["exact"]["total"] == 1
    assert not answer["stats"].get("nothing_close")


def test_filters_that_let_no_file_pass_are_named_with_the_nearest(operations: Operations) -> None:
    exact = ask(operations, "retry", path_glob="nowhere/**")
    assert exact["total"] == 0
    assert "path_glob = 'nowhere/**' matches no file of the index" in exact["left_out"]


def test_a_budget_makes_a_page_shorter_and_names_the_next(operations: Operations) -> None:
    exact = ask(operations, "e", budget_tokens=100)
    assert 0 < len(exact["places"]) == exact["next_offset"] < exact["total"]


def test_a_hostile_pattern_takes_no_longer_than_another(operations: Operations) -> None:
    assert ask(operations, "(a|aa)+b$", "regex")["total"] == 1


def test_what_is_no_pattern_is_refused_with_the_remedy(operations: Operations) -> None:
    for query, match, words in (
        ("(", "regex", "no regular expression"),
        (r"(?=x?)a+$", "regex", "has a look-around"),
        ("a", "like", "auto, exact, regex"),
        ("", "exact", "not blank"),
    ):
        with pytest.raises(InvalidRequest, match=re.escape(words)):
            ask(operations, query, match)
    with pytest.raises(InvalidRequest, match="not declarations"):
        ask(operations, "retry", kind="function")

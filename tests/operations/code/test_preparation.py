"""What is done before a question about a project that is still being read."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import NotFound, RagLsError
from rag_ls.indexing import Progress
from rag_ls.indexing.agenda import ReadingOrder
from rag_ls.operations import Operations
from rag_ls.operations.code import preparation
from rag_ls.operations.operation import MustWait
from tests.support import PATIENCE_S, until, write

# They ask for lines, names and uses, which need no embeddings.
pytestmark = pytest.mark.usefixtures("words_alone")

# So many, and so long, that none but the first ones are read when an answer is given, also where there are many cores.
MANY, FUNCTIONS = 300, 300


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that does much else reads the files of a question later than a person would wait."""
    for limit in ("_HURRIED_S", "_SCAN_S", "_MAX_WAIT_S"):
        monkeypatch.setattr(preparation, limit, PATIENCE_S)
    monkeypatch.setattr(preparation, "_LOOK_S", PATIENCE_S)


@pytest.fixture
def view(client: Client, tmp_path: Path) -> ProjectSession:
    """A large project that nobody has read yet; what questions are about comes last by its path."""
    files = {f"src/file{number}.py": _functions(number) for number in range(MANY)}
    files["src/zebra.py"] = "def count_stripes(zebra):\n    return len(zebra.stripes)\n"
    files["test/zoo.rb"] = "def feed(zebra)\n  zebra.eat(grass)\nend\n"
    return client.open(write(tmp_path / "large", files))


def _functions(number: int) -> str:
    return "\n\n".join(
        f"def function_{number}_{part}(value):\n    return value + {part}\n" for part in range(FUNCTIONS)
    )


def _queued(view: ProjectSession) -> int:
    return view.store.counts().queued_documents


@pytest.mark.slow
def test_a_first_question_is_answered_from_the_files_that_hold_its_words(client: Client, view: ProjectSession) -> None:
    answer = Operations(client).run("search", {"query": "how many stripes has a zebra", "kinds": ["code"]})
    assert answer["results"][0]["path"] == "src/zebra.py"
    assert answer["stats"]["pending_documents"] > 0
    assert "not read yet" in answer["stats"]["note"]
    assert str(answer["stats"]["pending_documents"]) not in answer["stats"]["note"]
    assert "goes on being made" in Operations(client).run("index_status")["note"]


def test_a_first_question_has_the_best_files_read_however_busy_the_machine_is(
    client: Client, view: ProjectSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "_BEST_S", 0.0)
    answer = Operations(client).run("search", {"query": "how many stripes has a zebra", "kinds": ["code"]})
    assert answer["results"][0]["path"] == "src/zebra.py"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_code", {"query": "zebra", "path_glob": "test/**"}),
        ("list_symbols", {"path": "test/zoo.rb"}),
        ("list_symbols", {"query": "feed"}),
        ("list_symbols", {"path_glob": "test/*"}),
        ("get_chunk", {"id": "test/zoo.rb:1"}),
    ],
)
def test_an_agent_that_asks_while_files_are_read_gets_those_it_asks_about(
    client: Client, view: ProjectSession, name: str, arguments: dict[str, str]
) -> None:
    view.indexing.index_tree()
    progress: list[Progress] = []
    answer = Operations(client).run(name, arguments, lambda _, step: progress.append(step))
    found = answer.get("results") or answer.get("symbols") or [answer]
    assert found[0]["path"] == "test/zoo.rb"
    assert _queued(view) > 0
    assert progress


def test_lines_of_a_file_are_shown_in_a_project_that_nobody_has_read(client: Client, view: ProjectSession) -> None:
    assert Operations(client).run("show", {"id": "test/zoo.rb:1"})["path"] == "test/zoo.rb"
    assert _queued(view) > 0
    with pytest.raises(NotFound, match=r"'test/zoo\.py' is not in the index"):
        Operations(client).run("show", {"id": "test/zoo.py:1"})


def test_only_a_question_about_unread_files_leaves_the_engine_s_threads(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = client.open(write(tmp_path / "small", {"src/zebra.py": "def count_stripes():\n    return 12\n"}))
    operations = Operations(client)
    # The file stays unread however long the questions take.
    may_read, read = threading.Event(), ReadingOrder.of
    monkeypatch.setattr(ReadingOrder, "of", lambda order, queued: (may_read.wait(PATIENCE_S), read(order, queued))[1])
    view.indexing.index_tree()
    for name, arguments in (("search_code", {"query": "stripes"}), ("find_references", {"symbol": "count_stripes"})):
        with pytest.raises(MustWait):
            operations.submit(name, arguments, can_wait=True).result(PATIENCE_S)
    with pytest.raises(NotFound, match=r"'src/zebra\.py' is not in the index yet, and files are still being read;"):
        operations.submit("list_symbols", {"path": "src/zebra.py"}).result(PATIENCE_S)
    may_read.set()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    answer = operations.submit("search_code", {"query": "stripes"}, can_wait=True).result(PATIENCE_S)
    assert answer["results"][0]["path"] == "src/zebra.py"


@pytest.mark.slow
def test_a_question_about_nothing_in_the_project_waits_for_nothing(client: Client, view: ProjectSession) -> None:
    answer = Operations(client).run("search", {"query": "quagga", "kinds": ["code"]})
    assert answer["results"] == []
    assert answer["stats"]["pending_documents"] > 0


def test_the_tests_of_a_file_are_read_with_it(client: Client, tmp_path: Path) -> None:
    files = {f"src/file{number}.py": _functions(number) for number in range(MANY)}
    files |= {"src/zebra.py": "def stripes():\n    return 1\n", "test/test_zebra.py": "def test_it():\n    assert 1\n"}
    client.open(write(tmp_path / "tested", files)).indexing.index_tree()
    answer = Operations(client).run("related_tests", {"path": "src/zebra.py"})
    assert [test["path"] for test in answer["tests"]] == ["test/test_zebra.py"]
    assert "not read yet" in answer["note"]


@pytest.mark.parametrize("path", ["../elsewhere.py", "/elsewhere/a.py", "a\0b"])
def test_a_path_that_leads_elsewhere_is_answered_as_ever(client: Client, shop: Path, path: str) -> None:
    client.open(shop)
    with pytest.raises(RagLsError):
        Operations(client).run("list_symbols", {"path": path})


@pytest.mark.slow
def test_what_is_ignored_while_files_are_read_is_not_in_the_index(client: Client, view: ProjectSession) -> None:
    view.indexing.index_tree()
    assert until(lambda: _queued(view) > 0)
    write(view.project.root, {".ragignore": "src/\n"})
    view.indexing.rescan()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    assert set(view.store.documents()) == {"test/zoo.rb", ".ragignore"}


@pytest.mark.slow
def test_another_size_limit_counts_for_files_that_are_being_read(client: Client, view: ProjectSession) -> None:
    view.indexing.index_tree()
    assert until(lambda: _queued(view) > 0)
    write(view.project.root, {"rag-ls.toml": "[index]\nmax_file_bytes = 1024\n"})
    view.project.settings_changed()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    assert set(view.store.documents()) == {"src/zebra.py", "test/zoo.rb", "rag-ls.toml"}


@pytest.mark.parametrize("arguments", [None, [], {"project": 1}, {"project": [1]}])
def test_odd_arguments_are_refused_as_ever(client: Client, shop: Path, arguments: object) -> None:
    client.open(shop)
    with pytest.raises(Exception, match=r"query|object|project"):
        Operations(client).run("search_code", arguments)


@pytest.mark.parametrize("question", [{"file_path": "src/zebra.py"}, {"symbol": "count_stripes"}])
def test_the_impact_of_a_file_denies_nothing_while_others_are_not_read(
    client: Client, view: ProjectSession, question: dict[str, str]
) -> None:
    write(view.project.root, {"test/test_zoo.py": "from src.zebra import count_stripes\n"})
    view.indexing.index_tree()
    answer = Operations(client).run("rag_query_impact", question, lambda *_: None)
    assert _queued(view) > 0
    assert "test/test_zoo.py" in answer["tests"], "the files that name it are read first"
    assert "1 file depends on it so far" in answer["summary"]
    assert "test covers it so far" in answer["summary"]
    assert any("not read yet" in note for note in answer["notes"])

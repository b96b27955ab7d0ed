"""`explain_history`, and commits as hits of `search`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.code.history import summarize_history
from rag_ls.errors import NotFound
from rag_ls.indexing import Buffer
from rag_ls.operations import Operations
from rag_ls.project import Project
from tests.operations.code.projects import index_project
from tests.support import PATIENCE_S, git, git_repository, write

pytestmark = pytest.mark.usefixtures("words_alone")

FEE = "RATE = 0.1\n\n\ndef fee(total):\n    share = total * RATE\n    return round(share, 2)\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = git_repository(tmp_path / "shop", {"src/fee.py": FEE})
    write(root, {"src/fee.py": FEE.replace("round(share, 2)", "ceil(share)")})
    git(
        root,
        "commit",
        "--quiet",
        "--all",
        "--message",
        "Round fees up\n\nThe bank refuses fractions.\n\nSigned-off-by: A <a@b.c>\nIssue-Url: https://example.org",
    )
    return root


@pytest.fixture
def operations(client: Client, root: Path) -> Operations:
    client.open(root)
    index_project(client)
    return Operations(client, wait_for_model_s=PATIENCE_S)


def test_the_commits_of_a_declaration_are_told_with_their_reasons(operations: Operations) -> None:
    for place in ("fee", "src/fee.py:5"):
        told = operations.run("explain_history", {"place": place})
        assert (told["symbol"], told["path"], told["start_line"], told["end_line"]) == ("fee", "src/fee.py", 4, 6)
        first, last = told["commits"]
        assert (first["subject"], first["introduces"]) == ("first", True)
        assert (last["subject"], last["body"]) == ("Round fees up", "The bank refuses fractions.")
        assert "author" not in last
    assert [each["subject"] for each in operations.run("explain_history", {"place": "src/fee.py"})["commits"]] == [
        "first", "Round fees up"
    ]  # fmt: skip


def test_lines_are_those_of_the_text_as_it_is_typed(operations: Operations, client: Client, root: Path) -> None:
    typed = "# typed\n\n" + (root / "src/fee.py").read_text() + "\n\ndef new():\n    return 1\n"
    client.open(root).buffer_changed(Buffer("src/fee.py", typed))
    assert operations.run("explain_history", {"place": "src/fee.py:8"})["total"] == 2
    new = operations.run("explain_history", {"place": "src/fee.py:12"})
    assert (new["total"], new["note"]) == (0, "it is in no commit yet")


def test_a_new_commit_and_a_memory_are_there_at_the_next_question(operations: Operations, root: Path) -> None:
    operations.run("explain_history", {"place": "fee"})
    git(root, "commit", "--quiet", "--allow-empty", "--message", "Nothing")
    write(root, {"src/fee.py": FEE})
    git(root, "commit", "--quiet", "--all", "--message", "Back to cents")
    operations.run(
        "store_memory",
        {"content": "Fees follow the bank's list.", "scope": "project", "source_file": "src/fee.py", "line": 4},
    )
    told = operations.run("explain_history", {"place": "fee"})
    assert [each["subject"] for each in told["commits"]] == ["first", "Back to cents", "Round fees up"]
    assert told["memories"][0].endswith("Fees follow the bank's list.")


def test_commits_are_hits(operations: Operations) -> None:
    found = operations.run("search", {"query": "why are fees rounded up", "kinds": ["history"]})["results"]
    assert (found[0]["kind"], found[0]["subject"], found[0]["files"]) == ("commit", "Round fees up", ["src/fee.py"])
    assert operations.run("explain_history", {"query": "bank fractions"})["commits"][0]["subject"] == "Round fees up"


def test_a_name_that_nothing_has_is_no_place(operations: Operations) -> None:
    with pytest.raises(NotFound, match="no declaration is called 'fees'; nearest: fee"):
        operations.run("explain_history", {"place": "fees"})


def test_a_folder_without_git_says_so(client: Client, tmp_path: Path) -> None:
    root = write(tmp_path / "plain", {"fee.py": FEE, ".rag-ls/.gitignore": "*\n"})
    client.open(Project(root).root)
    index_project(client)
    told = Operations(client, wait_for_model_s=PATIENCE_S).run("explain_history", {"place": "fee.py:5"})
    assert (told["total"], told["note"]) == (0, "this is no git repository: it has no history")


def test_a_hover_tells_how_often_the_declaration_changed_and_why_last(
    operations: Operations, client: Client, root: Path
) -> None:
    session = client.open(root)
    assert summarize_history(session, "src/fee.py", 4, "fee") == ""
    operations.run("explain_history", {"place": "fee"})
    said = summarize_history(session, "src/fee.py", 4, "fee")
    assert said.startswith("changed in 2 commits, last on ")
    assert said.endswith(": Round fees up")
    assert summarize_history(session, "src/fee.py", 5, "share") == said

"""Situations of agents: one place in the code, in the forms that agents, compilers, diffs and people write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, RagLsError
from tests.wild.project import WildProject

_CART = "import json\n\n\ndef cart_total(items):\n    return sum(items)\n\n\ndef cart_refund(order):\n    return order.fee\n"
_FILES = {
    "src/cart.py": _CART,
    "src/café.py": "def brew(): ...\n",
    "note:7": "first\nsecond\n",
    "my file.py": "def mine(): ...\n",
}
_FORMS = (
    "src/cart.py", "./src/cart.py", "src//cart.py", "src/../src/cart.py", " src/cart.py\n", "src/cart.py/", "src\\cart.py",
    r".\src\cart.py", "{root}/src/cart.py", "file://{root}/src/cart.py", "file://localhost{root}/src/cart.py", "file:{root}/src/cart.py", "FILE://{root}/src/c%61rt.py",
    "vscode://file{root}/src/cart.py", "@src/cart.py", "@{root}/src/cart.py", "`src/cart.py`", '"src/cart.py"', "`@src/cart.py`",
    "a/src/cart.py", "b/src/cart.py", "/src/cart.py", "shop/src/cart.py",
)  # fmt: skip
_LINES = (":8", ":8:5", "#L8", "#L8-L9", "#L8C1-L9C3", ":8-9", ":L8", ":8:", ":8,5", "#8")


@pytest.fixture
def project(client: Client, tmp_path: Path) -> WildProject:
    """A shop with files of which some have odd names."""
    return WildProject(client, tmp_path / "shop", dict(_FILES))


@pytest.mark.parametrize("form", _FORMS)
def test_each_form_of_a_path_is_that_file(project: WildProject, form: str) -> None:
    path = form.format(root=project.root)
    assert {each["path"] for each in project.ask("list_symbols", path=path)["symbols"]} == {"src/cart.py"}
    assert project.ask("rag_query_impact", file_path=path)["filePath"] == "src/cart.py"
    assert project.ask("find_references", path=path, symbol="cart_refund")["references"]
    stored = project.ask("store_memory", scope="project", content=f"Fees stay: {form}", metadata={"source_file": path})
    assert project.ask("get_memory", id=stored["id"])["anchor"]["path"] == "src/cart.py"


@pytest.mark.parametrize("lines", _LINES)
@pytest.mark.parametrize("form", ["src/cart.py", "@src/cart.py", "file://{root}/src/cart.py"])
def test_the_line_written_after_a_path_counts(project: WildProject, form: str, lines: str) -> None:
    place = form.format(root=project.root) + lines
    shown = project.ask("get_chunk", id=place)
    assert shown["path"] == "src/cart.py"
    assert "return order.fee" in shown["text"]
    assert project.ask("find_references", path=place)["symbol"] == "cart_refund"
    assert project.ask("list_symbols", path=place)["symbols"]
    stored = project.ask("store_memory", scope="project", content=f"Refunds: {place}", metadata={"source_file": place})
    assert project.ask("get_memory", id=stored["id"])["anchor"]["line"] == 8


def test_a_line_of_its_own_counts_before_the_one_that_is_written(project: WildProject) -> None:
    assert project.ask("find_references", path="src/cart.py:4", line=8)["symbol"] == "cart_refund"


def test_a_name_that_looks_like_another_form_is_the_name(project: WildProject) -> None:
    assert project.ask("get_chunk", id="note:7:2")["path"] == "note:7"
    assert project.ask("list_symbols", path=f"file://{project.root}/my%20file.py")["symbols"]
    assert project.ask("list_symbols", path=f"file://{project.root}/src/caf%C3%A9.py")["symbols"]


@pytest.mark.parametrize(
    "form", ["src/cart.py", "@src/cart.py", "`src/cart.py`", "file://{root}/src/cart.py", "cart.py"]
)
@pytest.mark.parametrize("lines", [":0", "#L0", ":0:3", ":0-9", "#L9-L0", ":00", ":line0"])
def test_a_line_0_is_refused_in_words(project: WildProject, form: str, lines: str) -> None:
    path = form.format(root=project.root) + lines
    for operation, arguments in (
        ("get_chunk", {"id": path}), ("find_references", {"path": path}), ("list_symbols", {"path": path}),
        ("store_memory", {"scope": "project", "content": "Fees stay.", "metadata": {"source_file": path}}),
    ):  # fmt: skip
        with pytest.raises(InvalidRequest, match="lines count from 1"):
            project.ask(operation, **arguments)


def test_a_column_0_and_a_name_that_ends_with_0_are_none(project: WildProject) -> None:
    (project.root / "note:0").write_text("first\nsecond\n")
    assert "return order.fee" in project.ask("get_chunk", id="src/cart.py:8:0")["text"]
    assert project.session.place("note:0")[:2] == ("note:0", 0)
    assert project.session.place("note:0:2")[:2] == ("note:0", 2)


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "file:///etc/passwd", "../other.py", "@../other.py:3", "a/../../other.py", "/../etc/passwd#L1"],
)
def test_no_form_leads_out_of_the_project(project: WildProject, path: str) -> None:
    for operation, arguments in (("list_symbols", {"path": path}), ("get_chunk", {"id": path + ":1"})):
        with pytest.raises(RagLsError, match=r"outside the project|is not in the index|on another machine|no chunk"):
            project.ask(operation, **arguments)

"""`get_chunk`, `list_symbols` and `related_tests`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import Buffer
from rag_ls.operations import Operations
from rag_ls.operations.code.budget import count_tokens
from rag_ls.operations.code.lookup import AGENTS_EXCERPT_TOKENS
from rag_ls.project import Project
from tests.conftest import IndexedProjects
from tests.operations.code.projects import index_project
from tests.support import PATIENCE_S, SHOP, write

# They ask for lines, names and uses, which need no embeddings.
pytestmark = pytest.mark.usefixtures("words_alone")

STEPS = "".join(f"        step_{n} = compute(items, {n})\n" for n in range(150))
BIG = (
    "import os\n\n\nclass Discounter:\n    '''Discounts.'''\n\n    # Applies it.\n    def apply(self, items):\n"
    f"{STEPS}        return step_1\n"
)
FILES = {
    **SHOP,
    "src/big.py": BIG,
    "src/middle.py": "def checkout(items):\n"
    + "".join(f"    checkout_step({n}, items)\n" for n in range(100))
    + "    return items\n",
    "src/notes.txt": "".join(f"line {n}\n" for n in range(90)),
    "tests/test_cart.py": "from src.cart import total_price\n\n\ndef test_discount():\n    assert total_price([2.0], 0.5) == 1.0\n",
    "tests/test_checkout.py": "from src import cart\n\n\ndef test_all():\n    assert cart.total_price([1.0], 0) == 1\n",
    "tests/test_mail.py": "def test_mail():\n    assert True\n",
}


@pytest.fixture
def root(indexed_projects: IndexedProjects, tmp_path: Path) -> Path:
    """A shop with tests."""
    return indexed_projects.copy(FILES, tmp_path / "big-shop")


@pytest.fixture
def operations(client: Client, root: Path) -> Operations:
    """The operations on it."""
    client.open(root)
    index_project(client)
    return Operations(client, wait_for_model_s=PATIENCE_S)


def _first(operations: Operations, query: str, path: str) -> dict:
    hits = operations.run("search_code", {"query": query, "path_glob": path, "k": 50})["results"]
    return next(hit for hit in hits if query in hit["text"])


@pytest.mark.slow
def test_a_part_of_a_method_is_given_with_all_of_it(operations: Operations, root: Path) -> None:
    part = _first(operations, "step_100", "src/big.py")
    whole = operations.run("get_chunk", {"id": part["id"], "context": "declaration"})
    assert (whole["id"], whole["symbol"], whole["end_line"]) == (part["id"], "Discounter.apply", 159)
    assert whole["text"].strip().startswith(("# Applies it.", "def apply"))
    assert whole["text"].rstrip().endswith("return step_1")
    lines = (root / "src/big.py").read_text().splitlines(keepends=True)
    assert whole["text"] == "".join(lines[whole["start_line"] - 1 : whole["end_line"]])


def test_a_chunk_comes_with_its_neighbours(operations: Operations, root: Path) -> None:
    part = _first(operations, "step_100", "src/big.py")
    near = operations.run("get_chunk", {"id": part["id"], "context": "neighbours"})
    assert part["text"] in near["text"]
    assert near["start_line"] < part["start_line"]
    assert near["end_line"] > part["end_line"]
    assert near["text"] in (root / "src/big.py").read_text()


@pytest.mark.slow
def test_a_file_is_given_as_a_whole_up_to_2000_lines(operations: Operations, client: Client, root: Path) -> None:
    write(root, {"src/long.txt": "".join(f"line {n}\n" for n in range(1, 3001))})
    index_project(client, embeddings=False)
    part = _first(operations, "step_100", "src/big.py")
    assert operations.run("get_chunk", {"id": part["id"], "context": "file"})["text"] == BIG
    long = operations.run("get_chunk", {"id": "src/long.txt:77", "context": "file"})
    assert (long["start_line"], long["end_line"], long["truncated"]) == (1, 2000, True)
    assert long["note"] == "lines 2001-3000 are left out: get_chunk with id = src/long.txt:2001-3000 has them"
    assert long["text"].endswith("line 2000\n")


def test_what_a_hit_was_shown_with_is_had_by_its_id(operations: Operations, root: Path) -> None:
    hit = _first(operations, "checkout_step", "src/middle.py")
    whole = operations.run("get_chunk", {"id": hit["id"]})
    assert (whole["start_line"], whole["end_line"], whole["text"]) == (
        hit["start_line"], hit["end_line"], hit["text"],
    )  # fmt: skip
    assert "note" not in whole
    assert hit["end_line"] - hit["start_line"] > 30


def test_what_is_left_of_a_declaration_is_told_and_can_be_had(operations: Operations, root: Path) -> None:
    part = _first(operations, "def apply", "src/big.py")
    beginning = operations.run("get_chunk", {"id": part["id"]})
    assert beginning["end_line"] < 159
    left = f"src/big.py:{beginning['end_line'] + 1}-159"
    assert left in beginning["note"]
    rest = operations.run("get_chunk", {"id": left})
    lines = (root / "src/big.py").read_text().splitlines(keepends=True)
    assert rest["text"] == "".join(lines[beginning["end_line"] : 159])
    assert "note" not in rest


@pytest.mark.slow
def test_an_agent_reads_any_file_page_by_page(client: Client, operations: Operations, root: Path) -> None:
    lines = [f"value {n} and {n * n} and {n * n * n}\n" for n in range(1, 3001)]
    write(root, {"src/long.txt": "".join(lines), "src/wide.txt": "wide " * 100_000})
    index_project(client, embeddings=False)
    agent = Operations(client, wait_for_model_s=PATIENCE_S, budget_tokens=2500)
    around = agent.run("get_chunk", {"id": "src/long.txt:1500", "context": "file"})
    assert around["start_line"] < 1500 < around["end_line"], "what was asked for is in it"
    assert f"src/long.txt:1-{around['start_line'] - 1} or src/long.txt:{around['end_line'] + 1}-3000" in around["note"]
    read, page = "", "src/long.txt:1-3000"
    while page:
        answer = agent.run("get_chunk", {"id": page})
        assert count_tokens(answer["text"]) <= AGENTS_EXCERPT_TOKENS
        read += answer["text"]
        page = answer["note"].split(" = ")[1].split()[0] if "note" in answer else ""
    assert read == "".join(lines)
    assert (
        count_tokens(agent.run("get_chunk", {"id": "src/wide.txt:1", "context": "file"})["text"])
        <= AGENTS_EXCERPT_TOKENS
    )


def test_lines_that_are_not_there_are_refused(operations: Operations) -> None:
    with pytest.raises(NotFound, match=r"src/cart\.py has 3 lines"):
        operations.run("get_chunk", {"id": "src/cart.py:70-80"})
    with pytest.raises(NotFound, match=r"crat\.py"):
        operations.run("get_chunk", {"id": "src/crat.py:1-3"})
    assert operations.run("get_chunk", {"id": "src/cart.py:1-80"})["end_line"] == 3


def test_what_is_declared_nowhere_is_its_own_declaration(operations: Operations) -> None:
    part = _first(operations, "line 77", "src/notes.txt")
    assert operations.run("get_chunk", {"id": part["id"], "context": "declaration"})["text"] == part["text"]
    with pytest.raises(InvalidRequest, match="declaration"):
        operations.run("get_chunk", {"id": part["id"], "context": "everything"})


def test_a_stale_id_is_refused_with_what_to_do(operations: Operations, client: Client, root: Path) -> None:
    hit = _first(operations, "total_price", "src/cart.py")
    write(root, {"src/cart.py": "import os\n\n\n" + SHOP["src/cart.py"].replace("1 -", "2 -")})
    index_project(client)
    with pytest.raises(NotFound, match="was edited or removed: search_code finds it again"):
        operations.run("get_chunk", {"id": hit["id"]})


def test_a_file_s_outline_is_listed(operations: Operations, root: Path) -> None:
    answer = operations.run("list_symbols", {"path": "src/big.py"})
    assert [(item["symbol"], item["kind"]) for item in answer["symbols"]] == [
        ("Discounter", "type"), ("Discounter.apply", "function"),
    ]  # fmt: skip
    assert answer["symbols"][1] == {
        "path": "src/big.py", "symbol": "Discounter.apply", "kind": "function", "start_line": 8, "end_line": 159,
        "signature": "def apply(self, items)", "exported": True,
    }  # fmt: skip
    assert operations.run("list_symbols", {"path": str(root / "src/big.py"), "kind": "method"})["total"] == 1
    with pytest.raises(NotFound, match="index_status"):
        operations.run("list_symbols", {"path": "src/missing.py"})


@pytest.mark.parametrize("query", ["total_price", "totalPrice", "TotalPrice", "TOTAL-PRICE", "alPri"])
def test_a_name_is_found_in_any_case_style(operations: Operations, query: str) -> None:
    assert [item["symbol"] for item in operations.run("list_symbols", {"query": query})["symbols"]] == ["total_price"]


def test_declarations_come_before_keys_of_their_name(client: Client, tmp_path: Path) -> None:
    files = {"api/book.json": '{"slug": "a", "name": "b"}\n', "src/book.py": "def slug_of(book):\n    return book\n"}
    client.open(write(tmp_path / "books", files))
    index_project(client)
    found = Operations(client).run("list_symbols", {"query": "slug"})["symbols"]
    assert [item["path"] for item in found] == ["src/book.py", "api/book.json"]


def test_symbols_are_narrowed_by_owner_glob_kind_and_number(operations: Operations) -> None:
    def named(**arguments: object) -> list[str]:
        return [item["symbol"] for item in operations.run("list_symbols", arguments)["symbols"]]

    assert named(query="session.refresh") == ["Session.refresh"]
    assert named(query="other.refresh") == []
    assert named(query="test", path_glob="tests/**") == ["test_discount", "test_all", "test_mail"]
    assert set(named(path_glob="src/*.py", kind="class")) == {"Session", "Discounter"}
    answer = operations.run("list_symbols", {"query": "test", "k": 1})
    assert (len(answer["symbols"]), answer["total"]) == (1, 3)
    for odd in ("%", "'", "*", "\0", "…"):
        assert operations.run("list_symbols", {"query": odd})["total"] == 0
    with pytest.raises(InvalidRequest, match="needs a path"):
        operations.run("list_symbols", {})


def test_unsaved_declarations_are_listed(operations: Operations, client: Client) -> None:
    (view,) = client.projects()
    view.buffer_changed(Buffer("src/cart.py", "def unsaved_total():\n    return 1\n", "python"))
    assert view.indexing.wait_until_idle(PATIENCE_S)
    assert [item["symbol"] for item in operations.run("list_symbols", {"path": "src/cart.py"})["symbols"]] == [
        "unsaved_total"
    ]
    assert operations.run("list_symbols", {"query": "total_price"})["total"] == 0
    assert operations.run("list_symbols", {"query": "unsaved_total"})["total"] == 1


def test_that_the_saved_text_answers_is_told_where_the_editor_s_is_not_indexed(
    operations: Operations, client: Client
) -> None:
    (view,) = client.projects()
    view.buffer_changed(Buffer("src/cart.py", "zebra = 1\n" * 200_000))
    assert view.indexing.wait_until_idle(PATIENCE_S)
    told = "src/cart.py is open in an editor with a text that is not indexed (too large): answers have its saved text"
    assert told in operations.run("get_chunk", {"id": "src/cart.py:1"})["note"]
    for name, question in (
        ("list_symbols", {"path": "src/cart.py"}),
        ("related_tests", {"path": "src/cart.py"}),
        ("find_references", {"symbol": "total_price"}),
    ):
        assert told in operations.run(name, question)["note"]
    assert "note" not in operations.run("get_chunk", {"id": "src/auth.py:1"})


def test_the_tests_of_a_place_are_found_and_explained(operations: Operations) -> None:
    tests = operations.run("related_tests", {"path": "src/cart.py", "symbol": "total_price"})["tests"]
    assert [test["path"] for test in tests[:2]] == ["tests/test_cart.py", "tests/test_checkout.py"]
    assert "tests/test_mail.py" not in [test["path"] for test in tests if len(test["why"]) > 1]
    why = " ".join(tests[0]["why"])
    assert "named after cart.py" in why
    assert "imports total_price from it (line 1)" in why
    assert "mentions total_price" in why
    assert 0 < tests[1]["score"] < tests[0]["score"] <= 1
    assert "test_discount" in tests[0]["mentioned_in"]
    assert Path(tests[0]["file"]).is_file()


def test_tests_are_found_by_line_by_file_and_by_symbol_alone(operations: Operations) -> None:
    for place in ({"path": "src/cart.py", "line": 2}, {"path": "src/cart.py"}, {"symbol": "total_price"}):
        tests = operations.run("related_tests", place)["tests"]
        assert tests[0]["path"] == "tests/test_cart.py", place
    assert len(operations.run("related_tests", {"path": "src/cart.py", "k": 1})["tests"]) == 1


def test_a_place_that_is_not_there_has_no_tests(operations: Operations) -> None:
    with pytest.raises(NotFound):
        operations.run("related_tests", {"path": "src/missing.py"})
    with pytest.raises(InvalidRequest, match="needs a path"):
        operations.run("related_tests", {})


def test_a_misspelt_name_is_answered_with_the_nearest(operations: Operations) -> None:
    answer = operations.run("list_symbols", {"query": "Discuonter"})
    assert (answer["symbols"], "the nearest is Discounter" in answer["note"]) == ([], True)
    assert "note" not in operations.run("list_symbols", {"query": "zzz_nothing_like_it"})
    for tool in ("related_tests", "find_related"):
        with pytest.raises(NotFound, match="no symbol 'total_prise' is in the index; the nearest is total_price;"):
            operations.run(tool, {"symbol": "total_prise"})


@pytest.mark.parametrize("tool", ["list_symbols", "related_tests", "find_related"])
def test_a_wrong_path_is_answered_with_the_nearest(operations: Operations, tool: str) -> None:
    with pytest.raises(NotFound, match=r"'source/crt.py' is not in the index; the nearest .*src/cart\.py"):
        operations.run(tool, {"path": "source/crt.py"})


@pytest.mark.parametrize("tool", ["list_symbols", "related_tests", "find_related"])
def test_a_path_that_has_no_symbols_is_answered_with_the_reason(
    operations: Operations, root: Path, client: Client, tool: str
) -> None:
    (root / "logo.png").write_bytes(b"\x89PNG\x00")
    index_project(client)
    with pytest.raises(NotFound, match="'src' is a folder; give the path of a file in it"):
        operations.run(tool, {"path": "src"})
    with pytest.raises(NotFound, match=r"'logo\.png' is not indexed: binary;"):
        operations.run(tool, {"path": "logo.png"})


def test_a_misspelt_project_is_answered_with_the_nearest(operations: Operations) -> None:
    with pytest.raises(NotFound, match="the nearest is big-shop"):
        operations.run("list_symbols", {"query": "total", "project": "bigshop"})


_RUST = """pub fn walk(root: &str) -> u32 { root.len() as u32 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_nothing() { assert_eq!(walk(""), 0); }
}
"""


def test_tests_in_the_file_itself_come_first(client: Client, tmp_path: Path) -> None:
    client.open(write(tmp_path / "walker", {"src/walk.rs": _RUST, "tests/walk_test.rs": "fn main() { walk(1); }\n"}))
    index_project(client)
    found = Operations(client, wait_for_model_s=PATIENCE_S).run("related_tests", {"path": "src/walk.rs"})["tests"]
    assert [test["path"] for test in found] == ["src/walk.rs", "tests/walk_test.rs"]
    assert "holds tests itself (line 4)" in found[0]["why"]


def test_a_name_that_many_files_declare_is_no_evidence(client: Client, tmp_path: Path) -> None:
    modules = {f"src/part_{number}.py": f"def open_it():\n    return {number}\n" for number in range(5)}
    tests = {"tests/test_doors.py": "def test_doors():\n    assert open_it() == 'a door'\n"}
    client.open(write(tmp_path / "parts", {**modules, **tests}))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    mentioning = [
        test
        for test in operations.run("related_tests", {"path": "src/part_1.py"})["tests"]
        if any("mentions" in why for why in test["why"])
    ]
    assert mentioning == []
    # Asked for by its name, it is.
    (named,) = operations.run("related_tests", {"path": "src/part_1.py", "symbol": "open_it"})["tests"]
    assert "mentions open_it" in named["why"]


def test_a_name_that_many_tests_hold_makes_none_of_them_related(client: Client, tmp_path: Path) -> None:
    throwing = {
        f"test/part{number:02}.test.js": "it('throws', () => { throw new Error('late') })\n" for number in range(12)
    }
    importing = "import { Error } from '../src/errors'\nit('tells', () => { new Error('a') })\n"
    files = {"src/errors.js": "export class Error {\n  tell() {}\n}\n", "test/telling.test.js": importing, **throwing}
    client.open(write(tmp_path / "throwing", files))
    index_project(client, embeddings=False)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    tests = operations.run("related_tests", {"path": "src/errors.js", "symbol": "Error"})["tests"]
    assert [(each["path"], each["why"][-1]) for each in tests if any("mentions" in why for why in each["why"])] == [
        ("test/telling.test.js", "mentions Error")
    ]


def test_answers_about_another_checkout_name_it_once(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    here, beside = (indexed_projects.copy(SHOP, tmp_path / name) for name in ("shop", "shop-beside"))
    client.open(here)
    client.open_project(Project(beside), aside=True)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    path = {"path": str(beside / "src" / "cart.py")}
    questions = [
        ("list_symbols", path), ("find_references", {**path, "symbol": "total_price"}), ("related_tests", path),
        ("get_chunk", {"id": f"{beside}/src/cart.py:1"}), ("list_symbols", {"query": "total", "project": [str(beside)]}),
    ]  # fmt: skip
    for tool, asked in questions:
        assert f"paths are below {beside}" in operations.run(tool, asked).get("note", ""), tool
    assert f"paths are below {beside}" in operations.run("find_related", {**path, "line": 1})["stats"]["note"]
    own = operations.run("list_symbols", {"path": str(here / "src" / "cart.py")})
    assert "below" not in own.get("note", "")


def test_a_path_without_a_line_names_the_nearest_path(operations: Operations) -> None:
    with pytest.raises(NotFound, match=r"the nearest are src/cart\.py, src/auth\.py; of a file give PATH:LINE"):
        operations.run("get_chunk", {"id": "src/crat.py"})
    with pytest.raises(NotFound, match="now; of a file give PATH:LINE"):
        operations.run("get_chunk", {"id": "src/cart.py"})


def test_a_declaration_is_read_whole_by_its_name(operations: Operations, client: Client, root: Path) -> None:
    read = operations.run("get_chunk", {"id": "Discounter.apply"})
    assert read["path"] == "src/big.py"
    assert "def apply(self, items):" in read["text"]
    assert operations.run("get_chunk", {"id": "apply"})["text"] == read["text"]
    assert operations.run("get_chunk", {"id": "Discounter.apply()"})["text"] == read["text"]
    whole = operations.run("get_chunk", {"id": "Discounter"})
    assert "def apply(self, items):" in whole["text"]
    assert whole["start_line"] < read["start_line"]
    with pytest.raises(NotFound, match="no chunk has the id 'appl'"):
        operations.run("get_chunk", {"id": "appl"})
    write(root, {"src/other.py": "class Coupon:\n    def apply(self):\n        return 1\n"})
    view = client.open(root)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    with pytest.raises(NotFound, match=r"2 declarations are called 'apply': .*Coupon\.apply is src/other\.py:2"):
        operations.run("get_chunk", {"id": "apply"})


def test_a_function_that_a_header_declares_is_read_by_its_name_and_overloads_are_named(
    words_alone: None, client: Client, tmp_path: Path
) -> None:
    files = {
        "net/wire.h": "int read_wire(struct wire *wire);\n",
        "net/wire.c": '#include "wire.h"\n\nint read_wire(struct wire *wire)\n{\n    return wire->size;\n}\n',
        "Cart.java": "class Cart {\n    int add(int a) {\n        return add(a, 1);\n    }\n\n"
        "    int add(int a, int b) {\n        return a * b;\n    }\n}\n",
    }
    client.open(write(tmp_path / "overloads", files))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    read = operations.run("get_chunk", {"id": "read_wire"})
    assert (read["path"], read["note"]) == ("net/wire.c", "declared in net/wire.h:1 too")
    assert "return wire->size;" in read["text"]
    with pytest.raises(NotFound, match=r"Cart\.add is Cart\.java:2, Cart\.add is Cart\.java:6"):
        operations.run("get_chunk", {"id": "Cart.add"})


def test_a_declaration_is_read_by_its_name_and_that_of_its_package_or_module(
    words_alone: None, client: Client, tmp_path: Path
) -> None:
    files = {
        "fs/operations/operations.go": "package operations\n\nfunc DirMove() error {\n\treturn nil\n}\n",
        "backend/box/box.go": "package box\n\nfunc (f *Fs) DirMove() error {\n\treturn errBox\n}\n",
        "shop/rates.py": "def find():\n    return 1\n",
        "shop/users.py": "def find():\n    return 2\n",
    }
    client.open(write(tmp_path / "packages", files))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    read = {name: operations.run("get_chunk", {"id": name})["path"] for name in ("operations.DirMove", "rates.find")}
    assert read == {"operations.DirMove": "fs/operations/operations.go", "rates.find": "shop/rates.py"}
    with pytest.raises(NotFound):
        operations.run("get_chunk", {"id": "other.DirMove"})

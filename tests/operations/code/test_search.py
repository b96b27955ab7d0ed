"""`search_code` and `find_related`: filters, budgets, odd input."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from rag_ls.engine.client import Client
from rag_ls.engine.code.hits import Reranking
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import InvalidRequest
from rag_ls.indexing import Depth
from rag_ls.model import Chunk, Hit, StoredChunk
from rag_ls.operations import Operations
from rag_ls.operations.code.asked_texts import find_literal_queries, find_literals, find_verbatim
from rag_ls.operations.code.budget import count_tokens
from rag_ls.search.query import analyse
from rag_ls.search.view import Filters, glob_matcher
from tests.agents import render_answer
from tests.conftest import IndexedProjects
from tests.support import PATIENCE_S, SHOP, write


def _discounter(steps: int) -> str:
    body = "".join(f"        step_{n} = compute_discount(items, {n})\n" for n in range(steps))
    return f"class Discounter:\n    def apply(self, items):\n{body}        return grand_total(step_1)\n"


FILES = {
    **SHOP,
    "src/big.py": _discounter(150),
    "src/rates.py": "DISCOUNT_RATE = {\n" + "".join(f"    'customer{n}': {n},\n" for n in range(60)) + "}\n",
    "tests/test_cart.py": "from src.cart import total_price\n\n\ndef test_discount():\n    assert total_price([2.0], 0.5) == 1.0\n",
    "app/[id]/page.ts": "export function discountPage() {\n  return 1;\n}\n",
}

_AS_TEXT = partial(render_answer, "search_code")


@pytest.fixture
def operations(words_alone: None, client: Client, indexed_projects: IndexedProjects, tmp_path: Path) -> Operations:
    """The operations on a shop with tests and a large class; nothing is embedded, which takes longer than most tests."""
    return _open(client, indexed_projects.copy(FILES, tmp_path / "big-shop"))


@pytest.fixture
def embedded(client: Client, indexed_projects: IndexedProjects, tmp_path: Path) -> Operations:
    """The operations on a shop with tests that is embedded."""
    files = {**FILES, "src/big.py": _discounter(10), "src/rates.py": "DISCOUNT_RATE = 0.2\n"}
    return _open(client, indexed_projects.copy(files, tmp_path / "big-shop"))


def _open(client: Client, root: Path) -> Operations:
    view = client.open(root)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    return Operations(client, wait_for_model_s=PATIENCE_S)


def _paths(operations: Operations, **arguments: object) -> set[str]:
    return {
        hit["path"] for hit in operations.run("search_code", {"query": "discount", "k": 100, **arguments})["results"]
    }


@pytest.mark.slow
def test_a_kind_narrows_the_hits(embedded: Operations) -> None:
    assert _paths(embedded, kind="test") == {"tests/test_cart.py"}
    assert _paths(embedded, kind="doc") == {"docs/guide.md"}
    assert "tests/test_cart.py" not in _paths(embedded, kind="code")
    assert {"src/cart.py", "src/big.py"} <= _paths(embedded, kind="method") - {"src/rates.py"}
    assert "src/rates.py" not in _paths(embedded, kind="function")
    assert "src/big.py" in _paths(embedded, kind="class")
    assert "src/cart.py" not in _paths(embedded, kind="class")
    assert "src/rates.py" in _paths(embedded, kind="value")
    with pytest.raises(InvalidRequest, match="function"):
        _paths(embedded, kind="widget")


@pytest.mark.parametrize(
    "question", ["discount", "price of a cart", "test_discount", "where is the rate of a customer"]
)
@pytest.mark.parametrize("operation", ["search", "search_code"])
def test_the_order_does_not_depend_on_how_many_are_wanted(
    operations: Operations, operation: str, question: str
) -> None:
    def ask(k: int) -> list[tuple[str, int]]:
        found = operations.run(operation, {"query": question, "k": k})["results"]
        return [(each["path"], each["start_line"]) for each in found]

    many = ask(10)
    assert [ask(k) for k in (1, 2, 3, 5)] == [many[:k] for k in (1, 2, 3, 5)]


def test_an_offset_that_ranked_files_do_not_have_is_told(operations: Operations) -> None:
    first = operations.run("search_code", {"query": "compute a discount"})
    again = operations.run("search_code", {"query": "compute a discount", "offset": 3})
    assert [each["path"] for each in again["results"]] == [each["path"] for each in first["results"]]
    assert "these are the first files" in again["stats"]["note"]
    assert "offset" not in first["stats"].get("note", "")


def test_files_only_gives_each_file_once_and_no_text(operations: Operations) -> None:
    hits = operations.run("search_code", {"query": "compute discount step", "k": 50, "files_only": True})["results"]
    assert len({hit["path"] for hit in hits}) == len(hits) > 1
    assert not any("text" in hit for hit in hits)
    assert all(Path(hit["file"]).is_file() for hit in hits)


def test_an_unknown_language_is_refused_and_the_nearest_are_named(operations: Operations) -> None:
    with pytest.raises(InvalidRequest, match="the nearest is python"):
        _paths(operations, language="pyton")
    with pytest.raises(InvalidRequest, match=r"it holds .*markdown"):
        _paths(operations, language="cobol")
    assert _paths(operations, language="py") == _paths(operations, language="Python") != set()


def test_a_budget_cuts_texts_and_says_so(operations: Operations) -> None:
    whole = operations.run("search_code", {"query": "grand_total discount", "k": 5})["results"]
    assert not any("truncated" in hit for hit in whole)
    cut = []
    for budget in (400, 600, 900, 1200, 1500):
        question = {"query": "grand_total discount", "k": 5, "budget_tokens": budget}
        assert count_tokens(operations.run("search_code", question, render=_AS_TEXT)["text"]) < budget + 30
        cut += [hit for hit in operations.run("search_code", question)["results"] if hit.get("truncated")]
    assert cut


def test_a_cut_text_says_which_lines_it_leaves_out(operations: Operations) -> None:
    question = {"query": "grand_total discount", "k": 5, "budget_tokens": 600}
    (cut, *_) = [hit for hit in operations.run("search_code", question)["results"] if hit.get("truncated")]
    shown, ranges = cut["text"].split("\n"), list(cut["left_out"])
    assert shown.count("…") == len(ranges) > 0
    left = sum(int(last) - int(first) + 1 for first, last in (lines.split("-") for lines in ranges))
    assert left + len(shown) - len(ranges) == cut["end_line"] - cut["start_line"] + 1


def test_a_hit_is_a_file_with_its_best_places(operations: Operations) -> None:
    answer = operations.run("search_code", {"query": "compute_discount items", "k": 3})["results"]
    assert len({hit["path"] for hit in answer}) == len(answer) <= 3
    big = next(hit for hit in answer if hit["path"] == "src/big.py")
    assert 1 <= len(big["places"]) <= 2
    for place in big["places"]:
        assert place["start_line"] <= place["line"] <= place["end_line"]
        assert FILES["src/big.py"].split("\n")[place["line"] - 1] == place["text"]
        assert not big["start_line"] <= place["start_line"] <= big["end_line"]


@pytest.mark.slow
def test_k_counts_files(client: Client, tmp_path: Path, indexed_projects: IndexedProjects) -> None:
    classes = "".join(f"class Rate{n}:\n    def rate_of_tax(self):\n        return {n}\n\n\n" for n in range(40))
    files = {f"src/tax{n}.py": classes.replace("Rate", f"Rate{n}x") for n in range(8)}
    view = client.open(indexed_projects.copy(files, tmp_path / "taxes"))
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("search_code", {"query": "rate of tax", "k": 8})
    assert len({hit["path"] for hit in answer["results"]}) == 8


def test_operations_for_agents_have_a_budget_of_their_own(operations: Operations, client: Client) -> None:
    for_agents = Operations(client, wait_for_model_s=PATIENCE_S, budget_tokens=300)
    question = {"query": "discount", "k": 10}
    few = for_agents.run("search_code", question)
    assert count_tokens(for_agents.run("search_code", question, render=_AS_TEXT)["text"]) < 330
    assert "raise it" in few["stats"]["note"]
    assert len(for_agents.run("search_code", {"query": "discount", "k": 10, "budget_tokens": 0})["results"]) > len(
        few["results"]
    )


def test_a_part_of_a_declaration_says_of_which(operations: Operations) -> None:
    hits = operations.run("search_code", {"query": "step_140 compute_discount", "k": 10})["results"]
    part = next(hit for hit in hits if "def apply" not in hit["text"] and hit["symbol"] == "Discounter.apply")
    assert part["scope"] == "def apply(self, items)"
    assert not any("scope" in hit for hit in hits if "def apply" in hit["text"])


def test_the_most_hits_are_given_where_more_are_asked_for(operations: Operations) -> None:
    assert operations.run("search_code", {"query": "discount", "top_n": 10**9})["results"]
    with pytest.raises(InvalidRequest):
        operations.run("search_code", {"query": "discount", "top_n": -1})


@pytest.mark.parametrize(
    "query",
    ['"*', "NEAR(", "[a", "**", "a" * 1_000_000, "x " * 500_000, "\0\1\2\x1b[0m", "скидка 割引 🛒", "' OR 1=1 --", "col:x AND NOT"],
    ids=["quote", "near", "bracket", "stars", "megabyte", "megabyte of words", "control", "other letters", "sql", "columns"],
)  # fmt: skip
def test_any_text_is_a_query_and_a_glob(embedded: Operations, query: str) -> None:
    answer = embedded.run("search_code", {"query": query})
    assert len(answer["query"]) <= 8000
    started = time.monotonic()
    embedded.run("search_code", {"query": "discount", "path_glob": query})
    assert time.monotonic() - started < 10


def test_globs_with_many_stars_take_no_time() -> None:
    path = "a/" * 30 + "b.py"
    started = time.monotonic()
    for pattern in ("**/" * 60 + "c", "**/a/" * 60 + "c", "*a" * 60 + "/c", "**a" * 12 + "/c"):
        assert not glob_matcher(pattern)(path)
    assert time.monotonic() - started < 2
    assert glob_matcher("**/**/b.py")(path)
    assert glob_matcher("app/[id]/*.ts")("app/[id]/page.ts")


def test_reranking_says_how_to_get_a_cross_encoder(operations: Operations) -> None:
    answer = operations.run("search_code", {"query": "discount", "rerank": True})
    assert answer["results"]
    assert "embedding.reranker" in answer["stats"]["note"]


class _Scores:
    def __init__(self, wait_s: float = 0.0) -> None:
        self._wait_s = wait_s

    def scores(self, query: str, texts: Sequence[str]) -> np.ndarray:
        time.sleep(self._wait_s)
        return np.array([float(query in text) for text in texts], np.float32)


def _hits(count: int) -> list[Hit]:
    chunks = [Chunk("a.py", "python", n, n, n + 1, n + 1, n + 1, f"text{n}!") for n in range(count)]
    return [Hit(StoredChunk(str(chunk.ordinal), chunk, ""), 1 - chunk.ordinal / 100, ("dense",)) for chunk in chunks]


def test_a_cross_encoder_orders_the_first_hits() -> None:
    ordered, note = Reranking(_Scores).reorder("text7!", _hits(30))
    assert ([hit.item.id for hit in ordered[:3]], note) == (["7", "0", "1"], "")
    assert [hit.score for hit in ordered] == [hit.score for hit in _hits(30)]
    assert ordered[0].matched_by == ("dense", "reranker")


def test_a_slow_cross_encoder_is_not_waited_for() -> None:
    reranking = Reranking(lambda: _Scores(1.0), budget_s=0.05)
    ordered, note = reranking.reorder("text7!", _hits(10))
    assert ordered == _hits(10)
    assert "more than" in note
    assert "busy" in reranking.reorder("text7!", _hits(10))[1]


def _forget_embeddings(view: ProjectSession, but: str = "") -> None:
    """Mark all chunks but those of one file as not embedded; nothing embeds them again."""
    view.indexing.embeddings.stop()
    with view.store._database.writing() as connection:
        connection.execute(
            "UPDATE chunks SET embedded = 0 WHERE document_id NOT IN (SELECT id FROM documents WHERE path = ?)", (but,)
        )


def test_a_place_without_an_embedding_is_looked_up_by_its_words(embedded: Operations, client: Client) -> None:
    (view,) = client.projects()
    _forget_embeddings(view)
    answer = embedded.run("find_related", {"path": "src/cart.py", "line": 1})
    assert "tests/test_cart.py" in {hit["path"] for hit in answer["results"]}
    assert "src/cart.py" not in {hit["path"] for hit in answer["results"]}
    assert "words alone" in answer["stats"]["note"]


def test_documentation_with_the_words_of_code_is_no_code_like_it(
    embedded: Operations, client: Client, tmp_path: Path
) -> None:
    (view,) = client.projects()
    write(view.project.root, {"CHANGELOG.md": f"# Changes\n\n{SHOP['src/cart.py']}"})
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    for _ in range(2):
        answer = embedded.run("find_related", {"path": "src/cart.py", "line": 1, "k": 50})
        found = {hit["path"] for hit in answer["results"]}
        assert "tests/test_cart.py" in found
        assert not any(path.endswith(".md") for path in found)
        asked = embedded.run("find_related", {"path": "src/cart.py", "line": 1, "k": 50, "path_glob": "*.md"})
        assert "CHANGELOG.md" in {hit["path"] for hit in asked["results"]}
        # Then by words.
        _forget_embeddings(view)


def test_a_snippet_is_looked_up_by_its_words_while_nothing_has_an_embedding(
    embedded: Operations, client: Client
) -> None:
    (view,) = client.projects()
    _forget_embeddings(view)
    answer = embedded.run("find_related", {"path": "src/cart.py", "snippet": "def total_price(items)"})
    assert "tests/test_cart.py" in {hit["path"] for hit in answer["results"]}
    assert "src/cart.py" not in {hit["path"] for hit in answer["results"]}
    assert "words alone" in answer["stats"]["note"]


def test_what_is_close_to_nothing_embedded_is_looked_up_by_its_words(embedded: Operations, client: Client) -> None:
    (view,) = client.projects()
    _forget_embeddings(view, but="src/cart.py")
    answer = embedded.run("find_related", {"path": "src/cart.py", "line": 1})
    assert "tests/test_cart.py" in {hit["path"] for hit in answer["results"]}
    assert "nothing close has an embedding yet" in answer["stats"]["note"]


def test_a_filter_that_nothing_passes_is_no_matter_of_embeddings(embedded: Operations) -> None:
    answer = embedded.run("find_related", {"path": "src/cart.py", "line": 1, "path_glob": "nowhere/**"})
    assert answer["results"] == []
    assert "embedding" not in answer["stats"].get("note", "")


def test_where_no_code_is_like_a_snippet_the_nearest_are_told_in_a_line_each(embedded: Operations) -> None:
    answer = embedded.run("find_related", {"snippet": "def focus_telescope(mirror):\n    mirror.rotate(degrees=12)\n"})
    assert answer["stats"]["note"] == "weak: no code of another file is like it; these are the nearest"
    assert len(answer["results"]) > 2
    assert [hit.get("far", False) for hit in answer["results"]] == [False] + [True] * (len(answer["results"]) - 1)
    like_it = embedded.run("find_related", {"snippet": SHOP["src/cart.py"]})
    assert like_it["results"][0]["path"] == "src/cart.py"
    assert "note" not in like_it["stats"]


@pytest.mark.slow
def test_a_declaration_in_several_pieces_is_related_once(embedded: Operations, client: Client, tmp_path: Path) -> None:
    steps = "".join(f"    step_{n} = compute_discount(items, customer={n}, rate=0.{n})\n" for n in range(60))
    write(tmp_path / "big-shop", {"src/steps.py": f"def discount_steps(items):\n{steps}    return step_1\n"})
    (view,) = client.projects()
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    document = view.store.document("src/steps.py")
    assert document is not None
    assert len(view.store.chunks.of_document(document.id)) > 1
    hits = embedded.run("find_related", {"path": "src/big.py", "line": 1, "k": 50})["results"]
    assert [hit["symbol"] for hit in hits].count("discount_steps") == 1


def test_the_kind_of_a_document_is_a_filter_like_others() -> None:
    assert Filters(kind="test") != Filters()


def test_that_no_file_holds_the_words_is_said_only_where_it_is_so(embedded: Operations, client: Client) -> None:
    (view,) = client.projects()
    said = "no file holds these words"
    assert said in str(embedded.run("search_code", {"query": "wombat burrow"})["stats"].get("note"))
    assert said in str(embedded.run("search_code", {"query": "黑暗森林"})["stats"].get("note"))
    # The index has the pairs of Chinese letters, and no blobs.
    for query in ("鎖", "A1b2" * 20):
        assert said not in str(embedded.run("search_code", {"query": query})["stats"].get("note"))
    # While another process holds the queue, its files stay unread: so many that the question does not read them itself.
    late = {f"src/late{number}.py": "LATE = True\n" for number in range(30)}
    write(view.project.root, late)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    with FileLock(view.project.folder.data_folder / "index.lock"):
        # They have changed: a comparison takes files that are as the index has them out of the queue.
        write(view.project.root, dict.fromkeys(late, "LATE = False\n"))
        view.store.queue.add(list(late))
        note = str(embedded.run("search_code", {"query": "wombat burrow"})["stats"].get("note"))
        assert said not in note
        assert "others are still to be read" in note


def test_that_no_file_holds_the_words_names_what_was_left_out(embedded: Operations, client: Client) -> None:
    (view,) = client.projects()
    root = view.project.root
    write(root, {"dump.sql": "wombat burrow\n" * 200_000, "src/key.pem": "wombat"})
    (root / "picture.png").write_bytes(b"\x89PNG\0\0\0")
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    note = embedded.run("search_code", {"query": "wombat burrow"})["stats"]["note"]
    assert "no file holds these words" not in note
    # First what may hold the words.
    assert "2 files were not looked at (1 too large, 1 secret; e.g. dump.sql)" in note


@pytest.mark.parametrize(
    "query", ["what colour zebras wear at night", "which violin of the circus orchestra has a price"]
)
def test_where_nothing_is_close_the_files_that_were_not_looked_at_are_told(
    client: Client, tmp_path: Path, query: str
) -> None:
    view = client.open(write(tmp_path / "shop", {**SHOP, "big.py": "zebra_marker = 1\n" * 100_000}))
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("search_code", {"query": query, "budget_tokens": 2000})
    stats = answer["stats"]
    assert (stats["nothing_close"], stats["note"].count("1 file was not looked at (1 too large")) == (True, 1)
    # Each of the nearest is a line.
    assert all(hit["far"] and hit["text"].count("\n") <= 1 for hit in answer["results"])


def test_a_project_that_the_filters_leave_no_file_makes_no_hit_of_another_close(client: Client, tmp_path: Path) -> None:
    for name, files in (("shop", SHOP), ("pages", {"index.html": "<p>zebras of the circus</p>\n"})):
        view = client.open(write(tmp_path / name, files))
        view.indexing.index_tree(Depth.WORDS)
        assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    query = "where is the discount of an item wired to the bank without an invoice"
    answer = Operations(client).run("search_code", {"query": query, "language": "python"})
    assert answer["stats"]["note"].startswith("weak: ")
    assert [hit.get("far", False) for hit in answer["results"]] == [False, *[True] * (len(answer["results"]) - 1)]


def test_of_weak_hits_the_best_has_its_text_and_the_others_a_line(client: Client, tmp_path: Path) -> None:
    view = client.open(write(tmp_path / "shop", SHOP))
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    answer = Operations(client).run(
        "search_code", {"query": "where is the discount of an item wired to the bank without an invoice"}
    )
    assert answer["stats"]["note"].startswith("weak: ")
    assert [hit.get("far", False) for hit in answer["results"]] == [False, *[True] * (len(answer["results"]) - 1)]
    assert len(answer["results"]) > 1


def test_imports_and_licences_are_no_further_place_and_like_nothing(
    words_alone: None, client: Client, tmp_path: Path
) -> None:
    licence = "".join(
        f"// Copyright {year} Basket Ltd: rounding baskets needs a licence.\n" for year in range(1990, 2025)
    )
    imports = "".join(f'import {{ roundBasket{number} }} from "./basket/{number}.ts";\n' for number in range(40))
    body = "".join(f"  const basket{number} = round(basket, {number});\n" for number in range(40))
    code = f"export function roundBasket(basket) {{\n{body}}}\n"
    files = {"a.ts": licence + imports + code, "b.ts": licence + imports, "c.ts": code}
    operations = _open(client, write(tmp_path / "baskets", files))
    hits = operations.run("search_code", {"query": "where are baskets rounded"})["results"]
    (first,) = (hit for hit in hits if hit["path"] == "a.ts")
    assert [place["symbol"] for place in (first, *first.get("places", ()))] == ["roundBasket"]
    related = operations.run("find_related", {"path": "c.ts", "line": 1})["results"]
    assert {hit["symbol"] for hit in related} == {"roundBasket"}


def test_prose_that_begins_as_an_import_does_is_a_place_of_its_file(
    words_alone: None, client: Client, tmp_path: Path
) -> None:
    plain = ["the engine reads a tree of files with its threads, one after another, and stores them " * 4] * 60
    plain[10] = plain[30] = plain[50] = "use the frobnicator calibration when the gasket loses pressure"
    operations = _open(client, write(tmp_path / "notes", {"docs/notes.txt": "\n\n".join(plain)}))
    (hit,) = operations.run("search_code", {"query": "when is the frobnicator calibration of a gasket used"})["results"]
    assert len(hit["places"]) == 2


def test_where_no_file_is_indexed_a_question_is_told_so(words_alone: None, client: Client, tmp_path: Path) -> None:
    root = write(tmp_path / "empty", {"README": ""})
    (root / "README").unlink()
    note = _open(client, root).run("search_code", {"query": "discount"})["stats"]["note"]
    assert note == f"no file is indexed in {root}: `rag-ls status --skipped` names what is left out, and why"


def test_hits_beside_lines_that_hold_the_question_are_a_line_each_where_they_do_not(operations: Operations) -> None:
    answer = operations.run("search_code", {"query": "compute_discount", "k": 10})
    assert answer["exact"]["total"]
    assert [hit["path"] for hit in answer["results"] if not hit.get("far")] == ["src/big.py"]


def test_that_no_line_holds_a_name_is_told_though_hits_hold_its_words(operations: Operations) -> None:
    absent = operations.run("search_code", {"query": "compute_grand_discount"})
    assert "no line holds compute_grand_discount" in absent["stats"]["note"]
    assert absent["results"]
    assert all(hit["far"] for hit in absent["results"])
    # No line holds this either, but it is what is found.
    assert "no line" not in operations.run("search_code", {"query": "Discounter.apply"})["stats"].get("note", "")
    assert "no line holds total of all" in operations.run("search_code", {"query": '"total of all"'})["stats"]["note"]


def test_a_budget_counts_lines_as_agents_read_them(client: Client, tmp_path: Path) -> None:
    uses = "".join(f"value_{number} = compute_needle({number})\n" for number in range(50))
    view = client.open(write(tmp_path / "needles", {"src/uses.py": uses}))
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    for_agents = Operations(client, wait_for_model_s=PATIENCE_S, budget_tokens=2000)
    question = {"query": "compute_needle", "match": "exact"}
    answer = for_agents.run("search_code", question)
    assert len(answer["exact"]["places"]) == 50
    assert count_tokens(for_agents.run("search_code", question, render=_AS_TEXT)["text"]) < 2000


def test_a_header_a_constant_or_an_option_in_a_question_is_looked_for_as_it_stands(operations: Operations) -> None:
    answer = operations.run("search_code", {"query": "where is the DISCOUNT_RATE for a customer changed"})
    assert [place["path"] for place in answer["exact"]["places"]] == ["src/rates.py"]
    assert any("DISCOUNT_RATE" not in hit["path"] and not hit.get("far") for hit in answer["results"])
    absent = operations.run("search_code", {"query": "which discount does the X-Total-Count header of a cart hold"})
    assert "no line holds X-Total-Count" in absent["stats"]["note"]
    assert len(absent["results"]) > 1


def test_a_header_that_code_writes_small_is_found_and_files_that_were_not_looked_at_are_not_spoken_for(
    words_alone: None, client: Client, tmp_path: Path
) -> None:
    files = {
        "a.js": "function wait(response) {\n  return response.headers['retry-after']\n}\n",
        "b.csv": "MAX_WAITS\n",
    }
    operations = _open(client, write(tmp_path / "headers", files))
    found = operations.run("search_code", {"query": "how long does the Retry-After of a response make it wait"})
    assert (found["exact"]["pattern"], found["exact"]["total"]) == ("retry-after", 1)
    assert "no line" not in found["stats"].get("note", "")
    absent = operations.run("search_code", {"query": "which function waits for a response MAX_WAITS times"})
    assert "no line that was looked at holds MAX_WAITS" in absent["stats"]["note"]


@pytest.mark.parametrize(
    ("query", "literal"),
    [
        ("where is the Retry-After header set", "Retry-After"),
        ("what does MAX_RETRIES limit", "MAX_RETRIES"),
        ("which code reads --dry-run", "--dry-run"),
        ("const MAX_RETRIES = 3;", "const MAX_RETRIES = 3;"),
        ("how are well-known names read", ""),
        ("who calls the API", ""),
    ],
)
def test_words_that_stand_in_code_as_they_are_written(query: str, literal: str) -> None:
    texts = [*find_literal_queries(query), *(form for forms in find_literals(query) for form in forms)]
    assert [each.pattern for each in texts][:1] == ([literal] if literal else [])


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("No rate is known for this customer", "No rate is known for this customer"),
        ("Error: No rate is known for 17 [eu]", "No rate is known for"),
        ("which rate is known for a customer by default", ""),
        ("rate of a customer", ""),
        ("Rates.known", ""),
    ],
)
def test_the_part_of_a_pasted_message_that_code_holds_is_found(query: str, message: str) -> None:
    texts = ["x = 1", 'raise KeyError("No rate is known for this customer, sorry")']
    assert find_verbatim(query, texts, is_message=analyse(query).is_message) == message


def test_the_lines_of_a_pasted_message_come_first_and_the_file_that_holds_it(
    words_alone: None, client: Client, tmp_path: Path
) -> None:
    held = 'def read(path):\n    raise ValueError(f"cannot read the rates of {path}: no such country")\n'
    near = {
        f"rates{n}.py": f"def read_rates_of_country_{n}(path):\n    return cannot_read(path, {n})\n" for n in range(6)
    }
    operations = _open(client, write(tmp_path / "messages", {"deep/files.py": held, **near}))
    for query in ("ValueError: cannot read the rates of /tmp/a.csv: no such country", "cannot read the rates of"):
        answer = operations.run("search_code", {"query": query})
        assert [(each["path"], each["line"]) for each in answer["exact"]["places"]] == [("deep/files.py", 2)]
        assert answer["results"][0]["path"] == "deep/files.py"


def test_each_header_and_constant_of_a_question_is_looked_for(
    words_alone: None, client: Client, tmp_path: Path
) -> None:
    files = {"a.py": "headers['X-Total'] = 1\n", "b.py": "x = 1\nheaders['X-Page'] = 2\n"}
    operations = _open(client, write(tmp_path / "two", files))
    exact = operations.run("search_code", {"query": "who sets the X-Total and the X-Page headers"})["exact"]
    assert (exact["pattern"], exact["total"]) == ("X-Total|X-Page", 2)
    assert [each["path"] for each in exact["places"]] == ["a.py", "b.py"]
    answer = operations.run("search_code", {"query": "who sets the X-Total header and MAX_PAGES of it"})
    assert answer["exact"]["pattern"] == "X-Total"
    assert "no line holds MAX_PAGES" in answer["stats"]["note"]


def test_a_name_that_only_other_files_hold_is_told_with_their_number(
    words_alone: None, client: Client, tmp_path: Path
) -> None:
    operations = _open(client, write(tmp_path / "filtered", {"a/cart.py": "class BigCart: ...\n", "b/b.py": "x = 1\n"}))
    note = operations.run("search_code", {"query": "BigCart", "path_glob": "b/**"})["stats"]["note"]
    assert "no line that passes the filters holds BigCart" in note


def test_a_file_path_in_a_trace_is_no_quotation(operations: Operations) -> None:
    trace = "Traceback:\n  File \"lib/site/handler.py\", line 5, in get\n    total = sum(cart)\nKeyError: 'rate'"
    assert "no line" not in operations.run("search_code", {"query": trace})["stats"].get("note", "")


def test_what_one_of_several_projects_lacks_is_not_said_of_all(
    embedded: Operations, client: Client, tmp_path: Path
) -> None:
    other = client.open(write(tmp_path / "zoo", {"zoo.py": "def feed_wombat_in_its_burrow():\n    return 1\n"}))
    other.indexing.index_tree()
    assert other.indexing.wait_until_idle(PATIENCE_S)
    found = embedded.run("search_code", {"query": "wombat burrow", "project": "all"})
    assert found["results"][0]["path"] == "zoo.py"
    assert "holds these words" not in found["stats"].get("note", "")
    assert (
        "holds these words"
        in embedded.run("search_code", {"query": "axolotl lagoon", "project": "all"})["stats"]["note"]
    )
    # Neither that one of them has no such path, unless none has.
    found = embedded.run("search_code", {"query": "wombat burrow", "project": "all", "path_glob": "zoo.*"})
    assert "matches no file" not in found["stats"].get("note", "")
    found = embedded.run("search_code", {"query": "wombat burrow", "project": "all", "path_glob": "lair/*"})
    assert "path_glob = 'lair/*' matches no file of the index" in found["stats"]["note"]


@pytest.fixture
def interface(words_alone: None, client: Client, tmp_path: Path) -> Operations:
    """The operations on code in several languages of one family."""
    files = {
        "src/invoice.tsx": "export function renderInvoice() {\n  return <b>1</b>;\n}\n",
        "src/pay.vue": '<script lang="ts">\nexport function payInvoice() { return 1; }\n</script>\n',
        "src/ledger.h": "struct ledger { int invoice_count; };\n",
        "src/ledger.cpp": '#include "ledger.h"\nint bookInvoice() { return 1; }\n',
        "docs/invoice.md": "# Invoices\n\nHow an invoice is settled.\n",
    }
    return _open(client, write(tmp_path / "interface", files))


@pytest.mark.parametrize(
    ("language", "query", "path"),
    [
        ("typescript", "renderInvoice", "src/invoice.tsx"),
        ("ts", "payInvoice", "src/pay.vue"),
        ("c++", "invoice_count", "src/ledger.h"),
        ("c", "invoice_count", "src/ledger.h"),
    ],
)
def test_a_language_means_all_documents_that_hold_code_in_it(
    interface: Operations, language: str, query: str, path: str
) -> None:
    for match in ("auto", "exact", "regex"):
        found = interface.run("search_code", {"query": query, "language": language, "match": match})
        assert found["exact"]["total"] == 1
        assert path in {each["path"] for each in (*found["results"], *found["exact"]["places"])}


@pytest.mark.parametrize("match", ["auto", "exact", "regex"])
def test_filters_that_hide_all_places_say_so(interface: Operations, match: str) -> None:
    question = {"query": "bookInvoice", "language": "typescript", "match": match}
    found = interface.run("search_code", question)
    said = "no line that passes the filters holds bookInvoice"
    assert said in f"{found['stats'].get('note')} {found['exact'].get('left_out')}"


def test_filters_say_how_much_they_leave_where_nothing_is_close(interface: Operations) -> None:
    question = {"query": "where are the wombats fed in winter", "kind": "code"}
    assert "the filters leave 4 of 5 files" in interface.run("search_code", question)["stats"]["note"]
    assert "filters" not in interface.run("search_code", {"query": question["query"]})["stats"]["note"]

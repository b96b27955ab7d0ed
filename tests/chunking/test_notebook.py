"""A notebook is cut at its cells, and says what is written in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.chunking import Budget, embedding_text, recognise, with_open_cells
from rag_ls.model import Chunk
from tests.support import scale_examples

from .checks import MEDIUM, SMALL, chunks_of, joined, outline_of

IMAGE = "iVBORw0KGgo" * 2000
INTRO = (
    '# Sales of a year\n\nEach région reports its "revenue" monthly: we look at seasons.\nIt is a short\nstory.\n\n'
    "Another paragraph that is left out.\n"
)
LOAD = (
    "%matplotlib inline\nimport pandas as pd\nfrom pathlib import Path\n\n"
    'def load_sales(folder: Path) -> pd.DataFrame:\n    """Reads all months."""\n'
    "    frames = [pd.read_csv(path, sep='\\t') for path in sorted(folder.glob('*.csv'))]\n"
    "    return pd.concat(frames, ignore_index=True)\n"
)
PLOT = "sales.groupby('month').revenue.sum().plot(kind='bar', title='Revenue by month', color='teal', legend=False)"
CLEAN = (
    "## Cleaning\n\nDuplicated invoices are dropped, refunds are kept as negative numbers, currencies become euros.\n"
)
MODEL = (
    "class Forecast:\n    def __init__(self, horizon):\n        self.horizon = horizon\n\n"
    "    def predict(self, history):\n        return history.rolling(self.horizon).mean().iloc[-1]\n"
)


def cell(kind: str, source: str, lines: bool, *outputs: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "id": "3f2a", "metadata": {"tags": ["x"]}}
    if kind == "code":
        made |= {"execution_count": 3, "outputs": list(outputs)}
    return made | {"source": source.splitlines(keepends=True) if lines else source}


def notebook_of(*cells: dict[str, Any]) -> str:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def notebook(*, indent: int | None = 1, lines: bool = True, language: str = "python") -> str:
    """As the usual tools write it: keys sorted, so that outputs come before the source."""
    image = {
        "output_type": "display_data",
        "data": {"image/png": IMAGE, "text/plain": ["<Figure 432x288>"]},
        "metadata": {},
    }
    table = {"output_type": "stream", "name": "stdout", "text": [f"row {n} of the table\n" for n in range(60)]}
    cells = [
        cell("markdown", INTRO, lines),
        cell("code", LOAD, lines),
        cell("code", PLOT, lines, image, table),
        cell("markdown", CLEAN, lines),
        cell("code", MODEL, lines),
        cell("code", "x = 1", lines),
    ]
    content = {"cells": cells, "metadata": {"language_info": {"name": language}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=indent, sort_keys=True, ensure_ascii=False) + "\n"


def about(chunks: list[Chunk], words: str) -> list[Chunk]:
    return [chunk for chunk in chunks if words in embedding_text(chunk)]


def test_a_notebook_is_recognised_by_its_cells() -> None:
    assert recognise("a/b.ipynb", notebook()) == "notebook"
    assert recognise("b.ipynb", "\ufeff" + notebook(indent=None)) == "notebook"
    assert recognise("b.json", notebook()) == "json"
    for other in (
        "",
        "{}",
        '{"cells": []}',
        '{"x": {"cells": [], "nbformat": 4}}',
        notebook()[:-9],
        '["cells", "nbformat"]',
    ):
        assert recognise("b.ipynb", other) == "json"


@pytest.mark.parametrize("indent", [1, 4, None])
@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_cells_are_chunks_with_symbols(indent: int | None, lines: bool, end: str) -> None:
    text = notebook(indent=indent, lines=lines).replace("\n", end)
    chunks_of(text, "notebook", SMALL)
    chunks = chunks_of(text, "notebook", MEDIUM)
    whole = {chunk.symbol: chunk for chunk in chunks if chunk.is_declaration}
    whole.pop("cell 6", None)
    assert list(whole) == ["Sales of a year", "load_sales", "cell 3", "Sales of a year > Cleaning", "Forecast"]
    assert [whole[symbol].node_type for symbol in whole] == [
        "markdown_cell",
        "code_cell",
        "code_cell",
        "markdown_cell",
        "code_cell",
    ]
    intro = whole["Sales of a year"]
    assert intro.doc == 'Each région reports its "revenue" monthly: we look at seasons. It is a short story.'
    assert (intro.signature, intro.language) == ("# Sales of a year", "notebook")
    assert whole["cell 3"].signature == PLOT


@pytest.mark.parametrize("indent", [1, None])
def test_outputs_are_apart_from_the_source(indent: int | None) -> None:
    chunks = chunks_of(notebook(indent=indent), "notebook", MEDIUM)
    outputs = [chunk for chunk in chunks if chunk.node_type == "outputs"]
    assert {(chunk.symbol, chunk.is_declaration, chunk.overlap) for chunk in outputs} == {("", False, "")}
    assert "".join(chunk.text for chunk in outputs).count("iVBORw0KGgo") == 2000
    assert not [chunk for chunk in chunks if chunk.node_type != "outputs" and "iVBOR" in chunk.text]
    assert [chunk.symbol for chunk in about(chunks, "title='Revenue by month'")] == ["cell 3"]
    assert about(chunks, "row 30 of the table")[0].node_type == "outputs"
    assert len({embedding_text(chunk) for chunk in outputs}) < len(outputs) / 2, "windows of an image say the same"


def test_outputs_after_the_source_are_apart_too() -> None:
    content = json.loads(notebook())
    for each in content["cells"]:
        each["source"], each["outputs"] = each.pop("source"), each.pop("outputs", [])
    chunks = chunks_of(json.dumps(content), "notebook", MEDIUM)
    assert [chunk.symbol for chunk in about(chunks, "title='Revenue by month'")] == ["cell 3"]
    assert not [chunk for chunk in chunks if chunk.node_type != "outputs" and "iVBOR" in chunk.text]


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("lines", [True, False])
def test_what_is_embedded_is_what_is_written(indent: int | None, lines: bool) -> None:
    text = notebook(indent=indent, lines=lines)
    chunks = chunks_of(text, "notebook", Budget())
    load = next(chunk for chunk in chunks if chunk.symbol == "load_sales")
    assert "import pandas as pd\nfrom pathlib import Path" in embedding_text(load)
    assert embedding_text(next(chunk for chunk in chunks if chunk.is_declaration)).startswith(
        "# Sales of a year\n\nEach région"
    )
    assert not embedding_text(load).endswith(("]", "}", ","))
    for said in (embedding_text(chunk) for chunk in chunks if chunk.is_declaration):
        assert not any(noise in said for noise in ('"source"', "cell_type", "execution_count", '\\"', "\\n"))


def test_the_outline_has_headings_declarations_and_imports_at_lines_of_the_json() -> None:
    text = notebook()
    lines = text.split("\n")
    outline = outline_of(text, "notebook")
    found = [(symbol.name, symbol.kind) for symbol in outline.symbols]
    assert found == [
        ("Sales of a year", "section"),
        ("load_sales", "function"),
        ("Sales of a year > Cleaning", "section"),
        ("Forecast", "type"),
        ("Forecast.__init__", "function"),
        ("Forecast.predict", "function"),
        ("x", "value"),
    ]
    for symbol in outline.symbols:
        assert symbol.name.rpartition(" > ")[2].rpartition(".")[2] in lines[symbol.start_line - 1]
    assert "Reads all months." in outline.symbols[1].doc
    assert "return pd.concat" in lines[outline.symbols[1].end_line - 1]
    assert [found.module for found in outline.imports] == ["pandas", "pathlib"]
    assert all("import" in lines[found.line - 1] for found in outline.imports)


def test_code_is_read_in_the_language_of_the_kernel() -> None:
    text = notebook(language="julia").replace("import pandas as pd", "function season(x) x end")
    assert "season" in [symbol.name for symbol in outline_of(text, "notebook").symbols]


def test_shell_lines_and_cells_in_other_languages_declare_nothing() -> None:
    cells = [
        cell("code", "!pip install (\ndef f(): pass", True),
        cell("code", "%%bash\nfunction g() { x; }", True),
        cell("code", "%%time\ndef h(): pass", True),
    ]
    text = json.dumps({"cells": cells, "nbformat": 4})
    assert [symbol.name for symbol in outline_of(text, "notebook").symbols] == ["f", "h"]


def test_small_cells_share_a_chunk_under_the_name_that_one_has() -> None:
    cells = [cell("markdown", "## Setup", True), cell("code", "a = 1", True), cell("code", "b = 2", True)]
    chunks = chunks_of(json.dumps({"cells": cells, "nbformat": 4}), "notebook", Budget())
    assert chunks[0].symbol == "Setup"
    assert "a = 1" in chunks[0].text


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(
    ("opened", "becomes"),
    [
        (["a = 1", "é = 2\r\n"], None),
        (["# T\n", "a = 1", "é = 2\n"], None),
        (["# T", "a = 3\nb = 4", "é = 2"], ["# T", "a = 3\nb = 4\n", "é = 2"]),
        (["# T", "a = 1", "é = 2", "new"], ["# T", "a = 1", "é = 2", "new\n"]),
        (["# T", "new", "é = 2", "other"], ["# T", "new\n", "é = 2", "other\n"]),
        (["new"], ["new\n", "", ""]),
    ],
)
def test_cells_that_an_editor_has_changed_take_the_places_of_the_saved_ones(
    opened: list[str], becomes: list[str] | None, lines: bool
) -> None:
    sources = ["# T", "a = 1", "é = 2"]
    text = notebook_of(*(cell("markdown" if each[0] == "#" else "code", each, lines) for each in sources))
    held = with_open_cells(text, opened)
    read = ["".join(each["source"]) for each in json.loads(held)["cells"]]
    assert read == (sources if becomes is None else becomes)
    assert (held == text) is (becomes is None)


def test_cells_of_an_empty_notebook_and_equal_ones_are_told_apart() -> None:
    empty = notebook_of()
    assert [each["source"] for each in json.loads(with_open_cells(empty, ["x", "x"]))["cells"]] == [["x\n"], ["x\n"]]
    twice = notebook_of(cell("code", "x", True), cell("code", "x", True))
    assert with_open_cells(twice, ["x", "x"]) == twice
    assert [each["source"] for each in json.loads(with_open_cells(twice, ["x", "y"]))["cells"]] == [["x"], ["y\n"]]
    assert with_open_cells("{}", ["x"]) == "{}"


def test_what_is_no_notebook_is_cut_as_json() -> None:
    for text in ('{"cells": [1, 2', '{"cells": 1, "nbformat": 4}', '{"cells": [3], "nbformat": 4}', "[" * 3_000):
        assert {chunk.language for chunk in chunks_of(text, "notebook")} == {"json"}
    assert [chunk.language for chunk in chunks_of('{"cells": [], "nbformat": 4}', "notebook")] == ["notebook"]


SOURCES = st.one_of(
    st.text(max_size=60),
    st.lists(st.text(max_size=20), max_size=5),
    st.sampled_from([LOAD, INTRO, "# a\r\nb\r", '\\"', "\ud800 # x", "def f(:\n", "```\n# no\n```\n# yes\n"]),
)
CELLS = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["markdown", "code", "raw", "heading", 3])},
    optional={
        "outputs": st.lists(st.text(max_size=300), max_size=3),
        "source": SOURCES,
        "attachments": st.dictionaries(st.text(max_size=3), st.text(max_size=300), max_size=2),
    },
)


@settings(max_examples=scale_examples(150), deadline=None)
@given(
    st.lists(CELLS, max_size=5),
    st.sampled_from([None, 0, 1]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([SMALL, MEDIUM]),
)
def test_any_notebook_is_partitioned_within_the_budget(cells, indent, ascii_only, sort, budget) -> None:
    content = {"metadata": {"x": "é" * 30}, "cells": cells, "nbformat": 4}
    text = json.dumps(content, indent=indent, ensure_ascii=ascii_only, sort_keys=sort)
    chunks = chunks_of(text, "notebook", budget)
    assert joined(chunks) == text
    for chunk in chunks:
        embedding_text(chunk).encode("utf-8", "surrogatepass")

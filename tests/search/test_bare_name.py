"""A query that is one name is answered with what the name declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.code.exact_places import PlacesRequest, find_places
from rag_ls.engine.requests import SearchRequest
from rag_ls.indexing import Depth
from rag_ls.model import Chunk
from rag_ls.search.text_patterns import TextQuery
from tests.support import write

_LONG_DOC = "\n".join(
    f"    The Ledger keeps the Ledger entries of Ledger number {number} for every Ledger.\n" for number in range(200)
)
_FILES = {
    "src/ledger.py": f'class Ledger:\n    """Books.\n\n{_LONG_DOC}\n    """\n\n    def close(self):\n        return 1\n',
    "src/namesake.py": "def ledger():\n    return 'a function of nearly that name'\n",
    "src/uses.py": "".join(
        f"def ledger_{number}(ledger):\n    '''Ledger of the Ledger.'''\n    return Ledger(ledger)\n\n\n"
        for number in range(30)
    ),
    "docs/ledger.md": "# Ledger\n\nThe Ledger is the Ledger.\n",
    "tests/test_ledger.py": "class Ledger:\n    ledger = 'a namesake in a test'\n",
}
_TASKS = {
    **{f"targets/role{number}/tasks/main.yml": f"- set_fact:\n    number: {number}\n" for number in range(8)},
    "modules/set_fact.py": "# The module set_fact.\nDOCUMENTATION = 'set_fact sets variables'\n",
    "plugins/action/set_fact.py": "class ActionModule:\n    def run(self):\n        return self.facts\n",
}


def _first(client: Client, root: Path, query: str, k: int = 5) -> list[Chunk]:
    view = client.open(write(root, _FILES))
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(30, embeddings=False)
    hits = view.search(SearchRequest(query, k=k)).hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.item.chunk for hit in hits]


def test_its_declarations_come_first_those_written_so_before_those_that_differ_in_case(
    client: Client, tmp_path: Path
) -> None:
    found = _first(client, tmp_path / "books", "Ledger")
    assert {chunk.path for chunk in found[:2]} == {"src/ledger.py", "tests/test_ledger.py"}
    assert found[0].path == "src/ledger.py"
    assert found[2].path == "src/namesake.py"


def test_a_long_declaration_is_given_from_its_first_line(client: Client, tmp_path: Path) -> None:
    [ledger] = _first(client, tmp_path / "books", "Ledger", k=1)
    assert ledger.text.startswith("class Ledger:\n")
    assert ledger.start_line == 1
    assert len(ledger.text) <= 4000


def test_a_qualified_name_means_the_member_of_that_class(client: Client, tmp_path: Path) -> None:
    assert _first(client, tmp_path / "books", "Ledger.close", k=1)[0].symbol == "Ledger.close"


@pytest.mark.parametrize("query", ["where is f defined", "Where is the function `f` declared?"])
def test_a_question_where_a_name_of_one_letter_is_defined_is_answered(
    client: Client, tmp_path: Path, query: str
) -> None:
    root = write(tmp_path / "books", {"src/short.py": "def f(x):\n    return x + 1\n"})
    assert _first(client, root, query)[0].path == "src/short.py"


def test_a_question_that_holds_the_name_is_ranked_as_before(client: Client, tmp_path: Path) -> None:
    found = _first(client, tmp_path / "books", "the namesake of a Ledger")
    assert found[0].path != "src/ledger.py"


def test_a_key_that_many_files_of_data_have_is_used_there_and_the_files_that_are_named_so_come_first(
    client: Client, tmp_path: Path
) -> None:
    """Tasks of Ansible name a module, which is a file of that name."""
    view = client.open(write(tmp_path / "playbooks", _TASKS))
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(30, embeddings=False)
    hits = view.search(SearchRequest("set_fact", k=5)).hits
    assert {hit.item.chunk.path for hit in hits[:2]} == {"modules/set_fact.py", "plugins/action/set_fact.py"}
    request = PlacesRequest((TextQuery("set_fact"),), count=2, counted=100, longest_s=10.0)
    assert {place.path for place in find_places(view, request).places} == {"modules/set_fact.py"}

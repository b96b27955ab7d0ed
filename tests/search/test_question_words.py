"""What the words of a question count for."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.requests import SearchRequest
from rag_ls.indexing import Depth
from tests.support import write

_MIGRATION = "db/migrate/20230224175634_add_downloads_to_gems.rb"
_SHOP = {
    _MIGRATION: "class AddDownloadsToGems < Migration\n  def change\n    add_column :gems, :downloads, :integer\n  end\nend\n",
    "app/models/gem.rb": "class Gem\n  # The downloads of all versions.\n  def count_downloads\n    versions.sum(:downloads)\n  end\nend\n",
}


def _first_path(client: Client, root: Path, files: dict[str, str], query: str) -> str:
    return _find_paths(client, root, files, query)[0]


def _find_paths(client: Client, root: Path, files: dict[str, str], query: str) -> list[str]:
    view = client.open(write(root, files))
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(30, embeddings=False)
    return [hit.item.chunk.path for hit in view.search(SearchRequest(query, k=5)).hits]


@pytest.mark.parametrize(
    ("query", "path"),
    [("downloads of gems", "app/models/gem.rb"), ("migration for downloads of gems", _MIGRATION)],
)
def test_a_step_of_a_migration_comes_after_the_code_unless_it_is_asked_for(
    client: Client, tmp_path: Path, query: str, path: str
) -> None:
    assert _first_path(client, tmp_path / "shop", _SHOP, query) == path


_NAMES = {
    "src/answers.py": "def write(person):\n    # Those, too many.\n    return person.letters\n",
    "src/checks.py": "def check(word):\n    # Similar, popular names.\n    return word.letters\n",
    "src/others.py": "def find(name):\n    return name\n\n\ndef send(letter):\n    return letter\n",
}


def test_words_that_fill_a_sentence_count_little(client: Client, tmp_path: Path) -> None:
    query = "names too similar to those of many popular"
    assert _first_path(client, tmp_path / "names", _NAMES, query) == "src/checks.py"


_DOERS = {
    "src/keeping.py": "def process(gem):\n    # Keeps a gem.\n    return gem.save()\n",
    "src/pusher.py": "def process(gem):\n    # Takes a gem.\n    return gem.save()\n",
    "src/others.py": "def find(name):\n    return name\n",
}


def test_a_file_named_for_who_does_something_holds_the_verb(client: Client, tmp_path: Path) -> None:
    assert _first_path(client, tmp_path / "doers", _DOERS, "a gem is pushed") == "src/pusher.py"


_TESTED = {
    "src/limits.py": "def apply(call):\n    return call.wait(5)\n",
    "src/calls.py": "def answer(call):\n    # Sign-ins are calls.\n    return call.run()\n",
    "src/others.py": "def find(name):\n    return name\n",
    "tests/test_limits.py": "def test_sign_ins_and_calls_are_throttled():\n    assert apply(call) == 5\n",
}


def test_what_a_test_says_counts_for_the_file_that_it_is_named_after(client: Client, tmp_path: Path) -> None:
    paths = _find_paths(client, tmp_path / "tested", _TESTED, "throttling of sign-ins and calls")
    assert [path for path in paths if path.startswith("src/")] == ["src/limits.py", "src/calls.py"]


@pytest.mark.parametrize("path", ["tests/limits.md", "tests/limits.json"])
def test_what_texts_and_data_of_tests_say_does_not_count_for_a_file(client: Client, tmp_path: Path, path: str) -> None:
    files = {name: text for name, text in _TESTED.items() if name.startswith("src/")}
    files[path] = '{"title": "sign-ins and calls are throttled"}\n'
    paths = _find_paths(client, tmp_path / "texts", files, "throttling of sign-ins and calls")
    assert "src/limits.py" not in paths[: paths.index("src/calls.py")]

"""Data files that answer by the text of the same key are one hit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.requests import SearchRequest
from rag_ls.operations import Operations
from rag_ls.search.ranking import find_answering_keys, fold_alike
from tests.support import PATIENCE_S, write

_ASKED = frozenset({"import", "page"})
_WORDS = {"de": "Seiten", "fr": "Pages", "nl": "Bladen", "pl": "Strony", "ja": "頁", "it": "Pagine"}


@pytest.mark.parametrize(
    ("language", "text", "key"),
    [
        ("json", '{\n  "Save": "Sichern",\n  "Import pages": "Seiten holen"\n}', "Import pages"),
        ("yaml", "de:\n  import_pages: Seiten holen\n  save: Sichern\n", "import_pages"),
        ("properties", "import.pages=Seiten holen\nsave=Sichern\n", "import.pages"),
        ("xml", '<string name="save">S</string>\n<string name="importPages">Seiten</string>\n', "importPages"),
        ("gettext", 'msgid "Import pages"\nmsgstr "Seiten holen"\n', "Import pages"),
        ("toml", 'import-pages = "Seiten holen"\n', "import-pages"),
    ],
)
def test_the_key_that_answers_is_known(language: str, text: str, key: str) -> None:
    assert find_answering_keys(language, text, _ASKED) == {(language, key)}


@pytest.mark.parametrize("text", ["image: import of pages\n", "a list of pages to import\n", '"other": "x"\n', ""])
def test_a_value_that_answers_is_no_key(text: str) -> None:
    assert not find_answering_keys("yaml", text, _ASKED)


def test_files_of_one_name_or_one_folder_are_alike() -> None:
    key, other = frozenset({("json", "Import pages")}), frozenset({("json", "Save")})
    keys = {
        "de/app.json": key,
        "fr/app.json": key,
        "de/b.json": key,
        "x/c.json": key,
        "fr/d.json": other,
        "e.json": frozenset(),
    }
    assert fold_alike({**keys}) == {
        "de/app.json": ["fr/app.json", "de/b.json"], "x/c.json": [], "fr/d.json": [], "e.json": [],
    }  # fmt: skip


def test_locales_are_one_hit_that_names_the_others(client: Client, shop: Path) -> None:
    texts = {f"filler {number}": f"text {number}" for number in range(20)}
    locales = {
        f"locales/{code}/app.json": json.dumps({**texts, "Import pages": word}, indent=1, ensure_ascii=False)
        for code, word in _WORDS.items()
    }
    write(shop, {**locales, "src/importer.py": "def import_pages(archive):\n    return [page for page in archive]\n"})
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    answer = Operations(client).run("search_code", {"query": "where do we import pages"})
    (hit,) = [hit for hit in answer["results"] if hit["path"].startswith("locales/")]
    assert hit["note"].startswith("5 other files of this key: locales/")
    # Who asks without files sees each.
    places = view.search(SearchRequest("where do we import pages", k=20)).hits
    assert len({hit.item.chunk.path for hit in places} & set(locales)) == len(locales)

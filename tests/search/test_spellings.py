"""An abbreviation and the word that it stands for are one word to a question about code."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.requests import SearchRequest
from rag_ls.indexing import Depth
from rag_ls.model import StoredChunk
from tests.support import write

_FILES = {
    "routes/auth.js": "router.post('/login', (req, res) => res.json({ token: sign(req.body) }));\n",
    "routes/orders.js": "router.get('/', (req, res) => res.json(orders.list(req.query)));\n",
    "lib/config.py": "def read(path):\n    return toml.load(path)\n",
    "lib/repo.py": "def clone(url):\n    return run('git', url)\n",
    "lib/environment.py": "def variables():\n    return dict(os.environ)\n",
    "lib/totals.js": "function total(items) { return items.reduce(add, 0); }\n",
}


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("authentication logic", "routes/auth.js"), ("where is authn done", "routes/auth.js"),
        ("how is the configuration loaded", "lib/config.py"), ("cfg loading", "lib/config.py"),
        ("repository handling", "lib/repo.py"), ("env values", "lib/environment.py"),
    ],
)  # fmt: skip
def test_a_question_finds_the_other_spelling_of_its_words(
    client: Client, tmp_path: Path, question: str, path: str
) -> None:
    assert _find(client, write(tmp_path, _FILES), question)[0] == path


def test_a_spelling_that_the_project_uses_counts_as_it_is(client: Client, tmp_path: Path) -> None:
    files = {f"lib/configuration_{at}.py": f"configuration = read_configuration({at})\n" for at in range(5)}
    assert _find(client, write(tmp_path, {**_FILES, **files}), "configuration")[0].startswith("lib/configuration_")


def test_a_document_that_has_the_word_does_not_hide_the_files_that_abbreviate_it(
    client: Client, tmp_path: Path
) -> None:
    auth = {f"auth/{name}.js": f"export function {name}Auth(auth) {{ return auth.{name}; }}\n" for name in ("a", "b")}
    found = _find(
        client, write(tmp_path, {**_FILES, **auth, "README.md": "# Shop\n\nIt has authentication.\n"}), "authentication"
    )
    assert {"routes/auth.js", "auth/a.js", "auth/b.js"} <= set(found)


def _find(client: Client, root: Path, question: str) -> list[str]:
    view = client.open(root, on_purpose=True)
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(30, embeddings=False)
    hits = view.search(SearchRequest(question, 10, by_file=True)).hits
    return [hit.item.chunk.path for hit in hits if isinstance(hit.item, StoredChunk)]

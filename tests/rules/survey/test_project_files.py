"""The files that set-up reads: itself, without an index, and of very many only a part, which it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rag_ls.engine.client import Client
from rag_ls.engine.code.project_roles import find_product
from rag_ls.indexing import Patterns
from rag_ls.languages import detect_language
from rag_ls.operations import Operations
from rag_ls.rules.survey.documents import architecture_yaml
from rag_ls.rules.survey.project_files import OutlinedFile, ProjectFiles
from rag_ls.rules.survey.survey import SurveyedTree, survey
from rag_ls.util.paths import text_in
from tests.support import write


def _outline(read: Callable[[Sequence[str]], list[OutlinedFile]], paths: Sequence[str]) -> list[OutlinedFile]:
    return read(paths)


def _files(root: Path, most: int = 5_000) -> ProjectFiles:
    return ProjectFiles(root, Patterns(), _outline, most)


def _tree(root: Path, files: ProjectFiles) -> SurveyedTree:
    return SurveyedTree(
        files.paths, lambda path: text_in(root, path), lambda path: detect_language(path) or "", (), unread=files.unread
    )


def test_set_up_waits_for_no_index(client: Client, tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", "app.js": "const app = require('express')();\napp.get('/x', auth, show);\n"})
    view = client.open(tmp_path, on_purpose=True)
    operations, request = Operations(client), {"project_root": str(view.project.root)}
    answer = operations.run("rag_setup", {**request, "dry_run": True})
    assert answer["patternsDetected"]["middleware"] == ["auth"]
    assert not view.store.documents()
    operations.run("rag_setup", request)
    asked = operations.run("rag_check_constraints", {"change_description": "change what stands before a route"})
    assert asked["status"] == "success"


def test_of_very_many_files_a_part_is_read_from_all_folders_and_that_is_said(tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/m{number}.py": "import os\n" for folder in ("a", "b") for number in range(10)})
    files = _files(tmp_path, 8)
    assert len(files.unread) == 12
    read = {path for path in files.paths if path not in files.unread}
    assert {path[0] for path in read} == {"a", "b"}
    found = survey(_tree(tmp_path, files))
    assert found.describe_files() == "a sample of 8 of 20 files"
    assert "files_not_read: 12" in architecture_yaml(found, "x")
    whole = survey(_tree(tmp_path, _files(tmp_path)))
    assert whole.describe_files() == "20 files"
    assert "files_not_read" not in architecture_yaml(whole, "x")


def test_the_outlines_of_files_tell_what_the_index_would(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "shop/__init__.py": "",
            "shop/cart.py": "from shop.testing import Recorder\n\ndef Add():\n    return Recorder()\n",
            "shop/testing/__init__.py": "class Recorder:\n    pass\n",
            "tests/test_cart.py": "from shop.cart import Add\n",
        },
    )
    files = _files(tmp_path)
    graph = files.outlines.graph(files.resolver)
    assert [edge.target for edge in graph.edges("tests/test_cart.py")] == ["shop/cart.py"]
    assert files.outlines.declares("Recorder")
    assert not files.outlines.declares("recorder")
    assert "shop/testing/__init__.py" in find_product(files.documents(), files.outlines, files.resolver)


def test_a_framework_s_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    good = "const app = require('express')();\napp.get('/x', show);\n"
    write(tmp_path, {"a.js": good, "b.js": good + "app.post('/y', (((( function {{{{ ] ] ]\n" * 40})
    text = architecture_yaml(survey(_tree(tmp_path, _files(tmp_path))), "x")
    assert 'files_that_do_not_parse: ["b.js"]' in text

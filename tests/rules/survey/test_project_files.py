"""The files that set-up reads: itself, without an index, and of very many only a part, which it says."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import VersionConflict
from rag_ls.indexing import Patterns, read_source
from rag_ls.languages import detect_language
from rag_ls.operations import Operations
from rag_ls.rules.checks.checked_code import OutlinedFile
from rag_ls.rules.survey.documents import architecture_yaml
from rag_ls.rules.survey.project_files import ListedFiles, ProjectFiles
from rag_ls.rules.survey.survey import SurveyedTree, survey
from rag_ls.util.paths import text_in
from tests.support import write


def _outline(
    read: Callable[[Sequence[str]], list[OutlinedFile | str]], paths: Sequence[str]
) -> list[OutlinedFile | str]:
    return read(paths)


def _files(root: Path, most: int = 5_000) -> ProjectFiles:
    return ProjectFiles(
        root, ListedFiles.of(root, Patterns()).paths, partial(read_source, root, limit=100_000), _outline, most
    )


def _tree(root: Path, files: ProjectFiles) -> SurveyedTree:
    return SurveyedTree(
        files.paths, lambda path: text_in(root, path), lambda path: detect_language(path) or "", unread=files.unread
    )


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_set_up_has_shown_it_writes_without_reading_the_files_again(client: Client, tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", "app.js": "const app = require('express')();\napp.get('/x', auth, show);\n"})
    view = client.open(tmp_path, on_purpose=True)
    operations, reports = Operations(client), list[str]()
    request = {"project_root": str(view.project.root), "dry_run": True}

    def set_up() -> tuple[int, object]:
        reports.clear()
        answer = operations.run("rag_setup", request, lambda name, progress: reports.append(name))
        return len(reports), answer["patternsDetected"]["middleware"]

    assert set_up() == (1, ["auth"])
    assert set_up() == (0, ["auth"])
    write(tmp_path, {"app.js": "const app = require('express')();\napp.get('/x', guarded, show);\n"})
    assert set_up() == (1, ["guarded"])


@pytest.mark.slow
def test_what_was_not_shown_is_not_written(client: Client, tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", "app.js": "const app = require('express')();\napp.get('/x', auth, show);\n"})
    view = client.open(tmp_path, on_purpose=True)
    operations = Operations(client)
    request = {"project_root": str(view.project.root)}
    shown = operations.run("rag_setup", {**request, "dry_run": True})
    write(tmp_path, {"app.js": "const app = require('express')();\napp.get('/y', guarded, show);\n"})
    with pytest.raises(VersionConflict, match="nothing was written: files have changed"):
        operations.run("rag_setup", {**request, "agreed": shown["proposal"]})
    assert not (tmp_path / "ARCHITECTURE.yml").exists()
    shown = operations.run("rag_setup", {**request, "dry_run": True})
    assert "ARCHITECTURE.yml" in operations.run("rag_setup", {**request, "agreed": shown["proposal"]})["filesGenerated"]
    (proposed,) = (each["text"] for each in shown["filesProposed"] if each["path"] == "ARCHITECTURE.yml")
    assert (tmp_path / "ARCHITECTURE.yml").read_text() == proposed


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


def test_what_the_index_refuses_is_not_read_and_others_code_takes_no_place_in_a_sample(tmp_path: Path) -> None:
    write(tmp_path, {"src/a.go": "package a\n", "src/b.go": "package a\n"})
    write(tmp_path, {"src/deep.go": "// Code generated by deepcopy-gen. DO NOT EDIT.\npackage a\n"})
    write(tmp_path, {f"vendor/v{number}.go": "package v\n" for number in range(20)})
    os.symlink("src/a.go", tmp_path / "link.go")
    assert not {"src/deep.go", "link.go"} & set(_files(tmp_path).paths)
    sample = _files(tmp_path, 5)
    assert {"src/a.go", "src/b.go"} <= set(sample.paths) - sample.unread


def test_a_framework_s_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    good = "const app = require('express')();\napp.get('/x', show);\n"
    write(tmp_path, {"a.js": good, "b.js": good + "app.post('/y', (((( function {{{{ ] ] ]\n" * 40})
    text = architecture_yaml(survey(_tree(tmp_path, _files(tmp_path))), "x")
    assert 'files_that_do_not_parse: ["b.js"]' in text

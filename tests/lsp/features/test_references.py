"""References and implementations in an editor whose settings want them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_ls.engine.client import local_client
from rag_ls.lsp.capabilities import initialize_result
from tests.lsp.in_process import InProcessEditor, in_process_editor
from tests.support import until, write

_FILES = {
    "store.py": "class Store:\n    def save(self):\n        return 'ü'\n\n\nclass Disk(Store):\n    def save(self):\n        return 1\n",
    "run.py": "from store import Store\n\n\ndef run(store: Store):\n    local = 1\n    '🙂'; store.save()\n    return local\n",
    "tape.py": "class Tape(Store):\n    pass\n",
    "README.md": "# Stores\n\n`save` keeps all.\n",
}
_WANTED = {"references": {"languages": ["python"]}}
_TOLD_LATER = {"dynamicRegistration": True}
_REGISTERED = {"textDocument": {"references": _TOLD_LATER, "implementation": _TOLD_LATER}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a class, one that derives from it, and a use."""
    return write(tmp_path / "stores", _FILES)


@pytest.fixture
def editor(folder: Path) -> Iterator[InProcessEditor]:
    """An editor in that project, indexed, that wants references in Python."""
    with in_process_editor(local_client("lsp", editor=_WANTED), folder) as editor:
        assert until(lambda: editor.command("status")["complete"])
        yield editor


def _find(
    editor: InProcessEditor, method: str, file: Path, line: int, character: int, **context: Any
) -> list[str] | None:
    """The places in an answer, as `FILE:LINE:CHARACTER-CHARACTER` counted from 0."""
    place = {"textDocument": {"uri": file.as_uri()}, "position": {"line": line, "character": character}}
    found = editor.ask(f"textDocument/{method}", {**place, **({"context": context} if context else {})})
    if found is None:
        return None
    ranges = [(each["uri"].rpartition("/")[2], each["range"]["start"], each["range"]["end"]) for each in found]
    return [f"{name}:{start['line']}:{start['character']}-{end['character']}" for name, start, end in ranges]


def test_uses_are_found_with_and_without_declarations(editor: InProcessEditor, folder: Path) -> None:
    file = folder / "run.py"
    editor.open(file)
    uses = ["run.py:5:16-20"]
    assert _find(editor, "references", file, 5, 17, includeDeclaration=False) == uses
    declared = ["store.py:1:8-12", "store.py:6:8-12"]
    assert _find(editor, "references", file, 5, 17, includeDeclaration=True) == uses + declared


def test_implementations_are_found(editor: InProcessEditor, folder: Path) -> None:
    file = folder / "store.py"
    editor.open(file)
    assert _find(editor, "implementation", file, 1, 9) == ["store.py:6:8-12"]
    # What may derive from another `Store` is left out.
    assert _find(editor, "implementation", file, 0, 7) == ["store.py:5:6-10"]


def test_unsaved_text_counts(editor: InProcessEditor, folder: Path) -> None:
    file = folder / "run.py"
    editor.open(file)
    editor.type(file, "import os\n\n")
    assert until(lambda: _find(editor, "references", file, 7, 17, includeDeclaration=False) == ["run.py:7:16-20"])


def test_a_variable_of_a_function_is_left_to_others(editor: InProcessEditor, folder: Path) -> None:
    file = folder / "run.py"
    editor.open(file)
    assert _find(editor, "references", file, 6, 13, includeDeclaration=True) is None


def test_a_language_that_the_settings_do_not_name_is_left_to_others(editor: InProcessEditor, folder: Path) -> None:
    file = write(folder, {"page.js": "function show() {}\nshow()\n"}) / "page.js"
    editor.open(file)
    assert until(lambda: editor.command("listSymbols", path="page.js")["symbols"])
    assert _find(editor, "references", file, 1, 1, includeDeclaration=True) is None


@pytest.mark.slow
def test_an_editor_is_told_later_when_the_settings_want_references(folder: Path) -> None:
    told: list[tuple[str, list[str]]] = []

    def note(kind: str, list_name: str) -> Any:
        return lambda params: told.append((kind, sorted(each["method"] for each in params[list_name])))

    replies = {
        "client/registerCapability": note("register", "registrations"),
        "client/unregisterCapability": note("unregister", "unregisterations"),
    }
    both = ["textDocument/implementation", "textDocument/references"]
    with in_process_editor(local_client("lsp"), folder, capabilities=_REGISTERED, replies=replies) as editor:
        assert until(lambda: editor.command("status")["complete"])
        write(folder, {"rag-ls.toml": '[references]\nlanguages = ["all"]\n'})
        # Nothing is taken back where nothing was offered; an engine before this one may have offered the same.
        assert until(lambda: told == [("unregister", both), ("register", both)])
        write(folder, {"rag-ls.toml": "[references]\nlanguages = []\n"})
        assert until(lambda: told == [("unregister", both), ("register", both), ("unregister", both)])


def test_what_an_editor_cannot_be_told_later_is_offered_at_the_start() -> None:
    references = {"textDocument": {"references": _TOLD_LATER}}
    offered = initialize_result({"capabilities": references, "initializationOptions": _WANTED})["capabilities"]
    assert offered["implementationProvider"] is True
    assert "referencesProvider" not in offered


def test_the_language_is_told_by_the_first_line_and_by_the_settings_too(editor: InProcessEditor, folder: Path) -> None:
    file = write(folder, {"bin/setup": "#!/usr/bin/env python3\ndef run():\n    return 1\n\n\nrun()\n"}) / "bin/setup"
    editor.open(file, "plaintext")
    assert until(lambda: editor.command("listSymbols", path="bin/setup")["symbols"])
    assert _find(editor, "references", file, 5, 1, includeDeclaration=False) == ["setup:5:0-3"]
    code = "def step():\n    return 1\n\n\nstep()\n"
    file = write(folder, {"rag-ls.toml": '[languages]\nmap = ["*.job = python"]\n', "a.job": code}) / "a.job"
    editor.open(file, "plaintext")
    assert until(lambda: _find(editor, "references", file, 4, 1, includeDeclaration=False) == ["a.job:4:0-4"])

"""The findings in files that are not open: told once, and again only where they are others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_ls.engine.client import local_client
from tests.lsp.in_process import InProcessEditor, in_process_editor
from tests.support import until, write

_RULE = "{{id: no-{0}, language: python, forbid: '{0}($$$)', message: No {0}}}"
RULES = f"rules:\n  - {_RULE.format('print')}\n"


@pytest.fixture
def pulling(shop: Path) -> Iterator[InProcessEditor]:
    write(shop, {"ARCHITECTURE.yml": RULES, "src/a.py": "print(1)\n", "src/b.py": "print(2)\n"})
    capabilities = {"textDocument": {"diagnostic": {}}}
    with in_process_editor(local_client("lsp"), shop, capabilities=capabilities) as editor:
        assert until(lambda: editor.command("status")["complete"])
        yield editor


def _pull(editor: InProcessEditor, known: dict[str, str]) -> dict[str, tuple[str, int]]:
    """The kind and the number of findings of each file that is told of; `known` has the versions that the editor keeps."""
    previous = [{"uri": uri, "value": version} for uri, version in known.items()]
    told: dict[str, tuple[str, int]] = {}
    for report in editor.ask("workspace/diagnostic", {"previousResultIds": previous})["items"]:
        told[report["uri"].rsplit("/", 1)[1]] = (report["kind"], len(report.get("items", ())))
        known.pop(report["uri"], None)
        if version := report.get("resultId"):
            known[report["uri"]] = version
    return told


def _after(editor: InProcessEditor, known: dict[str, str], *changed: Path) -> dict[str, tuple[str, int]]:
    """The answer to a request that waits until some files were changed on disk."""
    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(_pull(editor, known)), daemon=True)
    waiting.start()
    changes = [{"uri": file.as_uri(), "type": 2 if file.exists() else 3} for file in changed]
    editor.tell("workspace/didChangeWatchedFiles", changes=changes)
    waiting.join(60)
    assert found, "the change is not told"
    return found[0]  # type: ignore[no-any-return]


@pytest.mark.slow
def test_only_files_with_findings_are_told_of_and_then_only_changes(pulling: InProcessEditor, shop: Path) -> None:
    known: dict[str, str] = {}
    assert _pull(pulling, known) == {"a.py": ("full", 1), "b.py": ("full", 1)}
    write(shop, {"src/a.py": "print(1)\nprint(2)\n"})
    assert _after(pulling, known, shop / "src/a.py") == {"a.py": ("full", 2), "b.py": ("unchanged", 0)}
    write(shop, {"src/b.py": "mended = 1\n"})
    (shop / "src/a.py").unlink()
    told = _after(pulling, known, shop / "src/a.py", shop / "src/b.py")
    assert told.items() >= {"b.py": ("full", 0)}.items()
    while known:
        told = _after(pulling, known)
    assert told["a.py"] == ("full", 0)


def test_another_rule_checks_all_files_anew(pulling: InProcessEditor, shop: Path) -> None:
    known: dict[str, str] = {}
    _pull(pulling, known)
    write(shop, {"src/c.py": "eval('1')\n", "ARCHITECTURE.yml": RULES + f"  - {_RULE.format('eval')}\n"})
    told = _after(pulling, known, shop / "ARCHITECTURE.yml", shop / "src/c.py")
    while "c.py" not in told:
        told = _after(pulling, known)
    assert told["c.py"] == ("full", 1)


def test_a_request_that_waits_ends_with_the_session(pulling: InProcessEditor) -> None:
    known: dict[str, str] = {}
    _pull(pulling, known)

    def wait() -> None:
        with pytest.raises(AssertionError, match="canceled"):
            _pull(pulling, known)

    threading.Thread(target=wait, daemon=True).start()


def test_a_closed_file_keeps_its_findings(pulling: InProcessEditor, shop: Path) -> None:
    known: dict[str, str] = {}
    file = shop / "src/a.py"
    pulling.open(file)
    assert _pull(pulling, known) == {"b.py": ("full", 1)}, "an open file's are those of its text"
    document = {"textDocument": {"uri": file.as_uri()}}
    pulling.type(file, "print(0)\n")
    assert len(pulling.ask("textDocument/diagnostic", document)["items"]) == 2
    pulling.tell("textDocument/didClose", **document)
    assert until(lambda: len(pulling.ask("textDocument/diagnostic", document)["items"]) == 1)
    assert _after(pulling, known) == {"a.py": ("full", 1), "b.py": ("unchanged", 0)}


def test_a_file_that_is_not_indexed_is_not_read(pulling: InProcessEditor, shop: Path) -> None:
    write(shop, {".ragignore": "kept/\n", "kept/z.py": "print(1)\n"})
    document = {"textDocument": {"uri": (shop / "kept/z.py").as_uri()}}
    assert pulling.ask("textDocument/diagnostic", document)["items"] == []

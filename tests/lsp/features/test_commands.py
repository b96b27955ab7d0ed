"""The commands that an editor runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.in_process import InProcessEditor


@pytest.mark.parametrize(
    ("command", "arguments", "says"),
    [
        ("searchCode", {"query": {}}, "query must be a string"),
        ("searchCode", {}, "needs 'query'"),
        ("searchCode", {"query": "x", "k": 0}, "k = 0"),
        ("searchCode", {"query": "x", "colour": "red"}, "no argument 'colour'"),
        ("findRelated", {"path": "../../etc/passwd", "line": 1}, "outside the project"),
        ("findRelated", {"path": "/etc/passwd", "line": 1}, "outside the project"),
        ("findRelated", {"path": "src/cart.py", "line": 9999}, "line 9999 is outside"),
        ("storeMemory", {"content": "  ", "scope": "project"}, "needs 'content'"),
        ("storeMemory", {"content": "x", "scope": "galaxy"}, "galaxy"),
    ],
)
def test_bad_arguments_are_named_and_change_nothing(
    editor: InProcessEditor, command: str, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(AssertionError, match=says):
        editor.command(command, **arguments)
    assert editor.command("listMemories")["total"] == 0


def test_an_error_carries_its_type(editor: InProcessEditor) -> None:
    with pytest.raises(AssertionError, match=r"'type': 'NotFound'"):
        editor.command("getMemory", id="none")


def test_a_command_needs_no_arguments_where_none_are_needed(editor: InProcessEditor) -> None:
    assert editor.ask("workspace/executeCommand", {"command": "ragLs.status"})["complete"]


def test_notes_are_in_an_editor_s_words(editor: InProcessEditor) -> None:
    content = " ".join(f"Payments of customer {number} are retried {number} times." for number in range(200))
    note = editor.command("storeMemory", content=content, scope="project")["note"]
    assert "ragLs.getMemory" in note
    assert "get_memory" not in note

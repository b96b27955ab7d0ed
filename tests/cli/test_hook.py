"""What Claude Code's hooks run around an edit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_ls.config.trust import users_trusted_folders
from tests.commands import run_command
from tests.daemon.engines import is_reachable, run
from tests.support import until, write

FILES = {
    "ARCHITECTURE.yml": (
        "rules:\n  - {id: no-print, language: python, files: src/**, forbid: print($$$), message: NEVER print, "
        "see: docs/patterns/log.md}\n"
    ),
    "CONSTRAINTS.md": "# Rules\n\n## Money\n\nWhat is in `src/money/` MUST count in cents.\n",
    "src/money/sum.py": "print(1)\n",
    "lib/other.py": "x = 1\n",
    ".git/HEAD": "ref: refs/heads/main\n",
}


def _hook(moment: str, root: Path, path: str, former: str | None = "", **edit: object) -> str:
    """The answer to an edit of a file that held a `former` text; None where Claude Code does not say."""
    event: dict[str, object] = {"cwd": str(root), "tool_input": {"file_path": str(root / path), **edit}}
    if former is not None:
        event["tool_response"] = {"originalFile": former}
    done = run_command("hook", moment, folder=root, typed=json.dumps(event))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An indexed project with rules that the user trusts, and an engine that knows it."""
    root = write(tmp_path / "shop", FILES)
    users_trusted_folders().add(root)
    assert run("index", "--words-only", folder=root).returncode == 0
    return root


@pytest.mark.slow
def test_before_an_edit_the_rules_for_the_file_are_given(root: Path) -> None:
    given = json.loads(_hook("before", root, "src/money/sum.py"))["hookSpecificOutput"]
    assert given["hookEventName"] == "PreToolUse"
    assert "MUST count in cents" in given["additionalContext"]
    assert given["additionalContext"].count("no-print") == 1
    assert 'checked after the edit, as the project\'s rules say: "no-print: NEVER print"' in given["additionalContext"]


@pytest.mark.slow
def test_after_an_edit_what_it_breaks_is_told_with_the_pattern(root: Path) -> None:
    answer = json.loads(_hook("after", root, "src/money/sum.py"))
    assert answer["decision"] == "block"
    said = '- src/money/sum.py:1 breaks "no-print", which says: "NEVER print"; its pattern is "docs/patterns/log.md"'
    assert said in answer["reason"]


@pytest.mark.slow
def test_after_an_edit_only_what_it_made_is_told_however_much_the_file_broke_before(root: Path) -> None:
    old = "".join(f"print({at})\n" for at in range(40))
    write(root, {"src/money/sum.py": "import os\n" + old + "print('new')\n"})
    reason = json.loads(_hook("after", root, "src/money/sum.py", old))["reason"]
    assert reason.count("breaks") == 2
    assert "src/money/sum.py:42 breaks" in reason
    assert _hook("after", root, "src/money/sum.py", "x = 1\n" + old + "print('new')\n") == "", "lines that moved"
    whole = json.loads(_hook("after", root, "src/money/sum.py"))["reason"]
    assert whole.split("\n")[-1].endswith("more: `rag-ls check` with this file lists them"), "what is cut is counted"


@pytest.mark.slow
def test_without_the_former_text_nothing_blocks(root: Path) -> None:
    unknown = json.loads(_hook("after", root, "src/money/sum.py", None))
    assert "decision" not in unknown
    assert "perhaps by this edit" in unknown["hookSpecificOutput"]["additionalContext"]


@pytest.mark.slow
def test_warnings_are_told_and_block_nothing(root: Path) -> None:
    rules = FILES["ARCHITECTURE.yml"].replace("{id: no-print,", "{id: no-print, severity: warning,")
    write(root, {"ARCHITECTURE.yml": rules})
    answer = json.loads(_hook("after", root, "src/money/sum.py"))
    assert "decision" not in answer
    assert "no-print" in answer["hookSpecificOutput"]["additionalContext"]


@pytest.mark.slow
def test_an_edit_of_a_notebook_is_one_too(root: Path) -> None:
    def notebook(*cells: str) -> str:
        made = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
        return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)

    write(root, {"src/a.ipynb": notebook("print(1)\nx = 1", "%pip list\nprint(2)")})
    event = {
        "cwd": str(root), "tool_input": {"notebook_path": str(root / "src/a.ipynb")},
        "tool_response": {"original_file": notebook("print(1)", "x = 1")},
    }  # fmt: skip
    done = run_command("hook", "after", folder=root, typed=json.dumps(event))
    reason = json.loads(done.stdout)["reason"]
    assert reason.count("breaks") == 2
    assert "src/a.ipynb:11 breaks" in reason
    checked = run("check", "src/a.ipynb", folder=root)
    assert (checked.returncode, checked.stdout.count("no-print")) == (1, 2)


@pytest.mark.slow
def test_a_trusted_project_that_was_never_indexed_is_read_before_its_rules_are_denied(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    users_trusted_folders().add(root)
    stopped = json.loads(_hook("before", root, "src/money/sum.py"))["hookSpecificOutput"]["additionalContext"]
    assert "does not know the rules of this project" in stopped
    assert until(is_reachable)
    given = json.loads(_hook("before", root, "src/money/sum.py"))["hookSpecificOutput"]["additionalContext"]
    assert "MUST count in cents" in given
    assert "NEVER print" in given


@pytest.mark.slow
def test_where_nothing_is_wrong_hooks_are_silent(root: Path) -> None:
    assert _hook("before", root, "lib/other.py") == ""
    assert _hook("after", root, "lib/other.py") == ""
    assert _hook("after", root, "/etc/hosts") == ""


@pytest.mark.parametrize("event", ["", "no json", "{}", '{"tool_input": 3}'])
def test_an_event_that_cannot_be_read_stops_no_edit(event: str, tmp_path: Path) -> None:
    done = run_command("hook", "after", folder=tmp_path, typed=event)
    assert (done.returncode, done.stdout) == (0, "")


def test_hooks_are_written_once_and_beside_others(tmp_path: Path) -> None:
    write(
        tmp_path,
        {".claude/settings.json": '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}]}}', ".git/HEAD": ""},
    )
    assert run("connect", "claude-code", "--hooks", folder=tmp_path).returncode == 0
    settings = json.loads((tmp_path / ".claude/settings.json").read_text())
    assert [entry["matcher"] for entry in settings["hooks"]["PreToolUse"]] == [
        "Bash",
        "Edit|MultiEdit|Write|NotebookEdit",
    ]
    assert settings["hooks"]["PostToolUse"][0]["hooks"][0]["command"].endswith("hook after")
    assert run("connect", "claude-code", "--hooks", folder=tmp_path).returncode == 0
    assert json.loads((tmp_path / ".claude/settings.json").read_text()) == settings
    assert run("connect", "vscode", "--hooks", folder=tmp_path).returncode == 2


FACT = "Never call the payment gateway in tests, because it charges real cards."


def _hook_of_session(moment: str, root: Path, transcript: str = "") -> str:
    event = {"cwd": str(root), "session_id": "1", "transcript_path": transcript}
    done = run_command("hook", moment, folder=root, typed=json.dumps(event))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
def test_a_session_ends_with_proposals_and_the_next_begins_with_what_was_kept(root: Path) -> None:
    said = json.dumps({"type": "user", "message": {"role": "user", "content": FACT}})
    write(root, {"../session.jsonl": said})
    assert _hook_of_session("end", root, str(root / "../session.jsonl")) == ""
    listed = run("inbox", folder=root).stdout
    assert FACT in listed
    assert run("inbox", "keep", listed[:8], folder=root).stdout.startswith("inserted ")
    begun = json.loads(_hook_of_session("start", root))["hookSpecificOutput"]
    assert begun["hookEventName"] == "SessionStart"
    assert f'"{FACT}"' in begun["additionalContext"]
    assert run("inbox", folder=root).stdout.startswith("nothing waits")


@pytest.mark.slow
def test_nothing_is_said_or_proposed_in_a_folder_that_is_not_trusted(root: Path) -> None:
    assert run("add", FACT, folder=root).returncode == 0
    users_trusted_folders().remove(root)
    write(
        root,
        {"../session.jsonl": json.dumps({"type": "user", "message": {"content": "Never use floats for prices here."}})},
    )
    assert _hook_of_session("start", root) == ""
    assert _hook_of_session("end", root, str(root / "../session.jsonl")) == ""
    assert run("inbox", folder=root).stdout.startswith("nothing waits")


@pytest.mark.slow
def test_proposals_are_dropped_and_a_missing_id_is_asked_for(root: Path) -> None:
    write(root, {"src/scan.py": "# HACK: wait here, because the scanner drops its first byte\nwait()\n"})
    assert run("index", "--words-only", folder=root).returncode == 0
    listed = run("inbox", "scan", folder=root).stdout
    assert "src/scan.py:1" in listed
    refused = run("inbox", "keep", folder=root)
    assert (refused.returncode, "name the proposals" in refused.stderr) == (2, True)
    assert "dropped 1 proposal, and nothing" in run("inbox", "drop", listed[:8], "--never", folder=root).stdout
    assert run("inbox", "scan", folder=root).stdout.startswith("nothing new")

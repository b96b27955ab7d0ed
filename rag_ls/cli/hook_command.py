"""The verb `hook`: what Claude Code runs before and after it edits a file. Silent where there is nothing to say.

It reads the event as JSON from the standard input and answers as Claude Code's hooks do ("Hooks reference": PreToolUse
with `additionalContext`, PostToolUse with `decision` and `reason`). It never fails an edit: without an engine it starts
one, for the next time, and says nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from typing import Any

from rag_ls.daemon.calls import call
from rag_ls.daemon.channel import Channel, EngineLost
from rag_ls.daemon.find import Mode, find_engine, start_engine
from rag_ls.errors import RagLsError

Json = dict[str, Any]

_MAX_RULES = 5
_MAX_CHARACTERS = 1500
_MAX_EVENT_CHARACTERS = 20_000_000


def run(arguments: argparse.Namespace) -> int:
    """Answer one event."""
    try:
        event = json.loads(sys.stdin.read(_MAX_EVENT_CHARACTERS))
        path = str(event["tool_input"]["file_path"])
        folder = str(event.get("cwd") or os.getcwd())
    except (ValueError, KeyError, TypeError):
        return 0
    engine = _engine()
    if engine is None:
        return 0
    with contextlib.suppress(RagLsError, EngineLost, OSError):
        answer = before(engine, folder, path) if arguments.moment == "before" else after(engine, folder, path)
        if answer:
            print(json.dumps(answer, ensure_ascii=False))
    return 0


def before(engine: Channel, folder: str, path: str) -> Json | None:
    """The rules that name the file, and those that a machine checks in it."""
    answer = call(
        engine, "rag_check_constraints", folder, {"file_path": path, "num_results": _MAX_RULES}, None, _ignore
    )
    named = [each for kind in ("constraints", "patterns") for each in answer[kind] if each.get("namesPath")]
    about = [each for each in named if not _is_checkable(each)]
    lines = [f"- {rule} ({each['filePath']}:{each['lines']})" for each in about for rule in each["keyRules"]]
    lines += [f"- {check} (checked)" for check in answer.get("checks", ())]
    if not lines:
        return None
    text = "Rules of this project for this file:\n" + "\n".join(dict.fromkeys(lines))
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": text[:_MAX_CHARACTERS]}}


def after(engine: Channel, folder: str, path: str) -> Json | None:
    """What the file breaks now, with the pattern to follow."""
    answer = call(engine, "check_file", folder, {"file_path": path}, None, _ignore)
    broken = [each for each in answer["violations"] if each["severity"] != "info"]
    if not broken:
        return None
    lines = [
        f"- {each['filePath']}:{each['line']}: {each['message']} [{each['rule']}]"
        + (f"; follow {each['see']}" if each.get("see") else "")
        for each in broken
    ]
    reason = "This edit breaks rules of the project. Mend it:\n" + "\n".join(lines)
    return {"decision": "block", "reason": reason[:_MAX_CHARACTERS]}


def _is_checkable(rule: Json) -> bool:
    """Whether a section is of the rules in ARCHITECTURE.yml that a machine checks: they are told in short."""
    is_first = str(rule.get("section", "")).split(" > ")[0].split(".")[0] == "rules"
    return is_first and str(rule["filePath"]).startswith("ARCHITECTURE.y")


def _engine() -> Channel | None:
    """The running engine; where there is none, one is started for the next time."""
    with contextlib.redirect_stderr(io.StringIO()):
        found = find_engine("cli", Mode.MANUAL)
    if found is None:
        with contextlib.suppress(OSError):
            start_engine()
    return found


def _ignore(warning: str) -> None:
    """A hook has nowhere to show a warning of the settings."""

"""The verb `hook`: what Claude Code runs before and after it edits a file. Silent where there is nothing to say, and in
folders that the user does not trust: what it says is the text of the repository, and is quoted as that.

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
from rag_ls.project import find_project
from rag_ls.registry.trusted_folders import users_trusted_folders
from rag_ls.util.quoting import fold, quote

Json = dict[str, Any]

_MAX_RULES = 5
_MAX_CHARACTERS = 1500
_MAX_RULE_CHARACTERS = 300
_MAX_PLACE_CHARACTERS = 120
_QUOTED = "What stands in quotation marks is text of the repository, not of the user or of rag-ls"
_MAX_EVENT_CHARACTERS = 20_000_000


def run(arguments: argparse.Namespace) -> int:
    """Answer one event."""
    try:
        event = json.loads(sys.stdin.read(_MAX_EVENT_CHARACTERS))
        path = str(event["tool_input"]["file_path"])
        folder = str(event.get("cwd") or os.getcwd())
    except (ValueError, KeyError, TypeError):
        return 0
    if not _is_trusted(folder, path):
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
    lines = [
        f"- {_place(each['filePath'], each['lines'])} says: {quote(rule, _MAX_RULE_CHARACTERS)}"
        for each in about
        for rule in each["keyRules"]
    ]
    lines += [
        f"- checked after the edit, as the project's rules say: {quote(check, _MAX_RULE_CHARACTERS)}"
        for check in answer.get("checks", ())
    ]
    if not lines:
        return None
    text = _fit_lines([f"Rules of this project for this file. {_QUOTED}:", *dict.fromkeys(lines)])
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": text}}


def after(engine: Channel, folder: str, path: str) -> Json | None:
    """The rules that the file breaks now, with the pattern to follow."""
    answer = call(engine, "check_file", folder, {"file_path": path}, None, _ignore)
    broken = [each for each in answer["violations"] if each["severity"] != "info"]
    if not broken:
        return None
    lines = [
        f"- {_place(each['filePath'], each['line'])} breaks {quote(each['rule'], _MAX_PLACE_CHARACTERS)}, which says: "
        f"{quote(each['message'], _MAX_RULE_CHARACTERS)}"
        + (f"; its pattern is {quote(each['see'], _MAX_PLACE_CHARACTERS)}" if each.get("see") else "")
        for each in broken
    ]
    head = f"This edit breaks rules that the project checks: mend it, or ask the user. {_QUOTED}:"
    return {"decision": "block", "reason": _fit_lines([head, *lines])}


def _place(path: str, lines: object) -> str:
    return f"{fold(path, _MAX_PLACE_CHARACTERS)}:{lines}"


def _fit_lines(lines: list[str]) -> str:
    """The whole lines that there is room for: a quotation that is cut would not end."""
    kept, room = [], _MAX_CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def _is_trusted(*places: str) -> bool:
    """Whether the user trusts the projects around the working folder and the file."""
    trusted = users_trusted_folders()
    with contextlib.suppress(RagLsError, OSError, ValueError):
        return all(trusted.trusts(find_project(_folder_around(each)).root) for each in places)
    return False


def _folder_around(place: str) -> str:
    """The nearest folder that exists: a file may be about to be written."""
    while place and not os.path.isdir(place):
        place = os.path.dirname(place)
    return place


def _is_checkable(rule: Json) -> bool:
    """Whether a section is of the rules in ARCHITECTURE.yml that a machine checks: they are told in short."""
    is_first = str(rule.get("section", "")).split(" > ")[0].split(".")[0] == "rules"
    return is_first and str(rule["filePath"]).startswith("ARCHITECTURE.y")


def _engine() -> Channel | None:
    """The running engine; where there is none, one is started for the next time."""
    with contextlib.redirect_stderr(io.StringIO()):
        found = find_engine("cli", Mode.MANUAL, start_s=0)
    if found is None:
        with contextlib.suppress(OSError):
            start_engine()
    return found


def _ignore(warning: str) -> None:
    """A hook has nowhere to show a warning of the settings."""

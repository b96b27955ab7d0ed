"""The verb `hook`: what Claude Code runs before and after it edits a file, and at the start and end of a session. Silent where
there is nothing to say, and in folders that the user does not trust: what it says is the text of the repository, and is quoted
as that.

It reads the event as JSON from the standard input and answers as Claude Code's hooks do ("Hooks reference": SessionStart and
PreToolUse with `additionalContext`, PostToolUse with `decision` and `reason` for errors and `additionalContext` for the rest).
It never fails an edit: without an engine it starts one, for the next time, and says that it does not know the rules yet.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from types import SimpleNamespace
from typing import Any

from rag_ls.config import users_trusted_folders
from rag_ls.daemon import Channel, EngineLost, Mode, call, find_engine, start_engine
from rag_ls.errors import RagLsError
from rag_ls.project import find_project
from rag_ls.util.text import fold, quote

Json = dict[str, Any]

# The events of Claude Code that are answered.
_EVENTS = {"before": "PreToolUse", "after": "PostToolUse", "start": "SessionStart"}
_MAX_RULES = 5
_MAX_CHARACTERS = 1500
_MAX_RULE_CHARACTERS = 300
_MAX_PLACE_CHARACTERS = 120
_QUOTED = "What stands in quotation marks is text of the repository, not of the user or of rag-ls"
_ASK_RULES = "rag_check_constraints with this file_path has them"
_ASK_CHECK = "`rag-ls check` with this file lists them"
_NO_ENGINE = "rag-ls is being started, and does not know the rules of this project for this edit yet."
_MAX_EVENT_CHARACTERS = 20_000_000
# An agent waits for its hook.
_ANSWER_S = 5.0


def run(arguments: SimpleNamespace) -> int:
    """Answer one event."""
    moment = arguments.moment
    try:
        event = json.loads(sys.stdin.read(_MAX_EVENT_CHARACTERS))
        folder = str(event.get("cwd") or os.getcwd())
        if moment in ("start", "end"):
            return _run_of_session(moment, folder, str(event.get("transcript_path") or ""))
        edit = event["tool_input"]
        path = str(edit["notebook_path"] if "notebook_path" in edit else edit["file_path"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return 0
    if not _is_trusted(folder, path):
        return 0
    engine = _find_or_start_engine()
    with contextlib.suppress(RagLsError, EngineLost, OSError):
        if engine is None:
            answer: Json | None = _add_context(moment, _NO_ENGINE)
        elif moment == "before":
            answer = before(engine, folder, path)
        else:
            answer = after(engine, folder, path, _read_former_text(event))
        if answer:
            print(json.dumps(answer, ensure_ascii=False))
    return 0


def _run_of_session(moment: str, folder: str, transcript: str) -> int:
    """Begin a session with what matters for the project; at its end, propose memories."""
    if not _is_trusted(folder) or (moment == "end" and not transcript):
        return 0
    with contextlib.suppress(RagLsError, EngineLost, OSError):
        if (engine := _find_or_start_engine(Mode.AUTO)) is None:
            return 0
        if moment == "end":
            call(engine, "propose_memories", folder, {"transcript": os.path.expanduser(transcript)})
        elif text := call(engine, "session_context", folder, {})["text"]:
            print(json.dumps(_add_context(moment, f"{_QUOTED}.\n{text}"), ensure_ascii=False))
    return 0


def before(engine: Channel, folder: str, path: str) -> Json | None:
    """Return the rules that name the file, and those that a machine checks in it."""
    asked = {"file_path": path, "num_results": _MAX_RULES}
    answer = call(engine, "rag_check_constraints", folder, asked)
    about = [each for each in (*answer["constraints"], *answer["patterns"]) if each.get("namesPath")]
    lines = [
        f"- {_place(each['filePath'], each['lines'])} says: {quote(rule, _MAX_RULE_CHARACTERS)}"
        for each in about
        if not _is_checkable(each)
        for rule in each["keyRules"]
    ]
    checked = "- checked after the edit, as the project's rules say: "
    lines += [checked + quote(check, _MAX_RULE_CHARACTERS) for check in answer.get("checks", ())]
    head = f"Rules of this project for this file. {_QUOTED}:"
    return _add_context("before", _fit_lines([head, *dict.fromkeys(lines)], _ASK_RULES)) if lines else None


def after(engine: Channel, folder: str, path: str, former: str | None) -> Json | None:
    """Return the rules that an edit broke, with the pattern to follow: errors block, warnings tell.

    Where the `former` text is not known, all that the file breaks is told, and nothing blocks.
    """
    asked = {"file_path": path} | ({} if former is None else {"former_text": former})
    broken = call(engine, "check_file", folder, asked)["violations"]
    errors, warnings = (
        [_tell_broken(each) for each in broken if each["severity"] == severity] for severity in ("error", "warning")
    )
    if former is None:
        head = "The file breaks rules that the project checks, perhaps by this edit"
        errors, warnings = [], [*errors, *warnings]
    else:
        head = "This edit breaks rules that the project gives as warnings"
    answer: Json = {}
    if warnings:
        answer = _add_context("after", _fit_lines([f"{head}. {_QUOTED}:", *warnings], _ASK_CHECK))
    if errors:
        head = f"This edit breaks rules that the project checks: mend it, or ask the user. {_QUOTED}:"
        answer |= {"decision": "block", "reason": _fit_lines([head, *errors], _ASK_CHECK)}
    return answer or None


def _read_former_text(event: Json) -> str | None:
    """Return the text of a file before an edit, where the event has it."""
    done = event.get("tool_response")
    if not isinstance(done, dict):
        return None
    former = done.get("originalFile", done.get("original_file"))
    return former if isinstance(former, str) else "" if done.get("type") == "create" else None


def _add_context(moment: str, text: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": _EVENTS[moment], "additionalContext": text}}


def _tell_broken(broken: Json) -> str:
    pattern = f"; its pattern is {quote(broken['see'], _MAX_PLACE_CHARACTERS)}" if broken.get("see") else ""
    return (
        f"- {_place(broken['filePath'], broken['line'])} breaks {quote(broken['rule'], _MAX_PLACE_CHARACTERS)}, "
        f"which says: {quote(broken['message'], _MAX_RULE_CHARACTERS)}{pattern}"
    )


def _place(path: str, lines: object) -> str:
    return f"{fold(path, _MAX_PLACE_CHARACTERS)}:{lines}"


def _fit_lines(lines: list[str], remedy: str) -> str:
    """The whole lines that there is room for, since a quotation that is cut would not end, and how many more there are."""
    kept, room = list[str](), _MAX_CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"- {len(lines) - len(kept)} more: {remedy}"])
        kept.append(line)
    return "\n".join(kept)


def _is_trusted(*places: str) -> bool:
    """Whether the user trusts the projects around the working folder and the file, which may be about to be written."""
    trusted = users_trusted_folders()
    with contextlib.suppress(RagLsError, OSError, ValueError):
        return all(trusted.trusts(find_project(_find_folder(each)).root) for each in places)
    return False


def _find_folder(place: str) -> str:
    """Return the nearest folder that exists."""
    while place and not os.path.isdir(place):
        place = os.path.dirname(place)
    return place


def _is_checkable(rule: Json) -> bool:
    """Whether a section is of the rules in ARCHITECTURE.yml that a machine checks: they are told in short."""
    is_first = str(rule.get("section", "")).split(" > ")[0].split(".")[0] == "rules"
    return is_first and str(rule["filePath"]).rpartition("/")[2].startswith("ARCHITECTURE.y")


def _find_or_start_engine(mode: Mode = Mode.MANUAL) -> Channel | None:
    """Return the running engine; where there is none, start one, by default for the next time."""
    with contextlib.redirect_stderr(io.StringIO()):
        found = find_engine("cli", mode, answer_s=_ANSWER_S)
    if found is None and mode is Mode.MANUAL:
        with contextlib.suppress(OSError):
            start_engine()
    return found

"""Writes an agent's connection to rag-ls into a project's own files."""

from __future__ import annotations

import importlib.resources
import json
import shlex
import stat
from pathlib import Path
from typing import Any

from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.util.decoding import read_json
from rag_ls.util.files import read_regular, whole_file
from rag_ls.util.paths import leads_out

_NAME = "rag-ls"
# The tools of Claude Code that change a file, and how long Claude Code waits for a hook.
_EDITS = "Edit|MultiEdit|Write|NotebookEdit"
_HOOK_TIMEOUT_S = 5
# Claude Code's name of each moment of `rag-ls hook`.
MOMENTS = {"PreToolUse": "before", "PostToolUse": "after"}


class NotWritten(RagLsError):
    """A file cannot be read or written."""


def write_connection(client: str, rag_ls: str, root: Path) -> list[Path]:
    """Write the connection of `client` into the files of the project at `root`; returns the changed files.

    Other content of these files stays. Raises `InvalidRequest` for a client that project files cannot connect, and
    `NotWritten`, which names the file and the remedy.
    """
    server = server_entry(rag_ls)
    if client == "claude-code":
        return [
            *with_entry(file_inside(root, ".mcp.json"), "mcpServers", server),
            *_write_changed(file_inside(root, f".claude/skills/{_NAME}/SKILL.md"), skill()),
        ]
    if client == "vscode":
        return with_entry(file_inside(root, ".vscode/mcp.json"), "servers", server)
    raise InvalidRequest("--write is for claude-code and vscode; for others, copy what `rag-ls connect` prints")


def server_entry(rag_ls: str) -> dict[str, Any]:
    """The entry by which an MCP client starts the server, `rag_ls` being the command."""
    return {"type": "stdio", "command": rag_ls, "args": ["mcp"]}


def skill() -> str:
    """The skill that tells Claude Code when to search and when to remember."""
    return importlib.resources.files("rag_ls.cli").joinpath("claude_code", "SKILL.md").read_text("utf-8")


def hook_entry(rag_ls: str, moment: str) -> dict[str, Any]:
    """The entry by which Claude Code runs `rag-ls hook` at a moment, `before` or `after`, of each edit."""
    command = f"{shlex.quote(rag_ls)} hook {moment}"
    return {"matcher": _EDITS, "hooks": [{"type": "command", "command": command, "timeout": _HOOK_TIMEOUT_S}]}


def write_hooks(rag_ls: str, root: Path) -> list[Path]:
    """Have Claude Code run `rag-ls hook` before and after it edits a file of the project; returns the changed files.

    Other hooks stay. Raises `NotWritten`.
    """
    file = file_inside(root, ".claude/settings.json")
    content, hooks = read_section(file, "hooks")
    for event, moment in MOMENTS.items():
        entries = hooks.setdefault(event, [])
        if not isinstance(entries, list):
            raise NotWritten(f"{file}: 'hooks.{event}' is no list; mend it, or remove it")
        if not any(f"hook {moment}" in json.dumps(each) and "rag-ls" in json.dumps(each) for each in entries):
            entries.append(hook_entry(rag_ls, moment))
    return _write_changed(file, _dump(content))


def file_inside(root: Path, path: str) -> Path:
    """A file of the project, which may be a link inside of it. Raises `NotWritten` for one that leads out."""
    if leads_out(root, root / path):
        raise NotWritten(f"{root / path} leads out of the project, so nothing is written there; remove the link")
    return root / path


def with_entry(file: Path, section: str, server: dict[str, Any]) -> list[Path]:
    """Write our entry into a section of a JSON file; returns the changed files. Raises `NotWritten`."""
    content, servers = read_section(file, section)
    if servers.get(_NAME) == server:
        return []
    servers[_NAME] = server
    return _write_changed(file, _dump(content))


def _dump(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_section(file: Path, section: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The content of a JSON file, and a section within it, made if it is missing. Raises `NotWritten`."""
    content = _object(file)
    servers = content.setdefault(section, {})
    if not isinstance(servers, dict):
        raise NotWritten(f"{file}: {section!r} is no JSON object; mend it, or remove it")
    return content, servers


def _object(file: Path) -> dict[str, Any]:
    try:
        content = read_json(read_regular(file))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise NotWritten(f"{file} is not plain JSON ({error}); add the lines of `rag-ls connect` by hand") from error
    except OSError as error:
        raise NotWritten(f"{file} cannot be read: {error.strerror}") from error
    if not isinstance(content, dict):
        raise NotWritten(f"{file} holds no JSON object; add the lines of `rag-ls connect` by hand")
    return content


def _write_changed(file: Path, text: str) -> list[Path]:
    """Write a file if its text differs; returns the files written. It is replaced whole, so no one reads half of it."""
    try:
        if file.is_file() and read_regular(file) == text.encode():
            return []
        file.parent.mkdir(parents=True, exist_ok=True)
        # A link stays a link, and a file keeps its permissions.
        mode = stat.S_IMODE(file.stat().st_mode) if file.is_file() else 0o666
        with whole_file(file.resolve(), mode) as stream:
            stream.write(text)
    except OSError as error:
        raise NotWritten(f"{file} cannot be written: {error.strerror}") from error
    return [file]

"""`rag-ls connect`: the exact lines that connect editors and agents, printed, or written into a project's own files."""

from __future__ import annotations

import importlib.resources
import json
import os
import secrets
import shlex
import shutil
import stat
import sys
import tomllib
from pathlib import Path
from string import Template
from types import SimpleNamespace
from typing import Any, NamedTuple

from rag_ls.cli.terminal import NAME, paint, print_notes, show_answer
from rag_ls.cli.trust_and_settings import offer_trust
from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.locations import user_data_folder
from rag_ls.project import find_project, make_private_folder
from rag_ls.util.decoding import read_json
from rag_ls.util.files import read_regular, whole_file
from rag_ls.util.installation import checkout
from rag_ls.util.paths import leads_out

_NAME = "rag-ls"
_SECTIONS = {"claude-code": (".mcp.json", "mcpServers"), "vscode": (".vscode/mcp.json", "servers")}
"""The file of a project, and its section, that tells a client of MCP servers."""
_TOKEN_VARIABLE, _TOKEN_HEADER = "RAG_LS_TOKEN", "X-RAG-Token"
# The tools of Claude Code that change a file, and how long Claude Code waits for a hook.
_EDITS = "Edit|MultiEdit|Write|NotebookEdit"
_HOOK_TIMEOUT_S = 5
# Claude Code's name of each moment of `rag-ls hook`.
MOMENTS = {
    "PreToolUse": "before", "PostToolUse": "after", "SessionStart": "start", "PreCompact": "end", "SessionEnd": "end",
}  # fmt: skip
_CHECKOUT = "/path/of/rag-ls"
_GET_CHECKOUT = f"""\
# The files for this editor are in the repository (then write its folder for {_CHECKOUT} below):

git clone --depth 1 https://github.com/rag-ls/rag-ls"""


class NotWritten(RagLsError):
    """A file cannot be read or written."""


class Connection(NamedTuple):
    """The connection of one editor or agent, as `connections.toml` has it."""

    client: str
    summary: str
    lines: str

    def text(self, rag_ls: str, folder: Path | None) -> str:
        """Return the steps and lines for a command at `rag_ls`, and the folder of rag-ls where it is known.

        Lines that begin with `# ` explain; all others are to be copied.
        """
        at = str(folder or _CHECKOUT)
        text = Template(self.lines).substitute(
            path=json.dumps(rag_ls), shell=shlex.quote(rag_ls), folder=at, lua=_quote_lua(rag_ls), lua_folder=_quote_lua(at)
        )  # fmt: skip
        return text if folder or _CHECKOUT not in text else f"{_GET_CHECKOUT}\n\n{text}"


def _quote_lua(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def read_connections() -> list[Connection]:
    """Return all of them, in the order of the README."""
    text = importlib.resources.files("rag_ls.cli").joinpath("connections.toml").read_text("utf-8")
    return [Connection(client, item["summary"], item["lines"]) for client, item in tomllib.loads(text).items()]


def connect(arguments: SimpleNamespace) -> int:
    """List the clients, print the lines for one, or write them into the project."""
    for option in ("http", "hooks"):
        if getattr(arguments, option) and arguments.client != "claude-code":
            raise InvalidRequest(f"--{option} is for claude-code: `rag-ls connect claude-code --{option}`")
    if arguments.http:
        return _connect_over_http(arguments)
    if arguments.write or arguments.hooks:
        return _write(arguments)
    connections = read_connections()
    texts = {item.client: item.text(find_command(), checkout()) for item in connections}
    if arguments.client:
        return show_answer(arguments, {arguments.client: texts[arguments.client]}, texts[arguments.client])
    style, name = paint(), _NAME if shutil.which(_NAME) else find_command()
    lines = [f"{style.style(f'{name} connect {item.client:<11}', NAME)}  {item.summary}" for item in connections]
    lines.append(
        f"Any other: `{name} mcp` is an MCP server, `{name} lsp` a language server, over standard input and output."
    )
    return show_answer(arguments, texts, "\n".join(lines), paged=False)


def _write(arguments: SimpleNamespace) -> int:
    root, name = find_project(arguments.project).root, _find_shared_command()
    written = write_connection(arguments.client, name, root)
    if arguments.hooks:
        written += write_hooks(name, root)
    names = [file.relative_to(root).as_posix() for file in written]
    text = f"{root}: wrote {', '.join(names)}" if names else f"{root}: is connected already"
    show_answer(arguments, {"root": str(root), "written": names, "command": name}, text)
    if os.path.isabs(name):
        print_notes(
            f"{name} is a path of this machine; before you commit the file, put rag-ls on the PATH of everybody "
            f"(here: `ln -s {name} ~/.local/bin/`), and run this again"
        )
    offer_trust(root, tells=arguments.hooks)
    return 0


def _connect_over_http(arguments: SimpleNamespace) -> int:
    """Make a token and print the line for Claude Code, or write `.mcp.json`, which is shared, with a variable for the token."""
    # Imported here, because only this way needs them.
    from rag_ls.cli.http_commands import start_http
    from rag_ls.http import TokenFile

    path, section = _SECTIONS["claude-code"]
    file = file_inside(find_project(arguments.project).root, path)
    if arguments.write:
        # Checked first: no token is made if the file for it cannot be written.
        read_section(file, section)
    url = start_http() + "mcp"
    make_private_folder(user_data_folder())
    secret = TokenFile(user_data_folder()).add(f"claude-code-{secrets.token_hex(3)}")[1]
    if arguments.write:
        write_entry(file, section, {"type": "http", "url": url, "headers": {_TOKEN_HEADER: f"${{{_TOKEN_VARIABLE}}}"}})
        line, note = f"export {_TOKEN_VARIABLE}={shlex.quote(secret)}", f"wrote {file}; each user sets the variable"
    else:
        header = shlex.quote(f"{_TOKEN_HEADER}: {secret}")
        line = f"claude mcp add --transport http --scope user rag-ls {url} --header {header}"
        note = "the token is shown only now; `rag-ls token list` and `revoke` manage it"
    show_answer(arguments, {arguments.client: line, "url": url, "token": secret}, line, paged=False)
    print_notes(note)
    return 0


def find_command() -> str:
    """Return the absolute path of this `rag-ls` command, so that clients need no PATH."""
    beside = Path(sys.executable).with_name(_NAME)
    return str(beside) if beside.exists() else shutil.which(_NAME) or _NAME


def _find_shared_command() -> str:
    """Return `rag-ls` where it is on the PATH, so that a project's file holds on other machines too; else `find_command`.

    Folders that an activated environment adds to the PATH do not count: an editor that was started elsewhere lacks them.
    """
    activated = os.path.dirname(sys.executable)
    folders = [folder for folder in os.get_exec_path() if os.path.realpath(folder) != os.path.realpath(activated)]
    return _NAME if shutil.which(_NAME, path=os.pathsep.join(folders)) else find_command()


# --- files of a project


def write_connection(client: str, rag_ls: str, root: Path) -> list[Path]:
    """Write the connection of `client` into the files of the project at `root`; returns the changed files.

    Other content of these files stays. Raises `InvalidRequest` for a client that project files cannot connect, and
    `NotWritten`, which names the file and the remedy.
    """
    if client not in _SECTIONS:
        raise InvalidRequest("--write is for claude-code and vscode; for others, copy what `rag-ls connect` prints")
    path, section = _SECTIONS[client]
    written = write_entry(file_inside(root, path), section, make_server_entry(rag_ls))
    if client == "claude-code":
        written += _write_changed(file_inside(root, f".claude/skills/{_NAME}/SKILL.md"), read_skill())
    return written


def make_server_entry(rag_ls: str) -> dict[str, Any]:
    """Return the entry by which an MCP client starts the server, `rag_ls` being the command."""
    return {"type": "stdio", "command": rag_ls, "args": ["mcp"]}


def read_skill() -> str:
    """Return the skill that tells Claude Code when to search and when to remember."""
    return importlib.resources.files("rag_ls.cli").joinpath("claude_code", "SKILL.md").read_text("utf-8")


def make_hook_entry(rag_ls: str, moment: str) -> dict[str, Any]:
    """Return the entry by which Claude Code runs `rag-ls hook` at a moment of each edit or session."""
    command = f"{shlex.quote(rag_ls)} hook {moment}"
    entry = {"hooks": [{"type": "command", "command": command, "timeout": _HOOK_TIMEOUT_S}]}
    return {"matcher": _EDITS} | entry if moment in ("before", "after") else entry


def write_hooks(rag_ls: str, root: Path) -> list[Path]:
    """Have Claude Code run `rag-ls hook` around its edits and sessions in the project; returns the changed files.

    Other hooks stay. Raises `NotWritten`.
    """
    file = file_inside(root, ".claude/settings.json")
    content, hooks = read_section(file, "hooks")
    for event, moment in MOMENTS.items():
        entries = hooks.setdefault(event, [])
        if not isinstance(entries, list):
            raise NotWritten(f"{file}: 'hooks.{event}' is no list; mend it, or remove it")
        if not any(f"hook {moment}" in json.dumps(each) and _NAME in json.dumps(each) for each in entries):
            entries.append(make_hook_entry(rag_ls, moment))
    return _write_changed(file, _format_json(content))


def file_inside(root: Path, path: str) -> Path:
    """Return a file of the project, which may be a link inside of it. Raises `NotWritten` for one that leads out."""
    if leads_out(root, root / path):
        raise NotWritten(f"{root / path} leads out of the project, so nothing is written there; remove the link")
    return root / path


def write_entry(file: Path, section: str, server: dict[str, Any]) -> list[Path]:
    """Write our entry into a section of a JSON file; returns the changed files. Raises `NotWritten`."""
    content, servers = read_section(file, section)
    if servers.get(_NAME) == server:
        return []
    servers[_NAME] = server
    return _write_changed(file, _format_json(content))


def _format_json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_section(file: Path, section: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of a JSON file, and a section within it, made if it is missing. Raises `NotWritten`."""
    try:
        content = read_json(read_regular(file))
    except FileNotFoundError:
        content = {}
    except ValueError as error:
        raise NotWritten(f"{file} is not plain JSON ({error}); add the lines of `rag-ls connect` by hand") from error
    except OSError as error:
        raise NotWritten(f"{file} cannot be read: {error.strerror}") from error
    servers = content.setdefault(section, {}) if isinstance(content, dict) else None
    if not isinstance(servers, dict):
        raise NotWritten(f"{file} holds no JSON object, or {section!r} in it is none: mend it, or remove it")
    return content, servers


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

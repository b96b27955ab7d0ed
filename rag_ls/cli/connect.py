"""`rag-ls connect`: the exact lines that connect editors and agents."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli.connect_files import write_connection, write_hooks
from rag_ls.cli.connections import read_connections
from rag_ls.cli.terminal import NAME, paint, print_notes, show_answer
from rag_ls.cli.trust_command import offer
from rag_ls.errors import InvalidRequest
from rag_ls.project import find_project
from rag_ls.util.installation import checkout


def run(arguments: SimpleNamespace) -> int:
    """List the clients, print the lines for one, or write them into the project."""
    if arguments.http:
        from rag_ls.cli.connect_http import run_http

        return run_http(arguments)
    if arguments.hooks and arguments.client != "claude-code":
        raise InvalidRequest("--hooks is for claude-code: `rag-ls connect claude-code --hooks`")
    if arguments.write or arguments.hooks:
        return _write(arguments)
    connections = read_connections()
    texts = {item.client: item.text(command(), checkout()) for item in connections}
    if arguments.client:
        return show_answer(arguments, {arguments.client: texts[arguments.client]}, texts[arguments.client])
    style, name = paint(), "rag-ls" if shutil.which("rag-ls") else command()
    verbs = [(f"{name} connect {item.client:<11}", item.summary) for item in connections]
    any_other = (
        f"Any other: `{name} mcp` is an MCP server, `{name} lsp` a language server, over standard input and output."
    )
    lines = [*(f"{style.style(verb, NAME)}  {summary}" for verb, summary in verbs), any_other]
    return show_answer(arguments, texts, "\n".join(lines), paged=False)


def _write(arguments: SimpleNamespace) -> int:
    root, name = find_project(arguments.project).root, command_for_everybody()
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
    offer(root, tells=arguments.hooks)
    return 0


def command() -> str:
    """The absolute path of this `rag-ls` command, so that clients need no PATH."""
    beside = Path(sys.executable).with_name("rag-ls")
    return str(beside) if beside.exists() else shutil.which("rag-ls") or "rag-ls"


def command_for_everybody() -> str:
    """`rag-ls` where it is on the PATH, so that a project's file holds on other machines too; else `command`.

    Folders that an activated environment adds to the PATH do not count: an editor that was started elsewhere lacks them.
    """
    activated = os.path.dirname(sys.executable)
    folders = [folder for folder in os.get_exec_path() if os.path.realpath(folder) != os.path.realpath(activated)]
    return "rag-ls" if shutil.which("rag-ls", path=os.pathsep.join(folders)) else command()

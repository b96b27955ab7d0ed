"""`rag-ls connect`: the exact lines that connect editors and agents."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from rag_ls.cli.connect_files import write_connection
from rag_ls.errors import InvalidRequest
from rag_ls.project import find_project

_LANGUAGES = (
    "python javascript javascriptreact typescript typescriptreact go rust c cpp java csharp kotlin scala swift ruby php elixir "
    "lua shellscript sql markdown html css json yaml toml"
).split()


def run(arguments: argparse.Namespace) -> int:
    """Print the lines for one client or all, or write them into the project."""
    snippets = connections(command())
    if arguments.client and arguments.client not in snippets:
        raise InvalidRequest(f"{arguments.client!r} is not one of {', '.join(snippets)}")
    if arguments.write:
        return _write(arguments)
    chosen = {arguments.client: snippets[arguments.client]} if arguments.client else snippets
    print(json.dumps(chosen, indent=2) if arguments.json else "\n\n".join(chosen.values()))
    return 0


def _write(arguments: argparse.Namespace) -> int:
    root = find_project(arguments.project).root
    written = write_connection(arguments.client, command(), root)
    names = [file.relative_to(root).as_posix() for file in written]
    if arguments.json:
        print(json.dumps({"root": str(root), "written": names}))
    else:
        print(f"{root}: wrote {', '.join(names)}" if names else f"{root}: is connected already")
    return 0


def command() -> str:
    """The absolute path of this `rag-ls` command, so that clients need no PATH."""
    beside = Path(sys.executable).with_name("rag-ls")
    return str(beside) if beside.exists() else shutil.which("rag-ls") or "rag-ls"


def connections(rag_ls: str) -> dict[str, str]:
    """The instructions for each client: which lines to write into which file."""
    path = json.dumps(rag_ls)
    return {
        "claude-code": f"# Claude Code: run this in the project\nclaude mcp add rag-ls -- {_shell(rag_ls)} mcp",
        "vscode": (
            "// VS Code, for its agent: .vscode/mcp.json\n"
            f'{{"servers": {{"rag-ls": {{"type": "stdio", "command": {path}, "args": ["mcp"]}}}}}}\n'
            "// VS Code, for the editor: install the extension zsol.vscode-glspc (a generic LSP client), then settings.json\n"
            f'{{"glspc.server.command": {path}, "glspc.server.commandArguments": ["lsp"], '
            f'"glspc.server.languageId": {json.dumps(_LANGUAGES)}}}'
        ),
        "zed": (
            "// Zed, for its agent: settings.json\n"
            f'{{"context_servers": {{"rag-ls": {{"source": "custom", "command": {path}, "args": ["mcp"], "env": {{}}}}}}}}\n'
            "// Zed, for the editor: install the extension in editors/zed/language-server, then settings.json\n"
            f'{{"lsp": {{"rag-ls": {{"binary": {{"path": {path}, "arguments": ["lsp"]}}}}}}}}'
        ),
        "neovim": (
            "-- Neovim 0.11 and later: init.lua\n"
            f"vim.lsp.config('rag-ls', {{ cmd = {{ {path}, 'lsp' }}, root_markers = {{ '.rag-ls', '.git' }} }})\n"
            "vim.lsp.enable('rag-ls')"
        ),
    }


def _shell(path: str) -> str:
    import shlex

    return shlex.quote(path)

"""`rag-ls connect`: the exact lines that connect editors and agents."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from rag_ls.errors import InvalidRequest

_LANGUAGES = (
    "python javascript javascriptreact typescript typescriptreact go rust c cpp java csharp kotlin scala swift ruby php elixir "
    "lua shellscript sql markdown html css json yaml toml"
).split()


def run(arguments: argparse.Namespace) -> int:
    """Print the lines for one client or all."""
    snippets = connections(command())
    if arguments.client and arguments.client not in snippets:
        raise InvalidRequest(f"{arguments.client!r} is not one of {', '.join(snippets)}")
    chosen = {arguments.client: snippets[arguments.client]} if arguments.client else snippets
    print(json.dumps(chosen, indent=2) if arguments.json else "\n\n".join(chosen.values()))
    return 0


def command() -> str:
    """The absolute path of this `rag-ls` command, so that clients need no PATH."""
    beside = Path(sys.executable).with_name("rag-ls")
    return str(beside) if beside.exists() else shutil.which("rag-ls") or "rag-ls"


def connections(rag_ls: str) -> dict[str, str]:
    """What to write where, by client."""
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
            "// Zed, for its agent: settings.json (its editor needs an extension, which is yet to come)\n"
            f'{{"context_servers": {{"rag-ls": {{"source": "custom", "command": {path}, "args": ["mcp"], "env": {{}}}}}}}}'
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

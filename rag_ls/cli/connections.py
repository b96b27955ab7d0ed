"""The connection of each editor and agent to rag-ls: the steps and lines of its page in docs/editors."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from rag_ls.util.records import dataclass

_VSCODE = """\
# VS Code: build the extension and install it (npm is needed). It brings its agent's MCP server along.

cd {folder}/editors/vscode
npm install
npm run package
code --install-extension rag-ls.vsix

# Where it does not find rag-ls, settings.json names it:

{{"ragLs.path": {path}}}

# For VS Code's agent alone, without the extension: `rag-ls connect vscode --write` in the project."""

_CLAUDE_CODE = """\
# Claude Code, in the project, for everybody who works on it (the server, and a skill that says when to search and remember):

rag-ls connect claude-code --write

# The same, and hooks that show the rules for a file before it is edited and check it afterwards:

rag-ls connect claude-code --hooks

# For yourself alone, in all projects, without the skill:

claude mcp add --scope user rag-ls -- {shell} mcp"""

_NEOVIM = """\
# Neovim 0.11 and later: init.lua

local rag_ls = {lua_folder}
vim.opt.rtp:prepend(rag_ls .. '/editors/neovim')
require('rag-ls').setup({{ cmd = {{ {lua}, 'lsp' }} }})
vim.keymap.set('n', '<leader>ss', '<cmd>RagLsSearch<cr>', {{ desc = 'Search code' }})
vim.keymap.set({{ 'n', 'x' }}, '<leader>sr', ':RagLsRelated<cr>', {{ desc = 'Related code' }})
vim.keymap.set('n', '<leader>sm', '<cmd>RagLsMemories<cr>', {{ desc = 'Search memories' }})
vim.keymap.set('x', '<leader>sm', ':RagLsRemember<cr>', {{ desc = 'Remember the selection' }})

# Without the Lua files, two lines start the server for all that Neovim's own keys reach:

vim.lsp.config('rag-ls', {{ cmd = {{ {lua}, 'lsp' }}, root_markers = {{ '.rag-ls', '.git' }} }})
vim.lsp.enable('rag-ls')"""

_ZED = """\
# Zed: `zed: install dev extension`, once for {folder}/editors/zed/language-server and once for
# {folder}/editors/zed/context-server. Where they do not find rag-ls, settings.json names it:

{{
  "lsp": {{
    "rag-ls": {{
      "binary": {{ "path": {path}, "arguments": ["lsp"] }}
    }}
  }},
  "context_servers": {{
    "rag-ls": {{ "settings": {{ "path": {path} }} }}
  }},
  "code_lens": "on"
}}

# For Zed's agent alone, without extensions:

{{"context_servers": {{"rag-ls": {{"source": "custom", "command": {path}, "args": ["mcp"], "env": {{}}}}}}}}"""

_EMACS = """\
# Emacs 28 and later, with Eglot: init.el

(require 'eglot)
(defvar rag-ls-command '({path} "lsp"))
(add-to-list 'eglot-server-programs
             `((prog-mode text-mode conf-mode) . ,(cons (expand-file-name (car rag-ls-command)) (cdr rag-ls-command))))
(dolist (hook '(prog-mode-hook text-mode-hook conf-mode-hook))
  (add-hook hook #'eglot-ensure))
(global-set-key (kbd "C-c s") #'xref-find-apropos)
(global-set-key (kbd "C-c m") #'eglot-code-actions)"""

_HELIX = """\
# Helix: ~/.config/helix/languages.toml. Name the servers that a language has already before rag-ls.

[language-server.rag-ls]
command = {path}
args = ["lsp"]

[[language]]
name = "python"
language-servers = ["ruff", "basedpyright", "rag-ls"]"""

_SUBLIME = """\
# Sublime Text, with the package LSP: "Preferences: LSP Settings"

{{
  "clients": {{
    "rag-ls": {{
      "enabled": true,
      "command": [{path}, "lsp"],
      "selector": "source | text"
    }}
  }}
}}"""


_CHECKOUT = "/path/of/rag-ls"
_GET_CHECKOUT = f"""\
# The files for this editor are in the repository (then write its folder for {_CHECKOUT} below):

git clone --depth 1 https://github.com/rag-ls/rag-ls"""


@dataclass(frozen=True, slots=True)
class Connection:
    """The connection of one editor or agent."""

    client: str
    summary: str
    _text: str

    def text(self, rag_ls: str, folder: Path | None) -> str:
        """The steps and lines for a command at `rag_ls`, and the folder of rag-ls where it is known.

        Lines that begin with `# ` explain; all others are to be copied.
        """
        at = str(folder or _CHECKOUT)
        text = self._text.format(
            path=json.dumps(rag_ls), shell=shlex.quote(rag_ls), folder=at, lua=_lua(rag_ls), lua_folder=_lua(at)
        )
        return text if folder or _CHECKOUT not in text else f"{_GET_CHECKOUT}\n\n{text}"


def _lua(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


CONNECTIONS = (
    Connection("vscode", "VS Code: an extension; it brings the agent's MCP server along", _VSCODE),
    Connection("claude-code", "Claude Code: the MCP server and a skill, in the project or for yourself", _CLAUDE_CODE),
    Connection("neovim", "Neovim 0.11+: a few lines of init.lua, with a picker for code and memories", _NEOVIM),
    Connection("zed", "Zed: two extensions, or lines of settings.json", _ZED),
    Connection("emacs", "Emacs: Eglot, a few lines of init.el", _EMACS),
    Connection("helix", "Helix: a few lines of languages.toml", _HELIX),
    Connection("sublime", "Sublime Text: a few lines of the LSP package's settings", _SUBLIME),
)
"""In the order of the README."""

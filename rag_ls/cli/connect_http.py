"""`rag-ls connect CLIENT --http`: the lines that connect an agent over HTTP, with a token of its own."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from types import SimpleNamespace

from rag_ls.cli.connect_files import file_inside, read_section, with_entry
from rag_ls.cli.open_command import start_http
from rag_ls.cli.terminal import print_notes, show_answer
from rag_ls.errors import InvalidRequest
from rag_ls.http.tokens import TokenFile
from rag_ls.locations import user_data_folder
from rag_ls.project import find_project, make_private_folder

_VARIABLE = "RAG_LS_TOKEN"
_HEADER = "X-RAG-Token"
_SECTION = "mcpServers"


def run_http(arguments: SimpleNamespace) -> int:
    """Make a token for the client and print its lines, or write them into the project without the token."""
    make_lines = _LINES.get(arguments.client)
    if make_lines is None:
        raise InvalidRequest(f"--http connects {', '.join(_LINES)}: `rag-ls connect claude-code --http`")
    if arguments.write:
        return _write(arguments)
    url, secret = start_http() + "mcp", _new_secret(arguments.client)
    lines = make_lines(url, secret)
    show_answer(arguments, {arguments.client: lines, "url": url, "token": secret}, lines, paged=False)
    print_notes("the token is shown only now; `rag-ls token list` and `revoke` manage it")
    return 0


def _new_secret(client: str) -> str:
    """The secret of a new token, named after the client; a second one gets a number."""
    make_private_folder(user_data_folder())
    tokens = TokenFile(user_data_folder())
    taken = {token.name for token in tokens.tokens()} | {entry.name for entry in tokens.unreadable()}
    name = next(each for each in (client, *(f"{client}-{number}" for number in range(2, 10_000))) if each not in taken)
    return tokens.add(name)[1]


def _write(arguments: SimpleNamespace) -> int:
    """Write `.mcp.json`, which is shared, with a variable in place of the token."""
    if arguments.client != "claude-code":
        raise InvalidRequest("--http --write is for claude-code: other clients keep the token in the user's settings")
    file = file_inside(find_project(arguments.project).root, ".mcp.json")
    # Checked first: no token is made if the file for it cannot be written.
    read_section(file, _SECTION)
    url, secret = start_http() + "mcp", _new_secret(arguments.client)
    with_entry(file, _SECTION, _entry(url, f"${{{_VARIABLE}}}"))
    print_notes("" if arguments.json else f"wrote {file}; each user sets the variable, you with:")
    answer = {"written": [str(file)], "url": url, "token": secret}
    return show_answer(arguments, answer, f"export {_VARIABLE}={shlex.quote(secret)}", paged=False)


def _entry(url: str, token: str) -> dict[str, object]:
    return {"type": "http", "url": url, "headers": {_HEADER: token}}


def _claude_code(url: str, token: str) -> str:
    header = shlex.quote(f"{_HEADER}: {token}")
    return f"claude mcp add --transport http --scope user rag-ls {url} --header {header}"


def _vscode(url: str, token: str) -> str:
    return json.dumps({"servers": {"rag-ls": _entry(url, token)}}, indent=2)


def _zed(url: str, token: str) -> str:
    return json.dumps({"context_servers": {"rag-ls": {"url": url, "headers": {_HEADER: token}}}}, indent=2)


_LINES: dict[str, Callable[[str, str], str]] = {"claude-code": _claude_code, "vscode": _vscode, "zed": _zed}

"""`rag-ls connect`: what connects editors and agents, printed or written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rag_ls.cli.connect import Connection, NotWritten, read_connections, write_connection
from rag_ls.errors import InvalidRequest
from tests.support import write

RAG_LS = str(Path(sys.executable).with_name("rag-ls"))
SERVER = {"type": "stdio", "command": RAG_LS, "args": ["mcp"]}
ROOT = Path(__file__).parents[2]
_PLACES = (
    ("vim.fn.expand('~/src/rag-ls')", f"'{ROOT}'"),
    ("rag_ls .. '/.venv/bin/rag-ls'", f"'{RAG_LS}'"),
    ("~/src/rag-ls/.venv/bin/rag-ls", RAG_LS),
    ("/path/to/rag-ls", RAG_LS),
    ("cd editors/", f"cd {ROOT}/editors/"),
)
SKILL = ".claude/skills/rag-ls/SKILL.md"


def _connect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [RAG_LS, "connect", *arguments, "--project", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def _names(root: Path, files: list[Path]) -> list[str]:
    return [file.relative_to(root).as_posix() for file in files]


def test_the_clients_are_listed_the_extension_of_vs_code_first(repository: Path) -> None:
    *listed, last = _connect(repository).stdout.splitlines()
    assert "mcp` is an MCP server" in last
    clients = [line.partition(" connect ")[2].split()[0] for line in listed]
    assert clients == ["vscode", "claude-code", "neovim", "zed", "emacs", "helix", "sublime"]
    named = re.findall(r"\(docs/editors/(.+?)\.md\)", (ROOT / "README.md").read_text())
    assert named == clients
    unknown = _connect(repository, "nvim")
    assert (unknown.returncode, "is not one of 'vscode', 'claude-code'" in unknown.stderr) == (2, True)


@pytest.mark.parametrize("connection", read_connections(), ids=lambda item: str(item.client))
def test_what_is_printed_stands_on_the_client_s_page(connection: Connection) -> None:
    page = (ROOT / "docs" / "editors" / f"{connection.client}.md").read_text()
    # The pages name the places of a user who cloned to ~/src.
    for placeholder, real in _PLACES:
        page = page.replace(placeholder, real)
    known = {_squeezed(line) for line in [*page.split("\n"), *re.findall(r"`(.+?)`", page)]}
    printed = connection.text(RAG_LS, ROOT).split("\n")
    configuration = [line for line in printed if line and not line.startswith("# ")]
    assert [line for line in configuration if _squeezed(line) not in known] == []


def _squeezed(line: str) -> str:
    return " ".join(line.split()).rstrip(",")


def test_what_is_on_the_path_is_written_by_its_name_alone(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "bin" / "rag-ls"
    link.parent.mkdir()
    link.symlink_to(RAG_LS)
    monkeypatch.setenv("PATH", str(link.parent), prepend=os.pathsep)
    assert _connect(repository, "claude-code", "--write").stderr == ""
    assert json.loads((repository / ".mcp.json").read_text())["mcpServers"]["rag-ls"]["command"] == "rag-ls"


@pytest.mark.slow
def test_claude_code_gets_the_server_and_a_skill_in_the_project(repository: Path) -> None:
    done = _connect(repository / "src", "claude-code", "--write")
    assert done.returncode == 0
    assert "is a path of this machine; before you commit the file" in done.stderr
    assert json.loads((repository / ".mcp.json").read_text()) == {"mcpServers": {"rag-ls": SERVER}}
    skill = (repository / SKILL).read_text()
    assert skill.startswith("---\nname: rag-ls\ndescription: ")
    again = _connect(repository, "claude-code", "--write")
    assert "connected already" in again.stdout


def test_what_else_the_file_says_stays(tmp_path: Path) -> None:
    other = {"mcpServers": {"other": {"command": "größe"}, "rag-ls": {"command": "old"}}, "inputs": [1]}
    write(tmp_path, {".mcp.json": json.dumps(other, ensure_ascii=False)})
    assert _names(tmp_path, write_connection("claude-code", RAG_LS, tmp_path)) == [".mcp.json", SKILL]
    found = json.loads((tmp_path / ".mcp.json").read_text("utf-8"))
    assert found == {"mcpServers": {"other": {"command": "größe"}, "rag-ls": SERVER}, "inputs": [1]}


def test_vs_code_s_agent_gets_the_server(tmp_path: Path) -> None:
    assert _names(tmp_path, write_connection("vscode", RAG_LS, tmp_path)) == [".vscode/mcp.json"]
    assert json.loads((tmp_path / ".vscode/mcp.json").read_text()) == {"servers": {"rag-ls": SERVER}}


@pytest.mark.parametrize("text", ["// a comment\n{}", "[]", '{"mcpServers": []}', "", "[" * 100_000])
def test_a_file_that_cannot_be_extended_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    write(tmp_path, {".mcp.json": text})
    with pytest.raises(NotWritten, match=r"\.mcp\.json"):
        write_connection("claude-code", RAG_LS, tmp_path)
    assert (tmp_path / ".mcp.json").read_text() == text


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    write(tmp_path, {"dotfiles/mcp.json": "{}"})
    (tmp_path / ".mcp.json").symlink_to("dotfiles/mcp.json")
    write_connection("claude-code", RAG_LS, tmp_path)
    assert (tmp_path / ".mcp.json").is_symlink()
    assert "rag-ls" in (tmp_path / "dotfiles" / "mcp.json").read_text()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    write(tmp_path, {".claude": "a file"})
    with pytest.raises(NotWritten, match=r"\.claude"):
        write_connection("claude-code", RAG_LS, tmp_path)


@pytest.mark.parametrize("client", ["", "zed", "neovim"])
def test_clients_without_a_file_in_the_project_are_refused(repository: Path, client: str) -> None:
    with pytest.raises(InvalidRequest, match="copy"):
        write_connection(client, RAG_LS, repository)
    assert _connect(repository, *([client] if client else []), "--write").returncode == 2

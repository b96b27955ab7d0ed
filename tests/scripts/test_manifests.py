"""What shops and registries read of rag-ls, against what their documentation asks for."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rag_ls import __version__
from rag_ls.cli.connect import write_connection, write_hooks
from rag_ls.util.installation import ON_PYPI
from scripts.generate_manifests import pypi_package

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "editors" / "claude-code"
CLAUDE = shutil.which("claude")


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_all_parts_say_the_same_version() -> None:
    server, lock = _json(ROOT / "server.json"), _json(ROOT / "editors" / "vscode" / "package-lock.json")
    said = {
        "server.json": server["version"],
        "server.json, package": pypi_package()["version"],
        "plugin.json": _json(PLUGIN / ".claude-plugin" / "plugin.json")["version"],
        "package.json": _json(ROOT / "editors" / "vscode" / "package.json")["version"],
        "package-lock.json": lock["version"],
        "package-lock.json, package": lock["packages"][""]["version"],
    }
    for folder in ("language-server", "context-server"):
        said[f"{folder}, extension"] = tomllib.loads((ROOT / "editors/zed" / folder / "extension.toml").read_text())[
            "version"
        ]
        said[f"{folder}, crate"] = tomllib.loads((ROOT / "editors/zed" / folder / "Cargo.toml").read_text())["package"][
            "version"
        ]
    assert {name: version for name, version in said.items() if version != __version__} == {}


def test_server_json_is_what_the_mcp_registry_takes() -> None:
    """https://modelcontextprotocol.io/registry: the schema of 2025-12-11 and "Package Types"."""
    server = _json(ROOT / "server.json")
    assert server["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 1 <= len(server["title"]) <= 100
    assert 1 <= len(server["description"]) <= 100
    package = pypi_package()
    assert server.get("packages", []) == ([package] if ON_PYPI else [])
    assert package.keys() <= {
        "registryType", "registryBaseUrl", "identifier", "version", "runtimeHint", "transport", "packageArguments",
        "runtimeArguments", "environmentVariables", "fileSha256",
    }  # fmt: skip
    assert (package["registryType"], package["transport"]) == ("pypi", {"type": "stdio"})
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])
    # PyPI shows this name, by which the registry sees that both are of one owner.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert package["identifier"] == project["project"]["name"]
    shown = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]
    assert any(f"mcp-name: {server['name']} " in fragment.get("text", "") for fragment in shown)


@pytest.mark.slow
def test_the_registry_s_line_starts_the_server() -> None:
    package = pypi_package()
    arguments = [argument["value"] for argument in package["packageArguments"]]
    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}
    command = [str(Path(sys.executable).with_name(package["identifier"])), *arguments, "--standalone"]
    done = subprocess.run(command, input=json.dumps(message) + "\n", capture_output=True, text=True, timeout=120)
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "rag-ls"


def test_claude_code_s_marketplace_lists_the_plugin_where_it_lies() -> None:
    """https://code.claude.com/docs: "Plugin marketplaces" and "Plugins reference"."""
    marketplace = _json(ROOT / ".claude-plugin" / "marketplace.json")
    assert marketplace["name"]
    assert marketplace["owner"]["name"]
    (listed,) = marketplace["plugins"]
    assert (ROOT / listed["source"]).resolve() == PLUGIN
    assert listed["source"].startswith("./")
    plugin = _json(PLUGIN / ".claude-plugin" / "plugin.json")
    assert plugin["name"] == listed["name"]
    assert re.fullmatch(r"[a-z0-9-]+", plugin["name"])
    icon = (PLUGIN / ".claude-plugin" / "icon.png").read_bytes()
    assert struct.unpack(">II", icon[16:24]) == (512, 512)


def test_the_plugin_brings_what_connect_writes_into_a_project(tmp_path: Path) -> None:
    write_connection("claude-code", "rag-ls", tmp_path)
    write_hooks("rag-ls", tmp_path)
    assert _json(PLUGIN / ".mcp.json") == _json(tmp_path / ".mcp.json")
    assert _json(PLUGIN / "hooks" / "hooks.json")["hooks"] == _json(tmp_path / ".claude" / "settings.json")["hooks"]
    skill = Path("skills", "rag-ls", "SKILL.md")
    assert (PLUGIN / skill).read_bytes() == (tmp_path / ".claude" / skill).read_bytes()


@pytest.mark.skipif(CLAUDE is None, reason="Claude Code is not installed")
def test_claude_code_takes_marketplace_and_plugin(tmp_path: Path) -> None:
    for folder in (ROOT, PLUGIN):
        done = _claude("plugin", "validate", str(folder), home=tmp_path)
        assert "Validation passed" in done.stdout, done.stdout + done.stderr
    _claude("plugin", "marketplace", "add", str(ROOT), home=tmp_path)
    _claude("plugin", "install", "rag-ls@rag-ls", home=tmp_path)
    details = _claude("plugin", "details", "rag-ls@rag-ls", home=tmp_path).stdout
    for part in (r"Skills \(1\)", r"Hooks \(2\)", r"MCP servers \(1\)"):
        assert re.search(part, details), details


def _claude(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    quiet = {"DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    environment = {**os.environ, **quiet, "HOME": str(home)}
    return subprocess.run(
        [str(CLAUDE), *arguments], cwd=home, env=environment, capture_output=True, text=True, timeout=120, check=True
    )

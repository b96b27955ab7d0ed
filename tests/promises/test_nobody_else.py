"""Nobody else on the machine: other users read no file of rag-ls, and get no token by watching or by waiting."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2 as httpx
import psutil
import pytest

from rag_ls.config.engine_settings import HttpSettings
from rag_ls.daemon.background import HttpHost
from rag_ls.daemon.connecting import Listening
from rag_ls.daemon.paths import engine_paths
from rag_ls.daemon.server import EngineServer, Patience, Succession
from rag_ls.engine.engine import Engine
from rag_ls.errors import NotIndexed
from rag_ls.http import server as http_server
from rag_ls.http.app import PAGE
from rag_ls.http.tokens import Access, TokenFile
from rag_ls.locations import user_data_folder
from rag_ls.project import Project, check_may_become_project, find_marked_root, find_project
from tests.commands import RAG_LS
from tests.daemon.engines import answer, engine, run, until_served
from tests.http.conftest import Serve, serve
from tests.http.test_server import certificate
from tests.support import PATIENCE_S, SHOP, finished, python, until, write

__all__ = ["certificate", "serve"]

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


@pytest.mark.slow
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
        "import logging, os, sys\nfrom pathlib import Path\n"
        "from rag_ls.config import logs; from rag_ls.config.settings import LogSettings\n"
        "os.umask(0)\nlogs._MAX_FILE_BYTES = 500\n"
        "logs.to_rotating_file(Path(sys.argv[1]) / 'engine.log', LogSettings(), also_stderr=True)\n"
        "for number in range(20):\n    logging.getLogger('rag_ls').warning('line %d %s', number, 'x' * 200)\n"
        "assert not logs.configure(LogSettings(file=sys.argv[1] + '/named.log'))\n"
    )
    finished(python(script, tmp_path / "log"))
    names = {"engine.log", "engine.log.1", "engine.log.2", "engine.log.3", "named.log"}
    assert {file.name: oct(_mode(file)) for file in (tmp_path / "log").iterdir()} == dict.fromkeys(names, "0o600")


# --- the page


@pytest.mark.parametrize("mark", [".rag-ls", ".git"])
def test_what_another_user_puts_into_a_folder_above_makes_it_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    shared, work = tmp_path / "shared", write(tmp_path / "shared/work/deep", {"a.py": "x = 1\n"})
    (shared / mark).mkdir()
    assert find_marked_root(work) == shared
    with monkeypatch.context() as patched:
        # This user's from now on is another's.
        patched.setattr(os, "geteuid", lambda: os.getuid() + 4711)
        # As of a repository whose owner runs a command as root, or a mounted folder.
        assert find_marked_root(work) == shared
        shared.chmod(0o1777)
        assert find_project(work).root == work
        patched.setenv("TMPDIR", str(shared))
        patched.setattr(tempfile, "tempdir", None)
        with pytest.raises(NotIndexed, match="all kinds of things"):
            check_may_become_project(shared)
    if os.geteuid() == 0:
        os.chown(shared / mark, 4711, 4711)
        assert find_project(work).root == work
        shared.chmod(0o755)
        assert find_project(work).root == work


def _signed_in(page: str) -> str:
    """The token that the answer to a code holds."""
    found = re.search(r'id="token">(.*?)</script>', page)
    assert found is not None, page
    secret: str = json.loads(found[1])
    return secret


def _command_lines() -> str:
    lines = []
    for process in psutil.process_iter():
        try:
            lines.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return "\n".join(lines)


@pytest.mark.slow
def test_the_code_that_opens_the_page_is_in_a_private_file_and_in_no_command_line(
    http_settings: str, tmp_path: Path
) -> None:
    asked, browser = tmp_path / "asked", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{asked}.part" && mv "{asked}.part" "{asked}"\nsleep 2\n')
    browser.chmod(0o700)
    with engine():
        until_served(http_settings)
        former = write(Path(engine_paths().folder), {"open-1.html": "left by one that was killed"}) / "open-1.html"
        opening = subprocess.Popen(
            [RAG_LS, "open"], env={**os.environ, "BROWSER": f"{browser} %s"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )  # fmt: skip
        assert until(asked.exists)
        form = Path(asked.read_text().strip().removeprefix("file://"))
        code = re.findall(r'value="(.*?)"', form.read_text())[0]
        assert (_mode(form), _mode(form.parent)) == (0o600, 0o700)
        assert form.name in _command_lines()
        assert code not in _command_lines()
        assert not former.exists()
        posted = {"data": {"code": code}, "headers": {"origin": "null"}, "timeout": PATIENCE_S}
        secret = _signed_in(httpx.post(f"{http_settings}/open", **posted).text)
        said, complaints = opening.communicate(timeout=PATIENCE_S)
        assert (opening.returncode, said) == (0, ""), complaints
        assert not form.exists()
        assert httpx.post(f"{http_settings}/open", **posted).status_code == 401, "the code works once"
        (token,) = answer("token", "list")["tokens"]
        assert TokenFile(user_data_folder()).tokens()[0].digest == hashlib.sha256(secret.encode()).hexdigest()
        assert token["scope"] == Access.WRITE
        assert token["expires_at"] < f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M}"


def test_only_a_code_may_be_posted_by_a_page_without_an_origin(serve: Serve) -> None:
    served = serve()
    nobody = served.caller(origin="null")
    assert nobody.post("/open", data={"code": "x"}).status_code == 401
    assert nobody.post("/open", content=b"code=" + b"x" * 100_000).status_code == 401
    for method, path in (
        ("GET", "/open/x"),
        ("POST", "/api/search"),
        ("POST", "/open/x"),
        ("GET", "/"),
    ):
        assert nobody.request(method, path).status_code == 403, path
    assert served.caller(origin="http://elsewhere.example").post("/open", data={"code": "x"}).status_code == 403


def test_a_pages_token_ends_with_the_server_that_gave_it(serve: Serve) -> None:
    """Another program on its port may have got it from an open tab."""
    first = serve()
    code = first.tokens.add_with_code("page", Access.WRITE, timedelta(hours=1), timedelta(minutes=1))
    secret = _signed_in(first.caller().get(f"/open/{code}").text)
    assert first.caller(secret).get("/status").status_code == 200
    script = first.token("a script's")
    later = serve()
    assert later.caller(secret).get("/status").status_code == 401
    assert later.caller(script).get("/status").status_code == 200
    # It is forgotten when the next page is opened.
    again = TokenFile(user_data_folder()).add_with_code("page", Access.WRITE, timedelta(hours=1), timedelta(minutes=1))
    assert later.caller().get(f"/open/{again}").status_code == 200
    assert len(later.tokens.tokens()) == 2, "the script's, and that of the page that was opened now"


def test_the_page_keeps_only_choices_beyond_its_tab() -> None:
    kept = {key for file in PAGE.glob("*.js") for key in re.findall(r"localStorage\.\w+\((.*?)[,)]", file.read_text())}
    assert kept == {'"rag-ls.theme"', "KEY"}
    assert 'KEY = "rag-ls.editor"' in (PAGE / "editors.js").read_text()


# --- who only connects


@pytest.mark.slow
@pytest.mark.parametrize("is_secure", [False, True])
def test_who_only_connects_takes_a_limited_number_of_connections(
    serve: Serve, certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch, *, is_secure: bool
) -> None:
    monkeypatch.setattr(http_server, "_MAX_CONNECTIONS", 20)
    served = serve(cert=certificate[0], key=certificate[1]) if is_secure else serve()
    place = httpx.URL(served.server.url)
    idle = [socket.create_connection((place.host, place.port), PATIENCE_S) for _ in range(25)]
    try:
        for connection in idle[20:]:
            assert _is_closed(connection)
        # Nothing was sent: those that are in would wait, and are not closed.
        idle[0].settimeout(0.2)
        with pytest.raises(TimeoutError):
            idle[0].recv(1)
        for connection in idle[:10]:
            connection.close()

        def may_enter() -> bool:
            with socket.create_connection((place.host, place.port), PATIENCE_S) as connection:
                connection.settimeout(0.5)
                try:
                    return not _is_closed(connection)
                except TimeoutError:
                    return True

        assert until(may_enter)
    finally:
        for connection in idle:
            connection.close()


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_clients_that_cannot_be_accepted_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    closed = socket.socket()
    closed.close()
    logging.getLogger("rag_ls.daemon.server").addHandler(caplog.handler)
    server = EngineServer(
        Engine(), Listening(closed, "", ""), Patience(1, 1),
        Succession(make_way=lambda: None, has_other_settings=lambda: False, has_other_code=lambda: False, is_reachable=lambda: True),
        http=HttpHost(Engine(), HttpSettings()),
    )  # fmt: skip
    for _ in range(3):
        server._accept()
    logging.getLogger("rag_ls.daemon.server").removeHandler(caplog.handler)
    assert caplog.text.count("a client could not be accepted") == 1

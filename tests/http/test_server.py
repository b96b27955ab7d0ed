"""Starting and ending the server: addresses, certificates, ports that are taken, clients that are there at the end."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from pathlib import Path

import httpx2 as httpx
import pytest

from rag_ls.config.engine_settings import HttpSettings
from rag_ls.errors import HttpUnavailable
from rag_ls.http.server import HttpServer
from tests.http.conftest import Serve, Served
from tests.support import PATIENCE_S, until


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The files of a certificate for localhost and of its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return str(cert), str(key)


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
def test_another_address_than_loopback_needs_tls_or_a_proxy(serve: Serve, address: str) -> None:
    with pytest.raises(HttpUnavailable, match="--cert and --key, or --behind-proxy"):
        serve(address=address)


def test_a_proxy_in_front_may_do_tls(serve: Serve) -> None:
    served = serve(address="0.0.0.0:0", behind_proxy=True, hosts=("engine.example",))
    port = served.server.url.rstrip("/").rpartition(":")[2]
    health = httpx.get(f"http://127.0.0.1:{port}/health", headers={"host": "engine.example"}, timeout=PATIENCE_S)
    assert health.status_code == 200


def test_tls_is_served_with_a_certificate(serve: Serve, certificate: tuple[str, str]) -> None:
    cert, key = certificate
    served = serve(cert=cert, key=key)
    assert served.server.url.startswith("https://")
    context = ssl.create_default_context(cafile=cert)
    answer = httpx.get(f"{served.server.url}health", verify=context, timeout=PATIENCE_S)
    assert answer.json() == {"status": "live"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cert": "/nowhere.pem", "key": "/nowhere.pem"}, "'/nowhere.pem'"),
        ({"cert": "/nowhere.pem"}, "both --cert and --key"),
        ({"address": "not an address"}, "127.0.0.1:17080"),
        ({"address": "192.0.2.1:0", "behind_proxy": True}, "cannot be listened on"),
        ({"address": "no.such.host.invalid:0", "behind_proxy": True}, "cannot be listened on"),
    ],
)
def test_what_cannot_be_served_is_a_clear_error(serve: Serve, changes: dict[str, object], words: str) -> None:
    with pytest.raises(HttpUnavailable) as refused:
        serve(**changes)
    assert words in str(refused.value)


def test_a_certificate_that_is_none_is_a_clear_error(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nothing")
    with pytest.raises(HttpUnavailable, match="PEM format"):
        serve(cert=str(tmp_path / "bad.pem"), key=str(tmp_path / "bad.pem"))


def test_a_port_that_is_taken_is_a_clear_error_and_the_other_server_goes_on(served: Served) -> None:
    address = served.server.url.removeprefix("http://").rstrip("/")
    second = HttpServer(served.engine, HttpSettings(address=address), served.tokens)
    with pytest.raises(HttpUnavailable, match="another program listens there"):
        second.start()
    assert served.caller().get("/health").status_code == 200


@pytest.mark.slow
def test_a_stopped_server_frees_its_port_though_clients_listen(served: Served) -> None:
    caller = served.caller(served.token())
    ended = threading.Event()

    def listen() -> None:
        try:
            with caller.stream("GET", "/events") as stream:
                list(stream.iter_bytes())
        except httpx.HTTPError:
            pass
        ended.set()

    thread = threading.Thread(target=listen)
    thread.start()
    assert until(lambda: bool(served.engine.events._listeners))
    served.server.stop()
    thread.join(PATIENCE_S)
    assert ended.is_set()
    host, port = served.server.url.removeprefix("http://").rstrip("/").split(":")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, int(port)), 5)


def test_a_thousand_idle_connections_hold_up_nobody(served: Served) -> None:
    host, port = served.server.url.removeprefix("http://").rstrip("/").split(":")
    idle = [socket.create_connection((host, int(port)), 30) for _ in range(1000)]
    try:
        caller = served.caller(served.token())
        assert caller.get("/health").status_code == 200
        assert caller.get("/status").status_code == 200
    finally:
        for connection in idle:
            connection.close()


def test_a_client_that_leaves_in_the_middle_of_a_stream_leaves_nothing_behind(two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token())
    with caller.stream("GET", "/events") as stream:
        # An iterator that nobody holds closes the connection.
        received = stream.iter_bytes()
        next(received)
        assert until(lambda: bool(two_projects.engine.events._listeners))
        listeners = len(two_projects.engine.events._listeners)
    assert until(lambda: len(two_projects.engine.events._listeners) < listeners)
    headers = {"accept": "text/event-stream", "x-rag-project": "shop"}
    with caller.stream("POST", "/api/index", json={}, headers=headers) as stream:
        next(stream.iter_bytes())
    assert caller.get("/health").status_code == 200

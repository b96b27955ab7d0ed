"""Who gets in, under which limits, and what refusals say."""

from __future__ import annotations

import logging
import socket

import pytest
from filelock import FileLock

from rag_ls.http.tokens import Access
from rag_ls.locations import user_config_file
from tests.http.conftest import Serve, Served
from tests.support import until, write


def test_an_engine_whose_user_wants_no_model_is_ready_without_one(serve: Serve) -> None:
    file = user_config_file()
    write(file.parent, {file.name: '[embedding]\nmodel = "none"\n'})
    served = serve()
    answer = served.caller().get("/ready")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "model": False, "store": True})


def test_only_health_and_readiness_need_no_token(served: Served) -> None:
    nobody = served.caller()
    assert nobody.get("/health").json() == {"status": "live"}
    assert nobody.get("/ready").status_code in (200, 503)
    described = served.caller(served.token()).get("/openapi.json").json()["paths"]
    for path, methods in described.items():
        for method in methods:
            if path not in ("/health", "/ready"):
                answer = nobody.request(method.upper(), path.replace("{id}", "x"), json={})
                assert answer.status_code == 401, (method, path)
    for path in ("/", "/page/main.js", "/mcp", "/rag-mcp/shop", "/nothing"):
        assert nobody.get(path).status_code == 401, path


def test_a_token_counts_in_both_headers_and_nowhere_else(served: Served) -> None:
    token = served.token()
    assert served.caller(token).get("/status").status_code == 200
    assert served.caller(authorization=f"Bearer {token}").get("/status").status_code == 200
    assert served.caller(authorization=f"Basic {token}").get("/status").status_code == 401
    assert served.caller().get(f"/status?token={token}").status_code == 401


def test_a_wrong_a_revoked_and_an_absent_token_get_the_same_answer(served: Served) -> None:
    revoked = served.token("gone")
    served.tokens.revoke("gone")
    answers = [served.caller(token).get("/status").json()["error"] for token in ("", "wrong", revoked)]
    assert len({(answer["type"], answer["message"]) for answer in answers}) == 1


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", ""])
def test_an_unknown_host_is_refused_against_dns_rebinding(served: Served, host: str) -> None:
    answer = served.caller(served.token(), host=host).get("/status")
    assert answer.status_code == 421
    assert (
        answer.json()["error"]["message"]
        == f"this server is not called {host}: the user's setting http.hosts lists its names"
    )


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost.evil.example"]
)
def test_a_page_of_another_origin_is_refused(served: Served, origin: str) -> None:
    answer = served.caller(served.token(), origin=origin).get("/status")
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_a_listed_origin_may_read_answers_and_others_never(serve: Serve) -> None:
    served = serve(origins=("https://ci.example",))
    caller = served.caller(served.token(), origin="https://ci.example")
    assert caller.get("/status").headers["access-control-allow-origin"] == "https://ci.example"
    asked = {"access-control-request-method": "POST"}
    assert served.caller(origin="https://ci.example").options("/status", headers=asked).status_code == 200
    assert served.caller(origin="https://x.example").options("/status", headers=asked).status_code == 400


def test_a_body_that_is_too_large_is_refused_before_it_is_read(serve: Serve) -> None:
    served = serve(max_body_bytes=10_000)
    caller = served.caller(served.token())
    answer = caller.post("/api/search", content=b" " * 10_001, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "BodyTooLarge")

    def pieces() -> object:
        for _ in range(20):
            yield b" " * 1000

    answer = caller.post("/api/search", content=pieces(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert caller.get("/status").status_code == 200


def test_a_gigabyte_is_refused_by_its_length_alone(served: Served) -> None:
    host, port = served.server.url.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        head = f"POST /api/search HTTP/1.1\r\nHost: {host}:{port}\r\nX-RAG-Token: {served.token()}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n".encode())
        assert b" 413 " in connection.recv(1000).split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("access", "operation", "status"),
    [
        (Access.READ, "search", 200), (Access.READ, "store_memory", 403), (Access.READ, "reindex", 403),
        (Access.WRITE, "optimize", 403), (Access.WRITE, "remove_projects", 403), (Access.WRITE, "delete_memory", 404),
        (Access.ADMIN, "remove_projects", 200),
    ],
)  # fmt: skip
def test_what_a_token_allows(two_projects: Served, access: Access, operation: str, status: int) -> None:
    arguments = {"search": {"query": "refund"}, "delete_memory": {"id": "00000000-none"}}.get(operation, {})
    answer = two_projects.caller(two_projects.token("limited", access)).post(f"/api/{operation}", json=arguments)
    assert answer.status_code == status, answer.text
    if status == 403:
        needed = "admin" if operation in ("optimize", "remove_projects") else "write"
        refusal = f"{operation} needs a token with the scope {needed}, and this one has {access}: "
        assert answer.json()["error"]["message"] == f"{refusal}`rag-ls token add NAME --scope {needed}` makes one"


def test_an_error_and_its_line_of_the_log_have_one_request_id(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    token = served.token()
    caplog.set_level(logging.INFO, "rag_ls")
    logging.getLogger("rag_ls").addHandler(caplog.handler)
    try:
        answer = served.caller(token).post("/api/get_memory", json={"id": "0000000000"})
        request_id = answer.json()["error"]["request_id"]
        assert answer.headers["x-request-id"] == request_id
        assert until(lambda: any(request_id in record.getMessage() for record in caplog.records))
    finally:
        logging.getLogger("rag_ls").removeHandler(caplog.handler)
    assert not any(token in record.getMessage() for record in caplog.records)


def test_half_a_request_half_a_body_and_silence_hold_up_nobody(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("rag_ls.http.server.REQUEST_S", 0.3)
    host, port = served.server.url.removeprefix("http://").rstrip("/").split(":")
    head = f"POST /api/search HTTP/1.1\r\nHost: {host}:{port}\r\n"
    body = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    sent = (
        "",
        "GET /status HT",
        "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        f"{head}X-RAG-Token: {served.token()}\r\n{body}",
    )
    half = [socket.create_connection((host, int(port)), 20) for _ in sent]
    for connection, text in zip(half, sent, strict=True):
        connection.sendall(text.encode())
    assert served.caller().get("/health").status_code == 200
    for connection in half:
        assert connection.recv(1000) == b"", "the server closes it"
        connection.close()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_cookie_of_strange_bytes_is_refused_like_any_other(served: Served) -> None:
    for value in (b'rag_ls_page="\\351"', b"rag_ls_page=\xff\xfe", b"rag_ls_page=x"):
        assert served.caller().get("/", headers={b"cookie": value}).status_code == 401


def test_who_has_no_code_does_not_wait_for_the_file_of_tokens(served: Served) -> None:
    with FileLock(f"{served.tokens.path}.lock"):
        assert served.caller().get("/open/nothing").status_code == 401
        assert served.caller().get("/health").status_code == 200


@pytest.mark.parametrize("origin", ["http://localhost", "https://127.0.0.1", "http://127.0.0.1"])
def test_another_port_of_this_machine_is_another_origin(served: Served, origin: str) -> None:
    assert served.caller(served.token(), origin=origin).get("/status").status_code == 403

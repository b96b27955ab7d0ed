"""Summaries by a language model, over real HTTP."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from rag_ls.config.engine_settings import SummarySettings
from rag_ls.memory.new_memories import MAX_CONTENT
from rag_ls.memory.summarise import SummaryFailed, write_summary
from tests.memory.chat_server import ChatServer, chat_server
from tests.memory.support import record

_MEMORIES = [record(1, "Tokens expire\n\nafter an hour"), record(2, "Invoices: sent by mail, übrigens 検索")]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A language model."""
    with chat_server() as server:
        yield server


def _settings(endpoint: str, key: str = "", timeout: float = 5) -> SummarySettings:
    return SummarySettings(endpoint=endpoint, model="small", api_key_env=key, timeout_s=timeout)


@pytest.mark.parametrize("end", ["/v1", "/v1/"])
def test_an_openai_compatible_endpoint_is_asked_as_its_reference_says(server: ChatServer, end: str) -> None:
    server.speaks_openai("  Tokens live an hour; invoices go by mail.\n")
    assert write_summary(_MEMORIES, 50, _settings(server.url + end)) == "Tokens live an hour; invoices go by mail."
    ((path, headers, body),) = server.asked
    assert path == "/v1/chat/completions"
    assert headers["Content-Type"] == "application/json"
    assert "Authorization" not in headers
    system, user = body.pop("messages")
    assert body == {"model": "small", "stream": False, "temperature": 0}
    assert (system["role"], user["role"]) == ("system", "user")
    assert "at most 50 words" in system["content"]
    assert user["content"] == "- Tokens expire after an hour\n- Invoices: sent by mail, übrigens 検索"


def test_ollama_is_asked_as_its_reference_says(server: ChatServer) -> None:
    server.speaks_ollama("Tokens live an hour.")
    assert write_summary(_MEMORIES, 50, _settings(f"{server.url}/api")) == "Tokens live an hour."
    ((path, _, body),) = server.asked
    assert path == "/api/chat"
    assert [message["role"] for message in body.pop("messages")] == ["system", "user"]
    assert body == {"model": "small", "stream": False, "options": {"temperature": 0, "seed": 0}}


def test_the_key_comes_from_the_environment(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMMARY_KEY", "the key")
    server.speaks_openai("Tokens live an hour.")
    write_summary(_MEMORIES, 50, _settings(f"{server.url}/v1", key="SUMMARY_KEY"))
    assert server.asked[0][1]["Authorization"] == "Bearer the key"


def test_a_model_on_this_machine_is_asked_past_a_proxy_which_would_read_the_memories(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.speaks_openai("Tokens live an hour.")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed.getsockname()[1]}")
        assert write_summary(_MEMORIES, 50, _settings(f"{server.url}/v1")) == "Tokens live an hour."


def test_a_key_that_is_none_is_not_told(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("first line\nsecond line", "schlüssel"):
        monkeypatch.setenv("SUMMARY_KEY", key)
        with pytest.raises(SummaryFailed, match=r"SUMMARY_KEY .*holds no key") as caught:
            write_summary(_MEMORIES, 50, _settings(server.url, key="SUMMARY_KEY"))
        assert key not in str(caught.value)
        assert "second" not in str(caught.value)
    assert server.asked == []


def test_a_great_many_notes_are_cut(server: ChatServer) -> None:
    server.speaks_openai("Much.")
    write_summary([record(number, "word " * 2000) for number in range(20)], 50, _settings(server.url))
    assert len(server.asked[0][2]["messages"][1]["content"]) == 48_000


@pytest.mark.parametrize(
    "answer",
    [
        {}, [], 5, None, {"choices": []}, {"choices": [{}]}, {"choices": None}, {"choices": [{"message": None}]},
        {"error": {"message": "no such model"}}, b"no JSON", b"", b'{"choices": [',
    ],
)  # fmt: skip
def test_an_answer_of_another_shape_is_a_failure_that_names_the_endpoint(server: ChatServer, answer: object) -> None:
    server.answer = answer
    with pytest.raises(SummaryFailed, match=server.url):
        write_summary(_MEMORIES, 50, _settings(f"{server.url}/v1"))


@pytest.mark.parametrize("text", ["", "  \n", None, 5, ["a"], {"type": "text"}])
def test_an_empty_answer_is_a_failure(server: ChatServer, text: object) -> None:
    for speak, path in ((server.speaks_openai, "/v1"), (server.speaks_ollama, "/api")):
        speak(text)
        with pytest.raises(SummaryFailed, match="empty summary"):
            write_summary(_MEMORIES, 50, _settings(server.url + path))


def test_an_answer_too_long_to_be_kept_is_a_failure(server: ChatServer) -> None:
    server.speaks_openai("word " * MAX_CONTENT)
    with pytest.raises(SummaryFailed, match="is no summary"):
        write_summary(_MEMORIES, 50, _settings(server.url))


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_an_error_is_a_failure_with_its_number_and_without_the_key(
    server: ChatServer, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUMMARY_KEY", "the key")
    server.speaks_openai("Tokens live an hour.")
    server.status = status
    with pytest.raises(SummaryFailed, match=str(status)) as caught:
        write_summary(_MEMORIES, 50, _settings(server.url, key="SUMMARY_KEY"))
    assert "the key" not in str(caught.value)


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9.6\r\n", b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"]
)
def test_what_speaks_no_http_is_a_failure(server: ChatServer, answer: bytes) -> None:
    server.status, server.answer = 0, answer
    with pytest.raises(SummaryFailed, match=server.url):
        write_summary(_MEMORIES, 50, _settings(server.url))


def test_nobody_there_is_a_failure() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(SummaryFailed, match=f"127.0.0.1:{port}"):
        write_summary(_MEMORIES, 50, _settings(f"http://127.0.0.1:{port}/v1"))


def test_nobody_waits_longer_than_is_set(server: ChatServer) -> None:
    server.speaks_openai("Tokens live an hour.")
    server.delay.clear()
    with pytest.raises(SummaryFailed, match="timed out"):
        write_summary(_MEMORIES, 50, _settings(server.url, timeout=0.2))


@pytest.mark.parametrize(
    "endpoint", ["file:///etc/passwd", "ftp://example.org", "localhost:11434", "http://", "http://[::1"]
)
def test_what_is_no_http_address_is_a_failure(endpoint: str) -> None:
    with pytest.raises(SummaryFailed):
        write_summary(_MEMORIES, 50, _settings(endpoint))

"""Addresses to listen on, and the names by which a server may be called."""

from __future__ import annotations

import pytest

from rag_ls.errors import InvalidRequest
from rag_ls.http.exchange import Address, host_of, parse_address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Address("127.0.0.1", 17080)),
        ("8080", Address("127.0.0.1", 8080)),
        (":8080", Address("127.0.0.1", 8080)),
        ("localhost", Address("localhost", 17080)),
        ("0.0.0.0:80", Address("0.0.0.0", 80)),
        ("[::1]:9", Address("::1", 9)),
    ],
)
def test_addresses_are_read(text: str, expected: Address) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize("text", ["127.0.0.1:99999", "http://x", "a:b", "::1:8080", "host:", "a b:1"])
def test_other_texts_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"127\.0\.0\.1:17080"):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("box", False)],
)  # fmt: skip
def test_only_this_machine_reaches_loopback(host: str, expected: bool) -> None:
    assert Address(host, 1).is_loopback is expected


def test_a_loopback_server_is_called_by_all_names_of_loopback() -> None:
    names = Address("127.0.0.1", 1).names(("Engine.Example",))
    assert names == {"127.0.0.1", "localhost", "[::1]", "engine.example"}


@pytest.mark.parametrize(
    ("header", "expected"), [("LocalHost:80", "localhost"), ("[::1]:80", "[::1]"), ("127.0.0.1", "127.0.0.1"), ("", "")]
)
def test_the_host_is_taken_from_a_header(header: str, expected: str) -> None:
    assert host_of(header) == expected

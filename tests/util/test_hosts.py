"""Which hosts are this machine for itself alone."""

from __future__ import annotations

import pytest

from rag_ls.util.paths import is_loopback


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("LocalHost", True), ("0.0.0.0", False),
        ("127.0.0.1.evil.example", False), ("localhost.evil.example", False), ("10.0.0.1", False), ("", False),
    ],
)  # fmt: skip
def test_only_loopback_addresses_and_their_name_are(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected

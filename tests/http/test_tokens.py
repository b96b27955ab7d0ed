"""Tokens: what is kept of them, how long they count, what happens to a bad file."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rag_ls.errors import InvalidRequest, NotFound, StoreUnavailable
from rag_ls.http.tokens import Access, TokenFile, lifetime_of

_START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A time that tests move."""

    def __init__(self) -> None:
        self.now = _START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(tmp_path: Path, clock: Callable[[], datetime]) -> TokenFile:
    return TokenFile(tmp_path, clock)


def test_a_token_is_found_by_its_secret_which_no_file_holds(tokens: TokenFile) -> None:
    token, secret = tokens.add("ci", Access.READ, ["shop"])
    assert tokens.holder_of(secret) == token
    assert tokens.holder_of(secret + "x") is None
    assert tokens.holder_of("") is None
    assert secret not in tokens.path.read_text()
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600


def test_a_token_expires(tokens: TokenFile, clock: Clock) -> None:
    token, secret = tokens.add("ci", lifetime=timedelta(days=1))
    clock.now += timedelta(hours=23)
    assert tokens.holder_of(secret) == token
    clock.now += timedelta(hours=1)
    assert tokens.holder_of(secret) is None
    assert not tokens.is_in_force(token)


def test_a_revoked_token_counts_no_longer_in_any_process(tokens: TokenFile, tmp_path: Path) -> None:
    token, secret = tokens.add("ci")
    other = TokenFile(tmp_path)
    assert other.holder_of(secret) == token
    tokens.revoke("ci")
    assert other.holder_of(secret) is None
    assert not other.is_in_force(token)


def test_names_are_unique_and_unknown_ones_name_the_nearest(tokens: TokenFile) -> None:
    tokens.add("deploy")
    with pytest.raises(InvalidRequest, match="already"):
        tokens.add("deploy")
    with pytest.raises(InvalidRequest, match="characters"):
        tokens.add("  ")
    with pytest.raises(NotFound, match="the nearest is deploy"):
        tokens.revoke("deplay")


def test_a_one_time_code_gives_the_secret_once(tokens: TokenFile, clock: Clock) -> None:
    code = tokens.add_with_code("page", Access.ADMIN, timedelta(days=7), timedelta(minutes=2))
    assert tokens.holder_of(code) is None
    secret = tokens.exchange(code)
    assert secret is not None
    assert tokens.holder_of(secret) is not None
    assert tokens.exchange(code) is None
    late = tokens.add_with_code("page", Access.ADMIN, timedelta(days=7), timedelta(minutes=2))
    clock.now += timedelta(minutes=3)
    assert tokens.exchange(late) is None
    assert tokens.holder_of(secret) is not None, "another window's token stays"
    first, second = (
        tokens.add_with_code("page", Access.ADMIN, timedelta(days=7), timedelta(minutes=2)) for _ in range(2)
    )
    assert not tokens.is_waiting(late), "what came to nothing makes room"
    assert tokens.exchange(first), "a window that is still opening keeps its code"
    assert tokens.exchange(second)


def test_a_damaged_file_lets_nobody_in_and_says_what_to_do(tokens: TokenFile) -> None:
    tokens.add("ci")
    tokens.path.write_text('{"tokens": [{"id"')
    with pytest.raises(StoreUnavailable, match="make the tokens anew"):
        tokens.holder_of("anything")


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"only_paths": "src"}, "does not know its key 'only_paths'"), ({"access": "root"}, "'root', and not read, write"),
     ({"projects": "shop"}, "no list: 'shop'"), ({"expires_at": "soon"}, "soon"), ({"expires_at": None}, "'expires_at'"),
     ({"expires_at": "2026-01-01"}, "time zone"), ({"digest": 5}, "'digest'"), ({"digest": "\xe9"}, "no SHA-256"),
     ({"projects": [1]}, "'projects'")],
)  # fmt: skip
def test_a_token_that_cannot_be_read_counts_for_nobody_harms_no_other_and_stays(
    tokens: TokenFile, change: dict[str, Any], reason: str
) -> None:
    tokens.add("ci")
    _, secret = tokens.add("deploy")
    content = json.loads(tokens.path.read_text())
    content["tokens"][0] |= change
    tokens.path.write_text(json.dumps({**content, "made_by": "9.9"}))
    assert [token.name for token in tokens.tokens()] == ["deploy"]
    assert tokens.holder_of(secret)
    assert [reason in item.reason for item in tokens.unreadable()] == [True]
    with pytest.raises(InvalidRequest, match="already"):
        tokens.add("ci")
    tokens.add("page")
    kept = json.loads(tokens.path.read_text())
    assert kept["made_by"] == "9.9"
    assert content["tokens"][0] in kept["tokens"]
    tokens.revoke("ci")
    assert not tokens.unreadable()


@pytest.mark.parametrize(("named", "name"), [({}, "None"), ({"name": ["a"]}, "['a']"), ({"id": 7}, "7")])
def test_a_token_that_cannot_be_read_is_revoked_by_what_stands_for_its_name(
    tokens: TokenFile, named: dict[str, Any], name: str
) -> None:
    tokens.add("ci")
    content = json.loads(tokens.path.read_text())
    content["tokens"] = [
        {key: value for key, value in content["tokens"][0].items() if key not in ("name", "id")} | named
    ]
    tokens.path.write_text(json.dumps(content))
    assert [item.name for item in tokens.unreadable()] == [name]
    tokens.revoke(name)
    assert not tokens.unreadable()


def test_a_token_without_one_of_its_keys_is_said_to_lack_it(tokens: TokenFile) -> None:
    tokens.add("ci")
    content = json.loads(tokens.path.read_text())
    del content["tokens"][0]["digest"]
    tokens.path.write_text(json.dumps(content))
    assert [item.reason for item in tokens.unreadable()] == ["its key 'digest' is missing"]


@pytest.mark.parametrize(("text", "expected"), [("30d", timedelta(days=30)), ("2w", timedelta(weeks=2)), ("", None)])
def test_lifetimes_are_read(text: str, expected: timedelta | None) -> None:
    assert lifetime_of(text) == expected


@pytest.mark.parametrize("text", ["30", "d", "0d", "-1d", "1y", "99999d"])
def test_other_lifetimes_are_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="30d"):
        lifetime_of(text)


@pytest.mark.parametrize(
    ("access", "allowed"),
    [(Access.READ, {Access.READ}), (Access.WRITE, {Access.READ, Access.WRITE}), (Access.ADMIN, set(Access))],
)
def test_each_access_includes_the_one_before(access: Access, allowed: set[Access]) -> None:
    assert {other for other in Access if access.includes(other)} == allowed

"""What cannot both hold is told apart from what merely differs."""

from __future__ import annotations

import pytest

from rag_ls.memory.contradictions import find_contradiction, numbers_in, quantities_in
from tests.memory.support import record


def _reason(one: str, other: str) -> str | None:
    found = find_contradiction(record(1, one), record(2, other))
    return found and found.reason


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("The API uses REST", "The API no longer uses REST", "'no longer'"),
        ("We use Redis", "We do not use Redis", "'not'"),
        ("Feature flags live in config", "Feature flags don't live in config", '"n\'t"'),
        ("Feature flags live in config", "Feature flags don\u2019t live in config", "n\u2019t"),
        ("Always squash commits", "Never squash commits", "'never'"),
        ("The cache is shared between workers", "The cache was removed from the workers", "'removed'"),
        ("Use tabs", "Use spaces", "'tabs' against 'spaces'"),
        ("Indent Python with tabs", "Indent Python with spaces", "'tabs' against 'spaces'"),
        ("The flag is enabled in staging", "The flag is disabled in staging", "'disabled'"),
        ("Handlers are synchronous here", "Handlers are asynchronous here", "'synchronous' against 'asynchronous'"),
        ("Migrations run before the deployment", "Migrations run after the deployment", "'before' against 'after'"),
        ("Reviews are required for main", "Reviews are optional for main", "'required' against 'optional'"),
        ("Tokens expire after 60 minutes", "Tokens expire after 30 minutes", "60 minutes against 30 minutes"),
        ("The limit is 1,000 rows", "The limit is 5,000 rows", "1,000 against 5,000"),
        ("Deploys run on PostgreSQL 15", "Deploys run on PostgreSQL 16.2", "15 against 16.2"),
        ("Clients speak API v2", "Clients speak API v3", "2 against 3"),
        ("Retry 3 times, wait 10 s", "Retry 3 times, wait 20 s", "10 s against 20 s"),
        (
            "Sessions end after fifteen minutes",
            "Sessions end after twenty minutes",
            "fifteen minutes against twenty minutes",
        ),
        ("Sessions end after fifteen minutes", "Sessions end after 20 minutes", "fifteen minutes against 20 minutes"),
        ("Timestamps are stored in UTC", "Times are kept in local time", "'UTC' against 'local'"),
        ("Never retry a payment", "Payments are retried twice", "'never'"),
        ("Uploads may have 25 MB", "An upload may have 0.1 GB", "25 MB against 0.1 GB"),
        ("Logs are kept for 30 days", "We keep the logs for a full year", "30 days against a full year"),
        ("PostgreSQL is the database", "The database is MySQL", "'PostgreSQL' against 'MySQL'"),
        ("Der Dienst nutzt Port 80", "Der Dienst nutzt Port 443", "80 against 443"),
    ],
)
def test_what_cannot_both_hold_is_named_with_its_reason(one: str, other: str, reason: str) -> None:
    assert reason in (_reason(one, other) or "")
    # The other way round as well.
    assert _reason(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API uses REST", "The API uses REST with JSON"),
        ("Access tokens expire after an hour", "An access token lives for an hour"),
        ("Never commit secrets", "Secrets are never committed"),
        ("Do not use globals", "Avoid globals, never use them"),
        ("Tokens expire after 60 minutes", "Tokens expire after 60 minutes of rest"),
        ("Retry 3 times", "Retry 3 times, then wait 10 s"),
        ("Clients speak API v2", "Clients speak API 2"),
        ("Sessions end after fifteen minutes", "Sessions end after 15 minutes"),
        ("Sessions end after one minute", "Sessions end after 60 s"),
        ("Backups are made daily", "A backup is made every day"),
        ("We format with ruff, not black", "ruff runs with line length 88"),
        ("Answers hold twenty-five rows", "Answers hold 25 rows"),
        ("A page holds two hundred and fifty rows", "A page holds 250 rows"),
        ("The limit is a thousand rows", "The limit is 1,000 rows"),
        ("Invoices are sent by mail", "The cache is never shared"),
        ("Tests run before the build", "Invoices are printed after the month"),
        ("Use tabs", "Use tabs in Makefiles"),
        ("Both tabs and spaces are used here", "Spaces and tabs are used here, both"),
        ("Redis 7", "PostgreSQL 16"),
        ("", "not"),
        ("of the", "to the"),
        ("42", "43"),
    ],
)
def test_what_may_both_hold_is_let_be(one: str, other: str) -> None:
    assert _reason(one, other) is None
    assert _reason(other, one) is None


def test_both_memories_are_named() -> None:
    one, other = record(1, "Use tabs"), record(2, "Use spaces")
    found = find_contradiction(one, other)
    assert found is not None
    assert (found.one, found.other) == (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/auth.py must never import from src/db.py", "src/db.py must never import from src/auth.py"),
        ("Retries happen before the timeout is checked", "The timeout is checked before retries happen"),
        ("Indent YAML by four spaces here", "Indent YAML by two spaces here"),
    ],
)
def test_the_same_words_the_other_way_round_contradict_each_other(one: str, other: str) -> None:
    assert _reason(one, other)


@pytest.mark.parametrize("run", ["1." * 20_000, "1," * 20_000, "twenty " * 20_000, "twenty-" * 20_000, "9" * 20_000])
def test_a_long_run_of_numbers_is_read_in_no_time(run: str) -> None:
    assert numbers_in(run) is not None
    assert quantities_in(run + " seconds") is not None


def test_a_letter_that_only_looks_like_a_unit_s_is_none() -> None:
    assert quantities_in("waits 5 M\u0130N") == {}

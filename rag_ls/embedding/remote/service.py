"""Requests to a service over HTTP: tried again where that may help, and never sent anywhere else."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx

from rag_ls.config import JsonFile
from rag_ls.embedding.api import ModelClosed
from rag_ls.errors import ModelMissing, RagLsError, StoreUnavailable
from rag_ls.util.paths import is_loopback
from rag_ls.util.records import dataclass

_ATTEMPTS, _BACK_OFF_S = 4, 0.5
# If a service asks for a longer wait, the next batch is its next try.
_MAX_WAIT_S = 60.0
_CONNECT_S = 5.0
_MAX_ANSWER_BYTES = 256_000_000
_MAX_SHOWN = 300
# HTTP Semantics (RFC 9110) and 429 (RFC 6585): answers that may differ a moment later.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_log = logging.getLogger(__name__)
FILE_NAME = "services.json"
_Sections = dict[str, dict[str, Any]]


class ServiceFailed(RagLsError):
    """The service gave no usable answer; the message names it and says why."""


class ServiceRefused(ServiceFailed):
    """The service refused a request as it is: asking again would not help."""

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said
        """The service's own words about it, in lower case."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The seconds that one request may take, and the number of attempts."""

    timeout_s: float
    attempts: int = _ATTEMPTS
    back_off_s: float = _BACK_OFF_S


class Service:
    """One endpoint. Safe from several threads."""

    def __init__(self, endpoint: str, headers: Mapping[str, str] | None = None) -> None:
        """`endpoint` is an http or https address without a slash at its end; redirects are not followed."""
        self.endpoint = endpoint
        self._closed = threading.Event()
        self._busy_until = 0.0
        """The time when the service wants to be asked again, by the monotonic clock."""
        # A local service is not called through a proxy.
        self._client = httpx.Client(
            headers=dict(headers or {}), follow_redirects=False, trust_env=not is_local(endpoint)
        )

    def get(self, path: str, policy: RetryPolicy) -> Any:
        """The JSON at a path. Raises `ServiceFailed`, `ServiceRefused`, `ModelClosed`."""
        return self._request("GET", path, None, policy)

    def post(self, path: str, body: Mapping[str, Any], policy: RetryPolicy) -> Any:
        """The JSON that answers a JSON object. Raises `ServiceFailed`, `ServiceRefused`, `ModelClosed`."""
        return self._request("POST", path, body, policy)

    def close(self) -> None:
        """End waiting and further requests."""
        self._closed.set()
        self._client.close()

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None, policy: RetryPolicy) -> Any:
        wait_s = policy.back_off_s
        if (busy_s := self._busy_until - time.monotonic()) > 0:
            if policy.attempts == 1:
                raise ServiceFailed(f"{self.endpoint} is busy, and asks to wait {busy_s:.0f} s")
            self._closed.wait(busy_s)
        timeout = httpx.Timeout(policy.timeout_s, connect=min(_CONNECT_S, policy.timeout_s))
        for left in reversed(range(policy.attempts)):
            if self._closed.is_set():
                raise ModelClosed(f"{self.endpoint} is asked no longer: the engine ends")
            asked_for_s = 0.0
            try:
                answer = self._client.request(method, self.endpoint + path, json=body, timeout=timeout)
                if answer.status_code == 200:
                    return self._json(answer)
                failure = self._failure(answer)
                if answer.status_code not in _PASSING:
                    raise failure
                asked_for_s = _retry_after_s(answer)
                self._busy_until = time.monotonic() + min(asked_for_s, _MAX_WAIT_S)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if self._closed.is_set():
                    raise ModelClosed(f"{self.endpoint} is asked no longer: the engine ends") from error
                failure = ServiceFailed(f"{self.endpoint} cannot be reached: {error or type(error).__name__}")
            if not left or asked_for_s > _MAX_WAIT_S:
                raise failure
            self._closed.wait(max(wait_s, asked_for_s))
            wait_s *= 2
        raise AssertionError("a request is tried at least once")

    def _json(self, answer: httpx.Response) -> Any:
        if len(answer.content) > _MAX_ANSWER_BYTES:
            raise ServiceFailed(f"{self.endpoint} answered with {len(answer.content):,} bytes")
        try:
            return answer.json()
        except ValueError as error:
            raise ServiceFailed(f"{self.endpoint} answered with no JSON: is it the right address?") from error

    def _failure(self, answer: httpx.Response) -> ServiceFailed:
        said = _read_error(answer)
        status = answer.status_code
        if status in (301, 302, 303, 307, 308):
            return ServiceFailed(f"{self.endpoint} redirects, which is not followed: give the address it leads to")
        return ServiceRefused(
            f"{self.endpoint} answered {status}: {said or answer.reason_phrase}", status, said.lower()
        )


def is_address(endpoint: str) -> bool:
    """Whether an endpoint is an http address without a password or key, because messages and logs show it."""
    try:
        parts = urlsplit(endpoint)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        return is_whole and not any(mark in endpoint for mark in "@?#")
    except ValueError:
        return False


def authorization_of(variable: str, setting: str) -> dict[str, str]:
    """The header with the key in an environment variable, which a setting names; none without a variable. Raises `ModelMissing`."""
    if not variable:
        return {}
    key = os.environ.get(variable, "").strip()
    if not (key and key.isascii() and key.isprintable()):
        # The error of the HTTP library would show a malformed key.
        raise ModelMissing(f"the environment variable {variable} ({setting}) holds no key for the engine")
    return {"Authorization": f"Bearer {key}"}


def is_local(endpoint: str) -> bool:
    """Whether an address is this machine's own."""
    return is_loopback(urlsplit(endpoint).hostname or "")


def _read_error(answer: httpx.Response) -> str:
    """The error that a service names: `{"error": "..."}` or `{"error": {"message": "..."}}`, else its text."""
    try:
        found = answer.json().get("error")
        said = found.get("message", "") if isinstance(found, dict) else found
    except (ValueError, AttributeError):
        said = answer.text
    return " ".join(str(said or "").split())[:_MAX_SHOWN]


def _retry_after_s(answer: httpx.Response) -> float:
    """The time that `Retry-After` asks for (RFC 9110, 10.2.3), in seconds; 0 for none."""
    value = answer.headers.get("retry-after", "")
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


class ServiceRecords:
    """A small file of the user. Nothing is confirmed while it cannot be read."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = JsonFile[_Sections](
            folder / FILE_NAME,
            parse=_parse,
            dump=lambda sections: sections,
            empty={},
            holds="services",
            remedy="then agree again with `rag-ls doctor --confirm-endpoint`",
        )
        self._now = now

    def is_confirmed(self, endpoint: str) -> bool:
        """Whether the user agreed that texts are sent to an address."""
        return endpoint in self._read().get("confirmed", {})

    def confirm(self, endpoint: str) -> None:
        """Keep that the user agreed. Raises `StoreUnavailable`."""
        self._change("confirmed", endpoint, self._now().isoformat(timespec="seconds"))

    def description(self, model: str) -> dict[str, Any]:
        """The description of a model that a service gave last; empty if it never gave one."""
        found = self._read().get("models", {}).get(model, {})
        return found if isinstance(found, dict) else {}

    def describe(self, model: str, description: dict[str, Any]) -> None:
        """Keep what a service says of a model. Raises `StoreUnavailable`."""
        self._change("models", model, description)

    def tokens_today(self, endpoint: str) -> int:
        """The number of tokens sent to an address since midnight, UTC. Raises `StoreUnavailable`."""
        return self._count_today(self._file.read(), endpoint)

    def add_tokens(self, endpoint: str, tokens: int) -> None:
        """Count tokens that were sent. Raises `StoreUnavailable`."""

        def count(held: _Sections) -> _Sections:
            counted = {"day": self._today(), "tokens": self._count_today(held, endpoint) + tokens}
            return _with_value(held, "sent", endpoint, counted)

        self._file.change(count)

    def _count_today(self, held: _Sections, endpoint: str) -> int:
        found = held.get("sent", {}).get(endpoint, {})
        return int(found["tokens"]) if found.get("day") == self._today() else 0

    def _today(self) -> str:
        return self._now().strftime("%Y-%m-%d")

    def _change(self, section: str, key: str, value: Any) -> None:
        self._file.change(lambda held: _with_value(held, section, key, value))

    def _read(self) -> _Sections:
        try:
            return self._file.read()
        except StoreUnavailable as error:
            _log.warning("no service is confirmed: %s", error)
            return {}


def _parse(content: dict[str, Any]) -> _Sections:
    if odd := [section for section, values in content.items() if not isinstance(values, dict)]:
        raise ValueError(f"{odd[0]!r} holds no object")
    for endpoint, sent in content.get("sent", {}).items():
        if not (isinstance(sent, dict) and type(sent.get("tokens")) is int):
            raise ValueError(f"what was sent to {endpoint} is no count of tokens")
    return content


def _with_value(held: _Sections, section: str, key: str, value: Any) -> _Sections:
    return {**held, section: {**held.get(section, {}), key: value}}

"""Connections to a Qdrant server, or to its local mode. Its errors become store errors, which show no key."""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from rag_ls.errors import StoreFull, StoreReadOnly, StoreUnavailable
from rag_ls.util.installation import extra_command
from rag_ls.util.paths import is_loopback

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_GRPC_PORT, _REST_PORT = 6334, 6333
_ANSWER_S = 30
_FORMS = (
    "qdrant://:API-KEY@host:6334 (TLS, unless on this machine or with ?tls=false), or qdrant:///folder for one process "
    "without a server"
)


class QdrantServer:
    """A Qdrant server by its URL, or a folder in its local mode. Safe from several threads; connects when it is first asked."""

    def __init__(self, url: str, store: str, folder: str = "") -> None:
        """`store` is its name in errors. `folder` is used below that of a local mode, which admits one user at a time.

        Raises `StoreUnavailable` for a URL that is none, or without qdrant-client.
        """
        self._store = store
        try:
            parts = urlsplit(url)
            self._port = parts.port or _GRPC_PORT
        except ValueError as error:
            raise StoreUnavailable(f"store.url is no URL of Qdrant: {_FORMS}", store) from error
        self._host = parts.hostname or ""
        self._secret = unquote(parts.password or "")
        said = parse_qs(parts.query).get("tls", [""])[0].lower()
        # Without TLS, the key and the vectors could be read on their way to another machine; only the user can allow that.
        self._tls = said in ("1", "true", "yes") if said else bool(self._host) and not is_loopback(self._host)
        self._wants_tls = self._tls and not said
        self._folder = f"{unquote(parts.path).rstrip('/')}/{folder}" if not self._host else ""
        if not self._host and not parts.path.strip("/"):
            raise StoreUnavailable(f"store.url is no URL of Qdrant: {_FORMS}", store)
        self.is_local = not self._host
        self.place = f"qdrant://{self._host}:{self._port}" if self._host else f"qdrant://{self._folder}"
        self._lock = threading.RLock()
        self._client: QdrantClient | None = None
        self._is_closed = False

    @contextlib.contextmanager
    def client(self) -> Iterator[QdrantClient]:
        """The client, for one question. Raises `StoreUnavailable`, `StoreFull`."""
        with contextlib.ExitStack() as held:
            if self.is_local:
                # The local mode is not safe from several threads.
                held.enter_context(self._lock)
            try:
                yield self._connect()
            except StoreUnavailable:
                raise
            except Exception as error:
                raise self._error_of(error) from error

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connect(self) -> QdrantClient:
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable(f"{self.place} is asked no longer: the engine ends", self._store)
            if self._client is None:
                self._client = self._open()
            return self._client

    def _open(self) -> QdrantClient:
        try:
            from qdrant_client import QdrantClient
        except ImportError as error:
            raise StoreUnavailable(
                f"store.url names Qdrant, which needs qdrant-client: `{extra_command('qdrant')}`", self._store
            ) from error
        logging.getLogger("httpx").setLevel(logging.WARNING)
        if self.is_local:
            return QdrantClient(path=self._folder)
        with warnings.catch_warnings():
            # It warns that a key travels without TLS; docs/team.md says so.
            warnings.simplefilter("ignore")
            return QdrantClient(
                host=self._host, port=_REST_PORT, grpc_port=self._port, prefer_grpc=True, https=self._tls,
                api_key=self._secret or None, timeout=_ANSWER_S, check_compatibility=False,
            )  # fmt: skip

    def _error_of(self, error: Exception) -> StoreUnavailable:
        said = " ".join(_words(error).split())[:300]
        said = said.replace(self._secret, "***") if self._secret else said
        code = _code(error)
        if self.is_local and "already accessed" in said:
            remedy = "close the other, or run a Qdrant server"
            return StoreUnavailable(f"{self.place} is in use by another process: {remedy}", self._store)
        if code == "UNAUTHENTICATED":
            remedy = "set it in store.url: qdrant://:API-KEY@host:6334"
            return StoreUnavailable(f"{self.place} refuses the API key: {remedy} ({said})", self._store)
        if code == "PERMISSION_DENIED":
            return StoreReadOnly(f"{self.place} does not allow this key that ({said})", self._store)
        if code in ("UNAVAILABLE", "CANCELLED"):
            remedy = "; TLS is wanted off this machine, ?tls=false in store.url goes without" if self._wants_tls else ""
            return StoreUnavailable(f"{self.place} cannot be reached: {said}{remedy}", self._store)
        if code == "DEADLINE_EXCEEDED":
            return StoreUnavailable(f"{self.place} did not answer within {_ANSWER_S} s", self._store)
        if code == "RESOURCE_EXHAUSTED" or "No space left" in said:
            return StoreFull(f"{self.place} is full or asked too much at once: {said}", self._store)
        return StoreUnavailable(f"{self.place} failed: {said}", self._store)


def _code(error: Exception) -> str:
    """The name of gRPC's status code; empty for another error."""
    code = getattr(error, "code", None)
    return str(getattr(code(), "name", "")) if callable(code) else ""


def _words(error: Exception) -> str:
    details = getattr(error, "details", None)
    return str(details() or error) if callable(details) else str(error)

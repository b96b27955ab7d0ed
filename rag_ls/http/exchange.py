"""One request and its answer, as all parts of the HTTP surface see it, and the address at which they come."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from starlette.responses import Response
from starlette.types import Scope

from rag_ls import errors
from rag_ls.errors import InvalidRequest
from rag_ls.http.tokens import Token
from rag_ls.util.paths import is_loopback
from rag_ls.util.records import dataclass

Json = dict[str, Any]

_KEY = "rag_ls"
_STATUS: dict[type[Exception], int] = {
    errors.InvalidRequest: 400,
    errors.PathOutsideProject: 403,
    errors.AccessRefused: 403,
    errors.ScopeRefused: 403,
    errors.NotFound: 404,
    errors.NotIndexed: 404,
    errors.VersionConflict: 409,
    errors.NotConfirmed: 409,
    errors.ProjectUnavailable: 409,
    errors.StoreFull: 507,
    errors.StoreUnavailable: 503,
    errors.ModelMissing: 503,
    errors.ModelDamaged: 503,
    errors.EngineFailed: 503,
}


class Refusal(Exception):
    """A request that is answered with an error: the status, the error's type, and headers beside it."""

    def __init__(self, status: int, kind: str, message: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.status, self.kind, self.headers = status, kind, headers


@dataclass(slots=True)
class Exchange:
    """A request with the gate's findings about it."""

    request_id: str
    token: Token | None = None
    error: str = ""
    """The type of the error that was answered."""

    @property
    def caller(self) -> Token:
        """The token that the caller showed. The gate lets no request without one through to code that asks for it."""
        assert self.token is not None
        return self.token


def exchange_of(scope: Scope) -> Exchange:
    """The exchange that a request belongs to."""
    found: Exchange = scope[_KEY]
    return found


def attach(scope: Scope, exchange: Exchange) -> None:
    """Let the parts that follow find it."""
    scope[_KEY] = exchange


def json_response(body: object, status: int = 200) -> Response:
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(content, status, media_type="application/json")


def error_body(exchange: Exchange, kind: str, message: str) -> Json:
    """An error as every answer gives it."""
    exchange.error = kind
    return {"error": {"type": kind, "message": message, "request_id": exchange.request_id}}


def error_response(exchange: Exchange, refusal: Refusal) -> Response:
    response = json_response(error_body(exchange, refusal.kind, str(refusal)), refusal.status)
    response.headers.update(refusal.headers)
    return response


def refuse_by(error: errors.RagLsError) -> Refusal:
    """The refusal that one of our errors means over HTTP."""
    if isinstance(error, errors.TooManyAtOnce):
        return Refusal(429, "TooManyRequests", str(error), {"retry-after": "1"})
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
    return Refusal(status, type(error).__name__, str(error))


DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 17080
# The names by which browsers and other programs of this machine call it.
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_ANYWHERE = ("0.0.0.0", "::")
_WANTED = "give HOST:PORT, e.g. 127.0.0.1:17080"


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port to listen on."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def shown_host(self) -> str:
        """The host as a URL writes it."""
        host = DEFAULT_HOST if self.host in _ANYWHERE else self.host
        return f"[{host}]" if ":" in host else host

    def url(self, *, is_secure: bool) -> str:
        """The address of the page, with a slash at the end."""
        return f"{'https' if is_secure else 'http'}://{self.shown_host}:{self.port}/"

    def names(self, others: Sequence[str]) -> frozenset[str]:
        """The names that a `Host` header may give, in lower case, without the port: its own names and `others`."""
        own = _LOOPBACK_NAMES if self.is_loopback else (self.shown_host,)
        return frozenset(name.strip().lower() for name in (*own, *others))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """The address that `HOST:PORT`, `HOST`, `:PORT` or `PORT` stands for. Raises `InvalidRequest`."""
    wanted = text.strip()
    found = re.fullmatch(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s:/\[\]]*))(?::(\d{1,5}))?", wanted)
    if found is None:
        raise InvalidRequest(f"{text!r} is no address: {_WANTED}")
    host, port = found[1] or found[2], found[3]
    if host.isdigit() and not port:
        host, port = "", host
    number = int(port) if port else DEFAULT_PORT
    if number > 65535:
        raise InvalidRequest(f"{text!r}: there is no port {number}; {_WANTED}")
    return Address(host or DEFAULT_HOST, number)


def host_of(header: str) -> str:
    """The host of a `Host` header or an origin's authority, in lower case, without the port."""
    host = header.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]

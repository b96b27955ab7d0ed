"""One request and its answer, as all parts of the HTTP surface see it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from starlette.responses import Response
from starlette.types import Scope

from rag_ls import errors
from rag_ls.http.tokens import Token
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

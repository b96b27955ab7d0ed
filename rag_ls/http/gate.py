"""Checks every request on its way in (host, token, limits), and adds headers, metrics and a line of log on its way out."""

from __future__ import annotations

import logging
import time
import uuid
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_ls.config.engine_settings import HttpSettings
from rag_ls.errors import StoreUnavailable, TooManyAtOnce
from rag_ls.http.address import Address, host_of
from rag_ls.http.exchange import Exchange, attach, error_response
from rag_ls.http.metrics import HttpMetrics
from rag_ls.http.signing_in import PAGE_PATH, SIGN_IN_PATH, make_sign_in_page, may_see_page
from rag_ls.http.tokens import Token, TokenFile
from rag_ls.util.text import fold

_log = logging.getLogger(__name__)

OPEN_PATHS = ("/health", "/ready")
"""The paths that need no token."""
TOKEN_HEADER = "x-rag-token"
_SLOW_S = 1.0
_UNKNOWN = "a valid token is needed, as X-RAG-Token or Authorization: Bearer; `rag-ls token add NAME` makes one"
_FORBIDDEN_ORIGIN = "pages of {} may not use this server: the user's setting http.origins lists those that may"
_UNKNOWN_HOST = "this server is not called {}: the user's setting http.hosts lists its names"
_MAX_QUOTED = 100
_ENCODED = "compressed bodies are not read: send the request without Content-Encoding"
_REFUSALS = {
    404: ("NotFound", "there is no such address; GET /commands lists all"),
    405: ("MethodNotAllowed", "this address does not take {method}; GET /commands lists what each takes"),
}
_PORTS = {"http": 80, "https": 443}
_CORS_METHODS = "GET, POST, PATCH, DELETE, OPTIONS"
_CORS_HEADERS = (
    "Authorization, Content-Type, X-RAG-Token, X-RAG-Project, Mcp-Session-Id, Mcp-Protocol-Version, "
    "Mcp-Method, Mcp-Name, Last-Event-ID"
)
_CORS_EXPOSED = "Mcp-Session-Id, Retry-After, X-Request-ID"
_SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


class BodyTooLarge(Exception):
    """A request's body is larger than the settings allow."""


class Gate:
    """Passes requests to the application if they use an allowed host name and a valid token, and keep within the limits."""

    def __init__(
        self,
        app: ASGIApp,
        tokens: TokenFile,
        address: Address,
        settings: HttpSettings,
        metrics: HttpMetrics,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = address.names(settings.hosts)
        self._port = address.port
        self._origins = frozenset(origin.rstrip("/").lower() for origin in settings.origins)
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        # A slash at the end of an address means nothing. A redirect would make clients send token and body again, unencrypted
        # where TLS ends at a proxy.
        scope["path"] = str(scope["path"]).rstrip("/") or "/"
        exchange = Exchange(uuid.uuid4().hex[:16])
        attach(scope, exchange)
        # If `app` is set, Starlette raises for an unknown address; otherwise it answers by itself.
        scope["app"] = self._app
        answer = _Answer(send, exchange, self._cors(Headers(scope=scope)))
        started = time.perf_counter()
        try:
            await self._serve(scope, _Body(receive, self._settings.max_body_bytes), answer)
        finally:
            self._note(scope, answer, time.perf_counter() - started)

    async def _serve(self, scope: Scope, body: _Body, answer: _Answer) -> None:
        exchange = answer.exchange
        try:
            refusal = self._refusal(scope, exchange)
            await (refusal or self._app)(scope, body.receive, answer.send)
            return
        except BodyTooLarge:
            limit = f"a request has at most {self._settings.max_body_bytes:,} bytes (the user's setting http.max_body_bytes)"
            failed = error_response(exchange, 413, "BodyTooLarge", limit, {"connection": "close"})
        except ClientDisconnect:
            exchange.error = "ClientLeft"
            return
        except TooManyAtOnce as error:
            failed = error_response(exchange, 429, "TooManyRequests", str(error), {"retry-after": "1"})
        except HTTPException as error:
            kind, message = _REFUSALS.get(error.status_code, ("Refused", error.detail))
            told = message.format(method=scope["method"]) if error.status_code in _REFUSALS else message
            failed = error_response(exchange, error.status_code, kind, told, dict(error.headers or {}))
        except Exception as error:
            _log.exception("request %s failed", exchange.request_id)
            message = f"{type(error).__name__}; the engine's log tells more under this request id"
            failed = error_response(exchange, 500, "Failed", message)
        if not answer.status:
            await failed(scope, body.receive, answer.send)

    def _refusal(self, scope: Scope, exchange: Exchange) -> Response | None:
        """The answer that refuses a request; None if the request may pass."""
        headers, path = Headers(scope=scope), str(scope["path"])
        if len(headers.getlist("host")) != 1 or host_of(headers["host"]) not in self._hosts:
            named = fold(headers.get("host", "nothing"), _MAX_QUOTED)
            return error_response(exchange, 421, "UnknownHost", _UNKNOWN_HOST.format(named))
        origin = headers.get("origin")
        # `rag-ls open` posts a form from a local file, whose origin is null. It posts a one-time code and nothing else.
        is_form = origin == "null" and path == SIGN_IN_PATH and scope["method"] == "POST"
        if origin is not None and not (is_form or self._is_own(origin) or origin.lower() in self._origins):
            return error_response(exchange, 403, "Forbidden", _FORBIDDEN_ORIGIN.format(fold(origin, _MAX_QUOTED)))
        if scope["method"] == "OPTIONS" and origin is not None and "access-control-request-method" in headers:
            return Response(status_code=204)
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._settings.max_body_bytes:
            raise BodyTooLarge
        encoding = headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity"):
            return error_response(exchange, 415, "UnsupportedEncoding", _ENCODED, {"accept-encoding": "identity"})
        if path in (*OPEN_PATHS, SIGN_IN_PATH) or path.startswith(f"{SIGN_IN_PATH}/"):
            return None
        try:
            return self._refusal_of_caller(path, headers, exchange)
        except StoreUnavailable as error:
            _log.error("%s", error)
            return error_response(exchange, 503, "TokensUnreadable", "the tokens cannot be read; see the engine's log")

    def _refusal_of_caller(self, path: str, headers: Headers, exchange: Exchange) -> Response | None:
        exchange.token = self._holder(headers)
        if exchange.token is not None:
            return None
        if path == "/" or path.startswith(PAGE_PATH):
            return None if may_see_page(headers, self._tokens) else make_sign_in_page(exchange)
        return error_response(exchange, 401, "Unauthorized", _UNKNOWN, {"www-authenticate": "Bearer"})

    def _holder(self, headers: Headers) -> Token | None:
        secret = headers.get(TOKEN_HEADER, "")
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if not secret and scheme.lower() == "bearer":
            secret = bearer.strip()
        return self._tokens.holder_of(secret) if secret else None

    def _is_own(self, origin: str) -> bool:
        try:
            parts = urlsplit(origin)
            port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            return False
        # Behind a proxy, pages have the proxy's port.
        return host_of(parts.netloc) in self._hosts and (port == self._port or self._settings.behind_proxy)

    def _cors(self, headers: Headers) -> dict[str, str]:
        """The headers that let a listed origin's page read the answer; none for other origins."""
        origin = headers.get("origin", "")
        if origin.lower() not in self._origins:
            return {}
        return {
            "access-control-allow-origin": origin,
            "access-control-allow-methods": _CORS_METHODS,
            "access-control-allow-headers": _CORS_HEADERS,
            "access-control-expose-headers": _CORS_EXPOSED,
            "vary": "Origin",
        }

    def _note(self, scope: Scope, answer: _Answer, seconds: float) -> None:
        exchange, status, is_stream = answer.exchange, answer.status, answer.is_stream
        route = exchange.route or "other"
        self._metrics.note(str(scope["method"]), route, status, seconds, exchange.error)
        is_notable = status >= 400 or (seconds > _SLOW_S and not is_stream)
        level = logging.WARNING if status >= 500 else logging.INFO if is_notable else logging.DEBUG
        name = exchange.token.name if exchange.token else "-"
        _log.log(
            level,
            "request_id=%s method=%s route=%s status=%d ms=%.1f token=%r error=%s",
            exchange.request_id, scope["method"], route, status, seconds * 1000, name, exchange.error or "-",
        )  # fmt: skip


class _Answer:
    """Sends the answer, with the headers that all answers have."""

    def __init__(self, send: Send, exchange: Exchange, headers: dict[str, str]) -> None:
        self._send = send
        self._headers = {**_SECURITY, **headers, "x-request-id": exchange.request_id}
        self.exchange = exchange
        self.status = 0
        """0 until the answer begins."""
        self.is_stream = False

    async def send(self, message: Message) -> None:
        """As ASGI's `send`."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            self.is_stream = headers.get("content-type", "").startswith("text/event-stream")
            for name, value in self._headers.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await self._send(message)


class _Body:
    """Receives the request's body, which must not be too large."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most

    async def receive(self) -> Message:
        """As ASGI's `receive`. Raises `BodyTooLarge`."""
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise BodyTooLarge
        return message

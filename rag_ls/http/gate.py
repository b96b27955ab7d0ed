"""Checks every request on its way in (host, token, limits), and adds headers, metrics and a line of log on its way out."""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import logging
import time
import uuid
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Match, Route, Router
from starlette.types import Message, Receive, Scope, Send

from rag_ls.config import HttpSettings
from rag_ls.errors import RagLsError, StoreUnavailable
from rag_ls.http.exchange import Address, Exchange, Refusal, attach, error_response, exchange_of, host_of, refuse_by
from rag_ls.http.metrics import HttpMetrics
from rag_ls.http.tokens import Token, TokenFile
from rag_ls.util.text import fold

_log = logging.getLogger(__name__)

SIGN_IN_PATH = "/open"
"""A form with the one-time code is posted there; in a link, the code follows after a slash."""
PAGE_PATH = "/page/"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_COOKIE = "rag_ls_page"
_MAX_FORM_BYTES = 1000
_SIGNED_IN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>rag-ls</title>
<script type="application/json" id="token">{token}</script>
<script type="module" src="/page/sign_in.js"></script><p>Signing in ...</p></html>"""
_SIGNED_OUT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>rag-ls: signed out</title>
<meta name="viewport" content="width=device-width"><main><h1>rag-ls</h1>
<p>{why} Run <code>rag-ls open</code> in a terminal: it opens this page signed in.</p></main></html>"""


async def sign_in(request: Request, tokens: TokenFile) -> Response:
    """Exchange the one-time code for the page's token."""
    exchange = exchange_of(request.scope)
    code = str(request.path_params.get("code") or "")
    if request.method == "POST":
        code = await _read_code(request)
    # It may wait for other processes that change the file.
    try:
        secret = await anyio.to_thread.run_sync(tokens.exchange, code)
    except StoreUnavailable as error:
        _log.error("%s", error)
        return make_sign_in_page(exchange, "The tokens cannot be changed now; the engine's log says why.")
    token = tokens.holder_of(secret) if secret else None
    if secret is None or token is None:
        return make_sign_in_page(exchange, "This link was used already, or is too old.")
    # `<` could begin the end of the script element.
    data = json.dumps(secret).replace("<", "\\u003c")
    response = HTMLResponse(_SIGNED_IN.format(token=data), headers={"content-security-policy": CONTENT_SECURITY_POLICY})
    response.set_cookie(
        _COOKIE, _page_pass(token), httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return response


async def _read_code(request: Request) -> str:
    """The code in a posted form; empty for another form, of which no more is read than a form with a code has."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_FORM_BYTES:
            return ""
    return parse_qs(body.decode("latin-1")).get("code", [""])[0]


def may_see_page(headers: Headers, tokens: TokenFile) -> bool:
    """Whether the request has the cookie of a page that was signed in, and whose token still counts."""
    try:
        given = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
    except CookieError:
        return False
    if given is None:
        return False
    shown = given.value.encode("utf-8", "replace")
    found = [hmac.compare_digest(_page_pass(token).encode(), shown) for token in tokens.valid()]
    return any(found)


def make_sign_in_page(exchange: Exchange, why: str = "You are not signed in.") -> Response:
    """The page for a browser without a token."""
    exchange.error = "Unauthorized"
    return HTMLResponse(_SIGNED_OUT.format(why=html.escape(why)), 401)


def _page_pass(token: Token) -> str:
    return hashlib.sha256(f"page {token.id} {token.digest}".encode()).hexdigest()


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
_SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


class Gate:
    """Passes requests to the application if they use an allowed host name and a valid token, and keep within the limits."""

    def __init__(
        self,
        app: Router,
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
        self._routes = [route for route in app.routes if isinstance(route, Route)]

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
        answer = _Answer(send, exchange)
        body = _Body(receive, self._settings.max_body_bytes)
        started = time.perf_counter()
        try:
            await self._serve_request(scope, body, answer)
        finally:
            self._note_answer(scope, answer, time.perf_counter() - started)

    async def _serve_request(self, scope: Scope, body: _Body, answer: _Answer) -> None:
        exchange = answer.exchange
        try:
            page = self._check_request(scope, exchange)
            await (page or self._app)(scope, body.receive, answer.send)
            return
        except ClientDisconnect:
            exchange.error = "ClientLeft"
            return
        except Refusal as refusal:
            failed = refusal
        except RagLsError as error:
            failed = refuse_by(error)
        except HTTPException as error:
            kind, message = _REFUSALS.get(error.status_code, ("Refused", error.detail))
            told = message.format(method=scope["method"]) if error.status_code in _REFUSALS else message
            failed = Refusal(error.status_code, kind, told, error.headers or {})
        except Exception as error:
            _log.exception("request %s failed", exchange.request_id)
            failed = Refusal(
                500, "Failed", f"{type(error).__name__}; the engine's log tells more under this request id"
            )
        if not answer.status:
            await error_response(exchange, failed)(scope, body.receive, answer.send)

    def _check_request(self, scope: Scope, exchange: Exchange) -> Response | None:
        """Raise `Refusal` for a request that may not pass; return the page that a browser without a token gets instead of one."""
        headers, path = Headers(scope=scope), str(scope["path"])
        if len(headers.getlist("host")) != 1 or host_of(headers["host"]) not in self._hosts:
            raise Refusal(421, "UnknownHost", _UNKNOWN_HOST.format(fold(headers.get("host", "nothing"), _MAX_QUOTED)))
        origin = headers.get("origin")
        # `rag-ls open` posts a form from a local file, whose origin is null. It posts a one-time code and nothing else.
        is_form = origin == "null" and path == SIGN_IN_PATH and scope["method"] == "POST"
        if origin is not None and not (is_form or self._is_own(origin) or origin.lower() in self._origins):
            raise Refusal(403, "Forbidden", _FORBIDDEN_ORIGIN.format(fold(origin, _MAX_QUOTED)))
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self._settings.max_body_bytes:
            raise _too_large(self._settings.max_body_bytes)
        if headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            raise Refusal(415, "UnsupportedEncoding", _ENCODED, {"accept-encoding": "identity"})
        if path in (*OPEN_PATHS, SIGN_IN_PATH) or path.startswith(f"{SIGN_IN_PATH}/"):
            return None
        try:
            exchange.token = self._find_holder(headers)
            if exchange.token is not None:
                return None
            if path == "/" or path.startswith(PAGE_PATH):
                return None if may_see_page(headers, self._tokens) else make_sign_in_page(exchange)
        except StoreUnavailable as error:
            _log.error("%s", error)
            raise Refusal(503, "TokensUnreadable", "the tokens cannot be read; see the engine's log") from error
        raise Refusal(401, "Unauthorized", _UNKNOWN, {"www-authenticate": "Bearer"})

    def _find_holder(self, headers: Headers) -> Token | None:
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

    def _note_answer(self, scope: Scope, answer: _Answer, seconds: float) -> None:
        exchange, status, is_stream = answer.exchange, answer.status, answer.is_stream
        # As it is declared: a request's own path may hold a secret.
        route = next((each.path for each in self._routes if each.matches(scope)[0] is Match.FULL), "other")
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

    def __init__(self, send: Send, exchange: Exchange) -> None:
        self._send = send
        self._headers = {**_SECURITY, "x-request-id": exchange.request_id}
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
        self._most = self._left = most

    async def receive(self) -> Message:
        """As ASGI's `receive`. Raises `Refusal`."""
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _too_large(self._most)
        return message


def _too_large(most: int) -> Refusal:
    told = f"a request has at most {most:,} bytes (the user's setting http.max_body_bytes)"
    return Refusal(413, "BodyTooLarge", told, {"connection": "close"})

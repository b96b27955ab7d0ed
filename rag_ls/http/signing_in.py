"""Gives the page its token: a one-time code, whose answer hands the token to the storage of that one tab.

`rag-ls open` has the browser post the code from a private file; a person may take a link with it instead. The token counts
as long as this server: a program that listens at its address later may get it from a tab that is still open, and cannot use it.

A cookie alone would be sent to every server on this host, whatever its port. The one set here only lets the page's files
be loaded, which hold no data; what asks for data sends the token in a header.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import logging
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from rag_ls.errors import StoreUnavailable
from rag_ls.http.exchange import Exchange, exchange_of
from rag_ls.http.tokens import Token, TokenFile

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

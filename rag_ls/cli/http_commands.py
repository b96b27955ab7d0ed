"""The verbs `open`, which shows the page in the browser, signed in, and `token`, for programs that ask over HTTP."""

from __future__ import annotations

import html
import os
import secrets
import shlex
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

from rag_ls.cli.backend import find_roots
from rag_ls.cli.terminal import NAME, paint, print_notes, show_answer
from rag_ls.daemon import EngineLost, Refused, ask_for_http, engine_paths, start_and_connect
from rag_ls.errors import HttpUnavailable, NotFound
from rag_ls.http import Access, Token, TokenFile, lifetime_of
from rag_ls.locations import user_data_folder
from rag_ls.project import find_marked_root, find_project, make_private_folder
from rag_ls.util.files import create_private_file

_NAME = "page"
_LIFETIME, _CODE_LIFETIME = timedelta(hours=12), timedelta(minutes=2)
_BROWSER_S = 60.0
_FORMS = "open-*.html"
_FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>rag-ls</title>
<form method="post" action="{url}open{shown}"><input type="hidden" name="code" value="{code}"><button>Open rag-ls</button></form>
<script>document.forms[0].submit();</script></html>
"""


def open_page(arguments: SimpleNamespace) -> int:
    """Have the engine serve HTTP, and open its page, signed in by a code that works once."""
    url = start_http()
    make_private_folder(user_data_folder())
    tokens = TokenFile(user_data_folder())
    if not (arguments.json or arguments.print) and _open_browser(url, tokens):
        print_notes(f"opened {url}")
        return 0
    if not (arguments.json or arguments.print):
        print_notes("no browser came; open this link, which works once:")
    # It works for the first browser that opens it.
    link = f"{url}open/{_new_code(tokens)}{_find_fragment()}"
    return show_answer(arguments, {"url": link}, link, paged=False)


def _new_code(tokens: TokenFile) -> str:
    return tokens.add_with_code(_NAME, Access.WRITE, _LIFETIME, _CODE_LIFETIME)


def _open_browser(url: str, tokens: TokenFile) -> bool:
    """Have the browser post the code from a private file: what stands in its command line can be read by every user.

    Whether it came in time.
    """
    import webbrowser

    code = _new_code(tokens)
    folder = Path(engine_paths().folder)
    for former in folder.glob(_FORMS):
        former.unlink(missing_ok=True)
    form = folder / _FORMS.replace("*", secrets.token_hex(8))
    values = {"url": url, "code": code, "shown": _find_fragment()}
    create_private_file(form, _FORM.format(**{name: html.escape(value) for name, value in values.items()}))
    try:
        deadline = time.monotonic() + _BROWSER_S
        if not webbrowser.open(form.as_uri()):
            return False
        while (is_waiting := tokens.is_waiting(code)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return not is_waiting
    finally:
        form.unlink(missing_ok=True)


def _find_fragment() -> str:
    """The part of the address that has the page show the current folder's project; empty where there is none."""
    root = find_marked_root(Path.cwd())
    return f"#search?project={quote(str(root), safe='')}" if root else ""


def start_http() -> str:
    """Return the URL at which the user's engine serves HTTP; starts both where needed. Raises `HttpUnavailable`."""
    paths = engine_paths()

    def ask() -> str | None:
        try:
            return ask_for_http(paths, {})
        except EngineLost:
            # The engine has just ended.
            return None
        except Refused as refused:
            if refused.reason == "leaving":
                return None
            raise HttpUnavailable(str(refused)) from refused

    if url := ask() or start_and_connect(ask):
        return url
    raise HttpUnavailable(f"no engine could be started; its log is {paths.log}")


# --- tokens


def add_token(arguments: SimpleNamespace) -> int:
    """Make a token and print it once."""
    projects = [root for name in arguments.project for root in _find_projects(name)]
    lifetime, tokens = lifetime_of(arguments.expires), TokenFile(user_data_folder())
    token, secret = tokens.add(arguments.name, Access(arguments.scope), projects, lifetime)
    show_answer(arguments, {"token": secret, **_make_record(token)}, secret, paged=False)
    if not arguments.json:
        print_notes(f"{token.name!r} may {_format_access(token)}; the token is shown only now")
    return 0


def _find_projects(name: str) -> list[str]:
    """Return the roots of a folder's project, or of those that have a name now: another project may get it later."""
    if os.sep in name or name.startswith((".", "~")):
        if not (folder := Path(name).expanduser()).is_dir():
            raise NotFound(f"--project {name!r}: there is no such folder")
        return [str(find_project(folder).root)]
    return find_roots(name)


def list_tokens(arguments: SimpleNamespace) -> int:
    """List the tokens, and say which entries of their file count for nobody."""
    tokens = TokenFile(user_data_folder())
    found, unreadable = [token for token in tokens.tokens() if token.digest], tokens.unreadable()
    for item in unreadable:
        mend = f"mend it there, or `rag-ls token revoke {shlex.quote(item.name)}`"
        print_notes(f"the token {item.name!r} in {tokens.path} counts for nobody: {item.reason}; {mend}")
    if not found and not unreadable and not arguments.json:
        print_notes("there are no tokens; `rag-ls token add NAME` makes one")
    lines = (f"{paint().style(token.name, NAME)}  {token.id}  {_format_access(token)}" for token in found)
    return show_answer(arguments, {"tokens": [*map(_make_record, found)]}, "\n".join(lines))


def revoke_token(arguments: SimpleNamespace) -> int:
    """Revoke a token."""
    revoked = TokenFile(user_data_folder()).revoke(arguments.name)
    text = f"revoked {', '.join(f'{token.name} ({token.id})' for token in revoked) or arguments.name}"
    records = [_make_record(token) for token in revoked] or [{"name": arguments.name}]
    return show_answer(arguments, {"revoked": records}, text)


def _format_access(token: Token) -> str:
    ended = "" if token.is_valid(datetime.now(UTC)) else " (expired)"
    until = f" until {token.expires_at}{ended}" if token.expires_at else ""
    return f"{token.access.value} in {', '.join(token.projects) or 'all projects'}{until}"


def _make_record(token: Token) -> dict[str, object]:
    named = {name: getattr(token, name) for name in ("id", "name", "projects", "created_at")}
    return named | {"scope": token.access.value, "expires_at": token.expires_at or None}

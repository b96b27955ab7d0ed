"""`rag-ls open`: the page in the browser, signed in."""

from __future__ import annotations

import html
import secrets
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

from rag_ls.cli.terminal import print_notes, show_answer
from rag_ls.daemon.channel import EngineLost, Refused
from rag_ls.daemon.find import start_engine
from rag_ls.daemon.paths import engine_paths
from rag_ls.daemon.serve import ask_for_http
from rag_ls.errors import HttpUnavailable
from rag_ls.http.tokens import Access, TokenFile
from rag_ls.locations import user_data_folder
from rag_ls.project import find_marked_root, make_private_folder
from rag_ls.util.files import create_private_file

_START_S = 30.0
_NAME = "page"
_LIFETIME, _CODE_LIFETIME = timedelta(hours=12), timedelta(minutes=2)
_BROWSER_S = 60.0
_FORMS = "open-*.html"
_FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>rag-ls</title>
<form method="post" action="{url}open{shown}"><input type="hidden" name="code" value="{code}"><button>Open rag-ls</button></form>
<script>document.forms[0].submit();</script></html>
"""


def run(arguments: SimpleNamespace) -> int:
    """Have the engine serve HTTP, and open its page, signed in by a code that works once."""
    url = start_http()
    make_private_folder(user_data_folder())
    tokens = TokenFile(user_data_folder())
    if not (arguments.json or arguments.print) and _show(url, tokens):
        print_notes(f"opened {url}")
        return 0
    if not (arguments.json or arguments.print):
        print_notes("no browser came; open this link, which works once:")
    # It works for the first browser that opens it.
    link = f"{url}open/{_new_code(tokens)}{_find_fragment()}"
    return show_answer(arguments, {"url": link}, link, paged=False)


def _new_code(tokens: TokenFile) -> str:
    return tokens.add_with_code(_NAME, Access.WRITE, _LIFETIME, _CODE_LIFETIME)


def _show(url: str, tokens: TokenFile) -> bool:
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
    """The URL at which the user's engine serves HTTP; starts both where needed. Raises `HttpUnavailable`."""
    paths, deadline = engine_paths(), time.monotonic() + _START_S
    process = None
    while time.monotonic() < deadline:
        try:
            if url := ask_for_http(paths, {}):
                return url
        except EngineLost:
            # The engine has just ended, or makes way for another.
            process = None
        except Refused as refused:
            if refused.reason != "leaving":
                raise HttpUnavailable(str(refused)) from refused
            process = None
        process = process or start_engine()
        time.sleep(0.05)
    raise HttpUnavailable(f"no engine could be started; its log is {paths.log}")

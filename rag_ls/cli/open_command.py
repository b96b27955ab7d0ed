"""`rag-ls open`: the page in the browser, signed in."""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import timedelta

from rag_ls.daemon.channel import EngineLost, Refused
from rag_ls.daemon.find import start_engine
from rag_ls.daemon.paths import engine_paths
from rag_ls.daemon.serve import ask_for_http
from rag_ls.errors import HttpUnavailable
from rag_ls.http.tokens import Access, TokenFile
from rag_ls.project import make_private_folder, user_data_folder

_START_S = 30.0
_NAME = "page"
_LIFETIME, _CODE_LIFETIME = timedelta(days=7), timedelta(minutes=2)


def run(arguments: argparse.Namespace) -> int:
    """Have the engine serve HTTP, and open its page by a link that works once."""
    url = served_url()
    make_private_folder(user_data_folder())
    code = TokenFile(user_data_folder()).add_with_code(_NAME, Access.ADMIN, _LIFETIME, _CODE_LIFETIME)
    link = f"{url}open/{code}"
    if arguments.json:
        print(json.dumps({"url": link}))
    elif arguments.print:
        print(link)
    else:
        import webbrowser

        is_shown = webbrowser.open(link)
        print(f"rag-ls: {'opened' if is_shown else 'no browser was found; open'} {url}", file=sys.stderr)
        if not is_shown:
            print(link)
    return 0


def served_url() -> str:
    """The URL at which the user's engine serves HTTP; starts both where needed. Raises `HttpUnavailable`."""
    paths, deadline = engine_paths(), time.monotonic() + _START_S
    process = None
    while time.monotonic() < deadline:
        try:
            if url := ask_for_http(paths, {}):
                return url
        except EngineLost:
            # It has just ended, or makes way for another.
            process = None
        except Refused as refused:
            if refused.reason != "leaving":
                raise HttpUnavailable(str(refused)) from refused
            process = None
        process = process or start_engine()
        time.sleep(0.05)
    raise HttpUnavailable(f"no engine could be started; its log is {paths.log}")

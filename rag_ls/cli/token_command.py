"""`rag-ls token`: make, list and revoke the tokens of programs that ask over HTTP."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

from rag_ls.cli import terminal
from rag_ls.config import load as load_settings
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.http.tokens import Access, Token, TokenFile, lifetime_of
from rag_ls.project import find_project, user_data_folder
from rag_ls.registry.catalogue import CONFIG, called, known_projects, names_of
from rag_ls.registry.registry_file import FILE_NAME as PROJECTS_FILE
from rag_ls.registry.registry_file import Registry
from rag_ls.util.nearest import nearest, nearest_text


def run(arguments: argparse.Namespace) -> int:
    """Run the action that is asked for."""
    tokens = TokenFile(user_data_folder())
    if arguments.action == "add":
        return _add(tokens, arguments)
    if arguments.action == "revoke":
        return _revoke(tokens, arguments)
    return _list(tokens, arguments)


def _add(tokens: TokenFile, arguments: argparse.Namespace) -> int:
    projects = [root for name in arguments.project for root in _projects_called(name)]
    token, secret = tokens.add(arguments.name, Access(arguments.scope), projects, lifetime_of(arguments.expires))
    if arguments.json:
        print(json.dumps({"token": secret, **_record(token)}))
        return 0
    print(secret)
    until = f" until {token.expires_at}" if token.expires_at else ""
    print(f"rag-ls: {token.name!r} may {_format_access(token)}{until}; the token is shown only now", file=sys.stderr)
    return 0


def _projects_called(name: str) -> list[str]:
    """A token's names for a project: one in the settings, else its root, since another project may get its name."""
    if os.sep in name or name.startswith((".", "~")):
        if not (folder := Path(name).expanduser()).is_dir():
            raise NotFound(f"--project {name!r}: there is no such folder")
        return [str(find_project(folder).root)]
    registry = Registry(user_data_folder() / PROJECTS_FILE)
    known = known_projects(load_settings().settings.projects, registry.projects())
    found = called(known, name)
    if not found:
        near = nearest_text(nearest(name, [item.name for item in known]))
        unread = registry.find_problem()
        raise NotFound(
            f"no known project is called {name!r}; {near}known are {names_of(known)}, or give its folder"
            f"{unread and f'; others may be known, but {unread}'}"
        )
    if any(item.source == CONFIG for item in found):
        return [name]
    if len(found) > 1:
        roots = ", ".join(str(item.root) for item in found)
        raise InvalidRequest(f"several projects are called {name!r}: give the folder of one: {roots}")
    return [str(found[0].root)]


def _list(tokens: TokenFile, arguments: argparse.Namespace) -> int:
    found = [token for token in tokens.tokens() if token.digest]
    for item in tokens.unreadable():
        print(
            f"rag-ls: the token {item.name!r} in {tokens.path} counts for nobody: {item.reason}; "
            f"mend it there, or `rag-ls token revoke {shlex.quote(item.name)}`",
            file=sys.stderr,
        )
    if arguments.json:
        print(json.dumps({"tokens": [_record(token) for token in found]}))
        return 0
    paint = terminal.paint()
    for token in found:
        ended = "" if token.is_valid(datetime.now(UTC)) else "  (expired)"
        until = f"  until {token.expires_at}" if token.expires_at else ""
        print(f"{paint.style(token.name, terminal.NAME)}  {token.id}  {_format_access(token)}{until}{ended}")
    if not found and not tokens.unreadable():
        print("rag-ls: there are no tokens; `rag-ls token add NAME` makes one", file=sys.stderr)
    return 0


def _revoke(tokens: TokenFile, arguments: argparse.Namespace) -> int:
    revoked = tokens.revoke(arguments.name)
    if arguments.json:
        print(json.dumps({"revoked": [_record(token) for token in revoked] or [{"name": arguments.name}]}))
    else:
        print(f"rag-ls: revoked {', '.join(f'{token.name} ({token.id})' for token in revoked) or arguments.name}")
    return 0


def _format_access(token: Token) -> str:
    return f"{token.access.value} in {', '.join(token.projects) or 'all projects'}"


def _record(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.access.value,
        "projects": list(token.projects),
        "created_at": token.created_at,
        "expires_at": token.expires_at or None,
    }

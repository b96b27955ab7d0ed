"""`rag-ls token`: make, list and revoke the tokens of programs that ask over HTTP."""

from __future__ import annotations

import json
import os
import shlex
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from rag_ls.cli import terminal
from rag_ls.cli.terminal import print_notes, show_answer
from rag_ls.config.catalogue import CONFIG, called, known_projects, names_of
from rag_ls.config.loading import load_settings
from rag_ls.config.registry_file import FILE_NAME as PROJECTS_FILE
from rag_ls.config.registry_file import Registry
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.http.tokens import Access, Token, TokenFile, lifetime_of
from rag_ls.project import find_project, user_data_folder
from rag_ls.util.text import nearest, nearest_text


def add_token(arguments: SimpleNamespace) -> int:
    """Make a token and print it once."""
    projects = [root for name in arguments.project for root in _projects_called(name)]
    lifetime, tokens = lifetime_of(arguments.expires), TokenFile(user_data_folder())
    token, secret = tokens.add(arguments.name, Access(arguments.scope), projects, lifetime)
    show_answer(arguments, {"token": secret, **_record(token)}, secret, paged=False)
    until = f" until {token.expires_at}" if token.expires_at else ""
    print_notes(
        "" if arguments.json else f"{token.name!r} may {_format_access(token)}{until}; the token is shown only now"
    )
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


def list_tokens(arguments: SimpleNamespace) -> int:
    """List the tokens, and say which entries of their file count for nobody."""
    tokens = TokenFile(user_data_folder())
    found, unreadable = [token for token in tokens.tokens() if token.digest], list(tokens.unreadable())
    for item in unreadable:
        mend = f"mend it there, or `rag-ls token revoke {shlex.quote(item.name)}`"
        print_notes(f"the token {item.name!r} in {tokens.path} counts for nobody: {item.reason}; {mend}")
    if not found and not unreadable and not arguments.json:
        print_notes("there are no tokens; `rag-ls token add NAME` makes one")
    return show_answer(arguments, {"tokens": [*map(_record, found)]}, "\n".join(map(_format_token, found)))


def revoke_token(arguments: SimpleNamespace) -> int:
    """Revoke a token."""
    revoked = TokenFile(user_data_folder()).revoke(arguments.name)
    if arguments.json:
        print(json.dumps({"revoked": [_record(token) for token in revoked] or [{"name": arguments.name}]}))
    else:
        print(f"rag-ls: revoked {', '.join(f'{token.name} ({token.id})' for token in revoked) or arguments.name}")
    return 0


def _format_token(token: Token) -> str:
    ended = "" if token.is_valid(datetime.now(UTC)) else "  (expired)"
    until = f"  until {token.expires_at}" if token.expires_at else ""
    return f"{terminal.paint().style(token.name, terminal.NAME)}  {token.id}  {_format_access(token)}{until}{ended}"


def _format_access(token: Token) -> str:
    return f"{token.access.value} in {', '.join(token.projects) or 'all projects'}"


def _record(token: Token) -> dict[str, object]:
    named = {name: getattr(token, name) for name in ("id", "name", "projects", "created_at")}
    return named | {"scope": token.access.value, "expires_at": token.expires_at or None}

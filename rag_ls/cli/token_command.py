"""`rag-ls token`: make, list and revoke the tokens of programs that ask over HTTP."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime

from rag_ls.cli import terminal
from rag_ls.http.tokens import Access, Token, TokenFile, lifetime_of
from rag_ls.project import user_data_folder


def run(arguments: argparse.Namespace) -> int:
    """Run the action that is asked for."""
    tokens = TokenFile(user_data_folder())
    if arguments.action == "add":
        return _add(tokens, arguments)
    if arguments.action == "revoke":
        return _revoke(tokens, arguments)
    return _list(tokens, arguments)


def _add(tokens: TokenFile, arguments: argparse.Namespace) -> int:
    token, secret = tokens.add(
        arguments.name, Access(arguments.scope), arguments.project, lifetime_of(arguments.expires)
    )
    if arguments.json:
        print(json.dumps({"token": secret, **_record(token)}))
        return 0
    print(secret)
    until = f" until {token.expires_at}" if token.expires_at else ""
    print(f"rag-ls: {token.name!r} may {_allowed(token)}{until}; the token is shown only now", file=sys.stderr)
    return 0


def _list(tokens: TokenFile, arguments: argparse.Namespace) -> int:
    found = [token for token in tokens.tokens() if token.digest]
    if arguments.json:
        print(json.dumps({"tokens": [_record(token) for token in found]}))
        return 0
    paint = terminal.paint()
    for token in found:
        ended = "" if token.is_valid(datetime.now(UTC)) else "  (expired)"
        until = f"  until {token.expires_at}" if token.expires_at else ""
        print(f"{paint.styled(token.name, terminal.NAME)}  {token.id}  {_allowed(token)}{until}{ended}")
    if not found:
        print("rag-ls: there are no tokens; `rag-ls token add NAME` makes one", file=sys.stderr)
    return 0


def _revoke(tokens: TokenFile, arguments: argparse.Namespace) -> int:
    revoked = tokens.revoke(arguments.name)
    if arguments.json:
        print(json.dumps({"revoked": [_record(token) for token in revoked]}))
    else:
        print(f"rag-ls: revoked {', '.join(f'{token.name} ({token.id})' for token in revoked)}")
    return 0


def _allowed(token: Token) -> str:
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

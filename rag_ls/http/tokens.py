"""The tokens that callers over HTTP show: made, listed and revoked at the shell, looked up by the server.

The file holds only SHA-256 digests. The secrets have 256 random bits, so that no slow hash is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from rag_ls.config import JsonFile
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.util.records import asdict, dataclass, fields, replace
from rag_ls.util.text import nearest, nearest_text

FILE_NAME = "http-tokens.json"
SECRET_PREFIX = "ragls_"
_SECRET_BYTES = 32
_ID_BYTES = 6
_MAX_NAME = 64
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


class Access(StrEnum):
    """The rights of a token; each includes the one before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, other: Access) -> bool:
        """Whether this one allows all that the other one does."""
        order = list(Access)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Token:
    """One token; its secret is known to its holder alone."""

    id: str
    name: str
    access: Access
    projects: tuple[str, ...]
    """Names or roots of the projects that it sees; empty for all."""
    created_at: str
    expires_at: str
    """RFC 3339, UTC; empty for never."""
    digest: str
    """SHA-256 of the secret; empty while the one-time code was not used yet."""
    code_digest: str = ""
    """SHA-256 of the code that can be exchanged for the secret once."""
    code_expires_at: str = ""
    server: str = ""
    """The server that made it for a page, and with which it ends; empty for a token that outlives servers."""

    def is_valid(self, now: datetime) -> bool:
        """Whether it has not expired."""
        return not self.expires_at or now < datetime.fromisoformat(self.expires_at)


@dataclass(frozen=True, slots=True)
class UnreadableToken:
    """A record that this version cannot read as a token. It counts for nobody, since an unknown key may limit it, and stays."""

    record: Mapping[str, Any]
    reason: str

    @property
    def name(self) -> str:
        """The name by which it is revoked, whatever stands there; its id where it has none."""
        return str(self.record.get("name") or self.record.get("id"))

    def is_called(self, name: str) -> bool:
        """Whether it has this name or id."""
        return name in (self.name, str(self.record.get("id")))


@dataclass(frozen=True, slots=True)
class _Content:
    tokens: tuple[Token, ...] = ()
    unreadable: tuple[UnreadableToken, ...] = ()

    @property
    def names(self) -> list[str]:
        """All names that are taken."""
        return [*(token.name for token in self.tokens), *(item.name for item in self.unreadable)]


class TokenFile:
    """The user's tokens, in a file that the user alone can read. Several processes may change it."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """The tokens of the user whose data are in `folder`."""
        self._file = JsonFile[_Content](
            folder / FILE_NAME,
            parse=_parse_content,
            dump=_dump_content,
            empty=_Content(),
            holds="tokens",
            remedy="then make the tokens anew with `rag-ls token add`",
        )
        self._now = now
        # After this server ends, another program may listen on its port: a page that is still open sends it its token.
        self._server = secrets.token_hex(_ID_BYTES)
        self._read: tuple[tuple[int, int, int], _Content] = ((0, 0, 0), _Content())

    @property
    def path(self) -> Path:
        return self._file.path

    def tokens(self) -> tuple[Token, ...]:
        """All tokens, those that expired too. Raises `StoreUnavailable` if the file cannot be read."""
        return self._read_content().tokens

    def unreadable(self) -> tuple[UnreadableToken, ...]:
        """The records that this version cannot read. Raises `StoreUnavailable` if the file cannot be read."""
        return self._read_content().unreadable

    def _read_content(self) -> _Content:
        stamp = _stamp_file(self.path)
        if stamp != self._read[0]:
            self._read = stamp, self._file.read()
        return self._read[1]

    def holder_of(self, secret: str) -> Token | None:
        """The valid token with this secret. Compares with every token in constant time."""
        digest, found = _hash_secret(secret), None
        for token in self.tokens():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found if found is not None and self._is_counted(found) else None

    def is_waiting(self, code: str) -> bool:
        """Whether a one-time code was not used yet."""
        digest = _hash_secret(code)
        return any(hmac.compare_digest(token.code_digest, digest) for token in self.tokens())

    def valid(self) -> list[Token]:
        """The tokens that count now."""
        return [token for token in self.tokens() if token.digest and self._is_counted(token)]

    def is_in_force(self, token: Token) -> bool:
        """Whether a token was neither revoked nor expired since it was looked up."""
        return self._is_counted(token) and any(held.id == token.id for held in self.tokens())

    def add(
        self,
        name: str,
        access: Access = Access.WRITE,
        projects: Sequence[str] = (),
        lifetime: timedelta | None = None,
    ) -> tuple[Token, str]:
        """A new token and its secret. Raises `InvalidRequest` for a name that is taken or cannot be one."""
        secret = _make_secret()
        token = self._make_token(name, access, projects, lifetime, digest=_hash_secret(secret))

        def add(held: _Content) -> _Content:
            if token.name in held.names:
                raise InvalidRequest(
                    f"there is a token {token.name!r} already: choose another name, or revoke it first"
                )
            return replace(held, tokens=(*held.tokens, token))

        self._file.change(add)
        return token, secret

    def add_with_code(self, name: str, access: Access, lifetime: timedelta, code_lifetime: timedelta) -> str:
        """Add a token, whose secret the returned one-time code gives; returns the code.

        Several may have one name, as each page has its own. Those of this name that are over are dropped.
        """
        code = secrets.token_urlsafe(_SECRET_BYTES)
        token = replace(
            self._make_token(name, access, (), lifetime, digest=""),
            code_digest=_hash_secret(code),
            code_expires_at=_format_stamp(self._now() + code_lifetime),
        )
        self._change_tokens(
            lambda held: [*(other for other in held if other.name != name or not self._is_over(other)), token]
        )
        return code

    def exchange(self, code: str) -> str | None:
        """Redeem a one-time code: its secret, once; None for an unknown, used or expired code."""
        if not self.is_waiting(code):
            # Anybody may send a code. Only a known code may make others wait for the file.
            return None
        digest, secret, now = _hash_secret(code), _make_secret(), self._now()

        def redeem_code(held: tuple[Token, ...]) -> Iterable[Token]:
            token = next((token for token in held if _has_code(token, digest, now)), None)
            if token is None:
                return held
            redeemed = replace(
                token, digest=_hash_secret(secret), code_digest="", code_expires_at="", server=self._server
            )
            changed = (redeemed if other is token else other for other in held)
            return (other for other in changed if other.server in ("", self._server))

        changed = self._change_tokens(redeem_code)
        return secret if any(token.digest == _hash_secret(secret) for token in changed) else None

    def revoke(self, name: str) -> list[Token]:
        """Remove the tokens with this name or id, unreadable ones too. Raises `NotFound`."""
        revoked: list[Token] = []

        def remove(held: _Content) -> _Content:
            revoked[:] = [token for token in held.tokens if name in (token.name, token.id)]
            kept = replace(
                held,
                tokens=tuple(token for token in held.tokens if token not in revoked),
                unreadable=tuple(item for item in held.unreadable if not item.is_called(name)),
            )
            if kept == held:
                near = nearest_text(nearest(name, held.names))
                raise NotFound(f"there is no token {name!r}; {near}`rag-ls token list` shows them")
            return kept

        self._file.change(remove)
        return revoked

    def _make_token(
        self, name: str, access: Access, projects: Sequence[str], lifetime: timedelta | None, *, digest: str
    ) -> Token:
        if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
            raise InvalidRequest(f"a token's name has 1 to {_MAX_NAME} characters that can be printed, not {name!r}")
        now = self._now()
        expires = _format_stamp(now + lifetime) if lifetime is not None else ""
        chosen = tuple(dict.fromkeys(projects))
        return Token(
            id=secrets.token_hex(_ID_BYTES),
            name=name.strip(),
            access=access,
            projects=chosen,
            created_at=_format_stamp(now),
            expires_at=expires,
            digest=digest,
        )

    def _is_over(self, token: Token) -> bool:
        """Whether a token has expired, or its code before it was used."""
        now = self._now()
        is_late = bool(token.code_expires_at) and now >= datetime.fromisoformat(token.code_expires_at)
        return is_late or not token.is_valid(now)

    def _is_counted(self, token: Token) -> bool:
        return token.is_valid(self._now()) and token.server in ("", self._server)

    def _change_tokens(self, edit: Callable[[tuple[Token, ...]], Iterable[Token]]) -> tuple[Token, ...]:
        """Write what `edit` makes of the tokens. Raises `StoreUnavailable`."""
        return self._file.change(lambda held: replace(held, tokens=tuple(edit(held.tokens)))).tokens


def lifetime_of(text: str) -> timedelta | None:
    """The lifetime that `30d`, `12h`, `15m` or `2w` stands for; None for an empty text. Raises `InvalidRequest`."""
    if not text:
        return None
    found = re.fullmatch(r"(\d{1,4})([mhdw])", text.strip())
    if found is None or not int(found[1]):
        raise InvalidRequest(f"--expires {text!r}: give a number with m, h, d or w, e.g. 30d")
    return int(found[1]) * _UNITS[found[2]]


def _parse_content(content: dict[str, Any]) -> _Content:
    tokens, unreadable = [], []
    for record in content["tokens"]:
        if not isinstance(record, dict):
            raise ValueError(f"no token: {record!r}")
        try:
            tokens.append(_read_token(record))
        except ValueError as error:
            unreadable.append(UnreadableToken(record, str(error)))
    return _Content(tuple(tokens), tuple(unreadable))


def _read_token(record: dict[str, Any]) -> Token:
    if unknown := sorted(record.keys() - {field.name for field in fields(Token)}):
        raise ValueError(f"this version does not know its key {unknown[0]!r}, which a newer one may have written")
    if missing := [field.name for field in fields(Token) if field.default is MISSING and field.name not in record]:
        raise ValueError(f"its key {missing[0]!r} is missing")
    access, projects = record["access"], record["projects"]
    if access not in tuple(Access):
        raise ValueError(f"its access is {access!r}, and not {', '.join(Access)}")
    if not isinstance(projects, list):
        raise ValueError(f"its projects are no list: {projects!r}")
    token = Token(**{**record, "access": Access(access), "projects": tuple(projects)})
    odd = [name for name, value in asdict(token).items() if name != "projects" and not isinstance(value, str)]
    if odd or not all(isinstance(project, str) for project in projects):
        raise ValueError(f"{odd[0] if odd else 'projects'!r} holds something else than text")
    if not f"{token.digest}{token.code_digest}".isascii():
        # Comparing with it would fail for every token.
        raise ValueError("its digest is no SHA-256")
    for stamp in filter(None, (token.expires_at, token.code_expires_at)):
        if datetime.fromisoformat(stamp).tzinfo is None:
            raise ValueError(f"{stamp!r} has no time zone")
    return token


def _dump_content(content: _Content) -> dict[str, Any]:
    return {"tokens": [*map(asdict, content.tokens), *(dict(item.record) for item in content.unreadable)]}


def _has_code(token: Token, digest: str, now: datetime) -> bool:
    """Whether a token waits for the one-time code with this digest."""
    is_code = bool(token.code_digest) and hmac.compare_digest(token.code_digest, digest)
    return is_code and now < datetime.fromisoformat(token.code_expires_at)


def _make_secret() -> str:
    return SECRET_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _format_stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _stamp_file(path: Path) -> tuple[int, int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino

"""The tokens that callers over HTTP show: made, listed and revoked at the shell, looked up by the server.

The file holds only SHA-256 digests. The secrets have 256 random bits, so that no slow hash is needed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from rag_ls.errors import InvalidRequest, NotFound, StoreUnavailable
from rag_ls.util.foreign_text import read_json
from rag_ls.util.nearest import nearest, nearest_text
from rag_ls.util.whole_files import whole_file

FILE_NAME = "http-tokens.json"
SECRET_PREFIX = "ragls_"
_SECRET_BYTES = 32
_ID_BYTES = 6
_MAX_NAME = 64
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_LOCK_S = 10.0


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


class TokenFile:
    """The user's tokens, in a file that the user alone can read. Several processes may change it."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """`folder` must exist once a token is added."""
        self._path = folder / FILE_NAME
        self._now = now
        # After this server ends, another program may listen on its port and get a token from a page that is still open.
        self._server = secrets.token_hex(_ID_BYTES)
        self._read: tuple[tuple[int, int, int], tuple[Token, ...]] = ((0, 0, 0), ())

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def tokens(self) -> tuple[Token, ...]:
        """All tokens, those that expired too. Raises `StoreUnavailable` if the file cannot be read."""
        stamp = _stamp(self._path)
        if stamp != self._read[0]:
            self._read = stamp, _tokens_in(self._path) if any(stamp) else ()
        return self._read[1]

    def holder_of(self, secret: str) -> Token | None:
        """The valid token with this secret. Compares with every token in constant time."""
        digest, found = _digest(secret), None
        for token in self.tokens():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found if found is not None and self._counts(found) else None

    def prove(self, token_id: str, nonce: str) -> str | None:
        """The proof to a token's holder that this server knows the token; None for one that does not count."""
        found = next((token for token in self.valid() if token.id == token_id), None)
        return hmac.new(found.digest.encode(), nonce.encode(), "sha256").hexdigest() if found else None

    def is_waiting(self, code: str) -> bool:
        """Whether a one-time code was not used yet."""
        digest = _digest(code)
        return any(hmac.compare_digest(token.code_digest, digest) for token in self.tokens())

    def valid(self) -> list[Token]:
        """The tokens that count now."""
        return [token for token in self.tokens() if token.digest and self._counts(token)]

    def is_in_force(self, token: Token) -> bool:
        """Whether a token was neither revoked nor expired since it was looked up."""
        return self._counts(token) and any(held.id == token.id for held in self.tokens())

    def add(
        self,
        name: str,
        access: Access = Access.WRITE,
        projects: Sequence[str] = (),
        lifetime: timedelta | None = None,
    ) -> tuple[Token, str]:
        """A new token and its secret. Raises `InvalidRequest` for a name that is taken or cannot be one."""
        secret = _secret()
        token = self._new(name, access, projects, lifetime, digest=_digest(secret))
        with self._changing() as held:
            if any(other.name == token.name for other in held):
                raise InvalidRequest(
                    f"there is a token {token.name!r} already: choose another name, or revoke it first"
                )
            held.append(token)
        return token, secret

    def add_with_code(self, name: str, access: Access, lifetime: timedelta, code_lifetime: timedelta) -> str:
        """Replace the token of this name by a new one, whose secret the returned one-time code gives."""
        code = secrets.token_urlsafe(_SECRET_BYTES)
        token = replace(
            self._new(name, access, (), lifetime, digest=""),
            code_digest=_digest(code),
            code_expires_at=_format_stamp(self._now() + code_lifetime),
        )
        with self._changing() as held:
            # Pages of other windows may still be opening, so only expired codes are dropped.
            held[:] = [other for other in held if other.name != name or not self._is_over(other)]
            held.append(token)
        return code

    def exchange(self, code: str) -> str | None:
        """Redeem a one-time code: its secret, once; None for an unknown, used or expired code."""
        digest, secret = _digest(code), _secret()
        now = self._now()
        if not self.is_waiting(code):
            # Anybody may send a code. Only a known code may make others wait for the file.
            return None
        with self._changing() as held:
            for place, token in enumerate(held):
                is_code = bool(token.code_digest) and hmac.compare_digest(token.code_digest, digest)
                if is_code and now < datetime.fromisoformat(token.code_expires_at):
                    held[place] = replace(
                        token, digest=_digest(secret), code_digest="", code_expires_at="", server=self._server
                    )
                    held[:] = [other for other in held if other.server in ("", self._server)]
                    return secret
        return None

    def revoke(self, name: str) -> list[Token]:
        """Remove the tokens with this name or id. Raises `NotFound`."""
        with self._changing() as held:
            revoked = [token for token in held if name in (token.name, token.id)]
            if not revoked:
                near = nearest_text(nearest(name, [token.name for token in held]))
                raise NotFound(f"there is no token {name!r}; {near}`rag-ls token list` shows them")
            held[:] = [token for token in held if token not in revoked]
        return revoked

    def _new(
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

    def _counts(self, token: Token) -> bool:
        return token.is_valid(self._now()) and token.server in ("", self._server)

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """The tokens to be changed; written when the block ends without an error."""
        with self._lock():
            former = list(self.tokens())
            changed = list(former)
            yield changed
            if changed == former:
                return
            try:
                with whole_file(self._path) as file:
                    json.dump({"tokens": [dataclasses.asdict(token) for token in changed]}, file, indent=1)
            except OSError as error:
                raise StoreUnavailable(
                    f"{self._path} cannot be written: {error.strerror or error}", "tokens"
                ) from error

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other processes from changing the file meanwhile."""
        from filelock import FileLock, Timeout

        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(f"{self._path}.lock", mode=0o600)
        try:
            lock.acquire(_LOCK_S)
        except Timeout:
            raise StoreUnavailable(f"{self._path} is being changed by another program; try again", "tokens") from None
        try:
            yield
        finally:
            lock.release()


def lifetime_of(text: str) -> timedelta | None:
    """The lifetime that `30d`, `12h`, `15m` or `2w` stands for; None for an empty text. Raises `InvalidRequest`."""
    if not text:
        return None
    found = re.fullmatch(r"(\d{1,4})([mhdw])", text.strip())
    if found is None or not int(found[1]):
        raise InvalidRequest(f"--expires {text!r}: give a number with m, h, d or w, e.g. 30d")
    return int(found[1]) * _UNITS[found[2]]


def _tokens_in(path: Path) -> tuple[Token, ...]:
    try:
        found = read_json(path.read_text(encoding="utf-8"))
        return tuple(
            Token(**{**item, "access": Access(item["access"]), "projects": tuple(item["projects"])})
            for item in found["tokens"]
        )
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreUnavailable(
            f"{path} cannot be read ({error}): mend it, or delete it and make the tokens anew", "tokens"
        ) from error


def _secret() -> str:
    return SECRET_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _format_stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino

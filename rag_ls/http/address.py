"""The address at which the server listens, and the names by which it may be called."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_ls.errors import InvalidRequest
from rag_ls.util.paths import is_loopback
from rag_ls.util.records import dataclass

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 17080
# The names by which browsers and other programs of this machine call it.
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_ANYWHERE = ("0.0.0.0", "::")
_WANTED = "give HOST:PORT, e.g. 127.0.0.1:17080"


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port to listen on."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def shown_host(self) -> str:
        """The host as a URL writes it."""
        host = DEFAULT_HOST if self.host in _ANYWHERE else self.host
        return f"[{host}]" if ":" in host else host

    def url(self, *, is_secure: bool) -> str:
        """The address of the page, with a slash at the end."""
        return f"{'https' if is_secure else 'http'}://{self.shown_host}:{self.port}/"

    def names(self, others: Sequence[str]) -> frozenset[str]:
        """The names that a `Host` header may give, in lower case, without the port: its own names and `others`."""
        own = _LOOPBACK_NAMES if self.is_loopback else (self.shown_host,)
        return frozenset(name.strip().lower() for name in (*own, *others))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """The address that `HOST:PORT`, `HOST`, `:PORT` or `PORT` stands for. Raises `InvalidRequest`."""
    wanted = text.strip()
    found = re.fullmatch(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s:/\[\]]*))(?::(\d{1,5}))?", wanted)
    if found is None:
        raise InvalidRequest(f"{text!r} is no address: {_WANTED}")
    host, port = found[1] or found[2], found[3]
    if host.isdigit() and not port:
        host, port = "", host
    number = int(port) if port else DEFAULT_PORT
    if number > 65535:
        raise InvalidRequest(f"{text!r}: there is no port {number}; {_WANTED}")
    return Address(host or DEFAULT_HOST, number)


def host_of(header: str) -> str:
    """The host of a `Host` header or an origin's authority, in lower case, without the port."""
    host = header.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]

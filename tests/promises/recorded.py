"""What processes do to the world outside them, as strace(1) sees it: whom they ask, and what they write."""

from __future__ import annotations

import ipaddress
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PEERS = ("connect", "bind", "sendto", "sendmsg", "sendmmsg")
_ONE_PATH = ("open", "openat", "creat", "mkdir", "mkdirat", "mknod", "mknodat", "truncate")
_TWO_PATHS = ("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat")
_INET = re.compile(r'sin6?_port=htons\((\d+)\)[^}]*?"([0-9a-fA-F.:]+)"')
_PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
_OPENED_FOR_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT")
_NAME_SERVICE_PORT = 53
# Where glibc looks before it asks for a name that is no address, and how systemd's resolver is asked.
_NAME_SERVICES = ("/etc/resolv.conf", "io.systemd.Resolve", "/org/freedesktop/resolve1")


@dataclass(frozen=True, slots=True)
class Recording:
    """The calls that reach further than the machine's own loopback, and the paths that were opened, created, or opened to write."""

    asked: tuple[str, ...]
    opened: frozenset[Path]
    written: frozenset[Path]


def record(
    command: Sequence[str], traces: Path, *, folder: Path, environment: Mapping[str, str], timeout_s: float
) -> Recording:
    """Run a command until it and all that it started have ended; it must succeed. `traces` is an empty folder."""
    calls = ",".join((*_PEERS, *_ONE_PATH, *_TWO_PATHS, "chdir"))
    strace = ["strace", "-ff", "--seccomp-bpf", "-qq", "-y", "-s", "1", "-e", f"trace={calls}", "-e", "signal=none"]
    done = subprocess.run(
        [*strace, "-o", str(traces / "of"), *command],
        cwd=folder, env=dict(environment), capture_output=True, text=True, timeout=timeout_s, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    asked: list[str] = []
    opened: set[Path] = set()
    written: set[Path] = set()
    for trace in sorted(traces.iterdir()):
        for call in _calls(trace, folder):
            asked += [call.text] if call.leaves() else []
            opened |= set(call.paths())
            written |= set(call.written())
    return Recording(tuple(asked), frozenset(opened), frozenset(written))


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    text: str
    folder: Path
    """The folder that the process works in."""

    def leaves(self) -> bool:
        """Whether it may reach another machine, or has a name looked up."""
        if any(service in self.text for service in _NAME_SERVICES):
            return True
        if self.name not in _PEERS:
            return False
        peers = [(int(port), ipaddress.ip_address(host)) for port, host in _INET.findall(self.text)]
        others = "AF_PACKET" in self.text or ("AF_INET" in self.text and not peers)
        return others or any(port == _NAME_SERVICE_PORT or not host.is_loopback for port, host in peers)

    def written(self) -> Iterator[Path]:
        """The paths that it creates, or opens to write."""
        if self.name not in ("open", "openat") or _OPENED_FOR_WRITING.search(self.text):
            yield from self.paths()

    def paths(self) -> Iterator[Path]:
        """The paths that it opens or creates."""
        if self.name in (*_ONE_PATH, *_TWO_PATHS):
            folder, path = _PATH.findall(self.text)[-1]
            yield Path(os.path.normpath(os.path.join(folder or self.folder, path)))


def _calls(trace: Path, folder: Path) -> Iterator[_Call]:
    """The calls of one thread. It begins in `folder`, changes to another, and shows its own with each file that it opens."""
    for line in trace.read_text(errors="replace").splitlines():
        if found := re.search(r'AT_FDCWD<([^>]*)>|^chdir\("([^"]*)"\) += 0', line):
            folder = folder / (found[1] or found[2])
        name, opened, _ = line.partition("(")
        if opened and name in (*_PEERS, *_ONE_PATH, *_TWO_PATHS):
            yield _Call(name, line, folder)

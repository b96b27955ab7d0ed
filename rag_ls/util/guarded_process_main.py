"""The process that `guarded_processes` runs: calls functions, one after the other, until its input ends."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import signal
import struct
import sys
from collections.abc import Iterator
from typing import IO, Any

from rag_ls.util.processes import collect_rarely

# Address space beside the memory that a call may use: for threads and mapped libraries.
_MORE_SPACE_BYTES = 2_000_000_000
# If the process that watches this one is gone, a call that hangs must end by itself.
_ALONE_S = 600


def main() -> None:
    """Answer calls on standard input; whatever else is printed goes to stderr."""
    collect_rarely()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nice, memory_bytes = (int(argument) for argument in sys.argv[1:3])
    for package in sys.argv[3:]:
        postpone(package)
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    _limit(memory_bytes)
    serve(sys.stdin.buffer, answers)


def postpone(package: str) -> None:
    """Let modules of a package be imported without what its `__init__` exports, until one of these is asked for."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.loader is not None
    loader, module = spec.loader, importlib.util.module_from_spec(spec)

    def load(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        del module.__dict__["__getattr__"]
        loader.exec_module(module)
        return getattr(module, name)

    module.__dict__["__getattr__"] = load
    sys.modules[package] = module


def serve(calls: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until the input ends. Unpickling is safe: only our own process writes to the pipe."""
    while True:
        try:
            _, body = read_frame(calls)
            write_frame(answers, *_answer(body))
        except (EOFError, BrokenPipeError):
            return


def _answer(body: bytes) -> tuple[bytes, bytes]:
    function, arguments = pickle.loads(body)
    with _alarm():
        try:
            return ANSWER, pickle.dumps(function(*arguments), protocol=5)
        except Exception as error:
            return RAISED, _pickle_error(error)


def _pickle_error(error: Exception) -> bytes:
    try:
        body = pickle.dumps(error, protocol=5)
        pickle.loads(body)
    except Exception:
        body = pickle.dumps(RuntimeError(repr(error)), protocol=5)
    return body


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, _ALONE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit(memory_bytes: int) -> None:
    """A second line of defence behind the process that watches: memory at once beyond the limit, and no core dumps."""
    try:
        import resource
    except ImportError:
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        space = memory_bytes + _MORE_SPACE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (space, space))


# Kinds of frames: a function with its arguments, its result, an error that it raised.
CALL, ANSWER, RAISED = b"c", b"a", b"r"
_HEADER = struct.Struct("<cI")


def write_frame(stream: IO[bytes], kind: bytes, body: bytes) -> None:
    """Write one frame: its kind (a byte), the length of its body, its body."""
    stream.write(_HEADER.pack(kind, len(body)) + body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[bytes, bytes]:
    """Read one frame. Raises `EOFError` where the stream ends."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError("end of stream")
    kind, length = _HEADER.unpack(header)
    body = stream.read(length)
    if len(body) < length:
        raise EOFError("end of stream within a frame")
    return kind, body


if __name__ == "__main__":
    main()

"""The engine's end of a connection: one thread each, which speaks the protocol of the client's surface."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rag_ls.daemon.channel import ALIVE_EVERY_S, Channel, EngineLost, Json
from rag_ls.engine import About, Client, Engine
from rag_ls.errors import RagLsError
from rag_ls.indexing import Progress
from rag_ls.operations import ClientSession, make_progress

_log = logging.getLogger(__name__)

Connect = Callable[[Mapping[str, Any] | None], Client]
"""Makes a client of the engine, with an editor's settings."""


def serve(engine: Engine, channel: Channel, hello: Json) -> None:
    """Serve one greeted client until it leaves."""
    about = About(str(hello["surface"]), str(hello.get("name", ""))[:100], hello.get("pid"))
    environment = hello.get("environment")
    variables = {str(key): str(value) for key, value in environment.items()} if isinstance(environment, dict) else None
    clients: list[Client] = []

    def connect(editor: Mapping[str, Any] | None = None) -> Client:
        is_agent = about.surface == "mcp"
        client = Client(engine, editor=editor, environment=variables, about=about, is_agent=is_agent)
        clients.append(client)
        return client

    try:
        _SURFACES[about.surface](channel, hello, connect)
    finally:
        for client in clients:
            client.close()


def _serve_editor(channel: Channel, hello: Json, connect: Connect) -> None:
    from rag_ls.lsp import serve as serve_lsp

    output: Any = SocketOutput(channel.socket)
    serve_lsp(channel.input, output, connect, watch_parent=False)


def _serve_agent(channel: Channel, hello: Json, connect: Connect) -> None:
    from rag_ls.mcp import serve_client

    output: Any = SocketOutput(channel.socket)
    serve_client(connect(None), Path(str(hello.get("folder", "/"))), channel.input, output)


def _serve_shell(channel: Channel, hello: Json, connect: Connect) -> None:
    """Run a shell client's operations, one at a time."""
    session = ClientSession(connect(None))
    while (request := channel.receive()) is not None:
        with _signs_of_life(channel):
            answer = _answer(session, channel, request)
        channel.send(answer)


@contextlib.contextmanager
def _signs_of_life(channel: Channel) -> Iterator[None]:
    """Meanwhile send signs of life, so that the waiting client knows that the engine does not hang."""
    done = threading.Event()

    def run() -> None:
        with contextlib.suppress(OSError):
            while not done.wait(ALIVE_EVERY_S):
                channel.send({"alive": True})

    thread = threading.Thread(target=run, name="alive", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _answer(session: ClientSession, channel: Channel, request: Json) -> Json:
    def report(project: str, progress: Progress) -> None:
        try:
            channel.send({"progress": make_progress(project, progress)})
        except OSError as error:
            raise _ClientLeft from error

    try:
        folders = [str(each) for each in (request.get("folder"), *request.get("beside", ())) if each]
        result = session.run_in(folders, str(request.get("operation")), request.get("arguments"), report)
        return {"result": result, "warnings": session.warnings()}
    except RagLsError as error:
        return {"error": {"type": type(error).__name__, "message": str(error)}}
    except _ClientLeft as left:
        raise EngineLost("the client left") from left
    except Exception as error:
        _log.exception("%s failed", request.get("operation"))
        return {"error": {"type": "RagLsError", "message": f"{type(error).__name__}: {error}; see the engine's log"}}


class _ClientLeft(Exception):
    """The client disconnected before its answer."""


_SURFACES: dict[str, Callable[[Channel, Json, Connect], None]] = {
    "lsp": _serve_editor,
    "mcp": _serve_agent,
    "cli": _serve_shell,
}
SURFACES = tuple(_SURFACES)


class SocketOutput:
    """A socket as an unbuffered output stream for protocol libraries."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def write(self, data: bytes) -> int:
        """Write all of it. Where nobody reads any more, the input ends too, and with it the session."""
        try:
            self._connection.sendall(data)
        except OSError:
            self.close()
        return len(data)

    def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)


def in_process(surface: str, about: Json) -> Channel:
    """A connection to an engine in this very process, for a surface that can have no other."""
    ours, theirs = socket.socketpair()
    engine = Engine()

    def run() -> None:
        channel = Channel(theirs)
        try:
            serve(engine, channel, {**about, "surface": surface})
        finally:
            channel.hang_up()
            engine.close()

    threading.Thread(target=run, name="engine", daemon=True).start()
    return Channel(ours)

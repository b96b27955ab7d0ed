"""`rag-ls serve` and `rag-ls stop`: one engine a user, and what it leaves on disk while it runs."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from rag_ls import __version__
from rag_ls.daemon import transport
from rag_ls.daemon.channel import EngineLost, Refused, greet
from rag_ls.daemon.find import start_engine
from rag_ls.daemon.paths import EnginePaths, engine_paths, make_private, user_config_file
from rag_ls.util.whole_files import whole_file

if TYPE_CHECKING:
    from rag_ls.config import Settings
    from rag_ls.daemon.server import EngineServer

_log = logging.getLogger(__name__)

_START_S = 30.0
_STOP_S = 30.0
_MAX_END_S = 15.0
# An older engine that makes way for this one needs a moment for it.
_MAKE_WAY_S = 2.0
# Who started the engine has a question, which had better have the processor; where it needs the model, that loads at once.
_WARM_UP_S = 4.0


def serve(arguments: argparse.Namespace) -> int:
    """Host the engine until it is stopped."""
    paths = engine_paths()
    if arguments.detach:
        return _detach(paths)
    # Files of ours are nobody else's, but for the log and the PID file, which a group may read.
    os.umask(0o027)
    try:
        make_private(paths.folder)
    except OSError as error:
        return _fail(f"{paths.folder} cannot be used: {error}")
    lock = _taken_in_time(paths) if arguments.background else _taken(paths.lock)
    if lock is None:
        return 0 if arguments.background else _fail(f"an engine runs already: {_whereabouts(paths)}")
    return _host(paths, lock, background=arguments.background)


def stop(arguments: argparse.Namespace) -> int:
    """Stop the engine, and wait for its end."""
    paths = engine_paths()
    try:
        answered = transport.connect(paths, _STOP_S)
    except PermissionError as error:
        return _fail(str(error))
    if answered is None:
        return _none_answers(paths)
    with contextlib.suppress(OSError), open(paths.stopped, "w", encoding="utf-8"):
        pass
    try:
        pid = greet(*answered, "stop", {}).greeting.get("pid")
    except (Refused, EngineLost) as error:
        return _fail(f"{error}; {_whereabouts(paths)}")
    deadline = time.monotonic() + _STOP_S
    while time.monotonic() < deadline:
        if lock := _taken(paths.lock):
            lock.release()
            print(json.dumps({"stopped": pid}) if arguments.json else f"rag-ls: the engine {pid} ended")
            return 0
        time.sleep(0.05)
    return _fail(f"the engine {pid} has not ended yet; its log is {paths.log}")


def _none_answers(paths: EnginePaths) -> int:
    if os.path.isdir(paths.folder):
        if (lock := _taken(paths.lock)) is None:
            where = _whereabouts(paths)
            return _fail(f"an engine runs and cannot be reached; it ends by itself within a minute ({where})")
        lock.release()
    print("rag-ls: no engine runs", file=sys.stderr)
    return 0


def _host(paths: EnginePaths, lock: FileLock, *, background: bool) -> int:
    # From the first moment, so that what is written below is taken away again.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    # The way in first: clients wait at the open door while the rest is imported.
    listening = transport.listen(paths)
    with whole_file(paths.pid) as file:
        file.write(f"{os.getpid()}\n")
    # Whatever the umask says.
    os.chmod(paths.pid, 0o644)
    mark = Mark(paths)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(paths.stopped)
    _say(background, f"engine {__version__}, PID {os.getpid()}, at {listening.address}; log in {paths.log}")
    try:
        from rag_ls import config
        from rag_ls.config import logs
        from rag_ls.daemon.configured import ConfiguredProjects
        from rag_ls.daemon.server import EngineServer, Patience
        from rag_ls.engine.engine import Engine

        settings = config.load().settings
        engine = Engine()
        engine.address = listening.address
        if not settings.log.file:
            logs.to_rotating_file(Path(paths.log), settings.log, also_stderr=not background)
            engine.log_file = paths.log
        _log.info("engine %s, PID %d, at %s", __version__, os.getpid(), listening.address)
        patience = Patience(settings.daemon.idle_minutes * 60, settings.daemon.project_idle_minutes * 60)
        server = EngineServer(
            engine,
            listening,
            patience,
            make_way=lock.release,
            has_other_settings=ChangedSettings(lambda: config.load().settings),
            is_reachable=mark.is_there,
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: _stop(server, mark))
        warm_up = threading.Timer(_WARM_UP_S, _warm_up, (engine,))
        warm_up.daemon = True
        warm_up.start()
        configured = ConfiguredProjects(engine)
        configured.start()
        server.run()
        configured.stop()
        _say(background, "stopping")
        # Something that hangs (a network drive, a git) must not keep the place of the next engine.
        last = threading.Timer(_MAX_END_S, _end_now, (mark,))
        last.daemon = True
        last.start()
        engine.close()
        _log.info("the engine ended")
    finally:
        mark.clean_up()
    logging.shutdown()
    sys.stderr.flush()
    # Threads of clients that do not read must not keep the process.
    os._exit(0)


class ChangedSettings:
    """Whether the user's file names other settings than the engine has that only a new one can take."""

    def __init__(self, load: Callable[[], Settings]) -> None:
        self._load = load
        self._stamp = _stamp(user_config_file())
        self._own = _of_engine(load())

    def __call__(self) -> bool:
        """Look; the file is read only when it was written."""
        stamp = _stamp(user_config_file())
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        return _of_engine(self._load()) != self._own


def _of_engine(settings: Settings) -> tuple[object, ...]:
    return settings.embedding, settings.daemon, settings.log


def _stamp(file: str) -> tuple[int, int]:
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _warm_up(engine: Any) -> None:
    """Have the model loaded before the first question."""
    from rag_ls.errors import ModelMissing

    try:
        model = engine.models.configured().id
    except ModelMissing as error:
        _log.warning("%s", error)
        return
    _log.info("loading %s", model)
    engine.models.get(model)


def _stop(server: EngineServer, mark: Mark) -> None:
    """The first signal lets answers in flight arrive, the second one does not."""
    if server.is_stopping:
        _end_now(mark)
    server.stop()


def _end_now(mark: Mark) -> None:
    mark.clean_up()
    os._exit(1)


class Mark:
    """What says on disk that this engine runs. What another engine put there is not touched."""

    def __init__(self, paths: EnginePaths) -> None:
        self._paths = paths
        self._socket = _identity(paths.socket)

    def is_there(self) -> bool:
        """Whether clients find this engine: some systems clear out old temporary files."""
        return _identity(self._paths.socket) == self._socket

    def clean_up(self) -> None:
        """Take it away."""
        is_mine = _noted_pid(self._paths) == str(os.getpid())
        for path, mine in ((self._paths.socket, self.is_there()), (self._paths.pid, is_mine)):
            if mine:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)


def _identity(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _detach(paths: EnginePaths) -> int:
    if transport.connect(paths, _START_S) is not None:
        return _fail(f"an engine runs already: {_whereabouts(paths)}")
    process = start_engine()
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and not process.poll():
        if transport.connect(paths, _START_S) is not None:
            print(f"rag-ls: {_whereabouts(paths)}")
            return 0
        time.sleep(0.05)
    return _fail(f"the engine did not start; its log is {paths.log}")


def _taken_in_time(paths: EnginePaths) -> FileLock | None:
    """The engine's lock, once an engine that makes way has let go of it; None as soon as one takes clients."""
    deadline = time.monotonic() + _MAKE_WAY_S
    while (lock := _taken(paths.lock)) is None and time.monotonic() < deadline:
        answered = transport.connect(paths, _START_S)
        if answered is not None:
            answered[0].close()
            return None
        time.sleep(0.05)
    return lock


def _taken(lock_file: str) -> FileLock | None:
    """The engine's lock, which the system lets go of if we die; None while another engine holds it."""
    lock = FileLock(lock_file, mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return lock


def _whereabouts(paths: EnginePaths) -> str:
    pid = _noted_pid(paths) or "unknown"
    return f"PID {pid}, at {paths.socket}; `rag-ls status` shows it, `rag-ls stop` ends it"


def _noted_pid(paths: EnginePaths) -> str:
    """What the PID file says; empty where there is none."""
    try:
        with open(paths.pid, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def _say(background: bool, text: str) -> None:
    if not background:
        print(f"rag-ls: {text}", file=sys.stderr, flush=True)


def _fail(message: str) -> int:
    print(f"rag-ls: {message}", file=sys.stderr)
    return 1

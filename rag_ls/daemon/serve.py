"""`rag-ls serve`: hosts one engine per user."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import rag_ls
from rag_ls import __version__
from rag_ls.daemon import connecting
from rag_ls.daemon.channel import EngineLost, Refused, greet
from rag_ls.daemon.engine_files import LOOK_S, ChangedSettings, Mark, ReplacedCode, describe_place, take_lock
from rag_ls.daemon.paths import EnginePaths, engine_paths, make_private, noted_pid
from rag_ls.util.text import mask_secrets

if TYPE_CHECKING:
    from filelock import FileLock

    from rag_ls.config import LogSettings
    from rag_ls.daemon.background import HttpHost
    from rag_ls.daemon.connecting import Listening
    from rag_ls.daemon.server import EngineServer
    from rag_ls.engine import Engine
    from rag_ls.storage import EmbeddedPostgres

_log = logging.getLogger(__name__)

_START_S = 30.0
_MAX_END_S = 15.0
# The time that an ending engine may take until this one gets its lock.
_MAKE_WAY_S = 30.0
# The client that started the engine has a question, which needs the processor first. A question that needs the model
# loads it at once.
_WARM_UP_S = 4.0


def serve(arguments: SimpleNamespace) -> int:
    """Run the engine in this process until it stops."""
    paths = engine_paths()
    if arguments.http is None and (arguments.cert or arguments.key or arguments.behind_proxy):
        return _fail("--cert, --key and --behind-proxy are for --http")
    if arguments.with_postgres and arguments.detach:
        return _fail("--with-postgres is for trials, in the foreground: leave out --detach")
    # Other users get no access; files that are for this user alone are also created so.
    os.umask(0o027)
    try:
        make_private(paths.folder)
    except OSError as error:
        return _fail(f"{paths.folder} cannot be used: {error}; set RAG_LS_HOME to a folder of your own")
    if arguments.detach:
        return _detach(paths, arguments)
    lock = _taken_in_time(paths) if arguments.background else take_lock(paths)
    if lock is None and arguments.with_postgres:
        return _fail(f"an engine runs already, without PostgreSQL: `rag-ls stop` ends it ({describe_place(paths)})")
    if lock is None and arguments.http is not None:
        return _serve_http_there(paths, arguments)
    if lock is None:
        return 0 if arguments.background else _fail(f"an engine runs already: {describe_place(paths)}")
    return _host(paths, lock, arguments)


def _host(paths: EnginePaths, lock: FileLock, arguments: SimpleNamespace) -> int:
    background = arguments.background
    # Taken before the imports, because the code may be replaced meanwhile.
    code = ReplacedCode(rag_ls.__file__)
    # Before anything is written, so that a signal leads to the clean-up below. Python ignores an exit within some of the calls
    # that an import makes.
    is_asked_to_end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _exit(is_asked_to_end))
    # An engine that ends in order deletes its file.
    crashed = noted_pid(paths)
    mark = Mark(paths)
    try:
        # Listen first: clients connect, and wait for their greeting while the rest is imported.
        try:
            listening = mark.make()
        except OSError as error:
            return _fail(
                f"{paths.folder} cannot be used: {error}; move what is in the way, or set RAG_LS_HOME to another folder"
            )
        _say(background, f"engine {__version__}, PID {os.getpid()}, at {listening.address}; log in {paths.log}")
        from rag_ls.config import load_settings
        from rag_ls.daemon.background import HttpHost
        from rag_ls.daemon.server import EngineServer, Patience, Succession

        postgres = _start_postgres() if arguments.with_postgres else None
        engine = _open_engine(paths, listening, background)
        if crashed:
            _log.warning("the engine before, PID %s, ended suddenly: the lines above say where, if it crashed", crashed)
        _log.info("engine %s, PID %d, at %s", __version__, os.getpid(), listening.address)
        http = HttpHost(engine, engine.settings.http)
        # If clients start no engines, a person started this one (`serve --detach`).
        is_by_hand = not background or engine.settings.daemon.mode == "manual"
        times = engine.settings.daemon
        server = EngineServer(
            engine,
            listening,
            Patience(times.idle_minutes * 60, times.project_idle_minutes * 60),
            Succession(lock.release, ChangedSettings(lambda: load_settings().settings), code, mark.is_there),
            http=http,
            is_by_hand=is_by_hand,
            max_connections=times.max_connections,
        )
        if arguments.http is not None:
            _start_http(http, arguments)
        elif engine.settings.http.enabled:
            http.start_in_background()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: _stop(server, mark))
        if is_asked_to_end.is_set():
            server.stop()
        _start_timer(_WARM_UP_S, _warm_up, engine)
        _run(server, engine)
        _say(background, "stopping")
        # If closing hangs (a network drive, a git process), end anyway: the next engine needs the lock.
        _start_timer(_MAX_END_S, _end_now, mark)
        engine.close()
        if postgres is not None:
            postgres.close()
        _log.info("the engine ended")
    finally:
        mark.clean_up()
    logging.shutdown()
    sys.stderr.flush()
    # Do not wait for threads of clients that no longer read.
    os._exit(0)


def _open_engine(paths: EnginePaths, listening: Listening, background: bool) -> Engine:
    """The engine that clients reach at an address, with its log where the settings say, else in its own file."""
    from rag_ls.engine import Engine

    engine = Engine()
    engine.address = listening.address
    if not engine.settings.log.file:
        engine.log_file = _log_to_file(paths, engine.settings.log, background=background)
    return engine


def _log_to_file(paths: EnginePaths, settings: LogSettings, *, background: bool) -> str:
    """Log to the usual file, else to one beside the socket: a home that cannot be written is no reason to have no engine.

    Returns the file; empty where neither can be written.
    """
    from rag_ls.config import logs

    for file in (Path(paths.log), Path(paths.folder, "engine.log")):
        try:
            logs.to_rotating_file(file, settings, also_stderr=not background)
        except OSError as error:
            _say(background, f"the log {file} cannot be written: {error}")
        else:
            return str(file)
    return ""


def _run(server: EngineServer, engine: Engine) -> None:
    """Serve clients until the engine is to end; meanwhile index the projects of the settings."""
    from rag_ls.daemon.background import ConfiguredProjects

    configured = ConfiguredProjects(engine)
    configured.start()
    server.run()
    configured.stop()


def _start_timer(after_s: float, work: Callable[..., None], *arguments: object) -> None:
    timer = threading.Timer(after_s, work, arguments)
    timer.daemon = True
    timer.start()


def _start_postgres() -> EmbeddedPostgres:
    """Start PostgreSQL for a trial, and make it the store. Ends the process if that cannot be."""
    from rag_ls.errors import StoreUnavailable
    from rag_ls.locations import user_data_folder, user_home
    from rag_ls.storage import EmbeddedPostgres

    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    # PostgreSQL refuses to run as root, so it runs as another user, who cannot enter root's private folders.
    folder = (user_home() or Path("/var/lib/rag-ls")) if is_root else user_data_folder()
    try:
        postgres = EmbeddedPostgres(folder / "postgres")
    except StoreUnavailable as error:
        _say(False, str(error))
        sys.exit(1)
    os.environ["RAG_LS_STORE_URL"] = postgres.url
    _say(False, f"PostgreSQL for trials at {mask_secrets(postgres.url)}; it ends with this engine, its data stays")
    return postgres


def _start_http(http: HttpHost, arguments: SimpleNamespace) -> None:
    """Serve HTTP as the command line says, and show the first token. Ends the process if that cannot be."""
    from rag_ls.errors import HttpUnavailable

    try:
        url = http.start(http_wishes(arguments))
    except HttpUnavailable as error:
        _say(False, str(error))
        sys.exit(1)
    _tell_http(url, is_new=not arguments.background)


def http_wishes(arguments: SimpleNamespace) -> dict[str, object]:
    """The values that the options of `serve --http` ask for, where they differ from the settings."""
    return {
        "address": arguments.http or "",
        "cert": os.path.abspath(arguments.cert) if arguments.cert else "",
        "key": os.path.abspath(arguments.key) if arguments.key else "",
        "behind_proxy": arguments.behind_proxy,
    }


def _tell_http(url: str, *, is_new: bool) -> None:
    """Say where HTTP is served. The first token is made and shown here, because no file holds it."""
    from rag_ls.errors import RagLsError
    from rag_ls.http import Access, TokenFile
    from rag_ls.locations import user_data_folder

    print(f"rag-ls: HTTP at {url}; `rag-ls open` shows the page", file=sys.stderr)
    tokens = TokenFile(user_data_folder())
    try:
        if is_new and not tokens.tokens():
            _, secret = tokens.add("first", Access.ADMIN)
            print(f"rag-ls: a token for it, shown only now: {secret}", file=sys.stderr)
    except RagLsError as error:
        print(f"rag-ls: no token could be made: {error}", file=sys.stderr)
    sys.stderr.flush()


def _serve_http_there(paths: EnginePaths, arguments: SimpleNamespace) -> int:
    """Have the engine that runs already serve HTTP."""
    try:
        url = ask_for_http(paths, http_wishes(arguments))
    except (Refused, EngineLost) as error:
        return _fail(str(error))
    if url is None:
        return _fail(f"an engine runs already and does not answer: {describe_place(paths)}")
    _tell_http(url, is_new=True)
    return 0


def ask_for_http(paths: EnginePaths, wishes: dict[str, object]) -> str | None:
    """Have the running engine serve HTTP; the URL, or None if no engine answers. Raises `Refused` and `EngineLost`."""
    answered = connecting.connect(paths, _START_S)
    if answered is None:
        return None
    channel = greet(*answered, "http", {"http": wishes})
    channel.hang_up()
    return str(channel.greeting["url"])


def _warm_up(engine: Any) -> None:
    """Have the model loaded before the first question."""
    from rag_ls.errors import ModelMissing

    if engine.models.is_off:
        return
    try:
        model = engine.models.configured().id
    except ModelMissing as error:
        _log.warning("%s", error)
        return
    _log.info("loading %s", model)
    engine.models.get(model)


def _stop(server: EngineServer, mark: Mark) -> None:
    """Stop. The first signal lets pending answers arrive; the second ends the process at once."""
    if server.is_stopping:
        _end_now(mark)
    server.stop()


def _exit(is_asked_to_end: threading.Event) -> None:
    is_asked_to_end.set()
    sys.exit(0)


def _end_now(mark: Mark) -> None:
    mark.clean_up()
    os._exit(1)


def _detach(paths: EnginePaths, arguments: SimpleNamespace) -> int:
    if connecting.is_listening(paths, _START_S):
        if arguments.http is not None:
            return _serve_http_there(paths, arguments)
        return _fail(f"an engine runs already: {describe_place(paths)}")
    if connecting.start_and_connect(lambda: connecting.connect(paths, _START_S)) is not None:
        print(f"rag-ls: {describe_place(paths)}")
        return 0 if arguments.http is None else _serve_http_there(paths, arguments)
    return _fail(f"the engine did not start; its log is {paths.log}")


def _taken_in_time(paths: EnginePaths) -> FileLock | None:
    """The engine's lock, once an engine that makes way has released it; None as soon as another accepts clients."""
    deadline = time.monotonic() + _MAKE_WAY_S
    while (lock := take_lock(paths)) is None and time.monotonic() < deadline:
        if connecting.is_listening(paths, _START_S):
            return None
        # Polled, because both come from other processes.
        time.sleep(LOOK_S)
    return lock


def _say(background: bool, text: str) -> None:
    if not background:
        print(f"rag-ls: {text}", file=sys.stderr, flush=True)


def _fail(message: str) -> int:
    print(f"rag-ls: {message}", file=sys.stderr)
    return 1

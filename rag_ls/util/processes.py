"""Other processes of this machine."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

_LOOK_S = 3.0
_NOBODY_ID = 0


def is_alive(process_id: int) -> bool:
    """Whether a process of any user runs."""
    if os.name == "nt":
        # On Windows, `os.kill` would end it.
        import psutil

        return bool(psutil.pid_exists(process_id))
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def end_with_parent(has_begun: Callable[[], bool]) -> None:
    """End this process when the one that started it ends, though another may hold its pipe open.

    A process that leaves before its client `has_begun` only launched it, and init outlives all.
    """
    parent = os.getppid()

    def watched() -> int | None:
        nonlocal parent
        if os.getppid() != parent and not has_begun():
            parent = os.getppid()
        if parent <= 1:
            return None
        return parent if os.getppid() == parent else _NOBODY_ID

    end_with(watched)


def end_with(process_id: Callable[[], int | None]) -> None:
    """End this process when the client's process ends. The pipe may not show that, as a child may hold it open."""

    def watch() -> None:
        while (number := process_id()) is None or (number != _NOBODY_ID and is_alive(number)):
            # Polled: the process is no child of this one, so nothing tells when it ends.
            time.sleep(_LOOK_S)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


_OF_GIT = "GIT_"


def without_git(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables without those that steer git: a hook's name another repository, index and work tree."""
    return {name: value for name, value in variables.items() if not name.upper().startswith(_OF_GIT)}


def forget_git() -> None:
    """Remove the variables that steer git from this process, so that no child inherits them.

    An engine that a git hook starts serves all projects, not the hook's repository.
    """
    for name in os.environ.keys() - without_git(os.environ).keys():
        del os.environ[name]


def command_of(module: str, *arguments: str) -> list[str]:
    """The command that runs one of our modules in a new process, which looks for modules where this one does."""
    # -P: do not import modules from the working folder, which is the user's.
    python = [sys.executable, "-P"]
    if not os.environ.get("PYTHONPATH"):
        return [*python, "-m", module, *arguments]
    # `-m` would import modules from the folders that it names before ours can put them last.
    run = f"import sys; sys.path[:] = {sys.path!r}; import runpy; runpy.run_module({module!r}, None, '__main__', True)"
    return [*python, "-c", run, *arguments]


def speak_utf8() -> None:
    """Start this program anew in UTF-8 where the locale knows ASCII alone, which Python does itself unless told not to."""
    # Only once, because an option of Python may overrule the variable.
    if sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1" and sys.executable:
        line = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, line, {**os.environ, "PYTHONUTF8": "1"})


_M_ARENA_MAX = -8
_MAX_NEW_OBJECTS = 50_000


def collect_rarely() -> None:
    """Look for cyclic garbage after 50,000 new objects instead of 700: nearly all that a start makes stays."""
    gc.set_threshold(_MAX_NEW_OBJECTS)


def share_one_arena() -> None:
    """Have all threads of this process share one arena. Call it before they start."""
    if (libc := _glibc()) is not None:
        libc.mallopt(_M_ARENA_MAX, 1)


def give_back_memory() -> None:
    """Give free memory back to the system. Takes some milliseconds: for after bulk work."""
    if (libc := _glibc()) is not None:
        libc.malloc_trim(0)


def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018 - raises where it is another C library
        return libc
    return None


def used_memory_bytes() -> int:
    """Resident memory of this process and those that it started."""
    return round(_sum(lambda process: process.memory_info().rss))


def used_processor_s() -> float:
    """Processor time, in seconds, that this process and those that it started have used, those that ended too."""
    return _sum(_used_s)


def _sum(figure: Callable[[Any], float]) -> float:
    """A figure of all processes; one that ends meanwhile counts nothing."""
    import psutil

    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            total += figure(process)
    return total


def _used_s(process: Any) -> float:
    times = process.cpu_times()
    # Other systems do not count the time of children that have ended.
    ended = times.children_user + times.children_system if os.name == "posix" else 0.0
    return float(times.user + times.system + ended)


def take_any_text(platform: str = sys.platform) -> None:
    """Set the streams up so that no text makes reading or writing fail.

    Programs that start us speak UTF-8, but Windows gives pipes an old code page. Where a terminal's encoding lacks a
    character, a question mark is written.
    """
    for name, errors in (("stdin", "strict"), ("stdout", "replace"), ("stderr", "backslashreplace")):
        stream: Any = getattr(sys, name)
        if stream is None or not hasattr(stream, "reconfigure"):
            continue
        if platform == "win32" and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors=errors)
        elif name == "stdout":
            stream.reconfigure(errors=errors)


def given_text(word: str) -> str:
    """The text that a word of the command line gives, or standard input where it is `-`, in any usual encoding."""
    return _decode(sys.stdin.buffer.read()) if word == "-" else decode_word(word)


def decode_word(word: str) -> str:
    """A word of the command line; Latin-1 where its bytes are not in the encoding of the system."""
    is_foreign = any("\udc80" <= character <= "\udcff" for character in word)
    return os.fsencode(word).decode("cp1252", "replace") if is_foreign else word


def _decode(data: bytes) -> str:
    # Imported here: relays start without them.
    from rag_ls.util.decoding import decode_text

    decoded = decode_text(data)
    text = decoded.text if decoded else data.decode("utf-8", "replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def import_onnxruntime() -> Any:
    """The module. Raises `ImportError` where it is not installed.

    The environment has told it to be silent (see the package's `__init__`); builds for Windows' own tracing listen to
    this call alone, and so does one that a host process imported before us.
    """
    import onnxruntime

    with contextlib.suppress(AttributeError):
        onnxruntime.disable_telemetry_events()
    return onnxruntime

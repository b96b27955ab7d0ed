"""Lets a shell command call one operation of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rag_ls import errors
from rag_ls.daemon.channel import SILENT_S, Channel, EngineLost
from rag_ls.errors import RagLsError

Json = dict[str, Any]


def call(
    channel: Channel,
    operation: str,
    folder: str,
    arguments: Json,
    show: Callable[[Json], None] | None = None,
    warn: Callable[[str], None] = lambda _: None,
    beside: Sequence[str] = (),
) -> Json:
    """Run an operation on the project around `folder` (empty for none), and on those in `beside`.

    `show` receives progress, `warn` warnings.

    Raises the operation's errors, or `EngineLost` if the engine ends or hangs meanwhile.
    """
    try:
        channel.send({"operation": operation, "folder": folder, "beside": list(beside), "arguments": arguments})
        channel.socket.settimeout(SILENT_S)
        while (message := channel.receive()) is not None:
            if "result" in message or "error" in message:
                for warning in message.get("warnings", ()):
                    warn(str(warning))
                return _result(message)
            if show is not None and "progress" in message:
                show(message["progress"])
    except TimeoutError as error:
        raise EngineLost(f"the engine has been silent for {SILENT_S:.0f} s") from error
    except OSError as error:
        raise EngineLost(f"the engine ended: {error}") from error
    finally:
        channel.hang_up()
    raise EngineLost("the engine ended before it answered")


def _result(message: Json) -> Json:
    error = message.get("error")
    if error is None:
        result: Json = message["result"]
        return result
    kind = getattr(errors, str(error.get("type")), RagLsError)
    is_ours = isinstance(kind, type) and issubclass(kind, RagLsError)
    raise (kind if is_ours else RagLsError)(str(error.get("message")))

"""One operation asked of the engine by a shell command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rag_ls import errors
from rag_ls.daemon.channel import Channel, EngineLost
from rag_ls.errors import RagLsError

Json = dict[str, Any]


def call(
    channel: Channel, operation: str, folder: str, arguments: Json, show: Callable[[Json], None] | None = None
) -> Json:
    """The operation's result on the project around `folder`; `show` is told of progress.

    Raises what the operation raises, or `EngineLost` where the engine ends meanwhile.
    """
    try:
        channel.send({"operation": operation, "folder": folder, "arguments": arguments})
        while (message := channel.receive()) is not None:
            if "progress" not in message:
                return _result(message)
            if show is not None:
                show(message["progress"])
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

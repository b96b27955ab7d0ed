"""`workspace/executeCommand`: the operations, each taking one JSON object and returning one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.lsp.documents import file_path
from rag_ls.lsp.protocol import RagLsServer, plain, protocol_error
from rag_ls.operations import OPERATIONS, in_words_of_editors, reword_notes

# The commands of code actions and lenses. They take a selection or a place in a document.
REMEMBER = "ragLs.rememberSelection"
ABOUT = "ragLs.memoriesAbout"


def register(server: RagLsServer) -> None:
    """Register every command that the table of operations names."""
    for operation in OPERATIONS:
        if operation.command:
            server.command(operation.command)(_handler(server, operation.command, operation.name))


def _handler(server: RagLsServer, name: str, operation: str) -> Callable[..., Any]:
    async def run(*arguments: Any) -> dict[str, Any]:
        session = server.session
        try:
            given = _one_object(name, arguments)
            return reword_notes(await session.ask(operation, given), in_words_of_editors)
        except RagLsError as error:
            raise protocol_error(error) from error

    return run


def plain_object(name: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """A command's single argument. Raises the error for LSP clients if it is not one JSON object."""
    given = plain(arguments[0]) if len(arguments) == 1 else None
    if not isinstance(given, dict):
        raise protocol_error(InvalidRequest(f"{name} takes one JSON object"))
    return given


def _one_object(name: str, arguments: tuple[Any, ...]) -> Any:
    """The command's one argument, with a `uri` turned into a path."""
    if len(arguments) > 1:
        raise InvalidRequest(f"{name} takes one JSON object, not {len(arguments)} arguments")
    given = plain(arguments[0]) if arguments else {}
    if isinstance(given, dict) and isinstance(given.get("uri"), str):
        path = file_path(given["uri"])
        given = {key: value for key, value in given.items() if key != "uri"}
        given["path"] = str(path) if path else arguments[0]["uri"]
    return given

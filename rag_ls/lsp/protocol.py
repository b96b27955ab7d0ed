"""Adapts pygls' protocol: mends what editors send beside it, checks the order of requests, and uses our own text buffers and errors."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

import cattrs
from lsprotocol import converters, types
from pygls.exceptions import FeatureRequestError, JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from rag_ls import __version__
from rag_ls.errors import InvalidRequest, NotFound, PathOutsideProject, RagLsError
from rag_ls.lsp.editor import EditorSession
from rag_ls.lsp.handshake import initialize_result, position_encoding
from rag_ls.operations import in_words_of_editors
from rag_ls.util.json_rpc import INVALID_REQUEST, PARSE_ERROR, REQUEST_FAILED
from rag_ls.util.text import message

_log = logging.getLogger(__name__)
# The first converter of a process completes lsprotocol's types in place: two editors that connect at once must not both do so.
_MAKING_CONVERTER = threading.Lock()

_NOT_INITIALIZED_CODE = -32002

_MAX_NUMBER = 2**31 - 1


class UnreadableRequest(JsonRpcInvalidParams):
    """A request with wrong parameters for its method."""

    def __init__(self, msg_id: Any, method: str) -> None:
        super().__init__(message=f"the parameters are not those of {method}")
        self.msg_id = msg_id


def _pass_to_feature(method: str) -> Any:
    """A method of the protocol that does nothing but call the feature."""

    def hand_on(self: LanguageServerProtocol, params: Any) -> Generator[Any, Any, None]:
        yield self.fm.features[method], (params,), None

    return lsp_method(method)(hand_on)


class RagLsProtocol(LanguageServerProtocol):
    """The protocol of the server. `lsp.documents` keeps the documents; `lsp.capabilities` declares the capabilities."""

    initialized = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._asked: set[Any] = set()

    def structure_message(self, data: dict[str, Any]) -> Any:
        """As in pygls, but correct known faults of editors, and keep the id of an unreadable request, so that it gets an answer."""
        # pygls calls this for each object within a message, too.
        if isinstance(data, dict) and "jsonrpc" in data:
            mend_message(data)
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if not isinstance(data.get("id"), int | str) or "method" not in data:
                raise
            if data["method"] == types.INITIALIZE:
                return super().structure_message({**data, "params": keep_folders(data.get("params"))})
            raise UnreadableRequest(data["id"], str(data["method"])) from error

    def handle_message(self, message: Any) -> None:
        """As in pygls, which leaves requests after `shutdown` without an answer."""
        method, number = getattr(message, "method", ""), getattr(message, "id", None)
        if self._shutdown and method == types.SHUTDOWN:
            self._send_response(number)
        elif self._shutdown and method and number is not None:
            self._refuse(number, INVALID_REQUEST, f"{method} came after shutdown")
        else:
            super().handle_message(message)

    def _handle_request(self, msg_id: Any, method_name: str, params: Any) -> None:
        if not self.initialized and method_name != types.INITIALIZE:
            self._refuse(msg_id, _NOT_INITIALIZED_CODE, f"{method_name} came before initialize")
        elif self.initialized and method_name == types.INITIALIZE:
            self._refuse(msg_id, INVALID_REQUEST, "initialize came twice")
        else:
            self._asked.add(msg_id)
            super()._handle_request(msg_id, method_name, params)

    def _execute_handler(
        self,
        msg_id: Any,
        handler: Any,
        callback: Callable[[Any], Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """As in pygls, but forget each future when it is done: pygls keeps those of notifications and generators for ever."""

        def finish(future: Any) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, finish, args, kwargs)

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        self._asked.discard(msg_id)
        super()._send_response(msg_id, result, error)

    def _handle_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        # pygls keeps the requests of both sides in one table, so a client's response could answer the client's own request.
        if msg_id not in self._asked:
            super()._handle_response(msg_id, result, error)

    def _run_generator(self, future: Any, *, gen: Any, result_future: Any) -> None:
        # pygls would let the cancellation through to the event loop.
        if future is not None and future.cancelled():
            result_future.cancel()
        else:
            super()._run_generator(future, gen=gen, result_future=result_future)

    def _handle_notification(self, method_name: str, params: Any) -> None:
        # LSP 3.17: notifications before initialize are dropped, except for exit.
        if self.initialized or method_name == types.EXIT:
            super()._handle_notification(method_name, params)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Let pygls initialize itself, but answer with our declared capabilities."""
        yield from super().lsp_initialize(params)
        self.initialized = True
        converter = converters.get_converter()
        declared = initialize_result(converter.unstructure(params))
        result: types.InitializeResult = converter.structure(declared, types.InitializeResult)
        self.server_capabilities = result.capabilities
        return result

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_: Any) -> Generator[Any, Any, None]:
        """As in pygls, but loop over a copy of the pending requests, because cancelling one removes it from the table."""
        own_id, self._shutdown = self.msg_id, True
        yield self.fm.features[types.SHUTDOWN], (), None
        for msg_id, future in list(self._request_futures.items()):
            if msg_id != own_id:
                future.cancel()

    # pygls would keep a second copy of every text, and split its lines wrongly.

    lsp_text_document__did_open = _pass_to_feature(types.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _pass_to_feature(types.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _pass_to_feature(types.TEXT_DOCUMENT_DID_CLOSE)

    def _refuse(self, msg_id: Any, code: int, message: str) -> None:
        self._send_response(msg_id, None, types.ResponseError(code=code, message=message))


class RagLsServer(LanguageServer):
    """The pygls server of one editor session."""

    session: EditorSession
    """From the editor's `initialize` on."""
    has_unread: Callable[[], bool] = staticmethod(lambda: False)
    """Whether a message of the editor was not read yet."""

    def __init__(self) -> None:
        super().__init__(
            name="rag-ls",
            version=__version__,
            protocol_cls=RagLsProtocol,
            converter_factory=_make_converter,
            max_workers=4,
        )

    def note_step(self) -> None:
        """Note that the editor's messages so far are handled."""
        if hasattr(self, "session"):
            self.session.note_step()

    @property
    def was_shut_down(self) -> bool:
        """Whether the client asked for `shutdown`."""
        return bool(self.protocol._shutdown)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error, and answer an unreadable message as JSON-RPC 2.0 says (id null)."""
        # A refused request was answered with its reason, so it is not logged as an error.
        level = logging.INFO if source is FeatureRequestError else logging.ERROR
        _log.log(level, "%s: %s", getattr(source, "__name__", source), error)
        if isinstance(error, UnreadableRequest):
            answer = types.ResponseError(code=error.code, message=str(error.message))
            self.protocol._send_response(error.msg_id, None, answer)
        elif source is JsonRpcException:
            code = PARSE_ERROR if isinstance(error, ValueError) else INVALID_REQUEST
            self.protocol._send_data(
                {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": f"unreadable message: {error}"}}
            )


def _make_converter() -> cattrs.Converter:
    """pygls' converter, but it stops at the first fault: a long text in place of a list has a fault in each character."""
    with _MAKING_CONVERTER:
        return converters.get_converter(cattrs.Converter(detailed_validation=False))


def protocol_error(error: RagLsError) -> JsonRpcException:
    """One of our errors for LSP clients: its text for people, and its type in `data` for programs."""
    data, message = {"type": type(error).__name__}, in_words_of_editors(str(error))
    if isinstance(error, InvalidRequest | PathOutsideProject | NotFound):
        return JsonRpcInvalidParams(message=message, data=data)
    return JsonRpcException(message=message, code=REQUEST_FAILED, data=data)


def plain(value: Any) -> Any:
    """Plain JSON data from pygls' form of untyped JSON (named tuples for objects)."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def wants(capabilities: types.ClientCapabilities, ability: str) -> bool:
    """Whether a client declares one of our abilities: `{"experimental": {"ragLs": {ABILITY: true}}}`."""
    said: Any = plain(capabilities.experimental)
    for key in ("ragLs", ability):
        said = said.get(key) if isinstance(said, dict) else None
    return said is True


def show_message(server: RagLsServer, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
    """Show a message to the user; Markdown in names and memories is escaped."""
    server.window_show_message(types.ShowMessageParams(kind, message(f"rag-ls: {text}")))


def quiet_pygls() -> None:
    """Silence pygls, which logs the user's code at INFO, and a stack trace for each refused request."""
    if logging.getLogger().level > logging.DEBUG:
        logging.getLogger("pygls").setLevel(logging.CRITICAL)


def mend_message(message: dict[str, Any]) -> None:
    """Mend a request or notification in place; what has no one meaning stays as it is, and is refused as such."""
    method, params = message.get("method"), message.get("params")
    if method == "workspace/didChangeConfiguration":
        message["params"] = {"settings": None, **(params if isinstance(params, dict) else {})}
    elif method == "workspace/didChangeWorkspaceFolders" and isinstance(params, dict):
        for event in _objects([params.get("event")]):
            event |= {key: [{**each, "name": ""} for each in _objects(event.get(key))] for key in ("added", "removed")}
    elif isinstance(method, str) and isinstance(params, dict) and method.startswith("textDocument/"):
        _mend_document(method, params)


def keep_folders(params: Any) -> dict[str, Any]:
    """The parameters of an `initialize` that cannot be read, with its folders alone: without an answer to it nothing else is
    answered either."""
    params = params if isinstance(params, dict) else {}
    said = params.get("workspaceFolders")
    folders = [each["uri"] for each in _objects([said] if isinstance(said, dict) else said) if "uri" in each]
    known = [{"uri": uri, "name": ""} for uri in folders if isinstance(uri, str)]
    root, encoding = params.get("rootUri"), position_encoding(params.get("capabilities"))
    return {
        "processId": None, "capabilities": {"general": {"positionEncodings": [encoding]}}, "workspaceFolders": known or None,
        "rootUri": root if isinstance(root, str) else None, "initializationOptions": params.get("initializationOptions"),
    }  # fmt: skip


def _mend_document(method: str, params: dict[str, Any]) -> None:
    for document in _objects([params.get("textDocument")]):
        # A server names versions in its edits; this server makes no edits.
        document.update({"version": 0} if "version" in document or method.endswith(("didOpen", "didChange")) else {})
        if method.endswith("didOpen"):
            document["languageId"] = document.get("languageId") or ""
    for change in _objects(params.get("contentChanges")):
        change.pop("rangeLength", None)
        if change.get("range", 0) is None:
            del change["range"]
    ranges = [params.get("range"), *(change.get("range") for change in _objects(params.get("contentChanges")))]
    ends = [each.get(key) for each in _objects(ranges) for key in ("start", "end")]
    for position in _objects([params.get("position"), *ends]):
        # Editors send the largest number of their language for "the end of the line".
        for key in ("line", "character"):
            if isinstance(number := position.get(key), int | float):
                position[key] = int(min(max(number, 0), _MAX_NUMBER)) if number == number else 0


def _objects(items: Any) -> Iterator[dict[str, Any]]:
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())

"""Mends what editors send beside the protocol where it has one meaning: an edit that is refused is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_MAX_NUMBER = 2**31 - 1
_CHANGED_TYPE = 2
_TRACES = ("off", "messages", "verbose")
_KNOWN_CHANGES = (1, _CHANGED_TYPE, 3)


def mend_message(message: dict[str, Any]) -> None:
    """Mend a request or notification in place; what has no one meaning stays as it is, and is refused as such."""
    method, params = message.get("method"), message.get("params")
    if method == "workspace/didChangeConfiguration":
        message["params"] = {"settings": None, **(params if isinstance(params, dict) else {})}
    elif not isinstance(method, str) or not isinstance(params, dict):
        return
    elif method == "initialize":
        _mend_initialize(params)
    elif method == "workspace/didChangeWatchedFiles":
        for event in _objects(params.get("changes")):
            if event.get("type") not in _KNOWN_CHANGES:
                event["type"] = _CHANGED_TYPE
    elif method == "workspace/didChangeWorkspaceFolders":
        for event in _objects([params.get("event")]):
            for key in ("added", "removed"):
                event[key] = event.get(key) or []
                for folder in _objects(event[key]):
                    folder["name"] = folder.get("name") or ""
    elif method.startswith("textDocument/"):
        _mend_document(method, params)


def _mend_initialize(params: dict[str, Any]) -> None:
    """Leave out what has no meaning: without an answer to `initialize` nothing else is answered either."""
    folders = params.get("workspaceFolders")
    folders = [folders] if isinstance(folders, dict) else folders
    known = [
        {"uri": each["uri"], "name": str(each.get("name") or "")}
        for each in _objects(folders)
        if isinstance(each.get("uri"), str)
    ]
    params["workspaceFolders"] = known if isinstance(folders, list) and (known or not folders) else None
    number = params.get("processId")
    params["processId"] = (
        int(number) if isinstance(number, int) or (isinstance(number, str) and number.isdecimal()) else None
    )
    said = params.get("capabilities")
    params["capabilities"] = (
        {key: each for key, each in said.items() if isinstance(each, dict)} if isinstance(said, dict) else {}
    )
    for key, kind in (("rootUri", str), ("rootPath", str), ("locale", str), ("clientInfo", dict)):
        if not isinstance(params.get(key), kind):
            params[key] = None
    if params["clientInfo"] is not None and not isinstance(params["clientInfo"].get("name"), str):
        params["clientInfo"] = None
    if params.get("trace") not in _TRACES:
        params["trace"] = None


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

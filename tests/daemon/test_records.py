"""What a relay remembers of a session: enough for another engine to take it over."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.daemon.records import LspRecord, McpRecord
from rag_ls.daemon.unfinished import merge_changes
from rag_ls.lsp.handshake import initialize_result as lsp_result
from rag_ls.lsp.text_buffer import Position, TextBuffer
from rag_ls.mcp.handshake import initialize_result as mcp_result
from rag_ls.util.json_rpc import MAX_MESSAGE_BYTES, MessageTooLong, framed, read_framed, read_line

URI = "file:///a.py"


def _body(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def _request(number: object, method: str, **params: Any) -> bytes:
    return _body(id=number, method=method, params=params)


def _notification(method: str, **params: Any) -> bytes:
    return _body(method=method, params=params)


def _opened(text: str = "one\n") -> bytes:
    return _notification("textDocument/didOpen", textDocument={"uri": URI, "version": 1, "text": text})


def _changed(version: int, text: str, at: tuple[int, int] = (0, 0)) -> bytes:
    place = {"line": at[0], "character": at[1]}
    change = {"range": {"start": place, "end": place}, "text": text}
    return _notification(
        "textDocument/didChange", textDocument={"uri": URI, "version": version}, contentChanges=[change]
    )


def _methods(messages: list[dict[str, Any]]) -> list[Any]:
    return [message.get("method") for message in messages]


@pytest.fixture
def editor() -> LspRecord:
    """An initialized session."""
    record = LspRecord(lsp_result)
    _, answers = record.from_client(_request(1, "initialize", processId=42, clientInfo={"name": "ed"}, capabilities={}))
    assert answers[0]["result"]["serverInfo"]["name"] == "rag-ls"
    record.from_client(_notification("initialized"))
    return record


def test_a_message_that_cannot_be_read_is_answered_without_an_engine(editor: LspRecord) -> None:
    for body, code in ((b'{"jsonrpc": "2.0", "id": 7, "method": ', -32700), (b"\xff", -32700), (b"[]", -32600)):
        for_engine, answers = editor.from_client(body)
        assert for_engine is None
        assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(None, code)]


def test_the_engine_s_answer_to_a_request_that_was_answered_is_dropped_once(editor: LspRecord) -> None:
    assert (editor.name, editor.process_id, editor.requests.waits) == ("ed", 42, True)
    assert not editor.from_engine(_body(id=1, result={}))
    assert not editor.requests.waits


def test_a_new_engine_is_told_of_settings_folders_and_documents_and_asked_what_is_open(editor: LspRecord) -> None:
    editor.from_engine(_body(id=1, result={}))
    editor.from_client(_notification("workspace/didChangeConfiguration", settings={"a": 1}))
    editor.from_client(_notification("workspace/didChangeConfiguration", settings={"a": 2}))
    editor.from_client(_notification("workspace/didChangeWorkspaceFolders", event={}))
    editor.from_client(_opened())
    editor.from_client(_changed(2, "x"))
    editor.from_client(_request(2, "textDocument/hover"))
    editor.from_client(_request(3, "workspace/symbol"))
    assert editor.from_engine(_body(id=2, result=None))
    messages, for_client = editor.replay()
    assert _methods(messages) == [
        "initialize",
        "initialized",
        "workspace/didChangeConfiguration",
        "workspace/didChangeWorkspaceFolders",
        "textDocument/didOpen",
        "textDocument/didChange",
        "workspace/symbol",
    ]
    assert messages[2]["params"]["settings"] == {"a": 2}
    assert for_client == []
    assert not editor.from_engine(_body(id=1, result={})), "the new engine's answer to initialize is dropped too"
    assert editor.from_engine(_body(id=3, result=[]))


def test_a_closed_document_is_not_opened_again(editor: LspRecord) -> None:
    editor.from_client(_opened())
    editor.from_client(_notification("textDocument/didClose", textDocument={"uri": URI}))
    assert "textDocument/didOpen" not in _methods(editor.replay()[0])


def test_many_changes_are_summed_up_as_the_text_that_they_lead_to(editor: LspRecord) -> None:
    editor.from_client(_opened(""))
    for number in range(500):
        editor.from_client(_changed(number + 2, f"{number}\n"))
    messages = [message for message in editor.replay()[0] if "textDocument" in str(message.get("method"))]
    assert len(messages) < 250
    item = merge_changes(messages, "utf-16")["params"]["textDocument"]
    assert item["text"] == "".join(f"{number}\n" for number in reversed(range(500)))
    assert item["version"] == 501


def test_a_change_of_the_whole_text_makes_those_before_it_forgotten(editor: LspRecord) -> None:
    editor.from_client(_opened("old"))
    for number in range(3):
        editor.from_client(_changed(2, "x"))
        whole = [{"text": f"new {number}"}]
        params = {"textDocument": {"uri": URI, "version": 3}, "contentChanges": whole}
        editor.from_client(_notification("textDocument/didChange", **params))
    messages = [message for message in editor.replay()[0] if "textDocument" in str(message.get("method"))]
    assert [message["params"]["textDocument"]["text"] for message in messages] == ["new 2"]


def test_only_the_first_engine_has_the_client_watch_files(editor: LspRecord) -> None:
    record = LspRecord(lsp_result)
    offer = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}, "configuration": True}}
    record.from_client(_request(1, "initialize", capabilities=offer))
    offered = [record.replay()[0][0]["params"]["capabilities"]["workspace"] for _ in range(3)]
    assert [item["didChangeWatchedFiles"]["dynamicRegistration"] for item in offered] == [True, False, False]
    assert all(item["configuration"] for item in offered)


def test_without_an_engine_a_shutdown_is_answered_at_once(editor: LspRecord) -> None:
    editor.from_client(_request(9, "shutdown"))
    assert editor.answer_without_engine() == [{"jsonrpc": "2.0", "id": 9, "result": None}]
    assert editor.answer_without_engine() == []


def test_answers_to_an_engine_that_is_gone_reach_no_other(editor: LspRecord) -> None:
    assert editor.from_engine(_request("r-1", "client/registerCapability"))
    editor.replay()
    assert editor.from_client(_body(id="r-1", result=None)) == (None, [])


def test_progress_that_an_engine_left_open_is_ended(editor: LspRecord) -> None:
    for token, kinds in {"a": ("begin", "report"), 7: ("begin", "end")}.items():
        for kind in kinds:
            editor.from_engine(_notification("$/progress", token=token, value={"kind": kind}))
    _, for_client = editor.replay()
    assert [message["params"] for message in for_client] == [{"token": "a", "value": {"kind": "end"}}]
    assert editor.replay()[1] == []


def test_rubbish_is_passed_on_for_the_engine_to_refuse(editor: LspRecord) -> None:
    for body in (b"{", b"[]", b"null", b'"x"', _body(method=5), _body(method="textDocument/didOpen", params=[])):
        editor.from_client(body)
        editor.from_engine(body)
    editor.from_client(_notification("textDocument/didOpen", textDocument={"uri": 5}))
    assert _methods(editor.replay()[0])[:2] == ["initialize", "initialized"]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.text("ab\n\r😀", max_size=4)), max_size=30))
def test_a_summed_up_document_is_the_document(edits: list[tuple[int, int, str]]) -> None:
    text, buffer = "one\ntwo 😀\r\nthree", TextBuffer("one\ntwo 😀\r\nthree")
    messages = [json.loads(_opened(text))]
    for line, character, new in edits:
        messages.append(json.loads(_changed(2, new, (line, character))))
        buffer.replace(Position(line, character), Position(line, character), new)
    assert merge_changes(messages, "utf-16")["params"]["textDocument"]["text"] == buffer.text


def test_an_agent_s_handshake_and_unanswered_calls_are_replayed() -> None:
    record = McpRecord(mcp_result)
    for_engine, answers = record.from_client(_request(0, "initialize", clientInfo={"name": "claude"}))
    assert for_engine is not None
    assert record.name == "claude"
    assert answers[0]["id"] == 0
    record.from_client(_notification("notifications/initialized"))
    for number in (1, 2, 3):
        record.from_client(_request(number, "tools/call", name=f"tool {number}"))
    record.from_engine(_body(id=0, result={}))
    record.from_engine(_body(id=1, result={}))
    record.from_client(_notification("notifications/cancelled", requestId=3))
    messages, _ = record.replay()
    assert _methods(messages) == ["initialize", "notifications/initialized", "tools/call"]
    assert messages[-1]["params"]["name"] == "tool 2"
    assert not record.from_engine(_body(id=0, result={}))
    assert record.from_engine(_body(id=2, result={}))
    assert not record.from_engine(_body(id=2, result={})), "nobody waits for a second answer"


def test_ids_of_different_types_are_different_requests() -> None:
    record = McpRecord(mcp_result)
    record.from_client(_request(1, "tools/list"))
    record.from_client(_request("1", "tools/call"))
    assert record.from_engine(_body(id="1", result={}))
    assert _methods(record.replay()[0]) == ["tools/list"]


@given(st.lists(st.binary(min_size=1, max_size=200)))
def test_framed_messages_are_read_back_one_by_one(bodies: list[bytes]) -> None:
    stream = io.BytesIO(b"".join(map(framed, bodies)))
    assert [read_framed(stream) for _ in bodies] == bodies
    assert read_framed(stream) is None


@given(st.binary(max_size=300))
def test_whatever_bytes_come_reading_them_ends(data: bytes) -> None:
    stream = io.BytesIO(data)
    with suppress(MessageTooLong):
        while read_framed(stream) is not None:
            pass
        assert stream.read() == b""


def test_a_gigabyte_is_refused_when_it_is_announced() -> None:
    with pytest.raises(MessageTooLong, match="1,000,000,000"):
        read_framed(io.BytesIO(b"Content-Length: 1000000000\r\n\r\n{"))


def test_a_line_without_end_is_refused() -> None:
    class Endless:
        def readline(self, limit: int) -> bytes:
            return b"x" * limit

    with pytest.raises(MessageTooLong):
        read_line(Endless())
    assert MAX_MESSAGE_BYTES > 50_000_000


def test_half_a_message_is_no_message() -> None:
    assert read_framed(io.BytesIO(b"Content-Length: 10\r\n\r\n{}")) is None
    assert read_line(io.BytesIO(b'{"half": ')) is None


def test_a_request_under_way_at_three_deaths_is_refused_and_so_is_the_same_one_again(editor: LspRecord) -> None:
    editor.from_client(_request(7, "workspace/symbol", query="deadly"))
    assert editor.engine_died("/log", keeps_dying=False) == []
    assert editor.engine_died("/log", keeps_dying=False) == []
    editor.from_client(_request(8, "workspace/symbol", query="innocent"))
    [refused] = editor.engine_died("/log", keeps_dying=False)
    assert (refused["id"], refused["error"]["data"]) == (7, {"type": "EngineFailed"})
    assert "see /log" in refused["error"]["message"]
    for_engine, [again] = editor.from_client(_request(9, "workspace/symbol", query="deadly"))
    assert not for_engine
    assert again["id"] == 9
    assert [message["id"] for message in editor.replay()[0] if "id" in message] == [1, 8]


def test_where_engines_keep_dying_all_that_wait_are_answered_and_may_ask_again(editor: LspRecord) -> None:
    editor.from_client(_request(7, "workspace/symbol", query="a"))
    [refused] = editor.engine_died("/log", keeps_dying=True)
    assert "ask again in a minute" in refused["error"]["message"]
    assert [message["id"] for message in editor.replay()[0] if "id" in message] == [1]
    again = _request(8, "workspace/symbol", query="a")
    assert editor.from_client(again) == (again, [])


def test_a_request_that_waits_for_changes_is_blamed_for_no_engine_and_asked_again(editor: LspRecord) -> None:
    for number in range(10, 15):
        assert editor.from_client(_request(number, "workspace/diagnostic", previousResultIds=[]))[0] is not None
        [withdrawn] = editor.engine_died("/log", keeps_dying=False)
        assert withdrawn["id"] == number
        assert withdrawn["error"]["data"] == {"retriggerRequest": True}


def test_an_agent_s_model_reads_the_refusal_as_what_the_tool_answered() -> None:
    record = McpRecord(mcp_result)
    record.from_client(_request(1, "tools/call", name="search_code"))
    [refused] = record.engine_died("/log", keeps_dying=True)
    assert refused["result"]["isError"] is True
    assert "see /log" in refused["result"]["content"][0]["text"]


def test_of_a_client_that_reads_no_answers_no_more_requests_are_kept() -> None:
    """Its relay would grow for as long as it asks."""
    record = McpRecord(mcp_result)
    for number in range(20_000):
        _, answers = record.from_client(_request(number, "tools/list"))
        assert bool(answers) == (number >= 10_000)
    assert "requests wait for their answers" in str(answers)
    assert record.from_engine(_body(id=5, result={}))
    assert record.from_client(_request(30_000, "tools/list"))[1] == []

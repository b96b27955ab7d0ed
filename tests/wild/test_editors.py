"""Situations of editors: documents that are no files, files with several addresses, messages beside the protocol."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from rag_ls.engine.client import Client, local_client
from rag_ls.engine.engine import About, Engine
from rag_ls.lsp.documents import file_path
from tests.lsp.in_process import InProcessEditor, in_process_editor
from tests.support import until, write

_START = {"line": 0, "character": 0}


@pytest.fixture
def editor(shop: Path) -> Iterator[InProcessEditor]:
    """An editor on the shop, which is indexed."""
    with in_process_editor(local_client("lsp"), shop) as editor:
        assert until(lambda: editor.command("status")["complete"])
        yield editor


def _editor_of(engine: Engine, folder: Path) -> AbstractContextManager[InProcessEditor]:
    return in_process_editor(Client(engine, about=About("lsp")), folder)


def _open(editor: InProcessEditor, uri: str, text: str, **item: Any) -> None:
    item = {"uri": uri, "languageId": "python", "version": 1, "text": text, **item}
    editor.tell("textDocument/didOpen", textDocument={key: value for key, value in item.items() if value != "absent"})


def _change(editor: InProcessEditor, uri: str, *changes: Any, **document: Any) -> None:
    document = {"uri": uri, "version": 2, **document}
    document = {key: value for key, value in document.items() if value != "absent"}
    editor.tell("textDocument/didChange", textDocument=document, contentChanges=list(changes))


def _close(editor: InProcessEditor, uri: str) -> None:
    editor.tell("textDocument/didClose", textDocument={"uri": uri})


def _found(editor: InProcessEditor, word: str) -> list[str]:
    """The paths of the documents that hold a text."""
    return sorted(
        {place["path"] for place in editor.command("searchCode", query=word, match="exact")["exact"]["places"]}
    )


def _places(editor: InProcessEditor, query: str) -> list[str]:
    """The addresses that a question finds, best first."""
    return [item["location"]["uri"] for item in editor.ask("workspace/symbol", {"query": query})]


# --- documents that are no files


_NO_CODE = (
    "git:{file}?%7B%22path%22%3A%22{file}%22%2C%22ref%22%3A%22~%22%7D", "gitfs:{file}?x", "gitlens://abc{file}?x", "GIT:{file}",
    "fugitive://{root}/.git//6b9a0e39/src/cart.py", "fugitive://{root}/.git//0/src/cart.py", "gitsigns://{root}/.git//HEAD:src/cart.py",
    "diffview://{root}/.git/:0:/src/cart.py", "pr:{file}?x", "vscode-local-history:{file}?x", "conflictResolution:{file}", "hg:{file}",
    "oil://{root}/src/", "output:extension-output-rag-ls-%231-rag-ls", "jdt://contents/rt.jar/java.lang/Cart.class?x",
    "zipfile:///lib/cart.zip::cart.py", "deno:/https/deno.land/cart.ts", "term://{root}//1:sh", "chat-editing-text-model:{file}",
    "vscode-vfs://github/o/r/src/cart.py", "file://other.machine{file}", "cart.py", "",
)  # fmt: skip


def test_another_version_and_what_programs_show_is_no_code_of_the_project(editor: InProcessEditor, shop: Path) -> None:
    for uri in (each.format(file=shop / "src/cart.py", root=shop) for each in _NO_CODE):
        _open(editor, uri, "def total_price_of_yesterday(items):\n    return 7\n")
        _change(editor, uri, {"text": "def total_price_of_yesterday(items):\n    return 8\n"})
        assert _found(editor, "total_price_of_yesterday") == [], uri
        assert _found(editor, "total_price") == ["src/cart.py"]
        # Each question about it has an answer.
        document = {"textDocument": {"uri": uri}}
        assert editor.ask("textDocument/hover", {**document, "position": {"line": 0, "character": 8}}) is None
        assert editor.ask("textDocument/codeLens", document) == []
        _close(editor, uri)
    assert _found(editor, "total_price") == ["src/cart.py"]


def test_such_a_document_opens_no_project_for_an_editor_without_a_folder(home: Path) -> None:
    client = local_client("lsp")
    with in_process_editor(client) as editor:
        _open(editor, "output:log", "nothing\n")
        editor.ask("textDocument/codeLens", {"textDocument": {"uri": "output:log"}})
        assert client.projects() == []
        _open(editor, "untitled:Untitled-1", "def quaggaish(): ...\n")
        assert until(lambda: _found(editor, "quaggaish"))


_SCRATCH = (
    "untitled:Untitled-1", "UNTITLED:Untitled-2", "untitled:{root}/src/new.py", "buffer:12", "buffer://sublime/3", "inmemory://model/1",
    "vscode-notebook-cell:{root}/a.ipynb#W0sZmlsZQ%3D%3D", "file://",
)  # fmt: skip


@pytest.mark.slow
def test_scratch_text_counts_for_its_own_editor_alone(shop: Path) -> None:
    engine = Engine()
    with _editor_of(engine, shop) as mine, _editor_of(engine, shop) as other:
        assert until(lambda: mine.command("status")["complete"] and other.command("status")["complete"])
        for uri in (each.format(root=shop) for each in _SCRATCH):
            _open(mine, uri, "def quaggaish_total(): ...\n")
            assert until(lambda uri=uri: _found(mine, "quaggaish_total") == [uri])  # type: ignore[misc]
            assert _places(mine, "quaggaish_total")[0] == uri
            assert _found(other, "quaggaish_total") == []
            _close(mine, uri)
            assert until(lambda: _found(mine, "quaggaish_total") == [])
    engine.close()


def _notebook(*sources: str) -> str:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": each.splitlines(True)} for each in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


@pytest.mark.slow
def test_a_saved_notebook_and_its_open_cells_are_one_document(shop: Path) -> None:
    first, second = 'def count_quaggas(herd):\n    return "all of them"', "def feed_quaggas(): ...\n"
    write(shop, {"zoo.ipynb": _notebook(first, second), ".gitignore": "kept/\n", "kept/a.ipynb": _notebook(first)})
    cells = [f"vscode-notebook-cell:{shop}/zoo.ipynb#W{number}sZmlsZQ%3D%3D" for number in range(3)]
    engine = Engine()
    with _editor_of(engine, shop) as editor, _editor_of(engine, shop) as other:
        assert until(lambda: editor.command("status")["complete"])
        for uri, text in zip(cells, (first.replace("\n", "\r\n"), second, "def new_quagga(): ...\n"), strict=True):
            _open(editor, uri, text)
        _open(editor, cells[0].replace("zoo.ipynb", "kept/a.ipynb"), "def hidden_quagga(): ...\n")
        # What is not in the file is unsaved text; what an ignored notebook holds is nobody's.
        assert until(lambda: _found(editor, "new_quagga") == ["zoo.ipynb"])
        assert editor.command("searchCode", query="new_quagga")["results"][0]["freshness"] == "buffer"
        assert _found(editor, "count_quaggas") == _found(editor, "feed_quaggas") == ["zoo.ipynb"]
        assert _found(editor, "hidden_quagga") == []
        _close(editor, cells[2])
        assert until(lambda: _found(editor, "new_quagga") == [])
        (hit, *_) = editor.command("searchCode", query="count_quaggas")["results"]
        assert (hit["path"], hit["freshness"]) == ("zoo.ipynb", "disk")
        lines = hit["text"].split("\n")
        assert '    return "all of them"' in lines
        assert not any("cell_type" in line for line in lines)
        shown = lines.index("def count_quaggas(herd):") + hit["start_line"]
        assert "def count_quaggas(herd)" in (shop / "zoo.ipynb").read_text().splitlines()[shown - 1]
        # Exact lines are those of the cell, at their lines in the file.
        (place,) = editor.command("searchCode", query="all of them", match="exact")["exact"]["places"]
        assert (place["text"], place["line"]) == ('    return "all of them"', shown + 1)
        # Once the notebook is saved, its new cell is no unsaved text.
        _open(editor, cells[2], "def new_quagga(): ...\n")
        write(shop, {"zoo.ipynb": _notebook(first, second, "def new_quagga(): ...\n")})
        uri = (shop / "zoo.ipynb").as_uri()
        editor.tell("workspace/didChangeWatchedFiles", changes=[{"uri": uri, "type": 2}])
        assert until(lambda: editor.command("searchCode", query="new_quagga")["results"][0]["freshness"] == "disk")
        assert _found(editor, "new_quagga") == ["zoo.ipynb"]
        # An edited cell replaces its saved text, for agents too, and is the file's again where it is not saved.
        _change(editor, cells[1], {"text": "def groom_quaggas(): ...\n\n\ndef brush_quaggas(): ...\n"})
        for each in (editor, other):
            assert until(lambda each=each: _found(each, "groom_quaggas") == ["zoo.ipynb"])  # type: ignore[misc]
            assert _found(each, "brush_quaggas") == _found(each, "new_quagga") == ["zoo.ipynb"]
            assert _found(each, "feed_quaggas") == []
        for uri in cells:
            _close(editor, uri)
        assert until(lambda: _found(other, "feed_quaggas") == ["zoo.ipynb"])
        assert _found(editor, "groom_quaggas") == []
    engine.close()


# --- one file, several addresses


@pytest.mark.slow
def test_one_file_is_one_document_and_its_address_comes_back_as_it_came(editor: InProcessEditor, shop: Path) -> None:
    file = shop / "src/cart.py"
    usual = f"file://{file}"
    addresses = (
        f"FILE://{file}", f"file://localhost{file}", f"File://LOCALHOST{file}", f"file:{file}", usual.replace("/src/", "//src///"),
        usual.replace("/src/", "/./docs/../src/"), usual.replace("cart", "%63%61rt"), usual.replace("/src/", "%2Fsrc%2f"),
    )  # fmt: skip
    for uri in addresses:
        _open(editor, uri, file.read_text())
        # The editor changes it at the usual address, and asks at the first one.
        _change(editor, usual, {"range": {"start": _START, "end": _START}, "text": "def quaggaish(): ...\n"})
        assert until(lambda: _found(editor, "quaggaish") == ["src/cart.py"])
        assert _found(editor, "total_price") == ["src/cart.py"]
        assert _places(editor, "total_price")[0] == uri
        _close(editor, usual)
        assert until(lambda: _found(editor, "quaggaish") == [])
        assert _places(editor, "total_price")[0] == usual


def test_of_two_addresses_of_a_file_the_one_that_stays_open_counts(editor: InProcessEditor, shop: Path) -> None:
    file = shop / "src/cart.py"
    other = f"file://localhost{file}"
    _open(editor, file.as_uri(), "def first_text(): ...\n")
    _open(editor, other, "def second_text(): ...\n")
    assert until(lambda: _found(editor, "second_text") == ["src/cart.py"])
    assert _found(editor, "first_text") == []
    _close(editor, other)
    assert until(lambda: _found(editor, "first_text") == ["src/cart.py"])
    _close(editor, file.as_uri())
    assert until(lambda: _found(editor, "first_text") == [] and _found(editor, "total_price"))


def test_addresses_of_windows_are_one_path() -> None:
    same = {
        file_path(uri)
        for uri in ("file:///c%3A/Work/a.py", "file:///C:/Work/a.py", "file:///c:/Work//a.py", "FILE:///C%3a/Work/a.py")
    }
    assert len(same) == 1


@pytest.mark.parametrize("ending", ["", "/"])
def test_files_are_named_below_the_folder_that_the_editor_opened(shop: Path, tmp_path: Path, ending: str) -> None:
    """Through a link, as `/home` is one to `/var/home`: the editor would open the same file twice."""
    link = tmp_path / "by link"
    link.symlink_to(shop)
    write(shop, {"src/größe.py": "def width_of_box(): ...\n"})
    folder = f"file://localhost{str(link).replace(' ', '%20')}"
    client = local_client("lsp")
    with in_process_editor(client, Path("/")) as editor:
        event = {"added": [{"uri": folder + ending, "name": None}], "removed": None}
        editor.tell("workspace/didChangeWorkspaceFolders", event=event)
        assert until(lambda: _places(editor, "width_of_box")[:1] == [f"{folder}/src/gr%C3%B6%C3%9Fe.py"])
        assert file_path(_places(editor, "width_of_box")[0]) == link / "src/größe.py"


def test_a_file_that_is_opened_by_a_link_keeps_its_address(editor: InProcessEditor, shop: Path) -> None:
    link = shop / "src/linked.py"
    os.symlink("cart.py", link)
    _open(editor, link.as_uri(), "def quaggaish(): ...\n")
    assert until(lambda: _found(editor, "quaggaish"))
    assert _places(editor, "quaggaish")[0] == link.as_uri()


# --- messages beside the protocol, in their usual order and in others


_WHOLE = {"text": "def quaggaish(): ...\n"}
_AT_START = {"range": {"start": _START, "end": _START}, "text": "def quaggaish(): ...\n"}


def test_an_edit_counts_whatever_its_version_is_called(editor: InProcessEditor, shop: Path) -> None:
    file = shop / "src/cart.py"
    changes = (_WHOLE, _AT_START, {**_WHOLE, "range": None}, {**_AT_START, "rangeLength": -1})
    versions = (None, "absent", "7", 1 << 40, -1, 3.5, 0)
    for change, version in [*((change, None) for change in changes), *((_AT_START, version) for version in versions)]:
        _open(editor, file.as_uri(), file.read_text(), version=version)
        _change(editor, file.as_uri(), change, version=version)
        assert until(lambda: _found(editor, "quaggaish") == ["src/cart.py"]), (version, change)
        _close(editor, file.as_uri())
        assert until(lambda: _found(editor, "quaggaish") == [])


def test_the_end_of_a_line_may_be_any_large_number(editor: InProcessEditor, shop: Path) -> None:
    uri = (shop / "src/new.py").as_uri()
    for end in (1 << 31, (1 << 32) - 1, (1 << 53) - 1, 1.7976931348623157e308, 99.0):
        _open(editor, uri, "x = 1\ny = 2\n", languageId=None)
        line = {"start": _START, "end": {"line": 0, "character": end}}
        ends = {"start": {"line": end, "character": -1}, "end": {"line": end, "character": end}}
        _change(
            editor, uri, {"range": line, "text": "def quaggaish(): ..."}, {"range": ends, "text": "z = zorillaish\n"}
        )
        assert until(lambda: _found(editor, "quaggaish") == ["src/new.py"]), end
        places = editor.command("searchCode", query="zorillaish", match="exact")["exact"]["places"]
        assert [place["line"] for place in places] == [3]
        _close(editor, uri)
        assert until(lambda: _found(editor, "quaggaish") == [])


def test_messages_in_any_order_leave_the_latest_text(editor: InProcessEditor, shop: Path) -> None:
    file = shop / "src/cart.py"
    uri = file.as_uri()
    _close(editor, uri)
    _change(editor, uri, {"text": "def never_opened(): ...\n"})
    editor.tell("textDocument/didSave", textDocument={"uri": uri, "version": None}, text="x")
    _open(editor, uri, "def opened_once(): ...\n")
    _open(editor, uri, "def opened_twice(): ...\n")
    _change(editor, uri, _AT_START, version=9)
    _change(editor, uri, {"range": {"start": _START, "end": _START}, "text": "\r\n\f😀 = 'ä'\r"}, version=3)
    assert until(lambda: _found(editor, "opened_twice") and _found(editor, "quaggaish"))
    assert _found(editor, "opened_once") == _found(editor, "never_opened") == []
    _close(editor, uri)
    _close(editor, uri)
    assert until(lambda: _found(editor, "opened_twice") == [] and _found(editor, "total_price"))


def test_a_file_that_is_renamed_while_it_is_open_is_at_its_new_place(editor: InProcessEditor, shop: Path) -> None:
    former, present = shop / "src/cart.py", shop / "src/basket.py"
    _open(editor, former.as_uri(), former.read_text())
    _change(editor, former.as_uri(), _AT_START)
    assert until(lambda: _found(editor, "quaggaish"))
    former.rename(present)
    _close(editor, former.as_uri())
    _open(editor, present.as_uri(), "def quaggaish(): ...\n" + present.read_text())
    editor.tell("workspace/didRenameFiles", files=[{"oldUri": former.as_uri(), "newUri": present.as_uri()}])
    editor.tell("workspace/didChangeWatchedFiles", changes=[{"uri": former.as_uri(), "type": 3}])
    assert until(lambda: _found(editor, "quaggaish") == ["src/basket.py"])
    assert until(lambda: _found(editor, "total_price") == ["src/basket.py"])


def test_of_two_editors_each_sees_its_own_text(shop: Path) -> None:
    engine = Engine()
    with _editor_of(engine, shop) as one, _editor_of(engine, shop) as two:
        assert until(lambda: one.command("status")["complete"] and two.command("status")["complete"])
        uri = (shop / "src/cart.py").as_uri()
        _open(one, uri, "def of_the_first(): ...\n")
        assert until(lambda: _found(one, "of_the_first"))
        _open(two, uri, "def of_the_second(): ...\n")
        assert until(lambda: _found(two, "of_the_second"))
        assert _found(two, "of_the_first") == _found(one, "of_the_second") == []
        assert _found(one, "of_the_first") == ["src/cart.py"]
    engine.close()


def test_settings_that_are_told_without_any_are_no_fault(editor: InProcessEditor) -> None:
    for params in ({}, {"settings": None}, {"settings": "none"}):
        editor.tell("workspace/didChangeConfiguration", **params)
    assert editor.command("status")["complete"]


# --- the first message


_FOLDER = {"uri": "{uri}", "name": "shop"}
_ODD_STARTS: tuple[dict[str, Any], ...] = (
    {"workspaceFolders": _FOLDER}, {"workspaceFolders": [None, 5, {**_FOLDER, "name": None}]},
    {"workspaceFolders": [{"uri": "{uri}"}]}, {"workspaceFolders": "none", "rootUri": "{uri}"},
    {"capabilities": None}, {"capabilities": []}, {"capabilities": {"workspace": [], "window": 7}},
    {"processId": "12x", "trace": "on", "clientInfo": {}, "locale": 5, "rootPath": 7},
    {"clientInfo": "vim", "initializationOptions": ["x"]}, {"workspaceFolders": None, "rootUri": "{uri}"},
)  # fmt: skip


@pytest.mark.parametrize("odd", _ODD_STARTS)
def test_a_start_with_values_of_wrong_kinds_is_a_start(shop: Path, odd: dict[str, Any]) -> None:
    """`initialize` is answered before it is read: refusing it afterwards would leave every other request refused, too."""
    start = json.loads(json.dumps(odd).replace("{uri}", shop.as_uri()))
    with in_process_editor(local_client("lsp"), shop, start=start) as editor:
        assert until(lambda: editor.command("status")["complete"])
        assert _found(editor, "total_price") == ["src/cart.py"]


def test_each_request_after_shutdown_has_an_answer(editor: InProcessEditor) -> None:
    assert [editor.ask("shutdown", None), editor.ask("shutdown", None)] == [None, None]
    with pytest.raises(AssertionError, match="came after shutdown"):
        editor.ask("workspace/symbol", {"query": "cart"})


@pytest.mark.parametrize("odd", [[], None, [None], [[]], ["x"], {"a": 1}, "text", [1, 2, 3], [{"search": None}]])
def test_settings_that_are_answered_oddly_leave_the_session_as_it_is(shop: Path, odd: Any) -> None:
    asked: list[object] = []

    def answer(params: object) -> Any:
        asked.append(params)
        return odd

    capabilities = {"workspace": {"configuration": True}}
    with in_process_editor(local_client("lsp"), shop, start={"capabilities": capabilities}) as editor:
        editor.replies["workspace/configuration"] = answer
        editor.tell("workspace/didChangeConfiguration", settings=None)
        assert until(lambda: editor.command("status")["complete"])
        assert until(lambda: bool(asked))
        assert _found(editor, "total_price") == ["src/cart.py"]


def test_two_editors_with_other_texts_of_one_file_find_each_its_own(shop: Path) -> None:
    engine = Engine()
    uri = (shop / "src/cart.py").as_uri()
    with _editor_of(engine, shop) as first, _editor_of(engine, shop) as second, _editor_of(engine, shop) as third:
        assert until(lambda: first.command("status")["complete"])
        _open(first, uri, "def wombat(): pass\n")
        assert _found(first, "wombat") == ["src/cart.py"]
        _open(second, uri, "def giraffe(): pass\n")
        assert until(lambda: _found(second, "giraffe") == ["src/cart.py"])
        assert (_found(first, "wombat"), _found(first, "giraffe")) == (["src/cart.py"], [])
        # Others find the text that was typed in last.
        assert (_found(third, "wombat"), _found(third, "giraffe")) == ([], ["src/cart.py"])
        _close(second, uri)
        assert until(lambda: _found(third, "wombat") == ["src/cart.py"])
    engine.close()

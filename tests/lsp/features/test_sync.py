"""What an editor has open: folders, and none."""

from __future__ import annotations

from pathlib import Path

from rag_ls.engine.client import local_client
from tests.lsp.in_process import in_process_editor
from tests.support import until


def test_an_editor_without_a_folder_is_told_that_none_is_open_until_it_opens_one(words_alone: None, shop: Path) -> None:
    with in_process_editor(local_client("lsp")) as editor:
        assert editor.command("status")["projects"] == []
        note = editor.command("searchCode", query="total price")["stats"]["note"]
        assert note == "no folder is open, so there is no code to search"
        editor.tell(
            "workspace/didChangeWorkspaceFolders",
            event={"added": [{"uri": shop.as_uri(), "name": "shop"}], "removed": []},
        )
        assert until(lambda: [each["root"] for each in editor.command("status")["projects"]] == [str(shop)])
        assert until(lambda: editor.command("searchCode", query="total price")["results"])

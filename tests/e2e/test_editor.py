"""What an editor sees of `rag-ls lsp`."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.e2e.clients import editor, eventually
from tests.support import git_repository, write

pytestmark = pytest.mark.shared_engine


@pytest.mark.slow
async def test_a_question_in_words_jumps_to_the_function(project: Path) -> None:
    async with editor(project) as ed:
        await ed.until_complete()
        symbols = await ed.symbols("retry with backoff")
        names = [symbol.name for symbol in symbols[:2]]
        assert set(names) == {"retry_with_backoff", "RetryWithBackoff"}
        found = next(symbol for symbol in symbols if symbol.name == "retry_with_backoff")
        assert found.location.uri == (project / "src/net/client.py").as_uri()
        assert found.location.range.start.line == 3


@pytest.mark.slow
async def test_zed_which_shows_names_with_the_letters_of_the_question_gets_such_names_in_order(project: Path) -> None:
    async with editor(project) as ed:
        await ed.until_complete()
        names = [symbol.name for symbol in await ed.symbols("retry with backoff")]
    async with editor(project, name="Zed Preview") as ed:
        shown = [symbol.name for symbol in await ed.symbols("retry with backoff")]
        assert (await ed.symbols("retry_with_backoff"))[0].name == "retry_with_backoff"
    assert shown == sorted(shown)
    assert [name.removeprefix(f"retry with backoff: {at:02} ") for at, name in enumerate(shown, 1)] == names


@pytest.mark.slow
async def test_a_question_is_answered_by_meaning_where_no_word_matches(project: Path) -> None:
    async with editor(project) as ed:
        await ed.until_complete()
        answer = await ed.command("searchCode", query="authentication renewal")
        assert answer["stats"]["dense"] is True
        assert answer["results"][0]["symbol"].startswith("Session")
        assert "lexical" not in answer["results"][0]["matched_by"]


@pytest.mark.slow
async def test_unsaved_text_is_found_as_it_is_typed(project: Path) -> None:
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open(file)
        ed.type(
            file, 'def zebra_crossing():\n    """Paint stripes on the road."""\n    return "stripes"\n\n\n', at=(3, 0)
        )
        answer = await ed.command("searchCode", query="zebra_crossing")
        first = answer["results"][0]
        assert (first["symbol"], first["freshness"], first["path"]) == (
            "zebra_crossing",
            "buffer",
            "src/billing/invoice.py",
        )
        assert first["start_line"] <= 4 <= first["end_line"]


@pytest.mark.slow
async def test_closing_without_saving_brings_the_files_own_text_back(project: Path) -> None:
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open(file)
        ed.replace_all(file, "def only_in_the_buffer():\n    return 1\n")
        answer = await ed.command("searchCode", query="round_amount")
        assert all("def round_amount" not in hit["text"] for hit in answer["results"])
        ed.close(file)
        answer = await ed.command("searchCode", query="round_amount")
        assert answer["results"][0]["symbol"] == "round_amount"
        assert answer["results"][0]["freshness"] == "disk"
        answer = await ed.command("searchCode", query="only_in_the_buffer")
        assert all("only_in_the_buffer" not in hit["text"] for hit in answer["results"])


@pytest.mark.slow
async def test_only_what_changed_is_embedded_again(project: Path) -> None:
    file = project / "src/net/client.py"
    async with editor(project) as ed:
        before = (await ed.until_complete())["projects"][0]
        ed.open(file)
        ed.type(file, "    # a comment that changes one function\n", at=(5, 0))
        answer = await ed.command("searchCode", query="changes one function")
        assert answer["results"][0]["symbol"] == "retry_with_backoff"
        assert answer["stats"].get("pending_embeddings", 0) <= 1
        after = (await ed.until_complete())["projects"][0]
        assert after["documents"] == before["documents"]


@pytest.mark.slow
async def test_hover_shows_memories_and_related_code_of_other_files(project: Path) -> None:
    file = project / "src/net/client.py"
    async with editor(project) as ed:
        await ed.until_complete()
        stored = await ed.command(
            "storeMemory",
            content="We never wait more than thirty seconds in all.",
            scope="project",
            metadata={"source_file": "src/net/client.py", "symbol": "retry_with_backoff"},
        )
        assert stored["anchor"]["state"] == "fresh"
        ed.open(file)
        text = await ed.hover(file, 3, 6)
        assert "We never wait more than thirty seconds" in text
        assert f"({(project / 'src/queue/retry.go').as_uri()}#L" in text
        assert "RetryWithBackoff" in text
        ed.type(file, "    # A comment changes nothing.\n", at=(5, 0))
        await ed.until_complete()
        assert "the code has changed since" not in await ed.hover(file, 3, 6)
        ed.type(file, "    changed = True\n", at=(5, 0))
        await ed.until_complete()
        assert "the code has changed since" in await ed.hover(file, 3, 6)


@pytest.mark.slow
async def test_hover_shows_nothing_where_nothing_is_close(project: Path) -> None:
    file = project / "src/ui/Button.tsx"
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open(file, language="typescriptreact")
        assert await ed.hover(file, 3, 20) == ""
        assert await ed.hover(file, 1, 0) == ""


@pytest.mark.slow
async def test_what_changed_while_no_editor_ran_is_caught_up(project: Path) -> None:
    async with editor(project) as ed:
        await ed.until_complete()
    (project / "src/net/client.py").rename(project / "src/net/http.py")
    (project / "docs/decisions.md").unlink()
    write(project, {"src/new.py": "def brand_new_walrus():\n    return 'tusks'\n"})
    async with editor(project) as ed:
        status = (await ed.until_complete())["projects"][0]
        assert status["documents"] == 6
        moved = await ed.command("searchCode", query="retry_with_backoff")
        assert moved["results"][0]["path"] == "src/net/http.py"
        new = await ed.command("searchCode", query="brand_new_walrus")
        assert new["results"][0]["path"] == "src/new.py"


@pytest.mark.slow
async def test_files_that_other_programs_change_are_indexed_again(project: Path) -> None:
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed:
        await ed.until_complete()
        file.write_text("def written_by_a_generator():\n    return 'fresh'\n")
        ed.watched(file)

        async def found() -> bool:
            answer = await ed.command("searchCode", query="written_by_a_generator")
            return bool(answer["results"]) and "written_by_a_generator" in answer["results"][0]["text"]

        assert await eventually(found)


@pytest.mark.slow
async def test_a_hit_of_a_file_changed_behind_our_back_says_so_and_is_mended(project: Path) -> None:
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed:
        await ed.until_complete()
        file.write_text(file.read_text() + "\n\ndef added_silently():\n    return 2\n")
        hits = (await ed.command("searchCode", query="round_amount"))["results"]
        of_file = [hit for hit in hits if hit["path"].endswith("invoice.py")]
        # It may be noticed and taken in before the answer, or while it is made; what is called fresh is in the file.
        assert {hit["freshness"] for hit in of_file} <= {"changed", "disk"}
        assert all(hit["text"] in file.read_text() for hit in of_file if hit["freshness"] == "disk")

        async def mended() -> bool:
            hits = (await ed.command("searchCode", query="added_silently"))["results"]
            return bool(hits) and "added_silently" in hits[0]["text"] and hits[0]["freshness"] == "disk"

        assert await eventually(mended)


@pytest.mark.slow
async def test_several_folders_are_searched_as_one_and_closed_alone(project: Path, tmp_path: Path) -> None:
    other = git_repository(tmp_path / "other", {"lib.py": "def narwhal_horn():\n    return 'ivory'\n"})
    async with editor(project, other) as ed:
        await ed.until_complete()
        names = {symbol.name for symbol in await ed.symbols("narwhal_horn")}
        assert "narwhal_horn" in names
        assert len((await ed.command("status"))["projects"]) == 2


@pytest.mark.slow
async def test_untitled_documents_and_files_outside_every_folder_are_found_while_open(
    project: Path, tmp_path: Path
) -> None:
    outside = (
        write(tmp_path, {"elsewhere/tool.py": "def outsider_platypus():\n    return 'bill'\n"}) / "elsewhere/tool.py"
    )
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open("untitled:Untitled-1", "def scribbled_idea():\n    return 'untitled'\n")
        ed.open(outside)
        answer = await ed.command("searchCode", query="scribbled_idea")
        assert (answer["results"][0]["path"], answer["results"][0]["freshness"]) == ("untitled:Untitled-1", "buffer")
        answer = await ed.command("searchCode", query="outsider_platypus")
        assert answer["results"][0]["path"] == outside.as_posix()
        ed.close("untitled:Untitled-1")
        ed.close(outside)
        for query in ("scribbled_idea", "outsider_platypus"):
            answer = await ed.command("searchCode", query=query)
            assert all(query not in hit["text"] for hit in answer["results"])


async def test_an_editor_without_a_folder_has_nothing_left_to_index() -> None:
    async with editor() as ed:
        await ed.until_complete()
        assert (await ed.command("status"))["projects"] == []


async def test_an_editor_without_a_folder_works_on_open_files_alone(tmp_path: Path) -> None:
    file = write(tmp_path, {"single.py": "def lonely_lighthouse():\n    return 'keeper'\n"}) / "single.py"
    async with editor() as ed:
        ed.open(file)

        async def found() -> bool:
            hits = (await ed.command("searchCode", query="lonely_lighthouse"))["results"]
            return bool(hits) and "lonely_lighthouse" in hits[0]["text"]

        assert await eventually(found)
    assert not (tmp_path / ".rag-ls").exists()


@pytest.mark.slow
async def test_settings_of_the_editor_count_at_once_and_wrong_ones_are_named(project: Path) -> None:
    file = project / "src/net/client.py"
    async with editor(project, ragLs={"hover": {"enabled": False}, "search": {"colour": "red"}}) as ed:
        await ed.until_complete()

        async def named() -> bool:
            return any("search.colour" in message.message for message in ed.client.messages)

        assert await eventually(named)
        ed.open(file)
        assert await ed.hover(file, 3, 6) == ""
        settings = {"ragLs": {"hover": {"enabled": True}, "search": {"codeK": 1}}}
        ed.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        assert "RetryWithBackoff" in await ed.hover(file, 3, 6)
        assert len((await ed.command("searchCode", query="retry with backoff"))["results"]) == 1


@pytest.mark.slow
async def test_a_client_that_only_says_that_settings_changed_is_asked_for_them(project: Path) -> None:
    async with editor(project) as ed:
        await ed.until_complete()
        ed.client.set_configuration({"ragLs": {"search": {"codeK": 1}}})
        ed.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))

        async def one_hit() -> bool:
            return len((await ed.command("searchCode", query="retry with backoff"))["results"]) == 1

        assert await eventually(one_hit)


@pytest.mark.slow
async def test_a_partial_index_is_never_called_complete(project: Path) -> None:
    async with editor(project) as ed:
        while True:
            status = await ed.command("status")
            one = status["projects"][0]
            if status["complete"]:
                break
            assert one["queued_documents"] or one["pending_embeddings"] or "not compared" in one["note"]
        assert (one["documents"], one["queued_documents"], one["pending_embeddings"]) == (6, 0, 0)


@pytest.mark.slow
async def test_indexing_shows_as_progress_with_a_token_created_first(project: Path) -> None:
    # Texts that no other test has, so that embedding them takes longer than a look.
    mark = uuid.uuid4().hex
    write(
        project,
        {f"src/part_{number}.py": f"def part_{number}_{mark}():\n    return {number}\n" for number in range(30)},
    )
    async with editor(project) as ed:
        await ed.until_complete()

        async def ended() -> bool:
            reports = list(ed.client.progress_reports.values())
            return bool(reports) and all(type(run[-1]).__name__ == "WorkDoneProgressEnd" for run in reports)

        assert await eventually(ended)
        for reports in ed.client.progress_reports.values():
            assert type(reports[0]).__name__ == "WorkDoneProgressBegin"


async def test_bad_arguments_are_named(project: Path) -> None:
    async with editor(project) as ed:
        with pytest.raises(JsonRpcException, match="query must be a string"):
            await ed.command("searchCode", query={})


async def test_an_unknown_command_is_refused_and_the_server_goes_on(project: Path) -> None:
    async with editor(project) as ed:
        with pytest.raises(JsonRpcException, match=r"ragLs\.fly"):
            await ed.command("fly")
        assert (await ed.command("status"))["version"]


@pytest.mark.slow
async def test_a_range_outside_the_document_means_its_end(project: Path) -> None:
    file = project / "src/billing/invoice.py"
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open(file)
        ed.type(file, "\n\ndef at_the_very_end():\n    return 9\n", at=(10_000, 500), until=(20_000, 3))
        answer = await ed.command("searchCode", query="at_the_very_end")
        assert "at_the_very_end" in answer["results"][0]["text"]


async def test_an_editor_without_a_folder_cannot_lose_a_project_memory(tmp_path: Path) -> None:
    async with editor() as ed:
        with pytest.raises(JsonRpcException, match="no project is open"):
            await ed.command("storeMemory", content="would be gone", scope="project")
        assert (await ed.command("storeMemory", content="it stays here", scope="global"))["status"] == "inserted"


@pytest.mark.slow
async def test_open_documents_move_to_a_folder_that_is_added_and_back_when_it_goes(
    project: Path, tmp_path: Path
) -> None:
    other = git_repository(tmp_path / "other", {"lib.py": "def narwhal_horn():\n    return 'ivory'\n"})
    file = other / "lib.py"
    folder = types.WorkspaceFolder(other.as_uri(), "other")
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open(file)
        ed.type(file, "# narwhal_unsaved\n")

        async def path_of_the_unsaved_text() -> str:
            hits = (await ed.command("searchCode", query="narwhal_unsaved"))["results"]
            found = [hit for hit in hits if "narwhal_unsaved" in hit["text"]]
            # For a moment both projects may hold it; that must end.
            return " and ".join(hit["path"] for hit in found)

        async def is_guest() -> bool:
            return await path_of_the_unsaved_text() == file.as_posix()

        async def is_at_home() -> bool:
            return await path_of_the_unsaved_text() == "lib.py"

        assert await eventually(is_guest)
        event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
        ed.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        assert await eventually(is_at_home)
        event = types.WorkspaceFoldersChangeEvent(added=[], removed=[folder])
        ed.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        assert await eventually(is_guest)
        ed.close(file)

        async def is_gone() -> bool:
            return await path_of_the_unsaved_text() == ""

        assert await eventually(is_gone)

"""Operations on memories, in the shapes that agents, editors and the shell get."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.config.trust import users_trusted_folders
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.code.code_memories import find_in_document
from rag_ls.errors import InvalidRequest, NotFound, PathOutsideProject, RagLsError
from rag_ls.operations import Operations
from rag_ls.operations.memories.arguments import TimeRange, read_times
from rag_ls.operations.memories.storing import make_stored_answer
from tests.memory.support import memories_in, new
from tests.support import PATIENCE_S, git, memories_file, until, write

_NET = "Cart prices are net of tax, the invoice adds it"


@pytest.fixture
def repository(indexed_repository: Path) -> Path:
    """The shop as a git repository, which is indexed already."""
    return indexed_repository


@pytest.fixture
def operations(client: Client, repository: Path) -> Operations:
    """Operations on the shop, which is a git repository."""
    view = client.open(repository)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    return Operations(client, wait_for_model_s=PATIENCE_S)


def _stored(operations: Operations, content: str = _NET, scope: str = "project", **metadata: object) -> str:
    return str(operations.run("store_memory", {"content": content, "scope": scope, "metadata": metadata})["id"])


class TestUpdating:
    def test_metadata_is_merged_and_null_removes_a_key(self, operations: Operations) -> None:
        memory = _stored(operations, tags=["money"], importance_score=0.9, custom={"a": {"b": 1, "c": 2}, "d": 3})
        changes = {"importance_score": None, "language": "python", "custom": {"a": {"b": None}, "e": 4}}
        operations.run("update_memory", {"id": memory, "metadata": changes})
        metadata = operations.run("get_memory", {"id": memory})["metadata"]
        assert metadata == {
            "tags": ["money"], "language": "python", "importance_score": 0.5, "custom": {"a": {"c": 2}, "d": 3, "e": 4},
        }  # fmt: skip

    def test_another_name_of_a_key_changes_it_too(self, operations: Operations) -> None:
        memory = _stored(operations, tags=["money"], importance_score=0.9)
        operations.run(
            "update_memory", {"id": memory, "metadata": {"tag": "tax", "importance": 0.2, "type": "episodic"}}
        )
        record = operations.run("get_memory", {"id": memory})
        assert (record["metadata"], record["memory_type"]) == ({"tags": ["tax"], "importance_score": 0.2}, "episodic")

    def test_only_what_is_given_changes(self, operations: Operations) -> None:
        memory = _stored(operations, tags=["money"], source_file="src/cart.py", line=2)
        before = operations.run("get_memory", {"id": memory})
        operations.run("update_memory", {"id": memory, "content": "Cart prices are gross since May"})
        after = operations.run("get_memory", {"id": memory})
        assert (after["content"], after["version"]) == ("Cart prices are gross since May", 2)
        for key in ("metadata", "memory_type", "created_at", "anchor", "scope"):
            assert after[key] == before[key]

    def test_an_id_alone_confirms_a_memory_about_code_that_changed(
        self, operations: Operations, repository: Path
    ) -> None:
        memory = _stored(operations, source_file="src/cart.py", symbol="total_price")
        text = (repository / "src/cart.py").read_text()
        write(repository, {"src/cart.py": text.replace("sum(items)", "fsum(items)")})

        def state() -> str:
            return str(operations.run("get_memory", {"id": memory})["anchor"]["state"])

        assert until(lambda: state() == "drifted")
        assert state() == "drifted"
        assert operations.run("update_memory", {"id": memory})["anchor"]["state"] == "fresh"
        assert state() == "fresh"

    def test_an_id_alone_says_nothing_of_a_memory_about_no_code(self, operations: Operations) -> None:
        with pytest.raises(InvalidRequest, match="needs content or metadata"):
            operations.run("update_memory", {"id": _stored(operations)})

    def test_another_place_moves_the_anchor_and_none_takes_it_away(self, operations: Operations) -> None:
        memory = _stored(operations, source_file="src/cart.py", symbol="total_price")
        place = {"source_file": "src/auth.py", "symbol": "Session"}
        moved = operations.run("update_memory", {"id": memory, "metadata": place})
        assert moved["anchor"]["path"] == "src/auth.py"
        assert operations.run("update_memory", {"id": memory, "metadata": {"source_file": None}})["anchor"] is None

    @pytest.mark.parametrize(
        ("change", "error"),
        [
            ({"content": " "}, "empty"),
            ({"content": "ok"}, "says nothing"),
            ({"metadata": {"importance_score": 2}}, "between 0 and 1"),
            ({"metadata": {"memory_type": "vague"}}, "not one of"),
            ({"metadata": {"colour": "red"}}, "no argument 'colour'"),
            ({"metadata": {"tags": ["t"] * 10 + [str(number) for number in range(60)]}}, "too many"),
            ({"expected_version": 7, "content": "new words here"}, "at version 1"),
        ],
    )
    def test_a_refused_change_changes_nothing(self, operations: Operations, change: dict, error: str) -> None:
        memory = _stored(operations)
        before = operations.run("get_memory", {"id": memory})
        with pytest.raises(RagLsError, match=error):
            operations.run("update_memory", {"id": memory, **change})
        assert operations.run("get_memory", {"id": memory}) == before


class TestBranches:
    def test_a_memory_tied_to_a_branch_is_found_there_alone_until_it_is_promoted(
        self, operations: Operations, repository: Path
    ) -> None:
        git(repository, "checkout", "--quiet", "-b", "feature")
        memory = _stored(operations, branch="feature")
        assert _recalled(operations) == _listed(operations) == [memory]
        git(repository, "checkout", "--quiet", "-")
        assert _recalled(operations) == _listed(operations) == []
        assert _listed(operations, branch="*") == _listed(operations, branch="feature") == [memory]
        assert operations.run("get_memory", {"id": memory})["branch"] == "feature"
        operations.run("update_memory", {"id": memory, "metadata": {"branch": None}})
        assert _recalled(operations) == _listed(operations) == [memory]

    def test_only_a_project_s_memory_is_tied_to_a_branch(self, operations: Operations) -> None:
        with pytest.raises(InvalidRequest, match="use scope project"):
            _stored(operations, scope="global", branch="main")


class TestListing:
    def test_it_filters_by_what_became_of_the_code(self, operations: Operations, repository: Path) -> None:
        fresh = _stored(operations, source_file="src/cart.py", symbol="total_price")
        gone = _stored(operations, "Invoices go out by mail", source_file="src/mail.js", symbol="sendInvoice")
        _stored(operations, "About nothing in particular")
        (repository / "src/mail.js").unlink()
        assert until(lambda: _listed(operations, anchor="orphaned") == [gone])
        assert _listed(operations, anchor="fresh") == [fresh]
        assert set(_listed(operations, anchor="any")) == {fresh, gone}
        assert _listed(operations, filters={"path": "src/cart.py"}) == [fresh]

    def test_a_misspelt_tag_is_answered_with_those_in_use(self, operations: Operations) -> None:
        _stored(operations, tags=["billing", "tax"])
        page = operations.run("list_memories", {"filters": {"tags": "biling"}})
        assert page["hint"] == "no memory has the tag 'biling'; the nearest is billing; in use are billing, tax"
        answer = operations.run("search_memory", {"query": "net of tax", "filters": {"tags": ["biling"]}})
        assert "the nearest is billing" in answer["stats"]["note"]
        known = operations.run("list_memories", {"filters": {"tags": "tax", "memory_type": "episodic"}})
        assert known["hint"] == "of 1 memory none passes the filters"

    def test_it_filters_by_tags_type_time_and_use(self, operations: Operations) -> None:
        one = _stored(operations, tags="Money", memory_type="episodic")
        two = _stored(operations, "Refunds take fourteen days")
        assert _listed(operations, filters={"tags": "money"}) == _listed(operations, type="episodic") == [one]
        assert _listed(operations, filters={"time_range": {"start": "2999-01-01"}}) == []
        assert set(_listed(operations, filters={"time_range": {"start": "2020-01-01", "end": "2998-12-31"}})) == {
            one,
            two,
        }
        operations.run("search_memory", {"query": "how long does a refund take"})
        assert until(lambda: _listed(operations, never_recalled=True) == [one])
        assert operations.run("list_memories", {"order": "uses"})["memories"][0]["uses"] == 1

    def test_a_time_that_is_none_is_named(self, operations: Operations) -> None:
        with pytest.raises(InvalidRequest, match="'yesterday' is no time"):
            operations.run("list_memories", {"filters": {"time_range": {"start": "yesterday"}}})

    def test_an_answer_holds_no_more_than_an_agent_can_read(self, operations: Operations) -> None:
        _stored(operations, "words and words " * 2000)
        (item,) = operations.run("list_memories")["memories"]
        assert item["truncated"]
        assert len(item["content"]) < 2100
        assert len(operations.run("get_memory", {"id": item["id"]})["content"]) > 30_000


class TestStoring:
    def test_what_contradicts_is_named_with_the_reason(self, operations: Operations) -> None:
        first = _stored(operations, "Memory maps are never used on macOS")
        second = operations.run("store_memory", {"content": "Memory maps are always used on macOS", "scope": "project"})
        assert [(item["id"], bool(item["contradicts"])) for item in second["known"]] == [(first, True)]
        alike = operations.run("store_memory", {"content": "Memory maps are never used with macOS", "scope": "project"})
        assert all("contradicts" not in item for item in alike["known"] if item["id"] == first)

    def test_what_is_known_already_is_named(self, operations: Operations) -> None:
        first = _stored(operations)
        again = operations.run("store_memory", {"content": "Prices in the cart are net of tax", "scope": "global"})
        assert [item["id"] for item in again["known"]] == [first]
        assert again["known"][0]["similarity"] > 0.8

    def test_the_very_same_again_is_a_duplicate_of_what_is_there(self, operations: Operations) -> None:
        first = _stored(operations)
        again = operations.run("store_memory", {"content": f" {_NET} ", "scope": "project"})
        assert (again["status"], again["duplicate_of"], again["version"]) == ("duplicate", first, 1)
        tagged = operations.run("store_memory", {"content": _NET, "scope": "project", "tag": "money"})
        assert (tagged["status"], tagged["duplicate_of"], tagged["version"]) == ("updated", first, 2)

    def test_common_slips_are_understood(self, operations: Operations) -> None:
        given = {" content ": _NET, "scope": " Project ", "tags": " money ", "type": "procedural", "importance": 1}
        stored = operations.run("store_memory", given)
        record = operations.run("get_memory", {"memory_id": stored["id"]})
        assert (record["metadata"]["tags"], record["memory_type"]) == (["money"], "procedural")
        assert record["metadata"]["importance_score"] == 1

    def test_a_session_that_is_full_says_what_made_room(self, client: Client, operations: Operations) -> None:
        for view in client.projects():
            users_trusted_folders().add(view.project.root)
        client.apply_editor_settings({"storage": {"maxSessionMemories": 2}})
        least = _stored(operations, "first thought", "session", importance_score=0.1)
        _stored(operations, "second thought", "session")
        third = operations.run("store_memory", {"content": "third thought", "scope": "session"})
        assert third["evicted"] == [least]
        assert "made room" in third["note"]

    def test_a_memory_about_code_that_was_never_indexed_is_anchored_to_it(self, repository: Path) -> None:
        client = local_client()
        try:
            client.open(repository)
            place = {"source_file": "src/cart.py", "line": 2}
            stored = Operations(client).run("store_memory", {"content": _NET, "scope": "project", "metadata": place})
            assert (stored["anchor"]["symbol"], stored["anchor"]["state"]) == ("total_price", "fresh")
        finally:
            client.close()


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("ພາສີຄິດໄລ່ແນວໃດ", "ພາສີ"), ("ຖານຂໍ້ມູນຢູ່ໃສ", "ຖານຂໍ້ມູນ"), ("តើពន្ធគណនាយ៉ាងណា", "ពន្ធ"), ("税怎么计算", "税"),
        ("密码多久更换", "密码"), ("ภาษีคำนวณอย่างไร", "ภาษี"), ("ግብር መቼ ይሰላል", "ግብር"),
    ],
)  # fmt: skip
def test_of_words_that_the_model_cannot_read_only_the_very_words_count(
    operations: Operations, question: str, word: str
) -> None:
    for content in (
        "ລະຫັດຜ່ານຕ້ອງປ່ຽນທຸກເດືອນ", "ພາສີຄິດໄລ່ຫຼັງສ່ວນຫຼຸດ", "ຖານຂໍ້ມູນສຳຮອງທຸກຄືນ", "ពាក្យសម្ងាត់ត្រូវប្តូររៀងរាល់ខែ",
        "ពន្ធគណនាបន្ទាប់ពីបញ្ចុះតម្លៃ", "密码每月更换一次", "税在折扣之后计算", "数据库每晚备份", "รหัสผ่านต้องเปลี่ยนทุกเดือน",
        "ภาษีคำนวณหลังส่วนลด", "የይለፍ ቃል በየወሩ ይቀየራል", "ግብር ከቅናሽ በኋላ ይሰላል",
    ):  # fmt: skip
        _stored(operations, content)
    found = operations.run("search_memory", {"query": question})["results"]
    assert word in found[0]["content"]


class TestAboutAPlace:
    def test_it_tells_what_is_about_the_code_first_and_then_what_fits_it(
        self, operations: Operations, repository: Path
    ) -> None:
        about = _stored(operations, "Never negative, see the audit", source_file="src/cart.py", symbol="total_price")
        fits = _stored(operations, "The discount of a shopping cart is a share of its total price")
        path = str(repository / "src/cart.py")
        answer = operations.run("memories_about", {"path": path, "line": 2})
        assert [hit["id"] for hit in answer["results"]] == [about, fits]
        assert "[1] Never negative" in answer["context"]

    def test_a_path_outside_is_refused(self, operations: Operations) -> None:
        with pytest.raises(PathOutsideProject):
            operations.run("memories_about", {"path": "../../etc/passwd"})

    @pytest.mark.parametrize("place", ["https://example.org/cart.py", "nonsense:12", "untitled:1"])
    def test_an_address_of_no_file_and_no_open_text_is_refused(self, operations: Operations, place: str) -> None:
        metadata = {"source_file": place, "line": 2}
        with pytest.raises(InvalidRequest, match="no file of the project, and no open text"):
            operations.run("store_memory", {"content": _NET, "scope": "project", "metadata": metadata})


class TestRestoring:
    def test_a_deleted_memory_comes_back(self, operations: Operations) -> None:
        memory = _stored(operations, tags=["money"])
        operations.run("delete_memory", {"id": memory})
        assert operations.run("restore_memory", {"id": memory[:8]})["id"] == memory
        assert operations.run("get_memory", {"id": memory})["metadata"]["tags"] == ["money"]

    def test_a_backup_comes_back_and_what_goes_by_that_stays_in_the_history(self, operations: Operations) -> None:
        kept = _stored(operations)
        later = _stored(operations, "Stored after the day's backup")
        operations.run("update_memory", {"id": kept, "content": "Overwritten by mistake"})
        done = operations.run("restore_backup", {"backup": "latest"})
        assert (done["inserted"], done["replaced"], done["deleted"]) == (0, 1, 1)
        assert _listed(operations) == [kept]
        assert operations.run("get_memory", {"id": kept})["content"] == _NET
        operations.run("restore_memory", {"id": later})
        with pytest.raises(NotFound, match="no good backup '1999-01-01'"):
            operations.run("restore_backup", {"backup": "1999-01-01"})

    def test_a_damaged_file_is_moved_aside_for_its_backup(self, operations: Operations, repository: Path) -> None:
        kept = _stored(operations)
        client = local_client()
        file = memories_file(repository)
        for suffix in ("-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        file.write_bytes(b"rubbish" * 1000)
        try:
            client.open(repository)
            mended = Operations(client)
            done = mended.run("restore_backup", {"scope": "project"})
            assert Path(done["moved_aside"]).read_bytes() == b"rubbish" * 1000
            assert _listed(mended) == [kept]
        finally:
            client.close()


class TestSeveralScopesAndProjects:
    def test_a_memory_imported_into_another_scope_is_one_of_its_own(
        self, operations: Operations, tmp_path: Path
    ) -> None:
        first, file = _stored(operations), str(tmp_path / "a.json")
        operations.run("export_memories", {"output": file})
        for inserted in (1, 0):
            assert operations.run("import_memories", {"input": file, "scope": "global"})["inserted"] == inserted
        (copy,) = _listed(operations, scope="global")
        assert copy != first
        operations.run("delete_memory", {"id": copy})
        assert _listed(operations) == [first]

    def test_an_id_in_full_is_never_the_beginning_of_another(self, operations: Operations, tmp_path: Path) -> None:
        records = [{"id": "decision-12", "content": "Twelve is the limit"}]
        (tmp_path / "a.json").write_text(json.dumps(records))
        (tmp_path / "b.json").write_text(json.dumps([{"id": "decision-1", "content": "One is the limit"}]))
        operations.run("import_memories", {"input": str(tmp_path / "a.json")})
        operations.run("import_memories", {"input": str(tmp_path / "b.json"), "scope": "global"})
        assert operations.run("delete_memory", {"id": "decision-1"})["scope"] == "global"
        assert _listed(operations) == ["decision-12"]

    @pytest.mark.slow
    def test_a_memory_about_a_declaration_in_several_pieces_is_at_the_first_one(
        self, operations: Operations, client: Client, repository: Path
    ) -> None:
        steps = "".join(f"    step_{n} = compute(items, {n})\n" for n in range(150))
        write(repository, {"src/steps.py": f"def all_steps(items):\n{steps}    return step_1\n"})
        (view,) = client.projects()
        view.indexing.index_tree()
        assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
        memory = _stored(operations, source_file="src/steps.py", symbol="all_steps")
        ((row, about),) = find_in_document(view, "src/steps.py")
        assert (row.stored.chunk.start_line, [item.id for item in about]) == (1, [memory])

    def test_a_global_memory_stays_about_the_code_of_its_own_project(
        self, operations: Operations, tmp_path: Path, repository: Path
    ) -> None:
        memory = _stored(operations, scope="global", source_file="src/cart.py", symbol="total_price")
        anchor = operations.run("get_memory", {"id": memory})["anchor"]
        assert anchor["project"] == str(repository)
        other = write(tmp_path / "other", {"src/cart.py": "def total_price():\n    return 0\n"})
        client = local_client()
        try:
            view = client.open(other)
            view.indexing.index_tree()
            assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
            assert find_in_document(view, "src/cart.py") == []
            elsewhere = Operations(client)
            elsewhere.run("update_memory", {"id": memory, "metadata": {"tags": ["cli"]}})
            assert elsewhere.run("get_memory", {"id": memory})["anchor"] == anchor
        finally:
            client.close()
        assert operations.run("get_memory", {"id": memory})["anchor"] == anchor

    def test_a_summary_tells_nothing_of_the_session_or_of_a_branch(self, operations: Operations) -> None:
        kept = _stored(operations)
        _stored(operations, "Private to this session alone", "session")
        _stored(operations, "Only on this branch of work", branch=True)
        done = operations.run("summarize_memories", {"time_range": {"start": "2020-01-01"}})
        assert done["source_memory_ids"] == [kept]

    def test_a_search_obeys_the_filters_of_anchors(self, operations: Operations) -> None:
        memory = _stored(operations, source_file="src/cart.py", symbol="total_price")
        for filters, found in (({"anchor": "fresh"}, [memory]), ({"anchor": "orphaned"}, []), ({"path": "a.py"}, [])):
            answer = operations.run("search_memory", {"query": "are cart prices net of tax", "filters": filters})
            assert [hit["id"] for hit in answer["results"]] == found


def test_figures_upkeep_and_files(operations: Operations, tmp_path: Path) -> None:
    _stored(operations, tags=["money"])
    figures = operations.run("stats", {"scope": "project"})["scopes"]["project"]
    assert (figures["memories"], figures["types"], figures["tags"]) == (1, {"semantic": 1}, {"money": 1})
    assert operations.run("optimize")["optimized"] == ["project", "global", "index"]
    assert set(operations.run("vacuum")["bytes"]) == {"project", "global", "index"}
    for name in ("a.json", "b.jsonl", "c.md"):
        file = tmp_path / name
        assert operations.run("export_memories", {"output": str(file), "embeddings": name == "a.json"})["exported"] == 1
        assert operations.run("import_memories", {"input": str(file), "scope": "global"})["inserted"] == (
            name == "a.json"
        )
    assert json.loads((tmp_path / "a.json").read_text())["memories"][0]["embeddings"]
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\n- Never log tokens.\n- Use tabs in Makefiles.\n")
    taken = operations.run("import_memories", {"input": str(tmp_path / "CLAUDE.md"), "source": "claude"})
    assert taken["inserted"] >= 1
    with pytest.raises(InvalidRequest, match="cannot be written"):
        operations.run("export_memories", {"output": str(tmp_path / "no/such/folder/a.json")})
    with pytest.raises(InvalidRequest, match=r"nothing\.json cannot be read: No such file or directory$"):
        operations.run("import_memories", {"input": str(tmp_path / "nothing.json")})


def test_an_undone_consolidation_brings_all_back(operations: Operations) -> None:
    one = _stored(operations)
    two = _stored(operations, "The cart's prices are net of tax, and the invoice adds it")
    _stored(operations, "Nothing like the others", "global")
    (proposal,) = operations.run("consolidate_memories", {"threshold": 0.8})["proposals"]
    chosen = [memory["id"] for memory in proposal["memories"]]
    assert set(chosen) == {one, two}
    done = operations.run("consolidate_memories", {"ids": chosen})
    assert (len(_listed(operations, scope="project")), list(done["undo"])) == (1, ["project"])
    back = operations.run("consolidate_memories", {"undo": True})
    assert [item["id"] for item in back["restored"]] == [one]
    assert set(_listed(operations, scope="project")) == {one, two}
    with pytest.raises(NotFound, match="no consolidation"):
        operations.run("consolidate_memories", {"undo": True})


def test_the_last_change_of_many_memories_is_the_one_that_undo_takes_back(operations: Operations) -> None:
    ids = [_stored(operations), _stored(operations, "The cart's prices are net of tax, and the invoice adds it")]
    nothing = {"id": "", "kind": "", "at": "", "memories": 0}
    assert operations.run("last_change") == nothing
    done = operations.run("consolidate_memories", {"ids": ids})
    found = operations.run("last_change")
    assert (found["id"], found["kind"], found["memories"]) == (done["undo"]["project"], "consolidated", 2)
    undone = operations.run("undo", {"id": found["id"]})
    assert (undone["kind"], undone["at"]) == (found["kind"], found["at"])
    assert operations.run("last_change") == nothing


def _listed(operations: Operations, **arguments: object) -> list[str]:
    return [item["id"] for item in operations.run("list_memories", arguments)["memories"]]


def _recalled(operations: Operations) -> list[str]:
    return [hit["id"] for hit in operations.run("search_memory", {"query": "are cart prices net of tax"})["results"]]


@pytest.fixture
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A user whose day begins eleven hours before that of UTC."""
    monkeypatch.setenv("TZ", "Pacific/Noumea")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_east")
def test_days_are_those_of_the_user_s_time_zone() -> None:
    assert read_times(TimeRange("2026-03-02", "2026-03-02")) == (
        "2026-03-01T13:00:00.000Z",
        "2026-03-02T12:59:59.999Z",
    )
    assert read_times(TimeRange("2026-03-02T08:00", "2026-03-02T08:00Z")) == (
        "2026-03-01T21:00:00.000Z",
        "2026-03-02T08:00:00.000Z",
    )


def test_a_memory_that_was_not_compared_with_others_says_so(tmp_path: Path) -> None:
    memories = memories_in(tmp_path)
    notes = [make_stored_answer(memories.store(new(_NET), None)).note for _ in range(2)]
    assert ["not compared with what is known" in note for note in notes] == [True, False]


class TestPlaces:
    def test_a_file_that_does_not_exist_yet_is_taken_and_said(self, operations: Operations, repository: Path) -> None:
        for number, path in enumerate(("src/crt.py", "lib/new/crt.py", "crt.py")):
            asked = {"content": f"Prices are net, part {number}", "scope": "project", "source_file": path, "line": 3}
            stored = operations.run("store_memory", asked)
            assert f"{path} does not exist yet: the nearest is src/cart.py" in stored["note"]
            assert operations.run("get_memory", {"id": stored["id"]})["anchor"]["state"] == "orphaned"
        write(repository, {"crt.py": "x = 1\n"})
        memory = operations.run("get_memory", {"id": stored["id"]})
        assert (memory["anchor"]["path"], memory["anchor"]["state"]) == ("crt.py", "fresh")

    def test_a_symbol_that_does_not_exist_is_refused_with_the_nearest_one(self, operations: Operations) -> None:
        with pytest.raises(InvalidRequest, match=r"declares no 'total_prize'; the nearest is total_price"):
            _stored(operations, source_file="src/cart.py", symbol="total_prize")
        assert operations.run("list_memories", {})["total"] == 0

    def test_a_file_s_name_is_completed_where_only_one_file_has_it(
        self, operations: Operations, repository: Path
    ) -> None:
        memory = operations.run("get_memory", {"id": _stored(operations, "For the cart", source_file="cart.py")})
        assert (memory["anchor"]["path"], memory["metadata"]["source_file"]) == ("src/cart.py", "src/cart.py")
        write(repository, {"lib/cart.py": "x = 1\n"})
        operations.run("reindex", {})
        assert until(lambda: operations.run("list_symbols", {"path": "lib/cart.py"}).get("total") is not None)
        with pytest.raises(InvalidRequest, match=r"2 files are called cart\.py: lib/cart\.py, src/cart\.py"):
            _stored(operations, source_file="cart.py")

    def test_a_file_that_is_not_indexed_may_be_remembered_as_a_whole(
        self, operations: Operations, repository: Path
    ) -> None:
        write(repository, {"logo.png": b"\x89PNG\0"})
        memory = operations.run("get_memory", {"id": _stored(operations, source_file="logo.png")})
        assert memory["anchor"]["path"] == "logo.png"


def test_a_symbol_s_name_is_answered_with_what_is_anchored_to_it_and_its_members_first(operations: Operations) -> None:
    _stored(operations, "Session of the parliament is a session about a session, not a login session")
    member = _stored(
        operations, "Tokens come from the identity provider", source_file="src/auth.py", symbol="Session.refresh"
    )
    itself = _stored(operations, "One is made per login", source_file="src/auth.py", symbol="Session")
    found = operations.run("search_memory", {"query": "Session"})["results"]
    assert [hit["id"] for hit in found][:2] == [itself, member]
    assert [hit["matched_by"] for hit in found][:2] == [["anchor"], ["anchor"]]
    for name in ("Session.refresh", "Session::refresh()", "auth.Session.refresh"):
        found = operations.run("search_memory", {"query": name})["results"]
        assert found[0]["id"] == member
    assert operations.run("search_memory", {"query": "Session", "scope": "global"})["results"] == []


class TestPlacesThatAreMeant:
    @pytest.mark.slow
    def test_a_symbol_alone_is_enough_if_one_file_declares_it(self, operations: Operations, repository: Path) -> None:
        memory = operations.run("get_memory", {"id": _stored(operations, symbol="total_price")})
        assert (memory["anchor"]["path"], memory["anchor"]["symbol"]) == ("src/cart.py", "total_price")
        with pytest.raises(NotFound, match="no symbol 'total_prise' is in the index; the nearest is total_price;"):
            _stored(operations, "Cart prices are gross", symbol="total_prise")
        with pytest.raises(InvalidRequest, match="line = 5 says nothing without source_file"):
            _stored(operations, "Cart prices are gross", line=5)
        write(repository, {"src/other.py": "def total_price():\n    return 0\n"})
        assert until(lambda: operations.run("list_symbols", {"query": "total_price"})["total"] == 2)
        with pytest.raises(
            InvalidRequest, match=r"2 files declare total_price: .*src/other\.py; give one as source_file"
        ):
            _stored(operations, "Cart prices are gross", symbol="total_price")

    @pytest.mark.slow
    def test_a_memory_about_a_file_follows_it(self, operations: Operations, repository: Path) -> None:
        memory = _stored(operations, source_file="src/cart.py")
        (repository / "src/cart.py").rename(repository / "src/basket.py")

        def anchor() -> tuple[str, str]:
            found = operations.run("get_memory", {"id": memory})["anchor"]
            return found["path"], found["state"]

        assert until(lambda: anchor() == ("src/basket.py", "fresh"))
        (repository / "src/basket.py").unlink()
        assert until(lambda: anchor()[1] == "orphaned")

    @pytest.mark.slow
    def test_a_name_that_several_declarations_share_is_refused_with_them(
        self, operations: Operations, repository: Path
    ) -> None:
        write(repository, {"src/two.py": "class A:\n    def new(self): ...\n\n\nclass B:\n    def new(self): ...\n"})
        assert until(lambda: operations.run("list_symbols", {"query": "new"})["total"] == 2)
        with pytest.raises(InvalidRequest, match=r"src/two\.py declares several 'new': give one of A\.new, B\.new"):
            _stored(operations, source_file="src/two.py", symbol="new")
        assert _stored(operations, source_file="src/two.py", symbol="B.new")

    def test_tags_may_be_one_string(self, operations: Operations) -> None:
        memory = operations.run("get_memory", {"id": _stored(operations, tags="tax, money")})
        assert memory["metadata"]["tags"] == ["tax", "money"]

    @pytest.mark.parametrize(("name", "content"), [("latin.py", "# é\n".encode("latin-1")), ("blob.bin", b"\0" * 64)])
    def test_a_file_that_is_not_for_the_index_is_there_as_a_whole(
        self, operations: Operations, repository: Path, name: str, content: bytes
    ) -> None:
        write(repository, {name: content})
        memory = _stored(operations, source_file=name, line=1)
        assert operations.run("get_memory", {"id": memory})["anchor"]["state"] == "fresh"
        (repository / name).unlink()
        assert operations.run("get_memory", {"id": memory})["anchor"]["state"] == "orphaned"


class TestWhatChangedWhileNoEngineRan:
    @pytest.fixture
    def memory(self, repository: Path) -> str:
        """A memory about a function, stored by an engine that ended."""
        client = local_client()
        try:
            view = client.open(repository)
            view.indexing.index_tree()
            assert view.indexing.wait_until_idle(PATIENCE_S)
            return _stored(
                Operations(client, wait_for_model_s=PATIENCE_S), source_file="src/cart.py", symbol="total_price"
            )
        finally:
            client.close()

    def _anchor(self, client: Client, repository: Path, memory: str) -> tuple[str, str]:
        """The memory's anchor as the first operation of a new engine tells it, which indexes nothing in the background."""
        client.open(repository)
        (listed,) = Operations(client, wait_for_model_s=0.0).run("list_memories", {})["memories"]
        assert listed["id"] == memory
        return listed["anchor"]["path"], listed["anchor"]["state"]

    def test_a_changed_declaration_has_drifted(self, client: Client, repository: Path, memory: str) -> None:
        text = (repository / "src/cart.py").read_text()
        write(repository, {"src/cart.py": text.replace("sum(items)", "fsum(items)")})
        assert self._anchor(client, repository, memory) == ("src/cart.py", "drifted")

    def test_a_deleted_file_s_memory_is_orphaned(self, client: Client, repository: Path, memory: str) -> None:
        (repository / "src/cart.py").unlink()
        assert self._anchor(client, repository, memory) == ("src/cart.py", "orphaned")

    def test_a_moved_file_is_followed(self, client: Client, repository: Path, memory: str) -> None:
        (repository / "src/cart.py").rename(repository / "src/basket.py")
        assert self._anchor(client, repository, memory) == ("src/basket.py", "fresh")

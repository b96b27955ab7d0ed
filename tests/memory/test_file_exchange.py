"""Memories that travel as files: one checkout, other commits, two clones and their merges, with real git."""

from __future__ import annotations

import subprocess
import tempfile
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.memory.batches import undo
from rag_ls.memory.file_exchange import EVERYTHING, Exchanged, FileExchange
from rag_ls.memory.markdown_memory import parse_file
from rag_ls.model import Anchor, MemoryMetadata, Scope
from rag_ls.storage import MemoryStore
from tests.memory.support import Clock, record
from tests.secret_fakes import TOKENS
from tests.support import git, write


class User:
    """A clone, the memories of whoever works in it, and their exchange."""

    def __init__(self, root: Path, state: Path, store: MemoryStore | None = None) -> None:
        self.root = root
        state.mkdir(parents=True, exist_ok=True)
        self.store = store or MemoryStore(state / "memories.db", Scope.PROJECT)
        self.files = FileExchange(
            root, "docs/memory", state / "files.json", lambda place: Anchor(place) if place else None
        )
        self._clock = Clock()

    def exchange(self, *changed: str) -> Exchanged:
        self._clock()
        done = self.files.exchange(self.store, self._clock.now.isoformat(), changed)
        assert done is not None
        return done

    def remember(self, content: str) -> str:
        memory = record(content=content, id=_id(content))
        self.store.insert(memory)
        self.exchange(memory.id)
        return memory.id

    def change(self, memory_id: str, content: str) -> None:
        present = self.store.get(memory_id)
        assert present is not None
        self.store.replace(record(content=content, id=memory_id, version=present.version + 1))
        self.exchange(memory_id)

    def contents(self) -> list[str]:
        return sorted(memory.content for memory in self.store.all())

    def paths(self) -> list[Path]:
        return sorted(self.files.folder.glob("*.md"))

    def commit(self, message: str = "more") -> None:
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--allow-empty", "--message", message)
        self.exchange()

    def meet(self) -> None:
        """Commit, take in what others pushed (of a conflict, this side), and push."""
        self.commit()
        subprocess.run(["git", "-C", str(self.root), "fetch", "--quiet"], check=True)
        branch = git(self.root, "branch", "--show-current").strip()
        if git(self.root, "branch", "--remotes", "--list", f"origin/{branch}"):
            merge = ("merge", "--quiet", "--no-edit", "--allow-unrelated-histories", "-X", "ours", f"origin/{branch}")
            try:
                git(self.root, *merge)
            except subprocess.CalledProcessError:
                # One side deleted what the other changed: keep what is there.
                self.commit("merged")
        self.exchange()
        git(self.root, "push", "--quiet", "origin", branch)


def _id(content: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, content))


@pytest.fixture
def user(tmp_path: Path) -> User:
    return _clone(tmp_path, "ada")


def _clone(folder: Path, name: str) -> User:
    remote = folder / "remote.git"
    if not remote.exists():
        subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(remote)], check=True)
    subprocess.run(["git", "clone", "--quiet", str(remote), str(folder / name)], check=True, capture_output=True)
    return User(folder / name, folder / f"{name}-state")


def test_a_memory_becomes_a_file_and_what_is_edited_there_is_remembered(user: User) -> None:
    memory_id = user.remember("Prices are net of tax.")
    (path,) = user.paths()
    path.write_text(path.read_text().replace("net", "gross").replace("---\n\n", "owner: ada\n---\n\n"))
    assert user.exchange().taken == 1
    assert user.contents() == ["Prices are gross of tax."]
    assert [each.memory.content for each in user.store.history(memory_id)] == ["Prices are net of tax."]
    user.change(memory_id, "Prices are gross, always.")
    assert "owner: ada\n" in path.read_text()
    assert "Prices are gross, always." in path.read_text()
    assert user.exchange() == Exchanged()


def test_all_memories_are_written_when_the_folder_is_new(user: User) -> None:
    for content in ("One thing", "Another thing"):
        user.store.insert(record(content=content, id=_id(content)))
    assert user.exchange().written == 2
    assert len(user.paths()) == 2


def test_a_file_without_an_id_gets_one_that_is_the_same_in_each_clone(tmp_path: Path) -> None:
    ids = []
    for name in ("ada", "bob"):
        one = User(tmp_path / name, tmp_path / f"{name}-state")
        write(
            one.root,
            {"docs/memory/retries.md": "Retries stop after three.\r\n", "docs/memory/README.md": "What this is"},
        )
        assert one.exchange().taken == 1
        ids += [memory.id for memory in one.store.all()]
        assert f"id: {ids[0]}\r\n" in (one.root / "docs/memory/retries.md").read_bytes().decode()
    assert ids[0] == ids[1]


def test_a_deleted_file_is_a_deleted_memory_that_an_undo_brings_back(user: User) -> None:
    memory_id = user.remember("Prices are net of tax.")
    user.paths()[0].unlink()
    assert user.exchange().deleted == 1
    assert user.contents() == []
    undo(user.store, "", "2026-01-02T00:00:00Z")
    user.exchange(memory_id)
    assert user.contents() == ["Prices are net of tax."]
    assert len(user.paths()) == 1


def test_a_deleted_memory_takes_its_file_along(user: User) -> None:
    memory_id = user.remember("Prices are net of tax.")
    user.store.delete(memory_id)
    user.exchange(memory_id)
    assert user.paths() == []


def test_a_renamed_file_stays_the_file_of_its_memory(user: User) -> None:
    memory_id = user.remember("Prices are net of tax.")
    user.paths()[0].rename(user.files.folder / "tax.md")
    assert user.exchange() == Exchanged()
    user.change(memory_id, "Prices are gross.")
    assert [path.name for path in user.paths()] == ["tax.md"]


def test_what_is_changed_on_both_sides_at_once_is_kept_twice_and_told(user: User) -> None:
    memory_id = user.remember("Prices are net of tax.")
    path = user.paths()[0]
    path.write_text(path.read_text().replace("net", "gross"))
    user.store.replace(record(content="Prices are secret.", id=memory_id, version=2))
    done = user.exchange(memory_id)
    assert user.contents() == ["Prices are gross of tax.", "Prices are secret."]
    assert "both texts are kept" in done.problems[0]
    assert len(user.paths()) == 2


def test_a_second_file_with_the_same_id_is_told_and_changes_nothing(user: User) -> None:
    user.remember("Prices are net of tax.")
    copy = user.files.folder / "a-copy.md"
    copy.write_text(user.paths()[0].read_text().replace("net", "gross"))
    assert "has the id of prices-are-net" in user.exchange().problems[0]
    assert user.contents() == ["Prices are net of tax."]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", "both sides of a merge"),
        (TOKENS["GitHub token"][0], "looks like a secret"),
    ],
)
def test_a_file_that_cannot_be_taken_in_is_told_and_its_memory_stays(user: User, text: str, reason: str) -> None:
    user.remember("Prices are net of tax.")
    path = user.paths()[0]
    written = path.read_text().replace("Prices are net of tax.", text)
    path.write_text(written)
    assert reason in user.exchange(EVERYTHING).problems[0]
    assert user.contents() == ["Prices are net of tax."]
    assert path.read_text() == written


def test_links_and_large_files_are_not_read(user: User, tmp_path: Path) -> None:
    write(tmp_path, {"outside.md": "What is outside"})
    write(user.root, {"docs/memory/large.md": "x" * 1_000_000})
    (user.files.folder / "link.md").symlink_to(tmp_path / "outside.md")
    done = user.exchange()
    assert user.contents() == []
    assert len(done.problems) == 2


def test_a_switch_to_other_commits_deletes_nothing_and_brings_no_former_text(user: User) -> None:
    user.commit("empty")
    git(user.root, "branch", "before")
    memory_id = user.remember("Prices are net of tax.")
    user.commit("net")
    git(user.root, "branch", "net")
    user.change(memory_id, "Prices are gross.")
    user.commit("gross")
    for branch in ("before", "net", "main", "before", "main"):
        git(user.root, "switch", "--quiet", branch)
        assert user.exchange() == Exchanged(), branch
        assert user.contents() == ["Prices are gross."]
    assert git(user.root, "status", "--porcelain") == ""


def test_a_switch_while_nothing_ran_deletes_nothing(user: User) -> None:
    user.commit("empty")
    git(user.root, "branch", "other")
    user.remember("Prices are net of tax.")
    git(user.root, "add", "--all")
    git(user.root, "commit", "--quiet", "--message", "net")
    git(user.root, "switch", "--quiet", "other")
    git(user.root, "commit", "--quiet", "--allow-empty", "--message", "more")
    assert user.exchange().deleted == 0
    assert user.contents() == ["Prices are net of tax."]


def test_nothing_is_done_while_git_is_at_work(user: User) -> None:
    user.remember("Prices are net of tax.")
    (user.root / ".git/index.lock").touch()
    user.paths()[0].unlink()
    assert user.files.exchange(user.store, "2026-01-01T00:00:00Z") is None
    assert user.contents() == ["Prices are net of tax."]


def test_a_folder_that_is_gone_or_a_lost_state_deletes_nothing(user: User) -> None:
    user.remember("Prices are net of tax.")
    kept = user.paths()[0].read_text()
    user.paths()[0].unlink()
    user.files.folder.rmdir()
    assert user.exchange().deleted == 0
    user.root.joinpath("docs/memory").mkdir()
    write(user.root, {"docs/memory/again.md": kept})
    for rubbish in ("{", "[]", '{"folder": 1}', ""):
        user.files._state_file.write_text(rubbish)
        assert user.exchange() == Exchanged()
    assert user.contents() == ["Prices are net of tax."]


def test_a_work_tree_of_older_commits_changes_nothing_for_the_others(user: User, tmp_path: Path) -> None:
    memory_id = user.remember("Prices are net of tax.")
    user.commit("net")
    git(user.root, "tag", "v1")
    user.change(memory_id, "Prices are gross.")
    gone = user.remember("Gone soon, and not to come back.")
    user.commit("gross")
    user.store.delete(gone)
    user.exchange(gone)
    git(user.root, "worktree", "add", "--quiet", str(tmp_path / "old"), "v1")
    old = User(tmp_path / "old", tmp_path / "old-state", user.store)
    assert old.exchange() == Exchanged()
    assert user.contents() == ["Prices are gross."]
    # What is changed there goes to the files there alone.
    old.change(memory_id, "Prices are what they are.")
    assert "what they are" in old.paths()[0].read_text()
    assert user.exchange() == Exchanged()
    assert "gross" in user.paths()[0].read_text()


def test_a_pull_brings_what_another_one_remembered_changed_and_deleted(tmp_path: Path) -> None:
    ada = _clone(tmp_path, "ada")
    kept, gone = ada.remember("Prices are net of tax."), ada.remember("Ships on Mondays.")
    ada.meet()
    bob = _clone(tmp_path, "bob")
    assert bob.exchange().taken == 2
    assert bob.contents() == ada.contents()
    ada.change(kept, "Prices are gross.")
    ada.store.delete(gone)
    ada.exchange(gone)
    ada.meet()
    bob.meet()
    assert bob.contents() == ["Prices are gross."]
    assert [memory.id for memory in bob.store.all()] == [kept]


_STEPS = st.lists(
    st.tuples(
        st.sampled_from((0, 1)),
        st.sampled_from(("remember", "change", "forget", "write", "edit", "remove", "meet", "switch")),
        st.integers(0, 5),
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None)
@given(_STEPS)
@pytest.mark.slow
def test_no_history_of_edits_on_both_sides_loses_a_text(steps: list[tuple[int, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        users = [_clone(Path(folder), "ada"), _clone(Path(folder), "bob")]
        users[0].meet()
        users[1].meet()
        written: list[set[str]] = [set(), set()]
        for number, (who, what, which) in enumerate(steps):
            _do(users[who], what, which, f"Fact {number} of {who}", written[who])
        for one in (*users, *users, *users):
            git(one.root, "switch", "--quiet", "main")
            one.exchange()
            one.meet()
        for one, said in zip(users, written, strict=True):
            files = [parse_file(path.read_bytes()) for path in one.paths()]
            present = one.store.by_ids([file.id for file in files])
            for file in files:
                # Where another branch has a newer text, this one is a former text.
                former = (
                    [each.memory.content for each in one.store.history(file.id)]
                    if "switch" in {what for _, what, _ in steps}
                    else []
                )
                assert file.content in (present[file.id].content, *former)
            known = {memory.content for memory in one.store.all()}
            known |= {version.memory.content for version in one.store.deleted(-1)[0]}
            known |= {each.memory.content for memory in one.store.all() for each in one.store.history(memory.id)}
            known |= {
                each.memory.content for gone in one.store.deleted(-1)[0] for each in one.store.history(gone.memory.id)
            }
            assert said <= known
            assert not one.exchange().problems
        assert [path.name for path in users[0].paths()] == [path.name for path in users[1].paths()]


def _do(user: User, what: str, which: int, text: str, written: set[str]) -> None:
    memories, paths = sorted(user.store.all(), key=lambda memory: memory.id), user.paths()
    if what in ("remember", "write") or (what == "change" and memories) or (what == "edit" and paths):
        written.add(text)
    if what == "remember":
        user.remember(text)
    elif what == "write":
        write(user.root, {f"docs/memory/{text.lower().replace(' ', '-')}.md": text})
    elif what == "change" and memories:
        user.change(memories[which % len(memories)].id, text)
    elif what == "forget" and memories:
        memory = memories[which % len(memories)]
        user.store.delete(memory.id)
        user.exchange(memory.id)
    elif what == "edit" and paths:
        head = paths[which % len(paths)].read_text().rpartition("---\n")[0]
        paths[which % len(paths)].write_text(f"{head}---\n\n{text}\n" if head else text)
    elif what == "remove" and paths:
        paths[which % len(paths)].unlink()
    elif what == "switch":
        user.commit()
        git(
            user.root,
            "switch",
            "--quiet",
            *(("main",) if "other" in git(user.root, "branch", "--show-current") else ("-C", "other")),
        )
    elif what == "meet":
        git(user.root, "commit", "--quiet", "--allow-empty", "--message", "point")
        user.meet()
    user.exchange()


def test_a_switch_right_after_a_commit_deletes_nothing_and_brings_no_former_text(user: User) -> None:
    memory_id = user.remember("Prices are net of tax.")
    user.commit("net")
    git(user.root, "switch", "--quiet", "-c", "other")
    added = user.remember("Ships on Mondays.")
    user.change(memory_id, "Prices are gross.")
    # Nothing is exchanged between the two, so HEAD is back where it was.
    git(user.root, "add", "--all")
    git(user.root, "commit", "--quiet", "--message", "more")
    git(user.root, "switch", "--quiet", "main")
    assert user.exchange() == Exchanged()
    assert user.contents() == ["Prices are gross.", "Ships on Mondays."]
    git(user.root, "switch", "--quiet", "other")
    user.paths()[[path.read_text().count(added) for path in user.paths()].index(1)].unlink()
    user.exchange()
    assert user.exchange().deleted == 0


def test_a_memory_that_becomes_private_has_no_file_and_an_old_file_does_not_change_it(user: User) -> None:
    memory_id = user.remember("Payroll is exported on Fridays.")
    user.commit()
    former = user.paths()[0]
    kept = former.read_text()
    user.store.replace(
        record(content="Payroll: ask Bob.", id=memory_id, version=2, metadata=MemoryMetadata(tags=("private",)))
    )
    user.exchange(memory_id)
    assert user.paths() == []
    former.write_text(kept.replace("Fridays", "Mondays"))
    assert "a former text of a private memory" in user.exchange().problems[0]
    assert user.contents() == ["Payroll: ask Bob."]


def test_files_that_cannot_be_taken_in_are_counted_and_delete_nothing(user: User) -> None:
    user.remember("Prices are net of tax.")
    user.paths()[0].rename(user.files.folder / "net of tax.md")
    user.exchange()
    (user.files.folder / "net of tax.md").write_bytes(b"\xff\xff")
    for number in range(7):
        write(user.root, {f"docs/memory/{number}.md": "---\nid: [broken\n---\nA text"})
    done = user.exchange()
    assert len(done.problems) == 6
    assert done.problems[-1] == "and 3 more files"
    assert user.contents() == ["Prices are net of tax."]

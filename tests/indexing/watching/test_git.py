"""What git does to the files of a watched project is caught up in batches, and nothing is embedded twice."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.requests import SearchRequest
from rag_ls.indexing import Buffer, Phase, Progress
from rag_ls.model import Freshness
from tests.conftest import IndexedProjects
from tests.indexing.watching.synced import contents, found, in_step, settled, watched
from tests.support import embedding_count, git, git_repository, until, write

pytestmark = pytest.mark.slow

_FILES = 120
# So many take longer to read than a question takes.
_MANY_FILES = 300


@pytest.fixture(autouse=True)
def no_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found was noticed."""
    monkeypatch.setenv("RAG_LS_INDEX_SWEEP_MINUTES", "0")


def _source(name: str, number: int) -> str:
    return (
        f"def {name}_{number}(value):\n    return value + {number}\n\n\ndef shared_{number}():\n    return {number}\n"
    )


@pytest.fixture
def branches(indexed_projects: IndexedProjects, tmp_path: Path) -> Path:
    """A repository on `main`, indexed, whose branch `other` has changed, added and removed files."""
    return indexed_projects.copy_made("branches", lambda folder: _branches(folder, _FILES), tmp_path / "branches")


def _branches(folder: Path, files: int) -> Path:
    root = git_repository(folder, {f"src/p{n % 10}/f{n}.py": _source("main", n) for n in range(files)})
    git(root, "branch", "--move", "main")
    git(root, "checkout", "--quiet", "-b", "other")
    write(root, {f"src/p{n % 10}/f{n}.py": _source("other", n) for n in range(0, files, 2)})
    write(root, {f"added/q{n % 3}/g{n}.py": _source("added", n) for n in range(30)})
    shutil.rmtree(root / "src/p9")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "other")
    git(root, "checkout", "--quiet", "main")
    return root


def _commit(root: Path, message: str, files: dict[str, str]) -> None:
    write(root, files)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


def test_another_branch_is_caught_up_and_nothing_is_embedded_twice(
    client: Client, branches: Path, tmp_path: Path
) -> None:
    view = watched(client, branches)
    git(branches, "checkout", "--quiet", "other")
    assert in_step(view, tmp_path)
    settled(view)
    on_other = contents(view.store)
    embedded = embedding_count(view)
    for _ in range(2):
        git(branches, "checkout", "--quiet", "main")
        assert until(lambda: view.status().complete and len(view.store.documents()) == _FILES)
        git(branches, "checkout", "--quiet", "other")
        assert until(lambda: view.status().complete and contents(view.store) == on_other)
    assert embedding_count(view) == embedded


def test_a_switch_is_one_batch_and_typed_text_goes_before_it(client: Client, branches: Path) -> None:
    view = watched(client, branches)
    steps: list[Progress] = []
    view.indexing.listen(steps.append)
    git(branches, "checkout", "--quiet", "other")
    view.buffer_changed(Buffer("src/p0/f0.py", "def zebra():\n    return 1\n"))
    assert until(lambda: found(view, "zebra") == ["src/p0/f0.py"])
    settled(view)
    reading = [step.total for step in steps if step.phase is Phase.READING and step.done == 0]
    assert max(reading) > _FILES / 3


def test_answers_meanwhile_are_not_marked_as_complete_and_fresh(client: Client, tmp_path: Path) -> None:
    branches = _branches(tmp_path / "branches", _MANY_FILES)
    view = watched(client, branches)
    git(branches, "checkout", "--quiet", "other")
    answers = 0
    while True:
        answer = view.search(SearchRequest("shared_10 shared_12 main_10 main_14"))
        for hit in answer.hits:
            file = branches / hit.item.chunk.path
            if hit.freshness is Freshness.DISK and file.exists():
                assert hit.item.chunk.text in file.read_text()
        answers += 1
        if answer.stats.complete:
            break
    assert answers > 1
    hits = view.search(SearchRequest("main_10 other_10")).hits
    assert [hit.item.chunk.symbol for hit in hits if hit.item.chunk.path == "src/p0/f10.py"] == ["other_10"]


def test_stash_merge_rebase_and_reset_are_followed(client: Client, branches: Path, tmp_path: Path) -> None:
    view = watched(client, branches)
    write(branches, {"src/p1/f1.py": "def zebra():\n    return 1\n"})
    assert found(view, "zebra") == ["src/p1/f1.py"]
    git(branches, "stash")
    assert until(lambda: found(view, "zebra") == [])
    git(branches, "stash", "pop")
    assert until(lambda: found(view, "zebra") == ["src/p1/f1.py"])
    git(branches, "checkout", "--quiet", "--", "src/p1/f1.py")
    for number in range(5):
        _commit(branches, f"main {number}", {f"main/m{number}.py": _source("step", number)})
    git(branches, "merge", "--quiet", "--no-edit", "other")
    assert in_step(view, tmp_path)
    git(branches, "reset", "--quiet", "--hard", "HEAD^")
    git(branches, "rebase", "--quiet", "other")
    assert in_step(view, tmp_path)


def test_a_worktree_is_followed(client: Client, branches: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(branches, "worktree", "add", "--quiet", str(tree), "other")
    view = watched(client, tree)
    git(tree, "checkout", "--quiet", "--detach", "main")
    assert in_step(view, tmp_path)
    assert view.status().documents == _FILES


class Walk:
    """Random steps of programs, and of git where there is git, in a watched tree."""

    def __init__(self, root: Path, seed: int, *, with_git: bool) -> None:
        self.root = root
        self.with_git = with_git
        self.random = random.Random(seed)
        self.count = 0

    def step(self) -> None:
        steps = [self.write] * 6 + [self.delete, self.rename, self.rename_folder, self.remove_folder, self.replace]
        if self.with_git:
            steps += [self.checkout, self.commit, self.stash, self.rules, self.merge]
        else:
            # Nothing makes the tree be compared here: all that is in step was noticed.
            steps += [self.burst]
        self.random.choice(steps)()

    def write(self) -> None:
        self.count += 1
        write(self.root, {self.a_path(): _source("walk", self.count)})

    def burst(self) -> None:
        for _ in range(60):
            self.write()

    def replace(self) -> None:
        write(self.root, {"tmp~": _source("saved", self.count)})
        target = self.root / self.a_path()
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.root / "tmp~").replace(target)

    def delete(self) -> None:
        if files := self.files():
            self.random.choice(files).unlink()

    def rename(self) -> None:
        if files := self.files():
            target = self.root / self.a_path()
            target.parent.mkdir(parents=True, exist_ok=True)
            self.random.choice(files).replace(target)

    def rename_folder(self) -> None:
        if folders := self.folders():
            target = self.root / self.a_folder()
            source = self.random.choice(folders)
            if not target.exists() and source not in target.parents:
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)

    def remove_folder(self) -> None:
        if folders := self.folders():
            shutil.rmtree(self.random.choice(folders))

    def rules(self) -> None:
        write(self.root, {".gitignore": self.random.choice(["", "d1/\n", "f2.py\n", "d2/*\n!d2/d1\n"])})

    def checkout(self) -> None:
        git(self.root, "checkout", "--quiet", "--force", self.random.choice(["main", "other"]))

    def commit(self) -> None:
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--allow-empty", "--message", "step")

    def stash(self) -> None:
        git(self.root, "stash", "--include-untracked")

    def merge(self) -> None:
        self.commit()
        if not self.conflicts():
            git(self.root, "merge", "--quiet", "--no-edit", "--strategy-option", "theirs", "main")

    def conflicts(self) -> bool:
        """Whether the branches differ in more than texts, which no strategy settles."""
        kinds = git(self.root, "diff", "--name-status", "--no-renames", "main")
        return any(line[0] != "M" for line in kinds.splitlines())

    def a_path(self) -> str:
        return f"{self.a_folder()}/f{self.random.randrange(4)}.py"

    def a_folder(self) -> str:
        return "/".join(f"d{self.random.randrange(3)}" for _ in range(self.random.randint(1, 3)))

    def files(self) -> list[Path]:
        return sorted(path for path in self.root.glob("d*/**/*.py") if path.is_file())

    def folders(self) -> list[Path]:
        return sorted(path for path in self.root.glob("d*/**/") if path.is_dir())


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
@pytest.mark.parametrize("with_git", [True, False])
def test_after_any_walk_the_index_is_in_step(client: Client, tmp_path: Path, seed: int, with_git: bool) -> None:
    root = write(tmp_path / "walk", {f"d0/f{n}.py": _source("first", n) for n in range(4)})
    if with_git:
        git_repository(root, {})
        git(root, "branch", "--move", "main")
        git(root, "branch", "other")
    view = watched(client, root)
    walk = Walk(root, seed, with_git=with_git)
    for _ in range(5):
        for _ in range(walk.random.randint(1, 12)):
            walk.step()
            if walk.random.random() < 0.2:
                found(view, f"walk_{walk.count}")
        assert in_step(view, tmp_path), seed
    assert contents(view.store)

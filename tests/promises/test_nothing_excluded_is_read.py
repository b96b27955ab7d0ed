"""Nothing that is excluded is read: one test for each row of the table in docs/security.md."""

from __future__ import annotations

import argparse
import ast
import codecs
import getpass
import hashlib
import os
import shutil
import struct
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_ls.cli.main import main
from rag_ls.config.loading import load_settings
from rag_ls.daemon.connecting import Mode
from rag_ls.engine.client import local_client
from rag_ls.engine.requests import SearchRequest
from rag_ls.errors import NotIndexed
from rag_ls.indexing import Depth
from rag_ls.indexing.files import Rejected, Source, read_source
from rag_ls.indexing.listing import Patterns, admitted, admitted_folders, list_files
from rag_ls.operations import ClientSession, Operations
from rag_ls.project import Project, check_may_become_project, current_commit, shared_name
from rag_ls.rules.checks.project import changed_files
from rag_ls.rules.diffs import read_changes
from rag_ls.search.view import Filters
from rag_ls.util.git import GitSilent, Silence, ask_git, why_git_is_silent
from rag_ls.util.paths import text_in
from tests.support import IS_ROOT, PATIENCE_S, embedding_count, git, git_repository, until, write

_OTHER_USER = 65534
_RAG_LS = Path(__file__).parents[2] / "rag_ls"

_STARTERS = ("which", "run", "Popen", "call", "check_call", "check_output", "system", "popen", "execvp", "spawn")

as_root = pytest.mark.skipif(not IS_ROOT, reason="only root can give files to another user")

# What git, and what the walk in its place, must leave of this repository.
_FILES = {
    ".gitignore": "build/\n*.tmp.py\n!keep.tmp.py\n",
    "sub/.gitignore": "local.py\n",
    "a.py": "", "keep.tmp.py": "", "sub/a.py": "",
    "x.tmp.py": "", "build/x.py": "", "sub/local.py": "", "private/x.py": "", "a.mine": "", "sub/deep/b.mine": "",
}  # fmt: skip
_LEFT = {".gitignore", "sub/.gitignore", "a.py", "keep.tmp.py", "sub/a.py"}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user whose git ignores files everywhere."""
    home = tmp_path / "home of the user"
    write(home, {".gitconfig": '[core]\n\texcludesFile = "~/my ignored"  # here\n', "my ignored": "*.mine\n"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def excluding(tmp_path: Path, user: Path) -> Path:
    """A repository that excludes files in each way that git knows."""
    root = git_repository(tmp_path / "project", {})
    write(root, {**_FILES, ".git/info/exclude": "/private/\n"})
    return root


def _own_to_another(root: Path) -> None:
    for place in (root, *root.rglob("*")):
        os.chown(place, _OTHER_USER, _OTHER_USER, follow_symlinks=False)


def _hide_git(root: Path) -> None:
    os.environ["PATH"] = str(root)


def _point_to_nowhere(root: Path) -> None:
    """As a work tree whose main checkout is not mounted: only its own files are there."""
    (root / ".git").rename(root.parent / "away")
    (root / ".git").write_text(f"gitdir: {root.parent}/nowhere/.git/worktrees/project\n")


def _break_settings(root: Path) -> None:
    with (root / ".git/config").open("a") as config:
        config.write("[broken\n")


def _lose_head(root: Path) -> None:
    (root / ".git/HEAD").unlink()


_SILENCES: dict[str, Callable[[Path], None]] = {
    "not installed": _hide_git,
    "dubious ownership": _own_to_another,
    "which is not there": _point_to_nowhere,
    "bad config": _break_settings,
    "HEAD, objects or refs are missing": _lose_head,
}


@pytest.mark.parametrize("reason", _SILENCES)
def test_where_git_is_silent_its_rules_are_obeyed_and_the_reason_is_told(
    excluding: Path, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(list_files(excluding)) == _LEFT
    assert admitted(excluding, list(_FILES)) == {path for path in _LEFT if "gitignore" not in path} | {
        ".gitignore", "sub/.gitignore",
    }  # fmt: skip
    if "ownership" in reason and not IS_ROOT:
        pytest.skip("only root can give files to another user")
    monkeypatch.setenv("PATH", os.environ["PATH"])
    _SILENCES[reason](excluding)
    if reason == "which is not there":
        # The repository's own `info/exclude` is where nobody can read it.
        shutil.rmtree(excluding / "private")
    told: list[str] = []
    assert set(list_files(excluding, tell=told.append)) - {".git"} == _LEFT
    assert len(told) == 1
    assert reason in told[0]
    assert "without git" in told[0]
    assert admitted(excluding, [path for path in _FILES if not path.startswith("private")]) == _LEFT
    assert admitted_folders(excluding, ["sub", "build", "sub/deep"]) == {"sub", "sub/deep"}


@as_root
def test_a_refusal_of_git_is_told_by_status_answers_and_doctor(
    excluding: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(excluding, {"a.py": "def apricot():\n    return 1\n"})
    assert _told(capsys, "doctor", "--project", str(excluding)).count("safe.directory") == 0
    _own_to_another(excluding)
    command = f"git config --global --add safe.directory {excluding}"
    assert command in _told(capsys, "index", "--words-only", "--standalone", str(excluding))
    assert command in _told(capsys, "status", "--standalone", "--project", str(excluding))
    assert command in _told(capsys, "search", "apricot", "--json", "--standalone", "--project", str(excluding))
    found = _told(capsys, "doctor", "--project", str(excluding))
    assert "FAIL  git" in found
    assert command in found
    git(excluding, "config", "--global", "--add", "safe.directory", str(excluding))
    assert "without git" not in _told(capsys, "status", "--standalone", "--project", str(excluding))


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints."""
    with pytest.raises(SystemExit):
        main(words)
    printed = capsys.readouterr()
    return printed.out + printed.err


def test_a_project_inside_a_repository_obeys_the_rules_above_it(
    tmp_path: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = git_repository(tmp_path / "top", {})
    write(top, {
        ".gitignore": "*.log.py\n/part/only.py\n/gone/\n", "part/.gitignore": "b.py\n",
        "part/a.py": "", "part/b.py": "", "part/only.py": "", "part/x.log.py": "", "part/in/x.mine": "", "gone/a.py": "",
    })  # fmt: skip
    for path in ("part", "gone"):
        expected = set(list_files(top / path))
        assert expected == ({".gitignore", "a.py"} if path == "part" else set())
        with monkeypatch.context() as patch:
            patch.setenv("PATH", "/nowhere")
            assert set(list_files(top / path)) == expected
            names = ["a.py", "b.py", "only.py", "x.log.py", "in/x.mine"]
            assert admitted(top / path, names) == {"a.py"} & expected


def test_a_repository_inside_a_plain_folder_keeps_its_own_excludes(tmp_path: Path, user: Path) -> None:
    root = tmp_path / "work"
    one = git_repository(root / "one", {".gitignore": "build/\n", "a.py": "", "lib/b.py": ""})
    write(one, {".git/info/exclude": "private/\n", "private/x.py": "", "build/x.py": "", "x.mine": ""})
    git_repository(one / "inner", {"c.py": ""})
    write(one / "inner", {".git/info/exclude": "d.py\n", "d.py": ""})
    write(root, {".gitignore": "lib/\n", "loose.py": "", "lib/x.py": ""})
    expected = {".gitignore", "loose.py", "one/.gitignore", "one/a.py", "one/inner/c.py"}
    assert set(list_files(root)) == expected
    files = [file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file()]
    assert admitted(root, [path for path in files if ".git/" not in path]) == expected


def test_a_repository_inside_a_repository_is_never_entered(excluding: Path) -> None:
    git_repository(excluding / "inner", {"a.py": "", "b.py": ""})
    write(excluding / "inner", {".git/info/exclude": "private.py\n", "private.py": ""})
    assert "inner" in set(list_files(excluding))
    assert not [path for path in list_files(excluding) if path.startswith("inner/")]
    # One path in it must not keep git from answering for the others.
    assert admitted(excluding, ["inner/private.py", "inner/a.py", "a.py", "private/x.py"]) == {"a.py"}


def test_a_bare_repository_in_the_tree_is_not_read(tmp_path: Path) -> None:
    for root in (git_repository(tmp_path / "known", {"a.py": ""}), write(tmp_path / "plain", {"a.py": ""})):
        git(root, "init", "--quiet", "--bare", "store.git")
        git(root / "store.git", "config", "remote.origin.url", "https://me:password@example.org/x")
        assert set(list_files(root)) == {"a.py"}
        assert admitted(root, ["store.git/config", "a.py"]) == {"a.py"}
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "--quiet", "--bare")
    assert set(list_files(tmp_path / "other")) == set()


def test_a_tree_elsewhere_that_a_repository_names_is_not_listed(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", {"a.py": "", "secret.py": ""})
    root = git_repository(tmp_path / "project", {"a.py": "", ".gitignore": "b.py\n"})
    write(root, {"b.py": ""})
    git(root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert set(list_files(root)) == {"a.py", ".gitignore"}
    assert admitted(root, ["a.py", "b.py"]) == {"a.py"}


def test_the_variables_of_a_git_hook_lead_to_no_other_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = git_repository(tmp_path / "other", {"other.py": ""})
    git(other, "remote", "add", "origin", "git@example.org:team/other.git")
    root = git_repository(tmp_path / "project", {"a.py": ""})
    write(root, {".git/info/exclude": "private.py\n", "private.py": ""})
    for name, value in {
        "GIT_DIR": f"{other}/.git", "GIT_INDEX_FILE": f"{other}/.git/index", "GIT_WORK_TREE": str(other),
        "GIT_PREFIX": "", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.excludesFile", "GIT_CONFIG_VALUE_0": "/x",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert set(list_files(root)) == {"a.py"}
    assert admitted(root, ["a.py", "private.py"]) == {"a.py"}
    assert ask_git(root, "config", "--get", "remote.origin.url", codes=(0, 1)) == b""


@pytest.mark.slow
def test_an_engine_that_a_git_hook_starts_has_none_of_the_hook_s_variables(tmp_path: Path, home: Path) -> None:
    root = git_repository(tmp_path / "project", {"a.py": "x = 1\n"})
    hook = root / ".git/hooks/post-commit"
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -P -m rag_ls.cli.main status > {tmp_path}/said 2>&1\n")
    hook.chmod(0o755)
    git(root, "commit", "--quiet", "--allow-empty", "--message", "second")
    said = (tmp_path / "said").read_text()
    assert "engine    PID" in said, said
    process_id = said.split("engine    PID ")[1].split(",")[0]
    environment = Path(f"/proc/{process_id}/environ")
    if not environment.exists():
        pytest.skip("this system does not show the environment of a process")
    assert b"GIT_" not in environment.read_bytes()


@pytest.mark.slow
def test_git_is_called_in_one_place_alone() -> None:
    callers = {
        file.relative_to(_RAG_LS).as_posix()
        for file in _RAG_LS.rglob("*.py")
        if any(map(_names_git, ast.walk(ast.parse(file.read_text(encoding="utf-8")))))
    }
    assert callers == {"util/git.py"}


def _names_git(node: ast.AST) -> bool:
    """Whether a part of a program looks for the program git, or is a command line that begins with it."""
    first: Sequence[ast.expr] = ()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _STARTERS:
        first = node.args[:1]
    elif isinstance(node, ast.List | ast.Tuple):
        first = node.elts[:1]
    return any(isinstance(each, ast.Constant) and str(each.value).split(" ")[0] in ("git", "git.exe") for each in first)


def test_git_runs_no_program_that_a_repository_names(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "project", {"a.py": "", ".gitignore": "b.py\n"})
    write(root, {"program": f"#!/bin/sh\necho >> {tmp_path}/ran\n"})
    (root / "program").chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "diff.external",
        "core.askPass",
        "credential.helper",
    ):
        git(root, "config", key, str(root / "program"))
    write(root, {".git/info/attributes": "*.py filter=mine\n"})
    for key in ("filter.mine.clean", "filter.mine.process"):
        git(root, "config", key, str(root / "program"))
    git(root, "config", "filter.mine.required", "true")
    write(root, {".git/hooks/post-index-change": (root / "program").read_text(), "a.py": "x = 1\n"})
    (root / ".git/hooks/post-index-change").chmod(0o755)
    (tmp_path / "ran").unlink(missing_ok=True)
    assert set(list_files(root)) == {"a.py", ".gitignore", "program"}
    assert admitted(root, ["a.py", "b.py"]) == {"a.py"}
    assert current_commit(root).endswith("+")
    assert shared_name(root) == "project"
    assert "a.py" in changed_files(root, "HEAD")
    assert not (tmp_path / "ran").exists()


def test_git_s_silence_has_a_kind(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain", {"a.py": ""})
    known = git_repository(tmp_path / "known", {"a.py": ""})
    assert why_git_is_silent(known) is None
    silent = why_git_is_silent(plain)
    assert silent is not None
    assert silent.kind is Silence.NO_REPOSITORY
    with pytest.raises(GitSilent, match="bad revision") as raised:
        ask_git(known, "diff-index", "--cached", "no-such-revision", "--")
    assert raised.value.kind is Silence.FAILED


def test_a_file_is_no_folder_to_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"notes/a.md": "one", "notes/secret.md": "two"})
    for words in (
        ("index", "--words-only"),
        ("index", "--force"),
        ("add", "a fact that is worth keeping", "--project"),
    ):
        said = _told(capsys, words[0], "--standalone", *words[1:], f"{tmp_path}/notes/a.md")
        assert "is a file" in said
        assert f"give {tmp_path}/notes" in said
    assert not (tmp_path / "notes/.rag-ls").exists()


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("place", ["/etc", "/proc", "/sys/kernel", "/dev", "/etc/ssl/private", "~/.ssh", "~/.aws/sso"])
def test_folders_of_credentials_are_never_projects(
    user: Path, capsys: pytest.CaptureFixture[str], place: str, force: bool
) -> None:
    folder = Path(os.path.expanduser(place))
    if place.startswith("~"):
        write(folder, {"config": "token = 1\n"})
    elif not folder.is_dir():
        pytest.skip(f"this system has no {place}")
    said = _told(capsys, "index", "--standalone", *["--force"] * force, str(folder))
    assert "never a project" in said
    assert not (folder / ".rag-ls").exists()


def test_folders_of_the_system_and_of_others_are_projects_only_on_purpose(
    tmp_path: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    places = ("/usr", "/usr/share/doc", "/var/lib", "/boot", "/etc/apt", "/bin", "/home", "/Users", "/mnt", "/media")
    # HOME is another folder here, as under `sudo`.
    for place in (*places, os.path.expanduser(f"~{getpass.getuser()}"), str(user / ".config/tool")):
        folder = Path(os.path.realpath(place))
        with pytest.raises(NotIndexed, match="--force"):
            check_may_become_project(folder)
    # What people work in is a project as before: so is root's own in a container.
    for place in ("/usr/src/app", "/var/www/site", "/srv/site", "/app", "/opt/tool", "/mnt/code", str(user / "code")):
        check_may_become_project(Path(place))
    git_repository(user / ".config/editor", {"init.lua": ""})
    check_may_become_project(user / ".config/editor")


@as_root
def test_the_home_of_another_user_is_a_project_only_on_purpose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_ls.locations._HOMES", (str(tmp_path),))
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    write(tmp_path, {"mine/a.py": "", "other/notes/a.md": ""})
    git_repository(tmp_path / "other/code", {"a.py": ""})
    os.chown(tmp_path / "other", _OTHER_USER, _OTHER_USER)
    check_may_become_project(tmp_path / "mine")
    for place in ("other", "other/notes"):
        with pytest.raises(NotIndexed, match="another user's"):
            check_may_become_project(tmp_path / place)
    check_may_become_project(tmp_path / "other/code")


@as_root
def test_what_only_root_may_read_is_not_read(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {
        "a.py": "x = 1\n", "mine.py": "x = 1\n", "root.py": "x = 1\n", "shut/b.py": "x = 1\n", "team.py": "x = 1\n",
    })  # fmt: skip
    os.chown(root, _OTHER_USER, _OTHER_USER)
    os.chown(root / "mine.py", _OTHER_USER, _OTHER_USER)
    os.chown(root / "team.py", 0, _OTHER_USER)
    for path, mode in {"mine.py": 0o600, "root.py": 0o600, "shut": 0o700, "team.py": 0o640}.items():
        (root / path).chmod(mode)
    assert {path: _reason(root, path) for path in ("a.py", "mine.py", "root.py", "shut/b.py", "team.py")} == {
        "a.py": "", "mine.py": "", "team.py": "",
        "root.py": "readable for root alone", "shut/b.py": "readable for root alone",
    }  # fmt: skip
    # In root's own folder, as in a container, root's own files are its to read.
    os.chown(root, 0, 0)
    assert _reason(root, "root.py") == _reason(root, "shut/b.py") == ""
    assert _reason(root, "mine.py") == "readable for root alone"


def _reason(root: Path, path: str) -> str:
    """Why a file is not read; empty where it is."""
    found = read_source(root, path, limit=1_000_000)
    return found.reason if isinstance(found, Rejected) else ""


_MARKED = {
    "utf-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16, little end first": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "utf-16, big end first": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n").encode(),
}


def test_a_ragignore_counts_in_every_folder_and_in_projects_inside(tmp_path: Path) -> None:
    files = {
        "a.py": "", ".ragignore": "secret/\n", "secret/x.py": "", "sub/.ragignore": "private/\n/own.py\n", "sub/own.py": "",
        "sub/private/x.py": "", "sub/b.py": "", "sub/deep/secret/x.py": "", "sub/deep/own.py": "", "none/.ragignore": "*\n",
        "none/x.py": "", "back/.ragignore": "!secret/\n", "back/secret/c.py": "",
    }  # fmt: skip
    left = {"a.py", "sub/b.py", "sub/deep/own.py", "back/secret/c.py"}
    outer = tmp_path / "outer"
    # A plain folder, a repository, and a repository in a plain folder.
    for root, prefix in (
        (write(tmp_path / "plain", files), ""),
        (git_repository(outer / "in", files), ""),
        (outer, "in/"),
    ):
        paths, expected = [prefix + path for path in files], {prefix + path for path in left}
        assert {path for path in list_files(root) if path.endswith(".py")} == expected
        assert {path for path in admitted(root, paths) if path.endswith(".py")} == expected
    # A folder of the repository is a project of its own.
    inner = outer / "in/sub"
    assert set(list_files(inner)) == {".ragignore", "b.py", "deep/own.py"}
    assert admitted(inner, ["b.py", "deep/secret/x.py", "private/x.py"]) == {"b.py"}
    told: list[str] = []
    assert list(list_files(outer / "in/secret", tell=told.append)) == []
    assert "names it, so nothing in it is indexed" in told[0]


@pytest.mark.parametrize(
    "rules",
    [
        "grün/\nprivate/\n".encode("latin-1"), b"gr\xc3\xbcn/\rprivate/\r", b"# kept out\rgru\xcc\x88n/\r\nprivate/",
        "private/\n!grün/\ngrün/\n".encode("latin-1"), b"gr*n/\nprivate/\n", "private/\r/grün/**\r".encode("latin-1"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_ragignore_counts_however_its_letters_and_lines_are_written(tmp_path: Path, rules: bytes, form: Any) -> None:
    folder = unicodedata.normalize(form, "grün")
    root = git_repository(tmp_path / "project", {"a.py": "", f"{folder}/x.py": "", "private/y.py": ""})
    (root / ".ragignore").write_bytes(rules)
    assert set(list_files(root)) == {".ragignore", "a.py"}
    exclude = Patterns((unicodedata.normalize("NFC", "grün/"), "private/"))
    (root / ".ragignore").unlink()
    assert set(list_files(root, exclude)) == {"a.py"}


def test_a_ragignore_of_windows_names_its_dashes_too(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "project", {"a.py": "", "old\u2013new/x.py": ""})
    (root / ".ragignore").write_bytes(b"old\x96new/\n")
    assert set(list_files(root)) == {".ragignore", "a.py"}


@pytest.mark.parametrize("encoding", _MARKED)
@pytest.mark.parametrize("name", [".ragignore", ".gitignore"])
def test_an_ignore_file_with_a_byte_order_mark_loses_no_pattern(tmp_path: Path, name: str, encoding: str) -> None:
    files = {name: _MARKED[encoding]("private/\n*.key.py\n"), "private/x.py": "", "a.key.py": "", "a.py": ""}
    roots = [write(tmp_path / "plain", files)]
    if name == ".ragignore" or "16" not in encoding:
        roots.append(git_repository(tmp_path / "known", files))
    for root in roots:
        assert set(list_files(root)) == {name, "a.py"}
        assert admitted(root, list(files)) == {name, "a.py"}


@pytest.mark.parametrize("data", ["private/\n".encode("utf-16-le"), b"\xff\xfep\0r", b"\xef\xbb\xbfcaf\xe9/\n"])
@pytest.mark.parametrize("name", [".ragignore", ".gitignore", "sub/.gitignore"])
def test_an_ignore_file_that_is_no_text_is_told_and_lets_nothing_in(tmp_path: Path, name: str, data: bytes) -> None:
    write(tmp_path, {name: data, "a.py": "", "sub/a.py": "", "sub/deep/.gitignore": "!*\n", "sub/deep/b.py": ""})
    told: list[str] = []
    expected = {"a.py"} if name.startswith("sub") else set()
    assert set(list_files(tmp_path, tell=told.append)) == expected
    assert admitted(tmp_path, ["a.py", "sub/a.py", "sub/deep/b.py"]) == expected
    assert len(told) == 1
    assert str(tmp_path / name) in told[0]
    assert "save it as UTF-8" in told[0]


def test_an_ignore_file_in_another_encoding_means_the_bytes_that_it_holds(tmp_path: Path) -> None:
    root = write(tmp_path, {".gitignore": b"# f\xfcr uns\ncaf\xe9/\nprivate/\n", "private/a.py": "", "a.py": ""})
    folder = root / os.fsdecode(b"caf\xe9")
    try:
        write(folder, {"a.py": ""})
    except OSError:
        pytest.skip("this file system has no such names")
    assert set(list_files(root)) == {".gitignore", "a.py"}


@pytest.mark.parametrize("encoding", _MARKED)
def test_a_settings_file_with_a_byte_order_mark_is_read(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    root = write(tmp_path / "project", {"rag-ls.toml": _MARKED[encoding]('[index]\nexclude = ["private/"]\n')})
    write(home, {"config/config.toml": _MARKED[encoding]('daemon = "never"\n[index]\nmax_file_bytes = 4321\n')})
    loaded = load_settings(Project(root), environment={})
    assert loaded.problems == ()
    assert (loaded.settings.index.exclude, loaded.settings.index.max_file_bytes) == (("private/",), 4321)
    assert Mode.of(argparse.Namespace()) is Mode.NEVER


_BROKEN = [b"[index\n", '[index]\nexclude = ["private/"]\n'.encode("utf-16-le"), b"[index]\nexclude = 3\n"]


@pytest.mark.parametrize("data", _BROKEN)
def test_a_settings_file_that_cannot_be_read_lets_no_more_files_in_and_every_surface_says_so(
    tmp_path: Path, home: Path, data: bytes
) -> None:
    good = '[index]\nexclude = ["private/"]\n'
    root = write(tmp_path / "project", {"rag-ls.toml": good, "private/x.py": "", "a.py": "x = 1\n"})
    assert _documents(root) == {"a.py", "rag-ls.toml"}
    write(root, {"rag-ls.toml": data, "b.py": "y = 1\n"})
    # The patterns from before still count.
    found, notes = _documents(root), _notes(root)
    assert {"a.py", "b.py"} <= found
    assert not [path for path in found if path.startswith("private")]
    assert all("rag-ls.toml" in note and "still count" in note for note in notes)
    # Where none are known, everything may be excluded.
    fresh = write(tmp_path / "fresh", {"rag-ls.toml": data, "private/x.py": "", "a.py": "x = 1\n"})
    assert _documents(fresh) == set()
    assert all("nothing is indexed until it is mended" in note for note in _notes(fresh))
    assert not any("try a name" in note for note in _notes(fresh)), "other words would find nothing either"
    assert _completeness(fresh) == (False, False)
    write(fresh, {"rag-ls.toml": good})
    assert _documents(fresh) == {"a.py", "rag-ls.toml"}
    assert _notes(fresh) == ("", "", "")
    assert _completeness(fresh) == (True, True)


def _documents(root: Path) -> set[str]:
    """The documents of a project's index, after its files were compared with it."""
    client = local_client()
    try:
        view = client.open(root)
        view.indexing.index_tree(Depth.WORDS)
        assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
        return set(view.store.documents())
    finally:
        client.close()


def _notes(root: Path) -> tuple[str, ...]:
    """The notes that an agent gets with the state of a project and with answers, where they are about exclusion."""
    status, stats, lines = _ask(root)
    notes = (status.get("note", ""), stats.get("note", ""), lines.get("left_out", ""))
    return tuple(note if "rag-ls.toml" in note else "" for note in notes)


def _completeness(root: Path) -> tuple[bool, bool]:
    """Whether the index is called complete with the state of a project, and with an answer."""
    status, stats, _ = _ask(root)
    return status["complete"], stats["complete"]


def _ask(root: Path) -> tuple[Any, Any, Any]:
    """The state of a project, the statistics of an answer, and the lines that hold a text."""
    session = ClientSession(local_client("mcp"))
    try:
        view = session.work_in(root)
        assert view.indexing.wait_until_idle(PATIENCE_S)
        status = session.operations.run("index_status", {})["projects"][0]
        stats = session.operations.run("search_code", {"query": "anything"})["stats"]
        return status, stats, session.operations.run("search_code", {"query": "anything", "match": "exact"})["exact"]
    finally:
        session.client.close()


def test_a_file_that_becomes_excluded_leaves_no_row_vector_answer_or_byte(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {
        "a.py": "def apple():\n    return 1\n",
        "private/x.py": 'def zanzibarius():\n    """The quokkaword is spelled here."""\n    return "quokkaword"\n',
    })  # fmt: skip
    client = local_client()
    try:
        view = client.open(root)

        def index() -> None:
            view.indexing.index_tree()
            assert view.indexing.wait_until_idle(PATIENCE_S)

        index()
        assert view.search(SearchRequest("quokkaword")).hits[0].item.chunk.path == "private/x.py"
        before = embedding_count(view)
        write(root, {".ragignore": "private/\n"})
        index()
        assert set(view.store.documents()) == {"a.py", ".ragignore"}
        found = view.search(SearchRequest("quokkaword zanzibarius")).hits
        assert not [hit for hit in found if hit.item.chunk.path.startswith("private")]
        # That of `.ragignore` has come, and that of the excluded file gone.
        assert embedding_count(view) == before
    finally:
        client.close()
    for file in (root / ".rag-ls").rglob("*"):
        if file.is_file():
            assert not [word for word in (b"quokka", b"zanzibarius", b"private/x.py") if word in file.read_bytes()], (
                file
            )


_KEY = "wJalrXUtnFEMIK7MDENGbPxRfiCYzQ2vB8nT4sLe"
_SECRETS = {
    "production": f"# of the server\nDB_HOST=db\nDB_PASSWORD=hunter2kx94\nAWS_ACCESS_KEY={_KEY}\n",
    "deploy.sh": f"export API_TOKEN='{_KEY}'\nexport REGION=eu\n",
    "notes.md": f"The key is ghp_{_KEY[:36]} for now.\n",
    "client.py": f'TOKEN = "sk-ant-api03-{_KEY}{_KEY}"\n',
    "aws.txt": f"[default]\naws_secret_access_key = {_KEY}\n",
    "key.md": "-----BEGIN EC PRIVATE KEY-----\nMHcC\n",
}
_HARMLESS = {
    "vars.example.txt": "export API_TOKEN='abc9812kd81'\n",
    "constants.py": 'TOKEN_TYPE = "bearer2token"\nSECRET_NAME = "db1password"\n',
    "run.sh": "export API_TOKEN=$CI_TOKEN\nexport PASSWORD_FILE=/run/x1\nmake\n",
    "settings.ini": "[auth]\npassword = changeme123\ntoken = <your token 1>\n",
    "guide.md": "Set ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, or AKIAIOSFODNN7EXAMPLE.\n",
}


def _secret_lines(root: Path, path: str) -> int:
    found = read_source(root.resolve(), path, limit=1_000_000)
    assert isinstance(found, Source)
    assert _KEY[:20] not in found.text
    return found.secret_lines


def test_a_secret_is_known_by_its_content_too(tmp_path: Path) -> None:
    root = write(tmp_path, {**_SECRETS, **_HARMLESS})
    assert {path: _secret_lines(root, path) for path in _SECRETS} == {
        **dict.fromkeys(_SECRETS, 1),
        "production": 2,
        "key.md": 2,
    }
    assert {path: _secret_lines(root, path) for path in _HARMLESS} == dict.fromkeys(_HARMLESS, 0)


@pytest.mark.parametrize(
    "path", [".ENV", "Prod.Env", "ID_RSA", "TLS.Key", ".SSH/config", "a/.Aws/x.py", ".kube/config"]
)
def test_the_names_of_secrets_are_known_in_any_case(tmp_path: Path, path: str) -> None:
    assert _reason(write(tmp_path, {path: "text\n"}), path) == "secret"
    assert admitted(tmp_path, [path]) == set()


def test_where_case_does_not_count_it_does_not_count_for_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = git_repository(tmp_path / "project", {"a.py": ""})
    git(root, "config", "core.ignoreCase", "true")
    write(root, {
        ".gitignore": "private/\n", ".ragignore": "/Drafts\n", "Private/x.py": "", "drafts/y.py": "", "LEGACY/z.py": "",
    })  # fmt: skip
    expected = {"a.py", ".gitignore", ".ragignore"}
    patterns = Patterns(("legacy/",))
    for _ in ("with git", "without git"):
        assert set(list_files(root, patterns)) == expected
        assert admitted(root, ["a.py", "Private/x.py", "drafts/y.py", "LEGACY/z.py"], patterns) == {"a.py"}
        monkeypatch.setenv("PATH", "/nowhere")


def test_what_is_excluded_stays_out_whatever_is_included(tmp_path: Path) -> None:
    for root in (tmp_path / "plain", git_repository(tmp_path / "known", {})):
        write(root, {
            ".gitignore": "build/\n", ".ragignore": "notes/\n",
            "src/a.py": "", "src/gen/b.py": "", "notes/c.py": "", "build/d.py": "", "other/e.py": "",
        })  # fmt: skip
        patterns = Patterns(exclude=("gen/", "!notes/"), include=("src/", "notes/", "build/", "!src/"))
        assert set(list_files(root, Patterns(patterns.exclude, patterns.include[:3]))) == {"src/a.py", "notes/c.py"}
        assert set(list_files(root, Patterns(("gen/",), ("src/", "notes/", "build/")))) == {"src/a.py"}
        assert set(list_files(root, Patterns((), ("build/",)))) == set()


def test_globs_with_dots_lead_nowhere_else(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.py": "def zanzibar():\n    return 1\n"})
    root = write(
        tmp_path / "project", {"a.py": "x = 1\n", "rag-ls.toml": '[index]\ninclude = ["../outside/**", "*.py"]\n'}
    )
    assert set(list_files(root, Patterns(include=("../outside/**", "*.py")))) == {"a.py"}
    assert admitted(root, ["../outside/secret.py", "a.py"], Patterns(include=("../outside/**", "*.py"))) == {"a.py"}
    assert _documents(root) == {"a.py"}
    client = local_client()
    try:
        view = client.open(root)
        found = view.search(SearchRequest("zanzibar", filters=Filters(path_glob="../outside/**"))).hits
        assert found == ()
    finally:
        client.close()


def test_links_lead_to_nothing_outside_and_to_nothing_excluded(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.py": "x = 1\n"})
    for root in (tmp_path / "plain", git_repository(tmp_path / "known", {})):
        write(root, {".gitignore": "private/\n", "private/x.py": "x = 1\n", "src/a.py": "x = 1\n"})
        (root / "out").symlink_to(tmp_path / "outside")
        (root / "out.py").symlink_to(tmp_path / "outside/secret.py")
        (root / "way").symlink_to("private")
        (root / "ok").symlink_to("src")
        listed = set(list_files(root))
        assert not [path for path in listed if path.startswith(("out/", "way/", "private/"))]
        assert admitted(root, ["out/secret.py", "way/x.py", "private/x.py", "src/a.py", "ok/a.py"]) == {
            "src/a.py", "ok/a.py",
        }  # fmt: skip
        assert _reason(root.resolve(), "out.py") == "symbolic link"
        assert _reason(root.resolve(), "out/secret.py") == "outside the project"
        assert {text_in(root, path) for path in ("out/secret.py", "out.py", "../outside/secret.py")} == {""}
        assert text_in(root, "ok/a.py") == "x = 1\n"


def test_sparse_checkouts_and_borrowed_objects_list_what_is_there(tmp_path: Path) -> None:
    origin = git_repository(tmp_path / "origin", {"in/a.py": "", "out/b.py": "", "top.py": ""})
    root = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--shared", "--sparse", f"file://{origin}", str(root))
    git(root, "sparse-checkout", "set", "in")
    write(root, {".git/info/exclude": "private/\n", "private/x.py": ""})
    assert _documents(root) == {"in/a.py", "top.py"}
    # Objects that are lent by a folder that is gone.
    origin.rename(tmp_path / "away")
    assert _documents(root) == {"in/a.py", "top.py"}
    assert "private/x.py" not in set(list_files(root))


def test_rules_outside_the_tree_count_from_the_next_question_on(tmp_path: Path, user: Path) -> None:
    root = git_repository(tmp_path / "project", {"a.py": "def apple():\n    return 1\n"})
    write(root, {"private.py": "def zanzibar():\n    return 1\n", "late.py": "def quokka():\n    return 1\n"})
    client = local_client()
    try:
        view = client.open(root)
        view.indexing.index_tree(Depth.WORDS)
        assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
        assert set(view.store.documents()) == {"a.py", "private.py", "late.py"}
        write(root, {".git/info/exclude": "private.py\n"})
        assert until(lambda: view.search(SearchRequest("zanzibar")) and "private.py" not in view.store.documents())
        write(user, {"my ignored": "*.mine\nlate.py\n"})
        assert until(lambda: view.status() and "late.py" not in view.store.documents())
        assert set(view.store.documents()) == {"a.py"}
    finally:
        client.close()


@pytest.mark.parametrize("name", [".gitignore", ".ragignore"])
def test_so_do_the_rules_of_the_folders_above_a_project(tmp_path: Path, user: Path, name: str) -> None:
    root = git_repository(tmp_path / "top", {"inner/a.py": "x = 1\n"}) / "inner"
    write(root, {"private.py": "def zanzibar():\n    return 1\n"})
    (root / ".rag-ls").mkdir()
    client = local_client()
    try:
        view = client.open(root)
        view.indexing.index_tree(Depth.WORDS)
        assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
        assert set(view.store.documents()) == {"a.py", "private.py"}
        write(root.parent, {name: "private.py\n"})
        assert until(lambda: view.search(SearchRequest("zanzibar")) and "private.py" not in view.store.documents())
    finally:
        client.close()


def test_a_review_of_what_changed_does_not_read_it(tmp_path: Path, user: Path) -> None:
    root = git_repository(tmp_path / "top", {"a.py": "x = 1\n"})
    (root / ".rag-ls").mkdir()
    write(root, {".env": "PASSWORD=zanzibar-zanzibar\n", "b.py": "def fresh():\n    return 1\n"})
    client = local_client()
    try:
        client.open(root, on_purpose=True)
        answer = Operations(client).run("rag_query_impact", {"changed": "HEAD"})
        notes = {each["filePath"]: each.get("note", "") for each in answer["changes"]}
        assert notes == {".env": "left out of the index: not looked into", "b.py": ""}
        assert "zanzibar" not in str(answer)
    finally:
        client.close()


@pytest.mark.parametrize(
    "name",
    [
        "../private/notes.md",
        "/etc/hostname",
        "a//b.md",
        "./a.md",
        "a/../../private/notes.md",
        ".git/config",
        "a/.GIT/x",
    ],
)
def test_a_name_in_git_s_index_that_leads_out_is_no_file(tmp_path: Path, name: str) -> None:
    root = git_repository(tmp_path / "project", {"kept.md": "kept\n"})
    write(tmp_path, {"private/notes.md": "the password of the safe\n"})
    (root / ".git" / "index").write_bytes(_index_of(sorted(("kept.md", name), key=os.fsencode)))

    assert set(list_files(root)) == {"kept.md"}
    assert isinstance(read_source(root, name, limit=10_000), Rejected)
    assert not text_in(root, name)
    assert name not in {change.path for change in read_changes(root, "HEAD").files}


def _index_of(names: Sequence[str]) -> bytes:
    """An index of git, version 2, with files of these names (gitformat-index(5))."""
    data = struct.pack(">4sLL", b"DIRC", 2, len(names))
    for name in map(os.fsencode, names):
        entry = struct.pack(">10L20sH", *(0,) * 6, 0o100644, 0, 0, 0, b"\1" * 20, len(name)) + name
        data += entry + b"\0" * (8 - len(entry) % 8)
    return data + hashlib.sha1(data).digest()

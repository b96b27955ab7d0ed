"""Promise: opening a folder runs no program of whoever wrote it."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from rag_ls.config.identity import identity_of
from rag_ls.errors import InvalidRequest
from rag_ls.indexing.listing import admitted, list_files
from rag_ls.project import current_branch, current_commit, shared_name
from rag_ls.rules.checks.project import changed_files
from rag_ls.rules.diffs import read_changes
from rag_ls.util.git import why_git_is_silent
from tests.daemon.engines import run
from tests.support import git, git_repository, write

# The settings of git 2.30 to 2.55 that name a program, or a file that names one (git-config(1), `git help --config`).
_PROGRAMS = """
alias.ls-files alias.status alias.mine.command browser.mine.cmd browser.mine.path core.alternateRefsCommand core.askPass
core.editor core.fsmonitor core.gitProxy core.pager core.sshCommand credential.helper credential.https://mine.helper
diff.external diff.mine.command diff.mine.textconv difftool.mine.cmd difftool.mine.path filter.mine.clean
filter.mine.process filter.mine.smudge gc.recentObjectsHook gpg.mine.program gpg.program gpg.ssh.defaultKeyCommand
gpg.ssh.program guitool.mine.cmd help.browser hook.mine.command instaweb.browser instaweb.httpd interactive.diffFilter
man.mine.cmd man.mine.path merge.mine.driver mergetool.mine.cmd mergetool.mine.path pager.diff pager.ls-files
pager.status remote.origin.receivepack remote.origin.uploadpack remote.origin.vcs sendemail.ccCmd sendemail.headerCmd
sendemail.toCmd sequence.editor submodule.inner.update trailer.mine.cmd trailer.mine.command uploadpack.packObjectsHook
web.browser
""".split()
_HOOKS = "post-index-change post-checkout pre-auto-gc fsmonitor-watchman query-watchman reference-transaction pre-commit".split()


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """The file into which each planted program writes its name."""
    return tmp_path / "ran"


@pytest.fixture
def hostile(tmp_path: Path, ran: Path) -> Path:
    """A repository whose settings name a program wherever one can be named, with files that want them all."""
    root = git_repository(tmp_path / "project", {"a.py": "x = 1\n", "b.py": "y = 1\n", ".gitignore": "c.py\n"})
    _plant(root, root / ".git", ran)
    write(root, {"a.py": "x = 2\n", "new.py": "z = 1\n"})
    os.utime(root / "b.py", (1, 1))
    return root


def _plant(root: Path, folder: Path, ran: Path, config: str = "config") -> None:
    for key in _PROGRAMS:
        program = _program(root / "programs" / key.replace("/", "-"), ran)
        git(
            root,
            "config",
            "--file",
            str(folder / config),
            key,
            f"!{program}" if key == "submodule.inner.update" else program,
        )
    for hook in _HOOKS:
        _program(folder / "hooks" / hook, ran)
    settings = {
        "core.hooksPath": str(folder / "hooks"), "core.attributesFile": str(folder / "info/attributes"),
        "hook.mine.event": "post-index-change", "filter.mine.required": "true", "core.untrackedCache": "true",
        "core.preloadIndex": "true",
    }  # fmt: skip
    for key, value in settings.items():
        git(root, "config", "--file", str(folder / config), key, value)
    write(folder, {"info/attributes": "* filter=mine diff=mine merge=mine\n"})


def _program(place: Path, ran: Path) -> str:
    write(place.parent, {place.name: f"#!/bin/sh\necho {place.name} >> '{ran}'\nexit 1\n"})
    place.chmod(0o755)
    return str(place)


def _look(root: Path) -> None:
    """Everything for which git is asked."""
    list_files(root)
    admitted(root, ["a.py", "c.py"])
    current_branch(root)
    current_commit(root)
    shared_name(root)
    identity_of(root)
    why_git_is_silent(root)
    with suppress(InvalidRequest):
        changed_files(root, "HEAD")


def _ask_plainly(root: Path, *command: str) -> None:
    """Have git do something as anybody would. It may fail: the planted programs are not what it expects."""
    subprocess.run(["git", "-C", str(root), *command], capture_output=True, check=False)


def _names_in(ran: Path) -> set[str]:
    return set(ran.read_text().split()) if ran.exists() else set()


def test_no_program_that_git_s_settings_name_is_run(hostile: Path, ran: Path) -> None:
    ran.unlink(missing_ok=True)
    _look(hostile)
    assert _names_in(ran) == set()
    assert set(list_files(hostile)) >= {"a.py", "b.py", "new.py", ".gitignore"}
    assert current_commit(hostile).endswith("+")
    assert {"a.py", "new.py"} <= set(changed_files(hostile, "HEAD"))
    # git itself runs several of them, so that this test can fail.
    _ask_plainly(hostile, "status")
    assert _names_in(ran) & {"core.fsmonitor", "filter.mine.process"}


def test_no_program_of_a_work_tree_s_settings_or_of_included_ones_is_run(tmp_path: Path, ran: Path) -> None:
    root = git_repository(tmp_path / "project", {"a.py": "x = 1\n"})
    git(root, "config", "extensions.worktreeConfig", "true")
    _plant(root, root / ".git", ran, "config.worktree")
    _plant(root, root / ".git", ran, "more")
    git(root, "config", "include.path", "more")
    write(root, {"a.py": "x = 2\n"})
    _look(root)
    assert _names_in(ran) == set()


def test_no_program_of_a_submodule_is_run(tmp_path: Path, ran: Path) -> None:
    inner = git_repository(tmp_path / "inner", {"a.py": "x = 1\n"})
    root = git_repository(tmp_path / "project", {"b.py": "x = 1\n"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "inner")
    git(root, "commit", "--quiet", "--message", "inner")
    _plant(root, root / ".git/modules/inner", ran)
    write(root, {"inner/a.py": "x = 2\n"})
    ran.unlink(missing_ok=True)
    _look(root)
    _look(root / "inner")
    assert _names_in(ran) == set()
    _ask_plainly(root, "status")
    assert _names_in(ran)


@pytest.mark.parametrize("scope", ["home", "xdg", "included", "local", "worktree", "included here", "lfs extension"])
@pytest.mark.parametrize("command", ["clean", "process"])
def test_no_filter_of_any_scope_is_run(
    tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch, scope: str, command: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    root = git_repository(tmp_path / "project", {"a.py": "x = 1\n", "b.py": "", ".gitattributes": "*.py filter=mine\n"})
    program = _program(tmp_path / "bin/program", ran)
    filtering = f'[filter "mine"]\n\t{command} = {program}\n\trequired = true\n'
    write(tmp_path, {"xdg/git/config": "", "home/.gitconfig": "[extensions]\n\tworktreeConfig = true\n"})
    git(root, "config", "extensions.worktreeConfig", "true")
    if scope == "lfs extension":
        # As git-lfs does, a filter of the user's runs a program that the repository's settings name.
        run_extension = "sh -c '$(git config lfs.extension.mine.clean)'"
        write(tmp_path, {"home/.gitconfig": filtering.replace(program, f'"{run_extension}"')})
        git(root, "config", "lfs.extension.mine.clean", program)
    file = {
        "home": "home/.gitconfig", "xdg": "xdg/git/config", "included": "home/more", "local": "project/.git/config",
        "worktree": "project/.git/config.worktree", "included here": "project/.git/more",
    }.get(scope)  # fmt: skip
    if file:
        write(tmp_path, {file: ((tmp_path / file).read_text() if (tmp_path / file).exists() else "") + filtering})
    if scope == "included":
        write(tmp_path, {"home/.gitconfig": "[include]\n\tpath = more\n"})
    if scope == "included here":
        git(root, "config", "includeIf.gitdir:**.path", "more")
    write(root, {"a.py": "x = 2\n"})
    # git passes a file through its filter when its time could hide a change.
    os.utime(root / "b.py", (4_000_000_000, 4_000_000_000))

    assert {file.path for file in read_changes(root, "HEAD").files} >= {"a.py"}
    _look(root)
    assert not _names_in(ran)
    _ask_plainly(root, "diff")
    assert _names_in(ran)


@pytest.mark.parametrize("name", ["a=b", "=", "a.b", "a b"])
def test_a_filter_of_an_odd_name_is_not_run(tmp_path: Path, ran: Path, name: str) -> None:
    root = git_repository(tmp_path / "project", {"a.py": "x = 1\n"})
    program = _program(root / "programs/clean", ran)
    with (root / ".git/config").open("a") as config:
        config.write(f'[filter "{name}"]\n\tclean = {program}\n\tprocess = {program}\n')
    write(root, {".git/info/attributes": f"* filter={name.split()[0]}\n", "a.py": "x = 2\n"})
    _look(root)
    assert _names_in(ran) == set()
    assert current_commit(root).endswith("+")


def test_what_a_partial_clone_lacks_is_not_fetched(tmp_path: Path, ran: Path) -> None:
    git_repository(tmp_path / "origin", {".gitignore": "b.py\n", "a.py": "x = 1\n", "sub/.gitignore": "c.py\n"})
    git(tmp_path / "origin", "config", "uploadpack.allowFilter", "true")
    root = tmp_path / "project"
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{tmp_path}/origin", str(root))
    git(root, "reset", "--quiet", "--mixed")
    git(root, "update-index", "--skip-worktree", ".gitignore", "sub/.gitignore")
    git(root, "config", "remote.origin.url", "ssh://mine/project")
    for key in ("core.sshCommand", "remote.origin.uploadpack"):
        git(root, "config", key, _program(tmp_path / "programs" / key, ran))
    write(root, {"b.py": "", "d.py": ""})
    _look(root)
    assert _names_in(ran) == set()
    assert "d.py" in list_files(root)
    # git itself fetches.
    _ask_plainly(root, "ls-files", "-o", "--exclude-standard")
    assert "core.sshCommand" in _names_in(ran)


@pytest.mark.slow
@pytest.mark.parametrize("is_cloned", [True, False])
def test_a_folder_that_looks_like_a_bare_repository_has_no_say(tmp_path: Path, ran: Path, is_cloned: bool) -> None:
    root = (git_repository if is_cloned else write)(tmp_path / "project", {"a.py": "x = 1\n"})
    bare = root / "bare"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    git(root, "config", "--file", str(bare / "config"), "core.worktree", ".")
    git(root, "config", "--file", str(bare / "config"), "core.bare", "false")
    _plant(root, bare, ran)
    write(bare, {".rag-ls/keep": "", "b.py": "x = 1\n"})
    for folder in (root, bare):
        _look(folder)
        run("index", "--standalone", folder=folder)
        run("check", "--changed", "HEAD", folder=folder)
    assert _names_in(ran) == set()


@pytest.mark.slow
def test_the_commands_of_the_shell_run_none(hostile: Path, ran: Path) -> None:
    ran.unlink(missing_ok=True)
    for command in (
        ("index", "--standalone"),
        ("search", "--standalone", "x"),
        ("status", "--standalone"),
        ("check", "--changed", "HEAD"),
        ("add", "--standalone", "a note"),
        ("doctor",),
    ):
        run(*command, folder=hostile)
    assert _names_in(ran) == set()


@pytest.fixture
def folder_of_modules(tmp_path: Path, ran: Path) -> Path:
    """A folder with modules and programs named as those that rag-ls runs."""
    folder = tmp_path / "modules"
    text = f"import pathlib, sys\npathlib.Path({str(ran)!r}).open('a').write(__file__ + '\\n')\n"
    for module in ("pip", "rag_ls", "numpy", "json", "tomllib", "usearch", "onnxruntime", "sitecustomize", "torch"):
        write(folder, {f"{module}/__init__.py": text, f"{module}/__main__.py": text})
    for name in ("git", "python3", "python", "xdg-open", "nvidia-smi", "rag-ls", "uv"):
        _program(folder / name, ran)
    return folder


@pytest.mark.slow
def test_no_module_or_program_of_the_current_folder_is_run(folder_of_modules: Path, ran: Path) -> None:
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    path = f"{os.pathsep}.{os.pathsep}{os.environ['PATH']}"
    fetched = run("doctor", "--get-model", "all-mpnet-base-v2", folder=folder_of_modules, **nowhere, PATH=path)
    assert "could not be fetched" in fetched.stderr
    for command in (("index", "--standalone"), ("index",), ("search", "x"), ("doctor",), ("check",), ("stop",)):
        run(*command, folder=folder_of_modules, PATH=path)
    assert _names_in(ran) == set()

"""Which files are indexed, and what keeps the others out."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.indexing.files import (
    Patterns,
    Rejected,
    Source,
    admitted,
    list_files,
    read_source,
    reason_by_name,
    regular_file,
)
from tests.support import git, git_repository, until, write

_LIMIT = 1_000_000
_AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def _reason(file: Path) -> str:
    found = read_source(file.parent.resolve(), file.name, limit=_LIMIT)
    return found.reason if isinstance(found, Rejected) else ""


@pytest.fixture(params=["git", "plain"])
def make(request: pytest.FixtureRequest, tmp_path: Path):
    """Makes a project of some files, with and without git."""

    def make(files: dict[str, str]) -> Path:
        return (git_repository if request.param == "git" else write)(tmp_path / "project", files)

    return make


def test_ignore_rules_are_obeyed_in_each_folder(make) -> None:
    root = make({
        ".gitignore": "build/\n*.tmp.py\n/only_here.py\n",
        "sub/.gitignore": "local.py\n",
        "a.py": "", "a.tmp.py": "", "build/x.py": "", "only_here.py": "",
        "sub/a.py": "", "sub/local.py": "", "sub/only_here.py": "", "local.py": "", "sub/build/deep/x.py": "",
    })  # fmt: skip
    expected = {".gitignore", "sub/.gitignore", "a.py", "sub/a.py", "sub/only_here.py", "local.py"}
    assert set(list_files(root)) == expected
    paths = [file.relative_to(root).as_posix() for file in root.rglob("*.py")]
    assert admitted(root, paths) == {path for path in expected if path.endswith(".py")}


def test_ragignore_and_the_exclude_setting_leave_out_more(make) -> None:
    root = make(
        {
            ".ragignore": "legacy/\n!legacy/keep.py\n*.gen.py\n",
            "a.py": "",
            "legacy/x.py": "",
            "b.gen.py": "",
            "vendor/v.py": "",
        }
    )
    assert set(list_files(root, Patterns(("vendor/",)))) == {".ragignore", "a.py"}
    assert admitted(root, ["a.py", "legacy/x.py", "b.gen.py", "vendor/v.py"], Patterns(("vendor/",))) == {"a.py"}


def test_the_data_folder_is_never_listed(make) -> None:
    root = make({"a.py": "", ".rag-ls/notes.py": ""})
    assert set(list_files(root)) == {"a.py"}
    assert admitted(root, [".rag-ls/notes.py", "a.py"]) == {"a.py"}


def test_tracked_files_stay_although_a_rule_came_later(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "project", {"kept.py": ""})
    write(root, {".gitignore": "*.py\n", "new.py": ""})
    assert set(list_files(root)) == {"kept.py", ".gitignore"}
    assert admitted(root, ["kept.py", "new.py"]) == {"kept.py"}


def test_a_program_that_a_repository_s_own_settings_name_is_not_run(tmp_path: Path) -> None:
    root = git_repository(tmp_path, {"a.py": "", ".gitignore": "b.py\n"})
    (tmp_path / ".git" / "program").write_text("#!/bin/sh\necho >> ran\n")
    (tmp_path / ".git" / "program").chmod(0o755)
    git(root, "config", "core.fsmonitor", ".git/program")
    assert "a.py" in list_files(root)
    assert admitted(root, ["a.py", "b.py"]) == {"a.py"}
    assert not (root / "ran").exists()


def test_the_repository_s_own_exclude_file_is_obeyed(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "project", {"a.py": ""})
    write(root, {".git/info/exclude": "private.py\n", "private.py": ""})
    assert set(list_files(root)) == {"a.py"}


def test_another_repository_inside_is_not_listed(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "project", {"a.py": ""})
    git_repository(root / "inner", {"b.py": ""})
    assert set(list_files(root)) == {"a.py", "inner"}
    assert _reason(root / "inner") == "unreadable folder or other repository"


def test_without_git_a_deeper_rule_takes_back_a_higher_one(tmp_path: Path) -> None:
    root = write(tmp_path, {".gitignore": "*.txt\n", "sub/.gitignore": "!keep.txt\n", "sub/keep.txt": "", "a.txt": ""})
    assert "sub/keep.txt" in set(list_files(root))


_NAMES = st.sampled_from(["a.py", "b.txt", "lib/a.py", "lib/deep/b.txt", "src/c.py", "src/lib/a.py"])
_PATTERNS = st.lists(
    st.sampled_from(
        ["*.py", "lib/", "/lib", "src/*.py", "**/deep", "a.*", "!a.py", "# note", "", "src/**/a.py", "b?txt"]
    ),
    max_size=4,
)


@settings(max_examples=25)
@given(files=st.sets(_NAMES, min_size=1), patterns=_PATTERNS)
def test_a_walk_without_git_lists_what_git_would(
    tmp_path_factory: pytest.TempPathFactory, files: set[str], patterns: list[str]
) -> None:
    contents = {**dict.fromkeys(files, ""), ".gitignore": "\n".join(patterns) + "\n"}
    plain = write(tmp_path_factory.mktemp("plain"), contents)
    known = write(tmp_path_factory.mktemp("git"), contents)
    git(known, "init", "--quiet")
    assert set(list_files(plain)) == set(list_files(known))
    assert admitted(plain, sorted(files)) == admitted(known, sorted(files)) == set(list_files(plain)) - {".gitignore"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".env", "secret"), (".env.local", "secret"), ("id_rsa", "secret"), ("id_ed25519.pub", "secret"),
        ("server.PEM", "secret"), ("tls.key", "secret"), (".npmrc", "secret"), ("credentials.json", "secret"),
        ("logo.PNG", "binary"), ("data.sqlite", "binary"), ("rows.csv", "data"), ("poetry.lock", "data"),
        ("app.min.js", "generated"), ("package-lock.json", "generated"), ("api_pb2.py", "generated"),
        ("id_generator.py", ""), ("environment.py", ""), ("keys.py", ""), ("main.rs", ""),
    ],
)  # fmt: skip
def test_a_name_can_speak_against_a_file(name: str, reason: str, tmp_path: Path) -> None:
    assert reason_by_name(name) == reason
    assert _reason(write(tmp_path, {name: "text\n"}) / name) == reason


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.py", b"x = 1\n", ""),
        ("a.py", b"", ""),
        ("a.py", "größe = '検索'\n".encode(), ""),
        ("a.py", b"x = 1\0\n", "binary"),
        ("a.py", b"caf\xe9 = 1\n", "not UTF-8"),
        ("a.py", b"# Code generated by tool. DO NOT EDIT.\nx = 1\n", "generated"),
        ("a.py", b"# " + b"@" + b"generated\nx = 1\n", "generated"),
        ("a.js", b"var a=1;" * 1000, "minified"),
        ("a.py", b"x = 1;" * 1000, ""),
        ("a.py", b"#" * (_LIMIT + 1), "too large"),
        ("a.py", b"#" * _LIMIT, ""),
    ],
)
def test_a_content_can_speak_against_a_file(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    assert _reason(write(tmp_path, {name: content}) / name) == reason


def test_a_source_is_the_text_byte_for_byte(tmp_path: Path) -> None:
    text = "\ufeffline one\r\nline two\rline three\n"
    found = read_source(write(tmp_path, {"a.py": text}), "a.py", limit=_LIMIT)
    assert isinstance(found, Source)
    assert (found.text, found.state.size) == (text, len(text.encode()))


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    reasons: list[str] = []
    thread = threading.Thread(target=lambda: reasons.append(_reason(tmp_path / "pipe.py")), daemon=True)
    thread.start()
    assert until(lambda: reasons, timeout_s=20)
    assert reasons == ["not a regular file"]


def test_what_is_no_file_is_not_opened_and_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    for name in ("folder", "link", "missing"):
        with pytest.raises(OSError), regular_file(tmp_path / name):  # noqa: PT011 - each says it in words of its own
            pass
    with regular_file(tmp_path / "file") as stream:
        number = stream.fileno()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.py": "x = 1\n", "project/real.py": "x = 1\n"})
    root = tmp_path / "project"
    (root / "out.py").symlink_to(tmp_path / "outside/secret.py")
    (root / "loop.py").symlink_to("loop.py")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "self").symlink_to(".")
    listed = set(list_files(root))
    assert not any(path.startswith(("folder/", "self/")) for path in listed)
    assert {path for path in listed if not _reason(root / path)} == {"real.py"}


def test_a_tracked_folder_that_became_a_link_leads_nowhere(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "project", {"d/a.py": "inside = 1\n"})
    write(tmp_path, {"outside/a.py": "secret = 1\n"})
    (root / "d/a.py").unlink()
    (root / "d").rmdir()
    (root / "d").symlink_to(tmp_path / "outside")
    found = read_source(root.resolve(), "d/a.py", limit=_LIMIT)
    assert isinstance(found, Rejected)
    assert found.reason == "outside the project"


@pytest.mark.parametrize(
    "path",
    [
        "prod.env",
        ".env.local",
        "id_ed25519-work",
        "id_rsa.old",
        "keys/server.pem",
        ".ssh/config.txt",
        ".aws/config",
        "x.tfstate",
    ],
)
def test_what_looks_like_a_secret_store_is_never_read(path: str) -> None:
    assert reason_by_name(path) == "secret"


def test_a_private_key_is_no_text_for_the_index_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"notes.md": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n"})
    found = read_source(tmp_path.resolve(), "notes.md", limit=_LIMIT)
    assert isinstance(found, Rejected)
    assert found.reason == "secret"


def test_a_file_that_is_gone_says_so(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    for path in ("missing.py", "a.py/below.py"):
        found = read_source(tmp_path, path, limit=_LIMIT)
        assert isinstance(found, Rejected)
        assert found.gone


@pytest.mark.skipif(_AS_ROOT, reason="root may read everything")
def test_an_unreadable_folder_hides_its_files_and_no_others(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": "", "closed/b.py": ""})
    (root / "closed").chmod(0)
    try:
        assert set(list_files(root)) == {"a.py"}
    finally:
        (root / "closed").chmod(0o700)


def test_files_that_vanish_or_change_while_they_are_read_do_no_harm(tmp_path: Path) -> None:
    file, stop = tmp_path / "a.py", threading.Event()

    def churn() -> None:
        while not stop.is_set():
            file.write_bytes(b"x = 1\n" * 20000)
            file.unlink()

    thread = threading.Thread(target=churn)
    thread.start()
    found = [read_source(tmp_path, "a.py", limit=_LIMIT) for _ in range(300)]
    stop.set()
    thread.join()
    for item in found:
        assert (
            item.gone if isinstance(item, Rejected) else set(item.text.split("\n")) <= {"x = 1", "", *_parts("x = 1")}
        )


def _parts(line: str) -> set[str]:
    return {line[:end] for end in range(len(line))}

"""What holds on Windows and macOS, shown here as far as this system can: decisions as arithmetic, errors of theirs brought about."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_ls.config.known_projects import root_of_path
from rag_ls.daemon import connecting, paths
from rag_ls.errors import PathOutsideProject
from rag_ls.locations import why_no_project_unasked
from rag_ls.lsp.documents import file_path
from rag_ls.project import Project
from rag_ls.util import files
from rag_ls.util import paths as util_paths
from rag_ls.util.files import read_regular
from rag_ls.util.processes import take_any_text
from rag_ls.util.repositories import entries_of, find_repository

SHARE = "//evil.example/share"


@pytest.fixture
def names_ask_machines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """As on Windows, a path `//host/share` asks that host; here all questions about such paths are kept."""
    asked: list[str] = []
    monkeypatch.setattr(util_paths.is_elsewhere, "__kwdefaults__", {"windows": True})
    for name in ("stat", "lstat", "open", "readlink", "scandir"):
        ask = getattr(os, name)

        def noting(path: object, *more: object, ask: object = ask, **options: object) -> object:
            if isinstance(path, str | os.PathLike) and util_paths.share_of(path):
                asked.append(os.fspath(path))
            return ask(path, *more, **options)  # type: ignore[operator]

        monkeypatch.setattr(os, name, noting)
    yield asked
    assert asked == []


class TestNoOtherMachineIsAsked:
    """Windows signs in at a host that a path names, before it answers whether the file exists."""

    @pytest.mark.parametrize(
        "uri",
        [
            "file://evil.example/share/a.py",
            "file:////evil.example/share/a.py",
            "file:\\\\evil.example\\share\\a.py",
            "file://[::1]/a.py",
            "file:///%5C%5Cevil.example%5Cshare/a.py",
            "file:////%5Cevil.example%5Cshare/a.py",
            "file:///%2F%2Fevil.example/share/a.py",
        ],
    )
    def test_by_a_document_s_uri(self, uri: str) -> None:
        assert file_path(uri) is None

    def test_uris_without_a_host_are_paths(self) -> None:
        assert file_path("file:///work/a.py") == Path("/work/a.py")

    @pytest.mark.usefixtures("names_ask_machines")
    def test_by_a_path_of_an_agent(self, tmp_path: Path) -> None:
        with pytest.raises(PathOutsideProject, match="another machine"):
            Project(tmp_path).relative(f"{SHARE}/a.py")
        assert root_of_path(f"{SHARE}/shop") is not None

    @pytest.mark.usefixtures("names_ask_machines")
    def test_by_git_s_files_in_a_repository(self, tmp_path: Path) -> None:
        (tmp_path / ".git").write_text(f"gitdir: {SHARE}/repo\n")
        found = find_repository(tmp_path)
        assert found is not None
        assert "another machine" in found.fault

    @pytest.mark.usefixtures("names_ask_machines")
    def test_by_what_its_settings_include(self, tmp_path: Path) -> None:
        config = tmp_path / "config"
        config.write_text(f"[include]\n\tpath = {SHARE}/config\n[user]\n\tname = me\n")
        assert [entry.key for entry in entries_of(config)] == ["include.path", "user.name"]


class TestAFileThatIsRead:
    """Windows neither replaces nor deletes a file that somebody reads."""

    def test_is_replaced_when_they_are_done(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        readers, replace = [1, 2, 3], os.replace

        def as_windows(source: Path, target: Path) -> None:
            if readers:
                readers.pop()
                raise PermissionError(13, "used by another process")
            replace(source, target)

        monkeypatch.setattr(os, "replace", as_windows)
        source, target = tmp_path / "new", tmp_path / "old"
        source.write_text("new")
        target.write_text("old")
        files.replace_file(source, target, patience_s=30)
        assert target.read_text() == "new"

    def test_elsewhere_a_refusal_is_told_at_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: object) -> None:
            refusals.append(1)
            raise PermissionError(13, "no")

        refusals: list[int] = []
        monkeypatch.setattr(os, "replace", refused)
        with pytest.raises(PermissionError):
            files.replace_file(tmp_path / "a", tmp_path / "b", patience_s=0)
        assert refusals == [1]


class TestText:
    @pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
    def test_a_character_that_the_terminal_lacks_ends_no_answer(
        self, encoding: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", out)
        take_any_text("linux")
        print("naïve → 東京", flush=True)
        assert b"?" in out.buffer.getvalue()  # type: ignore[attr-defined]

    def test_pipes_of_windows_take_utf_8(self, monkeypatch: pytest.MonkeyPatch) -> None:
        out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
        read = io.TextIOWrapper(io.BytesIO("→ 東京".encode()), encoding="cp1252")
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stdin", read)
        take_any_text("win32")
        print(sys.stdin.read(), end="", flush=True)
        assert out.buffer.getvalue() == "→ 東京".encode()  # type: ignore[attr-defined]


class TestTheEngineIsFound:
    """Programs set TMPDIR and TEMP to places of their own; a user has one engine all the same."""

    @pytest.mark.parametrize(
        ("platform", "place"), [("darwin", "Library/Caches/rag-ls/run"), ("win32", "Local/rag-ls/run")]
    )
    def test_wherever_the_temporary_folder_is(
        self, platform: str, place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.delenv("RAG_LS_HOME")
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setenv("HOME", "/Users/me")
        monkeypatch.setenv("LOCALAPPDATA", "/Users/me/AppData/Local")
        found = set()
        for temporary in ("/tmp/a", "/tmp/b"):
            monkeypatch.setenv("TMPDIR", temporary)
            monkeypatch.setenv("TEMP", temporary)
            found.add(paths.engine_paths().folder)
        (folder,) = found
        assert folder.endswith(place)

    def test_windows_has_no_limit_on_the_path_of_a_socket(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("RAG_LS_HOME")
        monkeypatch.setattr(sys, "platform", "win32")
        monkeypatch.setenv("LOCALAPPDATA", "C:/Users/" + 100 * "m")
        assert paths.engine_paths().folder.startswith("C:/Users/m")

    def test_by_a_port_and_a_token_where_there_are_no_sockets_of_files(self, home: Path) -> None:
        listening = connecting.listen(paths.engine_paths(), unix=False)
        try:
            found = connecting.connect(paths.engine_paths(), 5, unix=False)
            assert found is not None
            assert found[1] == listening.token != ""
            found[0].close()
        finally:
            listening.socket.close()


def test_a_project_in_the_temporary_folder_of_windows_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    temporary = tmp_path / "AppData" / "Local" / "Temp"
    temporary.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert why_no_project_unasked(temporary / "shop") == ""
    assert why_no_project_unasked(temporary.parent / "Programs") != ""
    assert why_no_project_unasked(temporary) != ""


@pytest.mark.skipif(os.name != "posix", reason="links need a right there")
def test_where_the_system_cannot_refuse_links_they_are_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link").symlink_to("secret")
    monkeypatch.delattr(os, "O_NOFOLLOW")
    with pytest.raises(OSError, match="symbolic link"):
        read_regular(tmp_path / "link", follow=False)
    assert read_regular(tmp_path / "link") == b"secret"

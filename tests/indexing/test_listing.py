"""Which files of a project the ignore rules and the settings let in."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.indexing.files import Rejected, read_source
from rag_ls.indexing.listing import Patterns, admitted, admitted_folders, list_files
from rag_ls.indexing.scan import Visibility
from tests.support import git, git_repository, scale_examples, write


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


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (["*", "!*/", "!*.h"], {"src/deep/a.h"}),
        (["src/**", "!src/**/", "!src/**/*.h"], {"src/deep/a.h", "b.c", "c.md", "lib/src/d.c"}),
        (["/*", "!/src"], {"src/deep/a.h", "src/e.c"}),
        (["src/*", "!src/deep"], {"src/deep/a.h", "b.c", "c.md", "lib/src/d.c"}),
        # The second line takes back the folder, not what the first one says of the folders in it.
        (["deep", "!/src/"], {"b.c", "c.md", "src/e.c", "lib/src/d.c"}),
    ],
)
def test_a_ragignore_that_allows_some_files_alone_leaves_those_that_git_would(
    make, patterns: list[str], left: set[str]
) -> None:
    files = dict.fromkeys(["src/deep/a.h", "src/e.c", "b.c", "c.md", "lib/src/d.c"], "")
    root = make({".ragignore": "\n".join(patterns), **files})
    assert set(list_files(root)) & files.keys() == left
    assert admitted(root, [*files]) == left


@pytest.mark.parametrize(
    "exclude", [("*", "!*/", "!*.h"), ("**", "!**/", "!*.h"), ("src/**", "*.c", "*.md", "!src/**/*.h")]
)
def test_the_exclude_setting_may_allow_some_files_alone(make, exclude: tuple[str, ...]) -> None:
    root = make(dict.fromkeys(["src/deep/a.h", "src/e.c", "b.c", "c.md"], ""))
    assert set(list_files(root, Patterns(exclude))) == {"src/deep/a.h"}


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
    found = read_source(root, "inner", limit=1000)
    assert isinstance(found, Rejected)
    assert found.reason == "other repository"


def test_without_git_a_deeper_rule_takes_back_a_higher_one(tmp_path: Path) -> None:
    root = write(tmp_path, {".gitignore": "*.txt\n", "sub/.gitignore": "!keep.txt\n", "sub/keep.txt": "", "a.txt": ""})
    assert "sub/keep.txt" in set(list_files(root))


_NAMES = st.sampled_from(["a.py", "b.txt", "lib/a.py", "lib/deep/b.txt", "src/c.py", "src/lib/a.py"])
_PATTERNS = st.lists(
    st.sampled_from(
        [
            *"*.py lib/ /lib src/*.py **/deep a.* !a.py src/**/a.py b?txt * !*/ !*.txt lib/** !lib/**/ !/src/ lib".split(),
            "# note",
            "",
        ]
    ),
    max_size=4,
)


@settings(max_examples=scale_examples(25))
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


def test_a_pattern_that_is_longer_than_any_path_lets_nothing_in(make) -> None:
    long = "a" * 5_000
    told: list[str] = []
    root = make(
        {"a.py": "", "sub/.ragignore": f"# {long}\n{long}\n", "sub/b.py": "", "other/.ragignore": f"# {long}\n"}
    )
    assert set(list_files(root, tell=told.append)) == {"a.py", "other/.ragignore"}
    assert any("4096 characters" in each for each in told)
    assert not list(list_files(root, Patterns((long,))))
    assert not list(list_files(root, Patterns((), (long,))))


def test_a_range_that_is_none_counts_as_it_does_for_git(make) -> None:
    root = make({".ragignore": "[z-a].py\nb.py\n", "a.py": "", "b.py": ""})
    assert set(list_files(root)) == {".ragignore", "a.py"}


@pytest.mark.slow
def test_a_file_a_thousand_folders_deep_is_listed_as_any_other(make) -> None:
    root = make({"a.py": "", ".ragignore": "*.gen.py\n"})
    folder = "d"
    for _ in range(1_100):
        (root / folder).mkdir()
        folder += "/d"
    folder = folder.removesuffix("/d")
    (root / folder / "b.py").touch()
    (root / folder / "c.gen.py").touch()
    assert set(list_files(root)) == {".ragignore", "a.py", f"{folder}/b.py"}
    assert admitted(root, ["a.py", f"{folder}/b.py", f"{folder}/c.gen.py"]) == {"a.py", f"{folder}/b.py"}
    assert admitted_folders(root, [folder]) == {folder}
    assert not Visibility(root).fault_of(f"{folder}/b.py")
    # Python's own function asks itself about each folder.
    subprocess.run(["rm", "-rf", root / "d"], check=True)


def _make_git_folder(folder: Path) -> None:
    write(folder, {"HEAD": "ref: refs/heads/main\n", "objects/.keep": "", "refs/.keep": ""})


def test_repositories_in_each_other_without_end_end_no_listing(tmp_path: Path) -> None:
    folder = write(tmp_path / "project", {"a.py": ""})
    for _ in range(120):
        folder = write(folder / "r", {"b.py": ""})
        _make_git_folder(folder / ".git")
    listed = list(list_files(tmp_path / "project"))
    assert {"a.py", "r/b.py", "r/r/b.py"} < set(listed)
    # The repository that is too deep is one name, as those are that are not entered.
    assert [path for path in listed if not path.endswith(".py")] == ["r/" * 50 + "r"]


def test_many_folders_like_bare_repositories_are_left_out_in_time(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "project", {"a.py": ""})
    for number in range(3_000):
        _make_git_folder(root / f"bare{number}")
    write(root, {"bare1.py": "", "bare2/hooks/b.py": ""})
    before_s = time.thread_time()
    assert set(list_files(root)) == {"a.py", "bare1.py"}
    assert time.thread_time() - before_s < 3

"""`rag-ls search -e` and `-F`: all lines, as grep writes them; `rag-ls refs`: where a symbol is used."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.commands import run_command
from tests.support import git_repository, write

pytestmark = pytest.mark.shared_engine

FILES = {
    "src/raw.go": "package raw\n\nfunc Encode(m Message) []byte {\n\treturn MakeRaw(m)\n}\n",
    "src/send.go": "package raw\n\nfunc Send(m Message) {\n\tpost(raw.MakeRaw(m), MakeRawest)\n}\n\nvar x = MakeRawest\n",
}


@pytest.fixture
def folder(repository: Path) -> Path:
    """A project that was never indexed."""
    return write(repository, FILES)


def search(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command("search", *arguments, folder=folder)


def test_all_lines_are_shown_counted_and_listed_by_file(folder: Path) -> None:
    done = search(folder, "-F", "MakeRaw")
    assert done.stdout.splitlines() == [
        "src/raw.go:4:9:\treturn MakeRaw(m)",
        "src/send.go:4:11:\tpost(raw.MakeRaw(m), MakeRawest)",
        "src/send.go:7:9:var x = MakeRawest",
    ]
    assert done.returncode == 0
    assert search(folder, "-F", "MakeRaw", "--count").stdout.strip() == (
        "3 places in 2 files, 1 of them inside longer words"
    )
    assert search(folder, "-F", "makeraw", "-w", "-i", "--count").stdout.strip() == "2 places in 2 files"
    assert search(folder, "-e", r"MakeRaw\w", "--files").stdout.splitlines() == ["src/send.go"]
    answer = json.loads(search(folder, "-e", r"^func\s+(Send|Encode)\(", "--json").stdout)
    assert [(place["path"], place["symbol"]) for place in answer["exact"]["places"]] == [
        ("src/raw.go", "Encode"),
        ("src/send.go", "Send"),
    ]


def test_several_paths_are_one_filter(folder: Path) -> None:
    both = search(folder, "-F", "MakeRaw", "--path", "src/raw.go", "--path", "src/send.go", "--files")
    assert both.stdout.splitlines() == ["src/raw.go", "src/send.go"]


def test_columns_count_bytes_as_grep_and_vim_do(folder: Path) -> None:
    write(folder, {"src/size.py": "größe = 1; needle = 2\n" + "ä" * 300 + " needle\n"})
    for question in (("-F", "needle"), ("-F", "needle", "--vimgrep"), ("needle", "--vimgrep", "--in", "code")):
        # Hits by meaning may follow.
        lines = search(folder, *question).stdout.splitlines()[:2]
        assert {line.rsplit(":", 1)[0] for line in lines} == {"src/size.py:1:14", "src/size.py:2:602"}, question


def test_a_blank_text_is_refused(folder: Path) -> None:
    done = search(folder, "-F", " ")
    assert (done.returncode, done.stderr) == (2, "rag-ls: -F needs a text that is not blank\n")


def test_the_exit_code_says_that_nothing_matches(folder: Path) -> None:
    for option in ("-F", "-e"):
        for more in ((), ("--count",), ("--files",), ("--json",)):
            done = search(folder, option, "nowhere_at_all", *more)
            assert done.returncode == 1, (option, more)
    for form in ("--files", "--paths", "--vimgrep"):
        assert search(folder, "-F", "nowhere_at_all", form).stdout == ""
    assert search(folder, "-F", "nowhere_at_all", "--count").stdout.strip() == "0 places in 0 files"


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("-e", "("), "no regular expression"),
        (("-w", "words"), "-F TEXT"),
        (("-e", "a", "-F", "b"), "give one of"),
        (("-F", "a", "question"), "give one of"),
        (("-F", "a", "--in", "memory"), "lines of code"),
        ((), "question is empty"),
    ],
)
def test_what_does_not_go_together_is_refused_with_the_remedy(
    folder: Path, arguments: tuple[str, ...], remedy: str
) -> None:
    done = search(folder, *arguments)
    assert done.returncode == 2, done.stderr
    assert remedy in done.stderr
    assert not done.stdout


def test_a_question_that_is_a_name_shows_its_lines_before_what_is_like_it(folder: Path) -> None:
    shown = search(folder, "MakeRaw").stdout
    assert "lines with MakeRaw: 3 places in 2 files" in shown
    assert shown.index("4  return MakeRaw(m)") < shown.index("src/raw.go:")


# --- refs


@pytest.mark.parametrize("place", ["fee.py:1", "fee.py:1:5", "fee.py:1:"])
def test_a_place_means_its_declaration_with_a_column_too(repository: Path, place: str) -> None:
    folder = write(repository, {"fee.py": "def fee(price):\n    return price\n\n\nprint(fee(1))\n"})
    done = run_command("refs", place, folder=folder)
    assert "5  call" in done.stdout, done.stderr
    assert "1 call in 1 file" in done.stdout


def test_a_name_with_a_line_end_is_a_path(repository: Path) -> None:
    write(repository, {"a\nb/fee.py": "def fee(price):\n    return price\n\n\nprint(fee(1))\n"})
    done = run_command("refs", "a\nb/fee.py:1", folder=repository)
    assert "1 call in 1 file" in done.stdout, done.stderr
    assert run_command("add", "Fees are net of tax", "--at", "a\nb/fee.py:1", folder=repository).returncode == 0


def test_a_variable_of_a_function_has_no_uses_elsewhere(repository: Path) -> None:
    code = "def {0}(price):\n    total = price\n    return total\n"
    folder = write(repository, {f"{name}.py": code.format(name) for name in ("fee", "tax")})
    done = run_command("refs", "fee.py:3:12", folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "'total' at line 3 is declared inside its function, or in no file of this project" in done.stderr


def test_a_method_that_ends_like_a_line_is_a_symbol_and_line_0_is_none(repository: Path) -> None:
    code = "class Address\n  def line1\n    1\n  end\n\n  def all\n    line1\n  end\nend\n"
    folder = write(repository, {"address.rb": code})
    done = run_command("refs", "Address#line1", folder=folder)
    assert "7  call" in done.stdout, done.stderr
    assert "lines count from 1" in run_command("refs", "address.rb:0", folder=folder).stderr


def test_paths_are_those_from_the_present_folder(repository: Path, tmp_path: Path) -> None:
    write(
        repository,
        {"a/fee.py": "def fee(price):\n    return price\n", "b/bill.py": "from a.fee import fee\n\nfee(1)\n"},
    )
    done = run_command("refs", "fee", "--callers", folder=repository / "a")
    assert done.stdout.splitlines()[0] == "../b/bill.py", done.stdout + done.stderr
    beside = git_repository(tmp_path / "beside", {})
    done = run_command("refs", f"{repository / 'a' / 'fee.py'}:1", "--callers", folder=beside)
    assert done.stdout.splitlines()[0] == os.path.relpath(repository / "b" / "bill.py", beside), (
        done.stdout + done.stderr
    )
    assert "paths are below" not in done.stdout

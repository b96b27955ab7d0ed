"""`rag-ls refs`: where a symbol is used, by its name or its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands import run_command
from tests.support import git_repository, write

pytestmark = pytest.mark.shared_engine


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

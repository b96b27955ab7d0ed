"""What people see on a terminal: colours, links, lines that fit, and a pager for what is longer."""

from __future__ import annotations

import json
import os
import re
import select
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from rich.console import Console

from rag_ls.cli.terminal import PLAIN, Paint, mark_controls
from tests.support import git_repository, write

pytestmark = pytest.mark.shared_engine

_COMMAND = Path(sys.executable).with_name("rag-ls")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")
_LONG_NAME = "reconcile_outstanding_invoices_with_incoming_payments"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A project with one function of a long name."""
    code = f"def {_LONG_NAME}(invoices, payments):\n    return [invoice for invoice in invoices if invoice]\n"
    return git_repository(tmp_path / "repository", {"billing/reconciliation/outstanding.py": code})


def on_a_terminal(
    folder: Path, *arguments: str, columns: int = 80, rows: int = 50, typed: str = "", **environment: str
) -> str:
    """Everything that a verb shows on a terminal where somebody has `typed` something."""
    pty, termios, fcntl = (pytest.importorskip(name) for name in ("pty", "termios", "fcntl"))
    child, ours = pty.fork()
    if child == 0:
        os.chdir(folder)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execve(_COMMAND, [str(_COMMAND), *arguments], {**os.environ, "TERM": "xterm-256color", **environment})
    os.write(ours, typed.encode())
    shown = b""
    # Linux ends the reading of a closed terminal with an error.
    with suppress(OSError):
        while select.select([ours], [], [], 120)[0]:
            block = os.read(ours, 65536)
            if not block:
                break
            shown += block
    os.close(ours)
    os.waitpid(child, 0)
    return shown.decode().replace("\r\n", "\n")


def _seen(shown: str) -> list[str]:
    """The lines without what only looks, and without a bar that was taken away before them."""
    return re.split(r"\n|\x1b\[2K", _COLOUR.sub("", _LINK.sub("", shown)))


def test_a_whole_text_keeps_its_long_lines(repository: Path) -> None:
    wanted = "return [invoice for invoice in invoices if invoice]"
    shown = on_a_terminal(repository, "search", "reconcile invoices", "--in", "code", "--full", columns=40)
    assert wanted in "\n".join(_seen(shown))
    found = subprocess.run(
        [_COMMAND, "search", "reconcile invoices", "--in", "code", "--json"],
        cwd=repository,
        capture_output=True,
        check=True,
    )
    shown = on_a_terminal(repository, "show", json.loads(found.stdout)["results"][0]["id"], columns=40)
    assert wanted in "\n".join(_seen(shown))


def test_a_hit_fits_the_terminal_and_its_place_opens_at_a_click(repository: Path) -> None:
    shown = on_a_terminal(repository, "search", "reconcile invoices", "--in", "code", columns=80)
    lines = [line for line in _seen(shown) if line and not line.startswith("rag-ls:")]
    start = next(number for number, line in enumerate(lines) if "outstanding.py:1 " in f"{line} ")
    assert all(len(line) <= 80 for line in lines[start:])
    assert lines[start + 1].startswith(f"    {_LONG_NAME}")
    assert lines[start + 2].startswith(f"  1  def {_LONG_NAME}")
    assert (repository / "billing/reconciliation/outstanding.py").as_uri() in _LINK.findall(shown)


def test_a_line_that_begins_far_to_the_right_shows_what_it_says_on_a_narrow_terminal() -> None:
    (shown,) = Paint(Console(width=40)).code(f"{' ' * 60}pay(invoice)", "python", margin=4)
    assert shown == f"{' ' * 18}pay(invoice)"


@pytest.mark.slow
def test_code_has_colourson_a_terminal_and_nowhere_else(repository: Path) -> None:
    assert "\x1b[" in on_a_terminal(repository, "search", "reconcile invoices", "--in", "code")
    assert re.search(r"\x1b\[1;4[0-9;]*mreconcile", on_a_terminal(repository, "reconcile invoices"))
    plain = on_a_terminal(repository, "search", "reconcile invoices", "--in", "code", NO_COLOR="1")
    # What remains is bold and faint text, and links.
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", plain)
    assert PLAIN.code("a\nb", "python") == ["a", "b"]
    assert PLAIN.style("a", "bold", link="file:///a") == "a"


def test_paths_start_at_the_present_folder(repository: Path) -> None:
    shown = on_a_terminal(repository / "billing", "search", "reconcile invoices", "--in", "code")
    assert any(line.startswith("reconciliation/outstanding.py:1") for line in _seen(shown))


@pytest.mark.slow
def test_what_is_longer_than_the_terminal_goes_through_the_pager(repository: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED; cat\n")
    pager.chmod(0o755)
    for number in range(6):
        assert "inserted" in on_a_terminal(repository, "add", f"Fact {number} stands alone", "--force")
    assert "PAGED" in on_a_terminal(repository, "list", rows=10, PAGER=str(pager), CI="")
    for nobody_types in ({"CI": "true"}, {"CLAUDECODE": "1"}, {"TERM": "dumb"}):
        assert "PAGED" not in on_a_terminal(repository, "list", rows=10, PAGER=str(pager), **nobody_types)
    assert "PAGED" not in on_a_terminal(repository, "list", "--no-pager", rows=10, PAGER=str(pager), CI="")
    assert "Fact 5" in on_a_terminal(repository, "list", rows=10, PAGER="", CI="")
    assert "PAGED" not in on_a_terminal(repository, "list", rows=50, PAGER=str(pager))
    assert "PAGED" not in on_a_terminal(repository, "list", "--json", rows=10, PAGER=str(pager))


@pytest.mark.slow
def test_indexing_shows_one_bar_until_everything_is_embedded(repository: Path) -> None:
    # Long enough that embedding them takes longer than a look at the bar.
    body = "".join(f"    amounts.append(rates[{line}] * quantities[{line}])\n" for line in range(40))
    write(repository, {f"src/part_{number}.py": f"def part_{number}(rates):\n{body}" for number in range(24)})
    shown = on_a_terminal(repository, "index")
    assert re.search(r"embedding chunks [\d,]+/[\d,]+ [━╸╺]+", _COLOUR.sub("", shown))
    assert any(line.startswith("index     complete") for line in _seen(shown))


@pytest.mark.slow
def test_a_file_s_text_gives_the_terminal_no_orders(tmp_path: Path) -> None:
    order, link = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b1m\r", "\x1b]8;;https://evil.example\x1b\\"
    root = git_repository(
        tmp_path / "stranger", {"pay.py": f"def settle():\r\n    # {order} {link} settle\r\n    return 1\r\n"}
    )
    name = f"a{order}settle.py"
    rule = {"id": "no-settle", "language": "python", "files": "*.py", "forbid": "settle", "message": f"never {order}"}
    write(root, {name: "settle = 1\n", "ARCHITECTURE.yml": json.dumps({"rules": [rule]})})
    assert subprocess_output(root, "index", "--words-only")
    for arguments in (("search", "settle"), ("check",), ("search", f"settle {order}")):
        shown = on_a_terminal(root, *arguments)
        left = _COLOUR.sub("", _LINK.sub("", shown))
        assert not set("\x1b\x07\x9b\r") & set(left.replace("\r\n", "\n"))
        assert "settle" in left
        assert "evil.example" not in "".join(_LINK.findall(shown))
    assert order in subprocess_output(root, "search", "settle")


def subprocess_output(folder: Path, *arguments: str) -> str:
    """What a verb prints into a pipe: there, text stays as it is."""
    done = subprocess.run([_COMMAND, *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


def test_our_colours_and_links_pass_a_terminal_and_no_others() -> None:
    colours = Paint(Console(force_terminal=True, color_system="standard", width=80))
    ours = mark_controls(colours.style("name", "bold", link="file:///a") + "\tb\r\nc")
    assert re.fullmatch(r"\x1b\]8;id=\d+;file:///a\x1b\\\x1b\[1mname\x1b\[0m\x1b\]8;;\x1b\\\tb\r\nc", ours)
    mark = "\N{REPLACEMENT CHARACTER}"
    assert mark_controls("a\x1b[2J\u202eb\rc") == f"a{mark}[2J{mark}b{mark}c"
    hidden, link = "\x1b[8mhidden\x1b[0m", "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\"
    for text in (hidden, link, colours.style(hidden + link, ""), *colours.code(hidden + link, "python")):
        assert "[8m" not in mark_controls(text).replace(f"{mark}[8m", "")
        assert "\x1b]8" not in mark_controls(text)


def test_standard_error_takes_no_orders_of_others_either(tmp_path: Path) -> None:
    said = on_a_terminal(tmp_path, "trust", "--no-such\x1b[2J")
    assert "No such option '--no-such" in said
    assert "\x1b" not in said

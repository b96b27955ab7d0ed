"""Promise: nothing in a document ends, hangs or swells the process that serves clients."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from rag_ls.chunking import Budget
from rag_ls.indexing import Cutters
from rag_ls.indexing.cutters import CutFile, Cutting
from rag_ls.indexing.files import Source
from rag_ls.indexing.listing import list_files
from rag_ls.storage import FileState
from rag_ls.util.git import GitSilent, Silence, ask_git
from tests.chunking.samples import SAMPLES, Sample
from tests.daemon.engines import answer, run
from tests.e2e.clients import agent, editor
from tests.grammars import SYNTAXES
from tests.promises.forged_index import forge_packed_index
from tests.support import PATIENCE_S, engine_pid, write

pytestmark = pytest.mark.slow


DEADLY = {
    # Its scanner recurses.
    "comments.ml": "(*\n" * 200_000,
    # Its parser keeps every reading of it: gigabytes.
    "comments.py": "/*\n" * 3_000,
    "comments.c": "{-\n" * 100_000,
}
_CUTTING = Cutting(Budget(224, 24, 24))


@pytest.mark.parametrize("name", DEADLY)
async def test_a_typed_text_that_crashes_or_swells_its_parser_leaves_the_engine_as_it_was(
    repository: Path, name: str
) -> None:
    async with editor(repository) as window, agent(repository) as helper:
        await helper.until_complete()
        before = engine_pid()
        assert before
        window.open(repository / name, DEADLY[name], language=Path(name).suffix[1:])
        await window.until_complete()
        window.type(repository / name, "let found_again = 1\n")
        await window.until_complete()
        found = await helper.call("search_code", query="found_again")
        assert [hit["path"] for hit in found["results"]][:1] == [name]
        assert engine_pid() == before
        # The engine's own memory: it has not parsed.
        assert psutil.Process(before).memory_info().rss < 900_000_000


def test_a_file_that_crashes_its_parser_is_found_by_its_lines_and_named_with_the_reason(repository: Path) -> None:
    write(repository, {"src/deadly.ml": DEADLY["comments.ml"] + "\nlet round_amount_half_up = 1\n"})
    assert run("index", folder=repository).returncode == 0
    before = engine_pid()
    found = answer("search", "round_amount_half_up", "-k", "3", folder=repository)
    assert found["results"][0]["path"] == "src/deadly.ml"
    status = run("status", "--skipped", folder=repository)
    assert "src/deadly.ml: cut by lines: when it was parsed, it crashed" in status.stdout
    assert run("index", folder=repository).returncode == 0
    assert engine_pid() == before


async def test_rules_of_a_repository_that_do_not_end_leave_the_engine_and_the_other_rules_as_they_were(
    repository: Path,
) -> None:
    rules = "rules:\n  - {id: slow, file_names: '(a|aa)+'}\n  - {id: style, file_names: snake_case}\n"
    slow = f"{'a' * 60}B.py"
    write(repository, {"ARCHITECTURE.yml": rules, slow: "x = 1\n"})
    async with agent(repository) as helper:
        await helper.until_complete()
        before = engine_pid()
        diff = f"--- a/{slow}\n+++ b/{slow}\n@@ -0,0 +1 @@\n+x = 1\n"
        found = await helper.call("rag_check_constraints", diff=diff)
        assert [each["rule"] for each in found["violations"]] == ["slow", "style"]
        assert "takes too long" in found["violations"][0]["message"]
        assert (await helper.call("search_code", query="round amount"))["results"]
        assert engine_pid() == before


async def test_patterns_and_lines_that_regular_expressions_are_never_done_with_hold_nobody_up(repository: Path) -> None:
    slow, long = "*a" * 14 + "*b", "a" * 200
    deep = "/".join(["a" * 99] * 4)
    write(repository, {
        ".ragignore": f"{slow}\n**/{'a*/**/' * 12}b\n[z-a]\n*a*a*a*.gen.py\n",
        ".rag-ls/config.toml": f"[index]\nexclude = ['{slow}', '{slow}/**/{slow}']\n",
        f"{long}.py": "def long_name(): ...\n", f"{long}.gen.py": "def generated(): ...\n",
        f"{deep}.py": "def deep_name(): ...\n",
    })  # fmt: skip
    async with agent(repository) as helper, editor(repository) as window:
        await helper.until_complete()
        found = await helper.call("list_symbols", path_glob="**a**a**a**a**a**a**a.py")
        assert {symbol["path"] for symbol in found["symbols"]} == {f"{long}.py", f"{deep}.py"}
        assert not (await helper.call("search_code", query="name", path_glob="**a**a**a**a**a**a**a**/b"))["results"]
        window.open(repository / "min.py", "a" * 1_000_000 + " " + "é" * 1_000_000)
        for character in (5, 500_000, 1_500_000):
            await window.hover(repository / "min.py", 0, character)


_READ_LONG_TEXTS = """
from rag_ls.http.sessions import _OUR_FILES
from rag_ls.lsp.features.actions import note_in
from rag_ls.memory.portable.foreign import pieces, sections
from rag_ls.rules.checks.checker import find_suppressions
from rag_ls.languages import LANGUAGES
from rag_ls.languages.families.go import _MODULE
from rag_ls.languages.patterns import compile_lines
from rag_ls.languages.families.rust import _GIVEN, _INLINE, _PATH, _RENAMED, _SECTION, _VALUE, _WITHIN
from rag_ls.rules.scopes import paths_named
from rag_ls.search.query import analyse
from rag_ls.util.secret_texts import blank_secrets

conventions = [each.tests for each in LANGUAGES.values() if each.tests is not None]
declared = [compile_lines(tests.declared) for tests in conventions if tests.declared]
manifests = (_RENAMED, _SECTION.format("lib"), _VALUE.format("name"), _GIVEN)
keys = "-----BEGIN PRIVATE KEY-----\\n", "PRIVATE KEY", "://a:", "eyJaaaaaaaaaaaa.", "Basic AAAA", ":AA", "PuTTY-User-Key-File-3: ssh-a\\n"
keys += keys[-1] + "Private-MAC: a\\n", "sk-ant-", "AKC", "LS0tL"
for unit in ("a", " ", "\\n", "a-", "*", "a/", "<!--", "TOKEN", "memories", *keys):
    text = unit * (500_000 // len(unit))
    analyse(text)
    paths_named(text)
    note_in(f"# {text}b", "python")
    for _, lines in (*sections(text), *sections(f"# a{text}b\\n")):
        pieces(lines)
    find_suppressions(f"# rag-ls: ignore[x]{text}b")
    blank_secrets("production", text[:40_000] + ".=1")
    blank_secrets("a.py", text)
    for pattern in (_OUR_FILES, compile_lines(_MODULE), *map(compile_lines, manifests), *declared):
        pattern.match(text)
        pattern.search(text)
    for pattern in map(compile_lines, (_INLINE, _PATH, _WITHIN)):
        list(pattern.finditer(text.encode()))
    for tests in conventions:
        list(tests.libraries_in(text))
"""


def test_texts_of_one_letter_are_read_in_time() -> None:
    # A regular expression that is never done lets no other thread stop it.
    done = subprocess.run([sys.executable, "-c", _READ_LONG_TEXTS], timeout=PATIENCE_S, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Hostile:
    """Texts that grammars were not made for, from one random source."""

    def __init__(self, sample: Sample, seed: int) -> None:
        self._sample = sample
        self._random = random.Random(f"{sample.language} {seed}")

    def texts(self) -> Iterator[str]:
        """One of each kind."""
        pick, text = self._random, self._sample.text
        yield self._nested()
        yield text[: pick.randrange(len(text))] * 3
        yield self._opened() * pick.choice((100, 3_000, 50_000))
        yield text.replace("\n", " ") * (pick.choice((10, 5_000_000 // len(text))))
        yield "".join(
            pick.choice((text[at : at + 7], "\0", "\ud800", "\x85", "\U0001f600")) for at in range(0, len(text), 7)
        )
        yield bytes(pick.randrange(256) for _ in range(20_000)).decode("utf-8", "surrogateescape")
        at, to = sorted(pick.randrange(len(text)) for _ in range(2))
        yield text[:at] + text[to:] * 2 + text[at:to]

    def _nested(self) -> str:
        pairs = (
            ("(", ")"),
            ("[", "]"),
            ("{", "}"),
            ("<a>", "</a>"),
            ("if x {", "}"),
            ("begin ", " end"),
            ('"${', '}"'),
        )
        opening, closing = self._random.choice(pairs)
        depth = self._random.choice((300, 10_000))
        return f"{self._sample.text}\n{opening * depth}x{closing * depth}\n"

    def _opened(self) -> str:
        units = (
            "/*\n",
            "(*\n",
            "{-\n",
            "<!--\n",
            "'''\n",
            '"""\n',
            "`",
            "#[",
            "${",
            "<<X\n",
            "- ",
            "> ",
            "\t",
            "if x then\n",
            "((",
        )
        return self._random.choice(units)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_hostile_texts_are_cut_whole_whatever_they_do_to_their_process(
    sample: Sample, cutters: Cutters, times: Callable[[int], int]
) -> None:
    assert sample.language in SYNTAXES
    for seed in range(times(4)):
        for text in Hostile(sample, seed).texts():
            data = text.encode("utf-8", "surrogatepass")
            source = Source(text, hashlib.sha256(data).hexdigest(), FileState(len(data), 0, 0, 1))
            cut = cutters.cut_text(sample.path, source, sample.language, _CUTTING, {}, "session")
            assert isinstance(cut, CutFile)
            assert "".join(new.chunk.text for new in cut.chunks) == text


@pytest.mark.parametrize("kind", ["itself", "a chain", "a pipe"])
def test_settings_of_git_that_include_without_end_hold_up_nothing(repository: Path, kind: str) -> None:
    include = "[include]\n\tpath = {}\n"
    (repository / ".git/config").open("a").write(include.format("config" if kind == "itself" else "a0") * 40)
    if kind == "a chain":
        write(repository / ".git", {f"a{at}": include.format(f"a{at + 1}") * 10 for at in range(9)})
    elif kind == "a pipe":
        os.mkfifo(repository / ".git/a0")
    told = run("status", "--standalone", folder=repository)
    assert told.returncode == 0
    assert "git cannot read it" in told.stdout + told.stderr


def test_settings_of_git_in_many_large_files_hold_up_nothing(repository: Path) -> None:
    large = "[a]\n\tb = " + "\\\\x" * 300_000 + "\n"
    write(repository / ".git", {f"large{at}": large for at in range(90)})
    with (repository / ".git/config").open("a") as stream:
        stream.writelines(f"[include]\n\tpath = large{at}\n" for at in range(90))
    before_s = time.thread_time()
    assert list(list_files(repository))
    assert time.thread_time() - before_s < 20


def test_what_git_reads_without_end_takes_no_memory_without_end(repository: Path, tmp_path: Path) -> None:
    write(tmp_path / "objects", {"info/kept": ""})
    (tmp_path / "objects/info/alternates").symlink_to("/dev/zero")
    write(repository, {".git/objects/info/alternates": f"{tmp_path}/objects\n"})
    with pytest.raises(GitSilent) as raised:
        ask_git(repository, "cat-file", "-t", "0" * 39 + "1")
    # It was ended by its limit of memory, not of time.
    assert raised.value.kind is Silence.FAILED


@pytest.mark.skipif(os.name != "posix", reason="other systems have no pipes in folders")
def test_a_git_that_reads_a_pipe_is_ended_when_its_time_is_over(repository: Path) -> None:
    (repository / ".gitignore").unlink(missing_ok=True)
    os.mkfifo(repository / ".gitignore")
    with pytest.raises(GitSilent) as silent:
        ask_git(repository, "ls-files", "-o", "--exclude-standard", timeout_s=1)
    assert silent.value.kind is Silence.LATE


@pytest.mark.skipif(os.name != "posix", reason="it is a script of the shell")
def test_a_script_in_place_of_git_is_ended_with_what_it_runs(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = write(tmp_path, {"programs/git": "#!/bin/sh\nsleep 60\nexit 1\n"}) / "programs/git"
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)
    before = time.monotonic()
    with pytest.raises(GitSilent) as silent:
        ask_git(repository, "rev-parse", "HEAD", timeout_s=1)
    assert silent.value.kind is Silence.LATE
    assert time.monotonic() - before < 30


@pytest.mark.parametrize(
    ("count", "length", "reason"), [(2000, 200_000, "a name of more than"), (6000, 95_000, "more than 500 MB")]
)
def test_a_small_index_that_git_unpacks_without_measure_takes_no_memory(
    repository: Path, count: int, length: int, reason: str
) -> None:
    forge_packed_index(repository, count, length)
    assert (repository / ".git/index").stat().st_size < 1_000_000
    told: list[str] = []
    tracemalloc.start()
    try:
        listed = set(list_files(repository, tell=told.append))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert reason in told[0]
    assert "without git" in told[0]
    assert listed


_READ_WHOLE = (
    ".rag-ls/config.toml", ".rag-ls/rules.json", ".rag-ls/memories.id", ".rag-ls/.gitignore", ".gitignore", ".ragignore",
    "ARCHITECTURE.yml", "sgconfig.yml", ".importlinter", "pyproject.toml", "package.json",
    "tsconfig.json", "go.mod", "Cargo.toml", "CLAUDE.md", ".mcp.json", ".claude/settings.json", ".git/HEAD", ".git/config",
    ".git/info/exclude", ".git/logs/HEAD", ".git/commondir", ".git/index",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["device", "sparse"])
def test_a_file_that_never_ends_is_not_read(repository: Path, kind: str) -> None:
    for path in _READ_WHOLE:
        place = repository / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        if kind == "device":
            place.symlink_to("/dev/zero")
        else:
            with place.open("wb") as stream:
                stream.truncate(1 << 40)
    for command in (
        ("index",), ("search", "area"), ("status",), ("check",), ("rules",), ("rules", "setup"), ("list",), ("doctor",),
        ("connect", "claude-code", "--write"),
    ):  # fmt: skip
        done = run(*command, folder=repository)
        assert "Traceback" not in done.stderr, (command, done.stderr)
    pid = engine_pid()
    assert pid is not None
    assert psutil.Process(pid).memory_info().rss < 600e6

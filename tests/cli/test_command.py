"""The installed `rag-ls` command, as a process."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_ls.cli.main import main
from tests.commands import run_command
from tests.support import IS_ROOT, memories_file, until, write

pytestmark = pytest.mark.shared_engine

_COMMAND = Path(sys.executable).with_name("rag-ls")


def _run(folder: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return run_command(*arguments, folder=folder, typed=typed)


def _json(folder: Path, *arguments: str, code: int = 0, typed: str = "") -> Any:
    done = _run(folder, *arguments, "--json", typed=typed)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def indexed(repository: Path) -> Path:
    """The shop, indexed by the command."""
    assert _run(repository, "index").returncode == 0
    return repository


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom rag_ls.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as end:\n    code = end.code\n"
        "heavy = {'torch', 'sentence_transformers', 'transformers', 'pygls', 'mcp', 'rich', 'numpy', 'onnxruntime', "
        "'tree_sitter', 'usearch'}\n"
        "print(code, sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "0 []"
    assert "search" in done.stdout


@pytest.mark.parametrize(
    "line",
    [["lsp"], ["lsp", "--standalone"], ["mcp"], ["mcp", "--project", "."], ["mcp", "--project=.", "--standalone"]],
)
def test_servers_that_clients_start_do_not_import_rich(line: list[str]) -> None:
    script = (
        "import sys\nfrom rag_ls.cli import main, servers\n"
        "def run(arguments):\n    print(arguments.standalone, sorted({'rich'} & set(sys.modules)))\n    return 0\n"
        "servers.lsp = servers.mcp = run\nmain.main(sys.argv[1:])"
    )
    done = subprocess.run([sys.executable, "-c", script, *line], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == f"{'--standalone' in line} []"


def test_importing_the_package_imports_nothing_of_others() -> None:
    script = (
        "import sys; before = set(sys.modules); import rag_ls\n"
        "print(sorted(name for name in set(sys.modules) - before if sys.modules[name] is not None))"
    )
    variables = {name: value for name, value in os.environ.items() if name != "RAG_LS_CHECK_LOCKS"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True, env=variables
    )
    assert done.stdout.strip() == "['rag_ls']"


@pytest.mark.parametrize("verb", ["index", "search", "add", "list", "show", "delete", "status", "config", "lsp", "mcp"])
def test_every_verb_explains_itself(tmp_path: Path, verb: str) -> None:
    done = _run(tmp_path, verb, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: rag-ls {verb}")


def test_help_covers_the_first_verbs_all_of_them_a_group_and_one(tmp_path: Path) -> None:
    first = _run(tmp_path, "--help")
    assert (first.returncode, first.stdout) == (0, _run(tmp_path, "help").stdout)
    everything = _run(tmp_path, "help", "--all").stdout
    assert "consolidate" in everything
    assert "consolidate" not in first.stdout
    below = _run(tmp_path, "help", "memory", "list").stdout
    assert below.replace("rag-ls memory list [", "rag-ls list [") == _run(tmp_path, "list", "--help").stdout
    assert "consolidate" in _run(tmp_path, "memory", "--help").stdout
    assert _run(tmp_path, "memories").stdout == _run(tmp_path, "memory", "--help").stdout
    assert "there is no verb 'frob'" in _run(tmp_path, "help", "frob").stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            ("search", "x", "--patth", "src"),
            "`rag-ls search`: No such option '--patth'. (Did you mean one of: '--path',",
        ),
        (("status", "shop"), "`rag-ls status`: Got unexpected extra argument (shop)"),
        (
            ("rules", "check", "x", "--num-result=3"),
            "`rag-ls rules check`: No such option '--num-result'. Did you mean '--num-results'",
        ),
        (("list", "all", "branches"), "and `rag-ls ask ...` asks a question"),
        (
            ("token", "add", "x", "--scpe", "read"),
            "`rag-ls token add`: No such option '--scpe'. Did you mean '--scope'",
        ),
        (("--color",), "No such option '--color'"),
    ],
)
def test_a_word_that_a_verb_does_not_take_is_named_with_what_was_meant(
    tmp_path: Path, line: tuple[str, ...], told: str
) -> None:
    done = _run(tmp_path, *line)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            ("delete",),
            "`rag-ls delete`: Missing argument 'ID...'; `rag-ls delete --help` shows what it takes, e.g. `rag-ls delete 7",
        ),
        (
            ("token", "add"),
            "`rag-ls token add`: Missing argument 'NAME'; `rag-ls token add --help` shows what it takes",
        ),
        (("search", "x", "-k"), "`rag-ls search`: Option '-k' requires an argument;"),
        (
            ("search", "x", "-k", "many"),
            "`rag-ls search`: Invalid value for '-k' / '--k': 'many' is not a valid integer;",
        ),
        (("list", "--order", "age"), "`rag-ls list`: Invalid value for '--order': 'age' is not one of 'updated',"),
        (("refs", "x", "--callers", "--callees"), "give one of --callers, --callees"),
        (("rules", "check"), "`rag-ls rules check` needs the change in words, --diff or --file"),
        (("rules", "impact"), "give the path of a file, --symbol or --changed"),
    ],
)
def test_a_line_that_lacks_something_is_answered_in_one_line(tmp_path: Path, line: tuple[str, ...], told: str) -> None:
    (tmp_path / ".git").mkdir()
    done = _run(tmp_path, *line)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert told in done.stderr


def test_help_ends_in_silence_where_its_reader_has_seen_enough() -> None:
    closed, out = os.pipe()
    os.close(closed)
    with os.fdopen(out, "w") as stdout:
        done = subprocess.run(
            [str(_COMMAND), "help", "--all"], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux that is always full")
@pytest.mark.parametrize("line", [("help",), ("list",), ("list", "--json"), ("connect", "neovim")])
def test_what_cannot_be_printed_is_said_in_a_line(repository: Path, line: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as stdout:
        done = subprocess.run(
            [str(_COMMAND), *line],
            cwd=repository,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stderr.splitlines()[-1] == (
        "rag-ls: cannot write: No space left on device; the answer is not printed whole, what the command changed is changed"
    )
    assert done.returncode == 1


def test_an_option_before_the_verb_and_one_that_stands_twice_are_refused_with_the_remedy(tmp_path: Path) -> None:
    done = _run(tmp_path, "--standalone", "status")
    assert done.stderr == "rag-ls: --standalone belongs behind the verb: `rag-ls status ... --standalone`\n"
    assert done.returncode == 2
    done = _run(tmp_path, "status", "--project", "a", "--project=b")
    assert "Invalid value for '--project': it is given twice, and a verb works in one project: keep one;" in done.stderr
    assert done.returncode == 2


@pytest.mark.slow
def test_a_question_needs_no_verb(indexed: Path) -> None:
    for words in (["apply the discount"], ["apply", "the", "discount"], ["ask", "discount"], ["--", "discount"]):
        assert "src/cart.py" in _run(indexed, *words).stdout


def test_the_version_is_the_package_s(tmp_path: Path) -> None:
    from rag_ls import __version__

    assert _run(tmp_path, "--version").stdout == f"rag-ls {__version__}\n"


def test_index_prints_data_to_stdout_and_progress_to_stderr(repository: Path) -> None:
    done = _run(repository, "index", "--json")
    assert done.returncode == 0
    status = json.loads(done.stdout)
    assert (status["documents"], status["complete"], status["pending_embeddings"]) == (4, True, 0)
    assert "rag-ls: " in done.stderr


def test_index_of_words_only_leaves_the_embeddings(repository: Path) -> None:
    status = _json(repository, "index", "--words-only")
    assert (status["documents"], status["queued_documents"]) == (4, 0)
    assert status["complete"] == (status["pending_embeddings"] == 0)


@pytest.mark.slow
def test_a_search_in_a_project_that_was_never_indexed_finds_its_words_and_says_what_it_waits_for(
    repository: Path,
) -> None:
    # So many that they are not read before the command can say so.
    write(
        repository, {f"lib/file{number}.py": f"def function_{number}():\n    return 1\n" * 20 for number in range(600)}
    )
    done = _run(repository, "search", "discount", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["results"][0]["path"] == "src/cart.py"
    assert "reading the files of this project" in done.stderr


@pytest.mark.slow
def test_what_nobody_works_on_is_called_idle_with_what_starts_it(shop: Path) -> None:
    assert _run(shop, "index", "--words-only").returncode == 0
    assert "activity  idle: `rag-ls index` goes on" in _run(shop, "status").stdout
    assert _run(shop, "index").returncode == 0
    assert "not complete" not in _run(shop, "search", "discount").stdout
    assert "idle" not in _run(shop, "status").stdout


def test_a_search_goes_on_embedding_after_its_answer(shop: Path) -> None:
    assert _run(shop, "index", "--words-only").returncode == 0
    assert not _json(shop, "status")["complete"]
    assert "idle" not in _json(shop, "search", "discount")["stats"]
    assert until(lambda: _json(shop, "status")["complete"])


def test_the_bare_command_shows_where_one_stands_and_what_to_do_next(indexed: Path, tmp_path: Path) -> None:
    done = _run(indexed)
    assert done.returncode == 0
    assert f"project   {indexed}" in done.stdout
    assert "rag-ls search 'a question in words'" in done.stdout
    empty = tmp_path / "empty"
    empty.mkdir()
    done = _run(empty)
    assert done.returncode == 0
    assert "is no project" in done.stdout
    assert "rag-ls index " in done.stdout
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("verb", ["lsp", "mcp"])
def test_a_server_started_by_hand_says_what_it_waits_for(tmp_path: Path, verb: str) -> None:
    ours, theirs = pytest.importorskip("pty").openpty()
    server = subprocess.Popen(
        [str(_COMMAND), verb], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    try:
        assert server.stderr is not None
        assert b"waits for" in server.stderr.readline()
    finally:
        server.kill()
        server.communicate()
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_ask_for_completions(tmp_path: Path, shell: str) -> None:
    done = _run(tmp_path, "completions", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_RAG_LS_COMPLETE" in done.stdout
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", {"search", "undo", "consolidate", "engine", "token"}),
        ("token ", {"add", "list", "revoke"}),
        ("engine st", {"start", "stop", "status"}),
        ("search --min", {"--min-similarity"}),
        ("memory list --order ", {"updated", "created", "importance", "uses", "least_used"}),
    ],
)
def test_completions_know_the_verbs_and_their_options(tmp_path: Path, typed: str, offered: set[str]) -> None:
    words = f"rag-ls {typed}"
    asked = {"_RAG_LS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = run_command(folder=tmp_path, environment={**os.environ, **asked})
    assert offered <= {line.removeprefix("plain,") for line in done.stdout.splitlines()}


def test_a_filter_that_matches_nothing_says_so(indexed: Path) -> None:
    answer = _json(indexed, "search", "discount", "--path", "nowhere/**", "--in", "code", code=1)
    assert answer["results"] == []
    note = "path_glob = 'nowhere/**' matches no file of the index; the nearest are docs/, src/"
    assert answer["stats"]["note"] == note


def test_a_question_that_nothing_answers_fails_with_the_nearest_and_advice(indexed: Path) -> None:
    answer = _json(indexed, "search", "asdkjhasd qweoiu zzz", code=1)
    assert len(answer["results"]) <= 2
    assert answer["stats"]["nothing_close"]
    assert "nothing is close to this" in _run(indexed, "search", "asdkjhasd qweoiu zzz").stdout


def test_min_similarity_means_memories_by_their_meaning_and_code_by_its_score(indexed: Path) -> None:
    _json(indexed, "add", "A discount is never more than half of the price")
    found = _json(indexed, "search", "discount")["results"]
    scores = [hit["score"] for hit in found if hit["kind"] == "chunk"]
    limit = sorted(scores)[len(scores) // 2] + 0.001
    kept = _json(indexed, "search", "discount", "--min-similarity", str(limit), "--in", "code")["results"]
    assert all(hit["score"] >= limit for hit in kept)
    assert len(kept) < len(scores)

    def recalled(*options: str) -> list[str]:
        return [hit["id"] for hit in _json(indexed, "search", "discount", "--in", "memory", *options)["results"]]

    assert recalled("--min-similarity", "0.7") == recalled() != []


def test_the_nearest_memory_is_offered_as_weak_where_nothing_else_answers(indexed: Path) -> None:
    _json(indexed, "add", "Customers get their money back within ten days")
    weak = _json(indexed, "search", "how long do refunds take", "--in", "memory", "--min-similarity", "0.95")
    assert [hit["kind"] for hit in weak["results"]] == ["memory"]
    assert weak["stats"]["note"].startswith("weak: no memory is close enough")
    both = _json(indexed, "search", "discount", "--min-similarity", "0.95", "--in", "code,memory")
    assert "memory" not in [hit["kind"] for hit in both["results"]] or not both["results"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--standalone"]])
def test_settings_that_are_wrong_are_told_once_by_every_verb(indexed: Path, options: list[str]) -> None:
    write(indexed, {"rag-ls.toml": "[search\ncode_k = 3\n"})
    for verb in (["status"], ["search", "discount"], ["list"], ["delete", "12345678", "87654321", "--yes"]):
        done = _run(indexed, *verb, *options)
        assert done.stderr.count("is not TOML") == 1, done.stderr
        assert "is not TOML" not in done.stdout


def test_a_deleted_folder_is_said_to_be_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    for verb in (
        ["status"],
        ["search", "x"],
        ["list"],
        ["add", "A fact that is worth keeping"],
        ["index"],
        ["config"],
        ["doctor"],
    ):
        script = f"import os, sys; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); os.execv({str(_COMMAND)!r}, ['rag-ls', *sys.argv[1:]])"
        gone.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", script, *verb], capture_output=True, text=True, timeout=120, check=False
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == 1
        assert "this folder was deleted" in done.stderr


class _DeletesTheFolder(io.BytesIO):
    """A diff whose reader finds that the present folder was deleted meanwhile."""

    def read(self, size: int | None = -1) -> bytes:
        os.rmdir(os.getcwd())
        return super().read(size)


def test_a_folder_that_is_deleted_while_a_command_runs_is_said_to_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(_DeletesTheFolder(b"diff --git a/a.py b/a.py")))
    with pytest.raises(SystemExit) as ended:
        main(["rules", "check", "--diff", "-"])
    assert (ended.value.code, "this folder was deleted" in capsys.readouterr().err) == (1, True)


@pytest.mark.slow
def test_a_search_by_meaning_finds_code_and_memories(indexed: Path) -> None:
    _json(indexed, "add", "Carts are priced net of tax", "--tag", "money", "--at", "src/cart.py:2")
    # The memory's file is a change in the tree, which the index may still be comparing.
    assert until(lambda: _json(indexed, "search", "basket")["stats"]["complete"])
    answer = _json(indexed, "search", "what does the basket cost")
    assert answer["stats"]["dense"]
    kinds = {(hit["kind"], hit.get("path") or hit["content"]) for hit in answer["results"]}
    assert {("chunk", "src/cart.py"), ("memory", "Carts are priced net of tax")} <= kinds
    memory = next(hit for hit in answer["results"] if hit["kind"] == "memory")
    assert (memory["anchor"]["path"], memory["anchor"]["state"]) == ("src/cart.py", "fresh")


def test_tools_are_given_paths_or_lines_and_an_exit_code(indexed: Path) -> None:
    assert _run(indexed / "src", "search", "discount", "--paths", "-k", "1").stdout == "cart.py\n"
    lines = _run(indexed, "search", "discount", "--vimgrep", "-k", "1").stdout.splitlines()
    assert all(line.startswith("src/cart.py:") and len(line.split(":", 3)) == 4 for line in lines)
    nothing = _run(indexed, "search", "discount", "--paths", "--path", "nowhere/**")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert "rag-ls: --path 'nowhere/**' matches no file of the index; the nearest are docs/, src/" in nothing.stderr


def test_paths_that_end_with_a_nul_byte_are_those_of_the_disk(indexed: Path) -> None:
    name = "two\nlines of gold.py"
    write(indexed, {name: "def weigh_nuggets():\n    return 'weighed nuggets'\n"})
    assert _run(indexed, "index").returncode == 0
    for question in (["weigh_nuggets"], ["-F", "weighed nuggets"]):
        found = _run(indexed, "search", *question, "-0", "-k", "1")
        assert (found.returncode, found.stdout) == (0, f"{name}\0")
        assert _run(indexed, "search", *question, "--paths", "-k", "1").stdout == "two\\nlines of gold.py\n"
    assert _run(indexed, "search", "-F", "no such text", "-0").stdout == ""
    assert "give one of" in _run(indexed, "search", "weigh_nuggets", "-0", "--json").stderr


@pytest.mark.slow
def test_a_search_takes_in_what_changed_since_the_last_run(indexed: Path) -> None:
    write(indexed, {"src/new.py": "def zebra():\n    return 1\n"})

    def found() -> bool:
        # It fails as long as nothing is found.
        done = _run(indexed, "search", "zebra", "--in", "code", "--path", "src/**", "-k", "1", "--json")
        answer = json.loads(done.stdout)
        return [(hit["path"], hit["freshness"]) for hit in answer["results"]] == [("src/new.py", "disk")]

    assert until(found)


def test_a_search_works_from_a_folder_inside_the_project(indexed: Path) -> None:
    answer = _json(indexed / "docs", "search", "discount", "--in", "code")
    assert answer["results"][0]["path"] == "src/cart.py"
    assert not (indexed / "docs/.rag-ls").exists()


def test_memories_are_added_listed_shown_and_deleted(repository: Path) -> None:
    stored = _json(
        repository, "add", "-", "--scope", "global", "--tag", "a", "--tag", "b", typed="from standard input\n"
    )
    assert stored["status"] == "inserted"
    listed = _json(repository, "list")
    assert [(memory["content"], memory["metadata"]["tags"]) for memory in listed["memories"]] == [
        ("from standard input", ["a", "b"])
    ]
    assert _json(repository, "list", "--scope", "project")["total"] == 0
    assert _json(repository, "show", stored["id"][:8])["content"] == "from standard input"
    assert _json(repository, "delete", stored["id"][:8])["deleted"]
    assert _json(repository, "list")["total"] == 0


def test_a_relative_place_starts_from_the_shell_s_folder(indexed: Path) -> None:
    stored = _json(indexed / "src", "add", "about the cart", "--at", "cart.py")
    assert stored["anchor"]["path"] == "src/cart.py"


@pytest.mark.slow
def test_a_place_is_read_however_it_is_written(indexed: Path) -> None:
    file = indexed / "src/cart.py"
    for at in (
        "src/cart.py:2:5", f"file://{file}#L2", "src/cart.py:2\n", "`src/cart.py:2`", "src/cart.py#L2-L3", f"{file}:2:", "b/src/cart.py:2",
    ):  # fmt: skip
        anchor = _json(indexed, "add", f"Known of {at}", "--at", at, "--force")["anchor"]
        assert (anchor["path"], anchor["line"]) == ("src/cart.py", 2), at


@pytest.mark.parametrize(
    "at", ["\n", " ", ":5", "https://example.org/cart", "src/nothing.py:abc", "src/nothing.py:3:1", "src/cart.py:0"]
)
def test_a_place_that_is_none_is_refused_and_named(indexed: Path, at: str) -> None:
    done = _run(indexed, "add", "about the cart", "--at", at)
    assert done.returncode != 0
    assert re.search("names no file|no file of the project|does not exist|is no place|lines count from 1", done.stderr)
    assert _json(indexed, "list")["total"] == 0


def test_a_chunk_is_shown_by_its_id(indexed: Path) -> None:
    hit = _json(indexed, "search", "discount", "--in", "code")["results"][0]
    done = _run(indexed, "show", hit["id"])
    assert done.returncode == 0
    assert "src/cart.py" in done.stdout


def test_the_status_tells_what_is_missing(repository: Path) -> None:
    before = _json(repository, "status")
    assert not before["complete"]
    assert before["queued_documents"] == 4
    _json(repository, "index")
    after = _json(repository, "status")
    assert after["complete"]
    assert after["documents"] == 4
    write(repository, {"src/new.py": "x = 1\n"})
    later = _json(repository, "status")
    # The engine may have taken the file in already.
    assert not later["complete"] or later["documents"] == 5


@pytest.mark.slow
def test_the_status_tells_of_memories_and_rules_too_and_others_say_so(indexed: Path) -> None:
    _json(indexed, "add", "Carts are priced net of tax", "--at", "src/cart.py:2")
    write(indexed, {"CONSTRAINTS.md": "# Rules\n\nNever call the bank from a cart.\n"})
    assert _run(indexed, "index", "--words-only").returncode == 0
    assert "\nrules     1 section of constraints\n" in _run(indexed, "status").stdout
    assert "memories  1 project, 0 global\n" in _run(indexed, "status").stdout
    for verb in (["stats"], ["rules", "status"], ["rules", "health"], ["doctor"]):
        assert "`rag-ls status` shows" in _run(indexed, *verb).stdout


def test_a_huge_number_of_hits_is_refused_as_json_too(indexed: Path) -> None:
    assert "at most 100" in _json(indexed, "search", "x", "-k", "100000", code=2)["error"]["message"]


@pytest.mark.slow
@pytest.mark.skipif(IS_ROOT and shutil.which("setpriv") is None, reason="permissions do not bind root")
def test_a_folder_that_cannot_be_written_is_searched_from_an_index_elsewhere(shop: Path) -> None:
    # What root may do besides is taken from it.
    bound = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if IS_ROOT else []

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*bound, str(_COMMAND), *arguments, "--standalone"]
        return subprocess.run(command, cwd=shop, capture_output=True, text=True, timeout=120, check=False)

    shop.chmod(0o500)
    try:
        assert run("index").returncode == 0
        assert "src/cart.py" in run("search", "discount").stdout
        assert run("add", "Carts are priced net of tax", "--at", "src/cart.py:2").returncode == 0
        assert "src/cart.py:2" in run("list").stdout
        assert "its index is in" in run("doctor").stdout
        assert not (shop / ".rag-ls").exists()
    finally:
        shop.chmod(0o700)


def test_doctor_says_where_memories_are_when_the_user_s_data_cannot_be_written(
    indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _run(indexed, "add", "Carts are priced net of tax", "--standalone").returncode == 0
    (tmp_path / "file").touch()
    monkeypatch.setenv("RAG_LS_HOME", str(tmp_path / "file/none"))
    told = _run(indexed, "doctor").stdout
    assert f"memories: they are in {indexed / '.rag-ls'} alone" in told
    assert "set RAG_LS_HOME to a folder that is" in told
    assert "memory came with the folder" not in told


@pytest.mark.slow
def test_status_says_why_two_homes_remake_each_other_s_index_and_what_ends_it(
    indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = os.environ["RAG_LS_HOME"]

    def status(home: str) -> str:
        monkeypatch.setenv("RAG_LS_HOME", home)
        return _run(indexed, "status", "--standalone").stdout

    second = str(tmp_path / "second")
    assert "with another HOME or RAG_LS_HOME, so it is made anew" in status(second)
    for home in (first, second):
        monkeypatch.setenv("RAG_LS_HOME", home)
        assert _run(indexed, "trust", "--yes").returncode == 0
    assert _run(indexed, "index", "--standalone").returncode == 0
    for home in (first, second, first):
        assert "another HOME" not in status(home)


def test_config_shows_settings_and_their_problems(repository: Path) -> None:
    assert _json(repository, "config", "search.code_k")["settings"] == {"search.code_k": 10}
    write(repository, {"rag-ls.toml": "[search]\ncode_k = 3\nkk = 4\n"})
    shown = _json(repository, "config", "search", code=1)
    assert shown["settings"]["search.code_k"] == 3
    assert "rag-ls.toml: unknown setting search.kk" in shown["problems"][0]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("serach",), 2, "there is no verb 'serach'. "),
        (("serach", "x"), 2, "Did you mean 'search'? (`rag-ls help --all` lists the verbs"),
        (("add", "Cookies are signed", "--importance", "7"), 2, "--importance 7 is not between 0 and 1"),
        (("search",), 2, "the question is empty"),
        (("search", "x", "-k", "0"), 2, "-k 0 is below 1"),
        (("search", "x", "-k", "100000"), 2, "-k 100000: at most 100 are found at once"),
        (("search", "x", "-k", "3", "--vimgrep", "--paths"), 2, "give one of --json, --paths and --vimgrep"),
        (("search", "x", "--in", "music"), 2, "code, memory"),
        (("add", "  "), 2, "content"),
        (("config", "search.kk"), 2, "no setting"),
        (("list", "--limit", "0"), 2, "below 1"),
        (("show", "00000000"), 1, "no memory and no chunk"),
        (("show", "57f"), 1, "give at least its first 4 characters"),
        (("delete", "57f"), 1, "give at least its first 4 characters"),
        (("delete", "00000000"), 1, "no memory has the id"),
        (("search", "x", "--project", "missing"), 1, "there is no such folder"),
        (("add", "x", "--at", "/etc/passwd"), 1, "outside the project"),
    ],
)
def test_what_cannot_be_done_is_said_on_stderr_with_its_exit_code(
    repository: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = _run(repository, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_process_that_ends_while_its_model_loads_ends_in_order(tmp_path: Path) -> None:
    codes = set()
    for turn in range(15):
        folder = write(tmp_path / str(turn), {"a.py": "def alpha():\n    return 1\n"})
        codes.add(_run(folder, "search", " ").returncode)
        if codes != {2}:
            break
    assert codes == {2}


def test_with_json_an_error_is_json_too(repository: Path) -> None:
    error = _json(repository, "show", "00000000", code=1)["error"]
    assert error["type"] == "NotFound"
    assert "00000000" in error["message"]


def test_damaged_memories_are_reported_and_left_alone(repository: Path) -> None:
    _json(repository, "add", "precious words")
    file = memories_file(repository)
    # While an engine has it open, its write-ahead log holds what the file lost.
    _run(repository, "stop")
    file.write_bytes(b"garbage" * 1000)
    done = _run(repository, "list")
    assert done.returncode == 1
    assert "the newest good backup is" in done.stderr
    assert "Traceback" not in done.stderr
    assert file.read_bytes() == b"garbage" * 1000


def test_code_is_searched_where_memories_are_damaged(indexed: Path) -> None:
    write(indexed, {".rag-ls/memories.db": b"garbage" * 1000})
    answer = _json(indexed, "search", "discount", "--in", "code")
    assert answer["results"][0]["path"] == "src/cart.py"


def test_a_project_is_indexed_where_its_memories_are_damaged(repository: Path) -> None:
    write(repository, {".rag-ls/memories.db": b"garbage" * 1000})
    assert _run(repository, "index").returncode == 0


def test_a_damaged_index_is_made_anew_without_a_word(indexed: Path) -> None:
    write(indexed, {".rag-ls/index.db": b"garbage" * 1000})
    done = _run(indexed, "index", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["documents"] == 4
    assert "Traceback" not in done.stderr


def test_the_skipped_files_are_named_with_the_reasons(repository: Path) -> None:
    write(repository, {"logo.png": b"\x89PNG\0", "old.py": bytes(range(128, 256))})
    assert _run(repository, "index", "--words-only").returncode == 0
    assert "logo.png" not in _run(repository, "status").stdout
    shown = _run(repository, "status", "--skipped").stdout
    assert "          logo.png: binary" in shown
    assert "          old.py: unknown encoding (name it in index.encodings)" in shown

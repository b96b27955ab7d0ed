"""The verbs on memories, as a process."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from rag_ls.cli.memory_commands import format_stored
from rag_ls.locations import user_data_folder
from tests.commands import run_command
from tests.secret_fakes import TOKENS

pytestmark = pytest.mark.shared_engine

_VERBS = ("update", "restore", "consolidate", "summarize", "stats", "optimize", "vacuum", "export", "import")


def _run(folder: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return run_command(*arguments, folder=folder, typed=typed)


def _json(folder: Path, *arguments: str, code: int = 0, typed: str = "") -> Any:
    done = _run(folder, *arguments, "--json", typed=typed)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("verb", _VERBS)
def test_every_verb_explains_itself(tmp_path: Path, verb: str) -> None:
    done = _run(tmp_path, verb, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: rag-ls {verb}")


def test_a_memory_s_life_at_the_shell(repository: Path) -> None:
    stored = _json(
        repository, "add", "--content", "Use async everywhere", "--scope", "project", "--tags", "rust, async"
    )
    assert _json(repository, "show", stored["id"])["metadata"]["tags"] == ["rust", "async"]
    updated = _json(
        repository, "update", stored["id"][:8], "--content", "-", "--tag", "rust", typed="Use async for I/O\n"
    )
    assert (updated["status"], updated["version"]) == ("updated", 2)
    _json(repository, "update", stored["id"], "--content", "too late", "--expected-version", "1", code=1)
    shown = _run(repository, "show", stored["id"], "--history").stdout
    assert "Use async for I/O" in shown
    assert "version 1, updated" in shown
    assert "Use async everywhere" in shown
    assert _run(repository, "update", stored["id"]).returncode == 2
    other = _json(repository, "add", "Second of its kind")
    asked = _run(repository, "delete", stored["id"], "no-such-memory", other["id"])
    assert asked.stdout.splitlines()[:2] == ["no memory has the id 'no-such-memory'", "2 would go:"]
    done = _run(repository, "delete", stored["id"], "no-such-memory", other["id"], "--yes")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "2 went:")
    assert "no memory has the id 'no-such-memory'" in done.stderr
    assert _json(repository, "restore", stored["id"][:8])["id"] == stored["id"]
    assert [item["id"] for item in _json(repository, "list")["memories"]] == [stored["id"]]


def test_one_deleted_memory_comes_back_as_many_do(repository: Path) -> None:
    stored = _json(repository, "add", "Amounts are rounded half up")
    assert _json(repository, "show", stored["id"][:4])["id"] == stored["id"]
    assert "`rag-ls undo` brings it back" in _run(repository, "delete", stored["id"][:4]).stdout
    assert "kind: deleted" in _run(repository, "undo", "--yes").stdout
    changed = _run(repository, "update", stored["id"], "Amounts are rounded to even").stdout
    assert f"`rag-ls restore {stored['id'][:8]}` takes it back" in changed
    assert "`rag-ls restore` takes back how one memory was changed" in _run(repository, "undo").stderr
    assert _run(repository, "list").stdout.startswith(f"memory {stored['id'][:8]}  ")
    assert "at most 1,000 are listed at once" in _run(repository, "list", "-k", "1001").stderr
    assert [item["id"] for item in _json(repository, "list")["memories"]] == [stored["id"]]


def test_nothing_precious_goes_without_a_question_and_a_way_back(repository: Path) -> None:
    kept = _json(repository, "add", "Amounts are rounded half up")
    later = [_json(repository, "add", f"Decided later, number {number}") for number in range(3)]
    _json(repository, "update", kept["id"], "--content", "Amounts are rounded to even")
    asked = _run(repository, "restore", "--backup", "latest")
    assert asked.returncode == 1
    assert "1 would change:" in asked.stdout
    assert "3 would go:" in asked.stdout
    assert "Decided later, number 2" in asked.stdout
    assert "add --yes" in asked.stderr
    assert _json(repository, "list")["total"] == 4
    shown = _run(repository, "restore", "--backup", "latest", "--dry-run").stdout
    assert shown == asked.stdout
    done = _run(repository, "restore", "--backup", "latest", "--yes").stdout
    assert "3 went:" in done
    deleted = _json(repository, "list", "--deleted")
    assert {item["id"] for item in deleted["memories"]} == {item["id"] for item in later}
    assert f"`rag-ls restore {later[0]['id'][:8]}` brings it back" in _run(repository, "list", "--deleted").stdout
    assert _json(repository, "undo", "--dry-run")["changes"]["inserted"] == 3
    assert _run(repository, "undo").returncode == 1
    assert "3 came back:" in _run(repository, "undo", "--yes").stdout
    assert _json(repository, "list")["total"] == 4
    assert _json(repository, "show", kept["id"])["content"] == "Amounts are rounded to even"
    assert "to undo" in _run(repository, "undo", "--yes").stderr


def test_what_is_purged_is_in_no_file_any_more(repository: Path) -> None:
    secret, other = "The vault opens with Xylophonquartz", "Amounts are rounded half up"
    stored, kept = _json(repository, "add", secret, "--tag", "vaulttag"), _json(repository, "add", other)
    assert _run(repository, "update", stored["id"], "--content", f"{secret} twice").returncode == 0
    gone = _json(repository, "add", "Deleted Xylophonquartz long ago")
    assert _run(repository, "delete", gone["id"]).returncode == 0
    # Of two states of one second, the older one is backed up alone: what is stored by now must be in a later one.
    time.sleep(1.0)
    asked = _run(repository, "delete", stored["id"], gone["id"][:8], "--purge")
    assert (asked.returncode, "Xylophonquartz" in asked.stdout) == (1, True)
    assert _run(repository, "delete", stored["id"], gone["id"][:8], "--purge", "--yes").returncode == 0
    for attempt in (("restore", stored["id"]), ("show", stored["id"]), ("undo", "--yes")):
        assert "Xylophonquartz" not in _run(repository, *attempt).stdout
    assert [item["id"] for item in _json(repository, "list")["memories"]] == [kept["id"]]
    assert stored["id"] not in [item["id"] for item in _json(repository, "list", "--deleted")["memories"]]
    files = [file for root in (repository, user_data_folder()) for file in root.rglob("*") if file.is_file()]
    held = [file for file in files if b"xylophonquartz" in file.read_bytes().lower() and ".log" not in file.name]
    assert held == []
    backups = [file for file in files if file.parent.name == "backups"]
    assert any(other.encode() in file.read_bytes() for file in backups)


def test_an_import_asks_before_it_writes_over_memories(repository: Path) -> None:
    stored = _json(repository, "add", "Amounts are rounded half up")
    exported = json.loads(_run(repository, "export").stdout)
    (record,) = exported["memories"]
    changed = record | {"content": "Amounts are rounded to even", "version": 5}
    file = repository / "changed.json"
    changed.pop("content_hash", None)
    file.write_text(json.dumps({**exported, "memories": [changed, {"content": "Something new is here"}]}))
    asked = _run(repository, "import", "--input", str(file))
    assert asked.stderr.count("rag-ls:") == 1, asked.stderr
    assert (asked.returncode, "1 would change:" in asked.stdout) == (1, True)
    assert _json(repository, "show", stored["id"])["content"] == "Amounts are rounded half up"
    assert _json(repository, "import", "--input", str(file), "--yes")["updated"] == 1
    assert _json(repository, "show", stored["id"])["content"] == "Amounts are rounded to even"
    assert "kind: imported" in _run(repository, "undo", "--yes").stdout
    assert [item["content"] for item in _json(repository, "list")["memories"]] == ["Amounts are rounded half up"]


def test_an_import_of_nothing_but_new_memories_asks_too(repository: Path) -> None:
    file = repository / "new.jsonl"
    file.write_text('{"content": "Somebody else wrote this"}')
    asked = _run(repository, "import", "--input", str(file))
    assert (asked.returncode, "Somebody else wrote this" in asked.stdout) == (1, True)
    assert _json(repository, "list")["total"] == 0


def test_taking_a_consolidation_back_asks_first(repository: Path) -> None:
    for text in ("Amounts are rounded half up", "amounts are rounded half up."):
        _json(repository, "add", text)
    assert _run(repository, "consolidate", "--yes").returncode == 0
    asked = _run(repository, "consolidate", "--undo")
    assert (asked.returncode, "restored:" in asked.stdout) == (1, True)
    assert _json(repository, "list")["total"] == 1
    assert _run(repository, "consolidate", "--undo", "--yes").returncode == 0
    assert _json(repository, "list")["total"] == 2


def test_a_summary_that_replaces_another_asks_first(repository: Path) -> None:
    _json(repository, "add", "Amounts are rounded half up to cents")
    first = _json(repository, "summarize", "--start", "2020-01-01")
    assert _json(repository, "summarize", "--start", "2020-01-01")["id"] == first["id"]
    _json(repository, "add", "Retries wait at most thirty seconds in all")
    asked = _run(repository, "summarize", "--start", "2020-01-01")
    assert (asked.returncode, "replaces:" in asked.stdout) == (1, True)
    done = _run(repository, "summarize", "--start", "2020-01-01", "--yes").stdout
    assert "replaces:" in done
    assert "takes it back" in done
    assert _run(repository, "undo", "--yes").returncode == 0
    assert _json(repository, "show", first["id"])["content"] == first["summary"]


def test_what_is_exported_to_standard_output_comes_back_from_standard_input(repository: Path) -> None:
    _json(repository, "add", "Ünïcode — and\n---\nlines of it", "--tag", "odd")
    exported = _run(repository, "export").stdout
    assert json.loads(exported)["memories"][0]["content"] == "Ünïcode — and\n---\nlines of it"
    taken = _json(repository, "import", "--input", "-", "--scope", "global", "--yes", typed=exported)
    assert (taken["inserted"], taken["scope"]) == (1, "global")
    done = _run(repository, "import", "--input", "-", typed=exported[:-20])
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_export_says_why_it_cannot_be_written(repository: Path) -> None:
    _json(repository, "add", "Amounts are rounded half up")
    assert (
        "/nope/x cannot be written: No such file or directory"
        in _run(repository, "export", "--output", "/nope/x").stderr
    )
    assert _json(repository, "export", "--output", "memories")["format"] == "json"


def test_a_secret_is_refused_and_said_nowhere(repository: Path, home: Path) -> None:
    (secret,) = TOKENS["AWS access key"]
    done = _run(repository, "add", f"The deploy key is {secret}")
    assert done.returncode == 2
    assert "AWS" in done.stderr
    assert secret not in done.stderr + done.stdout
    logs = [file.read_text(errors="replace") for file in home.rglob("*.log")]
    assert all(secret not in text for text in logs)
    assert _run(repository, "add", f"The deploy key is {secret}", "--force").returncode == 0


def test_a_preview_has_no_effect(repository: Path) -> None:
    for _ in range(2):
        _json(repository, "add", "Retries are capped at five, with exponential waits", "--force")
    _json(repository, "add", "Retries are capped at five, with exponential waits.")
    assert _run(repository, "consolidate", "--yes", "--threshold", "0.5").returncode == 0
    merged = _json(repository, "list")["total"]
    assert merged == 1
    assert _run(repository, "consolidate", "--undo", "--dry-run").returncode == 0
    assert _json(repository, "list")["total"] == merged
    stored = _json(repository, "add", "Second of its kind")
    assert _run(repository, "delete", stored["id"]).returncode == 0
    refused = _run(repository, "restore", stored["id"], "--dry-run")
    assert (refused.returncode, "--dry-run is for --backup" in refused.stderr) == (2, True)
    assert _json(repository, "list")["total"] == merged


def test_what_is_stored_says_what_contradicts_it_and_what_says_the_same() -> None:
    alike = {"id": "a" * 36, "content": "Retries wait", "similarity": 0.9, "cosine": 0.8}
    opposed = {**alike, "id": "b" * 36, "content": "Retries never wait", "contradicts": "'never'"}
    stored = {"status": "inserted", "id": "c" * 36, "scope": "project", "known": [alike, opposed]}
    assert format_stored(stored).split("\n")[1:] == [
        "it may contradict what is known; if so, update or delete one of them:",
        "  bbbbbbbb  Retries never wait  ('never')",
        "known already (`rag-ls update ID` changes one, `rag-ls consolidate` merges what says the same):",
        "  aaaaaaaa  Retries wait",
    ]


def test_a_memory_that_is_superseded_is_shown_below_its_heir(shop: Path) -> None:
    old = run_command("add", "Prices are rounded per line", folder=shop).stdout.split()[1]
    refused = run_command("add", "Prices are rounded per rate", "--supersedes", "nothing", folder=shop)
    assert (refused.returncode, "no memory has the id 'nothing'" in refused.stderr) == (1, True)
    new = run_command("add", "Prices are rounded per rate", "--supersedes", old[:8], folder=shop).stdout.split()[1]
    shown = run_command("search", "--in", "memory", "how are prices rounded per line", folder=shop).stdout
    assert shown.index(new[:8]) < shown.index(old[:8])
    assert f"superseded by {new[:8]}" in shown

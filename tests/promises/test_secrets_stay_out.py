"""The lines that hold a secret are in no answer and in no file of ours; the rest of their files is, and what is left out is told."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rag_ls.engine.client import Client, local_client
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import RagLsError
from rag_ls.indexing import Buffer
from rag_ls.operations import OPERATIONS, ClientSession, Operations
from rag_ls.operations.fields import arguments_of
from rag_ls.storage.sqlite.index_schema import MIGRATIONS
from tests.lsp.in_process import in_process_editor
from tests.secret_fakes import TOKENS, make_key, make_putty_key
from tests.support import PATIENCE_S, git, git_repository, until, write

_KEY, _PGP, _PUTTY = make_key(), make_key("PGP PRIVATE KEY BLOCK"), make_putty_key()
_ACCOUNT, _BEARER = make_key(end="\\n"), TOKENS["Bearer token"][0]
_FILES = {
    "src/transport.py": "def dial_backend(address):\n    return address\n",
    "tests/test_transport.py": (
        f'from src.transport import dial_backend\n\nLOCAL_KEY = """{_KEY}"""\n\n\n'
        "def test_the_backend_is_dialled():\n    assert dial_backend('a')\n"
    ),
    "docs/jwt.md": f"# How tokens are signed\n\nThe gateway signs zebra tokens:\n\n{_PGP}\n\nAnd `dial_backend` sends them.\n",
    "config/account.json": f'{{\n  "type": "service_account",\n  "private_key": "{_ACCOUNT}\\n",\n  "client": "giraffe"\n}}\n',
    "deploy/login.py": f'"""Logs in as the okapi."""\nHEADERS = "{_BEARER}"\n\n\ndef log_in_okapi():\n    return HEADERS\n',
    "deploy/host.txt": f"The host of the tapir:\n{_PUTTY}\n",
}
_LEFT_OUT = "in 5 files look like secrets and were left out"
_FRAGMENTS = tuple(
    text[at : at + 16]
    for text in (_KEY, _PGP, _PUTTY, _ACCOUNT, _BEARER)
    for at in (len(text) // 2, len(text) * 2 // 3)
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with made-up keys in a test, a page and other files."""
    return git_repository(tmp_path / "gateway", _FILES)


@pytest.fixture
def session(client: Client, root: Path) -> ProjectSession:
    """A client's session there; all is read."""
    view = client.open(root)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    return view


@pytest.fixture
def operations(session: ProjectSession, client: Client) -> Operations:
    """What the client can ask."""
    return Operations(client)


def _is_told(answer: Any) -> bool:
    return _LEFT_OUT in json.dumps(answer)


def _fragments_in(text: str) -> list[str]:
    return [each for each in _FRAGMENTS if each in text]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("test the backend is dialled", "tests/test_transport.py"), ("gateway signs zebra tokens", "docs/jwt.md"),
        ("service account of the client giraffe", "config/account.json"), ("log in as the okapi", "deploy/login.py"),
        ("host of the tapir", "deploy/host.txt"),
    ],
)  # fmt: skip
def test_a_file_with_a_key_is_found_and_the_answer_tells_what_it_lacks(
    operations: Operations, query: str, path: str
) -> None:
    answer = operations.run("search_code", {"query": query})
    assert path in {each["path"] for each in answer["results"]}
    assert _is_told(answer)


def test_references_tests_and_impact_reach_a_file_with_a_key(operations: Operations) -> None:
    found = operations.run("find_references", {"symbol": "dial_backend"})
    assert "tests/test_transport.py" in json.dumps(found)
    assert _is_told(found)
    tests = operations.run("related_tests", {"path": "src/transport.py"})
    assert "tests/test_transport.py" in json.dumps(tests)
    assert _is_told(tests)
    impact = operations.run("rag_query_impact", {"file_path": "src/transport.py"})
    assert "tests/test_transport.py" in json.dumps(impact)
    assert _is_told(impact)


def test_a_change_shows_no_key_of_before_or_after(operations: Operations, root: Path) -> None:
    git(root, "add", "-A")
    for path, text in _FILES.items():
        write(root, {path: text.replace("A", "B").replace("a", "a ") + f"{make_key()}\n"})
    answer = json.dumps(operations.run("rag_query_impact", {"changed": "HEAD"}))
    assert not _fragments_in(answer)


@pytest.mark.parametrize("match", ["exact", "regex", "auto"])
def test_no_search_for_a_piece_of_a_key_finds_it(operations: Operations, match: str) -> None:
    for piece in _FRAGMENTS:
        query = piece if match != "regex" else piece.replace("+", r"\+").replace("\\n", ".")
        answer = operations.run("search_code", {"query": query, "match": match})
        assert not (answer.get("exact") or {"total": 0})["total"]
        assert not _fragments_in(json.dumps(answer["results"]))
    answer = operations.run("search_code", {"query": "LOCAL_KEY = ", "match": "exact"})
    assert answer["exact"]["total"] == 0
    assert _LEFT_OUT in answer["exact"]["left_out"]


@pytest.mark.slow
def test_no_answer_of_any_operation_for_agents_holds_a_piece_of_a_key(root: Path) -> None:
    session = ClientSession(local_client("mcp"))
    try:
        session.work_in(root)
        assert session.client.projects()[0].indexing.wait_until_idle(PATIENCE_S)
        for operation in (each for each in OPERATIONS if each.tool):
            declared = arguments_of(operation.request)
            texts = [name for name, (hint, each) in declared.items() if "str" in str(hint) and not each.choices]
            required = {name: "dial_backend" for name, (_, each) in declared.items() if each.required}
            for name in texts:
                for thing in (*_FILES, "zebra tokens", "tests"):
                    value = [thing] if "tuple" in str(declared[name][0]) else thing
                    try:
                        answer = json.dumps(session.operations.run(operation.name, {**required, name: value}))
                    except RagLsError as error:
                        answer = str(error)
                    assert not _fragments_in(answer), (operation.name, name, thing)
    finally:
        session.client.close()


def test_no_file_of_ours_holds_a_piece_of_a_key(session: ProjectSession, root: Path) -> None:
    session.buffer_changed(
        Buffer("src/transport.py", f'def dial_quagga():\n    """{make_key()}"""\n{_BEARER}\n{_KEY}\n')
    )
    assert session.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
    for file in root.rglob(".rag-ls/**/*"):
        if file.is_file():
            data = file.read_bytes()
            assert not [each for each in _FRAGMENTS if each.encode() in data], file


def test_a_key_that_an_earlier_version_indexed_is_gone_from_the_file(root: Path) -> None:
    def index() -> None:
        client = local_client()
        view = client.open(root)
        view.indexing.index_tree()
        assert view.indexing.wait_until_idle(PATIENCE_S, embeddings=False)
        client.close()

    index()
    file = root / ".rag-ls/index.db"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE chunks SET text = text || ?", (_KEY,))
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) - 1}")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert _FRAGMENTS[0].encode() in file.read_bytes()
    index()
    assert _FRAGMENTS[0].encode() not in b"".join(each.read_bytes() for each in file.parent.glob("index.db*"))


def test_a_key_that_is_typed_is_in_no_answer_and_its_lines_are_told(
    operations: Operations, session: ProjectSession
) -> None:
    typed = make_key()
    session.buffer_changed(Buffer("src/transport.py", f'def dial_quagga():\n    return 1\n\n\nKEY = """{typed}"""\n'))
    piece = typed[100:130]
    answer = operations.run("search_code", {"query": piece, "match": "exact"})
    assert answer["exact"]["total"] == 0
    assert "in 6 files look like secrets" in answer["exact"]["left_out"]
    assert operations.run("search_code", {"query": "dial_quagga", "match": "exact"})["exact"]["total"] == 1


def test_a_hover_over_a_name_in_a_file_with_a_key_shows_none(root: Path) -> None:
    with in_process_editor(local_client("lsp"), root) as editor:
        assert until(lambda: editor.command("status")["complete"])
        file = root / "tests/test_transport.py"
        editor.open(file)
        lines = file.read_text().splitlines()
        shown = [editor.hover(file, line, len(text) // 2) for line, text in enumerate(lines)]
        assert not _fragments_in("".join(shown))
        assert not _fragments_in(json.dumps(editor.lenses(file)))


def test_no_memory_with_a_key_is_stored_or_exported(operations: Operations, tmp_path: Path) -> None:
    for secret in (_KEY, _PGP, _PUTTY, _ACCOUNT, _BEARER):
        with pytest.raises(RagLsError, match="looks like a secret"):
            operations.run("store_memory", {"content": f"The key of the gateway:\n{secret}", "scope": "project"})
    operations.run("store_memory", {"content": "The key of the gateway is kept in the vault.", "scope": "project"})
    exported = tmp_path / "memories.json"
    operations.run("export_memories", {"output": str(exported)})
    assert "vault" in exported.read_text()
    assert not _fragments_in(exported.read_text())


def test_a_check_tells_what_it_did_not_look_at(operations: Operations) -> None:
    answer = operations.run("rag_check_constraints", {"change_description": "change how the backend is dialled"})
    assert _is_told(answer)

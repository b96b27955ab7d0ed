"""Limited means limited: no password is shown, and a token reaches no further than it says."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
import pytest

from rag_ls.config.engine_settings import StoreSettings
from rag_ls.daemon.paths import engine_paths
from rag_ls.engine.client import local_client
from rag_ls.errors import AccessRefused, PathOutsideProject, StoreUnavailable
from rag_ls.http.tokens import Access
from rag_ls.operations import OPERATIONS, ClientSession, Operation
from rag_ls.operations.fields import arguments_of
from rag_ls.operations.operation import Opens
from rag_ls.storage import open_shared_vectors
from rag_ls.util.text import mask_secrets
from tests.daemon.engines import engine, run
from tests.http.conftest import Served, serve, served, two_projects
from tests.support import SHOP, git_repository, trust, until, write

__all__ = ["serve", "served", "two_projects"]

_SECRET = "hush-hush"

# --- passwords


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ci:hush-hush@db.example.org:5432/team", "postgresql://ci:***@db.example.org:5432/team"),
        ("postgresql://ci@db.example.org/team?sslmode=require", "postgresql://ci@db.example.org/team?sslmode=require"),
        ("postgresql://db/team?user=ci&password=hush-hush&sslmode=require", "postgresql://db/team?user=ci&password=***&sslmode=require"),
        ("postgresql://ci:hush-hush@one,two/team", "postgresql://ci:***@one,two/team"),
        ("host=db user=ci password='hush-hush it\\'s' dbname=team", "host=db user=ci password=*** dbname=team"),
        ("qdrant://:hush-hush@host:6334?tls=true", "qdrant://***@host:6334?tls=true"),
        ("qdrant://hush-hush@host:6334", "qdrant://***@host:6334"),
        ("http://hush-hush@host/v1", "http://***@host/v1"),
        ("https://host/v1?api-key=hush-hush&version=2", "https://host/v1?api-key=***&version=2"),
        ("https://host/v1?X-Amz-Signature=hush-hush#part", "https://host/v1?X-Amz-Signature=***#part"),
        # Whoever does not escape means all of it.
        ("postgresql://ci:a/hush-hush#b@c@db/team", "postgresql://ci:***@db/team"),
        ("http://me:a/hush-hush#b?c@host/v1", "http://***@host/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("me:hush-hush@host/v1", "me:***@host/v1"),
        ("src/**", "src/**"),
    ],
)  # fmt: skip
def test_an_address_is_shown_without_what_opens_it(address: str, shown: str) -> None:
    assert mask_secrets(address) == shown


_ADDRESSES = {
    "as they should be": (
        f"postgresql://ci:{_SECRET}@127.0.0.1:1/team",
        f"http://me:{_SECRET}@127.0.0.1:1/v1",
        f"http://127.0.0.1:1/v1?api_key={_SECRET}",
    ),
    "misspelt": (
        f"postgressql://ci:{_SECRET}@127.0.0.1:1/team",
        f"http://me:{_SECRET}/1@127.0.0.1/v1",
        f"me:{_SECRET}@127.0.0.1/v1",
    ),
    "of a server that does not answer": (
        f"qdrant://:{_SECRET}@127.0.0.1:1",
        f"https://{_SECRET}@127.0.0.1:1/v1",
        f"http://me:{_SECRET}@127.0.0.1:1/api",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", _ADDRESSES)
def test_passwords_of_the_settings_are_shown_nowhere(kind: str, home: Path, tmp_path: Path) -> None:
    store, summaries, embedding = _ADDRESSES[kind]
    shop = write(tmp_path / "shop", SHOP)
    text = (
        f'[store]\nurl = "{store}"\nshare = ["vectors", "memories"]\n[summaries]\nendpoint = "{summaries}"\nmodel = "m"\n'
        f'[embedding]\nprovider = "openai"\nmodel = "m"\nendpoint = "{embedding}"\n[log]\nlevel = "debug"\n'
    )
    write(home / "config", {"config.toml": text})
    commands = (
        ("config",), ("config", "--json"), ("config", "store.url"), ("doctor",), ("doctor", "--json"),
        ("doctor", "--confirm-endpoint", "--yes"), ("index",), ("add", "Refunds take fourteen days, says the law."),
        ("add", "An invoice is sent with each refund."), ("search", "refund"), ("summarize",), ("status", "--json"),
        ("stats",), ("list",), ("projects", "list"), ("store", "projects"),
    )  # fmt: skip
    with engine() as process:
        shown = {" ".join(command): run(*command, folder=shop) for command in commands}
        assert until(lambda: Path(engine_paths().log).exists())
        assert run("stop").returncode == 0
        complaints = process.communicate()[1]
    assert [name for name, done in shown.items() if _SECRET in done.stdout + done.stderr] == []
    assert "***" in shown["config"].stdout
    assert _SECRET not in complaints
    kept = [file for file in home.rglob("*") if file.is_file() and file.name != "config.toml"]
    assert [file.name for file in kept if _SECRET.encode() in file.read_bytes()] == []


@pytest.mark.parametrize(
    "value",
    ['["postgresql://ci:hush-hush@db/team"]', '"hush-hush"\n[store.url]\nx=1', "{password = 'hush-hush'}"],
)
def test_a_setting_that_cannot_be_used_is_told_without_its_password(value: str, home: Path, shop: Path) -> None:
    write(home / "config", {"config.toml": f"[store]\nurl = {value}\n"})
    done = run("config", "store", folder=shop)
    assert done.returncode == 1
    assert _SECRET not in done.stdout + done.stderr


# --- what goes to servers of other machines


@contextlib.contextmanager
def _listener() -> Iterator[tuple[int, list[bytes]]]:
    """A port of this machine, and the beginnings of what is sent there; it refuses TLS as PostgreSQL does."""
    heard: list[bytes] = []

    def listen() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                connection.settimeout(5)
                heard.append(connection.recv(1000))
                if heard[-1] == _POSTGRES_ASKS_FOR_TLS:
                    connection.sendall(b"N")
                    heard.append(connection.recv(1000))

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=listen, daemon=True).start()
        yield server.getsockname()[1], heard


# Reaches this machine, and is no name of loopback.
_AWAY = "0.0.0.0"
_POSTGRES_ASKS_FOR_TLS = bytes.fromhex("0000000804d2162f")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere that address is nobody's")
@pytest.mark.parametrize(
    ("address", "is_asked_in_the_clear"),
    [
        ("postgresql://ci:hush-hush@{away}:{port}/team", False), ("postgresql://ci:hush-hush@{away}:{port}/team?sslmode=prefer", True),
        ("postgresql://ci:hush-hush@{away}:{port}/team?sslmode=disable", True), ("postgresql://ci:hush-hush@127.0.0.1:{port}/team", True),
        ("postgresql://ci@x:{port}/team?hostaddr={away}", False), ("postgresql://ci@{away}:{port},127.0.0.1:1/team", False),
        ("qdrant://:hush-hush@{away}:{port}", False), ("qdrant://:hush-hush@{away}:{port}?tls=false", True),
        ("qdrant://:hush-hush@127.0.0.1:{port}", True),
    ],
)  # fmt: skip
def test_a_store_on_another_machine_is_asked_with_tls_or_with_open_eyes(
    address: str, is_asked_in_the_clear: bool
) -> None:
    with _listener() as (port, heard):
        settings = StoreSettings(url=address.format(away=_AWAY, port=port))
        store = open_shared_vectors(settings)
        assert store is not None
        with contextlib.closing(store), pytest.raises(StoreUnavailable) as error:
            store.missing("model", [b"hash"])
    in_the_clear = [part for part in heard if part and part != _POSTGRES_ASKS_FOR_TLS and part[0] != 0x16]
    assert bool(in_the_clear) == is_asked_in_the_clear, heard
    assert heard
    assert _SECRET not in str(error.value)
    if not is_asked_in_the_clear:
        assert re.search("sslmode|tls=false", str(error.value))


# --- files that a token of a project writes and reads


def _everything_in(folder: Path) -> dict[str, str]:
    """The text, target or kind of all that is below a folder, without what rag-ls keeps there for itself."""
    paths = (path for path in sorted(folder.rglob("*")) if ".rag-ls" not in path.parts)
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text() if path.is_file() else "folder"
        for path in paths
    }  # fmt: skip


_NOT_OURS = (
    "src/auth.py", "src/new.py", "CLAUDE.md", "AGENTS.md", "package.json", "memories.json", "memories.JSON", "memories.sh",
)  # fmt: skip
_NOT_THERE = (
    ".git/config", ".git/hooks/memories.json", ".git/memories.json", ".vscode/memories.json", ".memories.json", ".rag-ls/memories.json",
    "src/link/memories.json", "linked-memories.json", "dangling-memories.json", "src/../.git/memories.json", "src/link/../memories.json",
)  # fmt: skip


@pytest.mark.parametrize("output", [*_NOT_OURS, *_NOT_THERE])
def test_over_http_memories_are_written_to_new_files_of_our_own_kinds_alone(
    two_projects: Served, tmp_path: Path, output: str
) -> None:
    shop = tmp_path / "shop"
    write(
        shop,
        {
            ".git/config": "[core]\n",
            ".git/hooks/x": "",
            ".vscode/x": "",
            "memories.json": "mine",
            "memories.JSON": "mine",
        },
    )
    write(tmp_path / "elsewhere", {"memories.json": "not yours"})
    (shop / "src/link").symlink_to(tmp_path / "elsewhere")
    (shop / "linked-memories.json").symlink_to(tmp_path / "elsewhere/memories.json")
    (shop / "dangling-memories.json").symlink_to(tmp_path / "elsewhere/made.json")
    caller = two_projects.caller(two_projects.token("limited", Access.ADMIN, (str(shop),)))
    before = _everything_in(tmp_path)
    for form in ({}, {"format": "json"}, {"format": "markdown"}):
        answer = caller.post("/api/export_memories", json={"output": f"{shop}/{output}", **form})
        assert answer.status_code == (400 if output in _NOT_OURS else 403), answer.text
    assert _everything_in(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("link", ["ARCHITECTURE.yml", "docs", "docs/patterns"])
def test_over_http_rules_are_written_over_nothing_and_through_no_link(
    two_projects: Served, tmp_path: Path, link: str
) -> None:
    shop, elsewhere = tmp_path / "shop", write(tmp_path / "elsewhere", {"patterns/x.md": "x"})
    if link == "docs":
        (shop / "docs").rename(shop / "documents")
    (shop / link).symlink_to(elsewhere / "made.yml" if link.endswith(".yml") else elsewhere)
    caller = two_projects.caller(two_projects.token("limited", Access.ADMIN, (str(shop),)))
    outside = _everything_in(elsewhere)
    assert caller.post("/api/rag_setup", json={"project_root": str(shop), "force": True}).status_code == 403
    answer = two_projects.ask(caller, "rag_setup", project_root=str(shop))
    assert link == "docs/patterns" or any(path.startswith(link) for path in answer.get("left_alone", [link]))
    assert _everything_in(elsewhere) == outside
    assert (shop / link).is_symlink()


def test_over_http_no_folder_of_a_project_becomes_another_project(two_projects: Served, tmp_path: Path) -> None:
    inner = write(
        tmp_path / "shop/vendor/lib",
        {"a.py": "x = 1\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": ""},
    )
    for name, access in (("limited", (str(tmp_path / "shop"),)), ("all", ())):
        caller = two_projects.caller(two_projects.token(name, Access.ADMIN, access))
        for operation, argument in (
            ("add_project", "path"),
            ("rag_setup", "project_root"),
            ("rag_index", "project_root"),
        ):
            answer = caller.post(f"/api/{operation}", json={argument: str(inner)})
            assert answer.status_code == 403, answer.text
    assert not (inner / ".rag-ls").exists()
    assert {repo["name"] for repo in two_projects.ask(caller, "list_repos")["repos"]} == {"shop", "clinic"}


def test_over_http_no_file_that_begins_with_a_dot_is_taken_in_as_memories(two_projects: Served, tmp_path: Path) -> None:
    shop = write(
        tmp_path / "shop", {".env": "---\n---\nPASSWORD_OF_THE_SHOP\n", ".private/notes.md": "# PASSWORD_OF_THE_SHOP\n"}
    )
    caller = two_projects.caller(two_projects.token("limited", Access.ADMIN, (str(shop),)))
    for path in (".env", ".private/notes.md", ".private"):
        for how in ({}, {"format": "markdown"}, {"source": "claude"}):
            answer = caller.post("/api/import_memories", json={"input": str(shop / path), **how})
            assert answer.status_code == 403, answer.text
            assert "PASSWORD" not in answer.text


# --- what a token of one project learns of others


@dataclass(frozen=True)
class _Thing:
    """Something of another project, and what would be called likewise and is not there."""

    there: str
    absent: str


def _things(two_projects: Served, tmp_path: Path) -> dict[str, _Thing]:
    """Everything of the shop that an operation can name."""
    owner = two_projects.caller(two_projects.token("owner"), **{"x-rag-project": "shop"})
    shop, absent = tmp_path / "shop", tmp_path / "shup"
    kept, gone = (
        two_projects.ask(owner, "store_memory", content=f"Zanzibar {what} in winter.", scope="project")["id"]
        for what in ("is where the treasure of the shop lies", "closes early on Sundays")
    )
    change = two_projects.ask(owner, "delete_memories", ids=[gone])["changes"]["undo"]
    chunk = two_projects.ask(owner, "search_code", query="Session.refresh")["results"][0]["id"]
    text = "Zanzibar invoices are rounded half up."
    two_projects.ask(owner, "push", text=text, collection="ledger", project_id="shop", source_uri="wiki/zanzibar")
    two_projects.ask(owner, "new_collection", name="vault", vector_size=64)
    two_projects.ask(owner, "push", text=text, collection="vault", project_id="treasury")
    two_projects.ask(owner, "export_memories", output=str(shop / "our-memories.json"))
    return {
        "name": _Thing("shop", "shup"),
        "folder": _Thing(str(shop), str(absent)),
        "file": _Thing(str(shop / "src/auth.py"), str(shop / "src/autt.py")),
        "file of no project": _Thing(str(shop / "src/cart.py"), str(absent / "src/cart.py")),
        "file from here": _Thing("../shop/src/mail.js", "../shup/src/mail.js"),
        "exported file": _Thing(str(shop / "our-memories.json"), str(shop / "the-memories.json")),
        "memory": _Thing(kept, str(uuid.uuid4())),
        "short id": _Thing(kept[:8], uuid.uuid4().hex[:8]),
        "deleted memory": _Thing(gone, str(uuid.uuid4())),
        "chunk": _Thing(chunk, chunk[::-1]),
        "change": _Thing(change, str(uuid.uuid4())),
        "collection": _Thing("ledger", "ledgar"),
        "collection of another size": _Thing("vault", "vaalt"),
        "name for texts": _Thing("treasury", "treasary"),
    }


_WORDS = frozenset({"content", "query", "query_text", "text", "snippet", "change_description", "diff", "custom"})  # fmt: skip


def _named_arguments(request: type, *within: str) -> Iterator[tuple[str, ...]]:
    """Where in a request something can be named, in the objects that it holds too."""
    for name, (hint, declared) in arguments_of(request).items():
        if declared.properties is not None:
            yield from _named_arguments(declared.properties, *within, name)
        elif name not in _WORDS and not declared.choices and any(kind in str(hint) for kind in ("str", "Any")):
            yield *within, name


def _request(operation: Operation, place: tuple[str, ...], value: str) -> dict[str, object]:
    """A request that names something at one place, and is whole otherwise."""
    arguments = arguments_of(operation.request)
    filled: dict[str, object] = {
        name: declared.choices[0] if declared.choices else f"A word or two about {uuid.uuid4()}."
        for name, (_, declared) in arguments.items()
        if declared.required
    }
    hint, declared = arguments[place[0]]
    if len(place) > 1:
        hint = arguments_of(declared.properties or operation.request)[place[1]][0]
    given: object = [value] if "tuple" in str(hint) else value
    return filled | {place[0]: {place[1]: given} if len(place) > 1 else given}


# A random id may resemble the name of the collection that everybody has.
_VOLATILE = re.compile(
    r"the nearest is default; |\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{8,}\b|\d{4}-\d\d-\d\dT[\d:.+Z]+|\d+\.\d+"
)


def _said(answer: httpx.Response, thing: str) -> tuple[int, str]:
    """An answer without what differs each time, and without the name that was asked for."""
    return answer.status_code, _VOLATILE.sub("#", answer.text.replace(json.dumps(thing)[1:-1], "THING"))


# What writes comes last, or the others' answers would tell of it.
_PLACES = sorted(
    ((operation, place) for operation in OPERATIONS for place in _named_arguments(operation.request)),
    key=lambda item: item[0].effects.writes,
)


@pytest.mark.slow
def test_what_belongs_to_other_projects_is_answered_as_what_does_not_exist(
    two_projects: Served, tmp_path: Path
) -> None:
    things = _things(two_projects, tmp_path)
    limited = two_projects.caller(two_projects.token("limited", Access.ADMIN, (str(tmp_path / "clinic"),)))
    two_projects.ask(limited, "push", text="An appointment takes half an hour.")
    told: list[str] = []
    for operation, place in _PLACES:
        for kind, thing in things.items():
            if "/" in thing.there and not re.search("path|file|root|project|input|output|backup", place[-1]):
                continue
            # What differs once is how far the index was; who asks again learns more from an oracle alone.
            for _ in range(2):
                ours, theirs = (
                    _said(limited.post(f"/api/{operation.name}", json=_request(operation, place, each)), each)
                    for each in (thing.there, thing.absent)
                )
                if ours == theirs:
                    break
            if ours != theirs or "anzibar" in ours[1]:
                told.append(f"{operation.name}.{'.'.join(place)}, {kind}: {ours} is not {theirs}")
    assert told == []


def test_no_pattern_tells_which_folders_of_the_machine_are_repositories(two_projects: Served, tmp_path: Path) -> None:
    git_repository(tmp_path / "secret", {"a.py": "x = 1\n"})
    limited = two_projects.caller(two_projects.token("limited", Access.ADMIN, (str(tmp_path / "clinic"),)))
    for glob in (str(tmp_path / "secret/**"), "../secret/**"):
        for match in ("auto", "exact"):
            answer = limited.post("/api/search_code", json={"query": "appointment", "path_glob": glob, "match": match})
            assert "checkout" not in answer.text
            assert "work tree" not in answer.text


def test_other_projects_are_named_in_no_address_header_and_setting(
    two_projects: Served, tmp_path: Path, home: Path
) -> None:
    (home / "config").mkdir(exist_ok=True)
    write(home / "config", {"config.toml": f'[[projects]]\nname = "shop"\nroot = "{tmp_path}/shop"\nzanzibar = 1\n'})
    limited = two_projects.caller(two_projects.token("limited", Access.ADMIN, (str(tmp_path / "clinic"),)))
    pairs = (("shop", "shup"), (str(tmp_path / "shop"), str(tmp_path / "shup")))
    for there, absent in pairs:
        answers = [
            [
                _said(limited.get("/status", headers={"x-rag-project": each}), each),
                _said(limited.get("/memories", params={"project": each}), each),
                _said(limited.post(f"/rag-mcp/{quote(each, safe='')}", json={}), each),
            ]
            for each in (there, absent)
        ]
        assert answers[0] == answers[1]
    for operation in ("status", "engine_status", "index_status", "list_repos", "plan_pruning", "rag_status"):
        answer = limited.post(f"/api/{operation}", json={})
        assert answer.status_code == 200, answer.text
        assert not re.search("zanzibar|shop", answer.text.replace(str(tmp_path), "")), answer.text


def test_a_project_takes_no_name_under_which_others_have_pushed_texts(two_projects: Served, tmp_path: Path) -> None:
    owner, clinic = two_projects.caller(two_projects.token("owner")), str(tmp_path / "clinic")
    two_projects.ask(owner, "push", text="Zanzibar is where the treasure lies.", project_id="treasury")
    limited = two_projects.caller(two_projects.token("limited", Access.ADMIN, (clinic,)))
    assert limited.post("/api/add_project", json={"path": clinic, "name": "treasury"}).status_code == 403
    assert two_projects.ask(limited, "add_project", path=clinic, name="clinic")["name"] == "clinic"
    assert limited.post("/api/search_collection", json={"query_text": "treasure"}).status_code == 404


def test_the_size_of_a_collections_vectors_is_not_one_projects_to_choose(two_projects: Served, tmp_path: Path) -> None:
    owner = two_projects.caller(two_projects.token("owner"))
    two_projects.ask(owner, "new_collection", name="vault", vector_size=64)
    limited = two_projects.caller(two_projects.token("limited", Access.ADMIN, (str(tmp_path / "clinic"),)))
    answers = {
        name: [
            _said(limited.post("/collections", json={"name": name, **size}), name) for size in ({"vector_size": 32}, {})
        ]
        for name in ("vault", "vaalt")
    }
    assert answers["vault"] == answers["vaalt"]
    assert [status for status, _ in answers["vault"]] == [403, 200]
    assert two_projects.ask(owner, "new_collection", name="vault")["vector_size"] == 64


# --- what agents may do


def _agent(folder: Path) -> ClientSession:
    session = ClientSession(local_client("mcp"))
    session.work_in(folder)
    return session


@pytest.mark.slow
def test_an_agent_makes_no_folder_a_project_and_publishes_nothing(tmp_path: Path) -> None:
    own, other, unknown = (write(tmp_path / name, SHOP) for name in ("own", "other", "unknown"))
    write(unknown, {"ARCHITECTURE.yml": "rules: []\n", ".rag-ls/rules.json": "{}"})
    write(own, {"nested/.git/HEAD": "ref: refs/heads/main\n", "nested/a.py": "x = 1\n"})
    trust(own)
    _agent(other).client.close()
    session = _agent(own)
    try:
        before = {folder: _everything_in(folder) for folder in (unknown, own / "nested")}
        for folder in (unknown, unknown / "src", own / "nested"):
            for operation in ("rag_setup", "rag_index"):
                with pytest.raises(PathOutsideProject, match=f"rag-ls rules setup --project {folder}`"):
                    session.operations.run(operation, {"project_root": str(folder)})
        assert {folder: _everything_in(folder) for folder in before} == before
        for folder in (own, other):
            assert session.operations.run("rag_setup", {"project_root": str(folder)})["filesGenerated"]
            with pytest.raises(AccessRefused, match="for the user alone, at the shell"):
                session.operations.run("rag_setup", {"project_root": str(folder), "publish": True})
    finally:
        session.client.close()


@pytest.mark.slow
def test_what_an_agent_forces_loses_no_text_of_people(tmp_path: Path) -> None:
    own = write(tmp_path / "own", SHOP)
    elsewhere = write(tmp_path / "elsewhere", {"ARCHITECTURE.yml": "theirs\n"})
    session = _agent(own)

    def force() -> dict[str, Any]:
        return session.operations.run("rag_setup", {"project_root": str(own), "force": True})

    try:
        assert not force().get("filesKept"), "nothing was there"
        rules, kept = own / "ARCHITECTURE.yml", list[str]()
        generated = rules.read_text()
        # Within a second, three texts have three places.
        for text in ("mine: 1\n", "mine: 2\n", "mine: 3\n"):
            rules.write_text(text + generated)
            kept += force()["filesKept"]
        assert [(own / each).read_text().splitlines()[0] for each in kept] == ["mine: 1", "mine: 2", "mine: 3"]
        assert "mine: 3" in rules.read_text(), "keys of people are kept in the new file too"
        # What it wrote is as it would be written: nothing to keep.
        assert not force().get("filesKept")
        rules.write_text("mine: [not valid\n")
        answer = force()
        assert "ARCHITECTURE.yml" in answer["filesLeftAlone"]
        assert rules.read_text() == "mine: [not valid\n"
        rules.unlink()
        rules.symlink_to(elsewhere / "ARCHITECTURE.yml")
        assert "it is a link" in force()["warning"]
        assert (elsewhere / "ARCHITECTURE.yml").read_text() == "theirs\n"
    finally:
        session.client.close()


def test_an_agent_is_offered_nothing_that_only_the_shell_may() -> None:
    for operation in OPERATIONS:
        if operation.tool is not None:
            declared = arguments_of(operation.request)
            assert not [
                name for name, (_, each) in declared.items() if each.shell_alone and name in operation.tool.shows
            ]
            # A folder or file that an agent names is a project's root, which is checked, or lies in a project.
            assert operation.opens is not Opens.ON_PURPOSE
            assert not any(each.is_written for _, each in declared.values())

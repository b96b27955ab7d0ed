"""Limited means limited: no password is shown, and a token reaches no further than it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.daemon.paths import engine_paths
from rag_ls.util.masks import mask_secrets
from tests.daemon.engines import engine, run
from tests.support import SHOP, until, write

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

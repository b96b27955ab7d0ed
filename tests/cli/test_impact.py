"""`rag-ls impact --changed`: one call before a pull request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.daemon.engines import run
from tests.support import git_repository, trust, write

pytestmark = pytest.mark.slow

RULES = "rules:\n  - {id: no-print, language: python, forbid: print($$$), message: NEVER print}\n"
FILES = {
    "ARCHITECTURE.yml": RULES,
    "CONSTRAINTS.md": "# Money\n\n`shop/cart.py` MUST add up in cents.\n",
    "shop/cart.py": "def total(items):\n    return sum(items)\n",
    "shop/mail.py": "from shop.cart import total\n\n\ndef send():\n    return total([])\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_it():\n    assert total([1]) == 1\n",
}
CHANGED = "def total(items, tax):\n    print(tax)\n    return sum(items)\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a change that is not committed."""
    monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")
    return write(git_repository(tmp_path / "shop", FILES), {"shop/cart.py": CHANGED})


def test_what_a_change_touches_is_told_in_one_call(root: Path) -> None:
    trust(root)
    done = run("impact", "--changed", folder=root)
    assert "2 files must still change along; 1 test covers it" in done.stdout
    assert "shop/mail.py  total 1,5" in done.stdout
    assert "shop/cart.py:2  no-print: NEVER print" in done.stdout
    assert "CONSTRAINTS.md:1-3  Money" in done.stdout
    answer = json.loads(run("rules", "impact", "--changed", "HEAD", "--json", folder=root).stdout)
    assert [each["filePath"] for each in answer["dependents"]] == ["shop/mail.py", "tests/test_cart.py"]
    assert answer["changes"][0]["names"] == [{"name": "total", "line": 1, "change": "signature"}]


def test_who_asks_is_told_the_rules_of_a_folder_that_is_not_trusted_too(root: Path) -> None:
    impact = json.loads(run("impact", "--changed", "HEAD", "--json", folder=root).stdout)
    check = json.loads(run("rules", "check", "add up the cents", "--json", folder=root).stdout)
    for told in (impact["rules"], check["constraints"]):
        assert "Money" in [each["section"] for each in told]
    assert [each["rule"] for each in impact["violations"]] == ["no-print"]


def test_wrong_usage_is_named(root: Path) -> None:
    for words, said in (
        (("--changed", "nowhere"), "'nowhere' is no revision of this repository"),
        (("--symbol", "total", "--changed"), "leave out the file and --symbol"),
    ):
        done = run("impact", *words, folder=root)
        assert (done.returncode, said in done.stderr) == (2, True)


def test_an_endpoint_that_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LS_DAEMON_MODE", "never")
    route = "router.{}('/users', auth, (req, res) => res.json([]));\n"
    text = "const router = require('express').Router();\n"
    root = git_repository(tmp_path / "api", {"routes/users.js": text + route.format("get") + route.format("post")})
    (root / ".rag-ls").mkdir()
    write(root, {"routes/users.js": text + route.format("get"), "tests/users.test.js": text + route.format("delete")})
    done = run("impact", "--changed", "HEAD", "--json", folder=root)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["apiEndpoints"] == ["GET /users", "POST /users"]
    assert "POST /users is gone: who calls it from elsewhere cannot be seen here" in answer["notes"]

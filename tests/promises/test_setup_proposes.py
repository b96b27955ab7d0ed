"""Set-up proposes and a person disposes; what it writes is true by rag-ls's own check."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from rag_ls.config.settings import IndexSettings
from rag_ls.indexing import Patterns
from rag_ls.rules.checks.project import CheckReport, check_project
from tests.daemon.engines import run
from tests.support import write

pytestmark = pytest.mark.shared_engine

_ROUTE = """\
const express = require('express');
const auth = require('../middleware/auth');
const service = require('../services/{name}');
const router = express.Router();
router.post('/{name}', auth, async (req, res) => res.json({{ success: true, data: await service.make() }}));
router.put('/{name}', auth, async (req, res) => res.json({{ success: true, data: await service.change() }}));
module.exports = router;
"""
NAMES = ("users", "orders", "carts", "bills", "teams")
SHOP = {
    "package.json": '{"dependencies": {"express": "4", "pg": "8"}}',
    "src/middleware/auth.js": "module.exports = (req, res, next) => next();\n",
    **{f"src/routes/{name}.js": _ROUTE.format(name=name) for name in NAMES},
    **{
        f"src/services/{name}.js": "const store = require('../store/{name}');\n".replace("{name}", name)
        for name in NAMES
    },
    **{f"src/store/{name}.js": "const pg = require('pg');\nmodule.exports = pg;\n" for name in NAMES},
    "src/routes/legacy.js": "const router = require('express').Router();\n"
    "router.post('/legacy', (req, res) => res.json({ ok: true }));\n",
    **{
        f"src/{name}.js": "x()"
        for name in ("shop-cart", "shop-bill", "shop-user", "shop-team", "shop-item", "ShopPage")
    },
}


def _check(root: Path) -> CheckReport:
    return check_project(root, patterns=Patterns.of(IndexSettings()), processes=1)


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Path:
    root = write(tmp_path / "shop", SHOP).resolve()
    (root / ".rag-ls").mkdir()
    return root


@pytest.mark.slow
def test_setup_shows_what_it_would_write_and_writes_nothing_unasked(shop: Path) -> None:
    shown = run("rules", "setup", folder=shop)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"would write ARCHITECTURE.yml: (\d+) claims, \d+ of them rules to check", shown.stdout)
    said = sum(map(int, re.findall(r"would write docs\S+: (\d+) claim", shown.stdout)))
    assert f"would write ARCHITECTURE.yml: {said} claims" in shown.stdout, "the two count alike"
    assert "never up; from the highest: `src/routes`" in shown.stdout
    assert "nothing was written; --yes writes it" in shown.stderr
    assert not (shop / "ARCHITECTURE.yml").exists()
    assert not (shop / "docs").exists()
    proposed = json.loads(run("rules", "setup", "--json", folder=shop).stdout)
    assert proposed["filesGenerated"] == []
    assert {file["path"] for file in proposed["filesProposed"]} >= {"ARCHITECTURE.yml", "docs/patterns/layers.md"}
    assert "rag_" not in shown.stdout + shown.stderr + proposed["message"]
    written = run("rules", "setup", "--yes", folder=shop)
    assert written.returncode == 0, written.stderr
    assert (shop / "ARCHITECTURE.yml").is_file()
    assert "rag_" not in written.stdout + written.stderr


@pytest.mark.slow
def test_its_rules_hold_at_once_name_their_exceptions_and_find_what_comes_new(shop: Path) -> None:
    assert run("rules", "setup", "--yes", folder=shop).returncode == 0
    text = (shop / "ARCHITECTURE.yml").read_text()
    stated = yaml.safe_load(text)
    (middleware,), (answers,) = stated["middleware"], stated["responses"]
    assert (middleware["claim"], middleware["count"]) == ("Routes take `auth`", 10)
    assert answers["claim"] == "Answers have the keys `data`, `success`"
    assert (answers["count"], answers["of"], answers["exceptions"]) == (10, 11, ["src/routes/legacy.js"])
    assert "Imports go down through the layers, never up; from the highest: `src/routes`; " in text
    assert "kebab-case: 5 of 6; not in `src/ShopPage.js`" in text
    before = _check(shop)
    assert before.rules.problems == ()
    assert [each.id for each in before.rules.rules] == ["layers", "javascript-file-names"]
    assert before.violations == ()
    write(shop, {
        "src/LatePage.js": "",
        "src/store/users.js": "const routes = require('../routes/users');\n",
    })  # fmt: skip
    found = {(each.rule, each.path, each.severity.value) for each in _check(shop).violations}
    assert {path for _, path, _ in found} == {"src/LatePage.js", "src/store/users.js"}
    assert {severity for _, _, severity in found} == {"info"}
    assert {rule for rule, _, _ in found} == {"layers", "javascript-file-names"}
    (shop / "ARCHITECTURE.yml").write_text(text.replace("severity: info", "severity: error"))
    assert {each.severity.value for each in _check(shop).violations} == {"error"}


@pytest.mark.slow
def test_setup_twice_changes_nothing_and_edits_stay(shop: Path) -> None:
    run("rules", "setup", "--yes", folder=shop)
    path = shop / "ARCHITECTURE.yml"
    first = path.read_text()
    assert "wrote nothing" in run("rules", "setup", "--yes", folder=shop).stdout
    edited = first.replace("severity: info", "severity: error", 1)
    path.write_text(edited)
    assert "wrote nothing" in run("rules", "setup", "--yes", folder=shop).stdout
    assert path.read_text() == edited
    edited = edited.replace("project:", "owner: us\nproject:")
    path.write_text(edited)
    again = run("rules", "setup", "--yes", folder=shop)
    assert "ARCHITECTURE.yml: left alone, because it exists" in again.stderr
    assert path.read_text() == edited
    run("rules", "setup", "--yes", "--force", folder=shop)
    assert "severity: error" in path.read_text(), "a person's rules stay, also where the rest is written anew"


@pytest.mark.slow
def test_nothing_is_written_into_a_folder_that_a_site_publishes_unless_told(shop: Path) -> None:
    write(shop, {"mkdocs.yml": "site_name: Shop\n", "docs/index.md": "# Shop\n"})
    proposed = run("rules", "setup", folder=shop)
    said = "leaves alone docs/patterns/layers.md: mkdocs.yml publishes its folder; `--publish` writes it all the same\n"
    assert f"{said}    - Imports go down" in proposed.stdout
    records = json.loads(run("rules", "setup", "--json", folder=shop).stdout)["filesProposed"]
    assert {(file["path"], file["needs"]) for file in records if "needs" in file} == {
        (file["path"], "publish") for file in records if not file["written"]
    }
    answer = run("rules", "setup", "--yes", folder=shop)
    assert "mkdocs.yml publishes its folder" in answer.stderr
    assert (shop / "ARCHITECTURE.yml").is_file()
    assert os.listdir(shop / "docs") == ["index.md"]
    run("rules", "setup", "--yes", "--publish", folder=shop)
    assert (shop / "docs/patterns/layers.md").is_file()

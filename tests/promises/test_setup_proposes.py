"""Set-up proposes and a person disposes; what it writes is true by rag-ls's own check."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

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
    assert "docs/patterns/api-endpoints.md: a list of 6\n" in shown.stdout, "which is shown, and holds no claim"
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
    for said in (
        "Routes take `auth`: 10 of 11; not in `src/routes/legacy.js`",
        "Answers have the key `success`: 10 of 11; not in `src/routes/legacy.js`",
        "Answers have the key `data`: 10 of 11; not in `src/routes/legacy.js`",
        "Files that import `pg` lie in `src/store/`: 5 of 5",
    ):
        assert said in text
    before = _check(shop)
    assert before.rules.problems == ()
    assert len(before.rules.rules) >= 4
    assert before.violations == ()
    write(shop, {
        "src/routes/fresh.js": "const pg = require('pg');\nrouter.post('/fresh', (req, res) => res.json({ fine: 1 }));\n",
        "src/store/users.js": "const routes = require('../routes/users');\n",
    })  # fmt: skip
    found = {(each.rule, each.path, each.severity.value) for each in _check(shop).violations}
    assert {path for _, path, _ in found} == {"src/routes/fresh.js", "src/store/users.js"}
    assert {severity for _, _, severity in found} == {"info"}
    assert {"layers", "pg-stays"} <= {rule for rule, _, _ in found}
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
    assert proposed.stdout.count("mkdocs.yml publishes its folder; `--publish` writes all the same") == 1
    assert "\n  docs/patterns/layers.md\n    - Imports go down" in proposed.stdout
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


@pytest.mark.slow
def test_another_tools_architecture_file_is_left_alone_even_with_force(shop: Path) -> None:
    foreign = "components:\n  - name: web\nrelations: []\n"
    write(shop, {"ARCHITECTURE.yml": foreign})
    answer = run("rules", "setup", "--yes", "--force", folder=shop)
    assert "it is another tool's (its keys: components, relations)" in answer.stderr
    assert (shop / "ARCHITECTURE.yml").read_text() == foreign
    assert _check(shop).rules.problems == ()


@pytest.mark.slow
def test_what_setup_wrote_is_told_as_rules_and_never_as_an_answer_about_code(shop: Path) -> None:
    errors = "class ShopError extends Error {}\nclass Missing extends ShopError {}\nclass Broken extends ShopError {}\n"
    errors += "class Late extends ShopError {}\nclass Gone extends ShopError {}\n"
    write(shop, {"src/errors.js": errors, "docs/guide.md": "# Guide\n\nHow error classes and layers are used.\n"})
    run("rules", "setup", "--yes", folder=shop)
    assert (shop / "docs/patterns/error-handling.md").is_file()
    for question in ("error classes derive from", "which layers do imports go down through", "routes take auth"):
        found = json.loads(run("search", question, "--in", "code", "--json", folder=shop).stdout)["results"]
        paths = [hit["path"] for hit in found]
        assert paths, question
        assert not [path for path in paths if path.startswith("docs/patterns/") or path == "ARCHITECTURE.yml"], question
    told = json.loads(run("rules", "check", "change the layers of imports", "--json", folder=shop).stdout)
    assert {rule["filePath"] for rule in (*told["constraints"], *told["patterns"])} & {
        "ARCHITECTURE.yml", "docs/patterns/layers.md",
    }  # fmt: skip
    asked = run("search", "layers imports", "--path", "docs/patterns/**", "--in", "code", "--json", folder=shop)
    assert json.loads(asked.stdout)["results"], "who asks for these files gets them"


def _rules_of(root: Path) -> str:
    (root / ".rag-ls").mkdir(exist_ok=True)
    done = run("rules", "setup", "--yes", folder=root)
    assert done.returncode == 0, done.stderr
    return (root / "ARCHITECTURE.yml").read_text()


@pytest.mark.slow
def test_a_decorator_below_a_route_is_required(tmp_path: Path) -> None:
    view = "from flask import Blueprint\nbp = Blueprint('{name}', __name__)\n\n\n" + "".join(
        f"@bp.route('/{{name}}/{at}')\n@login_required\ndef see_{at}():\n    return {{{{'ok': True}}}}\n\n\n"
        for at in range(3)
    )
    files = {f"app/{name}.py": view.format(name=name) for name in NAMES}
    root = write(tmp_path / "flask", {"requirements.txt": "flask\n", **files}).resolve()
    assert "carry `@login_required`" in _rules_of(root)
    late = "from flask import Blueprint\nbp = Blueprint('l', __name__)\n\n\n@bp.route('/l')\ndef see():\n    return 1\n"
    write(root, {"app/late.py": late})
    assert [each.path for each in _check(root).violations if "login_required" in each.message] == ["app/late.py"]


def test_a_dependency_among_parameters_is_required(tmp_path: Path) -> None:
    view = "from fastapi import APIRouter, Depends\nrouter = APIRouter()\n\n\n" + "".join(
        f"@router.get('/{{name}}/{at}')\ndef see_{at}(user=Depends(get_current_user)):\n    return user\n\n\n"
        for at in range(3)
    )
    files = {f"app/{name}.py": view.format(name=name) for name in NAMES}
    root = write(tmp_path / "fast", {"requirements.txt": "fastapi\n", **files}).resolve()
    assert "depend on `get_current_user`" in _rules_of(root)


@pytest.mark.slow
def test_what_a_handler_only_mentions_stands_before_no_route(shop: Path) -> None:
    assert "take `auth`" in _rules_of(shop)
    route = (
        "const router = require('express').Router();\nrouter.post('/late', (req, res) => {\n  // auth is not needed\n"
        "  res.json({ success: true, data: auth });\n});\n"
    )
    write(shop, {"src/routes/late.js": route})
    assert [each.path for each in _check(shop).violations if "`auth`" in each.message] == ["src/routes/late.js"]

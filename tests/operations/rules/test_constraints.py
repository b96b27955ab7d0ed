"""The six operations on rules, with the answers and errors of their contract."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_ls.engine import open_project
from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, NotFound, PathOutsideProject, ProjectUnavailable
from rag_ls.indexing import Buffer, Depth, Phase, Progress
from rag_ls.operations import Operations
from rag_ls.operations.code import preparation
from tests.conftest import IndexedProjects
from tests.support import IS_ROOT, PATIENCE_S, SHOP, until, write

RULES = {
    "CONSTRAINTS.md": (
        "# Constraints\n\n## Money\n\n- Prices MUST be in cents, never floats.\n\n"
        "## Mail\n\n- NEVER send an invoice twice.\n- It may be late.\n"
    ),
    "docs/patterns/retries.md": "# Retries\n\nCalls of other services ALWAYS go through `with_retry`, with jitter.\n",
    "src/api/AGENTS.md": "# The API\n\nHandlers MUST return JSON.\n",
    "src/api/users.py": "def list_users():\n    return []\n",
}
APP = {
    "package.json": '{"name": "shop", "dependencies": {"express": "^4"}}',
    "server.js": (
        "const express = require('express');\nconst cart = require('./lib/cart');\nconst app = express();\n"
        "app.use(express.json());\napp.use(cart.guard);\napp.use(cart.log);\n"
        "app.get('/items', cart.list);\napp.post('/items', cart.add);\napp.delete('/items/:id', cart.drop);\n"
    ),
    "lib/cart.js": "exports.list = () => [];\nexports.add = () => 1;\nexports.guard = () => 2;\nexports.drop = () => 3;\n",
}


@pytest.fixture
def shop(client: Client, indexed_projects: IndexedProjects, tmp_path: Path) -> Path:
    """An indexed shop with rules."""
    return _open(client, indexed_projects.copy({**SHOP, **RULES}, tmp_path / "shop"))


@pytest.fixture
def operations(client: Client) -> Operations:
    """The operations of a client."""
    return Operations(client, wait_for_model_s=PATIENCE_S)


def _open(client: Client, root: Path) -> Path:
    view = client.open(root, on_purpose=True)
    view.indexing.index_tree()
    assert view.indexing.wait_until_idle(PATIENCE_S)
    return view.project.root


# --- constraints


def test_the_constraint_about_a_change_comes_first_with_its_key_rules(operations: Operations, shop: Path) -> None:
    answer = operations.run("rag_check_constraints", {"change_description": "store prices of items as float amounts"})
    first = answer["constraints"][0]
    assert (answer["status"], first["filePath"], first["type"]) == ("success", "CONSTRAINTS.md", "constraint")
    assert first["keyRules"] == ["Prices MUST be in cents, never floats."]
    assert (first["lines"], first["keyRuleLines"]) == ("1-6", [5])
    assert 0 <= first["relevance"] <= 1
    assert answer["query"] == "store prices of items as float amounts"
    assert {example["type"] for example in answer["examples"]} == {"code"}
    assert all("-" in example["lines"] for example in answer["examples"])


def test_a_rule_of_yaml_is_told_as_a_whole_without_its_known_exceptions(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    exceptions = "".join(f'      - "src/part_{at}.py -> src/money.py"\n' for at in range(12))
    exceptions += '      - "src/part_3.py"\n'
    architecture = (
        "# The architecture of this project. rag-ls wrote this file from the code: each claim says how often\n\n"
        "stacks:\n  - folder: src\n    role: backend of money\n\n"
        "rules:\n  # Imports go down through the layers\n  - id: layers-of-money\n    layers: [src/api/**, src/**]\n    indirect: false\n"
        f"    message: Money never imports parts\n    severity: info\n    exceptions:\n{exceptions}"
    )
    _open(client, write(tmp_path / "bank", {**SHOP, "ARCHITECTURE.yml": architecture}))
    (rule,) = operations.run("rag_check_constraints", {"change_description": "round money in parts"})["constraints"]
    assert (rule["section"], rule["lines"]) == ("rules.layers-of-money", "7-13")
    assert "exceptions" not in rule["content"]
    assert rule["keyRules"] == ["Money never imports parts"]
    asked = {"change_description": "round money", "file_path": "src/part_3.py"}
    (rule,) = operations.run("rag_check_constraints", asked)["constraints"]
    assert rule["content"].endswith('- "src/part_3.py"')
    asked = {"change_description": "round money", "file_path": "src/part_5.py"}
    (rule,) = operations.run("rag_check_constraints", asked)["constraints"]
    assert '- "src/part_5.py -> src/money.py"' in rule["content"], "the file that imports is named too"


@pytest.mark.parametrize(
    ("text", "is_foreign"),
    [
        ("workspace: Bank\nmodel:\n  people: [customer of the bank]\n  systems: [money transfers]\n", True),
        ("principles:\n  - Money is counted in cents.\n", False),
        ("Rules:\n  - id: cents\n    message: Money is counted in cents\n", False),
        ("money:\n  amounts: Money transfers must be in cents\n", False),
        ("money:\n  amounts: No floats for money transfers\n", False),
        ("- id: cents\n  message: Money transfers are counted in cents\n", False),
        ("layers:\n  money: src/money\n", False),
    ],
)
def test_an_architecture_file_of_another_tool_is_no_rule(
    operations: Operations, client: Client, tmp_path: Path, text: str, is_foreign: bool
) -> None:
    _open(client, write(tmp_path / "bank", {**SHOP, "ARCHITECTURE.yml": text}))
    answer = operations.run("rag_check_constraints", {"change_description": "add money transfers to the bank model"})
    assert bool(answer["constraints"]) is not is_foreign
    assert ("no rules yet" in answer["summary"]) is is_foreign


def test_a_part_of_a_long_section_counts_as_one_of_a_section_that_commands(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    told = "\n\n".join(f"Part {at} of the ledger is told in paragraph {at} of this guide." for at in range(60))
    heard = "Zebras have stripes."
    sections = {"One": f"{heard}\n\n{told}\n\nEntries MUST balance.", "Two": f"{heard}\n\n{told}\n\nEntries balance."}
    text = "".join(f"## {name}\n\n{body}\n\n" for name, body in sections.items())
    _open(client, write(tmp_path / "bank", {**SHOP, "AGENTS.md": text}))
    found = operations.run("rag_check_constraints", {"change_description": "stripes of zebras"})["constraints"]
    assert [(each["section"], each["keyRules"]) for each in found] == [("One", []), ("Two", [])]
    assert found[0]["relevance"] > found[1]["relevance"]


@pytest.mark.slow
def test_what_set_up_wrote_hides_none_of_the_team_s_own_rules(operations: Operations, tmp_path: Path) -> None:
    routes = "".join(
        f"const {name} = require('express').Router();\n{name}.post('/', auth, (req, res) => {{\n"
        f"  res.json({{ success: true, data: req.body }});\n}});\nmodule.exports = {name};\n"
        for name in ("router",)
    )
    auth = "const auth = require('../middleware/auth');\n"
    files = {f"backend/routes/{name}.js": auth + routes for name in ("users", "orders", "items", "carts", "bills")}
    mounts = "".join(f"app.use('/api/{name}', require('./routes/{name}'));\n" for name in ("users", "orders", "items"))
    write(tmp_path, {
        **files, "backend/package.json": APP["package.json"],
        "backend/middleware/auth.js": "module.exports = function auth(req, res, next) { next(); };\n",
        "backend/server.js": f"const express = require('express');\nconst app = express();\n{mounts}app.listen(3000);\n",
        "CONSTRAINTS.md": "# Constraints\n\n## API\n\n- Every POST endpoint MUST validate its body.\n\n"
        "## Auth\n\n- Endpoints below /api MUST use the auth middleware.\n\n## Mail\n\n- NEVER mail twice.\n",
        ".git/HEAD": "ref: refs/heads/main\n",
    })  # fmt: skip
    made = operations.run("rag_setup", {"project_root": str(tmp_path)})
    assert any(path.startswith("docs/patterns/") for path in made["filesGenerated"])
    operations.run("rag_index", {"project_root": str(tmp_path)})
    for question in ("Add a new POST /api/users/profile endpoint with auth middleware", "a route with auth"):
        asked = {"change_description": question}
        answers = [operations.run("rag_check_constraints", asked | more) for more in ({}, {"num_results": 5})]
        for answer in answers:
            assert answer["constraints"][0]["filePath"] == "CONSTRAINTS.md", question
            assert any("auth middleware" in rule for each in answer["constraints"] for rule in each["keyRules"])
            assert answer["patterns"], "each kind is judged by itself"
        assert answers[0]["constraints"][0] == answers[1]["constraints"][0]


def test_rules_that_are_not_read_yet_are_not_denied(operations: Operations, client: Client, tmp_path: Path) -> None:
    _open(client, write(tmp_path / "shop", dict(SHOP)))
    asked = {"file_path": "src/cart.py"}
    assert operations.run("rag_check_constraints", asked)["summary"].startswith("this project has no rules yet")
    queue = client.projects()[0].store.queue
    queue.add(["docs/AGENTS.md", "src/new.py"])
    summary = operations.run("rag_check_constraints", asked)["summary"]
    assert "no rules yet" not in summary
    assert "1 document of rules is not read yet: ask again" in summary
    assert "1 document of rules is not read yet: ask again" in operations.run("rag_health_check", {})["warnings"]


def test_rules_for_other_folders_alone_are_not_said_to_be_missing(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    _open(client, write(tmp_path / "bank", {**SHOP, "web/AGENTS.md": "# Pages\n\nA page MUST have a title.\n"}))
    answer = operations.run("rag_check_constraints", {"file_path": "src/cart.py"})
    assert answer["constraints"] == []
    assert answer["summary"].startswith("no rule seems to be about this")


def test_the_first_question_to_a_project_reads_its_rules(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    code = {f"src/part_{at}.py": "VALUE = 1\n" for at in range(30)}
    client.open(write(tmp_path / "shop", {**SHOP, **code, **RULES}), on_purpose=True)
    answer = operations.run("rag_check_constraints", {"change_description": "store prices as float amounts"})
    assert answer["constraints"][0]["keyRules"] == ["Prices MUST be in cents, never floats."]


def test_rules_that_changed_while_no_engine_ran_are_waited_for(
    operations: Operations,
    client: Client,
    indexed_projects: IndexedProjects,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    former = {"ARCHITECTURE.yml": "layers:\n  money: never call the bank\n"}
    root = indexed_projects.copy({**SHOP, **former}, tmp_path / "shop")
    write(root, {"ARCHITECTURE.yml": "layers:\n  zebra: never load all stripes\n"})
    client.open(root)
    # As for a project whose comparison takes longer.
    for limit in ("_HURRIED_S", "_CATCH_UP_S", "_MOMENT_S"):
        monkeypatch.setattr(preparation, limit, 0.0)
    monkeypatch.setattr(open_project, "_SETTLE_S", 0.0)
    answer = operations.run("rag_check_constraints", {"change_description": "load the stripes of a zebra"})
    assert ["zebra" in rule["content"] for rule in answer["constraints"]] == [True]


def test_a_change_of_which_no_rule_speaks_is_told_so(operations: Operations, client: Client, tmp_path: Path) -> None:
    sections = "".join(
        f"## Part {at}\n\nModules of part {at} MUST be named in snake case, and import no part above.\n\n"
        for at in range(8)
    )
    _open(client, write(tmp_path / "shop", {**SHOP, "CONSTRAINTS.md": f"# Constraints\n\n{sections}"}))
    answer = operations.run("rag_check_constraints", {"change_description": "add a login with API keys for partners"})
    assert answer["summary"].startswith("no rule seems to be about this")
    assert answer["constraints"] == []
    near = operations.run("rag_check_constraints", {"change_description": "import partners with their keys"})
    assert near["summary"].startswith("no rule clearly speaks of this")
    assert len(near["constraints"]) == 3
    named = operations.run("rag_check_constraints", {"change_description": "name a module of part 3 in camel case"})
    assert "clearly" not in named["summary"]


def test_the_rules_of_others_code_count_for_its_own_files_alone(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    foreign = {
        "vendor/mailer/CONTRIBUTING.md": "# Mail\n\nA letter MUST be sent by the queue.\n",
        ".agents/skills/letters/AGENTS.md": "# Letters\n\nA letter MUST be signed.\n",
    }
    _open(client, write(tmp_path / "shop", {**SHOP, **foreign, "AGENTS.md": "# Style\n\nNames MUST be short.\n"}))

    def told(**question: str) -> list[str]:
        return [each["filePath"] for each in operations.run("rag_check_constraints", dict(question))["constraints"]]

    assert told(change_description="send a letter by the queue, signed, with a short name") == ["AGENTS.md"]
    assert told(file_path="vendor/mailer/send.py")[0] == "vendor/mailer/CONTRIBUTING.md"


@pytest.mark.slow
def test_a_long_section_is_one_answer_and_does_not_push_out_others(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    letters = "\n".join(
        f"- Letter {at} is sent by the queue, with a stamp and a signature of its sender." for at in range(60)
    )
    plain = "\n".join(
        f"Post of kind {at} is sent by the queue, with a stamp, in plain words and without a heading."
        for at in range(60)
    )
    rules = {
        "AGENTS.md": f"# Rules\n\n## Letters\n\n{letters}\n- NEVER send a letter twice.\n\n## Queue\n\nA queue MUST be emptied.\n",
        ".cursorrules": plain,
    }
    _open(client, write(tmp_path / "shop", {**SHOP, **rules, "web/a.py": "x = 1\n"}))
    question = {"change_description": "send a letter by the queue", "num_results": 20}
    shown = operations.run("rag_check_constraints", question)["constraints"]
    assert sorted(each["section"] for each in shown if each["filePath"] == "AGENTS.md") == [
        "Rules > Letters", "Rules > Queue"
    ]  # fmt: skip
    assert sum(each["filePath"] == ".cursorrules" for each in shown) > 1, "text without headings has no sections"
    write(tmp_path / "other", {**SHOP, "web/AGENTS.md": rules["AGENTS.md"], "web/a.py": "x = 1\n"})
    _open(client, tmp_path / "other")
    of_folder = operations.run("rag_check_constraints", {"file_path": "web/a.py"})["constraints"]
    assert ["NEVER send a letter twice."] in [each["keyRules"] for each in of_folder], (
        "of a long section, all key rules"
    )


def test_rules_of_a_folder_count_for_it_and_for_the_files_that_they_name(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    rules = {
        "server/AGENTS.md": (
            "# Server\n\nRoutes MUST be thin.\n\n## Client\n\nAfter a new route `clients/api.ts` MUST be generated anew.\n"
        ),
        "clients/AGENTS.md": "# Clients\n\nRoutes MUST be typed.\n",
        "docs/guides/contributing.md": "# Contributing\n\nA pull request MUST have a test.\n",
    }
    _open(client, write(tmp_path / "shop", {**SHOP, **rules, "clients/api.ts": "1\n", "server/a.py": "x = 1\n"}))

    def told(file_path: str) -> set[str]:
        question = {"change_description": "add a route, with a test", "file_path": file_path}
        found = operations.run("rag_check_constraints", question)["constraints"]
        return {f"{each['filePath']} {each['section']}" for each in found}

    for_all = "docs/guides/contributing.md Contributing"
    assert told("server/a.py") == {"server/AGENTS.md Server", "server/AGENTS.md Server > Client", for_all}
    assert told("server") == told("server/a.py")
    assert told("clients/api.ts") == {"clients/AGENTS.md Clients", "server/AGENTS.md Server > Client", for_all}


def test_a_folder_above_a_file_does_not_make_its_rules_clear_for_any_change(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    rules = "# Map\n\nThe pages MUST stay in `web/`.\n\n## Colours\n\nA colour MUST be a token.\n"
    _open(client, write(tmp_path / "shop", {**SHOP, "AGENTS.md": rules, "web/pages/list/a.py": "x = 1\n"}))
    question = {"change_description": "round half up in totals", "file_path": "web/pages/list/a.py"}
    answer = operations.run("rag_check_constraints", question)
    assert answer["summary"].startswith("no rule clearly speaks of this")
    assert "clearly" not in operations.run("rag_check_constraints", {"file_path": "web/pages/list/a.py"})["summary"]


def test_rules_of_packages_count_for_the_files_below_them(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    rules = "rules:\n  - {id: no-print, language: python, forbid: print($$$), files: api/**, message: NEVER print}\n"
    files = {
        "backend/ARCHITECTURE.yml": rules, "backend/api/a.py": "print(1)\n", "api/a.py": "print(1)\n",
        "packages/a/AGENTS.md": "# A\n\nWidgets MUST be blue.\n", "packages/a/w.py": "x = 1\n",
        "packages/a/in/CLAUDE.md": "# In\n\nWidgets MUST be round.\n", "packages/a/in/w.py": "x = 1\n",
        ".claude/CLAUDE.md": "# All\n\nWidgets MUST be kind.\n",
    }  # fmt: skip
    root = _open(client, write(tmp_path / "shop", files))

    def told(path: str) -> set[str]:
        answer = operations.run("rag_check_constraints", {"file_path": path, "change_description": "new widgets"})
        return {rule.split()[-1].strip("}") for each in answer["constraints"] for rule in each["keyRules"]}

    assert told("packages/a/in/w.py") == {"blue.", "round.", "kind."}
    assert told("packages/a/w.py") == {"blue.", "kind."}
    assert told("backend/api/a.py") == {"kind.", "print"}
    assert operations.run("rag_check_constraints", {"file_path": "backend/api/a.py"})["checks"] == [
        "no-print: NEVER print"
    ]
    assert "checks" not in operations.run("rag_check_constraints", {"file_path": "api/a.py"})
    assert [
        operations.run("check_file", {"file_path": path})["total"] for path in ("backend/api/a.py", "api/a.py")
    ] == [1, 0]
    write(root, {"backend/ARCHITECTURE.yml": rules.replace("print($$$)", "nothing()")})
    assert operations.run("check_file", {"file_path": "backend/api/a.py"})["total"] == 0, "it is read again"


def test_a_test_question_of_nothing_is_not_passed(operations: Operations, client: Client, tmp_path: Path) -> None:
    _open(client, write(tmp_path / "empty", {".git/HEAD": "ref: refs/heads/main\n"}))
    health = operations.run("rag_health_check", {})
    assert (health["queryTest"], health["healthy"]) == ("failed", False)


def test_rules_of_other_tools_count_for_the_files_that_their_globs_name(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    others = {
        ".cursor/rules/forms.mdc": "---\nglobs: src/forms/**\n---\n\n# Forms\n\nFields MUST have a label.\n",
        ".github/instructions/api.instructions.md": '---\napplyTo: "**/*.go"\n---\n\n# API\n\nErrors MUST be wrapped.\n',
        "docs/adr/0001-money.md": "# Money in cents\n\nAmounts MUST be whole cents, since floats lose them.\n",
        ".windsurfrules": "# Logging\n\nNEVER log the card number of a customer.\n",
    }
    _open(client, write(tmp_path / "shop", {**SHOP, **others}))

    def told(**question: str) -> list[str]:
        return [each["filePath"] for each in operations.run("rag_check_constraints", dict(question))["constraints"]]

    assert told(file_path="src/forms/name.ts")[0] == ".cursor/rules/forms.mdc"
    assert not {".cursor/rules/forms.mdc", ".github/instructions/api.instructions.md"} & set(
        told(file_path="src/mail.js")
    )
    assert told(file_path="cmd/main.go")[0] == ".github/instructions/api.instructions.md"
    assert (
        told(change_description="keep the amount of a refund as whole cents, no floats")[0] == "docs/adr/0001-money.md"
    )
    assert told(change_description="log the card number of the customer")[0] == ".windsurfrules"


def test_what_stands_in_the_documents_of_several_tools_is_told_once_without_their_heads(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    mail = "# Mail\n\n- Letters MUST have a sender.\n"
    others = {
        "AGENTS.md": mail,
        ".github/copilot-instructions.md": mail.replace("- ", "* ").replace("# ", "## "),
        ".windsurf/rules/mail.md": f"---\ntrigger: glob\nglobs: src/**\n---\n\n{mail}",
        ".claude/rules/js.md": "---\npaths:\n  - src/*.js\n---\n\nNames MUST be in English.\n",
        "CLAUDE.md": "@AGENTS.md\n",
        "src/CLAUDE.md": "<h3></h3>\n\n- @../docs/style.md\n",
    }
    _open(client, write(tmp_path / "shop", {**SHOP, **others}))
    found = operations.run("rag_check_constraints", {"file_path": "src/mail.js"})["constraints"]
    told = sorted((each["content"], each["lines"]) for each in found)
    assert told == [("# Mail\n\n- Letters MUST have a sender.", "6-8"), ("Names MUST be in English.", "5-6")]
    found = operations.run("rag_check_constraints", {"change_description": "a sender of letters"})["constraints"]
    assert [each["filePath"] for each in found if "sender" in each["content"]] == ["AGENTS.md"]


def test_a_document_that_the_rules_import_is_one_of_them(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    others = {
        "CLAUDE.md": "Read @docs/style.md first.\n",
        "docs/style.md": "# Style\n\nSee @money.md.\n",
        "docs/money.md": "# Money\n\nAmounts MUST be whole cents.\n",
        "docs/guide.md": "# Guide\n\nAmounts of a refund MUST be whole cents.\n",
    }
    _open(client, write(tmp_path / "shop", {**SHOP, **others}))
    found = operations.run(
        "rag_check_constraints", {"change_description": "keep the amount of a refund in whole cents"}
    )
    told = [each["filePath"] for each in found["constraints"]]
    assert told[0] == "docs/money.md"
    assert "docs/guide.md" not in told


def test_documents_that_say_the_opposite_are_both_told(operations: Operations, client: Client, tmp_path: Path) -> None:
    allowed = "# Money\n\n- ✅ Store refunds as float\n- Compare with `a == b`\n"
    forbidden = allowed.replace("✅", "❌").replace("==", "!=")
    _open(client, write(tmp_path / "shop", {**SHOP, "AGENTS.md": allowed, "CLAUDE.md": forbidden}))
    found = operations.run("rag_check_constraints", {"change_description": "store refunds as float"})["constraints"]
    assert [each["filePath"] for each in found] == ["AGENTS.md", "CLAUDE.md"]


def test_a_pattern_is_found_among_patterns(operations: Operations, shop: Path) -> None:
    answer = operations.run("rag_check_constraints", {"change_description": "retry the call of the payment service"})
    assert answer["patterns"][0]["filePath"] == "docs/patterns/retries.md"
    assert answer["patterns"][0]["type"] == "pattern"


def test_a_file_is_told_the_rules_of_its_folder_first(operations: Operations, shop: Path) -> None:
    answer = operations.run("rag_check_constraints", {"file_path": "src\\api\\users.py"})
    assert answer["constraints"][0]["filePath"] == "src/api/AGENTS.md"


def test_a_diff_is_a_question_too(operations: Operations, shop: Path) -> None:
    diff = "--- a/src/mail.js\n+++ b/src/mail.js\n@@ -1,1 +1,2 @@\n x\n+sendInvoice(customer, invoice); // send invoice again\n"
    answer = operations.run("rag_check_constraints", {"diff": diff})
    assert "NEVER send an invoice twice." in answer["constraints"][0]["keyRules"]


def test_a_diff_is_told_which_checkable_rules_it_breaks(operations: Operations, shop: Path) -> None:
    rule = "rules:\n  - {id: no-print, language: python, forbid: print($$$), message: NEVER print, see: docs/patterns/log.md}\n"
    write(shop, {"ARCHITECTURE.yml": rule})
    planned = "--- a/src/cart.py\n+++ b/src/cart.py\n@@ -3,0 +4,2 @@\n+    x = 1\n+    print(x)\n"
    (broken,) = operations.run("rag_check_constraints", {"diff": planned})["violations"]
    assert (broken["rule"], broken["filePath"], broken["line"], broken["see"]) == (
        "no-print", "src/cart.py", 5, "docs/patterns/log.md",
    )  # fmt: skip
    write(shop, {"src/cart.py": "print(0)\ny = 2\nprint(1)\n"})
    done = "--- a/src/cart.py\n+++ b/src/cart.py\n@@ -2,1 +2,2 @@\n y = 2\n+print(1)\n"
    (broken,) = operations.run("rag_check_constraints", {"diff": done})["violations"]
    assert broken["line"] == 3, "the line before was there already"
    assert operations.run("rag_check_constraints", {"file_path": "src/cart.py"})["checks"] == ["no-print: NEVER print"]
    assert [each["line"] for each in operations.run("check_file", {"file_path": "src/cart.py"})["violations"]] == [1, 3]
    twice = operations.run("rag_check_constraints", {"diff": f"{done}+print(2)\n".replace("-2,1 +2,2", "-2,1 +2,3")})
    assert twice["summary"].startswith("1 rule is broken by the diff in 2 places")


def test_a_diff_of_files_that_are_not_there_is_not_said_to_break_nothing(operations: Operations, shop: Path) -> None:
    diff = "--- a/src/gone.py\n+++ b/src/gone.py\n@@ -1 +1,2 @@\n x\n+y\n"
    with pytest.raises(InvalidRequest, match=r"src/gone.py of the diff is not in .*; nothing was checked"):
        operations.run("rag_check_constraints", {"diff": diff})
    both = diff + diff.replace("gone", "cart")
    assert "src/gone.py of the diff is not in" in operations.run("rag_check_constraints", {"diff": both})["summary"]
    new = diff.replace("--- a/src/gone.py", "--- /dev/null")
    assert "not in" not in operations.run("rag_check_constraints", {"diff": new})["summary"]
    above = diff.replace("src/gone", f"{shop.name}/src/cart")
    assert "not in" not in operations.run("rag_check_constraints", {"diff": above})["summary"], (
        "git counts from its root"
    )


@pytest.mark.slow
def test_of_a_rule_that_matches_everything_an_agent_gets_a_hundred_places_and_the_count(
    operations: Operations, shop: Path
) -> None:
    write(shop, {"ARCHITECTURE.yml": "rules:\n  - {id: all, language: python, rule: {kind: integer}}\n"})
    write(shop, {"src/cart.py": "x = 1\n" * 10_000})
    diff = "--- a/src/cart.py\n+++ b/src/cart.py\n@@ -0,0 +1,10000 @@\n" + "+x = 1\n" * 10_000
    told = operations.run("rag_check_constraints", {"diff": diff})
    assert len(told["violations"]) == 100
    assert "in 10,000 places: violations has the gravest 100" in told["summary"]
    checked = operations.run("check_file", {"file_path": "src/cart.py"})
    assert (len(checked["violations"]), checked["total"]) == (100, 10_000)


def test_a_rule_that_matches_everything_hides_no_error(operations: Operations, shop: Path) -> None:
    rules = "{id: all, severity: info, language: python, rule: {kind: integer}}\n  - {id: grave, language: python, forbid: eval($A)}"
    write(shop, {"ARCHITECTURE.yml": f"rules:\n  - {rules}\n", "src/cart.py": "x = 1\n" * 200 + "eval(x)\n"})
    checked = operations.run("check_file", {"file_path": "src/cart.py"})
    assert checked["violations"][0]["rule"] == "grave"
    assert len(checked["violations"]) == 100


def test_a_rule_that_is_being_typed_counts(operations: Operations, shop: Path, client: Client) -> None:
    (view,) = client.projects()
    view.buffer_changed(Buffer("CONSTRAINTS.md", "# Rules\n\nWalruses MUST be fed daily.\n"))

    def told() -> bool:
        found = operations.run("rag_check_constraints", {"change_description": "feeding walruses"})["constraints"]
        return any("Walruses MUST be fed daily." in each["keyRules"] for each in found)

    assert until(told, PATIENCE_S)


def test_a_page_that_set_up_wrote_is_a_rule_and_no_answer_about_code_until_its_mark_is_gone(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    page, mark = "# Errors\n\nHow errors are handled: in the handler of errors.\n", "\nrag-ls counted 3 places.\n"
    path = "docs/patterns/errors.md"
    root = _open(client, write(tmp_path / "shop", {**SHOP, path: page + mark}))

    def find() -> list[str]:
        return [each["path"] for each in operations.run("search_code", {"query": "how are errors handled"})["results"]]

    assert path not in find()
    found = operations.run("rag_check_constraints", {"change_description": "how are errors handled"})
    assert found["patterns"][0]["filePath"] == path
    write(root, {path: page})
    _open(client, root)
    assert find()[0] == path


def test_rules_are_a_kind_of_search(operations: Operations, shop: Path) -> None:
    results = operations.run("search", {"query": "invoice sent twice", "kinds": ["rules"]})["results"]
    assert (results[0]["kind"], results[0]["path"], results[0]["symbol"]) == (
        "rule",
        "CONSTRAINTS.md",
        "Constraints > Mail",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs change_description"),
        ({"change_description": "ab"}, "too short"),
        ({"change_description": "a change", "num_results": 0}, "not within 1 to 20"),
        ({"change_description": "a change", "num_results": 21}, "not within 1 to 20"),
        ({"diff": "no diff"}, "git diff"),
    ],
)
def test_a_wrong_question_is_refused(operations: Operations, shop: Path, arguments: dict, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        operations.run("rag_check_constraints", arguments)


def test_a_file_outside_the_project_is_refused(operations: Operations, shop: Path) -> None:
    with pytest.raises(PathOutsideProject):
        operations.run("rag_check_constraints", {"file_path": "/etc/passwd"})
    with pytest.raises(PathOutsideProject):
        operations.run("rag_query_impact", {"file_path": "../other/a.py"})


def test_a_project_without_rules_is_told_how_to_get_them(
    operations: Operations, client: Client, tmp_path: Path
) -> None:
    _open(client, write(tmp_path / "bare", SHOP))
    answer = operations.run("rag_check_constraints", {"change_description": "change the discount"})
    assert (answer["constraints"], answer["patterns"]) == ([], [])
    assert "rag_setup" in answer["summary"]
    assert answer["examples"]


# --- impact


def test_impact_has_the_keys_of_its_contract(operations: Operations, client: Client, tmp_path: Path) -> None:
    _open(client, write(tmp_path / "app", APP))
    answer = operations.run("rag_query_impact", {"file_path": "lib/cart.js", "num_similar": 1})
    assert answer["dependents"] == [{"filePath": "server.js", "imports": ["./lib/cart"], "names": ["*"], "lines": [2]}]
    assert len(answer["similarFiles"]) <= 1
    served = operations.run("rag_query_impact", {"file_path": "server.js"})
    assert served["apiEndpoints"] == ["GET /items", "POST /items", "DELETE /items/:id"]
    assert served["websocketEvents"] == []
    assert "3 endpoints" in served["summary"]


def test_an_unknown_file_names_the_nearest(operations: Operations, shop: Path) -> None:
    with pytest.raises(NotFound, match=r"src/cart\.py"):
        operations.run("rag_query_impact", {"file_path": "src/carts.py"})
    with pytest.raises(NotFound, match="total_price"):
        operations.run("rag_query_impact", {"file_path": "src/cart.py", "symbol": "no_such"})
    with pytest.raises(InvalidRequest, match="not within 1 to 20"):
        operations.run("rag_query_impact", {"file_path": "src/cart.py", "num_similar": 50})


# --- set-up


@pytest.mark.slow
def test_setup_writes_what_the_code_shows_and_keeps_existing_files(operations: Operations, tmp_path: Path) -> None:
    root = write(tmp_path / "app", APP).resolve()
    answer = operations.run("rag_setup", {"project_root": str(root)})
    assert (answer["status"], answer["projectRoot"], answer["backendDetected"]) == ("success", str(root), ".")
    assert answer["frontendDetected"] is None
    assert "ARCHITECTURE.yml" in answer["filesGenerated"]
    assert set(answer["patternsDetected"]) == {"middleware", "responseFormat", "frontendImports"}
    text = (root / "ARCHITECTURE.yml").read_text()
    assert "server.js:" in text
    again = operations.run("rag_setup", {"project_root": str(root)})
    assert again["filesGenerated"] == []
    (root / "ARCHITECTURE.yml").write_text("mine: true\nrules:\n  - id: kept\n")
    kept = operations.run("rag_setup", {"project_root": str(root)})
    assert kept["filesLeftAlone"] == ["ARCHITECTURE.yml"]
    assert "force" in kept["warning"]
    assert (root / "ARCHITECTURE.yml").read_text().startswith("mine")
    forced = operations.run("rag_setup", {"project_root": str(root), "force": True})
    assert forced["filesGenerated"] == ["ARCHITECTURE.yml"]
    (beside,) = forced["filesKept"]
    assert (root / beside).read_text().startswith("mine")
    assert "id: kept" in (root / "ARCHITECTURE.yml").read_text(), "rules are people's: they stay in force"


@pytest.mark.slow
def test_setup_tells_its_progress_and_other_questions_are_answered_meanwhile(
    operations: Operations, shop: Path, tmp_path: Path
) -> None:
    more = {f"lib/part{number}.js": f"exports.part{number} = () => {number};\n" for number in range(60)}
    root = write(tmp_path / "app", {**APP, **more}).resolve()
    steps, answers = list[Progress](), list[dict]()

    def report(project: str, progress: Progress) -> None:
        steps.append(progress)
        answers.append(operations.run("search_code", {"query": "total_price", "project": str(shop)}))

    answer = operations.run("rag_setup", {"project_root": str(root)}, report)
    assert "ARCHITECTURE.yml" in answer["filesGenerated"]
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert {(step.phase, step.total) for step in steps} == {(Phase.READING, 62)}
    assert len(answers) == len(steps) >= 2
    assert all(each["results"] for each in answers)


def test_a_setup_that_nobody_waits_for_ends_and_writes_nothing(operations: Operations, tmp_path: Path) -> None:
    root = write(tmp_path / "app", APP).resolve()

    def leave(project: str, progress: Progress) -> None:
        raise InvalidRequest("the agent waits no longer")

    with pytest.raises(InvalidRequest, match="no longer"):
        operations.run("rag_setup", {"project_root": str(root)}, leave)
    assert not (root / "ARCHITECTURE.yml").exists()


@pytest.mark.slow
def test_a_forced_setup_keeps_all_that_people_added(operations: Operations, tmp_path: Path) -> None:
    root = write(tmp_path / "app", APP).resolve()
    operations.run("rag_setup", {"project_root": str(root)})
    file = root / "ARCHITECTURE.yml"
    # The anchors of the rules lie in a section of their own, and in one of set-up's.
    own = (
        "rules:\n  - id: own\n    files: *servers\n    not_files: *old\n    forbid_imports: fs\n    message: No files\n"
    )
    people = [
        "# The team's globs.\nx-globs: &servers [server.js]\n",
        "owners: {api: Ada}\n",
        "stacks: &old [legacy/**]\n",
    ]
    file.write_text("".join(["project: {name: mine}\n", *people, own]))
    forced = operations.run("rag_setup", {"project_root": str(root), "force": True})
    assert forced["filesGenerated"] == ["ARCHITECTURE.yml"]
    text = file.read_text()
    assert all(each in text for each in [*people, own, "server.js:"])
    assert "name: mine" not in text
    (root / "server.js").write_text("const fs = require('fs');\n" + APP["server.js"])
    found = operations.run("check_file", {"file_path": "server.js"})
    assert [each["rule"] for each in found["violations"]] == ["own"]


@pytest.mark.parametrize("text", ["rules: [\n", "{project: {}, rules: []}\n"])
def test_a_forced_setup_leaves_rules_alone_that_it_cannot_keep(
    operations: Operations, tmp_path: Path, text: str
) -> None:
    root = write(tmp_path / "app", {**APP, "ARCHITECTURE.yml": text}).resolve()
    forced = operations.run("rag_setup", {"project_root": str(root), "force": True})
    assert "its rules cannot be kept" in forced["warning"]
    assert (root / "ARCHITECTURE.yml").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"project_root": "relative"}, "no absolute path"),
        ({"project_root": "/no/such/folder"}, "no folder"),
        ({"frontend_path": "no/such"}, "no folder"),
    ],
)
def test_setup_refuses_folders_that_are_not_there(
    operations: Operations, shop: Path, arguments: dict, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        operations.run("rag_setup", {"project_root": str(shop), **arguments})


@pytest.mark.skipif(IS_ROOT, reason="root may write anywhere")
def test_setup_in_a_folder_that_cannot_be_written_says_so(operations: Operations, shop: Path) -> None:
    shop.chmod(0o500)
    try:
        with pytest.raises(ProjectUnavailable, match="cannot write"):
            operations.run("rag_setup", {"project_root": str(shop)})
    finally:
        shop.chmod(0o700)


# --- index, health, status


def test_a_project_is_set_up_before_it_is_indexed_anew(operations: Operations, shop: Path) -> None:
    with pytest.raises(NotFound, match="rag_setup"):
        operations.run("rag_index", {"project_root": str(shop)})
    operations.run("rag_setup", {"project_root": str(shop)})
    answer = operations.run("rag_index", {"project_root": str(shop)})
    assert answer["filesIndexed"] >= len(SHOP) + len(RULES)
    assert answer["chunksCreated"] == sum(answer["collectionStats"].values())
    assert answer["collectionStats"]["constraints"] >= 3
    assert answer["errors"] == []
    assert answer["duration"] >= 0


def test_status_and_health_tell_how_it_stands(operations: Operations, shop: Path) -> None:
    status = operations.run("rag_status")
    assert (status["initialized"], status["projectRoot"], status["indexed"]) == (False, str(shop), True)
    assert status["totalChunks"] == sum(status["collectionCounts"].values())
    health = operations.run("rag_health_check")
    assert (health["healthy"], health["queryTest"], health["issues"]) == (True, "passed", [])
    assert health["constraintFiles"] == {"ARCHITECTURE.yml": False, "CONSTRAINTS.md": True, "CLAUDE.md": False}
    assert health["collections"]["constraints"]["exists"]
    assert any("CLAUDE.md" in warning for warning in health["warnings"])
    operations.run("rag_setup", {"project_root": str(shop)})
    assert operations.run("rag_status")["initialized"]


def test_without_a_project_status_says_that_there_is_none(operations: Operations) -> None:
    assert operations.run("rag_status") == {
        "initialized": False, "projectRoot": None, "indexed": None, "lastIndexed": None, "totalChunks": None,
        "collectionCounts": None, "status": "success",
    }  # fmt: skip
    with pytest.raises(ProjectUnavailable):
        operations.run("rag_check_constraints", {"change_description": "anything"})


def test_what_an_older_tool_decided_is_understood(operations: Operations, shop: Path) -> None:
    write(shop, {".rag/config.json": json.dumps({"projectRoot": str(shop), "backendPath": "src"})})
    assert operations.run("rag_status")["initialized"]


def test_files_that_the_last_client_left_unread_are_read_before_their_code_is_denied(
    client: Client, operations: Operations, tmp_path: Path
) -> None:
    write(tmp_path, {".git/HEAD": "", **RULES})
    view = client.open(tmp_path, on_purpose=True)
    view.indexing.index_tree(Depth.COMPARE)
    assert until(lambda: view.indexing.scanned and view.store.queue.has_any())
    view.indexing.pause()
    found = operations.run("rag_check_constraints", {"change_description": "list the users", "num_results": 3})
    assert [each["filePath"] for each in found["examples"]] == ["src/api/users.py"]

"""What a resolver does not follow is told by name: no answer denies a place where the name stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from tests.conftest import IndexedProjects
from tests.operations.code.projects import index_project
from tests.support import PATIENCE_S

SCRIPTS = {
    "package.json": '{"name": "shop", "dependencies": {"letters": "npm:@shop/mail@1"}}\n',
    "lib/mail.ts": "export function post(text: string) {\n  return text\n}\n",
    "web/alias.ts": 'import { post } from "#lib/mail"\npost("a")\n',
    "web/build.ts": 'import { post } from "@@mails/mail"\npost("b")\n',
    "web/package.ts": 'import { post } from "letters"\npost("c")\n',
    "web/node.ts": 'import { post } from "node:http"\npost("d")\n',
    "lib/mover.ts": "import { traced } from './traced'\nconst mover = () => 1\nexport default traced('mover')(mover)\n",
    "lib/traced.ts": "export const traced = (name: string) => (made: unknown) => made\n",
    "web/drag.ts": "import mover from '../lib/mover'\nmover()\n",
    "web/taken.js": "const { post } = require('../built/mail')\npost('e')\n",
}
GO = {
    "go.mod": "module example.com/shop\n",
    "api/build.go": "package api\n\ntype Builder struct{}\n\nfunc (b *Builder) BuildHTTP(name string) string { return name }\n",
    "api/run.go": "package api\n\ntype run interface{ BuildHTTP(name string) string }\n\nfunc Run(all map[string]run) string {\n"
    '\treturn all["a"].BuildHTTP("b")\n}\n',
    "api/run_test.go": 'package api\n\nimport "testing"\n\nfunc TestRun(t *testing.T) {\n\tmake(t).BuildHTTP("c")\n}\n',
}
TEXTS = {
    "shop/cart.py": "def settle(cart):\n    return cart\n",
    "config.yaml": "handlers:\n  - shop.cart:settle\n",
}
KOTLIN = {
    "src/Sink.kt": "package shop\n\ninterface Sink {\n    fun write(text: String)\n    fun write(text: String, count: Int)\n}\n",
    "src/File.kt": "package shop\n\nclass File : Sink {\n    override fun write(text: String) {}\n    fun close() {}\n}\n",
    "src/Pipe.kt": "package shop\n\nclass Pipe {\n    fun write(text: String) {}\n    fun close() {}\n}\n",
    "src/Written.kt": "package shop\n\nfun Sink.write(number: Int) = 1\nfun <T : Any> T.close() = 2\n",
    "src/Use.kt": "package shop\n\nfun run(sink: Sink) {\n    sink.write(1)\n    sink.close()\n}\n",
}
OBJECTS = {
    "web/answer.js": "module.exports = {\n  get body() {\n    return 1\n  },\n  set body(text) {\n    this.text = text\n  },\n}\n",
    "web/use.js": "send({ body: 'a' })\n",
}
CALLBACKS = {
    "web/api.ts": "export interface Api {\n  load(): void\n}\nexport interface Own {\n  load(): void\n}\n",
    "web/page.test.ts": "import { Api } from './api'\nit('a', () => {\n  let api: Api\n  api.load()\n})\n"
    "it('b', () => {\n  const api = make()\n  api.load()\n})\n",
}


@pytest.fixture
def ask(client: Client, indexed_projects: IndexedProjects, tmp_path: Path):
    def run(files: dict[str, str], name: str, **arguments: object) -> dict:
        if not client.projects():
            client.open(indexed_projects.copy(files, tmp_path / "floor"))
            index_project(client, embeddings=False)
        return Operations(client, wait_for_model_s=PATIENCE_S).run(name, arguments)

    return run


def test_an_import_that_leads_nowhere_known_is_told_by_name(ask) -> None:
    found = ask(SCRIPTS, "find_references", symbol="post")["references"]
    files = {each["path"]: each["sure"] for each in found if each["kind"] == "call"}
    assert files == dict.fromkeys(("web/alias.ts", "web/build.ts", "web/package.ts", "web/taken.js"), "by name")


def test_what_a_call_exports_by_default_is_not_taken_for_the_function_that_is_called(ask) -> None:
    found = ask(SCRIPTS, "find_references", symbol="mover")["references"]
    assert {(each["path"], each["line"]) for each in found if each["sure"] == "by name"} >= {
        ("web/drag.ts", 1),
        ("web/drag.ts", 2),
    }


@pytest.mark.parametrize(
    ("files", "question", "dependents"),
    [
        (SCRIPTS, {"symbol": "post"}, {"web/alias.ts", "web/build.ts", "web/package.ts", "web/taken.js"}),
        (SCRIPTS, {"symbol": "mover"}, {"web/drag.ts"}),
        (SCRIPTS, {"file_path": "lib/mail.ts"}, {"web/alias.ts", "web/build.ts", "web/package.ts", "web/taken.js"}),
        (GO, {"symbol": "Builder.BuildHTTP"}, {"api/run.go", "api/run_test.go"}),
    ],
)
def test_impact_is_made_from_the_same_places_as_references(ask, files: dict, question: dict, dependents: set) -> None:
    answer = ask(files, "rag_query_impact", **question)
    assert {each["filePath"] for each in answer["dependents"]} >= dependents
    assert all(each.get("byName") for each in answer["dependents"] if not each["imports"])
    if files is GO:
        assert answer["tests"] == ["api/run_test.go"]
        assert "by name alone" in answer["summary"]


def test_lines_that_hold_a_name_that_nothing_uses_are_told(ask) -> None:
    references = ask(TEXTS, "find_references", symbol="settle")
    assert "config.yaml:2" in references["note"] or any(
        each["path"] == "config.yaml" for each in references["references"]
    )
    assert any("config.yaml:2" in note for note in ask(TEXTS, "rag_query_impact", symbol="settle")["notes"])


ALIASES = {
    "lib/card.ts": "export function formatCard(a: any) {\n  return a\n}\nexport const cardAlias = formatCard\n"
    "export const cards = {\n  run: formatCard,\n}\nexport { formatCard as cardOf }\n",
    "lib/barrel.ts": "import { formatCard } from './card'\nexport { formatCard as passedOn }\n",
    "web/alias.ts": "import { cardAlias } from '../lib/card'\ncardAlias(1)\n",
    "web/table.ts": "import { cards } from '../lib/card'\ncards.run(1)\n",
    "web/renamed.ts": "import { cardOf } from '../lib/card'\ncardOf(1)\n",
    "web/passed.ts": "import { passedOn } from '../lib/barrel'\npassedOn(1)\n",
    "web/other.ts": "const cardOf = (a: any) => a\ncardOf(2)\n",
}


def test_uses_under_the_name_that_an_export_gives_are_uses(ask) -> None:
    found = ask(ALIASES, "find_references", symbol="formatCard")["references"]
    calls = {(each["path"], each["sure"]) for each in found if each["kind"] == "call"}
    assert calls == {("web/renamed.ts", "resolved"), ("web/passed.ts", "resolved")}


def test_what_uses_a_value_that_is_made_of_a_function_depends_on_the_function(ask) -> None:
    answer = ask(ALIASES, "rag_query_impact", symbol="formatCard")
    assert [each["filePath"] for each in answer["dependents"]] == [
        "lib/barrel.ts", "web/alias.ts", "web/passed.ts", "web/renamed.ts", "web/table.ts",
    ]  # fmt: skip


PHP_TRAIT = {
    "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}}\n',
    "src/Greets.php": "<?php\nnamespace Shop;\ntrait Greets {\n    public function greet(): void {}\n}\n",
    "src/Base.php": "<?php\nnamespace Shop;\nabstract class Base {\n    public function greet(): void {}\n}\n",
    "src/Child.php": "<?php\nnamespace Shop;\nclass Child extends Base {\n    use Greets;\n}\n",
    "src/Other.php": "<?php\nnamespace Shop;\nclass Other {\n    public function greet(): void {}\n}\n",
    "src/run.php": "<?php\nnamespace Shop;\nfunction run(Base $a): void {\n    $a->greet();\n}\n"
    "function go(Other $b): void {\n    $b->greet();\n}\n",
}
PYTHON_MIXIN = {
    "shop.py": "class Greets:\n    def greet(self):\n        pass\n\n\nclass Base:\n    def greet(self):\n        pass\n\n\n"
    "class Child(Greets, Base):\n    pass\n\n\nclass Other:\n    def greet(self):\n        pass\n",
    "run.py": "from shop import Base, Other\n\n\ndef run(a: Base, b: Other):\n    a.greet()\n    b.greet()\n",
}


@pytest.mark.parametrize(("files", "call"), [(PHP_TRAIT, ("src/run.php", 4)), (PYTHON_MIXIN, ("run.py", 5))])
def test_a_call_of_a_base_may_mean_what_a_child_mixes_in(ask, files: dict, call: tuple) -> None:
    found = ask(files, "find_references", symbol="Greets.greet")["references"]
    calls = [(each["path"], each["line"], each["sure"]) for each in found if each["kind"] == "call"]
    assert calls == [(*call, "by name")]


def test_a_function_that_extends_a_type_is_none_of_a_type_that_has_nothing_to_do_with_it(ask) -> None:
    def find(symbol: str) -> set[tuple[str, int]]:
        found = ask(KOTLIN, "find_references", symbol=symbol)["references"]
        return {(each["path"], each["line"]) for each in found if each["kind"] == "call"}

    assert find("File.write") == {("src/Use.kt", 4)}
    assert find("Pipe.write") == set()
    # What extends any type may be called in place of a member.
    assert find("Pipe.close") == {("src/Use.kt", 5)}


def test_the_key_of_an_object_may_be_that_of_another_one(ask) -> None:
    found = ask(OBJECTS, "find_references", path="web/answer.js", line=5)["references"]
    assert ("web/use.js", 1, "by name") in {(each["path"], each["line"], each["sure"]) for each in found}


def test_a_variable_of_one_callback_does_not_tell_the_type_of_another_one(ask) -> None:
    found = ask(CALLBACKS, "find_references", symbol="Own.load")["references"]
    assert {(each["line"], each["sure"]) for each in found if each["kind"] == "call"} == {
        (4, "by name"),
        (8, "by name"),
    }

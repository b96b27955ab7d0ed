"""Folders named for tests, examples or other people's code that hold the product, and those that hold what they say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from tests.wild.project import WildProject

_TEST = "from {} import run\n\n\ndef test_run():\n    assert run() == 1\n"
_RUN = "def run():\n    return 1\n"

_SITUATIONS: Mapping[str, tuple[Mapping[str, str], set[str]]] = {
    # Each with the files that are tests or secondary; all others are product.
    "a product in src/testing, which the command line imports": (
        {
            "src/testing/__init__.py": "", "src/testing/runner.py": "from src.testing.report import render\n\n\n" + _RUN,
            "src/testing/report.py": "def render():\n    return 1\n", "src/testing/colours.py": "RED = 1\n",
            "src/cli.py": "from src.testing.runner import run\n\nrun()\n", "tests/test_runner.py": _TEST.format("src.testing.runner"),
        },
        {"tests/test_runner.py"},
    ),
    "tests that are more than the product, in files that are not named as tests": (
        {
            "lib/app.js": "exports.run = () => 1\n", "index.js": "module.exports = require('./lib/app')\n",
            **{f"test/{name}.js": f"const app = require('../lib/app')\nit('{name}', () => app.run())\n" for name in "abcdef"},
        },
        {f"test/{name}.js" for name in "abcdef"},
    ),
    "one helper of the tests that the product uses": (
        {
            "app/main.py": "from app.tests.factories import make\n\nmake()\n", "app/__init__.py": "", "app/tests/__init__.py": "",
            "app/tests/factories.py": "def make():\n    return 1\n", "app/tests/test_main.py": "import app.main\n",
            "app/tests/test_other.py": "import app.main\n", "app/tests/base.py": "import app.main\n",
        },
        {"app/tests/test_main.py", "app/tests/test_other.py", "app/tests/base.py"},
    ),
    "a client for tests that the product offers": (
        {
            "lib/shop/test/client.py": "class Client:\n    pass\n",
            "lib/shop/test/__init__.py": "from lib.shop.test.client import Client\n",
            "lib/shop/commands.py": "from lib.shop.test.client import Client\n", "lib/shop/test.py": "x = 1\n",
        },
        set(),
    ),
    "packages of Java below a source root": (
        {
            "src/main/java/org/kit/mock/Mock.java": "package org.kit.mock;\npublic class Mock {}\n",
            "src/main/java/com/example/demo/App.java": "package com.example.demo;\npublic class App {}\n",
            "src/test/java/org/kit/mock/Helper.java": "package org.kit.mock;\nclass Helper {}\n",
            "examples/shop/src/main/java/com/shop/App.java": "package com.shop;\npublic class App {}\n",
        },
        {"src/test/java/org/kit/mock/Helper.java", "examples/shop/src/main/java/com/shop/App.java"},
    ),
    "helpers of Go's tests beside the code, which only tests call": (
        {
            "go.mod": "module acme.io/shop\n", "internal/test/check.go": "package test\n\nfunc OK() {}\n",
            "store/store.go": "package store\n\nfunc Open() {}\n",
            "store/testing.go": 'package store\n\nimport (\n\t"testing"\n\n\t"acme.io/shop/internal/test"\n)\n\n'
            "func Check(t *testing.T) { test.OK() }\n",
        },
        {"internal/test/check.go"},
    ),
    "modules that Rust compiles for its tests alone": (
        {
            "Cargo.toml": '[package]\nname = "shop"\n', "src/test_util.rs": "pub fn faker() {}\n",
            "src/lib.rs": "#[cfg(test)]\nmod test_util;\n\npub fn run() {}\n\n#[cfg(test)]\nmod tests {\n"
            "    use crate::test_util::faker;\n    #[test]\n    fn it_runs() { faker() }\n}\n",
        },
        {"src/test_util.rs"},
    ),
    "fixtures that tools import": (
        {
            "src/button.tsx": "export const Button = 1\n", "src/button.stories.tsx": "import { user } from './mocks/user'\n",
            "src/mocks/user.ts": "export const user = 1\n", "vite.config.ts": "import './test/setup'\n",
            "test/setup.ts": "export {}\n", "scripts/run.ts": "import '../test/setup'\n",
        },
        {"src/mocks/user.ts", "test/setup.ts"},
    ),
    "a demo that the product shows, and examples that show the product": (
        {
            "src/demo/data.ts": "export const data = 1\n", "src/app.ts": "import { data } from './demo/data'\n",
            "examples/one.ts": "import '../src/app'\n",
        },
        {"examples/one.ts"},
    ),
    "a specification": (
        {"spec/chapter.md": "# Fees\n\nA fee is due.\n", "spec/fee_spec.rb": "describe 1\n", "tool.py": _RUN},
        {"spec/fee_spec.rb"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("situation", _SITUATIONS)
def test_a_file_is_product_or_not_whatever_its_folder_is_called(client: Client, tmp_path: Path, situation: str) -> None:
    files, others = _SITUATIONS[situation]
    project = WildProject(client, tmp_path / "p", files)
    roles = project.session.project.roles
    assert {path for path in files if roles.is_test(path) or roles.is_secondary(path)} == others


def test_ranking_impact_references_and_filters_agree_on_what_is_a_test(client: Client, tmp_path: Path) -> None:
    files, _ = _SITUATIONS["a product in src/testing, which the command line imports"]
    project = WildProject(client, tmp_path / "p", files)
    assert project.search("run", kind="test") == ["tests/test_runner.py"]
    assert "src/testing/runner.py" in project.search("run", kind="code")
    places = project.ask("search_code", query="run", match="exact")["exact"]["places"]
    assert [each["path"] for each in places][-1] == "tests/test_runner.py"
    impact = project.ask("rag_query_impact", file_path="src/testing/runner.py")
    assert impact["tests"] == ["tests/test_runner.py"]
    assert "1 test covers it" in impact["summary"]
    related = project.ask("related_tests", path="src/testing/report.py")["tests"]
    assert [each["path"] for each in related] == ["tests/test_runner.py"]
    uses = project.ask("find_references", symbol="run")["references"]
    assert {each["path"] for each in uses if each.get("test")} == {"tests/test_runner.py"}


def test_a_file_becomes_product_as_soon_as_the_product_imports_it(client: Client, tmp_path: Path) -> None:
    project = WildProject(client, tmp_path / "p", {"app/main.py": _RUN, "app/testing/kit.py": _RUN})
    assert project.session.project.roles.is_test("app/testing/kit.py")
    (project.root / "app/main.py").write_text("from app.testing.kit import run\n")
    project.index()
    assert project.session.indexing.wait_until(
        lambda: not project.session.project.roles.is_test("app/testing/kit.py"), 60
    )


def test_the_settings_overrule_names_and_imports(client: Client, tmp_path: Path) -> None:
    files = {
        "rag-ls.toml": '[index]\nproduct = ["test/kit/**", "third_party/own"]\ntests = ["test/kit/self_check.py", "qa"]\n',
        "test/kit/core.py": _RUN, "test/kit/self_check.py": _RUN, "test/other.py": _RUN, "qa/login.py": _RUN,
        "third_party/own/parse.py": _RUN, "third_party/zlib/inflate.py": _RUN, "main.py": "import third_party.zlib.inflate\n",
    }  # fmt: skip
    project = WildProject(client, tmp_path / "p", files)
    roles = project.session.project.roles
    assert {path for path in files if roles.is_test(path)} == {"test/kit/self_check.py", "test/other.py", "qa/login.py"}
    assert {path for path in files if roles.is_secondary(path)} == {"third_party/zlib/inflate.py"}
    assert "test/kit/core.py" in project.search("run", kind="code")

"""The rules of set-up: what the survey counted is confirmed, each other file is asked once."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from rag_ls.languages import detect_language
from rag_ls.rules.checks.graph import Edge, ImportGraph
from rag_ls.rules.survey.findings import SurveyFinding
from rag_ls.rules.survey.survey import Survey, SurveyedTree, survey
from rag_ls.rules.verified import CheckedTree, verify_survey

_ROUTES = """
import { Router } from 'express';
const router = Router();
router.get('/things', auth.required, list);
router.post('/things', auth.required, validate(thing), add);
"""


def _set_up(
    files: dict[str, str], imports: Mapping[str, tuple[Edge, ...]] = MappingProxyType({}), refused: Sequence[str] = ()
) -> tuple[Survey, list[str]]:
    """The survey whose rules are confirmed, and the files that were asked for that. `refused` are no part of the survey."""
    texts = {path: textwrap.dedent(text) for path, text in files.items()}
    asked: list[str] = []

    def look(
        function: Callable[[Sequence[tuple[str, str]]], list[list[tuple[int, int]]]], jobs: Sequence[tuple[str, str]]
    ) -> list[list[tuple[int, int]]]:
        asked.extend(path for path, _ in jobs)
        return function(jobs)

    tree = SurveyedTree(
        tuple(sorted(texts)), texts.__getitem__, lambda path: detect_language(path) or "",
        tuple((path, edge) for path, edges in imports.items() for edge in edges),
    )  # fmt: skip
    checked = CheckedTree((*tree.paths, *refused), texts.__getitem__, tree.language, ImportGraph(imports), look)
    return verify_survey(survey(tree), checked), asked


def _shown(findings: Sequence[SurveyFinding]) -> list[str]:
    return [f"{each.claim}: {each.evidence()}" for each in findings]


def test_what_the_survey_counted_is_not_parsed_again_and_all_else_is_asked_once() -> None:
    files = {f"src/{name}.js": _ROUTES for name in "abc"} | {"tests/a.test.js": "app.get('/x', f);\n", "notes.md": "#"}
    found, asked = _set_up(files)
    assert _shown(found.middleware) == [
        "Routes take `auth.required`: 6 of 6",
        "Routes that write take `validate`: 3 of 3",
    ]
    assert asked == ["tests/a.test.js"]
    rule = found.middleware[0].rule or {}
    assert rule["not_files"] == ["**/tests/**", "**/*.test.*"], "a test may have routes of its own"


def test_files_that_lack_what_nearly_all_have_are_exceptions_by_name() -> None:
    files = {f"src/{name}.js": _ROUTES for name in "abc"} | {
        "src/open.js": "const app = express();\napp.get('/', home);\n"
    }
    found, _ = _set_up(files)
    assert _shown(found.middleware)[0] == "Routes take `auth.required`: 6 of 7; not in `src/open.js`"


def test_a_file_in_which_the_survey_saw_no_framework_counts_where_the_rule_is_kept() -> None:
    controller = (
        "[SecurityHeaders]\npublic class {}Controller : Controller\n{{\n    {}public IActionResult A() => View();\n}}\n"
    )
    files = {f"src/{name}Controller.cs": controller.format(name, "[HttpGet] ") for name in ("Home", "Cart", "User")}
    files["src/PlainController.cs"] = controller.format("Plain", "")
    found, asked = _set_up(files)
    assert _shown(found.middleware) == ["Controllers carry `[SecurityHeaders]`: 4 of 4"]
    assert asked == ["src/PlainController.cs"]


def test_a_file_outside_of_the_product_that_imports_a_package_is_among_the_total() -> None:
    files = {f"src/{folder}/{name}.ts": "x" for folder in ("db", "web") for name in "abcdef"} | {"vite.config.ts": "x"}
    users = [*(f"src/db/{name}.ts" for name in "abcdef"), "vite.config.ts"]
    found, _ = _set_up(files, {path: (Edge("", "knex", 1),) for path in users})
    assert _shown(found.import_conventions) == [
        "Files that import `knex` lie in `src/db/`: 6 of 7; not in `vite.config.ts`"
    ]


def test_files_that_programs_wrote_are_exceptions_of_a_rule() -> None:
    files = {f"src/{name}-page.ts": "x" for name in "abcdefghijklmnop"}
    found, _ = _set_up(files, refused=("src/mocks/MockStore.ts", "src/madeClient.ts"))
    (naming,) = found.naming
    assert (naming.rule or {})["not_files"] == ["**/mocks/**"]
    assert naming.evidence() == "16 of 17; not in `src/madeClient.ts`", "the rule that is written breaks nowhere else"


def test_a_rule_that_many_other_files_break_is_none() -> None:
    files = {f"src/{name}.js": _ROUTES for name in "abc"}
    files |= {
        f"src/old/{name}.vue.js": "import Vue from 'vue';\nfastify;\nserver.get('/x', show);\n" for name in "stuvw"
    }
    found, _ = _set_up(files)
    assert not [claim for claim in _shown(found.middleware) if claim.startswith("Routes take")]


def test_a_claim_that_the_checker_makes_a_minority_is_none() -> None:
    files = {f"src/{folder}/{name}.ts": "x" for folder in ("db", "web") for name in "abcd"}
    files |= {f"{name}.config.ts": "x" for name in "abc"}
    users = [*(f"src/db/{name}.ts" for name in "abcd"), *(f"{name}.config.ts" for name in "abc")]
    found, _ = _set_up(files, {path: (Edge("", "knex", 1),) for path in users})
    assert _shown(found.import_conventions) == [], "it would hold of 4 of 7"


def test_names_that_tools_ask_for_are_no_exceptions() -> None:
    files = {f"src/lib/{name}-list.ts": "export {};\n" for name in ("a", "b", "c", "d", "e", "f")}
    files |= {"src/routes/+page.ts": "x", "src/routes/[slug].ts": "x"}
    found, _ = _set_up(files)
    assert _shown(found.naming) == ["TypeScript files with a name of several words are in kebab-case: 6 of 6"]


def test_what_the_checker_finds_besides_is_part_of_the_total() -> None:
    files = {f"{layer}/{name}.ts": "x" for layer in ("shops", "parts") for name in "abcdef"}
    down = {f"shops/{name}.ts": (Edge(f"parts/{name}.ts", "", 1),) for name in "abcdef"}
    up = {"parts/a.ts": (Edge("shops/style.css", "", 1),)}
    found, _ = _set_up({**files, "shops/style.css": ""}, {**down, **up})
    assert [claim.partition("`parts`: ")[2] for claim in _shown(found.layers)] == ["6 of 7; not in `parts/a.ts`"]


def test_a_file_that_breaks_an_order_by_several_imports_of_one_line_is_one_exception() -> None:
    down = {f"src/api/{name}.cs": tuple(Edge("src/core/x.cs", "", line) for line in (1, 2, 3, 4)) for name in "abcdefg"}
    up = (Edge("src/api/a.cs", "", 1), Edge("src/api/b.cs", "", 1))
    imports = {**down, "src/core/x.cs": up}
    found, _ = _set_up(dict.fromkeys(imports, "class X { }\n"), imports)
    assert [(each.count, each.total, each.exceptions) for each in found.layers] == [(28, 29, ("src/core/x.cs",))]

"""The rules of set-up: each is confirmed on all files, and names its exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rag_ls.rules.checks.contracts import Edge
from rag_ls.rules.setup import verify_survey
from rag_ls.rules.survey.findings import SurveyFinding
from rag_ls.rules.survey.survey import Survey, survey_tree
from rag_ls.util.records import replace
from tests.rules.survey.surveys import tree_of


def _set_up(
    files: dict[str, str], imports: Mapping[str, tuple[Edge, ...]] = MappingProxyType({}), refused: Sequence[str] = ()
) -> Survey:
    """The survey whose rules are confirmed. `refused` are no part of the survey."""
    tree = tree_of(files, [(path, edge) for path, edges in imports.items() for edge in edges])
    tree = replace(tree, refused=tuple(refused))
    return verify_survey(survey_tree(tree), tree)


def _shown(findings: Sequence[SurveyFinding]) -> list[str]:
    return [f"{each.claim}: {each.evidence()}" for each in findings]


def test_files_that_programs_wrote_are_exceptions_of_a_rule() -> None:
    files = {f"src/{name}-page.ts": "x" for name in "abcdefghijklmnop"}
    found = _set_up(files, refused=("src/mocks/MockStore.ts", "src/madeClient.ts"))
    (naming,) = found.about("naming")
    assert (naming.rule or {})["not_files"] == ["**/mocks/**"]
    assert naming.evidence() == "16 of 17; not in `src/madeClient.ts`", "the rule that is written breaks nowhere else"


def test_a_rule_that_many_other_files_break_is_none() -> None:
    files = {f"src/{name}-page.ts": "x" for name in "abcdefg"}
    refused = [f"src/made{name}Client.ts" for name in "ABCDE"]
    assert _set_up(files, refused=refused).about("naming") == ()


def test_names_that_tools_ask_for_are_no_exceptions() -> None:
    files = {f"src/lib/{name}-list.ts": "export {};\n" for name in ("a", "b", "c", "d", "e", "f")}
    files |= {"src/routes/+page.ts": "x", "src/routes/[slug].ts": "x"}
    found = _set_up(files)
    assert _shown(found.about("naming")) == ["TypeScript files with a name of several words are in kebab-case: 6 of 6"]


def test_what_the_checker_finds_besides_is_part_of_the_total() -> None:
    files = {f"{layer}/{name}.ts": "x" for layer in ("shops", "parts") for name in "abcdef"}
    down = {f"shops/{name}.ts": (Edge(f"parts/{name}.ts", "", 1),) for name in "abcdef"}
    up = {"parts/a.ts": (Edge("shops/style.css", "", 1),)}
    found = _set_up({**files, "shops/style.css": ""}, {**down, **up})
    assert [claim.partition("`parts`: ")[2] for claim in _shown(found.about("layers"))] == [
        "6 of 7; not in `parts/a.ts`"
    ]


def test_a_file_that_breaks_an_order_by_several_imports_of_one_line_is_one_exception() -> None:
    down = {f"src/api/{name}.cs": tuple(Edge("src/core/x.cs", "", line) for line in (1, 2, 3, 4)) for name in "abcdefg"}
    up = (Edge("src/api/a.cs", "", 1), Edge("src/api/b.cs", "", 1))
    imports = {**down, "src/core/x.cs": up}
    found = _set_up(dict.fromkeys(imports, "class X { }\n"), imports)
    assert [(each.count, each.total, each.exceptions) for each in found.about("layers")] == [
        (28, 29, ("src/core/x.cs",))
    ]

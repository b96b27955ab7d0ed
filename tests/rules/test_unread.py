"""The files outside of a survey's sample: those that break a rule are its exceptions, and are counted apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rag_ls.languages import ImportResolver, SourceTree, detect_language
from rag_ls.model import Import
from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.graph import Edge, ImportGraph, resolve_imports
from rag_ls.rules.checks.records import CheckRule
from rag_ls.rules.survey.documents import rule_text
from rag_ls.rules.survey.findings import SurveyFinding
from rag_ls.rules.survey.survey import Survey
from rag_ls.rules.unread import Seen, UnreadFile, UnreadTree, find_broken
from rag_ls.rules.verified import CheckedTree, verify_survey

_LAYERS = {
    "id": "layers", "layers": ["app/web/**", ["app/core/**", "app/jobs/**"], "app/db/**"], "indirect": False, "message": "Down",
}  # fmt: skip
_STAYS = {"id": "orm-stays", "forbid_imports": "orm", "not_files": ["app/db/**"], "message": "The ORM stays"}
_FILES = {
    "app/web/pages.py": "from app.core import cart\nimport orm\n",
    "app/core/cart.py": "from app.web import pages\n",
    "app/core/tax.py": "from app.db import rows\n",
    "app/db/rows.py": "import orm\nfrom app.jobs import mail\n",
    "app/jobs/mail.py": "# the ORM: no import of orm or of web\n",
    "notes/web.py": "import os\n",
}
# The imports of files that the survey read; `app.jobs` is imported by the name of a package that it does not have.
_GRAPH = ImportGraph(
    {
        "app/core/read.py": (Edge("app/db/rows.py", "app.db", 1),),
        "app/web/read.py": (
            Edge("app/jobs/mail.py", "background.mail", 1),
            Edge("app/core/cart.py", "app.core.cart", 2),
        ),
    }
)


def _tree(files: dict[str, str], parsed: list[str] | None = None) -> UnreadTree:
    resolver = ImportResolver(SourceTree(files, files.__getitem__))

    def resolve(path: str, language: str, imports: Sequence[Import]) -> tuple[Edge, ...]:
        if parsed is not None:
            parsed.append(path)
        return resolve_imports(resolver, path, language, imports)

    def look(function: object, wanted: Sequence[UnreadFile]) -> list[Seen | None]:
        return list(function(wanted)) if callable(function) else []

    listed = [(path, detect_language(path) or "") for path in files]
    return UnreadTree(listed, files.__getitem__, resolve, _GRAPH, look)


def _rule(stated: dict[str, object]) -> CheckRule:
    read = read_architecture("rules:\n" + "\n".join(rule_text(_finding(stated))), "ARCHITECTURE.yml")
    assert not read.problems
    return read.rules[0]


def _finding(stated: dict[str, object], **values: object) -> SurveyFinding:
    finding = SurveyFinding("layers", "Imports go down", 20, 20, (), rule=stated)
    return replace(finding, **values)  # type: ignore[arg-type]


def test_the_imports_of_files_that_name_a_layer_above_or_a_forbidden_package_are_read_and_judged() -> None:
    parsed = list[str]()
    found = find_broken([(_rule(_LAYERS), ()), (_rule(_STAYS), ())], _tree(_FILES, parsed))
    assert found == {"layers": ["app/core/cart.py", "app/db/rows.py"], "orm-stays": ["app/web/pages.py"]}
    assert sorted(parsed) == ["app/core/cart.py", "app/db/rows.py", "app/web/pages.py"]


def test_rules_on_names_and_on_the_structure_of_code_are_asked_of_each_file() -> None:
    files = {
        "src/pages/APage.ts": "", "src/BPage.ts": "", "src/a.js": "app.get('/a', show);\n", "src/b.js": "app.get('/b', auth, show);\n",
    }  # fmt: skip
    place = _rule({"id": "pages", "place": "src/pages/**", "files": "**/*Page.ts", "message": "Pages lie there"})
    call = {"kind": "call_expression", "has": {"field": "function", "regex": r"\.get$"}}
    routes = _rule(
        {
            "id": "routes",
            "language": "javascript",
            "match": call,
            "require": {"regex": "auth"},
            "message": "Routes take `auth`",
        }
    )
    found = find_broken([(place, ()), (routes, ("app.",))], _tree(files))
    assert found == {"pages": ["src/BPage.ts"], "routes": ["src/a.js"]}
    assert find_broken([(routes, ("router.",))], _tree(files)) == {"routes": []}


@pytest.mark.parametrize(("total", "is_kept"), [(20, True), (2, False)])
def test_of_a_rule_the_exceptions_outside_are_counted_and_one_that_many_break_is_left_out(
    total: int, is_kept: bool
) -> None:
    files = {f"app/core/m{number}.py": "from app.web import pages\n" for number in range(4)} | {"app/web/pages.py": ""}
    finding = _finding(_LAYERS, count=total, total=total)
    empty = Survey(3, (), None, None, *([()] * 13))  # type: ignore[arg-type]
    found = replace(empty, layers=(finding,), unread=5)
    tree = CheckedTree(
        tuple(files), files.__getitem__, lambda path: detect_language(path) or "", _GRAPH, lambda function, jobs: function(jobs),
        unread=frozenset(files), outside=_tree(files),
    )  # fmt: skip
    kept = verify_survey(found, tree).layers
    assert bool(kept) is is_kept
    if kept:
        assert kept[0].evidence() == "20 of 20; 4 files that were not counted break it"
        assert [line for line in rule_text(kept[0]) if "core/m" in line] == [
            f'      - "app/core/m{number}.py"' for number in range(4)
        ]

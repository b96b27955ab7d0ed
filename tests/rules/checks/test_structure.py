"""A structural rule for a language finds it in components, in TSX and in headers, too."""

from __future__ import annotations

import pytest

from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.checker import violations
from rag_ls.rules.checks.contracts import ImportGraph
from rag_ls.rules.checks.project import explain_blind_rules
from rag_ls.rules.checks.records import CheckedDocument, RuleSet

_VUE = """<template>
  <b @click="eval(total)">{{ eval(1) }}</b>
</template>
<script>
eval("plain");
</script>
<script setup lang="ts">
const total: number = 1;
  eval("typed");
</script>
"""


def _rules(language: str, pattern: str, fix: str = "") -> RuleSet:
    read = read_architecture(
        f"rules:\n  - {{id: a, language: {language}, forbid: {pattern!r}, fix: {fix!r}}}\n", "A.yml"
    )
    assert read.problems == ()
    return read


@pytest.mark.parametrize(
    ("rule", "pattern", "path", "language", "text", "lines"),
    [
        ("typescript", "eval($A)", "a.tsx", "tsx", "const a = <b>{eval(1)}</b>;\n", [1]),
        ("typescript", "eval($A)", "a.vue", "vue", _VUE, [9]),
        ("javascript", "eval($A)", "a.vue", "vue", _VUE, [5]),
        ("javascript", "eval($A)", "a.svelte", "svelte", "<p>eval(1)</p>\n<SCRIPT>\r\neval(2)</SCRIPT>\n", [3]),
        ("cpp", "new $A()", "a.h", "c", "struct S {};\ninline S* f() { return new S(); }\n", [2]),
        ("tsx", "eval($A)", "a.ts", "typescript", "eval(1)\n", []),
        ("python", "eval($A)", "a.vue", "vue", _VUE, []),
        ("cpp", "f($A)", "a.c", "c", "int g() { return f(1); }\n", []),
    ],
)
def test_the_code_is_found_at_its_place(
    rule: str, pattern: str, path: str, language: str, text: str, lines: list[int]
) -> None:
    found = violations(CheckedDocument(path, language, text), _rules(rule, pattern), ImportGraph({}))
    assert [each.place.line for each in found] == lines


def test_a_fix_in_a_script_takes_the_text_that_stands_there() -> None:
    rules = _rules("typescript", "eval($A)", "run($A)")
    (found,) = violations(CheckedDocument("a.vue", "vue", _VUE), rules, ImportGraph({}))
    assert (found.place.column, found.fix) == (2, 'run("typed")')


def test_a_rule_that_components_alone_can_break_is_not_blind() -> None:
    rules = _rules("typescript", "eval($A)").rules
    languages = {"a.vue": "vue", "b.py": "python"}
    assert explain_blind_rules(rules, ["a.vue"], languages.__getitem__) == ([], [])
    assert explain_blind_rules(rules, ["b.py"], languages.__getitem__)[1] == list(rules)

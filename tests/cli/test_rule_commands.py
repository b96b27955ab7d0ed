"""The verbs on rules print all that their answers speak of."""

from __future__ import annotations

from rag_ls.cli.rule_commands import render_constraints, render_impact
from rag_ls.cli.terminal import PLAIN


def test_the_places_where_a_diff_breaks_a_rule_are_shown() -> None:
    broken = {"rule": "no-print", "severity": "error", "message": "Use the log.", "filePath": "src/cart.py", "line": 3}
    answer = {
        "constraints": [], "patterns": [], "examples": [], "violations": [broken],
        "summary": "1 rule is broken by the diff in 1 place: see violations; no rule seems to be about this",
    }  # fmt: skip
    assert render_constraints(answer, PLAIN, whole=True) == (
        "src/cart.py:3  error  no-print  Use the log.\n\n"
        "1 rule is broken by the diff in 1 place, as shown above; no rule seems to be about this"
    )


def test_the_rules_that_a_machine_checks_in_a_file_are_shown() -> None:
    answer = {
        "constraints": [], "patterns": [], "examples": [], "checks": ["no-print: Use the log.", "layers"],
        "summary": "no rule seems to be about this, 0 examples in code",
    }  # fmt: skip
    assert render_constraints(answer, PLAIN, whole=True) == (
        "checked  no-print: Use the log.\nchecked  layers\n\nno rule seems to be about this, 0 examples in code"
    )


def test_of_each_rule_what_it_commands_is_shown_of_each_example_its_place_and_with_all_their_texts() -> None:
    rule = {
        "content": "## Amounts\n\n```js\nadd(1, 2)\n```\nAn amount is whole cents.\n" + "And so on.\n" * 9,
        "filePath": "AGENTS.md", "lines": "3-20", "section": "Amounts", "type": "constraint", "relevance": 0.91,
        "keyRules": ["- NEVER store amounts as floats: " + "they are " * 40],
    }  # fmt: skip
    plain = {**rule, "keyRules": [], "relevance": 0.4}
    code = {
        "content": "  # in cents\n  @cached\n  def total(self):\n    pass\n",
        "filePath": "cart.py",
        "lines": "1-4",
        "relevance": 0.5,
    }
    answer = {
        "constraints": [rule], "patterns": [plain], "examples": [code], "summary": "1 section of constraints, 1 example in code",
        "checks": [f"rule-{number}" for number in range(20)],
    }  # fmt: skip
    brief = render_constraints(answer, PLAIN, whole=False).splitlines()
    assert brief[:2] == [
        "0.91  AGENTS.md:3-20  Amounts  constraint", f"    {rule['keyRules'][0][:160].rstrip()}…",
    ]  # fmt: skip
    assert brief[2:6] == ["    add(1, 2)", "    An amount is whole cents.", "    And so on.", "    ..."]
    assert brief[7:13] == [
        "0.40  AGENTS.md:3-20  Amounts  constraint", "    add(1, 2)", "    An amount is whole cents.", "    And so on.", "    And so on.",
        "    ...",
    ]  # fmt: skip
    assert brief[14] == "0.50  cart.py:1-4  def total(self):"
    assert [line for line in brief if "checked" in line][-1] == "checked  12 more rules"
    assert brief[-1] == "1 section of constraints, 1 example in code; --all shows whole sections and the code"
    whole = render_constraints(answer, PLAIN, whole=True)
    assert rule["keyRules"][0] in whole
    assert "    pass" in whole
    assert "checked  rule-19" in whole
    assert "--all" not in whole


def test_the_line_of_a_rule_that_was_cut_is_shown_once() -> None:
    line = "- NEVER store amounts as floats, " + "they are " * 90
    rule = {
        "content": f"{line}\nAnd so on.\n", "filePath": "AGENTS.md", "lines": "3-4", "section": "", "type": "constraint",
        "relevance": 0.9, "keyRules": [line[2:600].rstrip() + "…"],
    }  # fmt: skip
    answer = {"constraints": [rule], "patterns": [], "examples": [], "summary": "1 section of constraints"}
    for whole in (False, True):
        assert render_constraints(answer, PLAIN, whole=whole).count("NEVER") == 1


def test_what_the_impact_of_a_file_leaves_out_is_shown() -> None:
    answer = {
        "exports": [], "apiEndpoints": [], "websocketEvents": [], "dependents": [], "tests": [], "similarFiles": [],
        "dependentsTotal": 0, "summary": "cart.py exports 0 names; 0 files depend on it so far",
        "notes": ["12 files are not read yet, and this answer has none of their contents"],
    }  # fmt: skip
    assert render_impact(answer, PLAIN) == f"{answer['summary']}\n\n{answer['notes'][0]}"

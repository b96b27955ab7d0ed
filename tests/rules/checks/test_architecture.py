"""The rules of ARCHITECTURE.yml are read, and what is wrong with them is told with its line."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from rag_ls.rules.checks import records
from rag_ls.rules.checks.architecture import CHECKS, MAX_CHARACTERS, SCHEMA_FILE, RulesUnreadable, read_architecture

PATH = "ARCHITECTURE.yml"
GOOD = """project: shop
rules:
  - id: services-alone
    forbid_imports: [src/web/**, requests]
    files: src/services/**
    message: Services know nothing of the web
    severity: warning
    see: docs/patterns/layers.md
  - id: layers
    layers: [src/web, [src/mail, src/pay], src/store]
    independent_siblings: true
  - {id: apart, independent: [src/a/**, src/b/**]}
  - {id: no-circles, no_cycles: true}
  - {id: no-print, language: py, forbid: print($$$)}
  - id: handlers
    language: [python]
    match: {kind: function_definition, inside: {kind: decorated_definition}}
    require: {has: {kind: block}}
  - {id: files, file_names: snake_case}
  - {id: types, symbol_names: {kind: type, style: PascalCase}}
  - {id: models, place: src/models/**, files: "*_model.py"}
"""


def test_each_kind_of_rule_is_read() -> None:
    found = read_architecture(GOOD, PATH)
    assert found.problems == ()
    assert [(rule.id, type(rule.check)) for rule in found.rules] == [
        ("services-alone", records.ImportCheck), ("layers", records.LayersCheck), ("apart", records.LayersCheck),
        ("no-circles", records.CyclesCheck), ("no-print", records.StructureCheck), ("handlers", records.StructureCheck),
        ("files", records.FileNameCheck), ("types", records.SymbolNameCheck), ("models", records.PlaceCheck),
    ]  # fmt: skip
    first = found.rules[0]
    assert (first.severity, first.files, first.line, first.see) == (
        records.Severity.WARNING, ("src/services/**",), 3, "docs/patterns/layers.md",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{id: x}", "exactly one check"),
        ("{id: x, no_cycles: true, place: src/**}", "exactly one check"),
        ("{no_cycles: true}", "'id' is a required property"),
        ("{id: x, no_cycles: true, nonsense: 1}", "nonsense"),
        ("{id: x, no_cycles: true, severity: fatal}", "fatal"),
        ("{id: x, language: cobol, forbid: a}", "cobol is no language of ast-grep"),
        ("{id: x, forbid: a}", "needs a language"),
        ("{id: x, language: python, rule: {kind: no_such}}", "no_such"),
        ("{id: x, language: python, match: f()}", "needs `require`"),
        ("{id: x, file_names: '['}", "regular expression is wrong"),
    ],
)
def test_a_wrong_rule_is_told_and_the_others_stay(rule: str, message: str) -> None:
    found = read_architecture(f"rules:\n  - {{id: good, no_cycles: true}}\n  - {rule}\n", PATH)
    assert [each.id for each in found.rules] == ["good"]
    assert any(message in problem.message for problem in found.problems), found.problems
    assert {problem.line for problem in found.problems} == {3}


def test_an_id_that_stands_twice_is_told_with_its_first_line() -> None:
    (problem,) = read_architecture("rules:\n  - {id: a, no_cycles: true}\n  - {id: a, place: src/**}\n", PATH).problems
    assert "a is stated twice, here and at line 2" in problem.message


@pytest.mark.parametrize("text", ["rules: [", "a: b: c", "rules:\n\t- x", "x" * (MAX_CHARACTERS + 1), "&a [*a, *b]"])
def test_a_file_that_is_no_yaml_or_too_long_cannot_be_read(text: str) -> None:
    with pytest.raises(RulesUnreadable):
        read_architecture(text, PATH)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "project: x\n", "just words\n"])
def test_without_rules_there_are_none(text: str) -> None:
    assert read_architecture(text, PATH) == records.RuleSet()


def test_the_schema_is_a_schema_and_knows_every_check() -> None:
    schema = json.loads(SCHEMA_FILE.read_text())
    Draft202012Validator.check_schema(schema)
    assert set(CHECKS) <= set(schema["properties"]["rules"]["items"]["properties"])


@pytest.mark.parametrize(
    "text", ["rules:\n  - {name: no-cycles, from: a, to: b}\n  - just text\n", "rules:\n  web: {may: [store]}\n"]
)
def test_the_rules_of_another_tool_are_left_alone_and_said(text: str) -> None:
    found = read_architecture(text, PATH)
    assert found.rules == ()
    assert [(problem.line, problem.severity, problem.message) for problem in found.problems] == [
        (found.problems[0].line, records.Severity.INFO, "its `rules` are another tool's: they are left alone")
    ]


_PRINT, _EVAL = "{id: a, language: python, forbid: print($$$)}", "{id: b, language: python, forbid: eval($$$)}"


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        (f"rules:\n  - {_PRINT}\nother: 1\nrules:\n  - {_EVAL}\n", 5, "rules"),
        ("rules:\n  - id: a\n    language: python\n    forbid: print($$$)\n    id: b\n", 5, "id"),
    ],
)
def test_a_key_that_stands_twice_is_told_and_drops_no_rule_in_silence(text: str, line: int, key: str) -> None:
    with pytest.raises(RulesUnreadable) as refused:
        read_architecture(text, "ARCHITECTURE.yml")
    assert refused.value.problem.line == line
    assert refused.value.problem.message.startswith(f"the key `{key}` stands here and at line")


def test_anchors_a_byte_order_mark_and_keys_of_other_tools_do_no_harm() -> None:
    text = "\ufeffx: &r {language: python}\ny: 1\ny: 2\nrules:\n  - {<<: *r, id: a, forbid: print($$$)}\n"
    read = read_architecture(text, "ARCHITECTURE.yml")
    assert [rule.id for rule in read.rules] == ["a"]
    assert read.problems == ()

"""Key rules are taken from a text word by word, each with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.rules.sections import key_rules

PROSE = """## Errors

Some words about errors. You must know them.

- MUST wrap errors
  with their context.
- It may log.
1. NEVER swallow an exception.

```python
ALWAYS = "code"
```

DO NOT print.
"""


def test_items_and_paragraphs_with_a_shouted_word_are_rules() -> None:
    rules = key_rules(PROSE, is_yaml=False, first_line=10)
    assert [(rule.text, rule.line) for rule in rules] == [
        ("MUST wrap errors\n  with their context.", 14),
        ("NEVER swallow an exception.", 17),
        ("DO NOT print.", 23),
    ]


def test_where_nothing_is_shouted_quiet_words_count() -> None:
    rules = key_rules("Handlers must not block.\n\nThey may wait.\n", is_yaml=False)
    assert [rule.text for rule in rules] == ["Handlers must not block."]


def test_yaml_gives_list_items_and_values_that_command() -> None:
    text = 'rules:\n  - "one transaction per request"\n  - id: x\n    message: NEVER print  # why\n# MUST not count\nname: shop\n'
    rules = key_rules(text, is_yaml=True)
    assert [(rule.text, rule.line) for rule in rules] == [("one transaction per request", 2), ("NEVER print", 4)]


def test_places_that_yaml_lists_are_no_rules() -> None:
    text = (
        "rules:\n  - id: layers\n    layers:\n      - api\n      - core\n    message: never upward\n"
        "    exceptions:\n      - core/old.py -> api/odd.py\n  - id: x\n    only:\n      - lib\n"
    )
    assert [rule.text for rule in key_rules(text, is_yaml=True)] == ["api", "core", "never upward", "lib"]


@pytest.mark.parametrize(("before", "is_yaml"), [("- ", False), ("", False), ("rules:\n  - ", True)])
def test_a_long_rule_ends_at_a_word_with_an_ellipsis(before: str, is_yaml: bool) -> None:
    words = "NEVER call the bank twice " * 40
    [rule] = key_rules(f"{before}{words}\n", is_yaml=is_yaml)
    assert rule.text == ("NEVER call the bank twice " * 23).rstrip() + "…"


def test_a_rule_with_a_very_long_word_is_cut_within_it() -> None:
    [rule] = key_rules("- NEVER " + "x" * 700 + "\n", is_yaml=False)
    assert rule.text == "NEVER " + "x" * 594 + "…"


@given(st.lists(st.sampled_from([*PROSE.splitlines(True), "  - a: MUST\n", "- 'x'\n"]), max_size=30), st.booleans())
def test_rules_are_verbatim(lines: list[str], is_yaml: bool) -> None:
    text = "".join(lines)
    for rule in key_rules(text, is_yaml=is_yaml):
        assert rule.text in text
        assert rule.text.split("\n")[0] in text.splitlines()[rule.line - 1]

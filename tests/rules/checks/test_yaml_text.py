"""YAML that nobody meant well: it is refused in words, and takes neither the process nor the time of the editor."""

from __future__ import annotations

import pytest

from rag_ls.rules.checks.architecture import RulesUnreadable, parse_yaml

PATH = "ARCHITECTURE.yml"
_DOUBLED = "".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, 9))


def test_content_comes_with_the_line_of_each_value() -> None:
    content, lines = parse_yaml("first: 1\nrules:\n  - id: a\n  - id: b\n", PATH)
    assert content == {"first": 1, "rules": [{"id": "a"}, {"id": "b"}]}
    assert lines["rules", 1, "id"] == 4


def test_an_empty_text_has_no_content() -> None:
    assert parse_yaml("# nothing yet\n", PATH) == (None, {})


def test_merged_keys_keep_their_lines() -> None:
    content, lines = parse_yaml("base: &base\n  severity: info\nrule:\n  <<: *base\n  id: a\n", PATH)
    assert content["rule"] == {"severity": "info", "id": "a"}
    assert lines["rule", "id"] == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", "it is no YAML"),
        ("- a\nb: 1\n", "it is no YAML"),
        ("rules: " + "[" * 50_000, "levels deep"),
        ("\n".join(" " * at + "- " for at in range(3000)), "levels deep"),
        ("a0: &a0 [x, x]\n" + _DOUBLED, "values"),
        ("rules: &all [*all]\n", "inside of itself"),
        ("when: 2026-99-99\n", "it cannot be read"),
    ],
    ids=["open bracket", "two kinds", "deep brackets", "deep lists", "aliases of aliases", "a circle", "no date"],
)
def test_what_cannot_be_read_is_said(text: str, message: str) -> None:
    with pytest.raises(RulesUnreadable, match=message):
        parse_yaml(text, PATH)

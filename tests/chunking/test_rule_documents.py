"""Documents of rules are recognised by their paths, and cut so that each rule stands alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.chunking import Budget, RuleKind, approximate_token_offsets, cut_rules, rule_kind
from rag_ls.model import Chunk

MARKDOWN = """# Rules
What we agreed on.

## Errors
- MUST wrap errors with context.

## Names
### Files
Use snake_case.
"""
YAML = """# How it is built
project: shop
layers:
  api:
    path: src/api
rules:
  # stdout belongs to the protocol
  - id: no-print
    message: "NEVER print in the services layer, because the standard output belongs to the protocol and nobody reads it"
    files: "src/services/**"
  - id: closed
    message: "ALWAYS close what was opened in the handler, in a finally block or by a context manager, or it leaks"
    files: "src/**"
"""


def _cut(text: str, path: str, language: str) -> list[Chunk]:
    return cut_rules(
        text, path, language=language, budget=Budget(), token_offsets=approximate_token_offsets
    ).chunks  # fmt: skip


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("ARCHITECTURE.yml", RuleKind.CONSTRAINT),
        ("packages/api/AGENTS.md", RuleKind.CONSTRAINT),
        ("CLAUDE.md", RuleKind.CONSTRAINT),
        ("CONSTRAINTS.md", RuleKind.CONSTRAINT),
        ("docs/patterns/errors.md", RuleKind.PATTERN),
        ("web/docs/patterns/http/retries.md", RuleKind.PATTERN),
        ("GEMINI.md", RuleKind.CONSTRAINT),
        (".windsurfrules", RuleKind.CONSTRAINT),
        (".cursor/rules/forms/inputs.mdc", RuleKind.CONSTRAINT),
        (".github/copilot-instructions.md", RuleKind.CONSTRAINT),
        (".github/instructions/forms.instructions.md", RuleKind.CONSTRAINT),
        (".github/CONTRIBUTING.md", RuleKind.CONSTRAINT),
        ("docs/adr/0001-use-forms.md", RuleKind.CONSTRAINT),
        ("web/docs/decisions/forms.md", RuleKind.CONSTRAINT),
        (".github/PULL_REQUEST_TEMPLATE.md", None),
        ("src/adr/reader.py", None),
        ("docs/architecture.md", None),
        ("docs/patterns/sketch.png", None),
        ("src/constraints.py", None),
    ],
)
def test_a_path_tells_what_rules_a_document_holds(path: str, kind: RuleKind | None) -> None:
    assert rule_kind(path) is kind


def test_each_section_is_a_chunk_of_its_own() -> None:
    chunks = _cut(MARKDOWN, "CONSTRAINTS.md", "markdown")
    assert [(chunk.symbol, chunk.start_line) for chunk in chunks] == [
        ("Rules", 1),
        ("Rules > Errors", 4),
        ("Rules > Names > Files", 7),
    ]


def test_a_large_key_is_cut_at_its_items_and_a_comment_stays_with_its_item() -> None:
    chunks = _cut(YAML, "ARCHITECTURE.yml", "yaml")
    assert [chunk.symbol for chunk in chunks] == ["project", "layers", "rules.no-print", "rules.closed"]
    assert "stdout belongs" in chunks[2].text


def test_yaml_that_does_not_parse_is_cut_all_the_same() -> None:
    chunks = _cut("rules:\n  - id: [\nnames: }\n", "ARCHITECTURE.yml", "yaml")
    assert [chunk.symbol for chunk in chunks] == ["rules", "names"]


@given(
    st.lists(
        st.sampled_from([*MARKDOWN.splitlines(True), *YAML.splitlines(True), "\n", "é: ü\r\n", "```\n"]), max_size=40
    ),
    st.sampled_from([("ARCHITECTURE.yml", "yaml"), ("CLAUDE.md", "markdown")]),
)
def test_no_text_is_lost(lines: list[str], document: tuple[str, str]) -> None:
    text = "".join(lines)
    chunks = _cut(text, *document)
    assert "".join(chunk.text for chunk in chunks) == text
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))

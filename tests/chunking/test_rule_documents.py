"""Documents of rules are recognised by their paths, and cut so that each rule stands alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.chunking import Budget, RuleKind, approximate_token_offsets, cut_rules, find_fenced_lines, rule_kind
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
        ("agents.md", RuleKind.CONSTRAINT),
        ("docs/contributing.md", RuleKind.CONSTRAINT),
        ("docs/models/gemini.md", None),
        ("docs/agents.md", None),
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


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ('<a name="issue"></a> Found a Bug?', "Found a Bug?"),
        ("[Pull Requests](./docs/PULL_REQUESTS.md)", "Pull Requests"),
        ('![Polly](logo.png "Our logo") rules', "Polly rules"),
        (":information_source: Welcome", "Welcome"),
        ("🧪 Test", "🧪 Test"),
        ("The `<Box />` Component", "The `<Box />` Component"),
        ("a < b and c > d", "a < b and c > d"),
        ('<img src="logo.png">', '<img src="logo.png">'),
        ("Ports 80:90:100", "Ports 80:90:100"),
    ],
)
def test_a_heading_is_named_without_its_markup(heading: str, title: str) -> None:
    (chunk,) = _cut(f"# {heading}\n\nText.\n", "CONTRIBUTING.md", "markdown")
    assert chunk.symbol == title


def _fenced(lines: int) -> str:
    code = "".join(f"\n    call_{number}(first, second)  # never mind\n" for number in range(lines))
    return f"# Calls\n{'Calls go through the client. ' * 12}\n\n```python\n{code}```\n\nNEVER call twice.\n"


def test_a_window_begins_before_the_fence_of_an_example_that_fits_into_one() -> None:
    first, second = _cut(_fenced(10), "AGENTS.md", "markdown")
    assert first.text.startswith("# Calls")
    assert second.text.startswith("```python\n")
    assert second.overlap == ""


def test_an_example_stays_with_the_item_that_it_is_of() -> None:
    text = _fenced(10).replace("\n```python", "- Calls: as here\n  ```python")
    first, second = _cut(text.replace("- Calls", "- Other: none\n- Calls"), "AGENTS.md", "markdown")
    assert first.text.endswith("- Other: none\n")
    assert second.text.startswith("- Calls: as here\n")


def test_the_line_that_opens_a_fence_comes_along_with_each_window_of_a_long_example() -> None:
    _, second, *inner = _cut(_fenced(60), "AGENTS.md", "markdown")
    assert second.text.startswith("```python\n")
    assert inner
    assert {chunk.overlap for chunk in inner} == {"```python\n"}


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("a\n```\nb\n```\nc", [(1, 4)]),
        ("````md\n```\n````\nc", [(0, 3)]),
        ("~~~\n```\n~~~", [(0, 3)]),
        ("```one line``` of code\nc", []),
        ("  - item\n    ```sh\n    ls\n    ```", [(1, 4)]),
        ("```\nnever ended", [(0, 2)]),
    ],
)
def test_fenced_lines_are_found_as_markdown_means_them(text: str, ranges: list[tuple[int, int]]) -> None:
    assert list(find_fenced_lines(text.splitlines())) == ranges


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

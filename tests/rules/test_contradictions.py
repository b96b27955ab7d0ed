"""Rules that contradict each other are named where it can be seen, and only there."""

from __future__ import annotations

import pytest

from rag_ls.rules.contradictions import StatedSection, find_contradictions


def found(one: str, other: str, *, paths: tuple[str, str] = ("AGENTS.md", "CONTRIBUTING.md")) -> list[str]:
    return find_contradictions([StatedSection(paths[0], 1, one), StatedSection(paths[1], 11, other)])


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (
            "- Use tabs.",
            "Always indent with spaces.",
            "indentation: AGENTS.md:1 says tab, CONTRIBUTING.md:11 says space",
        ),
        ("Use tabs, not spaces.", "Use 4 spaces.", "indentation: AGENTS.md:1 says tab, CONTRIBUTING.md:11 says space"),
        (
            "Prefer single quotes",
            "Use double quotes",
            "quotes: AGENTS.md:1 says single, CONTRIBUTING.md:11 says double",
        ),
        (
            "Use yarn for all dependencies.",
            "Use `pnpm` to install.",
            "the package manager: AGENTS.md:1 says yarn, CONTRIBUTING.md:11 says pnpm",
        ),
        (
            "The maximum line length is 80.",
            "Line length: max 120",
            "the line length: AGENTS.md:1 says 80, CONTRIBUTING.md:11 says 120",
        ),
        (
            "Use default exports.",
            "# x\n\n- Never use default exports!",
            "AGENTS.md:1 asks for what CONTRIBUTING.md:13 refuses",
        ),
    ],
)
def test_another_value_or_a_never_is_named_with_both_places(one: str, other: str, said: str) -> None:
    assert found(one, other) == [said]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs.", "Use tabs, never spaces."),
        ("Do not indent with tabs.", "Indent with spaces."),
        ("Never use hard tabs for indentation.", "Use 4 spaces."),
        ("Don\u2019t use npm.", "Use yarn."),
        ("Use tabs.", "A name must have no spaces, no tabs."),
        ("Use default exports.", "Never use default arguments."),
        ("Never commit secrets.", "Do not commit secrets."),
    ],
)
def test_rules_that_agree_or_speak_of_other_things_are_none(one: str, other: str) -> None:
    assert found(one, other) == []


def test_documents_of_different_folders_may_differ_and_a_folder_may_not_contradict_the_project_unseen() -> None:
    assert found("Use tabs.", "Use spaces.", paths=("web/AGENTS.md", "api/AGENTS.md")) == []
    assert found("Use tabs.", "Use spaces.", paths=("web/AGENTS.md", "AGENTS.md")) != []

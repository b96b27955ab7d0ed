"""What other tools remember, as memories: cut along its sense, and known again when it is imported once more."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.memory.portable import KINDS, ImportResult, import_records, read_foreign
from rag_ls.memory.portable.foreign import MAX_SHORT_CHARACTERS, pieces, sections
from rag_ls.model import MemoryType, Scope
from rag_ls.storage import MemoryStore
from tests.support import write

NOW = "2026-02-01T00:00:00.000Z"

_CLAUDE = """# Shop

A web shop for tea. See @README.md and
@docs/architecture.md for more.

## Conventions

- Use tabs.
- Never commit to main.

```sh
# not a heading
make test
```

## Architecture

The API is in Go, the shop in TypeScript.

### Payments

Invoices are sent by mail.

<!-- nobody needs this -->

***
"""


def _contents(kind: str, path: Path) -> list[str]:
    return [str(item["content"]) for item in read_foreign(kind, path)]


def _tags(record: dict[str, object]) -> list[str]:
    return record["metadata"]["tags"]  # type: ignore[index]


def _store() -> MemoryStore:
    return MemoryStore(None, Scope.PROJECT)


def _pieces(text: str) -> list[str]:
    return [piece for _, lines in sections(text) for piece in pieces(lines)]


class TestCutting:
    """Markdown is cut along its headings; nothing of it is lost, and nothing is shredded."""

    def test_a_short_section_stays_whole(self) -> None:
        ((path, lines),) = sections("## Rules\n\n- use tabs\n- be kind\n\nThat is all.")
        assert path == ("Rules",)
        assert pieces(lines) == ["- use tabs\n- be kind\n\nThat is all."]

    def test_a_long_section_is_cut_between_its_items(self) -> None:
        items = [f"- rule {number}: {'word ' * 40}and\n  more of it" for number in range(12)]
        found = _pieces("# Rules\n" + "\n".join(items))
        assert 2 < len(found) < 12
        assert all(piece.startswith("- rule") and len(piece) <= MAX_SHORT_CHARACTERS * 1.2 for piece in found)
        assert "\n".join(found) == "\n".join(items)

    def test_a_line_that_leads_in_stays_with_what_follows(self) -> None:
        assert len(_pieces("Before you commit:\n\n- " + "run the tests " * 100)) == 1

    def test_code_is_no_heading_and_is_never_cut(self) -> None:
        code = "```python\n# a comment\n\n" + "x = 1\n" * 400 + "\n- no item\n```"
        rest = "Then rest. " * 9 + "End."
        assert _pieces(f"# Setup\n\nRun this:\n\n{code}\n\n{rest}") == [f"Run this:\n\n{code}", rest]

    def test_a_fence_inside_a_longer_fence_does_not_close_it(self) -> None:
        ((path, _),) = sections("# A\n\n````md\n```\n# b\n```\n# c\n````")
        assert path == ("A",)

    def test_headings_are_nested(self) -> None:
        text = "intro\n# A\na\n### B ###\nb\n## C\nc\n# D\nd"
        assert [path for path, _ in sections(text)] == [(), ("A",), ("A", "B"), ("A", "C"), ("D",)]

    def test_a_giant_paragraph_is_cut_at_line_ends(self) -> None:
        found = _pieces("word " * 20 + "\n" + "x" * 120_000)
        assert "".join(found).count("x") == 120_000
        assert max(map(len, found)) <= 50_000

    @given(
        st.lists(
            st.sampled_from(["# A", "## B", "- item", "text", "", "  more", "```", "~~~", "1. one", "---", "x" * 300])
        )
    )
    def test_no_word_is_lost(self, lines: list[str]) -> None:
        text = "\n".join(_pieces("\n".join(lines)))
        for word in ("item", "text", "more", "one", "xxx"):
            assert text.count(word) == "\n".join(lines).count(word)


class TestClaude:
    """CLAUDE.md files, and the memory folder of Claude Code."""

    def test_each_section_is_a_memory_under_its_headings(self, tmp_path: Path) -> None:
        file = write(tmp_path, {"CLAUDE.md": _CLAUDE}) / "CLAUDE.md"
        shop, conventions, architecture, payments = read_foreign("claude", file)
        assert shop["content"] == "Shop\n\nA web shop for tea. See @README.md and\n@docs/architecture.md for more."
        assert str(conventions["content"]).startswith("Shop > Conventions\n\n- Use tabs.\n- Never commit")
        assert str(conventions["content"]).endswith("```sh\n# not a heading\nmake test\n```")
        assert conventions["memory_type"] == MemoryType.PROCEDURAL
        assert _tags(conventions) == ["claude", "shop", "conventions"]
        assert architecture["memory_type"] == MemoryType.SEMANTIC
        assert payments["content"] == "Shop > Architecture > Payments\n\nInvoices are sent by mail."
        assert payments["source_uri"] == file.as_uri()

    def test_of_a_project_the_rules_are_read_and_no_other_text(self, tmp_path: Path) -> None:
        folder = write(
            tmp_path,
            {
                "CLAUDE.md": "- one",
                ".claude/CLAUDE.md": "- two",
                ".claude/rules/api/go.md": '---\npaths:\n  - "**/*.go"\n---\n\n- three',
                "README.md": "other",
            },
        )
        records = read_foreign("claude", folder)
        assert [str(item["content"]).split()[-1] for item in records] == ["one", "two", "three"]
        assert records[2]["metadata"]["custom"] == {"paths": ["**/*.go"]}  # type: ignore[index]

    def test_notes_of_claude_code_are_one_memory_each(self, tmp_path: Path) -> None:
        folder = write(
            tmp_path,
            {
                "MEMORY.md": "- [Tabs](use-tabs.md) - how to indent\n- Deploys happen on Fridays, see [log](https://x.org/a.md)\n",
                "use-tabs.md": "---\nname: use-tabs\ndescription: Indenting\nmetadata:\n  type: feedback\n---\n\nTabs.\n# Why\nAsked.",
                "user.md": "---\nname: who\ndescription: >-\n  About the\n  user\ntype: user\n---\nWrites Go.",
            },
        )
        index, tabs, user = read_foreign("claude", folder)
        assert index["content"] == "- Deploys happen on Fridays, see [log](https://x.org/a.md)"
        assert tabs["content"] == "Indenting\n\nTabs.\n# Why\nAsked."
        assert (tabs["memory_type"], _tags(tabs)) == (
            MemoryType.PROCEDURAL,
            ["claude", "feedback", "tabs"],
        )
        assert (user["content"], user["memory_type"]) == ("About the user\n\nWrites Go.", MemoryType.SEMANTIC)

    def test_a_project_folder_of_claude_code_leads_to_its_memory(self, tmp_path: Path) -> None:
        write(tmp_path, {"memory/MEMORY.md": "Deploys happen on Fridays."})
        assert _contents("claude", tmp_path) == ["Deploys happen on Fridays."]

    def test_a_folder_without_any_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match=r"no CLAUDE\.md"):
            read_foreign("claude", tmp_path)


class TestAgents:
    """AGENTS.md, one or many."""

    def test_rules_for_a_subfolder_say_so(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "AGENTS.md": "# Rules\n\n- be kind",
                "packages/api/AGENTS.md": "## Testing\n\nRun `make api`.",
                "node_modules/x/AGENTS.md": "not ours",
                ".hidden/AGENTS.md": "not ours",
            },
        )
        assert _contents("agents", tmp_path) == ["Rules\n\n- be kind", "packages/api/ > Testing\n\nRun `make api`."]

    def test_the_file_itself_can_be_given(self, tmp_path: Path) -> None:
        write(tmp_path, {"AGENTS.md": "\r\n- use tabs\r\n- be kind\r\n"})
        assert _contents("agents", tmp_path / "AGENTS.md") == ["- use tabs\n- be kind"]

    def test_a_folder_without_one_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match="give the file"):
            read_foreign("agents", tmp_path)


def _examples(folder: Path) -> dict[str, Path]:
    write(folder, {"CLAUDE.md": _CLAUDE, "AGENTS.md": _CLAUDE})
    return dict.fromkeys(KINDS, folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_import_changes_nothing(tmp_path: Path, kind: str) -> None:
    store, path = _store(), _examples(tmp_path)[kind]
    first = import_records(store, read_foreign(kind, path), now=NOW)
    assert first == ImportResult(len(read_foreign(kind, path)), 0, 0, 0)
    before = store.all()
    again = import_records(store, read_foreign(kind, path), now="2026-03-01T00:00:00.000Z")
    assert again == ImportResult(0, 0, first.inserted, 0)
    assert store.all() == before


def test_the_same_rules_in_two_files_are_one_memory_with_both_tags(tmp_path: Path) -> None:
    store, paths = _store(), _examples(tmp_path)
    import_records(store, read_foreign("claude", paths["claude"]), now=NOW)
    result = import_records(store, read_foreign("agents", paths["agents"]), now=NOW)
    assert (result.inserted, result.duplicates) == (0, 4)
    assert all({"claude", "agents"} <= set(memory.metadata.tags) for memory in store.all())


def test_an_unknown_kind_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="claude, agents"):
        read_foreign("cursor", tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_that_is_not_there_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(NotFound, match="missing"):
        read_foreign(kind, tmp_path / "missing")


@pytest.mark.parametrize("kind", ["claude", "agents"])
def test_a_file_that_is_no_text_is_named(tmp_path: Path, kind: str) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\xff\x00")
    with pytest.raises(InvalidRequest, match=r"AGENTS\.md is no UTF-8 text"):
        read_foreign(kind, tmp_path / "AGENTS.md")

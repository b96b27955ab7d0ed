"""Errors name what the shell calls things."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.cli.main import main
from rag_ls.cli.wording import in_words_of_the_shell


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("no memory has the id 'x'; list_memories shows the ids", "no memory has the id 'x'; `rag-ls list` shows the ids"),
        ("store_memory keeps it anew", "`rag-ls add` keeps it anew"),
        ("read it with get_memory, then update it with expected_version = 3",
         "read it with `rag-ls show`, then update it with --expected-version 3"),
        ("say where it is kept instead, or give force = true if it is none", "say where it is kept instead, or give --force if it is none"),
        ("there is none to remember for; use scope = global, or session", "there is none to remember for; use --scope global"),
        ("give a list; search the search_codes", "give a list; search the search_codes"),
    ],
)  # fmt: skip
def test_tools_become_verbs_and_arguments_flags(message: str, said: str) -> None:
    assert in_words_of_the_shell(message) == said


def test_a_memory_that_is_not_there_is_answered_with_a_verb(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    monkeypatch.setattr("sys.argv", ["rag-ls", "delete", "12345678", "--standalone"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    error = capsys.readouterr().err
    assert "`rag-ls list` shows the ids that exist" in error
    assert "list_memories" not in error

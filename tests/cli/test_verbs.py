"""Errors name what the shell calls things."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.cli.main import main
from rag_ls.cli.verbs import in_words_of_the_shell


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("no memory has the id 'x'; list_memories shows the ids", "no memory has the id 'x'; `rag-ls list` shows the ids"),
        ("store_memory keeps it anew", "`rag-ls add` keeps it anew"),
        ("read it with get_memory, then update it with expected_version = 3",
         "read it with `rag-ls show`, then update it with --expected-version 3"),
        ("say where it is kept instead, or give force = true if it is none", "say where it is kept instead, or give --force if it is none"),
        ("there is none to remember for; use scope = global, or session", "there is none to remember for; use --scope global"),
        ("index_status with skipped = true lists them", "`rag-ls status --skipped` lists them"),
        ("12 more: offset = 50 goes on", "12 more: --offset 50 goes on"),
        ("k = 0 is below 1; ask for 1 to 10,000 lines", "-k 0 is below 1; ask for 1 to 10,000 lines"),
        ("3 more files may hold it: match = exact counts all lines", "3 more files may hold it: `rag-ls search -F TEXT` counts all lines"),
        ("lines 1-9 are left out: get_chunk with id = a.py:1-9 has them", "lines 1-9 are left out: `rag-ls show a.py:1-9` has them"),
        ("no declaration is at line 9 of a.py; list_symbols shows those that there are", "no declaration is at line 9 of a.py"),
        ("1 rule is broken in 1 place: see violations; 0 examples", "1 rule is broken in 1 place, as shown above; 0 examples"),
        ("ask with its absolute path, or with project = '/srv/shop'", "ask with its absolute path, or with --project '/srv/shop'"),
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

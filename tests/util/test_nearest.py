"""Names that are nearly those that somebody gave."""

from __future__ import annotations

from rag_ls.util.path_globs import nearest_to_glob
from rag_ls.util.text import nearest, nearest_paths, nearest_text


def test_the_most_similar_names_come_first_else_those_that_contain_it() -> None:
    assert nearest("refesh", ["refresh", "expire", "refreshed"])[0] == "refresh"
    assert nearest("tok", ["an_access_token_of_the_server", "price"]) == ["an_access_token_of_the_server"]
    assert nearest("zebra", ["price"]) == []


def test_paths_are_compared_by_their_file_names_and_then_by_their_folders() -> None:
    known = ["src/cart.py", "lib/cart.py", "docs/guide.md"]
    assert nearest_paths("lib/crt.py", known) == ["lib/cart.py", "src/cart.py"]
    assert nearest_paths("nothing.like.it", known) == []
    assert nearest_paths("src/run.py", known) == []


def test_a_message_names_what_is_near() -> None:
    assert nearest_text([]) == ""
    assert nearest_text(["a"]) == "the nearest is a; "
    assert nearest_text(["a", "b"]) == "the nearest are a, b; "


def test_a_glob_of_a_suffix_has_no_name_to_compare() -> None:
    known = [".formatter.exs", "lib/cart.ex"]
    assert nearest_to_glob("*.rb", known) == nearest_to_glob("**/*.rb", known) == []
    assert nearest_to_glob("lib/**/*.rb", known) == ["lib/cart.ex"]
    assert nearest_to_glob("lib/car*.rb", known) == ["lib/cart.ex"]
    assert nearest_to_glob("library/**", known) == ["lib/"]
    assert nearest_to_glob("nowhere/**", known) == [".formatter.exs", "lib/"]

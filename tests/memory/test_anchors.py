"""A memory's anchor is fresh while its code is as it was, and follows it where it goes."""

from __future__ import annotations

import pytest

from rag_ls.chunking import Budget, approximate_token_offsets, cut
from rag_ls.memory import Anchoring
from rag_ls.model import Anchor, AnchorState
from rag_ls.storage import NewChunk
from rag_ls.storage.sqlite.checkout import CheckoutIndex
from tests.support import digest, new_chunk, record

_BUDGET = Budget(60, 10, 0)
_FILE = '''"""Sessions."""

import time


class Session:
    """A logged-in user."""

    def __init__(self, user):
        self.user = user

    def refresh(self, token):
        """Exchange a token."""
        if not token:
            raise ValueError("no token")
        found = exchange(token)
        self.user = found.user
        return found


def expire(session, now):
    age = now - session.created
    return age > LIMIT
'''
_REFRESH = _FILE[_FILE.index("    def refresh") : _FILE.index("def expire")].rstrip() + "\n"


def _save(store: CheckoutIndex, text: str, path: str = "src/a.py", session: str = "") -> None:
    found = cut(text, path, language="python", budget=_BUDGET, token_offsets=approximate_token_offsets)
    chunks = [NewChunk(chunk, digest(f"{path}:{chunk.ordinal}:{chunk.text}")) for chunk in found.chunks]
    store.replace_document(record(path, session, sha256=digest(text).hex()), chunks, outline=found.outline)


def _anchor(store: CheckoutIndex, symbol: str = "Session.refresh", text: str = _FILE) -> Anchor:
    _save(store, text)
    document = store.document("src/a.py")
    assert document is not None
    anchor = Anchoring(store).to_symbol(document, symbol)
    assert anchor is not None
    return anchor


def _line_anchor(store: CheckoutIndex, text: str) -> Anchor:
    """An anchor to the line of the file that holds some text."""
    _save(store, _FILE)
    line = next(number for number, each in enumerate(_FILE.split("\n"), 1) if text in each)
    document = store.document("src/a.py")
    assert document is not None
    row = store.chunks.at(document.id, line)
    assert row is not None
    return Anchoring(store).to_line(row, line)


def test_a_line_beside_the_declarations_of_its_chunk_is_about_none_of_them(store: CheckoutIndex) -> None:
    text = "import time\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"
    _save(store, text)
    for line in (1, 3, 6):
        row = store.chunks.at(store.document("src/a.py").id, line)  # type: ignore[union-attr]
        assert row is not None
        anchor = Anchoring(store).to_line(row, line)
        assert anchor.symbol == ""
        assert Anchoring(store).resolve(anchor).state is AnchorState.FRESH
    _save(store, text.replace("return 2", "return 3"))
    assert Anchoring(store).resolve(anchor).state is AnchorState.DRIFTED


def _resolved(store: CheckoutIndex, anchor: Anchor) -> Anchor:
    return Anchoring(store).resolve(anchor)


class TestState:
    def test_an_anchor_is_fresh_while_its_code_stays(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        assert (anchor.path, anchor.symbol, anchor.start_line) == ("src/a.py", "Session.refresh", 12)
        assert _resolved(store, anchor) == anchor
        assert anchor.state is AnchorState.FRESH

    @pytest.mark.parametrize(
        ("before", "after"),
        [("if not token", "if token"), ("exchange(token)", "exchange[token]"), ("self.user = found.user", "self.user = found"),
         ("return found", "return None"), ("Exchange a token", "Renew a token")],
    )  # fmt: skip
    def test_any_other_token_drifts_it_wherever_it_is(self, store: CheckoutIndex, before: str, after: str) -> None:
        anchor = _anchor(store)
        _save(store, _FILE.replace(before, after))
        assert _resolved(store, anchor).state is AnchorState.DRIFTED

    @pytest.mark.parametrize(
        ("before", "after"),
        [("        found =", "        # The server answers.\n\n        found ="),
         ("exchange(token)", "exchange(\n            token,\n        )"),
         ("age > LIMIT", "age >= LIMIT"), ("import time", "import time\nimport os"), ("self.user = user", "self.user = None")],
    )  # fmt: skip
    def test_comments_formatting_and_other_declarations_do_not(
        self, store: CheckoutIndex, before: str, after: str
    ) -> None:
        anchor = _anchor(store)
        _save(store, _FILE.replace(before, after))
        assert _resolved(store, anchor).state is AnchorState.FRESH

    def test_what_changes_in_a_member_drifts_the_class(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store, "Session")
        _save(store, _FILE.replace("return found", "return None"))
        assert _resolved(store, anchor).state is AnchorState.DRIFTED

    def test_code_that_is_changed_back_is_fresh_and_reading_does_not_make_it_so(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        _save(store, _FILE.replace("return found", "return None"))
        once = _resolved(store, anchor)
        assert _resolved(store, once).state is AnchorState.DRIFTED
        _save(store, _FILE)
        assert _resolved(store, once).state is AnchorState.FRESH

    def test_removed_code_is_orphaned(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        _save(store, _FILE.replace(_REFRESH, ""))
        assert _resolved(store, anchor).state is AnchorState.ORPHANED

    def test_unsaved_text_counts_for_whoever_sees_it(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        on_disk = store.document("src/a.py")
        assert on_disk is not None
        _save(store, _FILE.replace("return found", "return None"), session="editor")
        assert _resolved(store, anchor).state is AnchorState.FRESH
        assert Anchoring(store, {on_disk.id}).resolve(anchor).state is AnchorState.DRIFTED


class TestFollowing:
    def test_code_that_moved_down_in_its_file_is_fresh_at_its_new_line(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        _save(store, _FILE.replace("import time", "import os\nimport time"))
        found = _resolved(store, anchor)
        assert (found.state, found.start_line) == (AnchorState.FRESH, 13)

    def test_a_renamed_file_is_followed(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        store.remove_documents(["src/a.py"])
        _save(store, _FILE.replace("import time", "import time, os"), "lib/session.py")
        found = _resolved(store, anchor)
        assert (found.state, found.path) == (AnchorState.FRESH, "lib/session.py")

    def test_a_function_that_moved_to_another_file_is_followed_though_its_file_stays(
        self, store: CheckoutIndex
    ) -> None:
        anchor = _anchor(store, "expire")
        start = _FILE.index("def expire")
        _save(store, _FILE[:start])
        _save(store, f"import time\n\n\n{_FILE[start:]}", "src/expiry.py")
        found = _resolved(store, anchor)
        assert (found.state, found.path, found.start_line) == (AnchorState.FRESH, "src/expiry.py", 4)

    def test_code_that_moved_and_changed_a_little_is_drifted_there(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        store.remove_documents(["src/a.py"])
        _save(store, _FILE.replace("return found", "return self"), "lib/session.py")
        found = _resolved(store, anchor)
        assert (found.state, found.path) == (AnchorState.DRIFTED, "lib/session.py")

    def test_a_copy_elsewhere_does_not_draw_the_anchor_away(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        _save(store, _FILE, "aaa/copy.py")
        assert _resolved(store, anchor).path == "src/a.py"

    def test_two_that_are_alike_are_not_guessed(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        store.remove_documents(["src/a.py"])
        for path in ("lib/one.py", "lib/two.py"):
            _save(store, _FILE.replace("return found", f"return {path[4:7]}"), path)
        assert _resolved(store, anchor).state is AnchorState.ORPHANED

    def test_a_namesake_that_does_something_else_is_not_it(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        store.remove_documents(["src/a.py"])
        _save(
            store,
            "class Page:\n    def refresh(self):\n        for row in rows:\n            draw(row)\n",
            "ui/page.py",
        )
        assert _resolved(store, anchor).state is AnchorState.ORPHANED

    def test_a_renamed_declaration_is_followed_and_both_names_are_told(self, store: CheckoutIndex) -> None:
        for symbol, name in (("expire", "is_expired"), ("Session.refresh", "renew")):
            anchor = _anchor(store, symbol)
            _save(store, _FILE.replace(f"def {symbol.split('.')[-1]}(", f"def {name}("))
            found = _resolved(store, anchor)
            assert found.state is AnchorState.FRESH
            assert (found.symbol.split(".")[-1], found.former_symbol) == (name, symbol)

    def test_a_method_of_a_renamed_class_is_followed(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        _save(store, _FILE.replace("class Session", "class LoginSession"))
        found = _resolved(store, anchor)
        assert (found.symbol, found.state) == ("LoginSession.refresh", AnchorState.FRESH)

    def test_a_renamed_declaration_that_changed_a_little_is_drifted(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store)
        _save(store, _FILE.replace("def refresh(", "def renew(").replace("return found", "return found.user"))
        found = _resolved(store, anchor)
        assert (found.symbol, found.state) == ("Session.renew", AnchorState.DRIFTED)

    @pytest.mark.parametrize("path", ["src/expiry.py", "lib/a.py"])
    def test_a_renamed_declaration_is_followed_into_its_renamed_file(self, store: CheckoutIndex, path: str) -> None:
        anchor = _anchor(store, "expire")
        store.remove_documents(["src/a.py"])
        _save(store, _FILE.replace("def expire(", "def is_expired("), path)
        found = _resolved(store, anchor)
        assert (found.state, found.path, found.symbol) == (AnchorState.FRESH, path, "is_expired")

    def test_the_only_declaration_of_a_renamed_file_is_followed_by_its_body(self, store: CheckoutIndex) -> None:
        one = "def retry(call):\n    for _ in range(3):\n        call()\n    raise TimeoutError\n"
        anchor = _anchor(store, "retry", one)
        store.remove_documents(["src/a.py"])
        _save(store, one.replace("retry", "again"), "src/again.py")
        _save(store, "def other(call):\n    while True:\n        call()\n    raise KeyError\n", "src/other.py")
        found = _resolved(store, anchor)
        assert (found.state, found.path, found.symbol) == (AnchorState.FRESH, "src/again.py", "again")
        _save(store, one.replace("retry", "twice"), "src/twice.py")
        assert _resolved(store, anchor).state is AnchorState.ORPHANED

    def test_a_declaration_that_was_there_before_is_no_renamed_one(self, store: CheckoutIndex) -> None:
        twin = "\n\ndef outdated(session, now):\n    age = now - session.created\n    return age > LIMIT\n"
        _save(store, _FILE + twin)
        document = store.document("src/a.py")
        assert document is not None
        anchor = Anchoring(store).to_symbol(document, "expire")
        assert anchor is not None
        _save(store, _FILE[: _FILE.index("def expire")] + twin)
        assert _resolved(store, anchor).state is AnchorState.ORPHANED

    def test_a_new_declaration_with_another_body_is_no_renamed_one(self, store: CheckoutIndex) -> None:
        anchor = _anchor(store, "expire")
        other = "def greet(name):\n    print(f'hello {name}')\n"
        _save(store, _FILE[: _FILE.index("def expire")] + other)
        assert _resolved(store, anchor).state is AnchorState.ORPHANED


class TestLines:
    def test_the_remembered_line_is_kept_inside_its_declaration(self, store: CheckoutIndex) -> None:
        anchor = _line_anchor(store, "raise ValueError")
        assert (anchor.symbol, anchor.start_line) == ("Session.refresh", 15)
        assert _resolved(store, anchor) == anchor

    def test_the_line_is_found_again_after_changes_above_it_and_in_it(self, store: CheckoutIndex) -> None:
        anchor = _line_anchor(store, "self.user = found.user")
        moved = _FILE.replace("        found = exchange", "        token = token.strip()\n        found = exchange")
        _save(store, "# Copyright\n" + moved)
        found = _resolved(store, anchor)
        assert (found.state, found.start_line) == (AnchorState.DRIFTED, anchor.start_line + 2)
        _save(store, "# Copyright\n" + _FILE.replace("self.user = found.user", "self.user = found.owner"))
        assert _resolved(store, anchor).start_line == anchor.start_line + 1

    def test_a_line_outside_any_declaration_is_followed_by_its_text(self, store: CheckoutIndex) -> None:
        anchor = _line_anchor(store, "import time")
        assert (anchor.symbol, anchor.start_line) == ("", 3)
        _save(store, "# Copyright\n" + _FILE)
        assert _resolved(store, anchor).start_line == 4


class TestOtherAnchors:
    def test_an_anchor_to_a_whole_file_is_fresh_until_the_file_goes(self, store: CheckoutIndex) -> None:
        _save(store, _FILE)
        anchor = Anchor("src/a.py")
        assert _resolved(store, anchor).state is AnchorState.FRESH
        _save(store, "x = 1\n")
        assert _resolved(store, anchor).state is AnchorState.FRESH
        store.remove_documents(["src/a.py"])
        assert _resolved(store, anchor).state is AnchorState.ORPHANED

    def test_an_anchor_of_a_former_version_is_followed_by_its_chunk_and_symbol(self, store: CheckoutIndex) -> None:
        old = new_chunk("def refresh():\n    return 1\n", symbol="refresh")
        store.replace_document(record(), [old])
        (row,) = store.chunks.of_symbol("refresh")
        anchor = Anchor("src/a.py", "refresh", row.stored.content_hash, 1)
        assert _resolved(store, anchor).state is AnchorState.FRESH
        changed = new_chunk("def refresh():\n    return 2\n", symbol="refresh", ordinal=1)
        store.replace_document(record(), [new_chunk("import os\n"), changed])
        found = _resolved(store, anchor)
        assert (found.state, found.start_line) == (AnchorState.DRIFTED, 11)
        store.replace_document(record(), [new_chunk("import os\n")])
        assert _resolved(store, anchor).state is AnchorState.ORPHANED

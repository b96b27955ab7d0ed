"""Rules to read declarations off the lines that begin them, as data: for languages whose grammars hang, crash or fail on real code.

The rules stand in the tables of `families`. Patterns are read with `re.MULTILINE`. None may take more than linear time: whatever may go
over lines has a limit or an end.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from rag_ls.languages.names import read_fields
from rag_ls.languages.patterns import compile_lines


class LineRule(NamedTuple):
    """The declarations of a language, each told by the line that begins it, and its extent by the indentation of what follows."""

    declared: bytes
    """A pattern of the beginning of a line up to the end of a declaration's head. The group that matches is its kind and holds its
    name: `type`, `function`, `value`, `module`, or `scope`, which is not listed; a number may follow."""
    noise: bytes
    """A pattern of comments and texts in quotes: nothing in them is declared or used."""
    closing: bytes = rb"[})\]]"
    """A pattern of the line with which a declaration ends that begins at the same indentation."""
    going_on: bytes = rb"\{"
    """A pattern of a line at that indentation that does not end it."""
    paired: bytes = b""
    """The pattern of the line that ends a declaration whose pattern has the group `word`, wherever it is indented. `%s` is the word."""
    attributes: bytes = rb"@\w"
    """A pattern of lines above a declaration that belong to it, besides comments."""
    imported: bytes = b""
    """A pattern of import statements."""
    names: bytes = rb"[A-Za-z_]\w*"
    """A pattern of names that are used."""
    called: bytes = rb"\s?\("
    """A pattern of what follows a name that is called."""
    calls: bytes = b""
    """A pattern whose groups are names that are called without that."""
    bases: bytes = b""
    """A pattern whose first group holds the names of a type's bases."""
    docstring: bytes = b""
    """A pattern of what follows a head, whose first group is its documentation."""
    comment_mark: bytes = b""
    """A pattern of the mark before each line of a comment, if it is an unusual one."""

    def uncomment(self, text: bytes) -> bytes:
        """Comments with usual marks."""
        return compile_lines(self.comment_mark).sub(b"#", text) if self.comment_mark else text

    def blank(self, data: bytes) -> bytes:
        """A text of the same length and lines, with spaces for comments and texts in quotes."""
        return compile_lines(self.noise).sub(_spaces, data)


def read_line_rule(language: str) -> LineRule:
    """Return the rule of a language, from the file of its family."""
    return LineRule(**{name: "".join(below).encode() for name, _, below in read_fields("lines", language)})


def declared_group(match: re.Match[bytes]) -> tuple[str, str]:
    """The kind that a match declares, and the group that holds the name: `function`, or `function2`."""
    groups = (name for name in match.re.groupindex if match[name] is not None)
    return next(
        ((name.rstrip("0123456789"), name) for name in groups if not name.startswith(("owner", "word"))), ("", "")
    )


def _spaces(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if b"\n" not in text and b"\r" not in text:
        return b" " * len(text)
    return re.sub(rb"[^\r\n]", b" ", text)

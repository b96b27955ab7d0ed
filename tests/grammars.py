"""The syntax of each language that has a grammar."""

from __future__ import annotations

from rag_ls.languages import LANGUAGES

SYNTAXES = {name: each.syntax for name, each in LANGUAGES.items() if each.syntax is not None}

"""The names of languages, and what tells a document's language: its file's name, its suffix, its first line, else its text.

This is all that a process knows of a language until a document of it comes: its rules stand in a module of `families`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path

from rag_ls.languages.patterns import compile_lines, read_sections


class Role(StrEnum):
    """The purpose of a document in a language."""

    CODE = "code"
    DOCS = "docs"
    DATA = "data"
    """Settings, data or styles."""


def _read_table(text: str) -> dict[str, tuple[str, ...]]:
    """Return `name -> words` of a text like `name: word word; name: word`."""
    rows = (row.partition(":") for row in text.split(";"))
    return {name.strip(): tuple(words.split()) for name, _, words in rows}


def _invert(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in words}


_TABLES = read_sections("names.txt")
_OPENINGS = (("<?xml", "xml"), ("<!doctype html", "html"), ("<html", "html"), ("<?php", "php"))
_SHEBANG = r"^\ufeff?#!\s*(\S+)(.*)"
_REQUIREMENTS = r"(?:requirements|constraints)[-_.\w]*\.txt"

_BY_SUFFIX = {name: name for name in _TABLES["own_suffixes"].split()} | _invert(_read_table(_TABLES["suffixes"]))
_BY_NAME = _invert(_read_table(_TABLES["file_names"]))
_BY_LOWER_NAME = {name.lower(): language for name, language in _BY_NAME.items()}
_BY_PREFIX = _invert(_read_table(_TABLES["prefixes"]))
_BY_INTERPRETER = _invert(_read_table(_TABLES["interpreters"]))
_BY_ALIAS = _invert(_read_table(_TABLES["aliases"]))
_BY_SCRIPT_TYPE = _invert(_read_table(_TABLES["script_types"]))
_FAMILY = _invert(_read_table(_TABLES["families"]))
_ROLE = _invert(_read_table(_TABLES["roles"]))
MODULES = dict.fromkeys((*_BY_SUFFIX.values(), *_BY_NAME.values()), "") | _invert(_read_table(_TABLES["modules"]))
"""Every language, with the module of `families` that holds its rules; empty where no more than its name is known."""


def role_of(name: str) -> Role:
    """Return the purpose of documents in a language."""
    return Role(_ROLE.get(name, "code"))


def family_of(name: str) -> str:
    """Return the language whose conventions a language follows: another one's, or its own."""
    return _FAMILY.get(name, name)


def related_languages(family: str) -> frozenset[str]:
    """Return the languages that follow the conventions of one."""
    return frozenset(_read_table(_TABLES["families"]).get(family, (family,)))


def language_of_script(kind: str) -> str | None:
    """Return the language of a script or style with a `type` or `lang`; None for an unknown one."""
    return _BY_SCRIPT_TYPE.get(kind.lower())


def by_alias(word: str) -> str | None:
    """Return the language that an editor, a rule or a person means: by its own name, another one, a suffix or an interpreter."""
    word = word.lower()
    word = _BY_ALIAS.get(word, word)
    return word if word in MODULES else _BY_SUFFIX.get(word) or _BY_INTERPRETER.get(word)


def detect_language(path: str, first_line: str = "") -> str | None:
    """Return the language of a document by its file name, then its suffix, then its first line.

    None if it is unknown. Languages without a grammar are returned too.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    lower = name.lower()
    if lower in _BY_LOWER_NAME:
        return _BY_LOWER_NAME[lower]
    for prefix, language in _BY_PREFIX.items():
        # `dockerfile.go` is a module about Dockerfiles, `Dockerfile.go` one for a program in Go.
        if lower.startswith(prefix) and (name != lower or _by_suffix(lower) is None):
            return language
    if re.fullmatch(_REQUIREMENTS, lower):
        return "requirements"
    return _by_suffix(lower) or _by_first_line(first_line)


def _by_suffix(name: str) -> str | None:
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return None
    if suffix in ("in", "tmpl", "template", "example", "sample", "dist", "orig", "bak") and "." in stem:
        return _by_suffix(stem)
    return _BY_SUFFIX.get(f"{stem.rpartition('.')[2]}.{suffix}") or _BY_SUFFIX.get(suffix)


def _by_first_line(line: str) -> str | None:
    match = re.match(_SHEBANG, line)
    if match:
        words = [match[1], *match[2].split()]
        if words[0].endswith("/env"):
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        program = words[0].rpartition("/")[2] if words else ""
        return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip("0123456789."))
    start = line.lstrip("\ufeff \t").lower()
    return next((language for mark, language in _OPENINGS if start.startswith(mark)), None)


@cache
def _read_patterns() -> dict[str, list[tuple[str, str]]]:
    """Return the languages of each row of `texts.txt` with their patterns, by suffix."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in Path(__file__).with_name("texts.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            suffix, language, pattern = line.split(" ", 2)
            found.setdefault(suffix, []).append((language, pattern))
    return found


def choose_language(suffix: str, head: str) -> str | None:
    """Return the language of a text whose suffix several use; None where nothing speaks against the suffix's usual language."""
    patterns = _read_patterns().get(suffix, ())
    return next((language for language, pattern in patterns if compile_lines(pattern).search(head)), None)


def guess_language(head: str) -> str | None:
    """Return the language of a text without a name that tells it; None if unknown."""
    return choose_language("-", head)


def read_rows(kind: str, language: str) -> list[str]:
    """Return the rows of a language's table of a kind (`declarations`, `lines`, `references`), from the file of its family."""
    return read_sections(f"families/{MODULES[language]}.txt")[f"{kind} {language}"].splitlines()


def read_fields(kind: str, language: str) -> Iterator[tuple[str, str, list[str]]]:
    """The fields in a language's table, each with what follows its name and with the rows below it; one that is indented twice goes on."""
    name, text, below = "", "", list[str]()
    for row in [*filter(None, read_rows(kind, language)), "end"]:
        if row.startswith("        "):
            below[-1] += row.strip()
        elif row.startswith("    "):
            below.append(row.strip())
        if row.startswith("    "):
            continue
        if name:
            yield name, text, below
        name, _, text = row.partition(" ")
        below = []

"""Detects a document's language by its name, suffix or shebang line."""

from __future__ import annotations

import re

from rag_ls.languages.registry import LANGUAGES

_EVERY = tuple(LANGUAGES.values())
_BY_SUFFIX = {suffix: each.name for each in _EVERY for suffix in each.suffixes}
_BY_NAME = {name: each.name for each in _EVERY for name in each.file_names}
_BY_LOWER_NAME = {name.lower(): language for name, language in _BY_NAME.items()}
_BY_INTERPRETER = {program: each.name for each in _EVERY for program in each.interpreters}
_ALIASES = {alias: each.name for each in _EVERY for alias in each.aliases}
_SHEBANG = re.compile(r"^\ufeff?#!\s*(\S+)(.*)")
_OPENINGS = (("<?xml", "xml"), ("<!doctype html", "html"), ("<html", "html"), ("<?php", "php"))
_PREFIXES = (
    ("dockerfile.", "dockerfile"),
    ("containerfile.", "dockerfile"),
    ("makefile.", "make"),
    ("jenkinsfile.", "groovy"),
)


def by_alias(word: str) -> str | None:
    """The language that an editor, a rule or a person means: by its own name, another one, a suffix or an interpreter."""
    word = word.lower()
    word = _ALIASES.get(word, word)
    return word if word in LANGUAGES else _BY_SUFFIX.get(word) or _BY_INTERPRETER.get(word)


def detect_language(path: str, first_line: str = "") -> str | None:
    """The language of a document by its file name, then its suffix, then its first line.

    None if it is unknown. Languages without a grammar are returned too.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    lower = name.lower()
    if lower in _BY_LOWER_NAME:
        return _BY_LOWER_NAME[lower]
    for prefix, language in _PREFIXES:
        # `dockerfile.go` is a module about Dockerfiles, `Dockerfile.go` one for a program in Go.
        if lower.startswith(prefix) and (name != lower or _by_suffix(lower) is None):
            return language
    if re.fullmatch(r"(?:requirements|constraints)[-_.\w]*\.txt", lower):
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
    match = _SHEBANG.match(line)
    if match:
        words = [match[1], *match[2].split()]
        if words[0].endswith("/env"):
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        program = words[0].rpartition("/")[2] if words else ""
        return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip("0123456789."))
    start = line.lstrip("\ufeff \t").lower()
    return next((language for mark, language in _OPENINGS if start.startswith(mark)), None)

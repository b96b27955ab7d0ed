"""What each language's module holds, and that nothing else has to know of it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest

import rag_ls.languages
from rag_ls.languages import LANGUAGES, SYNTAXES, Language
from rag_ls.languages.patterns import compile_lines
from rag_ls.languages.plain import PLAIN
from tests.chunking.samples import SAMPLES, Sample

_PACKAGE = Path(rag_ls.languages.__file__).parent
# Knowledge of frameworks and manifests, by the language that they are for.
_FRAMEWORKS = {f"rules/survey/{name}.py" for name in ("facts", "manifests", "found_forms", "stacks")}
# What is read by rules that no other language shares, and the languages of our own texts.
_OWN_RULES = {f"rules/survey/{name}.py" for name in ("errors", "imports", "packages", "patterns", "reports", "sources")}
_OWN_TEXTS = {
    "chunking/chunker.py",  # a header in C may be C++; a broken notebook is JSON
    "chunking/embedded.py",  # a script without a type
    "chunking/notebook.py",  # kinds of cells
    "chunking/notebook_cells.py",  # the kernel if none is named
    "chunking/rule_documents.py",  # rules in YAML
    "cli/doctor.py",  # a text to try the cutter with
    "memory/collections.py",  # memories are Markdown
    "memory/parts.py",
    "memory/portable/formats.py",
    "rules/finding.py",
    "rules/sections.py",  # rules in YAML
    "storage/terms.py",  # suffixes of packages that are folders
}
# Words that mean other things in code.
_COMMON_WORDS = {"bash", "c", "cuda", "d", "css", "go", "html", "json", "make", "r"}


def _held() -> list[Language]:
    """Every language that a module of the room holds, and those of the table."""
    held = [
        value
        for found in pkgutil.iter_modules([str(_PACKAGE)])
        for value in vars(importlib.import_module(f"rag_ls.languages.{found.name}")).values()
        if isinstance(value, Language)
    ]
    return list(dict.fromkeys((*held, *PLAIN)))


def test_every_language_of_the_room_is_in_the_registry() -> None:
    assert [each.name for each in _held() if LANGUAGES.get(each.name) is not each] == []
    assert {each.name for each in _held()} == set(LANGUAGES)


@pytest.mark.parametrize("name", sorted(SYNTAXES))
def test_a_module_holds_all_that_is_known_of_a_language_with_a_grammar(name: str) -> None:
    module = importlib.import_module("rag_ls.languages." + name.replace("-", "_"))
    language = getattr(module, name.replace("-", "_").upper())
    assert language is LANGUAGES[name]
    assert language.suffixes
    assert language.syntax is not None
    assert language.syntax.declarations
    # What follows imports needs them to be read.
    assert language.imports is not None or not (language.uses or language.own_names or language.resolver)


@pytest.mark.parametrize("kind", ["name", "suffixes", "file_names", "interpreters", "aliases", "script_types"])
def test_no_two_languages_claim_the_same(kind: str) -> None:
    claimed = [claim for each in _held() for claim in ([each.name] if kind == "name" else getattr(each, kind))]
    assert [claim for claim, count in Counter(claimed).items() if count > 1] == []
    if kind != "file_names":
        assert [claim for claim in claimed if claim != claim.lower() and kind != "interpreters"] == []


def test_an_alias_is_no_name_or_suffix_of_another_language() -> None:
    taken = {name: each.name for each in LANGUAGES.values() for name in (each.name, *each.suffixes, *each.interpreters)}
    assert [
        alias for each in LANGUAGES.values() for alias in each.aliases if taken.get(alias, each.name) != each.name
    ] == []


def test_a_family_is_a_language_with_a_grammar() -> None:
    assert {each.family for each in LANGUAGES.values() if each.family} <= set(SYNTAXES)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_a_comment_as_it_is_written_is_one_when_it_is_read(sample: Sample) -> None:
    comments = LANGUAGES[sample.language].comments
    written = f"{comments.start}why{comments.end}"
    assert re.fullmatch(comments.pattern, written, re.DOTALL)


def test_every_pattern_of_a_convention_is_one() -> None:
    for each in LANGUAGES.values():
        if each.lexis is not None:
            re.compile(f"(?P<comment>{each.lexis.comments})|(?:{each.lexis.strings})")
        if each.tests is not None:
            assert compile_lines(each.tests.declared)
            assert not list(each.tests.libraries_in(""))
            assert each.tests.name_of("") == ""
        if each.errors is not None:
            assert compile_lines(each.errors.declared).groups == 2
            assert compile_lines(each.errors.raised).groups == 1


@pytest.mark.slow
def test_no_other_room_names_a_language() -> None:
    root = _PACKAGE.parent
    names = set(SYNTAXES) - _COMMON_WORDS
    naming = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if path.parent != _PACKAGE
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert naming == _FRAMEWORKS | _OWN_RULES | _OWN_TEXTS

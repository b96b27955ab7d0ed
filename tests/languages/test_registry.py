"""What each language's module holds, and that nothing else has to know of it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import rag_ls.languages
from rag_ls.languages import LANGUAGES, names
from rag_ls.languages.patterns import compile_lines
from rag_ls.languages.syntax import Declaration, Kind, declare
from tests.chunking.samples import SAMPLES, Sample
from tests.grammars import SYNTAXES

_PACKAGE = Path(rag_ls.languages.__file__).parent
# Knowledge of frameworks and manifests, by the language that they are for.
_FRAMEWORKS = {f"rules/survey/{name}.py" for name in ("facts", "found_forms", "stacks", "project_files")}
# What is read by rules that no other language shares, and the languages of our own texts.
_OWN_RULES = {f"rules/survey/{name}.py" for name in ("documents", "conventions", "imports", "sources")}
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
    "rules/checks/checker.py",  # a grammar that reads JSX
    "rules/finding.py",
    "rules/sections.py",  # rules in YAML
    "storage/terms.py",  # suffixes of packages that are folders
}
# Words that mean other things in code.
_COMMON_WORDS = {"bash", "c", "cuda", "d", "css", "go", "html", "json", "make", "r"}


_TABLES = {
    "module": names._TABLES["modules"],
    "suffix": f"{names._TABLES['suffixes']}; named so: {names._TABLES['own_suffixes']}",
    "file name": names._TABLES["file_names"],
    "interpreter": names._TABLES["interpreters"],
    "alias": names._TABLES["aliases"],
    "script type": names._TABLES["script_types"],
    "family": names._TABLES["families"],
    "role": names._TABLES["roles"],
}


def test_a_module_holds_the_languages_that_are_named_for_it() -> None:
    held = {
        found.name: importlib.import_module(f"rag_ls.languages.families.{found.name}")
        for found in pkgutil.iter_modules([str(_PACKAGE / "families")])
    }
    families = {
        name: {each.name for each in module.LANGUAGES} for name, module in held.items() if hasattr(module, "LANGUAGES")
    }
    assert families == {name: set(words) for name, words in names._read_table(names._TABLES["modules"]).items()}
    assert [each.name for each in LANGUAGES.values() if LANGUAGES[each.name] is not each] == []


@pytest.mark.parametrize("name", sorted(SYNTAXES))
def test_a_language_with_a_grammar_has_declarations_and_reads_the_imports_that_it_follows(name: str) -> None:
    language = LANGUAGES[name]
    assert language.syntax is not None
    assert language.syntax.declarations
    assert language.imports is not None or not (language.uses or language.own_names or language.resolver)


def test_a_table_of_declarations_says_what_its_rows_say() -> None:
    declared = declare("""
        value field constant, names declarator/name
        function method, owner receiver, listed
        function assignment, names left, when right is lambda arrow, listed value
        value assignment, each name
        scope namespace, names
    """)
    assert declared == {
        "field": (Declaration(Kind.VALUE, ("declarator/name",)),),
        "constant": (Declaration(Kind.VALUE, ("declarator/name",)),),
        "method": (Declaration(Kind.FUNCTION, owner=("receiver",), listed=""),),
        "assignment": (
            Declaration(Kind.FUNCTION, ("left",), when=("right", frozenset({"lambda", "arrow"})), listed="value"),
            Declaration(Kind.VALUE, each="name"),
        ),
        "namespace": (Declaration(Kind.SCOPE, ()),),
    }


@pytest.mark.parametrize("kind", _TABLES)
def test_no_two_languages_claim_the_same(kind: str) -> None:
    claimed = [word for words in names._read_table(_TABLES[kind]).values() for word in words]
    assert [claim for claim, count in Counter(claimed).items() if count > 1] == []
    if kind not in ("file name", "interpreter"):
        assert [claim for claim in claimed if claim != claim.lower()] == []


def test_an_alias_is_no_name_or_suffix_of_another_language() -> None:
    taken = {**names._BY_INTERPRETER, **names._BY_SUFFIX, **{name: name for name in LANGUAGES}}
    assert [alias for alias, name in names._BY_ALIAS.items() if taken.get(alias, name) != name] == []


def test_every_table_names_languages_that_are_known() -> None:
    tables = (names._BY_INTERPRETER, names._BY_ALIAS, names._BY_SCRIPT_TYPE)
    assert {name for table in tables for name in table.values()} <= set(LANGUAGES)
    assert {*names._FAMILY, *names._ROLE} <= set(LANGUAGES)
    assert set(names._FAMILY.values()) <= set(SYNTAXES)


def test_a_module_of_languages_is_loaded_when_one_of_them_is_asked_for() -> None:
    loaded = "print(sorted(name for name in sys.modules if name.startswith('rag_ls.languages.families.')))"
    asking = "from rag_ls.languages import detect_language, find_language; import sys"
    script = f"{asking}; detect_language('a.go'); {loaded}; find_language('kotlin'); {loaded}"
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert told.splitlines() == ["[]", "['rag_ls.languages.families.jvm']"]


def test_no_pattern_is_compiled_before_it_is_used() -> None:
    compiling = [
        path.relative_to(_PACKAGE).as_posix()
        for path in _PACKAGE.rglob("*.py")
        if "re.compile(" in path.read_text("utf-8")
    ]
    assert compiling == ["patterns.py"]


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
        if _PACKAGE not in path.parents
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert naming == _FRAMEWORKS | _OWN_RULES | _OWN_TEXTS

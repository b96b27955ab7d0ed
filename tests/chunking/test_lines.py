"""Declarations, imports and uses in languages that are read by their lines."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from rag_ls.chunking import Budget, approximate_token_offsets, cut, read_uses, recognise
from rag_ls.languages import LANGUAGES
from rag_ls.model import UseKind

from .checks import MEDIUM, chunks_of, joined, outline_of
from .line_samples import LINE_SAMPLES
from .sample import Sample

_every_sample = pytest.mark.parametrize("sample", LINE_SAMPLES, ids=lambda sample: sample.language)
_LANGUAGES = sorted(name for name, language in LANGUAGES.items() if language.lines is not None)


def _uses(text: str, language: str, name: str) -> list[tuple[int, UseKind]]:
    found = cut(text, "a/file", language=language, budget=Budget(), token_offsets=approximate_token_offsets)
    return [(use.line, use.kind) for use in read_uses(found.uses, {name})]


def test_every_language_that_is_read_by_lines_has_a_sample() -> None:
    assert sorted(sample.language for sample in LINE_SAMPLES) == _LANGUAGES


@_every_sample
def test_a_sample_declares_just_these_symbols(sample: Sample) -> None:
    assert {symbol.name for symbol in outline_of(sample.text, sample.language).symbols} == set(sample.symbols)


@_every_sample
def test_declarations_are_found_in_files_with_other_line_ends(sample: Sample) -> None:
    symbols = outline_of(sample.text.replace("\n", "\r\n"), sample.language).symbols
    assert {symbol.name for symbol in symbols} == set(sample.symbols)


@_every_sample
def test_a_function_ends_where_its_text_does(sample: Sample) -> None:
    symbols = outline_of(sample.text, sample.language).symbols
    functions = [each for each in symbols if each.kind == "function"]
    for former, each in pairwise(functions):
        assert each.start_line > former.end_line


@_every_sample
def test_imports_are_read(sample: Sample) -> None:
    assert {found.module for found in outline_of(sample.text, sample.language).imports} == set(sample.imports)


@_every_sample
def test_a_sample_is_recognised(sample: Sample) -> None:
    assert recognise(sample.path, sample.text) == sample.language


@_every_sample
@pytest.mark.parametrize("budget", [MEDIUM, Budget()])
def test_a_sample_is_cut_at_its_declarations(sample: Sample, budget: Budget) -> None:
    chunks = chunks_of(sample.text, sample.language, budget)
    assert joined(chunks) == sample.text
    declared = {chunk.symbol for chunk in chunks if chunk.symbol}
    assert declared
    assert declared <= set(sample.symbols)


@_every_sample
def test_documentation_is_read(sample: Sample) -> None:
    docs = {symbol.doc for symbol in outline_of(sample.text, sample.language).symbols}
    assert any(doc.endswith((".", "further away.")) and doc[0].isupper() for doc in docs if doc)


@pytest.mark.parametrize(
    ("language", "name", "wanted"),
    [
        ("perl", "refresh", UseKind.CALL), ("perl", "clamp", UseKind.MENTION), ("groovy", "deploy", UseKind.CALL),
        ("groovy", "Base", UseKind.IMPLEMENT), ("fsharp", "refresh", UseKind.MENTION), ("vim", "Refresh", UseKind.CALL),
        ("emacs-lisp", "session--clamp", UseKind.CALL), ("lisp", "stop", UseKind.CALL), ("scheme", "clamp", UseKind.CALL),
        ("racket", "clamp", UseKind.CALL), ("nim", "clamp", UseKind.CALL), ("fish", "session_clamp", UseKind.CALL),
        ("ada", "Clamp", UseKind.CALL), ("assembly", "clamp", UseKind.CALL), ("crystal", "clamp", UseKind.CALL),
        ("cython", "fast_clamp", UseKind.CALL), ("just", "clean", UseKind.CALL), ("matlab", "clamp", UseKind.CALL),
        ("pascal", "Clamp", UseKind.CALL), ("puppet", "vhost", UseKind.CALL), ("tcl", "clamp", UseKind.CALL),
        ("vb", "Clamp", UseKind.CALL), ("verilog", "clamp", UseKind.CALL), ("verilog", "clock", UseKind.CALL),
        ("vhdl", "clamp", UseKind.CALL), ("vhdl", "clock", UseKind.CALL),
    ],
)  # fmt: skip
def test_uses_are_read(language: str, name: str, wanted: UseKind) -> None:
    sample = next(sample for sample in LINE_SAMPLES if sample.language == language)
    assert wanted in {kind for _, kind in _uses(sample.text, language, name)}


@_every_sample
def test_what_stands_in_comments_and_texts_is_no_use(sample: Sample) -> None:
    for name in ("commented", "printed", "quoted", "in_a_comment", "documented", "after_the_end"):
        assert _uses(sample.text, sample.language, name) == []


def test_a_heredoc_without_an_end_hides_nothing() -> None:
    text = "print <<EOT;\n\nsub add {\n  1;\n}\n"
    assert [symbol.name for symbol in outline_of(text, "perl").symbols] == ["add"]


def test_numbered_labels_of_assembly_are_no_symbols() -> None:
    text = "main:\n  call sha256\nL12:\n  nop\nloc_4A0F:\n  ret\ninst_7:\n  nop\nsha256:\n  ret\n"
    assert [symbol.name for symbol in outline_of(text, "assembly").symbols] == ["main", "sha256"]


def test_a_missing_end_hides_one_function_at_most() -> None:
    text = "module a;\nfunction int f(int x);\n\nfunction int g(int x);\nendfunction\nendmodule\n"
    assert [symbol.name for symbol in outline_of(text, "verilog").symbols] == ["a", "a.f", "a.g"]


def test_a_large_function_is_cut_with_overlap_and_keeps_its_name() -> None:
    text = "sub long {\n" + "".join(f"    my $value{number} = compute({number});\n" for number in range(200)) + "}\n"
    chunks = chunks_of(text, "perl", MEDIUM)
    assert {chunk.symbol for chunk in chunks} == {"long"}
    assert [chunk.is_declaration for chunk in chunks] == [True] + [False] * (len(chunks) - 1)
    assert all(chunk.overlap for chunk in chunks[1:])


@pytest.mark.parametrize("language", _LANGUAGES)
@pytest.mark.parametrize(
    "unit",
    ["(", "a b(", '"', "<<A\n", "def f(\n", "(* a", "#|", "typedef a {", "\n", "import a,\n", "a.b ", "static "],
)
def test_no_text_takes_long(language: str, unit: str) -> None:
    text = unit * (50_000 // len(unit))
    start = time.process_time()
    cut(text, "a/file", language=language, budget=Budget(), token_offsets=approximate_token_offsets)
    assert time.process_time() - start < 2, "linear time takes a fraction of a second"


@pytest.mark.parametrize(
    ("language", "line"),
    [("perl", "package a\n"), ("perl", "class A\n"), ("verilog", "typedef a\n"), ("ada", "with acme.clock.units\n")],
)
def test_heads_without_an_end_take_no_long_time(language: str, line: str) -> None:
    start = time.process_time()
    cut(line * 10_000, "a/file", language=language, budget=Budget(), token_offsets=approximate_token_offsets)
    assert time.process_time() - start < 2, "linear time takes a fraction of a second"


@pytest.mark.parametrize(
    "label",
    [
        ".L12",
        "L12",
        "LBB0_3",
        "Ltmp4",
        "Lfunc_end0",
        "LCPI1_0",
        "L_.str.5",
        "$LN7@run",
        "$L3",
        "$unwind$run",
        "loc_1A2F",
        "_080A12BC",
    ],
)
def test_labels_that_a_compiler_made_are_no_symbols(label: str) -> None:
    symbols = outline_of(f"run:\n\tnop\n{label}:\n\tret\n\nLoop:\n\tret\n", "assembly").symbols
    assert [(symbol.name, symbol.end_line) for symbol in symbols] == [("run", 4), ("Loop", 7)]


@pytest.mark.parametrize("language", _LANGUAGES)
def test_declarations_in_each_other_are_complete(language: str) -> None:
    head = {"cython": "class A:", "fsharp": "module A =", "tcl": "oo::class create A {"}.get(language, "class A {")
    text = "".join(f"{' ' * level}{head}\n" for level in range(200))
    assert joined(chunks_of(text, language)) == text

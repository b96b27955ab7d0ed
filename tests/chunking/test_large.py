"""Documents of unreasonable size or shape come out whole."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from rag_ls.chunking import Budget, approximate_token_offsets, chunk_text
from rag_ls.chunking import parse as parse_module
from rag_ls.chunking.parse import MAX_BYTES, capture
from rag_ls.languages.families.web import exported_names
from rag_ls.model import Chunk
from tests.grammars import SYNTAXES

from .checks import check_partition, chunks_of, joined
from .more_samples import MORE_SAMPLES
from .sample import Sample
from .samples import SAMPLES

pytestmark = pytest.mark.slow


def chunked(text: str, language: str | None) -> list[Chunk]:
    chunks = chunk_text(text, "x", language=language, budget=Budget(), token_offsets=approximate_token_offsets)
    check_partition(text, chunks)
    return chunks


def test_a_file_of_100_000_lines_keeps_its_symbols() -> None:
    body = "    x += 1\n" * 38
    text = "".join(f"def function_{n}(x):\n{body}\n" for n in range(2_500))
    assert text.count("\n") == 100_000
    symbols = {chunk.symbol for chunk in chunked(text, "python")}
    assert symbols == {f"function_{n}" for n in range(2_500)}


@pytest.mark.parametrize("language", ["javascript", None])
@pytest.mark.parametrize("unit", ["x", "foo(bar); ", "é"])
def test_a_line_of_megabytes_is_complete(unit: str, language: str | None) -> None:
    text = unit * (MAX_BYTES // 4 // len(unit.encode()))
    assert max(len(chunk.text.encode()) for chunk in chunked(text, language)) <= 16 * 200


def test_a_document_of_more_than_8_mb_is_complete() -> None:
    text = "foo(bar);\n" * (MAX_BYTES // 10 + 1)
    assert {chunk.node_type for chunk in chunked(text, "javascript")} == {"text"}


@pytest.mark.parametrize("unit", ["(", "f(", "{", "a["])
@pytest.mark.parametrize("language", ["javascript", "python", "c", "json"])
def test_brackets_that_stay_open_are_asked_about_in_proportion(language: str, unit: str) -> None:
    spec = SYNTAXES[language]

    def seconds(count: int) -> float:
        data = (unit * 100 + "\n").encode() * count
        parts = parse_module.parse(data, spec)
        start = time.thread_time()
        for part in parts:
            capture(part, spec, language, data)
        return time.thread_time() - start

    seconds(1)
    assert seconds(400) < 0.1 + 8 * seconds(100), "four times the text; quadratic is sixteen times"


@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [
        ("python", "(", ")"),
        ("python", "[\n", "]\n"),
        ("json", "[", "]"),
        ("json", '{"a":\n', "}"),
        ("javascript", "if (a) {\n", "}\n"),
        ("html", "<div>\n", "</div>\n"),
        ("markdown", "> ", ""),
        ("yaml", "- ", ""),
        ("yaml", "? ", ""),
        ("markdown", "1. ", ""),
        ("markdown", "\t- ", ""),
        ("kotlin", '"${', ""),
        ("clojure", "(defn f ", ")"),
        ("c", "{", "}"),
    ],
)
def test_deep_nesting_is_complete(language: str, opening: str, closing: str) -> None:
    text = opening * 10_000 + "1" + closing * 10_000
    assert joined(chunked(text, language)) == text


@pytest.mark.parametrize(
    ("language", "line"), [("markdown", "- x"), ("markdown", "> x"), ("yaml", "a:"), ("python", "if x:")]
)
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_deep_indentation_is_complete(language: str, line: str, end: str) -> None:
    for indent in ("  ", "\t"):
        text = "".join(indent * level + line + end for level in range(700))
        assert joined(chunked(text, language)) == text


def test_a_long_array_is_cut_into_lines() -> None:
    chunks = chunked("[\n" + ",\n".join(str(n) for n in range(100_000)) + "\n]\n", "json")
    assert all(chunk.text.endswith("\n") for chunk in chunks)


def test_a_long_chain_of_branches_is_complete() -> None:
    text = "if (a) {\n" + "  f();\n} else if (b) {\n" * 10_000 + "}\n"
    assert joined(chunked(text, "javascript")) == text


@pytest.mark.parametrize("language", ["lua", "scala", "dart", "julia", "svelte"])
def test_a_text_that_no_grammar_can_read_in_time_is_complete(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tenth of the time that is usually given: the limit is met all the same."""
    monkeypatch.setattr(parse_module, "_SECONDS", 0.05)
    monkeypatch.setattr(parse_module, "_BLOCK_SECONDS", 0.005)
    monkeypatch.setattr(parse_module, "_SECONDS_PER_BYTE", 1e-6)
    text = "a lot of words that are not code\n" * 6_000
    assert joined(chunked(text, language)) == text


def test_what_parses_too_slowly_is_parsed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = next(sample for sample in SAMPLES if sample.language == "python")
    text = sample.text * 60
    monkeypatch.setattr(parse_module, "_parse_range", _refuse_the_whole(len(text.encode())))
    symbols = [chunk.symbol for chunk in chunks_of(text, "python", Budget())]
    assert symbols.count("load_session") >= 55


def _refuse_the_whole(length: int):
    original = parse_module._parse_range

    def parse_range(data, grammar, start, end, seconds):
        return None if end - start == length else original(data, grammar, start, end, 60)

    return parse_range


def test_importing_the_package_does_not_load_a_parser() -> None:
    code = "import sys, rag_ls.chunking; sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("sample", MORE_SAMPLES, ids=lambda sample: sample.language)
def test_long_documents_of_the_smaller_languages_and_rubbish_in_them_are_complete(sample: Sample) -> None:
    assert len(chunked(sample.text * (40_000 // len(sample.text)), sample.language)) > 20
    chunked("a lot of words that are not code\n" * 600, sample.language)
    chunked("{([<\"'\n" * 1_000, sample.language)


def test_unclosed_exports_and_blank_lines_take_no_time() -> None:
    for text in ("export {" * 20_000, "\n" * 200_000, "module.exports = {" * 10_000):
        start = time.process_time()
        chunk_text(text, "a.h", language="c", budget=Budget(), token_offsets=approximate_token_offsets)
        exported_names(text.encode())
        assert time.process_time() - start < 5

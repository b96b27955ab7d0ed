"""Scripts and styles inside markup are read in their own language."""

from __future__ import annotations

import pytest

from rag_ls.model import Chunk

from .checks import MEDIUM, chunks_of, joined, outline_of

SCRIPT = """<script setup lang="ts">
import { ref } from "vue";

// Counts.
export function increase(count: number, step: number = 1): number {
  const next = count + step;
  return Math.min(Math.max(next, 0), 100);
}
</script>
"""
TEMPLATE = """
<template>
  <div id="app" class="counter">
    <button @click="increase(1)">more of it, please, and quickly</button>
    <p>Some words that say what this is about, and then some more.</p>
  </div>
</template>

"""
STYLE = """<style lang="scss" scoped>
.counter { margin: 4px 8px 4px 8px; border: 1px solid black; padding: 2px; }
</style>
"""
DOCUMENTS = {
    "vue": SCRIPT + TEMPLATE + STYLE,
    "svelte": SCRIPT + TEMPLATE + STYLE,
    "html": "<html><body>\n" + SCRIPT + TEMPLATE + STYLE + "</body></html>\n",
}


def by_symbol(chunks: list[Chunk]) -> dict[str, Chunk]:
    return {chunk.symbol: chunk for chunk in chunks}


@pytest.mark.parametrize("host", DOCUMENTS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_scripts_and_styles_have_their_own_language_and_symbols(host: str, end: str) -> None:
    text = DOCUMENTS[host].replace("\n", end)
    chunks = by_symbol(chunks_of(text, host, MEDIUM))
    increase, style = chunks["increase"], chunks[".counter"]
    assert (increase.language, increase.is_declaration, increase.doc) == ("typescript", True, "Counts.")
    assert increase.signature == "export function increase(count: number, step: number = 1): number"
    assert style.language == "scss"
    assert {chunk.language for chunk in chunks.values()} == {host, "typescript", "scss"}


@pytest.mark.parametrize("host", DOCUMENTS)
def test_the_outline_has_what_is_embedded_at_its_lines(host: str) -> None:
    text = DOCUMENTS[host]
    lines = text.split("\n")
    outline = outline_of(text, host)
    assert [symbol.name for symbol in outline.symbols if symbol.kind == "function"] == ["increase"]
    for symbol in outline.symbols:
        assert symbol.name.rpartition("#")[2] in lines[symbol.start_line - 1]
    (found,) = outline.imports
    assert (found.module, found.names, lines[found.line - 1]) == ("vue", ("ref",), 'import { ref } from "vue";')


def test_a_script_in_a_language_that_is_not_known_stays_with_its_host() -> None:
    text = DOCUMENTS["html"].replace('lang="ts"', 'type="text/x-template"')
    assert {chunk.language for chunk in chunks_of(text, "html", MEDIUM)} == {"html", "scss"}


def test_a_script_of_a_few_words_stays_with_its_host() -> None:
    text = "<p>Words, and more of them, so many.</p>\n<script>go()</script>\n<p>Words again.</p>\n"
    assert {chunk.language for chunk in chunks_of(text, "html", MEDIUM)} == {"html"}


def test_several_scripts_on_one_line_are_cut() -> None:
    one = "<script>function a(x, y) { return compute(x, y) + compute(y, x) + 1; }</script>"
    text = one + "<p>x</p>" + one.replace("a(", "b(", 1) + one.replace("a(", "c(", 1)
    chunks_of(text, "html", MEDIUM)
    assert [symbol.name for symbol in outline_of(text, "html").symbols] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "broken", ["<script>function a( {", "<script>\n" * 300, "<style>a{" * 200, "<script></script>" * 50]
)
def test_broken_markup_is_cut(broken: str) -> None:
    for host in DOCUMENTS:
        text = DOCUMENTS[host] + broken + DOCUMENTS[host]
        assert joined(chunks_of(text, host, MEDIUM)) == text

"""Markdown, and prose without a grammar: it is cut at paragraphs and sentences, and its headings are its outline."""

from __future__ import annotations

from rag_ls.languages.language import Language
from rag_ls.languages.patterns import TAGGED
from rag_ls.languages.syntax import read_syntax

MARKDOWN = Language(
    "markdown", is_prose=True,
    syntax=read_syntax("markdown"),
    comments=TAGGED,
)  # fmt: skip

ASCIIDOC = Language("asciidoc", is_prose=True, heading=rb"^(?P<mark>={1,6})[ \t]+(?P<title>\S.*)$")
LATEX = Language("latex", is_prose=True, heading=rb"^[ \t]*\\(?P<mark>chapter|(?:sub){0,2}section)\*?\{(?P<title>[^{}\n]+)\}")  # fmt: skip
MAN = Language("man", is_prose=True)
MDX = Language("mdx", is_prose=True, heading=rb"^(?P<mark>\#{1,6})[ \t]+(?P<title>\S.*)$")
ORG = Language("org", is_prose=True, heading=rb"^(?P<mark>\*{1,8})[ \t]+(?P<title>\S.*)$")
RST = Language(
    "rst", is_prose=True,
    heading=(
        rb"^(?P<over>([=\-`:'\"~^_*+#<>.])\2{2,}[ \t]*\r?\n)?[ \t]?(?P<title>[^\s=\-~].*)\r?\n"
        rb"(?P<mark>([=\-`:'\"~^_*+#<>.])\5{2,})[ \t]*\r?$"
    ),
)  # fmt: skip
TEXT = Language("text", is_prose=True)
TEXTILE = Language("textile", is_prose=True, heading=rb"^h(?P<mark>[1-6])\.[ \t]+(?P<title>\S.*)$")

LANGUAGES = (MARKDOWN, ASCIIDOC, LATEX, MAN, MDX, ORG, RST, TEXT, TEXTILE)

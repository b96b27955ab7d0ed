"""Texts without a grammar: they are cut at paragraphs and sentences, and their headings are their outline."""

from __future__ import annotations

from rag_ls.languages.language import Language, Role

ASCIIDOC = Language(
    name="asciidoc",
    role=Role.DOCS,
    is_prose=True,
    suffixes=("adoc", "asciidoc", "asc"),
    heading=rb"^(?P<mark>={1,6})[ \t]+(?P<title>\S.*)$",
)
LATEX = Language(
    name="latex",
    role=Role.DOCS,
    is_prose=True,
    suffixes=("tex", "sty", "ltx", "dtx"),
    heading=rb"^[ \t]*\\(?P<mark>chapter|(?:sub){0,2}section)\*?\{(?P<title>[^{}\n]+)\}",
)
MAN = Language(
    name="man",
    is_prose=True,
    suffixes=("1", "2", "3", "4", "5", "6", "7", "8", "9"),
)
MDX = Language(
    name="mdx",
    role=Role.DOCS,
    is_prose=True,
    suffixes=("mdx",),
    heading=rb"^(?P<mark>\#{1,6})[ \t]+(?P<title>\S.*)$",
)
ORG = Language(
    name="org",
    role=Role.DOCS,
    is_prose=True,
    suffixes=("org",),
    heading=rb"^(?P<mark>\*{1,8})[ \t]+(?P<title>\S.*)$",
)
RST = Language(
    name="rst",
    role=Role.DOCS,
    is_prose=True,
    suffixes=("rest", "rst"),
    heading=(
        rb"^(?P<over>([=\-`:'\"~^_*+#<>.])\2{2,}[ \t]*\r?\n)?[ \t]?(?P<title>[^\s=\-~].*)\r?\n"
        rb"(?P<mark>([=\-`:'\"~^_*+#<>.])\5{2,})[ \t]*\r?$"
    ),
)
TEXT = Language(
    name="text",
    role=Role.DOCS,
    is_prose=True,
    suffixes=("txt", "text", "log"),
    file_names=tuple(
        "README LICENSE LICENCE COPYING AUTHORS CONTRIBUTORS CHANGELOG CHANGES NEWS TODO INSTALL NOTICE VERSION "
        "MAINTAINERS .tool-versions .nvmrc .python-version .ruby-version .node-version".split()
    ),
)
TEXTILE = Language(
    name="textile",
    role=Role.DOCS,
    is_prose=True,
    suffixes=("textile",),
    heading=rb"^h(?P<mark>[1-6])\.[ \t]+(?P<title>\S.*)$",
)

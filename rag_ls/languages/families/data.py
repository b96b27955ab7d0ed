"""Data formats, schemas, query languages and prose. Prose is cut at paragraphs and sentences; its headings are its outline."""

from __future__ import annotations

from rag_ls.languages.imports import ImportRule, read_strings
from rag_ls.languages.language import Language
from rag_ls.languages.patterns import DASHED, HASHED, SLASHED, SLASHED_OR_HASHED, TAGGED, Comments
from rag_ls.languages.reference_rules import ReferenceRule
from rag_ls.languages.registry import IncludeResolver
from rag_ls.languages.syntax import read_syntax, words

JSON = Language("json", is_matched=True, syntax=read_syntax("json"))

YAML = Language(
    "yaml",
    syntax=read_syntax("yaml"),
    comments=HASHED, is_indented=True, is_matched=True,
)  # fmt: skip

TOML = Language(
    "toml",
    syntax=read_syntax("toml"),
    comments=HASHED,
)  # fmt: skip

SQL = Language(
    "sql",
    syntax=read_syntax("sql"),
    comments=DASHED, references=ReferenceRule(),
)  # fmt: skip

GRAPHQL = Language(
    "graphql",
    syntax=read_syntax("graphql"),
    comments=HASHED, references=ReferenceRule(bases=("(implements_interfaces (named_type) @base)",), names=words("name")),
)  # fmt: skip

PROTOBUF = Language(
    "protobuf",
    syntax=read_syntax("protobuf"),
    references=ReferenceRule(), imports=ImportRule(read_strings, ("import",)), resolver=IncludeResolver,
)  # fmt: skip

THRIFT = Language(
    "thrift",
    syntax=read_syntax("thrift"),
    references=ReferenceRule(), imports=ImportRule(read_strings, ("include_statement",)), resolver=IncludeResolver,
)  # fmt: skip

PRISMA = Language(
    "prisma",
    syntax=read_syntax("prisma"),
    references=ReferenceRule(),
)  # fmt: skip

HCL = Language(
    "hcl",
    syntax=read_syntax("hcl"),
    comments=SLASHED_OR_HASHED, references=ReferenceRule(),
)  # fmt: skip

XML = Language("xml", comments=Comments(pattern=SLASHED.pattern, start=TAGGED.start, end=TAGGED.end))


MARKDOWN = Language(
    "markdown", is_prose=True,
    syntax=read_syntax("markdown")._replace(separator=" > "),
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

LANGUAGES = (
    JSON,
    XML,
    YAML,
    TOML,
    SQL,
    GRAPHQL,
    PROTOBUF,
    THRIFT,
    PRISMA,
    HCL,
    MARKDOWN,
    ASCIIDOC,
    LATEX,
    MAN,
    MDX,
    ORG,
    RST,
    TEXT,
    TEXTILE,
)

"""Vim script, read by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.languages.comments import Comments
from rag_ls.languages.import_rules import ImportRule, Taken
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import LineRule
from rag_ls.languages.reference_rules import ReferenceRule


def _read_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:source|so|runtime!?|import(?:\s+autoload)?)\s+['\"]?([^\s'\"|]+)", text)
    if match:
        yield match[1], ()


VIM = Language(
    name="vim",
    title="Vim script",
    aliases=("viml", "vimscript", "vim-script"),
    suffixes=("vim", "vimrc"),
    file_names=(".vimrc", ".gvimrc", "_vimrc", "vimrc", "gvimrc", ".ideavimrc", ".exrc"),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+(?:silent!?[ \t]+)?(?:export[ \t]+)?(?:static[ \t]+)?(?:fu(?:n|nc|nct|ncti|nctio|nction)?!?|def!?)[ \t]+"
            rb"(?:<SID>|s:|g:)?(?P<function>[A-Za-z_][\w#.:{}]*)(?=[ \t]*\()"
            rb"|^[ \t]*+(?:export[ \t]+)?(?:class|interface|enum)[ \t]+(?P<type>[A-Z]\w*)"
            rb"|^[ \t]*+com(?:mand)?!?[ \t]+(?:-\S+[ \t]+)*(?P<function2>[A-Z]\w*)"
            rb"|^(?:let[ \t]+(?:g:|s:)?|(?:export[ \t]+)?(?:const|var)[ \t]+)(?P<value>[A-Za-z_][\w#]*)[ \t]*(?==)"
            rb"|^aug(?:roup)?[ \t]+(?!END\b|end\b)(?P<module>[\w-]+)"
        ),
        noise=rb"^[ \t]*\"[^\n]*|'(?:[^'\n]|'')*'|" + rb'"(?:[^"\\\n]|\\.)*"',
        closing=rb"endf|enddef|endclass|aug(?:roup)?[ \t]+END",
        going_on=rb"\\|au(?:tocmd)?\b",
        imported=rb"^[ \t]*(?:source|so|runtime!?|import)[ \t]+[^\n]+",
        names=rb"[A-Za-z_]\w*",
        called=rb"\(",
        comment_mark=rb"^[ \t]*\"",
    ),
    comments=Comments(pattern=r'(?m)^[ \t]*"[^\n]*', start='" '),
    references=ReferenceRule(is_open=True),
    imports=ImportRule(_read_import),
)

"""Groovy, with Gradle's and Jenkins' scripts. Its grammar knows words and blocks alone, so it is read by its lines."""

from __future__ import annotations

from rag_ls.languages.comments import COMMON_LEXIS
from rag_ls.languages.conventions import Tests, suffixed_tests
from rag_ls.languages.exports import UNLESS_PRIVATE
from rag_ls.languages.import_readers import read_dotted
from rag_ls.languages.import_rules import ImportRule
from rag_ls.languages.jvm import JvmResolver
from rag_ls.languages.language import Language
from rag_ls.languages.line_rules import QUOTED_NOISE, SLASHED_NOISE, TRIPLE_NOISE, LineRule
from rag_ls.languages.reference_rules import CONSTRUCTED, NEW, PREFIX_TYPE, ReferenceRule

_ANNOTATION = rb"@\w+(?:\([^()\n]*\))?"
_MODIFIERS = (
    rb"(?:(?:public|private|protected|static|final|abstract|synchronized|default|sealed|def|var|"
    + _ANNOTATION
    + rb")[ \t]+)"
)
_NO_TYPE = rb"(?!(?:return|else|new|throw|assert|case|in|if|while|for|switch|catch|import|package|extends)\b)"
_TYPE = _NO_TYPE + rb"[A-Za-z_][\w.]*(?:<[^\n(){};=]{0,100}>)?(?:\[\])*"
_PARAMETERS = rb"\((?:[^(){};]|\((?:[^()]|\([^()]*\))*\)){0,600}+\)\s*(?:throws\s+[\w., \t]{1,200}\s*)?\{"

GROOVY = Language(
    name="groovy",
    title="Groovy",
    aliases=("jenkinsfile",),
    suffixes=("groovy", "gvy", "gy", "gsh", "gradle", "nf", "jenkinsfile"),
    file_names=("Jenkinsfile",),
    interpreters=("groovy", "nextflow"),
    lines=LineRule(
        declared=(
            rb"^[ \t]*+" + _MODIFIERS + rb"*+(?:class|interface|trait|@interface|enum|record)[ \t]+(?P<type>\w+)"
            rb"|^[ \t]*+(?:"
            + _MODIFIERS
            + rb"++(?:<[^<>\n]{1,80}>[ \t]*)?(?:"
            + _TYPE
            + rb"[ \t]+)?|"
            + _TYPE
            + rb"[ \t]+)"
            rb"(?P<function>\w+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*"
            + _PARAMETERS
            + rb"|^[ \t]+(?P<function2>[A-Z]\w*)[ \t]*"
            + _PARAMETERS
            + rb"|^[ \t]*+(?:task[ \t]+|tasks\.(?:register|create)\([ \t]*[\"'])(?P<function3>\w+)"
            rb"|^[ \t]*+(?:def|process|workflow|ext\.)[ \t]*(?P<function4>\w+)[ \t]*(?:=[ \t]*)?\{"
            rb"|^[ \t]*+(?:(?:public|private|protected|static|final|@Field)[ \t]+)++(?:[\w.<>\[\],]+[ \t]+)?(?P<value>\w+)[ \t]*(?==[^=]|$)"
        ),
        noise=TRIPLE_NOISE + rb"|" + QUOTED_NOISE + rb"|" + SLASHED_NOISE,
        imported=rb"^[ \t]*import[ \t]+[^\n;]+",
        calls=rb"(?:\.|^[ \t]*)([a-z]\w*)[ \t]*\{",
        bases=rb"\b(?:extends|implements)[ \t]+([\w., \t<>]{1,200})",
    ),
    lexis=COMMON_LEXIS,
    references=ReferenceRule(
        is_open=True, kin="jvm", own_is_implied=True, types=(PREFIX_TYPE, CONSTRUCTED, NEW), own=frozenset({"this"})
    ),
    imports=ImportRule(read_dotted),
    exports=UNLESS_PRIVATE,
    resolver=JvmResolver,
    is_named_by_tools=True,
    tests=Tests(
        file_names=suffixed_tests("groovy"),
        libraries=(("Spock", r"\bspock\.lang\b"), ("JUnit", r"\bimport (?:static )?org\.junit\b")),
    ),
)

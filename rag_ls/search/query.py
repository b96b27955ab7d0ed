"""Analyses a query: its kind, its terms, the identifiers and paths that it names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import StrEnum

from rag_ls.search.terms import IN_CODE, find_spoken_stop_words, words_of
from rag_ls.storage import find_terms, fold_text, stem
from rag_ls.util.paths import compose
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

_IDENTIFIER = lazy_pattern(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*")
_JOINTS = lazy_pattern(r"\.|::|#")
_LOOKS_LIKE_CODE = lazy_pattern(r"[a-z][A-Z]|_|\.|::|#|^[A-Z]\w*[a-z]\w*[A-Z]")
_PATH = lazy_pattern(r"(?<![\w.\-])[\w.\-]++(?:/[\w.\-]++)+|\b[\w\-]{1,255}+\.[a-z]{1,5}\b")
_PLACE = lazy_pattern(r'(?<![\w./\-])([\w./\-]*[\w\-]\.\w+)(?::|", line |\()(\d{1,7})\b')
_MAX_PLACES = 20
_SNIPPET = lazy_pattern(
    r"[;{}]|\w\(|\)\s*[:{]|\s(=|==|:=|=>|->)\s|^[ \t]*(def|class|import|from|func|fn|let|const|var|return)\s", re.M
)
_ERROR = lazy_pattern(
    r"\b(error|exception|traceback|panic(ked)?|fatal|failed|cannot|can't|could not|unable to|invalid|unexpected|undefined|"
    r"unknown|missing|not found|not registered|denied|refused|already|must be|expected)\b", re.I
)  # fmt: skip
# A program names what it complains about: `Error: ...`, "no such key 'a'", "foo.bar not found". Descriptions rarely have such a mark.
_COMPLAINT = lazy_pattern(r"""(?<!\w)["'`\[]|:\s|\w[._]\w""")
_QUESTION = lazy_pattern(
    r"^\s*(where|how|what|when|which|who|why|is|are|does|do|can|find|show|code|tests?|function|the)\b|\?\s*$", re.I
)
# Beginnings of commits' subjects and of issues' titles; with a type, as conventionalcommits.org has it.
_CHANGE = lazy_pattern(
    r"^\s*(?:\[[^\]]+\]\s*)?(?:add|allow|avoid|bump|clean|deprecate|don't|drop|enable|ensure|fix|implement|improve|introduce|make|"
    r"optimi[sz]e|refactor|remove|rename|revert|simplify|support|tweak|update|use)(?:e?[sd]|ing)?\b", re.I,
)  # fmt: skip
_CONVENTIONAL = lazy_pattern(r"^\s*(?:feat|fix|perf|refactor|style|test|build|chore|ci|docs)(?:\([^)]*\))?!?:\s")
# The first line of a text of several paragraphs is its title, unless it is code.
_TITLE = lazy_pattern(r"\s*+([^\n]*)\n[ \t\r]*\n\s*+\S")
_NO_TITLE = lazy_pattern(r"[;{}]$|^(?:def|class|import|from|func|fn|const|var|#include|[/<@])")
_MIN_TITLE_TERMS = 3
# A question where a name is declared, which may be one letter.
_DECLARED = lazy_pattern(
    r"^\s*where\s+is\s+(?:the\s+)?(?:(?:function|method|class|type|struct|trait|interface|module|macro|constant|variable)\s+)?"
    r"[`'\"]?([^\W\d]\w*)(?:\(\))?[`'\"]?\s+(?:defined|declared)\s*\??\s*$", re.I,
)  # fmt: skip
_DECLARING = frozenset({"defined", "declared"})
# A title with fewer terms than this says little: then the text's first terms are added.
_MIN_TERMS = 6
_MAX_TERMS = 32
_MAX_WORDS = 64
# Two words side by side that an identifier may join.
_PAIR = lazy_pattern(r"(?=\b([^\W\d_]{3,})[ -]([^\W\d_]{3,})\b)")
_MAX_JOINED = 16
# A phrase with fewer telling words than this is everywhere.
_MIN_TELLING_TERMS = 2
_PLURAL = lazy_pattern(r"(?<=\w{3})s$")
_BETWEEN_WORDS = lazy_pattern(r"[\W_]+")
PHRASE_WORDS = 3
"""The number of words that make a phrase."""
MAX_QUERY_CHARACTERS = 8000
"""Only the beginning of a longer query, such as a pasted file, is used. An issue with a trace is shorter."""
_TEST_WORDS = frozenset({"test", "tests", "testing", "tested", "spec", "specs", "fixture", "fixtures", "mock", "mocks"})
_DOCS_WORDS = frozenset(
    "doc docs documentation documented readme changelog changes guide tutorial manual contributing license".split()
)
_DATA_WORDS = frozenset(
    "config configuration configured configure settings yaml json toml xml ini css stylesheet workflow ci pipeline "
    "package dependency dependencies manifest linter lint tsconfig makefile dockerfile".split()
)
_MIGRATION_WORDS = frozenset({"migration", "migrations", "migrate", "migrates", "migrated", "migrating"})


class QueryKind(StrEnum):
    """The kinds of query."""

    WORDS = "words"
    IDENTIFIER = "identifier"
    PATH = "path"
    ERROR = "error"
    SNIPPET = "snippet"


@dataclass(frozen=True, slots=True)
class Query:
    """An analysed query. Places and quoted code count from the whole text; of a long text, other words count only from the title."""

    text: str
    kind: QueryKind
    terms: tuple[str, ...]
    """Lower-case search terms without stop words or duplicates; an identifier gives its parts and the whole of it."""
    parts: tuple[str, ...]
    """The terms without whole identifiers that have several parts."""
    joined: tuple[str, ...]
    """Two words side by side as one term each, such as `contenttype` and `readonly`; none of a path or code."""
    words: tuple[str, ...]
    """All words in order, identifiers taken apart."""
    phrases: tuple[str, ...]
    """Runs of `PHRASE_WORDS` words that are not all stop words."""
    names: tuple[str, ...]
    """The last parts of the symbols that it may name, in lower case."""
    paths: tuple[str, ...]
    """File names or parts of paths that it names."""
    places: tuple[tuple[str, int], ...]
    """Paths with lines that it names, as `src/a.py:12`, in its order."""
    bare_name: tuple[str, ...]
    """If the query is just one name: the name's parts, outermost first. Else empty."""
    is_change: bool
    """Whether it describes a change, as the subject of a commit does: several files answer it."""
    wants_tests: bool
    wants_docs: bool
    wants_data: bool
    wants_migrations: bool

    @property
    def line_words(self) -> list[str]:
        """The terms without plural endings, for matching inside lines."""
        return list(dict.fromkeys(_PLURAL.sub("", term) for term in self.terms))

    @property
    def line_stems(self) -> list[str]:
        """The terms as they are written, each cut to the letters that its other forms begin with, too: `retr` of retries."""
        written = {fold_text(word.lower()): word.lower() for word in re.findall(r"\w+", self.text)}
        stems = []
        for term in self.line_words:
            word, short = written.get(term, term), stem(term).rstrip("i")
            short = short if word.startswith(short) else word[:-1]
            stems.append(short if len(short) > 2 else word)
        return stems

    @property
    def is_message(self) -> bool:
        """Whether it is a message with values in it, or a trace, rather than a question."""
        return self.kind in (QueryKind.ERROR, QueryKind.SNIPPET)


def analyse(text: str) -> Query:
    """Analyse a query. Any text is a query: no character has a special meaning."""
    text = compose(text[:MAX_QUERY_CHARACTERS])
    title = _title(text)
    every_word = words_of(text)
    declared = [name.lower() for name in _DECLARED.findall(text) if name.lower() not in IN_CODE]
    dull = IN_CODE | find_spoken_stop_words(
        every_word, has_marks=any(not each.isascii() and each.isalpha() for each in text)
    )
    if any(len(word) > 1 for word in words_of(" ".join(declared))):
        dull |= _DECLARING
    of_title = _useful(find_terms(title), dull)
    words = every_word[:_MAX_WORDS]
    identifiers = _IDENTIFIER.findall(text)
    named = [
        _JOINTS.split(identifier)[-1].lower()
        for identifier in identifiers
        if _LOOKS_LIKE_CODE.search(identifier) or len(identifiers) <= 2
    ]
    named += declared
    paths = tuple(dict.fromkeys(_PATH.findall(text)))
    wanted = set(of_title)
    kind = QueryKind.WORDS if _CONVENTIONAL.match(title) else _kind(title)
    return Query(
        text=text,
        kind=kind,
        terms=_enough(of_title, _useful(find_terms(text), dull)),
        parts=_enough(_useful(words_of(title), dull), _useful(every_word, dull)),
        joined=() if kind in (QueryKind.PATH, QueryKind.SNIPPET) else _join_pairs(title),
        words=words,
        phrases=_phrases(words),
        names=tuple(dict.fromkeys(name for name in named if name not in IN_CODE)),
        paths=paths,
        places=tuple(dict.fromkeys((path, int(line)) for path, line in _PLACE.findall(text)))[:_MAX_PLACES],
        bare_name=tuple(_JOINTS.split(bare)) if _IDENTIFIER.fullmatch(bare := text.strip().removesuffix("()")) else (),
        is_change=kind is QueryKind.WORDS and bool(_CONVENTIONAL.match(title) or _CHANGE.match(title)),
        wants_tests=bool(_TEST_WORDS & wanted),
        wants_docs=bool(_DOCS_WORDS & wanted),
        wants_data=bool(_DATA_WORDS & wanted),
        wants_migrations=bool(_MIGRATION_WORDS & wanted),
    )


def has_word(text: str) -> bool:
    """Whether a query has a word to rank by; signs, emoji, a number and a single letter stand for themselves."""
    return any(map(str.isalpha, text)) and not (len(text.strip()) == 1 and text.isascii())


def longest_run(words: Sequence[str], text: str) -> int:
    """The most of `words` that a text holds one after another; 0 for less than a phrase."""
    lowered = fold_text(text).lower()
    present = [word in lowered for word in words]
    starts = [at for at in range(len(words) - PHRASE_WORDS + 1) if all(present[at : at + PHRASE_WORDS])]
    if starts and lowered.isascii():
        letters = _BETWEEN_WORDS.sub("", lowered)
        starts = [at for at in starts if "".join(words[at : at + PHRASE_WORDS]) in letters]
    # Most texts have no three words in a row, and need no splitting.
    if not starts:
        return 0
    said = f" {' '.join(words_of(text))} "
    held = {at for at in starts if f" {' '.join(words[at : at + PHRASE_WORDS])} " in said}
    longest = run = 0
    for at in range(len(words) - PHRASE_WORDS + 1):
        run = run + 1 if at in held else 0
        longest = max(longest, run)
    return longest + PHRASE_WORDS - 1 if longest else 0


def _title(text: str) -> str:
    """The title of a text that is an issue or a commit's message, else all of it."""
    found = _TITLE.match(text)
    title = found[1].strip() if found else ""
    return title if len(title.split()) >= _MIN_TITLE_TERMS and not _NO_TITLE.search(title) else text


def _enough(of_title: tuple[str, ...], of_text: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*of_title, *of_text)))[: max(len(of_title), _MIN_TERMS)]


def _join_pairs(text: str) -> tuple[str, ...]:
    pairs = [(first.lower(), second.lower()) for first, second in _PAIR.findall(text)]
    telling = [first + second for first, second in pairs if first not in IN_CODE and second not in IN_CODE]
    return tuple(dict.fromkeys(find_terms(" ".join(telling))))[:_MAX_JOINED]


def _phrases(words: Sequence[str]) -> tuple[str, ...]:
    runs = [words[at : at + PHRASE_WORDS] for at in range(len(words) - PHRASE_WORDS + 1)]
    telling = [run for run in runs if sum(word not in IN_CODE for word in run) >= _MIN_TELLING_TERMS]
    return tuple(dict.fromkeys(" ".join(run) for run in telling))[:_MAX_TERMS]


def _useful(terms: Sequence[str], dull: Collection[str]) -> tuple[str, ...]:
    useful = [term for term in terms if term not in dull and (len(term) > 1 or not term.isascii())]
    return tuple(dict.fromkeys(useful or terms))[:_MAX_TERMS]


def _kind(text: str) -> QueryKind:
    words = text.split()
    if len(words) <= 6 and any("/" in path for path in _PATH.findall(text)):
        return QueryKind.PATH
    if len(words) <= 2 and all(_IDENTIFIER.fullmatch(word.rstrip("()")) for word in words):
        return QueryKind.IDENTIFIER
    if "\n" in text.strip() or (_SNIPPET.search(text) and not _QUESTION.search(text)):
        return QueryKind.SNIPPET
    is_message = _ERROR.search(text) and _COMPLAINT.search(text) and not _QUESTION.search(text)
    return QueryKind.ERROR if is_message else QueryKind.WORDS

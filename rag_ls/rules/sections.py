"""Reads the sections of rule documents with their key rules, and judges how well each fits a planned change.

A long section is cut into several windows. Key rules are told word for word: sentences with MUST, NEVER, ALWAYS, SHALL or DO NOT. The
weights were learnt from the tuned half of the labelled changes (tests/benchmarks/rules/learn.py), by the sections of each question.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from rag_ls.chunking import RuleKind, find_fenced_lines
from rag_ls.model import Chunk
from rag_ls.rules.scopes import paths_named, without_head
from rag_ls.search import AskedTerms, fuse, load_weights, probability, rarity, term_stems
from rag_ls.storage import ChunkRow
from rag_ls.util.records import asdict, dataclass, replace

_TAG = re.compile(r"<[^<>]*>")
IMPORTING = ("agents.md", "claude.md", "gemini.md")
"""The documents of which the tools read what a word such as `@docs/style.md` names."""
_REFERENCE = re.compile(r"(?:[-*+] )?@[\w./~-]+")
_IMPORT = re.compile(r"(?<![\w@/.`])@((?:\.{1,2}/)*[\w-][\w./-]*\.(?:md|mdx|mdc|markdown))\b")
_CODE = r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t>]*(?P=fence)|\Z)|`[^`\n]++`"
# A comment that begins a line ends with its mark or with the document; one within a line does not pass an empty line.
_COMMENT = re.compile(
    rf"(?P<code>{_CODE})|(?P<before>^[^\w\n`<]*)<!--.*?(?P<end>-->|\Z)"
    r"|<!--(?:(?!\n[ \t]*\n).)*?(?:(?P<inline>-->|\Z)|(?=\n[ \t]*\n))",
    re.DOTALL | re.MULTILINE,
)
# Of no width, or that turn the order of what follows; the joiners of Persian and of emoji are none of them. The regional
# flags of emoji end in tags, and a letter has one selector of its variant: more of them hide a text.
_UNSEEN = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0061-\U000e007a]{3,5}\U000e007f)|[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a rule document with what was read of it, once for a question."""

    row: ChunkRow
    terms: SectionTerms
    key_rules: tuple[KeyRule, ...]
    """With their lines in the document."""


def read_window(row: ChunkRow) -> Window:
    """Read a window, after the line that opens the fence in which it begins."""
    chunk = row.stored.chunk
    text = chunk.overlap + chunk.text
    first_line = chunk.start_line - chunk.overlap.count("\n")
    return Window(row, read_terms(text), key_rules(text, is_yaml=chunk.language == "yaml", first_line=first_line))


def says_something(text: str) -> bool:
    """Whether a section holds more than headings, comments, marks, and names of documents to read in its place."""
    lines = (_TAG.sub("", line).strip() for line in text.splitlines())
    return any(
        line and not line.startswith("#") and any(map(str.isalnum, line)) and not _REFERENCE.fullmatch(line)
        for line in lines
    )


def find_imports(path: str, text: str) -> list[str]:
    """The documents that a document of rules imports, as `@docs/style.md`, by their paths in the project."""
    named = _IMPORT.findall(_COMMENT.sub("", text)) if "@" in text else ()
    found = dict.fromkeys(posixpath.normpath(posixpath.join(posixpath.dirname(path), each)) for each in named)
    return [each for each in found if not each.startswith("../")]


def read_visible(rows: Iterable[ChunkRow]) -> Iterator[ChunkRow]:
    """The windows of documents as people see them: without front matter, comments of HTML and unseen characters.

    A comment may go on in the next window. It becomes empty lines, so that what follows keeps its place in the document.
    """
    is_open, next_window = False, (0, 0)
    for row in sorted(rows, key=lambda row: (row.document_id, row.stored.chunk.ordinal)):
        chunk = row.stored.chunk
        if chunk.language == "yaml":
            yield row
            continue
        head, window = _cut_head(chunk), (row.document_id, chunk.ordinal)
        visible, is_open = _drop_hidden(head, is_open=is_open and window == next_window)
        next_window = (row.document_id, chunk.ordinal + 1)
        yield row if visible is chunk else replace(row, stored=replace(row.stored, chunk=visible))


def _drop_hidden(chunk: Chunk, *, is_open: bool) -> tuple[Chunk, bool]:
    """A window without what is hidden, and whether a comment goes on after it; its overlap may open a fence."""
    before = "<!--" if is_open else chunk.overlap
    given = before + chunk.text
    if "<!--" not in given and given.isascii():
        return chunk, False
    ends = [match["end"] if match["inline"] is None else match["inline"] for match in _COMMENT.finditer(given)]
    overlap = _show(before)
    text = _show(given).removeprefix(overlap)
    return replace(chunk, text=text, overlap=overlap), ends[-1:] == [""]


def _show(text: str) -> str:
    return _UNSEEN.sub(lambda match: match["flag"] or "", _COMMENT.sub(_show_match, text))


def _show_match(match: re.Match[str]) -> str:
    """Code, and `<!--` in a paragraph without an end, are seen; of a comment, its empty lines."""
    if match["code"] is not None or (match["end"] is None and match["inline"] is None):
        return match[0]
    return (match["before"] or "") + "\n" * match[0].count("\n")


def _cut_head(chunk: Chunk) -> Chunk:
    """A window without the front matter of its document."""
    text = without_head(chunk.text)
    if chunk.ordinal or len(text) == len(chunk.text):
        return chunk
    head = chunk.text[: len(chunk.text) - len(text)]
    return replace(
        chunk, text=text, start_line=chunk.start_line + head.count("\n"),
        start_byte=chunk.start_byte + len(head.encode("utf-8", "surrogatepass")),
    )  # fmt: skip


def section_of(chunk: Chunk) -> tuple[str, str, int]:
    """The section that a window is of: a heading's, or a rule of YAML. Other text has none: each window is for itself."""
    section = find_rule_key(chunk) if chunk.language == "yaml" else chunk.symbol
    return chunk.path, section, -1 if section else chunk.ordinal


def find_rule_key(chunk: Chunk) -> str:
    """`rules.ID` of a rule of YAML, one of whose keys the chunk holds; empty for other chunks."""
    rules, _, rest = chunk.symbol.partition(".")
    is_rule = chunk.language == "yaml" and rules == "rules" and rest
    return f"{rules}.{rest.partition('.')[0]}" if is_rule else ""


_SHOUTED = re.compile(r"\b(?:MUST|NEVER|ALWAYS|SHALL|SHALL NOT|DO NOT|DON'T|FORBIDDEN|REQUIRED)\b")
_COMMAND = re.compile(r"\b(?:must|never|always|shall|do not|don't|forbidden)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_YAML_ITEM = re.compile(r"^\s*-\s+(?P<value>\S.*)$")
_YAML_VALUE = re.compile(r"^\s*(?:-\s+)?[\w.-]+\s*:\s*(?P<value>\S.*)$")
_YAML_MAPPING = re.compile(r"^[\w.-]+\s*:(?:\s|$)")
_YAML_LIST = re.compile(r"^\s*(?:-\s+)?(?P<key>[\w.-]+)\s*:\s*$")
_MAX_CHARACTERS = 600
_MAX_RULES = 50


PLACE_LISTS = frozenset({"exceptions", "examples"})
"""The keys of ARCHITECTURE.yml whose lists name places in the code, and state no rule."""


@dataclass(frozen=True, slots=True)
class KeyRule:
    """A rule in the words of its document."""

    text: str
    """A part of the document, character by character; a long one ends at a word, with `…` after it."""
    line: int
    """1-based."""


def key_rules(text: str, *, is_yaml: bool, first_line: int = 1) -> tuple[KeyRule, ...]:
    """The key rules of a section that begins on `first_line` of its document.

    In prose: the paragraphs and list items that hold one of the words in capitals; if there are none, those that hold one in
    small letters. In YAML: the items of lists but of `PLACE_LISTS`, and the values that hold one of the words.
    """
    found = list(_of_yaml(text) if is_yaml else _of_prose(text))
    return tuple(KeyRule(rule.text, first_line + rule.line) for rule in found[:_MAX_RULES])


def obliges(rule: str) -> bool:
    """Whether a rule says MUST, NEVER or the like, in capitals."""
    return _SHOUTED.search(rule) is not None


def _of_prose(text: str) -> list[KeyRule]:
    blocks = list(paragraphs_in(text))
    shouted = [block for block in blocks if _SHOUTED.search(block.text)]
    return shouted or [block for block in blocks if _COMMAND.search(block.text)]


def paragraphs_in(text: str) -> Iterator[KeyRule]:
    """The paragraphs and list items of a text, without headings and code; lines count from 0."""
    lines = text.splitlines()
    code = {number for first, last in find_fenced_lines(lines) for number in range(first, last)}
    start = -1
    for number, line in enumerate([*lines, ""]):
        begins = bool(_ITEM.match(line)) and number not in code
        ends = number in code or not line.strip() or bool(_HEADING.match(line))
        if start >= 0 and (begins or ends):
            yield _block(lines, start, number)
            start = -1
        if start < 0 and not ends:
            start = number


def _block(lines: list[str], start: int, end: int) -> KeyRule:
    joined = "\n".join(lines[start:end])
    return KeyRule(_shorten(_ITEM.sub("", joined, count=1).strip()), start)


def _of_yaml(text: str) -> Iterator[KeyRule]:
    list_key = ""
    for number, line in enumerate(text.splitlines()):
        bare = line.split(" #", 1)[0].rstrip()
        if bare.lstrip().startswith("#"):
            continue
        item = _YAML_ITEM.match(bare)
        value = _YAML_VALUE.match(bare)
        if item and not _YAML_MAPPING.match(item["value"]):
            if list_key not in PLACE_LISTS:
                yield KeyRule(_strip_quotes(item["value"]), number)
            continue
        begun = _YAML_LIST.match(bare)
        list_key = begun["key"] if begun else ""
        if value and _COMMAND.search(value["value"]):
            yield KeyRule(_strip_quotes(value["value"]), number)


def _strip_quotes(value: str) -> str:
    value = value.strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return _shorten(value[1:-1] if quoted else value)


def _shorten(text: str) -> str:
    """The text; one of more than `_MAX_CHARACTERS` ends before the word that it cuts, but for a very long word."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    kept = text[:_MAX_CHARACTERS]
    whole_words = kept if text[_MAX_CHARACTERS].isspace() else re.sub(r"\s\S{0,60}\Z", "", kept)
    return f"{whole_words.rstrip()}…"


PRIORS: Mapping[str, float] = {RuleKind.CONSTRAINT: 10.0, RuleKind.PATTERN: 8.0, "code": 1.0}
"""The weight of a kind of hit before anything is known about the question."""
CLEAR_RELEVANCE = 0.5
"""From here on a rule clearly speaks of a change."""
USUAL_SIMILARITY = 0.1
"""Of a change and the sections nearest to it: with it, no rule is called clear more often without vectors than with them."""
USUAL_NEAREST_SIMILARITY = 0.23
"""Of a change and the one nearest section, for the same end."""
# A paragraph of so many different words counts for 0.7 of one that holds nothing but words of the question.
_LONG_PARAGRAPH_WORDS = 12


@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """The evidence for one section of a rule document."""

    similarity: float | None
    """The cosine similarity of the section and the question; None where there are no vectors."""
    words: float
    """The part of the question's words that the section holds, by their rarity, 0 to 1."""
    title: float
    """The same for its headings and path."""
    paragraph: float = 0.0
    """The same for the paragraph or list item that holds most: a section often lists rules about many things."""
    code: float = 0.0
    """The part of the words in the paths of the files that its last heading holds: "Filters" is for `filters.py`."""
    names_path: float = 0.0
    """The narrowness with which it names a file or folder of the question: 1 if it names that file and nothing else, little for
    a map of the project, or for a folder that holds half of it."""
    governs_path: float = 0.0
    """The part of the files that lie below the folder that its document is for, 0 for the project's own documents."""
    is_elsewhere: float = 0.0
    """The part that do not, of a document that is for a folder."""
    has_key_rules: bool = False
    """Whether it commands something, beyond telling."""
    is_plain_key: bool = False
    """Whether it is a key of a YAML file that states no rules: names, versions, lists of folders."""
    is_for_newcomers: bool = False
    """Whether it is in `CONTRIBUTING.md`, which tells mostly how to set up and whom to ask, and little of code."""
    known: float = 0.0
    """The part of the question's words that any section holds, by their rarity, the same for all sections."""
    nearest: float | None = None
    """The similarity of the question and the section nearest to it, the same for all sections: whether any rule speaks of it."""


@dataclass(frozen=True, slots=True)
class SectionTerms:
    """The stemmed terms of a section."""

    all: frozenset[str]
    paragraphs: tuple[frozenset[str], ...]


@lru_cache(maxsize=1024)
def read_terms(text: str) -> SectionTerms:
    """The terms of a section, and those of each of its paragraphs and list items."""
    return SectionTerms(
        frozenset(term_stems(text)), tuple(frozenset(term_stems(each.text)) for each in paragraphs_in(text))
    )


def relevance(evidence: RuleEvidence, kind: str) -> float:
    """The probability that a section applies, 0 to 1, after the prior of its kind."""
    similarity = USUAL_SIMILARITY if evidence.similarity is None else max(0.0, evidence.similarity)
    nearest = USUAL_NEAREST_SIMILARITY if evidence.nearest is None else max(0.0, evidence.nearest)
    told = {"bias": 1.0, **asdict(evidence), "similarity": similarity, "nearest": nearest}
    prior = PRIORS[kind] / max(PRIORS.values())
    return round(probability(fuse(told, load_weights("rules")), prior), 4)


def judge_paragraphs(asked: AskedTerms, terms: SectionTerms) -> float:
    """The part of a question's words that one paragraph of a section holds; a long paragraph counts for less."""
    shares = (
        asked.share(each) * math.sqrt(_LONG_PARAGRAPH_WORDS / (_LONG_PARAGRAPH_WORDS + len(each)))
        for each in terms.paragraphs
    )
    return max(shares, default=0.0)


def weigh_paths(paths: Iterable[str], sections: Iterable[SectionTerms]) -> AskedTerms:
    """The words in the paths of files, by the number of files and their rarity among some sections."""
    named = [term_stems(path) for path in paths]
    known = [each.all for each in sections]
    holders = {stem: sum(stem in each for each in known) for stems in named for stem in stems}
    return AskedTerms(
        {
            stem: sum(stem in stems for stems in named) * rarity(len(known), count)
            for stem, count in sorted(holders.items())
            if count
        }
    )


def judge_naming(text: str, depth: float) -> float:
    """The narrowness with which a text names a file, by the number of paths that it names and the depth of the one (`name_depth`)."""
    return depth / math.sqrt(max(1, len(paths_named(text))))

"""Finds the sections of rule documents that apply to a planned change, a diff or a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import RuleKind, is_surveyed, rule_kind
from rag_ls.rules.checks.architecture import RulesUnreadable, parse_yaml
from rag_ls.rules.other_tools import name_foreign_keys
from rag_ls.rules.scopes import (
    governs,
    home_of,
    in_scope,
    is_about,
    is_for_folder,
    is_for_others,
    is_foreign,
    may_be_for,
    may_state_globs,
    name_depth,
    stated_globs,
)
from rag_ls.rules.sections import (
    IMPORTING,
    PLACE_LISTS,
    KeyRule,
    RuleEvidence,
    SectionTerms,
    Window,
    find_imports,
    find_rule_key,
    judge_naming,
    judge_paragraphs,
    read_visible,
    read_window,
    relevance,
    says_something,
    section_of,
    weigh_paths,
)
from rag_ls.search import AskedTerms, analyse, rarity, term_stems
from rag_ls.storage import ChunkRow, ProjectIndex, stem
from rag_ls.util.records import dataclass, replace

# A project with more sections is searched by words and vectors first.
_MAX_JUDGED = 400
_MAX_BY_WORDS, _MAX_BY_MEANING = 200, 150
_MAX_COUNTED = 2000
_MAX_ROWS = 1_000_000
_MAX_REASONS = 4
_ARCHITECTURE = ("architecture.yml", "architecture.yaml")
_LAYOUT = re.compile(r"[\s*_#`-]+")
# The keys of an ARCHITECTURE.yml of set-up that list what there is.
_FACTS = frozenset({"project", "stacks", "endpoints", "events"})

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RuleQuestion:
    """The task that rules are wanted for."""

    text: str
    paths: tuple[str, ...] = ()
    """The files or folders that are about to change."""
    likely: tuple[str, ...] = ()
    """The files that hold most of the text's words: where no paths are given, the change will probably touch these."""
    vector: Vector | None = None
    """The embedding of the text by the index's active model; None without one."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question, as sections are compared with it."""

    question: RuleQuestion
    words: AskedTerms
    spelled: Mapping[str, str]
    """The words as they are asked, by stem."""
    code: AskedTerms
    """The words in the paths of its files."""
    known: float
    """The part of the question's words that any section holds."""
    nearest: float | None
    """The similarity of the nearest section."""
    commanding: Collection[tuple[str, str, int]]
    """The sections with a key rule in any of their windows."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the question, else those that it will probably touch."""
        return self.question.paths or self.question.likely


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A section of a rule document, with how probably it applies."""

    row: ChunkRow
    kind: RuleKind
    relevance: float
    key_rules: tuple[KeyRule, ...]
    why: str
    names_path: bool
    """Whether it names a file of the question or a folder of it, or stands in a folder above one."""
    names_file: bool
    """Whether it names a file of the question itself, or states globs that match one."""
    evidence: RuleEvidence
    is_surveyed: bool = False
    """Whether its document is what set-up wrote from the code, not the team's own words."""


@dataclass(frozen=True, slots=True)
class FoundRules:
    """The answer to a question about rules."""

    hits: list[RuleHit]
    """The sections that apply, the most probable first."""
    has_rules: bool
    """Whether the project has rules at all, for whichever files."""


class RuleFinder:
    """Searches the rule documents of one project. Safe from several threads."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._store = index.checkout

    def _documents(self, hidden: Collection[int], files: Collection[str] = ()) -> dict[int, str]:
        """The rule documents by id, without those that another version of the same file replaces, and those of others' code.

        Others' rules count for a change of their own files; what a document imports is a part of it.
        """
        every = {number: path for number, path, _, _ in self._store.document_paths() if number not in hidden}
        found = {
            number: path
            for number, path in every.items()
            if rule_kind(path) is not None and (not is_foreign(path) or any(governs(path, file) for file in files))
        }
        unread = [each for each in found.items() if each[1].lower().endswith(IMPORTING)]
        while unread:
            number, path = unread.pop()
            named = find_imports(path, self._store.chunks.text_of(number))
            if named:
                imported = [(each, place) for each, place in every.items() if place in named and each not in found]
                unread += imported
                found.update(imported)
        return found

    def chunk_counts(self, hidden: Collection[int]) -> dict[str, int]:
        """The number of chunks of constraints, of patterns, and of all else (`codebase`)."""
        documents = self._documents(hidden)
        constraints, patterns = (
            len(
                self._store.chunks.first_of(
                    [each for each, path in documents.items() if rule_kind(path) is kind], _MAX_ROWS
                )
            )
            for kind in (RuleKind.CONSTRAINT, RuleKind.PATTERN)
        )
        codebase = self._store.counts().chunks - constraints - patterns
        return {"codebase": codebase, "constraints": constraints, "patterns": patterns}

    def find(self, question: RuleQuestion, hidden: Collection[int]) -> FoundRules:
        """The sections that apply; those that only hold a heading are left out."""
        documents = self._documents(hidden, question.paths)
        stated = {
            number: self._store.chunks.text_of(number)
            for number, path in documents.items()
            if path.lower().endswith(_ARCHITECTURE)
        }
        for number, text in stated.items():
            if name_foreign_keys(text, documents[number]):
                del documents[number]
        others = {
            (documents[number], key, -1)
            for number, text in stated.items()
            if number in documents and question.paths
            for key in find_rules_for_others(text, documents[number], question.paths)
        }
        return FoundRules(self._find_sections(question, documents, others) if documents else [], bool(documents))

    def _find_sections(
        self, question: RuleQuestion, documents: dict[int, str], others: Collection[tuple[str, str, int]]
    ) -> list[RuleHit]:
        similar = self._similarities(question, documents)
        globs = self._globs(documents)
        windows = [
            read_window(row)
            for row in read_visible(self._sections(question, documents, similar))
            if self._may_apply(row, question, globs.get(row.document_id, ""))
            and section_of(row.stored.chunk) not in others
        ]
        asked = self._read_question(question, windows, max(similar.values(), default=None))
        # Beside sections with vectors, one that has none yet is as near as they are on the whole.
        usual = float(np.mean(list(similar.values()))) if similar else None
        hits = [
            self._judge_section(
                each, asked, similar.get(each.row.text_hash, usual), globs.get(each.row.document_id, "")
            )
            for each in windows
        ]
        shown = sorted(filter(_is_told, hits), key=_place)
        sections = [
            _join_windows(list(each)) for _, each in groupby(shown, key=lambda hit: section_of(hit.row.stored.chunk))
        ]
        surveyed = {
            number
            for number in {hit.row.document_id for hit in sections}
            if is_surveyed(documents[number], self._store.chunks.text_of(number))
        }
        marked = [replace(hit, is_surveyed=hit.row.document_id in surveyed) for hit in sections]
        marked = [hit for hit in marked if not (hit.is_surveyed and _is_fact(hit))]
        return _leave_out_copies(sorted(marked, key=lambda hit: (-hit.relevance, _place(hit))))

    def _globs(self, documents: dict[int, str]) -> dict[int, str]:
        """The globs that the heads of documents state, by document."""
        heads = [
            self._store.chunks.of_document(number)[:1] for number, path in documents.items() if may_state_globs(path)
        ]
        found = ((row.document_id, stated_globs(row.stored.chunk.text)) for rows in heads for row in rows)
        return {number: globs for number, globs in found if globs}

    def _may_apply(self, row: ChunkRow, question: RuleQuestion, globs: str) -> bool:
        """Whether a section may be for one of the files of the question; any may where no file is known."""
        path, paths = row.stored.chunk.path, question.paths
        if not paths:
            return True
        if globs:
            return any(in_scope(globs, path, each) for each in paths)
        return any(not is_for_others(path, each) or is_about(row.stored.chunk.text, each) for each in paths)

    def _sections(
        self, question: RuleQuestion, documents: dict[int, str], similar: dict[bytes, float]
    ) -> Sequence[ChunkRow]:
        """The sections to judge: all, or those that words and vectors choose among very many."""
        rows = self._store.chunks.first_of(documents, _MAX_JUDGED + 1)
        if len(rows) > _MAX_JUDGED:
            said = self._index.lexical.search(analyse(question.text).terms, _MAX_BY_WORDS, documents)
            nearest = sorted(similar, key=lambda each: -similar[each])[:_MAX_BY_MEANING]
            meant = [row.row for row in self._store.chunks.with_texts(nearest) if row.document_id in documents]
            rows = [*(each.row for each in said), *meant]
        return list(self._store.chunks.by_row(rows).values())

    def _similarities(self, question: RuleQuestion, documents: Collection[int]) -> dict[bytes, float]:
        model = self._store.embeddings.active_model()
        if question.vector is None or not model:
            return {}
        hashes = self._store.chunks.text_hashes_of_documents(documents)
        return self._index.vectors.similarities(model, question.vector, hashes)

    def _read_question(self, question: RuleQuestion, windows: Sequence[Window], nearest: float | None) -> _Asked:
        """The question's words by their rarity in the whole project: what the code says everywhere tells little."""
        total = max(self._store.chunks.estimated_count(), 1)
        parts = analyse(question.text).parts
        holders = self._index.lexical.frequencies(parts, _MAX_COUNTED)
        weights = {stem(part): rarity(total, holders[part]) for part in parts}
        sections = [each.terms for each in windows]
        code = weigh_paths(question.paths or question.likely, sections)
        words = AskedTerms(weights)
        known = words.share(frozenset().union(*(each.all for each in sections)))
        commanding = {section_of(each.row.stored.chunk) for each in windows if each.key_rules}
        return _Asked(
            question=question, words=words, spelled={stem(part): part for part in parts}, code=code,
            known=known, nearest=nearest, commanding=commanding,
        )  # fmt: skip

    def _judge_section(self, window: Window, asked: _Asked, similarity: float | None, globs: str) -> RuleHit:
        chunk, paths = window.row.stored.chunk, asked.question.paths
        kind = rule_kind(chunk.path) or RuleKind.CONSTRAINT
        # A document whose globs match none of the files is left out.
        named = next(filter(None, (is_about(chunk.text, path) for path in paths)), "") or (globs if paths else "")
        depth = 1.0 if globs and paths else max((name_depth(chunk.text, path) for path in paths), default=0.0)
        is_above = any(governs(chunk.path, path) for path in paths)
        is_yaml = chunk.language == "yaml"
        terms = window.terms
        below = [governs(chunk.path, path) for path in asked.files] if is_for_folder(chunk.path) else []
        evidence = RuleEvidence(
            similarity=similarity,
            words=asked.words.share(terms.all),
            title=asked.words.share(term_stems(f"{chunk.symbol} {chunk.path}")),
            paragraph=judge_paragraphs(asked.words, terms),
            code=asked.code.share(term_stems(chunk.symbol.rsplit(" > ", 1)[-1])),
            names_path=judge_naming(chunk.text, depth),
            governs_path=below.count(True) / len(below) if below else 0.0,
            is_elsewhere=below.count(False) / len(below) if below else 0.0,
            has_key_rules=section_of(chunk) in asked.commanding,
            is_plain_key=is_yaml and not chunk.symbol.startswith("rules"),
            is_for_newcomers=chunk.path.lower().endswith("contributing.md"),
            known=asked.known,
            nearest=asked.nearest,
        )
        return RuleHit(
            row=window.row, kind=kind, relevance=relevance(evidence, kind), key_rules=window.key_rules,
            why="; ".join(filter(None, (
                f"names {named}" if named else "", "its folder" if is_above else "",
                "files called so" if evidence.code else "",
                _list_words(asked, terms),
                f"meaning {similarity:.2f}" if similarity else "",
            ))), names_path=bool(named) or is_above, names_file=depth == 1.0,
            evidence=evidence,
        )  # fmt: skip


def find_rules_for_others(text: str, rule_path: str, paths: Sequence[str]) -> Iterator[str]:
    """The keys (`rules.ID`) of the rules of an ARCHITECTURE.yml whose globs leave out all of some files and folders.

    Globs count from the project's root or, for rules of a package, from its folder.
    """
    try:
        content, _ = parse_yaml(text, rule_path)
    except RulesUnreadable:
        return
    stated = content.get("rules") if isinstance(content, Mapping) else None
    places = [place.strip("/") for path in paths for place in (path, path.removeprefix(f"{home_of(rule_path)}/"))]
    for rule in stated if isinstance(stated, list) else ():
        if isinstance(rule, Mapping) and not any(may_be_for(rule, place) for place in places):
            yield f"rules.{str(rule.get('id', '')).partition('.')[0]}"


def _is_fact(hit: RuleHit) -> bool:
    """Whether a section of ARCHITECTURE.yml is one that no change can keep or break: stacks, lists of endpoints."""
    chunk = hit.row.stored.chunk
    return chunk.language == "yaml" and chunk.symbol.partition(".")[0] in _FACTS


def _list_words(asked: _Asked, terms: SectionTerms) -> str:
    """The weightiest of the question's words that a section holds, as they are spelled."""
    weights = asked.words.weights
    held = sorted(terms.all.intersection(weights), key=lambda term: (-weights[term], term))[:_MAX_REASONS]
    return f"says {', '.join(asked.spelled.get(term, term) for term in held)}" if held else ""


def _is_told(hit: RuleHit) -> bool:
    """Whether a section may be shown. A list of places, such as a rule's known exceptions, speaks of its own files alone."""
    chunk = hit.row.stored.chunk
    is_places = chunk.language == "yaml" and chunk.symbol.rpartition(".")[2] in PLACE_LISTS
    return says_something(chunk.text) and (hit.names_path or not is_places)


def _leave_out_copies(hits: Iterable[RuleHit]) -> list[RuleHit]:
    """The first of the sections that say the same in the same words, as those of an `AGENTS.md` and its copy for another tool."""
    told: dict[tuple[str, ...], RuleHit] = {}
    for hit in hits:
        # A sign may make a rule the opposite, and the key rules may be those of other windows.
        said = [hit.row.stored.chunk.text, *(rule.text for rule in hit.key_rules)]
        told.setdefault(tuple(_LAYOUT.sub("", text) for text in said), hit)
    return list(told.values())


def _join_rule(windows: Sequence[RuleHit], best: RuleHit) -> RuleHit:
    """A rule of YAML as a whole: one of its keys alone says nothing."""
    chunks = [hit.row.stored.chunk for hit in windows]
    whole = replace(
        chunks[0], symbol=find_rule_key(chunks[0]), text="".join(chunk.text for chunk in chunks), overlap="",
        end_byte=chunks[-1].end_byte, end_line=chunks[-1].end_line,
    )  # fmt: skip
    rules = tuple(rule for hit in windows for rule in hit.key_rules)
    stored = replace(best.row.stored, chunk=whole)
    return replace(best, row=replace(best.row, stored=stored), key_rules=rules)


def _join_windows(windows: Sequence[RuleHit]) -> RuleHit:
    """A section as its best window: the parts of a long section do not compete. One that names a file has the key rules of all."""
    best = max(windows, key=lambda hit: hit.relevance)
    if find_rule_key(best.row.stored.chunk):
        named = next((hit for hit in windows if hit.names_path), best)
        return _join_rule(windows, replace(best, names_path=named.names_path, names_file=named.names_file))
    if not any(hit.names_path for hit in windows):
        return best
    rules = tuple(rule for hit in windows for rule in hit.key_rules)
    return replace(best, key_rules=rules, names_path=True, names_file=any(hit.names_file for hit in windows))


def _place(hit: RuleHit) -> tuple[int, str, int]:
    chunk = hit.row.stored.chunk
    return chunk.path.count("/"), chunk.path, chunk.start_line

"""The rules of a project for one client's session: the sections that apply, and checks of documents, unsaved text among them."""

from __future__ import annotations

import logging
import operator
import os
import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag_ls.chunking import rule_kind
from rag_ls.embedding import HostedModel
from rag_ls.engine.code.hits import embed_text, mean_of_pieces
from rag_ls.engine.requests import SearchRequest
from rag_ls.languages import SourceTree
from rag_ls.model import Outline, StoredChunk
from rag_ls.rules import (
    RULE_FILES,
    CheckedCode,
    CheckedDocument,
    FoundRules,
    ImportGraph,
    RuleFiles,
    RuleHit,
    RuleProblem,
    RuleQuestion,
    RuleSet,
    Violation,
    applies,
    find_packages_rules,
    leave_out_former,
    needs_chains,
    needs_imports,
    needs_symbols,
    read_code,
    resolve_imports,
    structures_apart,
    violations,
)
from rag_ls.util.paths import file_stamp, text_in
from rag_ls.util.records import dataclass
from rag_ls.util.secret_texts import blank_secrets

if TYPE_CHECKING:
    from rag_ls.engine.session import ProjectSession

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RuleTexts:
    """The texts of the files of a project, the unsaved ones of those that state rules before their files."""

    root: Path
    unsaved: Mapping[str, str]

    def __call__(self, path: str) -> str:
        """A file's text; empty if it cannot be read."""
        return self.unsaved[path] if path in self.unsaved else text_in(self.root, path)


@dataclass(frozen=True, slots=True)
class _Checked:
    """The code of a document, and what breaks a rule in it."""

    code: CheckedCode
    document: CheckedDocument
    found: tuple[Violation, ...] = ()

    def locate(self, former: _Checked | None = None) -> list[Violation]:
        """The violations by the lines of the file, without those that a former text had."""
        new = leave_out_former(self.found, self.document, former.found, former.document) if former else self.found
        return self.code.locate(new)


@dataclass(frozen=True, slots=True)
class FileFindings:
    """The breaches of rules in a file as it is on disk, and the problems of the rules that it states."""

    version: str
    """Another one wherever the findings may be others: it names the file's stamp, and the rules and imports in force."""
    violations: tuple[Violation, ...] = ()
    problems: tuple[RuleProblem, ...] = ()


class ProjectChecks:
    """The checkable rules of a project as one client sees its files. Safe from several threads."""

    def __init__(self, session: ProjectSession) -> None:
        self._session = session
        self._files = RuleFiles(session.project.cutters)
        self._known: tuple[tuple[object, ...], RuleSet] | None = None
        self._packages: tuple[object, list[str]] | None = None
        self._found: dict[str, FileFindings] = {}
        self._world: tuple[object, ...] = ()
        self._world_name = ""

    def rules(self) -> RuleSet:
        """The rules in force, and what is wrong with the files that state them, as they are typed."""
        key = self._read_state()
        if self._known is None or self._known[0] != key:
            root = self._session.project.root
            files = self._find_files()
            unsaved = {path: text for path in files if (text := self._read_unsaved(path)) is not None}
            present = {path for path in files if path in unsaved or os.path.isfile(root / path)}
            paths = {path for _, path, _, _ in self._session.project.index.checkout.document_paths()} | present
            self._known = (key, self._files.read(SourceTree(paths, RuleTexts(root, unsaved))))
        return self._known[1]

    def problems(self, path: str) -> list[RuleProblem]:
        """The problems of the rules that a file states."""
        return [problem for problem in self.rules().problems if problem.path == path]

    def violations(self, path: str, text: str, language: str = "") -> list[Violation]:
        """The places that break a rule in a text of the document at a path, in order of lines."""
        return self._check_text(self.rules(), path, blank_secrets(path, text).text, language).locate()

    def violations_of_edit(self, path: str, former_text: str, text: str) -> list[Violation]:
        """As `violations`, without those that the text had before an edit."""
        rules = self.rules()
        former = self._check_text(rules, path, blank_secrets(path, former_text).text)
        return self._check_text(rules, path, blank_secrets(path, text).text).locate(former)

    def everywhere(self) -> Mapping[str, FileFindings]:
        """The findings of each file, by path; a file is read and checked anew only where they may be others than before."""
        rules = self.rules()
        paths = {path for _, path, _, _ in self._session.project.index.checkout.document_paths()}
        world = self._name_world(rules)
        self._found = {path: self._of_file(rules, world, path) for path in sorted({*paths, *_problem_paths(rules)})}
        return self._found

    def of_file(self, path: str) -> FileFindings:
        """The findings of one file; none if it is not indexed."""
        rules = self.rules()
        if self._session.document(path) is None and path not in _problem_paths(rules):
            return FileFindings("")
        return self._of_file(rules, self._name_world(rules), path)

    def _of_file(self, rules: RuleSet, world: str, path: str) -> FileFindings:
        modified, size = file_stamp(self._session.project.root / path)
        version, former = f"{world}-{modified:x}-{size:x}", self._found.get(path)
        if former is not None and former.version == version:
            return former
        is_checked = any(applies(rule, path) for rule in rules.rules)
        found = self._check_text(rules, path, self.text_of(path)).locate() if is_checked else ()
        return FileFindings(version, tuple(found), tuple(each for each in rules.problems if each.path == path))

    def _name_world(self, rules: RuleSet) -> str:
        """A name for the rules, and for what they see of other files; it changes with either."""
        imports = self._session.project.imports
        resolver = imports.resolver() if needs_imports(rules) else None
        world = (rules, resolver, imports.graph(max_age_s=0) if needs_chains(rules) else None)
        if len(world) != len(self._world) or any(map(operator.is_not, world, self._world)):
            self._world, self._world_name = world, secrets.token_hex(6)
        return self._world_name

    def text_of(self, path: str) -> str:
        """The text of a file of the project, as it is on disk; empty if it cannot be read."""
        return text_in(self._session.project.root, path)

    def _check_text(self, rules: RuleSet, path: str, text: str, language: str = "") -> _Checked:
        mine = RuleSet(tuple(rule for rule in rules.rules if applies(rule, path)))
        code = read_code(path, text, language)
        if not rules.rules:
            return _Checked(code, CheckedDocument(path, code.language, code.text))
        reads = needs_imports(mine) or needs_symbols(mine)
        outline = self._session.project.cutters.outline(code.text, path, code.language) if reads else Outline()
        graph = ImportGraph({})
        if needs_imports(mine):
            edges = resolve_imports(self._session.project.imports.resolver(), path, code.language, outline.imports)
            graph = (self._session.project.imports.graph() if needs_chains(mine) else graph).with_document(path, edges)
        document = CheckedDocument(path, code.language, code.text, outline.imports, outline.symbols)
        ids = {rule.id for rule in rules.rules}
        structures = partial(structures_apart, self._session.project.cutters)
        found = violations(document, mine, graph, known=ids, structures=structures)
        return _Checked(code, document, tuple(found))

    def _find_files(self) -> tuple[str, ...]:
        """The files that may state rules: those of the project, and of packages that the index knows."""
        checkout = self._session.project.index.checkout
        changes = checkout.changes()
        if self._packages is None or self._packages[0] != changes:
            self._packages = changes, find_packages_rules(path for _, path, _, _ in checkout.document_paths())
        return (*RULE_FILES, *self._packages[1])

    def _read_state(self) -> tuple[object, ...]:
        """A value that changes where a file that states rules does."""
        root = self._session.project.root
        texts = ((path, self._read_unsaved(path)) for path in self._find_files())
        return tuple((path, file_stamp(root / path) if unsaved is None else unsaved) for path, unsaved in texts)

    def _read_unsaved(self, path: str) -> str | None:
        """The unsaved text of a document, as this client sees it; None where the file counts."""
        document = self._session.document(path)
        if document is None or not document.session:
            return None
        return self._session.store.chunks.text_of(document.id)


def _problem_paths(rules: RuleSet) -> set[str]:
    return {problem.path for problem in rules.problems}


# Of a longer description of a change, its beginning counts.
_MAX_CHARACTERS = 4000
_LIKELY_FILES = 3


def find_rules(
    session: ProjectSession, text: str, paths: Sequence[str], *, wait_for_model_s: float = 0.0
) -> FoundRules:
    """The sections of rule documents that apply to a change in words, and to the files that it is about."""
    session.catch_up()
    model = session.project.model(wait_for_model_s)
    likely = () if paths else _find_likely_files(session, text)
    question = RuleQuestion(text, tuple(paths), likely, embed_text(model, text[:_MAX_CHARACTERS], _embed_question))
    return session.rule_finder.find(question, session.hidden_documents())


def find_rules_about(session: ProjectSession, path: str) -> list[RuleHit]:
    """The sections that name a file or its folder, or stand in a folder above it. Calls no model."""
    found = session.rule_finder.find(RuleQuestion(path, (path,)), session.hidden_documents())
    return [hit for hit in found.hits if hit.names_path]


def count_rule_chunks(session: ProjectSession) -> dict[str, int]:
    """The numbers of chunks that hold code and other text, constraints, and patterns."""
    return session.rule_finder.chunk_counts(session.hidden_documents())


def _find_likely_files(session: ProjectSession, text: str) -> tuple[str, ...]:
    """The files of code that a change in words will probably touch: those that a search for it finds."""
    hits = session.search(SearchRequest(text, _LIKELY_FILES, by_file=True)).hits if text.strip() else ()
    paths = [hit.item.chunk.path for hit in hits if isinstance(hit.item, StoredChunk)]
    return tuple(path for path in dict.fromkeys(paths) if rule_kind(path) is None)


def _embed_question(model: HostedModel, text: str) -> NDArray[np.float32]:
    return mean_of_pieces(lambda pieces: np.stack(list(map(model.embed_query, pieces))), text)

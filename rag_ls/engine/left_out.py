"""The files that are left out of a project's index: the patterns in force, and what a search has not looked at."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from rag_ls.config.loading import load_settings
from rag_ls.config.settings import Settings
from rag_ls.errors import StoreUnavailable
from rag_ls.indexing import Patterns, rule_files, rules_note
from rag_ls.languages import detect_language
from rag_ls.project import Project
from rag_ls.search.roles import BY_PATH, Roles
from rag_ls.search.view import NO_FILTERS, Filters, accepts
from rag_ls.storage import CheckoutIndex
from rag_ls.util.paths import compose, file_stamp
from rag_ls.util.text import count_of

# Reasons of files without text of the project: pictures, programs, and links to files that are indexed elsewhere.
_NO_TEXT = frozenset({"binary", "symbolic link", "not a regular file", "outside the project"})
# Reasons of files that seldom hold what is looked for, and are often many: they come after those that may hide code.
_SELDOM_MEANT = frozenset({"secret", "data", "generated", "minified"})
_MAX_REASONS = 4


def count_left_out(store: CheckoutIndex, filters: Filters = NO_FILTERS, roles: Roles = BY_PATH) -> Counter[str]:
    """The files that are not indexed, pass the filters and may hold text, by reason."""
    if filters == NO_FILTERS:
        # Asked at each question that is a name, so this must look at no file.
        return without_textless(Counter(store.skipped_counts()))
    skipped = store.skipped()
    passes = accepts(filters, roles, set(map(compose, skipped)))
    reasons = (each.reason for path, each in skipped.items() if passes(path, detect_language(path) or "text"))
    return without_textless(Counter(reasons))


def count_secret_lines(store: CheckoutIndex, filters: Filters = NO_FILTERS, roles: Roles = BY_PATH) -> Counter[str]:
    """The lines that look like secrets, of the documents that pass the filters, by path."""
    found = store.secret_lines()
    if not found or filters == NO_FILTERS:
        return Counter(found)
    passes = accepts(filters, roles, set(map(compose, found)))
    return Counter({path: count for path, count in found.items() if passes(path, detect_language(path) or "text")})


def without_textless(counts: Mapping[str, int]) -> Counter[str]:
    """The counts, by reason, of the files that may hold text."""
    return Counter({reason: count for reason, count in counts.items() if reason not in _NO_TEXT})


def describe_left_out(counts: Counter[str], store: CheckoutIndex | None = None) -> str:
    """Counts of files that are not indexed, in words, with one of them if their store is given; empty if there are none."""
    if not counts:
        return ""
    named = sorted(counts.items(), key=lambda item: (item[0] in _SELDOM_MEANT, -item[1]))[:_MAX_REASONS]
    total = counts.total()
    others = total - sum(count for _, count in named)
    reasons = ", ".join(
        [*(f"{count:,} {reason}" for reason, count in named), *([f"{others:,} more"] if others else [])]
    )
    example = "; e.g. " + "".join(store.skipped_because(named[0][0], 1)) if store else ""
    files = f"{count_of(total, 'file')} {'was' if total == 1 else 'were'}"
    return f"{files} not looked at ({reasons}{example}): index_status with skipped = true lists them"


_PATTERNS = "patterns"
_EVERYTHING = Patterns(("*",))
_KEPT = "the patterns that it had before still count"
_UNKNOWN = "what it excludes is not known, so nothing is indexed until it is mended"


class Exclusions:
    """Keeps the patterns in force. A settings file that cannot be read never lets more files in."""

    def __init__(self, project: Project, store: CheckoutIndex) -> None:
        self._project = project
        self._store = store
        self.patterns = _EVERYTHING
        self.are_known = True
        """Whether the patterns could ever be read: else nothing is indexed."""
        self._doubt = ""
        self._stamps: dict[Path, tuple[int, int]] = {}

    def update(self, settings: Settings) -> None:
        """Take over the patterns of new settings, and look at the files that they come from."""
        self._stamps = {file: file_stamp(file) for file in rule_files(self._project.root)}
        problems = load_settings(self._project, environment={}).problems
        wanted = Patterns.of(settings.index)
        hiding = next((problem for problem in problems if problem.hides_patterns), None)
        if hiding is None:
            self.patterns, self.are_known, self._doubt = wanted, True, ""
            # On a full disk the former patterns stay written; the new ones count all the same.
            with contextlib.suppress(StoreUnavailable):
                if self._read_former() != wanted:
                    self._store.set_meta(_PATTERNS, json.dumps([wanted.exclude, wanted.include, wanted.submodules]))
            return
        former = self._read_former()
        self.are_known = former is not None
        self._doubt = f"{hiding.source} cannot be used: {_KEPT if self.are_known else _UNKNOWN}"
        if former is None:
            self.patterns = _EVERYTHING
        else:
            exclude = tuple(dict.fromkeys((*former.exclude, *wanted.exclude)))
            self.patterns = Patterns(
                exclude, wanted.include or former.include, submodules=wanted.submodules and former.submodules
            )

    def _read_former(self) -> Patterns | None:
        """The patterns when the settings could last be read."""
        kept = self._store.meta(_PATTERNS)
        if not kept:
            return None
        exclude, include, *rest = json.loads(kept)
        return Patterns(tuple(exclude), tuple(include), submodules=all(rest))

    def are_outdated(self) -> bool:
        """Whether one of git's rule files outside the tree, which nobody watches, changed since the last `update`."""
        return any(file_stamp(file) != stamp for file, stamp in self._stamps.items())

    @property
    def note(self) -> str:
        """The reason why files may be left out that belong in the index, with the remedy; empty where the rules are known."""
        return "; ".join(filter(None, (self._doubt, rules_note(self._store))))

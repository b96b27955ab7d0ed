"""The patterns that keep files of one project out of its index, also while a settings file cannot be read."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from rag_ls.config.loading import load_settings
from rag_ls.config.settings import Settings
from rag_ls.errors import StoreUnavailable
from rag_ls.indexing import Patterns, rule_files, rules_note
from rag_ls.project import Project
from rag_ls.storage import CheckoutIndex
from rag_ls.util.paths import file_stamp

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
        self._doubt = f"{hiding.place} cannot be used: {_KEPT if self.are_known else _UNKNOWN}"
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

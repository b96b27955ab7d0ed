"""Gathers a project's rules from the files that state them: the project's own, and those of its folders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from rag_ls.languages import SourceTree
from rag_ls.rules.checks.architecture import RulesUnreadable, read_architecture
from rag_ls.rules.checks.records import (
    Check,
    CheckRule,
    ImportCheck,
    LayersCheck,
    PlaceCheck,
    RuleSet,
)
from rag_ls.rules.scopes import is_foreign
from rag_ls.util.path_globs import matches_any, split_globs

RULE_FILES = ("ARCHITECTURE.yml", "ARCHITECTURE.yaml")
"""The files that may state rules."""

_OF_PACKAGES = tuple(f"/{name}" for name in RULE_FILES)
_ARROW = " -> "


class RuleFiles:
    """The rules of a project. A file that cannot be read keeps the rules that it had when it last could."""

    def __init__(self, read_file: Callable[[str, SourceTree], RuleSet | None] | None = None) -> None:
        """`read_file` does what `read_rule_file` does, perhaps in a process that may die."""
        self._read_file = read_file or read_rule_file
        self._good: dict[str, RuleSet] = {}

    def read(self, tree: SourceTree) -> RuleSet:
        """The rules that the files of a tree state now; `tree.read` gives their texts."""
        found = RuleSet()
        for path in (*RULE_FILES, *find_packages_rules(tree.paths)):
            try:
                stated = self._read_file(path, tree) if path in tree.paths else None
                if stated is None:
                    self._good.pop(path, None)
                else:
                    self._good[path] = stated
                    found += stated
            except RulesUnreadable as error:
                former = self._good.get(path, RuleSet())
                found += RuleSet(former.rules, (error.problem,))
        return found


def find_packages_rules(paths: Iterable[str]) -> list[str]:
    """The files among some that state the rules of a folder of the project."""
    return sorted(path for path in paths if path.endswith(_OF_PACKAGES) and not is_foreign(path))


def read_rule_file(path: str, tree: SourceTree) -> RuleSet | None:
    """The rules of one of `RULE_FILES`, or of a package's; None if it is empty or cannot be opened. Raises `RulesUnreadable`."""
    if not tree.read(path).strip():
        return None
    return place_rules(read_architecture(tree.read(path), path), path.rpartition("/")[0], tree.paths)


def place_rules(stated: RuleSet, folder: str, paths: Collection[str]) -> RuleSet:
    """The rules of a file in a folder of the project: its globs count from there, and it is for no file elsewhere.

    `paths` are the project's files. The imports that a rule names may be outside of the folder, or modules.
    """
    return replace(stated, rules=tuple(_place_rule(rule, folder, paths) for rule in stated.rules)) if folder else stated


def _place_rule(rule: CheckRule, folder: str, paths: Collection[str]) -> CheckRule:
    see = f"{folder}/{rule.see}"
    return replace(
        rule,
        check=_place_check(rule.check, folder, paths),
        files=_below(folder, rule.files) or (f"{folder}/**",),
        not_files=_below(folder, rule.not_files),
        exceptions=tuple(
            _ARROW.join(_imported(folder, (each,), paths)[0] for each in exception.split(_ARROW))
            for exception in rule.exceptions
        ),
        see=see if see in paths else rule.see,
    )


def _place_check(check: Check, folder: str, paths: Collection[str]) -> Check:
    match check:
        case ImportCheck():
            forbidden, allowed, required = (
                _imported(folder, each, paths) for each in (check.forbidden, check.allowed, check.required)
            )
            return replace(check, forbidden=forbidden, allowed=allowed, required=required)
        case LayersCheck():
            return replace(check, layers=tuple(_below(folder, layer) for layer in check.layers))
        case PlaceCheck():
            return replace(check, inside=_below(folder, check.inside))
        case _:
            return check


def _below(folder: str, globs: Sequence[str]) -> tuple[str, ...]:
    """Globs that count from a folder, as they count from the project's root; those that name the folder do already."""
    return tuple(",".join(_below_one(folder, each) for each in split_globs(glob)) for glob in globs)


def _below_one(folder: str, glob: str) -> str:
    sign, inner = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    inner = inner.removeprefix("./").lstrip("/")
    if inner.startswith(f"{folder}/"):
        return sign + inner
    # A name alone means all below such a folder, and files of that name anywhere.
    return f"{sign}{folder}/{inner}" if "/" in inner else f"{sign}{folder}/{inner},{sign}{folder}/**/{inner}"


def _imported(folder: str, patterns: Sequence[str], paths: Collection[str]) -> tuple[str, ...]:
    placed = zip(patterns, _below(folder, patterns), strict=True)
    return tuple(below if any(matches_any((below,), path) for path in paths) else each for each, below in placed)

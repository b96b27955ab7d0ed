"""Tells what a check could not look at, so that it does not seem to have passed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from rag_ls.rules.checks.checker import applies
from rag_ls.rules.checks.graph import ImportGraph
from rag_ls.rules.checks.records import (
    CheckRule,
    LayersCheck,
    RuleProblem,
    Severity,
    StructureCheck,
)
from rag_ls.rules.checks.structure import language_to_match
from rag_ls.util.path_globs import matches_any, nearest_to_glob
from rag_ls.util.text import count_of, nearest_text

_MAX_NAMED = 3
# The beginnings of imports of the project's own code, in one language or another: a relative path, or a usual alias.
_OWN_IMPORTS = (".", "/", "#", "$", "~", "@/", "crate::", "super::")
_CRUISER_FILES = tuple(f".dependency-cruiser.{end}" for end in ("json", "js", "cjs", "mjs"))
_LINTER_FILES = (".importlinter", "setup.cfg", "pyproject.toml")


def explain_blind_rules(
    rules: Sequence[CheckRule], paths: Sequence[str], language_of: Callable[[str], str]
) -> tuple[list[RuleProblem], list[CheckRule]]:
    """A problem for each rule, layer and group of files that is for no file of the project; and these rules.

    A rule on the structure of code is for no file either if none is in its language.
    """
    problems, blind = list[RuleProblem](), list[CheckRule]()
    for rule in rules:
        # Files that are known exceptions are looked at: the globs are right.
        every = replace(rule, exceptions=())
        mine = [path for path in paths if applies(every, path)]
        if not mine:
            blind.append(rule)
            problems += _explain_globs(rule, rule.files, paths)
        elif isinstance(rule.check, StructureCheck) and not any(
            language_to_match(rule.check.languages, language_of(path), path) for path in mine
        ):
            blind.append(rule)
            languages = ", ".join(rule.check.languages)
            what = f"no file that {rule.id} is for is in {languages}, so it finds nothing"
            problems.append(RuleProblem(rule.path, rule.line, what, Severity.WARNING))
        else:
            problems += _explain_globs(rule, _empty_parts(rule, paths), paths)
    return problems, blind


def _explain_globs(rule: CheckRule, globs: Sequence[str], paths: Sequence[str]) -> Iterator[RuleProblem]:
    if globs:
        near = nearest_text(path for glob in globs for path in nearest_to_glob(glob, paths))
        what = f"{', '.join(globs)} matches no file of the project, so {rule.id} finds nothing there; {near}"
        yield RuleProblem(rule.path, rule.line, what.removesuffix("; "), Severity.WARNING)


def _empty_parts(rule: CheckRule, paths: Sequence[str]) -> tuple[str, ...]:
    """The globs of each layer, or of each group of files that are independent, that holds no file."""
    check = rule.check
    if not isinstance(check, LayersCheck):
        return ()
    parts = [(glob,) for layer in check.layers for glob in layer] if check.siblings_are_independent else check.layers
    empty = (part for part in parts if not any(matches_any(part, path) for path in paths))
    return tuple(glob for part in empty for glob in part)


def note_unfollowed_imports(graph: ImportGraph, paths: Collection[str], is_file: Callable[[str, str], bool]) -> str:
    """A sentence about the imports of the project's own code that lead nowhere; "" if there is none.

    `is_file` tells whether a file that imports names a file that is no code, such as a picture.
    """
    lost = [
        (path, edge)
        for path in paths
        for edge in graph.edges(path)
        if not edge.target and edge.module.startswith(_OWN_IMPORTS) and not is_file(path, edge.module)
    ]
    named = ", ".join(f"{edge.module} ({path}:{edge.line})" for path, edge in lost[:_MAX_NAMED])
    more = f" and {len(lost) - _MAX_NAMED} more" if len(lost) > _MAX_NAMED else ""
    what = f"{count_of(len(lost), 'import')} could not be followed, and rules on imports do not see where they lead"
    return f"{what}: {named}{more}" if lost else ""


def name_other_checkers(paths: Collection[str], read: Callable[[str], str]) -> list[str]:
    """A note on each configuration of import-linter and dependency-cruiser, with the command that checks by it."""
    found = {path: "npx depcruise ." for path in _CRUISER_FILES if path in paths}
    for path in _LINTER_FILES:
        if path in paths and "importlinter" in (path if path.startswith(".") else read(path)):
            found[path] = "lint-imports"
    return [f"{path} is not read here: `{command}` checks by it" for path, command in found.items()]

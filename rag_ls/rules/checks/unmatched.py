"""Tells which globs of rules match no file of the project: such a rule never finds anything."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rag_ls.rules.checks.records import CheckRule, IndependentCheck, LayersCheck, RuleProblem, Severity
from rag_ls.util.nearest import nearest_text
from rag_ls.util.path_globs import matches_any, nearest_to_glob


def explain_unmatched(
    rules: Sequence[CheckRule], unmatched: Collection[str], paths: Sequence[str]
) -> Iterator[RuleProblem]:
    """A problem for each rule among `unmatched`, by ids, and for each layer or group of files in which there is none."""
    for rule in rules:
        globs = rule.files if rule.id in unmatched else _empty_parts(rule, paths)
        if not globs:
            continue
        near = nearest_text(path for glob in globs for path in nearest_to_glob(glob, paths))
        what = f"{', '.join(globs)} matches no file of the project, so {rule.id} finds nothing there; {near}"
        yield RuleProblem(rule.path, rule.line, what.removesuffix("; "), Severity.WARNING)


def _empty_parts(rule: CheckRule, paths: Sequence[str]) -> tuple[str, ...]:
    match rule.check:
        case LayersCheck(layers=layers):
            parts = layers
        case IndependentCheck(groups=groups):
            parts = tuple((group,) for group in groups)
        case _:
            return ()
    empty = (part for part in parts if not any(matches_any(part, path) for path in paths))
    return tuple(glob for part in empty for glob in part)

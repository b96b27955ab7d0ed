"""Makes the rules that a package states count for the files below it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from rag_ls.rules.checks.records import (
    Check,
    CheckRule,
    ImportCheck,
    IndependentCheck,
    LayersCheck,
    PlaceCheck,
    RuleSet,
)
from rag_ls.util.path_globs import matches_any, split_globs

_ARROW = " -> "


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
        case IndependentCheck():
            return replace(check, groups=_below(folder, check.groups))
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

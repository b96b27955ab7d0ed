"""Reads a configuration of dependency-cruiser. Names the parts that only running it would tell, or that are not checked here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rag_ls.languages import SourceTree
from rag_ls.languages.source_tree import join
from rag_ls.rules.checks.cruiser.literals import Literals, Unknown
from rag_ls.rules.checks.cruiser.modules import SOURCES, javascript_pattern
from rag_ls.rules.checks.cruiser.records import (
    CruiserCheck,
    Dependencies,
    DependencyRule,
    Modules,
    Orphans,
    Reachability,
    Required,
    Surroundings,
)
from rag_ls.rules.checks.records import CheckRule, RuleProblem, RuleSet, Severity
from rag_ls.util.foreign_text import read_json

CONFIG_FILES = tuple(f".dependency-cruiser.{end}" for end in ("json", "js", "cjs", "mjs"))

_SEVERITIES = {"error": Severity.ERROR, "warn": Severity.WARNING, "info": Severity.INFO}
_TYPES_OF_KEYS = {
    "dependencies": "npm", "devDependencies": "npm-dev", "optionalDependencies": "npm-optional",
    "peerDependencies": "npm-peer",
}  # fmt: skip
_PATHS = frozenset({"path", "pathNot"})
_OF_SOURCE = _PATHS | {"orphan"}
_OF_TARGET = _PATHS | {
    "reachable", "circular", "couldNotResolve", "dependencyTypes", "dependencyTypesNot", "moreThanOneDependencyType",
    "via", "viaOnly", "viaNot", "viaSomeNot",
}  # fmt: skip
_NO_TYPES = frozenset({"deprecated", "npm-bundled", "pre-compilation-only"})
_MAX_EXTENDS = 5


class _NotChecked(Exception):
    """A rule that is not checked here, and why."""


def read_cruiser(path: str, tree: SourceTree) -> RuleSet:
    """The rules of the configuration at a path, and of those beside it that it extends."""
    rules, problems = list[CheckRule](), list[RuleProblem]()
    known: set[str] = set()
    configurations = list(_configurations(path, tree, problems, 0))
    options: dict[str, Any] = {}
    for _, content, _ in reversed(configurations):
        options |= content["options"] if isinstance(content.get("options"), dict) else {}
    surroundings = _surroundings(options, tree)
    # A file's own rules hide rules of the same name in the files that it extends.
    for file, content, literals in configurations:
        for kind in ("forbidden", "required", "allowed"):
            stated = content.get(kind)
            if isinstance(stated, list) and kind == "allowed":
                stated = [{"name": "not-in-allowed", "severity": content.get("allowedSeverity"), "allowed": stated}]
            for item in stated if isinstance(stated, list) else ():
                name = str(item.get("name", "unnamed")) if isinstance(item, dict) else ""
                line = literals.line_of(item) if isinstance(item, dict) else 1
                if name in known:
                    continue
                known |= {name} - {"unnamed"}
                try:
                    rules += _rules(kind, item, name, surroundings, file, line)
                except (_NotChecked, re.error) as error:
                    problems.append(_note(file, line, f"the rule {name!r} is not checked here: {error}"))
    return RuleSet(tuple(rules), tuple(problems))


def _configurations(
    path: str, tree: SourceTree, problems: list[RuleProblem], depth: int
) -> Iterator[tuple[str, Mapping[str, Any], Literals]]:
    """A configuration, and then those that it extends."""
    literals = Literals(tree.read(path), is_json=path.endswith(".json"))
    content = literals.exported
    if not isinstance(content, dict):
        why = "it does not parse" if literals.has_error else "only running it would tell its rules"
        problems.append(_note(path, 1, f"dependency-cruiser's rules are not checked here: {why}"))
        return
    yield path, content, literals
    extended = content.get("extends", [])
    for each in extended if isinstance(extended, list) else [extended]:
        base = join(path.rpartition("/")[0], str(each)) if str(each).startswith(".") else ""
        found = next(
            (base + end for end in ("", ".json", ".js", ".cjs", ".mjs") if base and base + end in tree.paths), ""
        )
        if found and depth < _MAX_EXTENDS:
            yield from _configurations(found, tree, problems, depth + 1)
        else:
            named = "it is made by code" if isinstance(each, Unknown) else f"{each} is no file of the project"
            problems.append(_note(path, 1, f"what dependency-cruiser's rules extend is not checked here: {named}"))


def _rules(kind: str, item: object, name: str, surroundings: Surroundings, path: str, line: int) -> Iterator[CheckRule]:
    if not isinstance(item, dict):
        raise _NotChecked("only running the configuration would tell it")
    severity = item.get("severity") or "warn"
    if severity == "ignore":
        return
    if item.get("scope", "module") != "module":
        raise _NotChecked(f"its scope is {item['scope']}")
    match kind:
        case "allowed":
            rule: Any = Dependencies(tuple(_dependency(each) for each in item["allowed"]), is_allowed=True)
        case "required":
            module, target = _part(item, "module", _PATHS), _part(item, "to", frozenset({"path", "reachable"}))
            rule = Required(_modules(module), _modules(target), bool(target.get("reachable")))
        case _:
            rule = _read_forbidden(item)
    comment = item.get("comment", "")
    yield CheckRule(
        name, CruiserCheck(rule, surroundings), comment if isinstance(comment, str) else "",
        _SEVERITIES.get(str(severity), Severity.WARNING), files=SOURCES, path=path, line=line,
    )  # fmt: skip


def _read_forbidden(item: Mapping[str, Any]) -> Dependencies | Orphans | Reachability:
    if "module" in item:
        raise _NotChecked("it counts dependents")
    source, target = _part(item, "from", _OF_SOURCE), _part(item, "to", _OF_TARGET)
    if "orphan" in source:
        return Orphans(_modules(source), bool(source["orphan"]))
    if "reachable" in target:
        if not target["reachable"] and re.search(r"\$\d", f"{target.get('path')}{target.get('pathNot')}"):
            raise _NotChecked("it says which of several modules do not reach one ($1 with reachable: false)")
        return Reachability(_modules(source), _modules(target), bool(target["reachable"]))
    return Dependencies((_dependency(item),))


def _dependency(item: object) -> DependencyRule:
    if not isinstance(item, dict):
        raise _NotChecked("only running the configuration would tell it")
    source, target = _part(item, "from", _PATHS), _part(item, "to", _OF_TARGET - {"reachable"})
    types, types_not = _types(target, "dependencyTypes"), _types(target, "dependencyTypesNot")
    if types and types <= _NO_TYPES:
        raise _NotChecked(f"{', '.join(sorted(types))} is known only where packages are installed")
    via, only = _via(target.get("via")), _via(target.get("viaOnly"))
    if "viaNot" in target:
        only = Modules(only.path if only else "", _pattern(target["viaNot"]))
    if "viaSomeNot" in target:
        via = Modules(via.path if via else "", _pattern(target["viaSomeNot"]))
    return DependencyRule(
        source=_modules(source),
        target=_modules(target),
        types=types,
        types_not=types_not,
        has_many_types=target.get("moreThanOneDependencyType"),
        is_unresolvable=target.get("couldNotResolve"),
        is_circular=target.get("circular"),
        via=via,
        via_only=only,
    )


def _part(item: Mapping[str, Any], key: str, supported: Collection[str]) -> Mapping[str, Any]:
    part = item.get(key, {})
    if not isinstance(part, dict) or any(_is_unknown(value) for value in part.values()):
        raise _NotChecked(f"only running the configuration would tell its {key!r}")
    if unknown := sorted(part.keys() - set(supported)):
        raise _NotChecked(f"{key}.{unknown[0]} is not known")
    return part


def _types(target: Mapping[str, Any], key: str) -> frozenset[str]:
    stated = target.get(key, [])
    if not isinstance(stated, list):
        raise _NotChecked(f"to.{key} is no list")
    return frozenset(map(str, stated))


def _via(stated: object) -> Modules | None:
    if stated is None:
        return None
    if isinstance(stated, dict):
        if unknown := sorted(stated.keys() - _PATHS):
            raise _NotChecked(f"to.via.{unknown[0]} is not known")
        return _modules(stated)
    return Modules(_pattern(stated))


def _modules(part: Mapping[str, Any]) -> Modules:
    return Modules(_pattern(part.get("path")), _pattern(part.get("pathNot")))


def _pattern(stated: object) -> str:
    """A pattern; of several, one that any of them matches. Raises `re.error`, and `_NotChecked`."""
    if _is_unknown(stated):
        raise _NotChecked("only running the configuration would tell its path")
    found = "|".join(map(str, stated)) if isinstance(stated, list) else str(stated or "")
    # The text for `$1` is known only when a place is checked.
    javascript_pattern(re.sub(r"\$\d+", "x", found))
    return found


def _is_unknown(value: object) -> bool:
    return isinstance(value, Unknown) or (isinstance(value, list) and any(isinstance(each, Unknown) for each in value))


def _surroundings(options: Mapping[str, Any], tree: SourceTree) -> Surroundings:
    def pattern(key: str) -> str:
        value = options.get(key)
        try:
            return _pattern(value.get("path") if isinstance(value, dict) else value)
        except (_NotChecked, re.error):
            return ""

    manifests = tuple(
        (path.rpartition("/")[0], _packages(tree.read(path))) for path in tree.by_name.get("package.json", ())
    )
    return Surroundings(
        pattern("exclude"), pattern("includeOnly"), bool(options.get("tsPreCompilationDeps")), manifests
    )


def _packages(manifest: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The packages that a package.json names, each with its types."""
    try:
        content = read_json(manifest)
    except ValueError:
        return ()
    found: dict[str, list[str]] = {}
    for key, kind in _TYPES_OF_KEYS.items():
        named = content.get(key) if isinstance(content, dict) else None
        for package in named if isinstance(named, dict) else ():
            found.setdefault(str(package), []).append(kind)
    return tuple((package, tuple(kinds)) for package, kinds in found.items())


def _note(path: str, line: int, message: str) -> RuleProblem:
    return RuleProblem(path, line, message, Severity.INFO)

"""Reads the rules of ARCHITECTURE.yml, also of folders. Each problem names its line; the other rules still count."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_ls.languages import LANGUAGES, SourceTree
from rag_ls.rules.checks.checker import is_matched, is_nameless, matched_language, problem_of
from rag_ls.rules.checks.contracts import style_of
from rag_ls.rules.checks.records import (
    Check,
    CheckRule,
    CyclesCheck,
    FileNameCheck,
    ImportCheck,
    LayersCheck,
    PlaceCheck,
    RuleProblem,
    RuleSet,
    Severity,
    StructureCheck,
    SymbolNameCheck,
)
from rag_ls.rules.scopes import is_foreign
from rag_ls.util.path_globs import matches_any, split_globs
from rag_ls.util.text import fold

if TYPE_CHECKING:
    from rag_ls.indexing import Cutters

SCHEMA_FILE = Path(__file__).with_name("architecture.schema.json")
MAX_CHARACTERS = 250_000
"""Rules of a longer file are not read: reading them would hold up the editor."""

_MAX_PROBLEM_CHARACTERS = 300
_DUPLICATE = "{} is stated twice, here and at line {}: give one of them another id"
CHECKS = (
    "forbid_imports", "require_imports", "allow_imports", "layers", "independent", "no_cycles", "forbid", "match",
    "rule", "file_names", "symbol_names", "place",
)  # fmt: skip
"""The keys of which a rule has one; it says what is checked."""
_MAX_VALUES, _MAX_DEPTH = 500_000, 100


def read_architecture(text: str, path: str) -> RuleSet:
    """The rules of a text, and what is wrong with it. Raises `RulesUnreadable` where it is no YAML at all."""
    if len(text) > MAX_CHARACTERS:
        raise RulesUnreadable(
            RuleProblem(path, 1, f"it has {len(text):,} characters; rules are read up to {MAX_CHARACTERS:,}")
        )
    content, lines = parse_yaml(text, path)
    stated = content.get("rules") if isinstance(content, Mapping) else None
    if stated is None:
        return RuleSet()
    if not _is_ours(stated):
        message = "its `rules` are another tool's: they are left alone"
        return RuleSet((), (RuleProblem(path, lines.get(("rules",), 1), message, Severity.INFO),))
    rules: list[CheckRule] = []
    errors = list(_validator().iter_errors({"rules": stated}))
    problems = [RuleProblem(path, _line_of(lines, error.absolute_path), _word_error(error)) for error in errors]
    broken = {error.absolute_path[1] for error in errors if len(error.absolute_path) > 1}
    for at, item in enumerate(stated if isinstance(stated, list) else ()):
        line = lines.get(("rules", at), 1)
        if at in broken:
            continue
        rule, problem = _rule(item, path, line)
        if problem:
            problems.append(RuleProblem(path, line, problem))
        elif rule is not None:
            rules.append(rule)
    first: dict[str, int] = {}
    for each in rules:
        if first.setdefault(each.id, each.line) != each.line:
            problems.append(RuleProblem(path, each.line, _DUPLICATE.format(each.id, first[each.id])))
    return RuleSet(tuple(rules), tuple(sorted(problems, key=lambda problem: problem.line)))


def _is_ours(stated: object) -> bool:
    """Whether some rule has an id or a check of ours, or there is none; another tool may use the same file's name."""
    if not isinstance(stated, list):
        return not isinstance(stated, Mapping) or not stated
    items = [item for item in stated if isinstance(item, Mapping)]
    return not stated or any("id" in item or not item.keys().isdisjoint(CHECKS) for item in items)


@cache
def _validator() -> Any:
    # Imported here: projects without rules need no schema.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def _word_error(error: Any) -> str:
    """A schema's error in words, with the keys that lead to it."""
    place = ".".join(str(key) for key in error.absolute_path)
    if error.validator == "oneOf":
        message = "it needs exactly one check: " + ", ".join(CHECKS)
    elif error.validator in ("additionalProperties", "unevaluatedProperties"):
        message = error.message.replace("Unevaluated properties are not allowed", "it has unknown keys")
    else:
        message = error.message
    return fold(f"{place}: {message}", _MAX_PROBLEM_CHARACTERS)


def _line_of(lines: Mapping[tuple[str | int, ...], int], path: Sequence[str | int]) -> int:
    keys = tuple(path)
    while keys and keys not in lines:
        keys = keys[:-1]
    return lines.get(keys, 1)


def _rule(item: Mapping[str, Any], path: str, line: int) -> tuple[CheckRule | None, str]:
    try:
        check = _check(item)
    except re.error as error:
        return None, f"{item['id']}: the regular expression is wrong: {error}"
    except ValueError as error:
        return None, f"{item['id']}: {error}"
    if isinstance(check, StructureCheck) and (problem := problem_of(check)):
        return None, f"{item['id']}: ast-grep cannot use this rule: {problem}"
    rule = CheckRule(
        id=item["id"],
        check=check,
        message=item.get("message", ""),
        severity=Severity(item.get("severity", "error")),
        files=_list(item, "files"),
        not_files=_list(item, "not_files"),
        exceptions=_list(item, "exceptions"),
        see=item.get("see", ""),
        path=path,
        line=line,
    )
    return rule, ""


def _check(item: Mapping[str, Any]) -> Check:
    if any(key in item for key in ("forbid_imports", "require_imports", "allow_imports")):
        return ImportCheck(
            _list(item, "forbid_imports"), _list(item, "allow_imports"), _list(item, "require_imports"),
            bool(item.get("indirect", False)),
        )  # fmt: skip
    if "layers" in item:
        layers = tuple((each,) if isinstance(each, str) else tuple(each) for each in item["layers"])
        return LayersCheck(layers, bool(item.get("independent_siblings", False)), bool(item.get("indirect", True)))
    if "independent" in item:
        return LayersCheck((tuple(item["independent"]),), True, bool(item.get("indirect", True)))
    if "no_cycles" in item:
        return CyclesCheck()
    if "file_names" in item:
        style_of(item["file_names"])
        return FileNameCheck(item["file_names"])
    if "symbol_names" in item:
        style_of(item["symbol_names"]["style"])
        return SymbolNameCheck(item["symbol_names"].get("kind", ""), item["symbol_names"]["style"])
    if "place" in item:
        return PlaceCheck(_list(item, "place"))
    return _structure(item)


def _structure(item: Mapping[str, Any]) -> StructureCheck:
    languages = tuple(matched_language(name) for name in _list(item, "language"))
    unknown = [name for name in languages if not is_matched(name)]
    if unknown or not languages:
        named = f"{', '.join(unknown)} is no language of ast-grep" if unknown else "it needs a language"
        raise ValueError(f"{named}; known are {', '.join(filter(is_matched, sorted(LANGUAGES)))}")
    stated = item.get("rule", item.get("forbid", item.get("match")))
    rule = {"pattern": stated} if isinstance(stated, str) else dict(stated or {})
    match = {"rule": rule, **{key: item[key] for key in ("constraints", "utils") if key in item}}
    required = item.get("require")
    if "match" in item and required is None:
        raise ValueError("`match` needs `require`: what each match must satisfy; `forbid` allows no match")
    if is_nameless(fix := item.get("fix", "")):
        raise ValueError("`fix` cannot repeat what $$$ matches: write $$$ARGS for it, in the pattern too")
    return StructureCheck(languages, match, {"pattern": required} if isinstance(required, str) else required, fix)


def _list(item: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = item.get(key, ())
    return (value,) if isinstance(value, str) else tuple(value)


class RulesUnreadable(Exception):
    """A file of rules cannot be read at all; the rules that were read before stay in force."""

    def __init__(self, problem: RuleProblem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem.message


def parse_yaml(text: str, path: str) -> tuple[Any, dict[tuple[str | int, ...], int]]:
    """A YAML text's content, and the line of each of its nodes by the keys that lead there. Raises `RulesUnreadable`."""
    import yaml

    try:
        kind = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        if _depth(yaml.parse(text, kind)) > _MAX_DEPTH:
            # The loader calls itself at each level, outside of Python's limit of recursion: a deep text would end the process.
            raise ValueError(f"its values lie more than {_MAX_DEPTH} levels deep")
        loader = kind(text)
        node = loader.get_single_node()
        if node is None:
            return None, {}
        if _count_values(node, {}) > _MAX_VALUES:
            raise ValueError(f"it holds more than {_MAX_VALUES:,} values, or an alias inside of itself")
        # Compared before the content is built from the nodes, because building changes them.
        lines = _lines_of_rules_once(_lines(node, ()), path)
        content = loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or str(error)
        raise RulesUnreadable(RuleProblem(path, mark.line + 1 if mark else 1, f"it is no YAML: {said}")) from error
    except (ValueError, RecursionError) as error:
        raise RulesUnreadable(RuleProblem(path, 1, f"it cannot be read: {error}")) from error
    return content, lines


def _lines_of_rules_once(
    found: Iterable[tuple[tuple[str | int, ...], int]], path: str
) -> dict[tuple[str | int, ...], int]:
    """The lines by keys. Raises `RulesUnreadable` where a key of the rules stands twice: the loader would drop the first."""
    lines: dict[tuple[str | int, ...], int] = {}
    for keys, line in found:
        if keys in lines and keys[0] == "rules" and keys[-1] != "<<":
            message = f"the key `{keys[-1]}` stands here and at line {lines[keys]}: write it once"
            raise RulesUnreadable(RuleProblem(path, line, message))
        lines[keys] = line
    return lines


def _depth(events: Iterable[Any]) -> int:
    """The depth at which the values of a YAML text lie in each other; beyond the limit, the rest is not read."""
    import yaml

    deepest = depth = 0
    try:
        for event in events:
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            deepest = max(deepest, depth)
            if deepest > _MAX_DEPTH:
                break
    except yaml.YAMLError as error:
        # The parser reads ahead; from PyYAML 6.0.4 on it has a limit of its own.
        if "nesting depth" not in str(error):
            raise
        return _MAX_DEPTH + 1
    return deepest


def _count_values(node: Any, known: dict[int, int]) -> int:
    """The number of values that a node stands for where aliases are written out; a very large one for an alias inside of itself."""
    if id(node) not in known:
        known[id(node)] = _MAX_VALUES + 1
        inner = node.value if isinstance(node.value, list) else ()
        children = [part for each in inner for part in (each if isinstance(each, tuple) else (each,))]
        known[id(node)] = 1 + sum(_count_values(child, known) for child in children)
    return known[id(node)]


def _lines(node: Any, keys: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    import yaml

    yield keys, node.start_mark.line + 1
    if len(keys) > 6:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _lines(value, (*keys, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            yield from _lines(value, (*keys, at))


RULE_FILES = ("ARCHITECTURE.yml", "ARCHITECTURE.yaml")
"""The files that may state rules."""

_OF_PACKAGES = tuple(f"/{name}" for name in RULE_FILES)
_ARROW = " -> "


class RuleFiles:
    """The rules of a project. A file that cannot be read keeps the rules that it had when it last could."""

    def __init__(self, cutters: Cutters | None = None) -> None:
        """With `cutters`, files are read in a process that may die."""
        self._cutters = cutters
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

    def _read_file(self, path: str, tree: SourceTree) -> RuleSet | None:
        if self._cutters is None:
            return read_rule_file(path, tree)
        # Imported here: the processes that read files need it not.
        from rag_ls.util.guarded_processes import ProcessEnded

        try:
            return self._cutters.call(read_rule_file, path, tree)
        except ProcessEnded as error:
            raise RulesUnreadable(RuleProblem(path, 1, f"it cannot be read: when it was parsed, {error}")) from error


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

"""Gathers a project's rules from all files that state them: our own, and those of ast-grep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_ls.languages import SourceTree
from rag_ls.languages.source_tree import join
from rag_ls.rules.checks.architecture import RulesUnreadable, parse_yaml, read_architecture
from rag_ls.rules.checks.records import (
    Check,
    CheckRule,
    ImportCheck,
    LayersCheck,
    PlaceCheck,
    RuleProblem,
    RuleSet,
    Severity,
    StructureCheck,
)
from rag_ls.rules.checks.structure import is_matched, matched_language, problem_of
from rag_ls.rules.scopes import is_foreign
from rag_ls.util.path_globs import matches_any, split_globs

SEVERAL_FILES = ("sgconfig.yml", "sgconfig.yaml")
"""The files whose rules depend on more files: ast-grep's."""
ARCHITECTURE_FILES = ("ARCHITECTURE.yml", "ARCHITECTURE.yaml")
RULE_FILES = (*ARCHITECTURE_FILES, *SEVERAL_FILES)
"""The files that may state rules, or name folders of them."""

_OF_PACKAGES = tuple(f"/{name}" for name in ARCHITECTURE_FILES)


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
    folder, _, name = path.rpartition("/")
    if name in ARCHITECTURE_FILES:
        return place_rules(read_architecture(tree.read(path), path), folder, tree.paths)
    return read_ast_grep(path, tree.read, tree.paths)


_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING, "info": Severity.INFO, "hint": Severity.INFO}


def read_ast_grep(path: str, read: Callable[[str], str], paths: Iterable[str]) -> RuleSet:
    """The rules of the folders that the configuration at a path names. Raises `RulesUnreadable`."""
    content, _ = parse_yaml(read(path), path)
    folders = content.get("ruleDirs", ()) if isinstance(content, Mapping) else ()
    base = path.rpartition("/")[0]
    found = RuleSet()
    for folder in folders if isinstance(folders, list) else ():
        prefix = join(base, str(folder)) + "/"
        for rule_file in sorted(each for each in paths if each.startswith(prefix) and each.endswith((".yml", ".yaml"))):
            found += _read_file(rule_file, read(rule_file))
    return found


def _read_file(path: str, text: str) -> RuleSet:
    """The rules of a file; it may hold several YAML documents."""
    rules, problems, line = list[CheckRule](), list[RuleProblem](), 1
    for part in text.split("\n---"):
        try:
            content, _ = parse_yaml(part, path)
        except RulesUnreadable as error:
            problems.append(RuleProblem(path, line + error.problem.line - 1, error.problem.message))
            content = None
        if isinstance(content, Mapping) and "rule" in content:
            rule = _rule(content, path, line)
            problem = problem_of(rule.check) if isinstance(rule.check, StructureCheck) else ""
            if problem:
                problems.append(RuleProblem(path, line, f"{rule.id}: ast-grep cannot use this rule: {problem}"))
            elif content.get("severity") != "off":
                rules.append(rule)
        line += part.count("\n") + 1
    return RuleSet(tuple(rules), tuple(problems))


def _rule(content: Mapping[str, Any], path: str, line: int) -> CheckRule:
    language = matched_language(str(content.get("language", "")))
    check = StructureCheck(
        (language,) if is_matched(language) else (),
        {key: content[key] for key in ("rule", "constraints", "utils", "transform") if key in content},
        # A fix that also replaces text around the match is an object: it is left to ast-grep.
        fix=content["fix"] if isinstance(content.get("fix"), str) else "",
    )
    return CheckRule(
        id=str(content.get("id", path)),
        check=check,
        message=str(content.get("message", "")).strip(),
        severity=_SEVERITIES.get(str(content.get("severity", "hint")), Severity.INFO),
        files=_texts(content.get("files")),
        not_files=_texts(content.get("ignores")),
        see=str(content.get("url", "")),
        path=path,
        line=line,
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


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

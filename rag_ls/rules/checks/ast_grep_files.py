"""Reads the rules of ast-grep that a project has already: `sgconfig.yml` and the folders that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rag_ls.languages.source_tree import join
from rag_ls.rules.checks.matched_code import is_matched, matched_language
from rag_ls.rules.checks.records import CheckRule, RuleProblem, RuleSet, Severity, StructureCheck
from rag_ls.rules.checks.structure import problem_of
from rag_ls.rules.checks.yaml_text import RulesUnreadable, parse_yaml

CONFIG_FILES = ("sgconfig.yml", "sgconfig.yaml")

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

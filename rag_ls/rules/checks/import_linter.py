"""Reads the contracts of import-linter that a project has already, with their meaning there."""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rag_ls.rules.checks.records import (
    Check,
    CheckRule,
    ImportCheck,
    IndependentCheck,
    LayersCheck,
    RuleProblem,
    RuleSet,
    Severity,
)
from rag_ls.util.foreign_text import read_toml

CONFIG_FILES = (".importlinter", "setup.cfg", "pyproject.toml")

_OPTIONAL = re.compile(r"^\((.*)\)$")


def read_import_linter(path: str, read: Callable[[str], str], place_of: Callable[[str], str | None]) -> RuleSet:
    """The contracts of a configuration. `place_of` gives the folder or file of a module, without `.py`; None if unknown."""
    text = read(path)
    try:
        contracts = list(_of_toml(text) if path.endswith(".toml") else _of_ini(text))
    except (ValueError, configparser.Error, AttributeError, TypeError) as error:
        return RuleSet((), (RuleProblem(path, 1, f"import-linter's contracts cannot be read: {error}"),))
    rules, problems = list[CheckRule](), list[RuleProblem]()
    for number, contract in enumerate(contracts, 1):
        name = str(contract.get("name") or contract.get("id") or f"contract-{number}")
        line = _line_of(text, name)
        checks = list(_checks(contract, place_of))
        if not checks:
            kind = contract.get("type", "no type")
            problems.append(
                RuleProblem(
                    path, line, f"the contract {name!r} is not checked here: type {kind} is not known", Severity.INFO
                )
            )
        for check, files in checks:
            identity = re.sub(r"[^\w./-]+", "-", str(contract.get("id") or name)).strip("-")
            rules.append(CheckRule(identity, check, f"import-linter: {name}", files=files, path=path, line=line))
    return RuleSet(tuple(rules), tuple(problems))


def _of_toml(text: str) -> Iterator[Mapping[str, Any]]:
    settings = read_toml(text).get("tool", {}).get("importlinter", {})
    yield from settings.get("contracts", ())


def _of_ini(text: str) -> Iterator[Mapping[str, Any]]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    for section in parser.sections():
        if section.startswith("importlinter:contract"):
            values = {
                key: [line.strip() for line in value.splitlines() if line.strip()] if "\n" in value else value
                for key, value in parser[section].items()
            }
            yield {"id": section.partition("contract:")[2], **values}


def _checks(
    contract: Mapping[str, Any], place_of: Callable[[str], str | None]
) -> Iterator[tuple[Check, tuple[str, ...]]]:
    """The checks of a contract, each with the files that it is for."""

    def globs(key: str) -> tuple[str, ...]:
        return tuple(_globs(module, place_of) for module in _texts(contract.get(key)))

    indirect = str(contract.get("allow_indirect_imports", "False")).lower() != "true"
    match contract.get("type"):
        case "forbidden":
            forbidden = globs("forbidden_modules")
            yield ImportCheck(forbidden, indirect=indirect), globs("source_modules")
        case "independence":
            yield IndependentCheck(globs("modules"), indirect), ()
        case "layers":
            for container in _texts(contract.get("containers")) or [""]:
                layers = [_layer(line, container, place_of) for line in _texts(contract.get("layers"))]
                siblings = any("|" in line for line in _texts(contract.get("layers")))
                yield LayersCheck(tuple(layer for layer in layers if layer), siblings, indirect), ()


def _layer(line: str, container: str, place_of: Callable[[str], str | None]) -> tuple[str, ...]:
    """A line of layers: `a | b` are independent of each other, `a : b` are not, `(a)` may be missing."""
    names = [_OPTIONAL.sub(r"\1", name.strip()) for name in re.split(r"[|:]", line)]
    return tuple(_globs(f"{container}.{name}" if container else name, place_of) for name in names if name)


def _globs(module: str, place_of: Callable[[str], str | None]) -> str:
    """A module as a glob of project paths; one of another package stays a module's name."""
    bare = module.removesuffix(".**").removesuffix(".*")
    place = place_of(bare)
    return place if place is not None else bare


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [line.strip() for line in re.split(r"[\n,]", value) if line.strip()]
    return [str(each) for each in value] if isinstance(value, list) else []


def _line_of(text: str, name: str) -> int:
    at = text.find(name) if name else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1

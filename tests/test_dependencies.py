"""What is imported is declared: what another package happens to bring along may be gone with its next version."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_OURS = {"rag_ls", "rag_ls_model", "scripts", "tests", "training"}
# Benchmarks compare with these, in environments of their own; sentence-transformers is made of the last.
_ELSEWHERE = {"model2vec", "semble", "wordllama", "transformers"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "groups"), [("rag_ls", ()), ("training", ("dev",)), ("tests", ("lean", "dev")), ("scripts", ("dev",))]
)
def test_every_import_is_declared(folder: str, groups: tuple[str, ...]) -> None:
    declared, brought_by = _declared(groups), _brought_by()
    files = sorted((_ROOT / folder).rglob("*.py"))
    beside = {file.stem for file in files} if folder == "scripts" else set()
    ours = _OURS | beside | (_ELSEWHERE if groups else set())
    undeclared = {
        module: str(file.relative_to(_ROOT))
        for file in files
        for module in _imported(file)
        if module not in ours and declared.isdisjoint(map(_plain, brought_by.get(module, [module])))
    }
    assert undeclared == {}


@functools.cache
def _brought_by() -> Mapping[str, list[str]]:
    """Which packages bring a module."""
    return packages_distributions()


def _imported(file: Path) -> Iterator[str]:
    """The top names of the modules that a file imports, without Python's own."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        yield from (top for name in names if (top := name.partition(".")[0]) not in sys.stdlib_module_names)


def _declared(groups: Iterable[str]) -> set[str]:
    """The names of the packages that `pyproject.toml` names: dependencies, extras, and some groups."""
    data = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = data["project"]
    requirements = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    requirements += [each for group in groups for each in data["dependency-groups"][group] if isinstance(each, str)]
    names: set[str] = set()
    for requirement in requirements:
        name, extras = re.fullmatch(r"([\w.-]+)(?:\[([^]]*)\])?.*", requirement).groups()  # type: ignore[union-attr]
        # `psycopg[pool]` is psycopg and psycopg-pool.
        names |= {_plain(name), *(_plain(f"{name}-{extra.strip()}") for extra in (extras or "").split(","))}
    return names


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

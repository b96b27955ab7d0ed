"""Names modules and the types of dependencies as dependency-cruiser does."""

from __future__ import annotations

import re

from rag_ls.languages.source_tree import above
from rag_ls.rules.checks.cruiser.records import Modules, Surroundings
from rag_ls.rules.checks.graph import Edge
from rag_ls.rules.checks.patterns import Pattern, pattern_of

SOURCES = tuple(f"**/*.{end}" for end in ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"))
"""Globs of the files that it looks at."""

_SOURCE_SUFFIX = re.compile(r"(?:^|/)[^./]*$|\.(?:[cm]?[jt]sx?|vue|svelte|json)$")
# Node 22, `module.builtinModules`.
_CORE = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib".split()
)
_ONLY_WITH_SCHEME = frozenset({"sea", "sqlite", "test"})


def name_of(edge: Edge) -> str:
    """The path of the imported module: a project path, `node_modules/<module>`, or the name of a module of Node."""
    if edge.target:
        return edge.target
    if edge.module.startswith("."):
        return edge.module
    return _core(edge.module) or f"node_modules/{edge.module}"


def is_unresolvable(edge: Edge) -> bool:
    """Whether an import points to no file. A file that is not indexed, such as an image, exists, too."""
    return not edge.target and edge.module.startswith(".") and bool(_SOURCE_SUFFIX.search(edge.module))


def types_of(edge: Edge, importer: str, surroundings: Surroundings, *, is_type: bool) -> frozenset[str]:
    """The types of a dependency; `is_type` is for `import type`."""
    more = {"type-only"} if is_type else set[str]()
    if edge.target:
        is_relative = edge.module.startswith(".")
        return frozenset({"local", *more} if is_relative else {"local", "aliased", *more})
    if edge.module.startswith("."):
        return frozenset({"unknown"})
    if _core(edge.module):
        return frozenset({"core", *more})
    return frozenset({*_named_by_manifest(edge.module, importer, surroundings), *more})


def matches(modules: Modules, path: str, groups: tuple[str, ...] = ()) -> bool:
    """Whether a module is one of these; `groups` are what `$0`, `$1`, ... stand for."""
    if modules.path and not javascript_pattern(_fill_groups(modules.path, groups)).search(path):
        return False
    return not modules.path_not or not javascript_pattern(_fill_groups(modules.path_not, groups)).search(path)


def groups_of(modules: Modules, path: str) -> tuple[str, ...]:
    """The whole match of the pattern in a path, and its groups."""
    return (javascript_pattern(modules.path).search(path) if modules.path else None) or ()


def counts(path: str, surroundings: Surroundings) -> bool:
    """Whether a module is looked at."""
    if surroundings.exclude and javascript_pattern(surroundings.exclude).search(path):
        return False
    return not surroundings.include_only or bool(javascript_pattern(surroundings.include_only).search(path))


def javascript_pattern(pattern: str) -> Pattern:
    """A regular expression of JavaScript. Raises `re.error`."""
    return pattern_of(pattern.replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!"))


def _fill_groups(pattern: str, groups: tuple[str, ...]) -> str:
    for number, group in enumerate(groups):
        # Dots and brackets of a path match themselves, so escape them.
        pattern = re.sub(rf"\${number}(?!\d)", re.escape(group).replace("\\", r"\\"), pattern)
    return pattern


def _core(module: str) -> str:
    """The name of a module of Node, without the scheme; empty for any other module."""
    name = module.removeprefix("node:")
    first = name.split("/", 1)[0]
    return name if first in _CORE and (name != module or first not in _ONLY_WITH_SCHEME) else ""


def _named_by_manifest(module: str, importer: str, surroundings: Surroundings) -> tuple[str, ...]:
    parts = module.split("/")
    package = "/".join(parts[:2]) if module.startswith("@") else parts[0]
    manifests = dict(surroundings.manifests)
    nearest = next((manifests[folder] for folder in above(importer) if folder in manifests), None)
    if nearest is None:
        return ("npm-unknown",)
    named = dict(nearest)
    return named.get(package) or named.get(f"@types/{package}") or ("npm-no-pkg",)

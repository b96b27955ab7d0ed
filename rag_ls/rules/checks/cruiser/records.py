"""Rules of dependency-cruiser as data. Patterns are regular expressions that are found anywhere in a module's path."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Modules:
    """The modules whose path holds a match of one pattern and none of another; empty patterns say nothing."""

    path: str = ""
    path_not: str = ""


@dataclass(frozen=True, slots=True)
class DependencyRule:
    """Dependencies between modules. A field that is None or empty does not count.

    In `target` and in `via`, `$1` means what the first group of `source.path` matched.
    """

    source: Modules
    target: Modules
    types: frozenset[str] = frozenset()
    """The dependency has one of these types: `npm-dev`, `core`, `local`, ..."""
    types_not: frozenset[str] = frozenset()
    has_many_types: bool | None = None
    is_unresolvable: bool | None = None
    is_circular: bool | None = None
    via: Modules | None = None
    """Some module of the circle is one of these."""
    via_only: Modules | None = None
    """All modules of the circle are."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Dependencies that are forbidden; or, with `is_allowed`, the only ones that are not."""

    rules: tuple[DependencyRule, ...]
    is_allowed: bool = False


@dataclass(frozen=True, slots=True)
class Orphans:
    """Modules that import nothing and that nothing imports; or those that are no such orphans."""

    modules: Modules
    is_orphan: bool


@dataclass(frozen=True, slots=True)
class Reachability:
    """Modules that others reach by a chain of imports; or those that none of the others reaches."""

    source: Modules
    target: Modules
    is_reachable: bool


@dataclass(frozen=True, slots=True)
class Required:
    """Modules that must import another one, directly or by a chain."""

    modules: Modules
    target: Modules
    by_chain: bool


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts that the configuration and the manifests tell of all modules."""

    exclude: str = ""
    """Modules with this pattern in their path do not count."""
    include_only: str = ""
    counts_types: bool = False
    """Whether `import type` is a dependency (`tsPreCompilationDeps`)."""
    manifests: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = ()
    """By folder of a package.json: the packages that it names, each with its types (`npm`, `npm-dev`, ...)."""


@dataclass(frozen=True, slots=True)
class CruiserCheck:
    """A rule of dependency-cruiser."""

    rule: Dependencies | Orphans | Reachability | Required
    surroundings: Surroundings = Surroundings()

    @property
    def indirect(self) -> bool:
        """Whether it looks at the imports of other documents, too."""
        match self.rule:
            case Dependencies(rules):
                return any(rule.is_circular is not None for rule in rules)
            case Required(by_chain=by_chain):
                return by_chain
        return True

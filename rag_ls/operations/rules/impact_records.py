"""The records of the answers about impact."""

# ruff: noqa: N815 - the keys are in camel case

from __future__ import annotations

from rag_ls.operations.fields import optional
from rag_ls.operations.rules.constraints import ViolationRecord
from rag_ls.operations.rules.setup import SUCCESS
from rag_ls.rules.impact import Dependent
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class UseRecord:
    """A line that uses a name."""

    line: int
    name: str
    """As it is declared."""


@dataclass(frozen=True, slots=True)
class DependentRecord:
    """A file that depends on another one."""

    filePath: str
    imports: tuple[str, ...]
    """As the file writes them."""
    names: tuple[str, ...] = optional(())
    """The names that it takes; `*` where it imports all."""
    lines: tuple[int, ...] = optional(())
    """All lines that depend on it: imports and uses."""
    uses: tuple[UseRecord, ...] = optional(())
    """Those of them that use a name."""
    byName: bool = optional(False)
    """Whether it uses the name alone, and may mean another declaration."""


@dataclass(frozen=True, slots=True)
class ReachingRecord:
    """A test that reaches a file through another one."""

    filePath: str
    through: str


@dataclass(frozen=True, slots=True)
class SimilarRecord:
    """A file like another one."""

    filePath: str
    similarity: float
    reason: str


@dataclass(frozen=True, slots=True)
class AnchoredMemory:
    """A memory about a place in a file."""

    id: str
    content: str
    line: int | None = optional()
    filePath: str = optional("")
    state: str = optional("")
    """The state of its anchor, for a change: `fresh`, `drifted` or `orphaned`."""


@dataclass(frozen=True, slots=True)
class ChangedNameRecord:
    """A public name that a change touches."""

    name: str
    line: int
    change: str
    """`added`, `removed`, `signature` (its declaration changed) or `body`."""


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """A file that differs from the revision."""

    filePath: str
    status: str
    """`added`, `changed`, `deleted` or `renamed`."""
    formerPath: str = optional("")
    """Its path before it was renamed."""
    names: tuple[ChangedNameRecord, ...] = optional(())
    """The public names that the change touches."""
    mustChange: tuple[DependentRecord, ...] = optional(())
    """The files that use a name that is gone, and those outside the change that use one whose declaration changed, with lines."""
    dependentsTotal: int = 0
    """The number of files outside the change that depend on it."""
    tests: tuple[str, ...] = optional(())
    note: str = optional("")
    """The reason why its names were not compared."""


@dataclass(frozen=True, slots=True)
class SpeakingRule:
    """A section of a rule document that a change should heed."""

    filePath: str
    lines: str
    section: str
    relevance: float
    keyRules: tuple[str, ...] = optional(())


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """The files, tests, memories and rules that a change of a file would touch."""

    filePath: str
    exports: tuple[str, ...]
    apiEndpoints: tuple[str, ...]
    websocketEvents: tuple[str, ...]
    dependents: tuple[DependentRecord, ...]
    similarFiles: tuple[SimilarRecord, ...]
    summary: str
    tests: tuple[str, ...] = ()
    testsThrough: tuple[ReachingRecord, ...] = optional(())
    """The tests that reach it through other files, if no test imports it."""
    memories: tuple[AnchoredMemory, ...] = optional(())
    dependentsTotal: int = 0
    dependentsBeyond: int = 0
    """The number of files that depend on the dependents, and on these, and so on."""
    base: str = optional("")
    """The commit that a change was compared with."""
    changes: tuple[ChangeRecord, ...] = optional(())
    """The files that differ from it; `dependents` are then the files that must change too, `exports` the names that change."""
    rules: tuple[SpeakingRule, ...] = optional(())
    """The rules for the change."""
    violations: tuple[ViolationRecord, ...] = optional(())
    """The rules that its new lines break."""
    notes: tuple[str, ...] = optional(())
    """Notes on parts that the answer leaves out."""
    status: str = SUCCESS


def make_dependent(found: Dependent) -> DependentRecord:
    uses = tuple(UseRecord(line, name) for line, name in found.uses)
    return DependentRecord(
        filePath=found.path, imports=found.imports, names=found.names, lines=found.lines, uses=uses, byName=found.is_by_name
    )  # fmt: skip

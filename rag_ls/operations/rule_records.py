"""What the operations on rules answer. Names are a contract: agents are configured for them (docs/rules.md)."""

# ruff: noqa: N815 - the keys are in camel case

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_ls.operations.fields import optional

SUCCESS = "success"


@dataclass(frozen=True, slots=True)
class DetectedPatterns:
    """What set-up found in the code."""

    middleware: tuple[str, ...]
    responseFormat: str | None
    frontendImports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetUpAnswer:
    """What set-up found and wrote."""

    projectRoot: str
    frontendDetected: str | None
    backendDetected: str | None
    chromaDbPath: str
    """The folder of the index, under the name that older tools gave it."""
    filesGenerated: tuple[str, ...]
    patternsDetected: DetectedPatterns
    message: str
    warning: str = optional("")
    filesLeftAlone: tuple[str, ...] = optional(())
    filesKept: tuple[str, ...] = optional(())
    """Where the former texts of replaced files are."""
    status: str = SUCCESS


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """Chunks by what they hold."""

    codebase: int
    constraints: int
    patterns: int


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be indexed."""

    file: str
    error: str


@dataclass(frozen=True, slots=True)
class RulesIndexedAnswer:
    """An index that was made anew."""

    projectRoot: str
    filesIndexed: int
    chunksCreated: int
    collectionStats: CollectionStats
    errors: tuple[FileError, ...]
    duration: float
    """In seconds."""
    message: str
    warning: str = optional("")
    status: str = SUCCESS


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """A section of a rule document."""

    content: str
    filePath: str
    type: str
    relevance: float
    keyRules: tuple[str, ...]
    lines: str
    keyRuleLines: tuple[int, ...] = optional(())
    """The line of each key rule."""
    section: str = optional("")
    why: str = optional("")
    namesPath: bool = optional(False)
    """Whether it names a file of the change, or stands in a folder above one."""


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """Code that does what the change is about."""

    content: str
    filePath: str
    lines: str
    type: str
    relevance: float


@dataclass(frozen=True, slots=True)
class ViolationRecord:
    """A place that breaks a rule that a machine checks."""

    rule: str
    severity: str
    message: str
    filePath: str
    line: int
    see: str = optional("")
    """The pattern to follow."""


@dataclass(frozen=True, slots=True)
class CheckedFileAnswer:
    """What breaks a rule in a file."""

    filePath: str
    violations: tuple[ViolationRecord, ...]
    status: str = SUCCESS


@dataclass(frozen=True, slots=True)
class ConstraintsAnswer:
    """The rules that apply to a planned change."""

    query: str
    constraints: tuple[RuleRecord, ...]
    patterns: tuple[RuleRecord, ...]
    examples: tuple[ExampleRecord, ...]
    summary: str
    violations: tuple[ViolationRecord, ...] = optional(())
    """What the added lines of a diff break."""
    checks: tuple[str, ...] = optional(())
    """The rules that a machine checks in a file: `id: message`."""
    status: str = SUCCESS


@dataclass(frozen=True, slots=True)
class DependentRecord:
    """A file that depends on another one."""

    filePath: str
    imports: tuple[str, ...]
    """As the file writes them."""
    names: tuple[str, ...] = optional(())
    """The names that it takes; `*` where it imports all."""


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


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """What a change of a file would touch."""

    filePath: str
    exports: tuple[str, ...]
    apiEndpoints: tuple[str, ...]
    websocketEvents: tuple[str, ...]
    dependents: tuple[DependentRecord, ...]
    similarFiles: tuple[SimilarRecord, ...]
    summary: str
    tests: tuple[str, ...] = ()
    memories: tuple[AnchoredMemory, ...] = optional(())
    dependentsTotal: int = 0
    dependentsBeyond: int = 0
    """How many files depend on the dependents, and on these, and so on."""
    status: str = SUCCESS


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """Whether a collection exists, and its size."""

    exists: bool
    chunks: int


@dataclass(frozen=True, slots=True)
class RulesHealthAnswer:
    """Whether rules can be asked for."""

    healthy: bool
    collections: Mapping[str, CollectionRecord]
    constraintFiles: Mapping[str, bool]
    queryTest: str
    lastIndexed: str | None
    issues: tuple[str, ...]
    warnings: tuple[str, ...]
    status: str = SUCCESS


@dataclass(frozen=True, slots=True)
class RulesStatusAnswer:
    """How the rules of the project stand."""

    initialized: bool
    projectRoot: str | None
    indexed: bool | None
    lastIndexed: str | None
    totalChunks: int | None
    collectionCounts: CollectionStats | None
    status: str = SUCCESS

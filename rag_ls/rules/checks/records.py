"""Rules that a machine checks, and what breaks them, as data."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from rag_ls.model import Import, Symbol
from rag_ls.util.records import dataclass


class Severity(StrEnum):
    """The weight of a violation; only errors make `rag-ls check` fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class ImportCheck:
    """The imports that files may, may not or must have. A pattern is a glob of project paths, or the name of a module."""

    forbidden: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    """Exceptions to `forbidden`; alone, all that files may import of the project."""
    required: tuple[str, ...] = ()
    indirect: bool = False
    """Whether a chain of imports counts as one."""


@dataclass(frozen=True, slots=True)
class LayersCheck:
    """Layers from the highest to the lowest: none may import one above it, not even by a chain of other files.

    Groups of files of which none may import another are one layer.
    """

    layers: tuple[tuple[str, ...], ...]
    """The path globs of each layer; several of one line may not import each other if `siblings_are_independent`."""
    siblings_are_independent: bool = False
    indirect: bool = True


@dataclass(frozen=True, slots=True)
class CyclesCheck:
    """Files must not import each other in a circle."""


@dataclass(frozen=True, slots=True)
class StructureCheck:
    """Code that must not be there, in the rule language of ast-grep; with `required`, what each match must satisfy."""

    languages: tuple[str, ...]
    match: Mapping[str, Any]
    """`rule`, and perhaps `constraints` and `utils`, as ast-grep has them."""
    required: Mapping[str, Any] | None = None
    """A rule of ast-grep that each match must satisfy too."""
    fix: str = ""
    """The text to put in a match's place, in which `$NAME` stands for what the rule has matched."""


@dataclass(frozen=True, slots=True)
class FileNameCheck:
    """The names of files: a style of `contracts.STYLES`, or a regular expression for the name without its suffix."""

    style: str


@dataclass(frozen=True, slots=True)
class SymbolNameCheck:
    """The names of declarations of a kind."""

    kind: str
    """`function`, `type`, `value`, or empty for all."""
    style: str


@dataclass(frozen=True, slots=True)
class PlaceCheck:
    """The place of files: they match one of these globs."""

    inside: tuple[str, ...]


Check = ImportCheck | LayersCheck | CyclesCheck | StructureCheck | FileNameCheck | SymbolNameCheck | PlaceCheck


@dataclass(frozen=True, slots=True)
class CheckRule:
    """One rule that a machine checks."""

    id: str
    check: Check
    message: str
    severity: Severity = Severity.ERROR
    files: tuple[str, ...] = ()
    """Globs of the files that it is for; empty for all."""
    not_files: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    """Known exceptions: globs of files, or of imports as `importing -> imported`; they are not reported."""
    see: str = ""
    """The document that explains it: a project path or an address."""
    path: str = ""
    """The file that states it."""
    line: int = 1


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A problem of a file of rules; with a low severity, a part of another tool's file that is not checked here."""

    path: str
    line: int
    message: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a project, and what is wrong with the files that state them."""

    rules: tuple[CheckRule, ...] = ()
    problems: tuple[RuleProblem, ...] = ()

    def __add__(self, other: RuleSet) -> RuleSet:
        return RuleSet((*self.rules, *other.rules), (*self.problems, *other.problems))


@dataclass(frozen=True, slots=True)
class TextRange:
    """A range of a text: lines from 1, columns in characters from 0, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Violation:
    """A place that breaks a rule."""

    rule: str
    message: str
    severity: Severity
    path: str
    place: TextRange
    see: str = ""
    stated_at: str = ""
    """`path:line` of the rule."""
    fix: str | None = None
    """The text that mends it, in its place; None where the rule gives none."""


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """A document as rules look at it."""

    path: str
    language: str
    text: str
    imports: tuple[Import, ...] = ()
    symbols: tuple[Symbol, ...] = ()

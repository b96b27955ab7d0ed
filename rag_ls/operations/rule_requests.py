"""What the operations on rules take. Names and limits are a contract: agents are configured for them (docs/rules.md)."""

from __future__ import annotations

from dataclasses import dataclass

from rag_ls.operations.fields import argument

MAX_RESULTS = 20
LEAST_DESCRIPTION_CHARACTERS = 3


@dataclass(frozen=True, slots=True)
class SetUpRules:
    """A project whose architecture and patterns are to be written down."""

    project_root: str = argument(
        "",
        "the project's folder, absolute (default at the shell: this one)",
        agents_required=True,
        is_path=True,
        is_root=True,
    )
    frontend_path: str = argument("", "the folder of the frontend, if it is not found", is_path=True)
    backend_path: str = argument("", "the folder of the backend, if it is not found", is_path=True)
    force: bool = argument(False, "write over existing files; their former text is kept beside", shell_alone=True)


@dataclass(frozen=True, slots=True)
class IndexRules:
    """A project that is indexed anew."""

    project_root: str = argument(
        "", "the project's folder, absolute (default: this project)", flag="-", is_path=True, is_root=True
    )


@dataclass(frozen=True, slots=True)
class CheckConstraints:
    """A planned change in words, a diff, or a file that is about to be edited: one of the three is enough."""

    change_description: str = argument("", "what is to be changed, in words")
    num_results: int | None = argument(None, "results of each kind, 1 to 20 (default: 5)")
    diff: str = argument("", "a unified diff; `-` reads it from the standard input")
    file_path: str = argument("", "the file about to be edited", flag="--file", is_path=True)


@dataclass(frozen=True, slots=True)
class QueryImpact:
    """A file, or a symbol in it, that is about to be changed."""

    file_path: str = argument(doc="a file, relative to the project's root", is_path=True)
    num_similar: int | None = argument(None, "similar files, 1 to 20 (default: 5)")
    symbol: str = argument("", "only this exported name")


@dataclass(frozen=True, slots=True)
class CheckFile:
    """A file to check as it is now."""

    file_path: str = argument(doc="a file, relative to the project's root", is_path=True)

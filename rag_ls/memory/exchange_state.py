"""The state of a folder of memory files after an exchange, kept beside the index: what was changed since is told from it."""

from __future__ import annotations

import json
from pathlib import Path

from rag_ls.util.files import read_regular, whole_file
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was after the last exchange, and the version of its memory then."""

    name: str
    digest: str
    version: int


@dataclass(frozen=True, slots=True)
class ExchangeState:
    """The commit, the stamp of the work tree and the files of one exchange."""

    head: str
    tree_stamp: tuple[tuple[int, ...], ...]
    files: dict[str, KnownFile]


def load_state(file: Path, folder: Path) -> ExchangeState | None:
    """The state after the last exchange; None if there was none with this folder."""
    try:
        values = json.loads(read_regular(file))
        if values["folder"] != str(folder):
            return None
        files = {str(memory_id): KnownFile(*row) for memory_id, row in values["files"].items()}
        return ExchangeState(str(values["head"]), tuple(map(tuple, values["tree"])), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # Lost or damaged: the files and the memories are compared anew.
        return None


def save_state(file: Path, folder: Path, state: ExchangeState) -> None:
    """Write the state to a file. Raises `OSError`."""
    rows = {memory_id: [each.name, each.digest, each.version] for memory_id, each in sorted(state.files.items())}
    values = {"folder": str(folder), "head": state.head, "tree": state.tree_stamp, "files": rows}
    with whole_file(file) as stream:
        json.dump(values, stream)

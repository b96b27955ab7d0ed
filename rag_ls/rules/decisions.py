"""Keeps the decisions of set-up about a project, in its data folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_ls.chunking import RULE_TOKENS, RuleKind
from rag_ls.project import DATA_FOLDER
from rag_ls.rules.sections import PRIORS
from rag_ls.util.decoding import read_json
from rag_ls.util.files import read_regular, whole_file
from rag_ls.util.records import asdict, dataclass, field

FILE_NAME = "rules.json"
OLD_FILE = ".rag/config.json"
"""The file in which an older tool keeps them."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of set-up. An older tool's file holds some of them."""

    project_root: str
    frontend: str | None = None
    """Relative to the root; empty for the root itself."""
    backend: str | None = None
    set_up_at: str = ""
    last_indexed: str = ""
    """RFC 3339, UTC."""
    suffixes: tuple[str, ...] = ()
    """The suffixes of the files that are indexed."""
    excluded: tuple[str, ...] = ()
    """Patterns that the settings leave out."""
    chunk_tokens: int = RULE_TOKENS
    overlap_tokens: int = 0
    weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "constraints": PRIORS[RuleKind.CONSTRAINT],
            "patterns": PRIORS[RuleKind.PATTERN],
            "codebase": PRIORS["code"],
        }
    )


def read_decisions(root: Path) -> Decisions | None:
    """The decisions for a project; None if it was never set up, or the file is damaged."""
    own = {} if (root / DATA_FOLDER).is_symlink() else _json(root / DATA_FOLDER / FILE_NAME)
    if own:
        known = {key: own[key] for key in Decisions.__dataclass_fields__ if key in own}
        lists = {key: tuple(own.get(key) or ()) for key in ("suffixes", "excluded")}
        return Decisions(**{**known, **lists, "project_root": str(root)})
    old = _json(root / OLD_FILE)
    if not old:
        return None
    return Decisions(str(root), _read_folder(root, old, "frontend"), _read_folder(root, old, "backend"))


def write_decisions(root: Path, decisions: Decisions) -> None:
    """Store the decisions. Raises `OSError`."""
    with whole_file(root / DATA_FOLDER / FILE_NAME) as stream:
        json.dump(asdict(decisions), stream, indent=2)
        stream.write("\n")


def _json(path: Path) -> dict[str, Any]:
    try:
        found = read_json(read_regular(path, follow=False))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_folder(root: Path, old: Mapping[str, Any], name: str) -> str | None:
    """The folder of the frontend or backend in an older tool's file, relative to the root."""
    value = next((old[key] for key in (f"{name}Path", f"{name}_path", name) if isinstance(old.get(key), str)), None)
    if not value:
        return None
    place = Path(value)
    if place.is_absolute():
        return place.relative_to(root).as_posix().removeprefix(".") if place.is_relative_to(root) else None
    return place.as_posix().removeprefix(".") if value != "." else ""

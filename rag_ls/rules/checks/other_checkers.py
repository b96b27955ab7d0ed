"""Names the commands that check the rules of other tools: those rules are theirs, and are not read here."""

from __future__ import annotations

from collections.abc import Callable, Collection

_CRUISER_FILES = tuple(f".dependency-cruiser.{end}" for end in ("json", "js", "cjs", "mjs"))
_LINTER_FILES = (".importlinter", "setup.cfg", "pyproject.toml")


def name_other_checkers(paths: Collection[str], read: Callable[[str], str]) -> list[str]:
    """A note on each configuration of import-linter and dependency-cruiser, with the command that checks by it."""
    found = {path: "npx depcruise ." for path in _CRUISER_FILES if path in paths}
    for path in _LINTER_FILES:
        if path in paths and "importlinter" in (path if path.startswith(".") else read(path)):
            found[path] = "lint-imports"
    return [f"{path} is not read here: `{command}` checks by it" for path, command in found.items()]

"""Recognises an ARCHITECTURE.yml of another tool, which is left alone."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

SECTIONS = (
    "stacks", "layers", "middleware", "decorators", "responses", "imports", "naming", "errors", "tests", "endpoints", "events",
)  # fmt: skip
"""The keys of ARCHITECTURE.yml that hold claims; beside them stand `project` and `rules`."""
_OURS = frozenset({*SECTIONS, "project", "rules"})
_MAX_NAMED = 5


def name_foreign_keys(keys: AbstractSet[str]) -> str:
    """Some keys of an ARCHITECTURE.yml that has none of ours; empty for one that has."""
    return ", ".join(sorted(keys)[:_MAX_NAMED]) if keys.isdisjoint(_OURS) else ""

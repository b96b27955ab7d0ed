"""Recognises an ARCHITECTURE.yml of another tool, which is left alone."""

from __future__ import annotations

import re

from rag_ls.rules.checks.yaml_text import RulesUnreadable, parse_yaml

SECTIONS = (
    "stacks", "layers", "middleware", "responses", "imports", "naming", "errors", "tests", "endpoints", "events",
)  # fmt: skip
"""The keys of ARCHITECTURE.yml that hold claims; beside them stand `project` and `rules`."""
# People head their own rules with the others.
_OURS = frozenset(
    {*SECTIONS, "project", "rules", "principles", "guidelines", "constraints", "conventions", "policies", "standards"}
)
# A text with such a word was written for people.
_DIRECTIVE = re.compile(
    r"\b(?:must|never|always|shall|should|do not|don't|forbidden|no|not|cannot|only|avoid|use|prefer|keep)\b",
    re.IGNORECASE,
)
_MAX_NAMED = 5


def name_foreign_keys(text: str, path: str) -> str:
    """Some keys of an ARCHITECTURE.yml that has none of ours, and tells nobody what to do; empty for any other."""
    if _DIRECTIVE.search(text):
        return ""
    try:
        content, _ = parse_yaml(text, path)
    except RulesUnreadable:
        return ""
    if not isinstance(content, dict):
        return ""
    keys = sorted(map(str, content))
    return ", ".join(keys[:_MAX_NAMED]) if _OURS.isdisjoint(map(str.casefold, keys)) else ""

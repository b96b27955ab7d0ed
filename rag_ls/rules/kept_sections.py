"""Keeps what people wrote in an ARCHITECTURE.yml when set-up writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rag_ls.rules.checks.records import RuleProblem
from rag_ls.rules.checks.yaml_text import RulesUnreadable, parse_yaml
from rag_ls.rules.other_tools import SECTIONS
from rag_ls.util.records import dataclass


@dataclass(frozen=True, slots=True)
class _Section:
    key: str
    text: str
    """The comment directly above it included."""
    has_anchor: bool


def keep_sections(text: str, former: str, path: str) -> str:
    """A generated text, with the sections of a former one that are people's in place of its own.

    These are `rules:`, each key that set-up does not write, and each section with an anchor, which rules may refer to.
    Raises `RulesUnreadable` for a former text that is no YAML, or whose sections are no blocks of lines.
    """
    parse_yaml(former, path)
    kept = [each for each in _read_sections(former, path) if each.key not in (*SECTIONS, "project") or each.has_anchor]
    if not kept:
        return text
    keys = {each.key for each in kept}
    generated = list(_read_sections(text, path))
    head = text[: text.index(generated[0].text)]
    texts = [each.text for each in generated if each.key not in keys] + [each.text for each in kept]
    return head + "\n\n".join(each.rstrip() for each in texts) + "\n"


def _read_sections(text: str, path: str) -> Iterator[_Section]:
    """The sections of a text that is a mapping; none of another one."""
    import yaml

    root = yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if not isinstance(root, yaml.MappingNode) or not root.value:
        return
    if root.flow_style:
        raise RulesUnreadable(RuleProblem(path, 1, "its keys do not stand on lines of their own"))
    lines = text.splitlines(keepends=True)
    tokens = yaml.scan(text) if "&" in text else ()
    anchors = [token.start_mark.line for token in tokens if isinstance(token, yaml.AnchorToken)]
    starts = [_start_with_comment(lines, key.start_mark.line) for key, _ in root.value]
    for (key, _), (start, end) in zip(root.value, pairwise([*starts, len(lines)]), strict=True):
        yield _Section(str(key.value), "".join(lines[start:end]), any(start <= line < end for line in anchors))


def _start_with_comment(lines: list[str], line: int) -> int:
    while line and lines[line - 1].startswith("#"):
        line -= 1
    return line

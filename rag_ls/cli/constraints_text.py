"""The rules for a change as text: at a shell their sentences, and with `--all` whole sections and the code of examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_ls.cli.backend import Json
from rag_ls.cli.terminal import FAINT, NAME, PLACE, Paint
from rag_ls.cli.wording import in_words_of_the_shell
from rag_ls.util.patterns import lazy_pattern

_HEADINGS = lazy_pattern(r"\A(?:#{1,6}[ \t][^\n]*\n\s*)+")
_MAX_EXCERPT_LINES = 12
_MAX_BRIEF_LINES, _MAX_BRIEF_WIDTH = 4, 160
_MAX_BRIEF_CHECKS = 8
_NO_RULE = lazy_pattern(r"\s*(?:```.*|<!--.*|[-=*_|: ]*)")
"""A line that says nothing by itself: a fence, a comment, a rule across the page, the line below a table's head."""
_NO_CODE = lazy_pattern(r"\s*(?:[#*@/{}()\[\]]|--|<!--|$)")


def render_constraints(answer: Json, style: Paint, *, whole: bool) -> str:
    """The broken rules, those that apply, and examples; `whole` shows all of their texts that the answer has."""
    broken = [_violation(record, style) for record in answer.get("violations", ())]
    parts = ["\n".join(broken)] if broken else []
    rules = [record for kind in ("constraints", "patterns") for record in answer[kind]]
    parts += [_rule(record, style, whole=whole) for record in rules]
    if whole:
        parts += [_example(record, style) for record in answer["examples"]]
    elif answer["examples"]:
        parts.append("\n".join(_example_line(record, style) for record in answer["examples"]))
    checks = [f"checked  {each}" for each in answer.get("checks", ())]
    if len(checks) > _MAX_BRIEF_CHECKS + 1 and not whole:
        checks[_MAX_BRIEF_CHECKS:] = [f"checked  {len(checks) - _MAX_BRIEF_CHECKS} more rules"]
    parts += ["\n".join(checks)] if checks else []
    more = "" if whole or not (rules or answer["examples"]) else "; --all shows whole sections and the code"
    return "\n\n".join([*parts, in_words_of_the_shell(answer["summary"]) + more])


def _violation(record: Json, style: Paint) -> str:
    place = style.style(f"{record['filePath']}:{record['line']}", PLACE)
    see = f"  (see {record['see']})" if record.get("see") else ""
    return f"{place}  {record['severity']}  {style.style(record['rule'], NAME)}  {record['message']}{see}"


def _rule(record: Json, style: Paint, *, whole: bool) -> str:
    head = (
        f"{record['relevance']:.2f}  {style.style(record['filePath'] + ':' + record['lines'], PLACE)}  "
        f"{style.style(record.get('section', ''), NAME)}  {style.style(record['type'], FAINT)}"
    )
    text = _HEADINGS.sub("", record["content"])
    if not whole:
        return "\n".join([head, *_brief_lines(text, record["keyRules"])])
    shown = "\n".join(text.splitlines()[:_MAX_EXCERPT_LINES])
    further = [rule for rule in record["keyRules"] if rule.partition("\n")[0].removesuffix("…") not in shown]
    return "\n".join([head, *_indent([text, *further])])


def _brief_lines(text: str, key_rules: Sequence[str]) -> Iterator[str]:
    """The first lines of the sentences that command, and of what else the section says."""
    commanding = [line for each in key_rules for line in each.splitlines()]
    told = [line.removesuffix("…").strip() for line in commanding]
    others = [line for line in text.splitlines() if not any(each in line for each in told if each)]
    lines = [line for line in (*commanding, *others) if not _NO_RULE.fullmatch(line)]
    for line in lines[:_MAX_BRIEF_LINES]:
        yield f"    {line if len(line) <= _MAX_BRIEF_WIDTH else line[:_MAX_BRIEF_WIDTH].rstrip() + '…'}"
    if len(lines) > _MAX_BRIEF_LINES:
        yield "    ..."


def _example(record: Json, style: Paint) -> str:
    place = style.style(f"{record['filePath']}:{record['lines']}", PLACE)
    return "\n".join([f"{record['relevance']:.2f}  {place}", *_indent([record["content"]])])


def _example_line(record: Json, style: Paint) -> str:
    """An example's place and its first line of code."""
    lines = record["content"].splitlines()
    first = next((line.strip() for line in lines if not _NO_CODE.match(line)), "")[:_MAX_BRIEF_WIDTH]
    return f"{record['relevance']:.2f}  {style.style(record['filePath'] + ':' + record['lines'], PLACE)}  {first}"


def _indent(texts: Sequence[str]) -> list[str]:
    found = []
    for text in texts:
        lines = text.splitlines()
        found += [f"    {line}" for line in lines[:_MAX_EXCERPT_LINES]]
        found += ["    ..."] if len(lines) > _MAX_EXCERPT_LINES else []
    return found

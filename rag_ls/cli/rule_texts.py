"""The answers about rules and impact as text: their places and first lines, with `--all` whole sections and examples."""

from __future__ import annotations

import textwrap

from rag_ls.cli.backend import Json
from rag_ls.cli.terminal import FAINT, NAME, PLACE, Paint
from rag_ls.cli.verbs import in_words_of_the_shell
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.text import fold

_HEADINGS = lazy_pattern(r"\A(?:#{1,6}[ \t][^\n]*\n\s*)+")
_MAX_LINES, _MAX_COLUMNS = 4, 160
_MAX_CHECKS = 8
_MAX_SHOWN = 50
_MAX_USES = 8
_MAX_NAMES = 6
_MAX_CHARACTERS = 300
_NO_RULE = lazy_pattern(r"\s*(?:```.*|<!--.*|[-=*_|: ]*)")
"""A line that says nothing by itself: a fence, a comment, a rule across the page, the line below a table's head."""
_NO_CODE = lazy_pattern(r"\s*(?:[#*@/{}()\[\]]|--|<!--|$)")
_WHY = {
    "added": "new", "removed": "is gone", "signature": "is declared otherwise", "body": "does something else",
}  # fmt: skip


def render_constraints(answer: Json, style: Paint, *, whole: bool) -> str:
    """Return the broken rules, those that apply, and examples; `whole` shows all of their texts that the answer has."""
    parts = ["\n".join(_format_violation(record, style) for record in answer.get("violations", ()))]
    rules = [record for kind in ("constraints", "patterns") for record in answer[kind]]
    parts += ["\n".join(_format_rule(record, style, whole=whole)) for record in rules]
    examples = ["\n".join(_format_example(record, style, whole=whole)) for record in answer["examples"]]
    parts.append(("\n\n" if whole else "\n").join(examples))
    checks = [f"checked  {each}" for each in answer.get("checks", ())]
    if len(checks) > _MAX_CHECKS + 1 and not whole:
        checks[_MAX_CHECKS:] = [f"checked  {len(checks) - _MAX_CHECKS} more rules"]
    more = "" if whole or not (rules or examples) else "; --all shows whole sections and the code"
    parts += ["\n".join(checks), in_words_of_the_shell(answer["summary"]) + more]
    return "\n\n".join(filter(None, parts))


def _format_violation(record: Json, style: Paint) -> str:
    place = style.style(f"{record['filePath']}:{record['line']}", PLACE)
    see = f"  (see {record['see']})" if record.get("see") else ""
    return f"{place}  {record['severity']}  {style.style(record['rule'], NAME)}  {record['message']}{see}"


def _format_rule(record: Json, style: Paint, *, whole: bool) -> list[str]:
    """Return the place of a section, and its lines: in brief the sentences that command, then the others, the first few."""
    section, kind = style.style(record.get("section", ""), NAME), style.style(record["type"], FAINT)
    text = _HEADINGS.sub("", record["content"])
    commanding = [line for each in record["keyRules"] for line in each.splitlines()]
    told = [line.removesuffix("…").strip() for line in commanding]
    if whole:
        lines = [*text.splitlines(), *(line for line, rule in zip(commanding, told, strict=True) if rule not in text)]
    else:
        others = (line for line in text.splitlines() if not any(rule in line for rule in told if rule))
        lines = [_cut_line(line) for line in (*commanding, *others) if not _NO_RULE.fullmatch(line)]
        lines[_MAX_LINES:] = ["..."] if len(lines) > _MAX_LINES else []
    return [f"{_format_place(record, style)}  {section}  {kind}", *(f"    {line}" for line in lines)]


def _cut_line(line: str) -> str:
    """Return a line, cut where it is long."""
    return line if len(line) <= _MAX_COLUMNS else line[:_MAX_COLUMNS].rstrip() + "…"


def _format_example(record: Json, style: Paint, *, whole: bool) -> list[str]:
    """Return an example's place with its first line of code, or with all of it."""
    lines, place = record["content"].splitlines(), _format_place(record, style)
    if whole:
        return [place, *(f"    {line}" for line in lines)]
    first = next((line.strip() for line in lines if not _NO_CODE.match(line)), "")
    return [f"{place}  {first[:_MAX_COLUMNS]}"]


def _format_place(record: Json, style: Paint) -> str:
    return f"{record['relevance']:.2f}  {style.style(record['filePath'] + ':' + record['lines'], PLACE)}"


# --- impact


def render_impact(answer: Json, style: Paint) -> str:
    """Return the impact of a file, a symbol or a change as text."""

    def place(path: str, text: str) -> str:
        return f"{style.style(path, PLACE)}  {text}".rstrip()

    is_change, changes = bool(answer.get("base")), answer.get("changes", ())
    sections = {
        "must change along" if is_change else "dependents": [
            place(each["filePath"], _say_uses(each)) for each in answer["dependents"]
        ],
        "public names": [
            place(f"{each['filePath']}:{name['line']}", f"{name['name']}  {_WHY.get(name['change'], name['change'])}")
            for each in changes for name in each.get("names", ())
        ],
        "exports": [] if is_change else answer["exports"],
        "endpoints": answer["apiEndpoints"],
        "events": answer["websocketEvents"],
        "tests": answer["tests"],
        "tests that reach it": [place(each["filePath"], f"through {each['through']}") for each in answer.get("testsThrough", ())],
        "similar": [f"{each['similarity']:.2f}  {each['filePath']}  ({each['reason']})" for each in answer["similarFiles"]],
        "rules broken": [
            place(f"{each['filePath']}:{each['line']}", f"{each['rule']}: {fold(each['message'], _MAX_CHARACTERS)}")
            for each in answer.get("violations", ())
        ],
        "rules": [
            place(f"{each['filePath']}:{each['lines']}", fold(each["section"], _MAX_CHARACTERS)) for each in answer.get("rules", ())
        ],
        "memories": list(map(_format_memory, answer.get("memories", ()))),
        "not looked into": [place(each["filePath"], each["note"]) for each in changes if each.get("note")],
    }  # fmt: skip
    parts = [answer["summary"]]
    for title, items in sections.items():
        more = [f"({len(items) - _MAX_SHOWN} more: --json lists them)"] if len(items) > _MAX_SHOWN else []
        if items:
            parts.append(
                f"{style.style(title, NAME)}\n" + textwrap.indent("\n".join([*items[:_MAX_SHOWN], *more]), "    ")
            )
    return "\n\n".join([*parts, *answer.get("notes", ())])


def _format_memory(memory: Json) -> str:
    state = memory.get("state") or "fresh"
    parts = (
        memory["id"][:8],
        memory.get("filePath"),
        fold(memory["content"], _MAX_CHARACTERS),
        f"({state})" * (state != "fresh"),
    )
    return "  ".join(filter(None, parts))


def _say_uses(record: Json) -> str:
    """Return the names that a file uses, each with its lines; without names, the lines alone."""
    by_name: dict[str, list[int]] = {}
    for use in record.get("uses", ()):
        by_name.setdefault(use["name"], []).append(use["line"])
    named = [f"{name} {_join_lines(lines)}" for name, lines in list(by_name.items())[:_MAX_NAMES]]
    lines = f"line {_join_lines(record['lines'])}" if record.get("lines") else ""
    return ("; ".join(named) or lines) + ("  (by name)" if record.get("byName") else "")


def _join_lines(lines: list[int]) -> str:
    return ",".join(map(str, lines[:_MAX_USES])) + ("…" if len(lines) > _MAX_USES else "")

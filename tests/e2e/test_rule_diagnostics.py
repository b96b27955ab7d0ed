"""An editor shows what breaks a rule while it is typed, with quick fixes and lenses."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.e2e.clients import Editor, editor, eventually, uri_of
from tests.support import write

pytestmark = pytest.mark.shared_engine

RULES = """rules:
  - id: no-print
    language: python
    files: src/**
    forbid: print($$$)
    message: NEVER print in the library
    see: docs/patterns/logging.md
"""
PROJECT = {
    "ARCHITECTURE.yml": RULES,
    "docs/patterns/logging.md": "# Logging\n\nUse the log.\n",
    "src/rates.py": "def vat(amount):\n    return amount\n",
    "src/price.py": "from src.rates import vat\n\n\ndef total():\n    return vat(1)\n",
    "tests/test_rates.py": "from src.rates import vat\n\n\ndef test_it():\n    assert vat(1)\n",
}


async def _pulled(ed: Editor, file: Path, wanted: Callable[[list[Any]], bool]) -> list[types.Diagnostic]:
    found: list[types.Diagnostic] = []

    async def is_so() -> bool:
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri_of(file)))
        found[:] = (await ed.client.text_document_diagnostic_async(params)).items
        return wanted(found)

    assert await eventually(is_so)
    return found


async def _pushed(ed: Editor, file: Path, wanted: Callable[[list[Any]], bool]) -> list[types.Diagnostic]:
    async def is_so() -> bool:
        return wanted(list(ed.client.diagnostics.get(uri_of(file), ())))

    assert await eventually(is_so)
    return list(ed.client.diagnostics.get(uri_of(file), ()))


@pytest.mark.slow
async def test_a_broken_rule_is_told_while_it_is_typed(project: Path) -> None:
    file = write(project, PROJECT) / "src/rates.py"
    async with editor(project, capabilities="neovim") as ed:
        await ed.until_complete()
        ed.open(file)
        assert await _pulled(ed, file, lambda found: not found) == []
        ed.replace_all(file, "def vat(amount):\n    é = 'é'; print(amount)\n    return amount\n")
        (found,) = await _pulled(ed, file, lambda found: len(found) == 1)
        assert (found.message, found.code, found.severity) == ("NEVER print in the library", "no-print", 1)
        assert (found.range.start.line, found.range.start.character) == (1, 15), "in UTF-8"
        assert found.code_description
        assert found.code_description.href.endswith("ARCHITECTURE.yml#L2")
        ed.replace_all(file, "def vat(amount):\n    print(amount)  # rag-ls: ignore[no-print] shown to people\n")
        await _pulled(ed, file, lambda found: not found)
        ed.replace_all(file, "print(1)\n" * 10_000)
        *_, last = await _pulled(ed, file, lambda found: len(found) == 101)
        assert last.message.startswith("9,900 more places in this file break the rule no-print")


@pytest.mark.slow
async def test_an_editor_that_does_not_ask_is_sent_diagnostics(project: Path) -> None:
    file = write(project, PROJECT) / "src/rates.py"
    async with editor(project, capabilities="emacs") as ed:
        await ed.until_complete()
        ed.open(file)
        ed.replace_all(file, "print('now')\n")
        await _pushed(ed, file, lambda found: [each.code for each in found] == ["no-print"])
        ed.replace_all(file, "\n")
        await _pushed(ed, file, lambda found: not found)


@pytest.mark.slow
async def test_a_rule_being_written_counts_at_once_and_broken_yaml_keeps_the_last_good_rules(project: Path) -> None:
    file, rules = write(project, PROJECT) / "src/rates.py", project / "ARCHITECTURE.yml"
    async with editor(project, capabilities="neovim") as ed:
        await ed.until_complete()
        ed.open(file, "print(1)\nvat = eval('1')\n")
        ed.open(rules, RULES, "yaml")
        await _pulled(ed, file, lambda found: [each.code for each in found] == ["no-print"])
        more = "  - id: no-eval\n    language: python\n    forbid: eval($$$)\n"
        ed.replace_all(rules, RULES + more)
        await _pulled(ed, file, lambda found: [each.code for each in found] == ["no-print", "no-eval"])
        ed.replace_all(rules, RULES + more + "broken: [\n")
        (problem,) = await _pulled(ed, rules, lambda found: len(found) == 1)
        assert "no YAML" in problem.message
        assert len(await _pulled(ed, file, lambda found: len(found) == 2)) == 2
        ed.replace_all(rules, RULES + "  - id: wrong\n    language: python\n    rule: {kind: no_such_kind}\n")
        (problem,) = await _pulled(ed, rules, lambda found: any("no_such_kind" in each.message for each in found))
        assert problem.range.start.line == 7


async def _quick_fixes(ed: Editor, file: Path) -> tuple[types.Diagnostic, dict[str, Any]]:
    """The only finding of a file, and its quick fixes by title."""
    (found,) = await _pulled(ed, file, lambda found: len(found) == 1)
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(uri_of(file)), found.range,
        types.CodeActionContext([found], only=[types.CodeActionKind.QuickFix]),
    )  # fmt: skip
    return found, {action.title: action for action in await ed.client.text_document_code_action_async(params)}


@pytest.mark.slow
async def test_quick_fixes_show_suppress_and_remember(project: Path) -> None:
    file = write(project, PROJECT) / "src/rates.py"
    async with editor(project, capabilities="neovim") as ed:
        await ed.until_complete()
        ed.open(file, "def vat(amount):\n    print(amount)\n")
        _, actions = await _quick_fixes(ed, file)
        assert set(actions) == {
            "Suppress no-print here (with a reason)", "Remember this exception to no-print", "Show the rule no-print",
            "Show the pattern for no-print",
        }  # fmt: skip
        (edit,) = actions["Suppress no-print here (with a reason)"].edit.changes[uri_of(file)]
        assert edit.new_text == "    # rag-ls: ignore[no-print]\n"
        ed.replace_all(file, f"def vat(amount):\n{edit.new_text}    print(amount)\n")
        codes = [each.code for each in await _pulled(ed, file, lambda found: len(found) == 2)]
        assert codes == ["suppression-without-reason", "no-print"], "a reason is asked for"
        # The test client's library takes a code action that carries a command for that command, its object made a string.
        remembered = ast.literal_eval(str(actions["Remember this exception to no-print"].command))
        (argument,) = remembered["arguments"]
        answer = await ed.command(remembered["command"].removeprefix("ragLs."), **argument)
        assert answer["status"] == "inserted"
        listed = await ed.command("listMemories", filters={"tags": ["exception"]})
        assert "no-print" in listed["memories"][0]["content"]


@pytest.mark.slow
async def test_a_rule_s_fix_is_a_quick_fix(project: Path) -> None:
    rules = "rules:\n  - {id: no-print, language: python, forbid: print($A), fix: log.info($A)}\n"
    file = write(project, {**PROJECT, "ARCHITECTURE.yml": rules}) / "src/rates.py"
    async with editor(project, capabilities="neovim") as ed:
        await ed.until_complete()
        ed.open(file, "def vat(amount):\n    print(amount)\n")
        found, actions = await _quick_fixes(ed, file)
        (edit,) = actions["Mend no-print: log.info(amount)"].edit.changes[uri_of(file)]
        assert (edit.new_text, edit.range) == ("log.info(amount)", found.range)


@pytest.mark.slow
async def test_the_workspace_is_checked_and_a_lens_counts_uses(project: Path) -> None:
    write(project, {**PROJECT, "src/other.py": "print('unopened')\n"})
    async with editor(project, capabilities="neovim") as ed:
        await ed.until_complete()
        answer = await ed.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=[]))
        broken = {Path(report.uri).name for report in answer.items if report.items}
        assert broken == {"other.py"}
        ed.open(project / "src/rates.py")
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri_of(project / "src/rates.py")))

        async def titles() -> list[str]:
            found = await ed.client.text_document_code_lens_async(params)
            return [lens.command.title for lens in found or () if lens.command]

        async def is_counted() -> bool:
            return "used in 2 files, 1 test" in await titles()

        assert await eventually(is_counted)
        answer = await ed.command("showUses", uri=uri_of(project / "src/rates.py"), symbol="vat")
        assert {each["path"] for each in answer["references"]} == {"src/price.py", "tests/test_rates.py"}
        assert answer["root"] == uri_of(project)
        assert any("used in\nsrc/price.py:1, 5\n" in message.message for message in ed.client.messages)
        told = len(ed.client.messages)
        again = await ed.command("showUses", uri=uri_of(project / "src/rates.py"), symbol="vat", listed=True)
        assert (again, len(ed.client.messages)) == (answer, told)


@pytest.mark.slow
async def test_a_hover_on_a_path_shows_the_rules_that_name_it(project: Path) -> None:
    rules = {"CONSTRAINTS.md": "# Rules\n\n## Rates\n\nWhat is in `src/rates.py` MUST be exact.\n"}
    write(project, {**PROJECT, **rules, "notes.md": "See src/rates.py and src/price.py for that.\n"})
    async with editor(project) as ed:
        await ed.until_complete()
        ed.open(project / "notes.md", language="markdown")

        async def is_shown() -> bool:
            return "MUST be exact" in await ed.hover(project / "notes.md", 0, 8)

        assert await eventually(is_shown)
        assert "MUST be exact" not in await ed.hover(project / "notes.md", 0, 26)

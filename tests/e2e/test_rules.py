"""Rules through real processes: an agent's tools, an editor's commands and the shell's verbs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.daemon.engines import answer, run
from tests.e2e.clients import agent, editor
from tests.support import write

pytestmark = pytest.mark.shared_engine

RULES = {"CONSTRAINTS.md": "# Constraints\n\n## Rounding\n\nInvoice amounts MUST be rounded half up.\n"}


@pytest.mark.slow
async def test_an_agent_an_editor_and_the_shell_get_the_same_rules(project: Path) -> None:
    write(project, RULES)
    change = {"change_description": "change the rounding of invoice amounts"}
    async with agent(project) as ag, editor(project) as ed:
        await ag.until_complete()
        tools = {tool.name: tool for tool in (await ag.session.list_tools()).tools}
        assert {name for name in tools if name.startswith("rag_")} == {
            "rag_setup", "rag_index", "rag_check_constraints", "rag_query_impact", "rag_health_check", "rag_status",
        }  # fmt: skip
        assert tools["rag_index"].annotations.destructive_hint
        assert not tools["rag_setup"].annotations.destructive_hint
        assert tools["rag_query_impact"].annotations.read_only_hint
        told = await ag.call("rag_check_constraints", **change)
        assert told["constraints"][0]["keyRules"] == ["Invoice amounts MUST be rounded half up."]
        assert (await ed.command("checkConstraints", **change))["constraints"][0] == told["constraints"][0]
        impact = await ag.call("rag_query_impact", file_path="src/billing/invoice.py")
        assert (await ed.command("impact", file_path="src/billing/invoice.py"))["exports"] == impact["exports"]
        assert "is not in the index" in await ag.refusal("rag_query_impact", file_path="src/billing/invoices.py")
    shown = answer("rules", "check", change["change_description"], folder=project)
    assert shown["constraints"][0]["keyRules"] == told["constraints"][0]["keyRules"]


def test_the_shell_shows_a_section_and_not_its_key_rules_alone(project: Path) -> None:
    steps = "".join(f"{number}. Step {number}.\n" for number in range(1, 15))
    text = f"# Rules\n\n## Rounding\n\nAmounts of invoices are rounded in `invoice.py`:\n\n{steps}\nThey MUST be rounded half up.\n"
    write(project, {"CONSTRAINTS.md": text})
    shown = run("rules", "check", "change the rounding of invoice amounts", folder=project).stdout.split("\n\n")[0]
    assert "    Amounts of invoices are rounded in `invoice.py`:\n" in shown
    assert "    They MUST be rounded half up.\n" in shown
    assert "Step 14" not in shown
    assert "## Rounding" not in shown


def test_the_shell_sets_rules_up_and_shows_them(project: Path) -> None:
    result = run("rules", "setup", "--yes", folder=project)
    assert result.returncode == 0, result.stderr
    assert "ARCHITECTURE.yml" in result.stdout
    assert "files_read: 0" not in (project / "ARCHITECTURE.yml").read_text("utf-8")
    assert "projectRoot:" in run("rules", "status", folder=project).stdout
    impact = run("rules", "impact", "src/billing/invoice.py", folder=project)
    assert "exports" in impact.stdout
    health = run("rules", "health", "--json", folder=project)
    assert json.loads(health.stdout)["healthy"]
    assert run("rules", "impact", "/etc/passwd", folder=project).returncode == 1

"""Of other tools' rules the command is named; a file of rules that breaks keeps the last good ones."""

from __future__ import annotations

from rag_ls.languages import SourceTree
from rag_ls.rules.checks import records
from rag_ls.rules.checks.architecture import RuleFiles
from rag_ls.rules.checks.project import name_other_checkers


def test_a_file_that_breaks_keeps_its_last_good_rules() -> None:
    files, kept = {"ARCHITECTURE.yml": "rules:\n  - {id: a, no_cycles: true}\n"}, RuleFiles()
    tree = SourceTree(files, lambda path: files[path])
    assert [rule.id for rule in kept.read(tree).rules] == ["a"]
    files["ARCHITECTURE.yml"] = "rules: [\n"
    found = kept.read(tree)
    assert ([rule.id for rule in found.rules], len(found.problems)) == (["a"], 1)
    files["ARCHITECTURE.yml"] = "rules: []\n"
    assert kept.read(tree) == records.RuleSet()


def test_the_commands_that_check_by_other_tools_rules_are_named() -> None:
    files = {
        ".importlinter": "[importlinter]\n", "setup.cfg": "[metadata]\n", "pyproject.toml": "[tool.importlinter]\n",
        ".dependency-cruiser.cjs": "module.exports = {}\n", "sgconfig.yml": "ruleDirs: [rules]\n",
    }  # fmt: skip
    tree = SourceTree(files, lambda path: files.get(path, ""))
    assert RuleFiles().read(tree) == records.RuleSet()
    assert name_other_checkers(files, files.__getitem__) == [
        ".dependency-cruiser.cjs is not read here: `npx depcruise .` checks by it",
        "sgconfig.yml is not read here: `ast-grep scan` checks by it",
        ".importlinter is not read here: `lint-imports` checks by it",
        "pyproject.toml is not read here: `lint-imports` checks by it",
    ]

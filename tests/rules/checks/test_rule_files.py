"""A file of rules that breaks keeps the last good ones."""

from __future__ import annotations

from rag_ls.languages import SourceTree
from rag_ls.rules.checks import records
from rag_ls.rules.checks.architecture import RuleFiles


def test_a_file_that_breaks_keeps_its_last_good_rules() -> None:
    files, kept = {"ARCHITECTURE.yml": "rules:\n  - {id: a, no_cycles: true}\n"}, RuleFiles()
    tree = SourceTree(files, lambda path: files[path])
    assert [rule.id for rule in kept.read(tree).rules] == ["a"]
    files["ARCHITECTURE.yml"] = "rules: [\n"
    found = kept.read(tree)
    assert ([rule.id for rule in found.rules], len(found.problems)) == (["a"], 1)
    files["ARCHITECTURE.yml"] = "rules: []\n"
    assert kept.read(tree) == records.RuleSet()

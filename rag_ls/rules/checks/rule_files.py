"""Gathers a project's rules from all files that state them: our own, and those of ast-grep."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rag_ls.languages import SourceTree
from rag_ls.rules.checks import ast_grep_files
from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.folder_rules import place_rules
from rag_ls.rules.checks.records import RuleSet
from rag_ls.rules.checks.yaml_text import RulesUnreadable
from rag_ls.rules.scopes import is_foreign

ARCHITECTURE_FILES = ("ARCHITECTURE.yml", "ARCHITECTURE.yaml")
RULE_FILES = (*ARCHITECTURE_FILES, *ast_grep_files.CONFIG_FILES)
"""The files that may state rules, or name folders of them."""
SEVERAL_FILES = ast_grep_files.CONFIG_FILES
"""Those of them whose rules depend on more files."""

_OF_PACKAGES = tuple(f"/{name}" for name in ARCHITECTURE_FILES)


class RuleFiles:
    """The rules of a project. A file that cannot be read keeps the rules that it had when it last could."""

    def __init__(self, read_file: Callable[[str, SourceTree], RuleSet | None] | None = None) -> None:
        """`read_file` does what `read_rule_file` does, perhaps in a process that may die."""
        self._read_file = read_file or read_rule_file
        self._good: dict[str, RuleSet] = {}

    def read(self, tree: SourceTree) -> RuleSet:
        """The rules that the files of a tree state now; `tree.read` gives their texts."""
        found = RuleSet()
        for path in (*RULE_FILES, *find_packages_rules(tree.paths)):
            try:
                stated = self._read_file(path, tree) if path in tree.paths else None
                if stated is None:
                    self._good.pop(path, None)
                else:
                    self._good[path] = stated
                    found += stated
            except RulesUnreadable as error:
                former = self._good.get(path, RuleSet())
                found += RuleSet(former.rules, (error.problem,))
        return found


def find_packages_rules(paths: Iterable[str]) -> list[str]:
    """The files among some that state the rules of a folder of the project."""
    return sorted(path for path in paths if path.endswith(_OF_PACKAGES) and not is_foreign(path))


def read_rule_file(path: str, tree: SourceTree) -> RuleSet | None:
    """The rules of one of `RULE_FILES`, or of a package's; None if it is empty or cannot be opened. Raises `RulesUnreadable`."""
    if not tree.read(path).strip():
        return None
    folder, _, name = path.rpartition("/")
    if name in ARCHITECTURE_FILES:
        return place_rules(read_architecture(tree.read(path), path), folder, tree.paths)
    return ast_grep_files.read_ast_grep(path, tree.read, tree.paths)

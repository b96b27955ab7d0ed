"""Rules that a project has for ast-grep and import-linter are read as they are."""

from __future__ import annotations

from rag_ls.languages import SourceTree
from rag_ls.rules.checks import records
from rag_ls.rules.checks.rule_files import RuleFiles

FILES = {
    "sgconfig.yml": "ruleDirs:\n  - lint/rules\n",
    "lint/rules/no-eval.yml": (
        "id: no-eval\nlanguage: Python\nseverity: error\nmessage: no eval\nfiles: [src/**]\nignores: [src/old/**]\n"
        "rule:\n  pattern: eval($$$)\n---\nid: off\nlanguage: py\nseverity: 'off'\nrule: {pattern: x}\n"
    ),
    "lint/rules/wrong.yml": "id: wrong\nlanguage: Python\nrule:\n  kind: no_such_kind\n",
    ".importlinter": (
        "[importlinter]\nroot_package = shop\n\n[importlinter:contract:one]\nname = Layers of the shop\ntype = layers\n"
        "layers =\n    shop.web\n    shop.pay | shop.mail\n    (shop.gone)\n    shop.store\n"
    ),
    "pyproject.toml": (
        '[tool.importlinter]\nroot_package = "shop"\n\n[[tool.importlinter.contracts]]\nname = "no requests"\n'
        'type = "forbidden"\nsource_modules = ["shop.store"]\nforbidden_modules = ["requests", "shop.web"]\n'
        '[[tool.importlinter.contracts]]\nname = "apart"\ntype = "independence"\nmodules = ["shop.pay", "shop.mail"]\n'
        '[[tool.importlinter.contracts]]\nname = "own"\ntype = "my_own_type"\n'
    ),
    "shop/__init__.py": "", "shop/web.py": "", "shop/pay/__init__.py": "", "shop/mail/__init__.py": "", "shop/store/db.py": "",
}  # fmt: skip


def _read(files: dict[str, str]) -> records.RuleSet:
    return RuleFiles().read(SourceTree(files, lambda path: files.get(path, "")))


def test_ast_grep_s_rules_keep_their_files_and_severity() -> None:
    found = _read({path: text for path, text in FILES.items() if path.startswith(("sgconfig", "lint"))})
    (rule,) = found.rules
    assert (rule.id, rule.files, rule.not_files, rule.severity) == (
        "no-eval", ("src/**",), ("src/old/**",), records.Severity.ERROR,
    )  # fmt: skip
    (problem,) = found.problems
    assert (problem.path, "no_such_kind" in problem.message) == ("lint/rules/wrong.yml", True)


def test_import_linter_s_contracts_mean_packages_and_modules() -> None:
    found = _read({path: text for path, text in FILES.items() if not path.startswith(("sgconfig", "lint"))})
    by_name = {rule.message: rule for rule in found.rules}
    layers = by_name["import-linter: Layers of the shop"].check
    assert isinstance(layers, records.LayersCheck)
    assert layers.layers == (("shop/web.py",), ("shop/pay/**", "shop/mail/**"), ("shop.gone",), ("shop/store/**",))
    assert layers.siblings_are_independent
    forbidden = by_name["import-linter: no requests"]
    assert forbidden.files == ("shop/store/**",)
    assert forbidden.check == records.ImportCheck(("requests", "shop/web.py"), indirect=True)
    assert by_name["import-linter: apart"].check == records.IndependentCheck(("shop/pay/**", "shop/mail/**"))
    assert any("my_own_type is not known" in problem.message for problem in found.problems)


def test_a_file_that_breaks_keeps_its_last_good_rules() -> None:
    files, kept = {"ARCHITECTURE.yml": "rules:\n  - {id: a, no_cycles: true}\n"}, RuleFiles()
    tree = SourceTree(files, lambda path: files[path])
    assert [rule.id for rule in kept.read(tree).rules] == ["a"]
    files["ARCHITECTURE.yml"] = "rules: [\n"
    found = kept.read(tree)
    assert ([rule.id for rule in found.rules], len(found.problems)) == (["a"], 1)
    files["ARCHITECTURE.yml"] = "rules: []\n"
    assert kept.read(tree) == records.RuleSet()

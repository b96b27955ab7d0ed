"""Documents are checked against rules of every kind."""

from __future__ import annotations

from rag_ls.chunking import outline_of_document
from rag_ls.languages import ImportResolver, SourceTree
from rag_ls.rules.checks.architecture import read_architecture
from rag_ls.rules.checks.checker import violations
from rag_ls.rules.checks.contracts import ImportGraph, resolve_imports
from rag_ls.rules.checks.records import CheckedDocument, RuleSet

FILES = {
    "src/web/page.py": "from src.services import cart\nimport requests\n",
    "src/services/cart.py": "from src.store import db\nfrom src.util import glue\n\n\ndef Total():\n    print('x')\n",
    "src/services/__init__.py": "",
    "src/store/db.py": "class rows:\n    pass\n",
    "src/store/__init__.py": "",
    "src/util/glue.py": "from src.web import page\n",
    "src/util/__init__.py": "",
    "src/web/__init__.py": "",
    "src/__init__.py": "",
}


def _found(rules: str, path: str, text: str | None = None) -> list[tuple[str, int, str]]:
    files = FILES if text is None else {**FILES, path: text}
    resolver = ImportResolver(SourceTree(files, lambda at: files.get(at, "")))
    outlines = {at: outline_of_document(content, at, "python") for at, content in files.items()}
    graph = ImportGraph(
        {at: resolve_imports(resolver, at, "python", outline.imports) for at, outline in outlines.items()}
    )
    outline = outlines[path]
    document = CheckedDocument(path, "python", files[path], outline.imports, outline.symbols)
    read = read_architecture(rules, "ARCHITECTURE.yml")
    assert read.problems == ()
    return [(each.rule, each.place.line, each.message) for each in violations(document, read, graph)]


def test_forbidden_imports_are_found_by_path_and_by_module() -> None:
    rules = "rules:\n  - {id: alone, forbid_imports: [src/services/**, requests], message: Not here}\n"
    assert _found(rules, "src/web/page.py") == [
        ("alone", 1, "Not here (it imports src/services/cart.py)"),
        ("alone", 2, "Not here (it imports requests)"),
    ]


def test_a_chain_counts_where_the_rule_says_so() -> None:
    direct = "rules:\n  - {id: alone, forbid_imports: src/web/**, files: src/services/**}\n"
    assert _found(direct, "src/services/cart.py") == []
    ((rule, line, message),) = _found(direct.replace("files:", "indirect: true, files:"), "src/services/cart.py")
    assert (rule, line) == ("alone", 2)
    assert message == "it imports src/util/glue.py -> src/web/page.py"


def test_allowed_and_required_imports() -> None:
    allowed = "rules:\n  - {id: only, allow_imports: src/store/**}\n"
    assert [line for _, line, _ in _found(allowed, "src/services/cart.py")] == [2]
    required = "rules:\n  - {id: log, require_imports: src/store/db.py}\n"
    assert _found(required, "src/services/cart.py") == []
    assert _found(required, "src/web/page.py") == [("log", 1, "it does not import src/store/db.py")]


def test_a_layer_reaches_none_above_it_even_by_a_chain() -> None:
    rules = "rules:\n  - {id: layers, layers: [src/web, src/services, src/store]}\n"
    assert _found(rules, "src/web/page.py") == []
    assert _found(rules, "src/services/cart.py") == [("layers", 2, "it imports src/util/glue.py -> src/web/page.py")]


def test_independent_groups_do_not_reach_each_other() -> None:
    rules = "rules:\n  - {id: apart, independent: [src/web, src/store]}\n"
    ((_, line, message),) = _found(rules, "src/web/page.py")
    assert (line, message) == (1, "it imports src/services/cart.py -> src/store/db.py")


def test_circles_are_told_in_each_file() -> None:
    rules = "rules:\n  - {id: round, no_cycles: true}\n"
    ((_, line, message),) = _found(rules, "src/services/cart.py")
    assert line == 2
    assert message == "a circle: src/services/cart.py -> src/util/glue.py -> src/web/page.py -> src/services/cart.py"
    assert _found(rules, "src/store/db.py") == []


def test_structures_are_matched_and_required() -> None:
    rules = (
        "rules:\n  - {id: no-print, language: python, forbid: print($$$)}\n"
        "  - id: documented\n    language: python\n    match: {kind: function_definition}\n"
        "    require: {has: {kind: return_statement, stopBy: end}}\n"
    )
    assert [(rule, line) for rule, line, _ in _found(rules, "src/services/cart.py")] == [
        ("documented", 5),
        ("no-print", 6),
    ]


def test_names_and_places() -> None:
    rules = (
        "rules:\n  - {id: functions, symbol_names: {kind: function, style: snake_case}}\n"
        "  - {id: types, symbol_names: {kind: type, style: PascalCase}}\n"
        "  - {id: place, place: src/models/**, files: '**/db.py'}\n"
        "  - {id: file, file_names: '[a-z]+_[a-z]+', files: src/store/db.py}\n"
    )
    assert [rule for rule, _, _ in _found(rules, "src/services/cart.py")] == ["functions"]
    assert [rule for rule, _, _ in _found(rules, "src/store/db.py")] == ["file", "place", "types"]


def test_a_comment_with_a_reason_suppresses_and_is_checked_itself() -> None:
    rules = "rules:\n  - {id: no-print, language: python, forbid: print($$$)}\n"

    def told(text: str) -> list[tuple[str, int]]:
        return [(rule, line) for rule, line, _ in _found(rules, "src/web/page.py", text)]

    assert told("print(1)  # rag-ls: ignore[no-print] the user reads it\n") == []
    assert told("# rag-ls: ignore[no-print] the user reads it\nprint(1)\n") == []
    assert told("# rag-ls: ignore[no-print]\nprint(1)\n") == [("suppression-without-reason", 1), ("no-print", 2)]
    assert told("# rag-ls: ignore[no-such] because\n") == [("suppression-of-unknown-rule", 1)]
    assert told("# rag-ls: ignore[no-print] because\nx = 1\n") == [("unused-suppression", 1)]
    assert told("# rag-ls: ignore[no-print] because\n\nprint(1)\n") == [("unused-suppression", 1), ("no-print", 3)]


def test_a_rule_whose_regular_expression_does_not_end_says_so_and_takes_no_other_with_it() -> None:
    text = "rules:\n  - {id: slow, file_names: '(a|aa)+'}\n  - {id: style, file_names: snake_case}\n"
    found = _found(text, f"src/{'a' * 60}B.py", "")
    assert [rule for rule, _, _ in found] == ["slow", "style"]
    assert "takes too long" in found[0][2]


def test_two_structural_rules_of_one_name_are_checked_each_by_its_own() -> None:
    text = (
        "rules:\n  - {id: same, language: python, forbid: 'print($A)'}\n"
        "  - {id: same, language: python, forbid: 'exit($A)'}\n"
    )
    source = "print('x')\nexit(1)\n"
    document = CheckedDocument("src/a.py", "python", source, (), ())
    found = violations(document, RuleSet(read_architecture(text, "ARCHITECTURE.yml").rules), ImportGraph({}))
    assert [each.place.line for each in found] == [1, 2]


def test_known_exceptions_are_not_reported_and_a_new_violation_is() -> None:
    rules = (
        "rules:\n  - id: down\n    layers: [src/services/**, src/util/**, src/web/**]\n    indirect: false\n"
        "    exceptions: [src/web/page.py -> src/services/cart.py]\n"
    )
    page = FILES["src/web/page.py"]
    files_known = _found(rules, "src/web/page.py", page)
    assert files_known == []
    assert _found(rules, "src/web/page.py", page + "from src.util import glue\n") == [
        ("down", 3, "it imports src/util/glue.py")
    ]
    named = (
        "rules:\n  - {id: names, symbol_names: {kind: function, style: snake_case}, exceptions: src/services/cart.py}\n"
    )
    assert _found(named, "src/services/cart.py") == []
    assert _found(named, "src/store/db.py", "def Rows():\n    pass\n") == [
        ("names", 1, "the name 'Rows' is not in snake_case")
    ]


def test_an_exception_of_a_module_or_of_a_whole_folder_counts_for_chains_too() -> None:
    forbids = (
        "rules:\n  - {id: alone, forbid_imports: [requests, src/services/**], exceptions: [src/web/* -> requests]}\n"
    )
    assert [line for _, line, _ in _found(forbids, "src/web/page.py")] == [1]
    chain = (
        "rules:\n  - {id: alone, forbid_imports: src/web/**, indirect: true, files: src/services/**"
        ", exceptions: [src/util/** -> src/web/**]}\n"
    )
    assert _found(chain, "src/services/cart.py") == []

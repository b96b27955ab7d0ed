"""Forms of single languages in which a name is used: each leads to its own declaration."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from tests.conftest import IndexedProjects
from tests.operations.code.projects import index_project
from tests.support import PATIENCE_S

pytestmark = pytest.mark.usefixtures("words_alone")

# A package's function hides its module of the same name; an argument that is given by name declares no variable.
PYTHON = {
    "shop/__init__.py": (
        "from .retry import wait\n\n__all__ = ['retry', 'wait']\n\n\n"
        "def retry(\n    func: 'Policy[int]' = None,\n    retry: int = 1,\n):\n    return retry\n\n\nclass Policy: ...\n"
    ),
    "shop/retry.py": "wait = 1\n",
    "use.py": (
        "from shop import retry\n\n\ndef run():\n    @retry(\n        retry=2,\n    )\n    def inner(): ...\n\n"
        '    return hasattr(inner, "retry")\n'
    ),
}
# `.member` is of the type that its place wants, `$0` an element of what the block is called on.
SWIFT = {
    "Sources/Kind.swift": (
        "enum Kind {\n  case small, big\n  case named(String)\n}\n\nenum Other {\n  case small, big\n}\n\n"
        "struct Cart {\n  var kind: Kind = .small\n  var size: Int\n  init(kind: Kind, other: Other = .small) {\n"
        "    self.kind = kind\n  }\n  static func make(_ other: Other, kind: Kind) -> Cart { Cart(kind: kind) }\n"
        "  var named: String {\n    switch kind {\n    case .big: return \"\"\n    case .named(let size): return size\n"
        "    default: return \"\"\n    }\n  }\n}\n"
    ),
    "Sources/Use.swift": (
        "struct Shop {\n  let carts: [Cart]\n  var sizes: [Int] {\n    carts.map { $0.size }\n  }\n"
        "  func kind(of cart: Cart, isBig: Bool) -> Kind {\n    if cart.kind == .big {\n      return .small\n    }\n"
        "    _ = Cart.make(.big, kind: .small)\n    _ = Cart(\n      kind: .big,\n      other: .big)\n"
        "    return isBig ? .big : .small\n  }\n"
        "  func all(_ names: [String]) -> [Kind] {\n    names.forEach { print($0.size) }\n    if case .big = carts[0].kind {}\n"
        "    return [.small, .big]\n  }\n}\n"
    ),
}


def _at(path: str, *lines: int, sure: str = "resolved") -> list[str]:
    return [f"{path}:{line} {sure}" for line in lines]


@pytest.mark.parametrize(
    ("files", "question", "expected"),
    [
        (
            PYTHON,
            {"path": "shop/__init__.py", "line": 6},
            [*_at("use.py", 1, 5), *_at("shop/__init__.py", 3), *_at("shop/__init__.py", 1, sure="by name")],
        ),
        (PYTHON, {"symbol": "Policy"}, _at("shop/__init__.py", 7)),
        (SWIFT, {"symbol": "Kind.big"}, [*_at("Sources/Kind.swift", 19), *_at("Sources/Use.swift", 7, 12, 14, 18, 19)]),
        (SWIFT, {"symbol": "Kind.small"}, [*_at("Sources/Kind.swift", 11), *_at("Sources/Use.swift", 8, 10, 14, 19)]),
        (SWIFT, {"symbol": "Other.big"}, _at("Sources/Use.swift", 10, 13)),
        (SWIFT, {"symbol": "Other.small"}, _at("Sources/Kind.swift", 13)),
        (SWIFT, {"symbol": "Kind.named"}, _at("Sources/Kind.swift", 20)),
        (SWIFT, {"symbol": "Cart.size"}, [*_at("Sources/Use.swift", 4), *_at("Sources/Use.swift", 17, sure="by name")]),
        (SWIFT, {"symbol": "Cart.init"}, [*_at("Sources/Kind.swift", 16), *_at("Sources/Use.swift", 11)]),
    ],
)  # fmt: skip
def test_each_form_leads_to_its_declaration(
    client: Client,
    indexed_projects: IndexedProjects,
    tmp_path: Path,
    files: dict[str, str],
    question: dict,
    expected: list[str],
) -> None:
    client.open(indexed_projects.copy(files, tmp_path / "forms"))
    index_project(client, embeddings=False)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", question)
    uses = [
        f"{each['path']}:{each['line']} {each['sure']}"
        for each in answer["references"]
        if each["kind"] in ("call", "import", "mention")
    ]
    assert sorted(uses) == sorted(expected), (question, sorted(uses))

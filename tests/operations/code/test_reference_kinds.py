"""`find_references` in languages without a compiler at hand: faults that were seen in repositories, one case each."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from tests.conftest import IndexedProjects
from tests.operations.code.projects import index_project
from tests.support import PATIENCE_S

pytestmark = pytest.mark.usefixtures("words_alone")

KOTLIN = {
    "core/src/main/kotlin/shop/Cart.kt": (
        "package shop\n\nvar limit: Int? = null\n\nclass Cart : Store() {\n    fun add(name: String) = add(name, 1)\n"
        "    fun add(name: String, count: Int, then: () -> Unit = {}) = then()\n"
        "    companion object {\n        fun of(name: String): Cart = Cart()\n    }\n}\n\n"
        "fun change(value: Int) {\n    limit = value\n    value.let { Cart().add(\"a\") }\n}\n"
    ),
    "core/src/test/kotlin/shop/CartTest.kt": (
        "package shop\n\nimport shop.Cart.Companion.of\n\nclass CartTest {\n    val cart = Cart()\n\n    fun test() {\n"
        "        cart.add(\"a\", 1) { println() }\n        Cart.of(\"b\").add(name = \"a\")\n        of(\"b\").add(\"a\", then = {})\n"
        "        listOf(1).map { limit -> limit }\n    }\n}\n"
    ),
}  # fmt: skip
_CART, _TEST = KOTLIN
SWIFT = {
    "Sources/Login.swift": (
        "protocol Login {\n    func check(token: Token, for request: Request)\n}\n\nextension Login {\n"
        "    func check(request: Request) {\n        self.check(token: request.token, for: request)\n    }\n}\n\n"
        "class Files: Login {\n    struct Policy {}\n    var type: Policy\n    init() {\n        guard let type = read() else { return }\n"
        "        self.type = type\n    }\n}\n\nextension Answer {\n    func with(_ policy: Files.Policy) {}\n}\n"
    ),
    "Tests/LoginTests.swift": (
        "func testLogin() {\n    struct Own: Login {\n        func check(token: Token, for request: Request) {}\n    }\n}\n"
    ),
}
SCALA = {
    "core/src/main/scala/shop/Pack.scala": (
        "package shop\n\nclass Pack {\n  def site(open: Int): Int = site(open.is[Left])\n  def site(isOpen: Boolean): Int = 1\n"
        "  def run(): Int = site(true) + site(2)\n}\n"
    ),
    "core/src/test/scala/shop/PackTest.scala": "package shop\n\nclass PackTest {\n  def test() = new Pack().site(isOpen = false)\n}\n",
}


@pytest.mark.parametrize(
    ("files", "question", "expected"),
    [
        # Tests stand in another folder than the package that is theirs, too.
        (KOTLIN, {"symbol": "Cart"}, [f"{_TEST}:{n} resolved" for n in (3, 6, 10)] + [f"{_CART}:{n} resolved" for n in (9, 9, 15)]),
        # An assignment declares nothing; the parameter of a block does.
        (KOTLIN, {"symbol": "limit"}, [f"{_CART}:14 resolved"]),
        # Labels, a block behind the call, and members of a companion.
        (KOTLIN, {"path": _CART, "line": 6}, [f"{_TEST}:10 resolved", f"{_CART}:15 resolved"]),
        (KOTLIN, {"path": _CART, "line": 7}, [f"{_TEST}:9 resolved", f"{_TEST}:11 resolved", f"{_CART}:6 resolved"]),
        (KOTLIN, {"symbol": "of"}, [f"{_TEST}:{n} resolved" for n in (3, 10, 11)]),
        # A function in another one is no use, and may take the place of a member; labels tell overloads.
        (SWIFT, {"path": "Sources/Login.swift", "line": 6}, ["Tests/LoginTests.swift:3 by name"]),
        (SWIFT, {"path": "Sources/Login.swift", "line": 2}, ["Sources/Login.swift:7 resolved", "Tests/LoginTests.swift:3 by name"]),
        # What follows the name of a class and a colon is no type of a variable.
        (SWIFT, {"symbol": "Files.Policy"}, ["Sources/Login.swift:13 resolved", "Sources/Login.swift:21 resolved"]),
        # A variable hides a member of its name.
        (SWIFT, {"symbol": "Files.type"}, ["Sources/Login.swift:16 resolved"]),
        (
            SCALA,
            {"path": "core/src/main/scala/shop/Pack.scala", "line": 5},
            [
                "core/src/test/scala/shop/PackTest.scala:4 resolved",
                "core/src/main/scala/shop/Pack.scala:6 resolved",
                "core/src/main/scala/shop/Pack.scala:4 by name",
            ],
        ),
    ],
)  # fmt: skip
def test_each_use_means_its_own(
    client: Client,
    indexed_projects: IndexedProjects,
    tmp_path: Path,
    files: dict[str, str],
    question: dict,
    expected: list[str],
) -> None:
    client.open(indexed_projects.copy(files, tmp_path / "kinds"))
    index_project(client, embeddings=False)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", question)
    uses = [
        f"{each['path']}:{each['line']} {each['sure']}"
        for each in answer["references"]
        if each["kind"] in ("call", "import", "mention")
    ]
    assert sorted(uses) == sorted(expected)

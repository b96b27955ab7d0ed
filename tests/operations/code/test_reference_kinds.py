"""`find_references` in languages without a compiler at hand: faults that were seen in repositories, one case each."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.operations import Operations
from tests.conftest import IndexedProjects
from tests.operations.code.projects import find_uses, index_project
from tests.support import PATIENCE_S

pytestmark = pytest.mark.usefixtures("words_alone")

KOTLIN = {
    "core/src/main/kotlin/shop/Cart.kt": (
        "package shop\n\nvar limit: Int? = null\n\nclass Cart : Store() {\n    fun add(name: String) = add(name, 1)\n"
        "    fun add(name: String, count: Int, then: () -> Unit = {}) = then()\n"
        "    companion object {\n        fun of(name: String): Cart = Cart()\n    }\n}\n\n"
        "fun String.cut() = 1\n\nfun change(value: Int) {\n    limit = value\n    value.let { Cart().add(\"a\") }\n}\n"
    ),
    "core/src/test/kotlin/shop/CartTest.kt": (
        "package shop\n\nimport shop.Cart.Companion.of\n\nclass CartTest {\n    val cart = Cart()\n\n    fun test() {\n"
        "        cart.add(\"a\", 1) { println() }\n        Cart.of(\"b\").add(name = \"a\")\n        of(\"b\").add(\"a\", then = {})\n"
        "        listOf(1).map { limit -> limit }\n    }\n}\n"
    ),
}  # fmt: skip
_CART, _TEST = KOTLIN
KOTLIN_EXTENSIONS = {
    "src/main/kotlin/shop/table/Table.kt": (
        "package shop.table\n\nopen class Table {\n    fun rows() = 1\n    fun columns() = 2\n}\n"
    ),
    "src/main/kotlin/shop/json/Json.kt": (
        "package shop.json\n\nimport shop.table.Table\n\nfun <T : Any> Table.json(name: String): T = TODO()\n"
        "infix fun Int.plus2(other: Int) = this@plus2.shl(other)\n"
    ),
    "src/main/kotlin/shop/sql/Json.kt": "package shop.sql\n\nimport shop.table.Table\n\nfun Table.json(name: String) = 1\n",
    "src/main/kotlin/shop/Use.kt": (
        "package shop\n\nimport shop.json.json\nimport shop.json.plus2\nimport shop.table.Table\n\nobject Users : Table() {\n"
        '    val data = json<String>("data")\n    fun show() {\n        listOf(1).map { (index, columns) -> columns }\n'
        '        listOf(1).map(::columns)\n        Users.json<Int>("x")\n        read().json<Int>("y")\n        1 plus2 2\n'
        "        with(1) { this@Users.rows() }\n    }\n    fun hide() {\n        val (rows, columns) = 1 to 2\n        columns\n    }\n}\n"
    ),
}
KOTLIN_EXTENSIONS["src/main/kotlin/shop/Other.kt"] = (
    'package shop\n\nimport other.Token\nimport shop.json.json\n\nfun hide(token: Token) = token.json<Int>("z")\n'
)
_JSON, _USE, _OTHER = (f"src/main/kotlin/shop/{each}.kt" for each in ("json/Json", "Use", "Other"))
TSX = {
    "src/key.ts": "export function key(): string { return '' }\nexport interface Props { key: string }\n",
    "src/Page.tsx": (
        "import { key } from './key'\n\nexport function Page({ key: name }: any) {\n  const { key: own } = name\n"
        "  const made = key()\n  return <Page key={made} />\n}\n"
    ),
}
RUBY = {
    "lib/cart.rb": (
        "class Cart\n  def size\n    @size\n  end\n\n  def size=(value)\n    @size = value\n  end\n\n  def grow\n"
        "    self.size = 1\n    self.size += size\n    self.size == 2\n  end\nend\n"
    ),
    "lib/use.rb": "cart = Cart.new\ncart.size = 3\ncart.size\n",
}
SWIFT = {
    "Sources/Login.swift": (
        "protocol Login {\n    func check(token: Token, for request: Request)\n}\n\nextension Login {\n"
        "    func check(request: Request) {\n        self.check(token: request.token, for: request)\n    }\n}\n\n"
        "class Files: Login {\n    struct Policy {}\n    var type: Policy\n    init() {\n        guard let type = read() else { return }\n"
        "        self.type = type\n    }\n}\n\nextension Answer {\n    func with(_ policy: Files.Policy) {}\n}\n"
        "func send(change: (inout Files) -> ()) {\n    let files = Files()\n}\n"
    ),
    "Tests/LoginTests.swift": (
        "func testLogin() {\n    struct Own: Login {\n        func check(token: Token, for request: Request) {}\n    }\n}\n"
    ),
}
JAVA = {
    "src/main/java/shop/Cart.java": "package shop;\n\npublic class Cart {}\n",
    "src/main/java/shop/Run.java": (
        "package shop;\nclass Run {\n    int size;\n    @Override\n    public void run(int size) {\n        find().orElseGet(Cart::new);\n"
        "        this.size = size;\n    }\n}\n"
    ),
}
SCALA = {
    "core/src/main/scala/shop/Pack.scala": (
        "package shop\n\nclass Pack {\n  def site(open: Int): Int = site(open.is[Left])\n  def site(isOpen: Boolean): Int = 1\n"
        "  def run(): Int = site(true) + site(2)\n}\n"
    ),
    "core/src/test/scala/shop/PackTest.scala": "package shop\n\nclass PackTest {\n  def test() = new Pack().site(isOpen = false)\n}\n",
}
PHP = {
    "src/Clock.php": "<?php\nnamespace Shop\\Clock;\nfunction time() { return \\time(); }\n$a = time();\n",
    "src/Base.php": (
        "<?php\nnamespace Shop;\nclass Config {\n    public function get() {}\n    public static function make(): static {}\n}\n"
        "class Special extends Config { public function get() {} }\nabstract class Root {\n    protected Config $config;\n}\n"
        "abstract class Base extends Root {}\n"
    ),
    "src/One/Provider.php": "<?php\nnamespace Shop\\One;\nabstract class Provider {\n    public function token() {}\n}\n",
    "src/Two/Provider.php": "<?php\nnamespace Shop\\Two;\nabstract class Provider {\n    public function token() {}\n}\n",
    "src/One/Github.php": (
        "<?php\nnamespace Shop\\One;\nclass Github extends Provider {\n"
        "    public function run() { return $this->token() . $this->token . Provider::class; }\n}\n"
    ),
    "src/Stack.php": (
        "<?php\nnamespace Shop;\nclass Stack {\n    public static function make() {\n        $stack = new self(1);\n"
        "        $stack->push(2);\n        (new static())->push(3);\n    }\n    public function push($item) {}\n}\n"
        "class Other { public function push($item) {} }\n"
    ),
    "src/Main.php": (
        "<?php\nnamespace Shop;\nclass Main extends Base {\n    public function run($time) {\n        $this->config->get();\n"
        "        time();\n        $made = Special::make();\n        $made->get();\n        return $time;\n    }\n}\n"
    ),
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/recipe.rs": (
        "pub struct Recipe {\n    path: String,\n}\n\nimpl Recipe {\n"
        "    pub fn path(&self) -> &String { &self.path }\n    pub fn from_str(text: &str) -> Recipe { Recipe { path: text.into() } }\n}\n"
    ),
    "src/main.rs": (
        "use crate::recipe::Recipe;\nuse std::sync::Arc;\n\nmod recipe;\n\nenum Part {\n    Whole(u8),\n    Half,\n}\n\n"
        'fn run(recipe: Arc<Recipe>) {\n    recipe.path();\n    serde_json::from_str("{}");\n    let part = Part::Half;\n'
        "    match part {\n        Part::Whole(n) => n.path(),\n        _ => {}\n    }\n}\n"
    ),
}
PATHS = {
    "core/Cargo.toml": '[package]\nname = "shop-core"\n',
    "core/src/lib.rs": "pub mod cart;\npub mod tax;\n",
    "core/src/cart.rs": "pub struct Cart {}\n\nimpl Cart {\n    pub fn size(&self) -> u8 { 0 }\n    pub fn new() -> Self { Cart {} }\n}\n",
    "core/src/tax.rs": (
        "pub fn rate() -> u8 { 0 }\n\nmod tests {\n    #[test]\n    fn it_is() {\n"
        "        let cart: crate::cart::Cart = serde_json::from_str(1);\n"
        "        super::rate();\n        crate::tax::rate();\n        crate::cart::Cart::size(&cart);\n        other::rate();\n    }\n}\n"
    ),
    "app/Cargo.toml": '[package]\nname = "app"\n',
    "app/src/main.rs": (
        "use shop_core::tax;\n\nfn run(cart: shop_core::cart::Cart) {\n    cart.size();\n    shop_core::cart::Cart::new().size();\n"
        "    shop_core::tax::rate();\n    tax::rate();\n}\n"
    ),
}
WORKSPACE = {
    "Cargo.toml": '[workspace]\nmembers = ["core", "app"]\n',
    "core/Cargo.toml": '[package]\nname = "shop-core"\n',
    "core/src/lib.rs": "mod cart;\npub use cart::Cart;\n",
    "core/src/cart.rs": "pub struct Cart {\n    pub count: u8,\n}\n\nimpl Cart {\n    pub fn size(&self) -> u8 { self.count }\n}\n",
    "app/Cargo.toml": '[package]\nname = "app"\n\n[dependencies]\nshop-core = { path = "../core" }\n',
    "app/src/main.rs": (
        "use shop_core::Cart;\n\nfn run(cart: Cart) -> u8 {\n    let Cart { count } = cart.clone();\n    cart.size() + count\n}\n"
    ),
}
C_SHARP = {
    "src/Shop/Kind.cs": "namespace Shop;\n\npublic enum Kind { Old, New }\n",
    "src/Shop/Cart.cs": (
        "namespace Shop;\n\npublic class Cart : IEnumerable<int>\n{\n    public Cart(int size) {}\n    public bool Old { get; set; }\n"
        "    public static Cart Make() { return new(1); }\n    public void Take(Cart cart) {}\n    public void Run() { Take(new(2)); }\n"
        "    IEnumerator IEnumerable.GetEnumerator() { return null; }\n    bool IsOld(Kind kind) => kind == Kind.Old;\n}\n"
    ),
    "lib/Other/Tool.cs": "namespace Acme.Tools\n{\n    public class Tool { public void Go() {} }\n}\n",
    "one/src/Buffer.cs": "namespace Shop;\nclass Buffer { public void Read() {} }\n",
    "two/src/Buffer.cs": "namespace Shop;\nclass Buffer { public void Read() {} }\n",
    "one/src/Reader.cs": "namespace Shop;\nclass Reader { void Run(Buffer buffer) { buffer.Read(); } }\n",
    "src/Shop/Use.cs": "using Acme.Tools;\nnamespace Shop;\n\npublic class Use { public void Run(Tool tool) { tool.Go(); } }\n",
}
LUA = {
    "a.lua": "local info = {}\n\nfunction info.show() end\nfunction info:open() info.show() end\ninfo.show()\nreturn info\n",
    "b.lua": "local info = debug.getinfo(1)\ninfo.show()\ninfo:open()\n",
    "c.lua": "local info = require('a')\ninfo.show()\ninfo:open()\n",
}
ELIXIR = {
    "lib/plural.ex": 'defmodule Plural do\n  def plural("en", n), do: n\n  def plural("de", n), do: plural("en", n)\nend\n',
}
PYTHON = {
    "tools/__init__.py": "",
    "tools/common.py": "def load():\n    pass\n",
    "tools/run.py": 'from common import load\n\nif __name__ == "__main__":\n    load()\n',
}


@pytest.mark.parametrize(
    ("files", "question", "expected"),
    [
        # Tests stand in another folder than the package that is theirs, too.
        (KOTLIN, {"symbol": "Cart"}, [f"{_TEST}:{n} resolved" for n in (3, 6, 10)] + [f"{_CART}:{n} resolved" for n in (9, 9, 17)]),
        # An assignment declares nothing; the parameter of a block does.
        (KOTLIN, {"symbol": "limit"}, [f"{_CART}:16 resolved"]),
        # Which of several overloads a call means is not told.
        *(
            (
                KOTLIN,
                {"path": _CART, "line": line},
                [*(f"{_TEST}:{n} by name" for n in (9, 10, 11)), *(f"{_CART}:{n} by name" for n in (6, 17))],
            )
            for line in (6, 7)
        ),
        # A function that extends a type is told by name.
        (
            KOTLIN_EXTENSIONS,
            {"path": _JSON, "line": 5},
            [f"{at} by name" for at in (*(f"{_USE}:{n}" for n in (3, 8, 12, 13)), f"{_OTHER}:4", f"{_OTHER}:6")],
        ),
        (KOTLIN_EXTENSIONS, {"path": _JSON, "line": 6}, [f"{_USE}:4 by name", f"{_USE}:14 by name"]),
        (KOTLIN_EXTENSIONS, {"symbol": "Table.columns"}, [f"{_USE}:11 resolved"]),
        (KOTLIN_EXTENSIONS, {"symbol": "Table.rows"}, [f"{_USE}:15 resolved"]),
        # Keys of what is taken apart, and of elements, are members of something else.
        (
            TSX,
            {"path": "src/key.ts", "line": 1},
            [f"src/Page.tsx:{n} resolved" for n in (1, 5)],
        ),
        # A value that is given to a member uses the member.
        (RUBY, {"symbol": "Cart.size"},
            [f"lib/{place} resolved" for place in ("cart.rb:11", "cart.rb:12", "cart.rb:12", "cart.rb:13", "use.rb:2", "use.rb:3")]),
        # A name without an import is of the own namespace; a property is no method.
        (PHP, {"path": "src/One/Provider.php", "line": 3}, ["src/One/Github.php:4 resolved"]),
        (PHP, {"path": "src/One/Provider.php", "line": 4}, ["src/One/Github.php:4 by name", "src/One/Github.php:4 resolved"]),
        (PHP, {"path": "src/Two/Provider.php", "line": 3}, []),
        (PHP, {"symbol": "Stack.push"}, ["src/Stack.php:6 resolved", "src/Stack.php:7 by name"]),
        (KOTLIN, {"symbol": "of"}, [f"{_TEST}:{n} resolved" for n in (3, 10, 11)]),
        # A function in another one is no use, and may take the place of a member; overloads are not told apart.
        *(
            (SWIFT, {"path": "Sources/Login.swift", "line": line}, ["Sources/Login.swift:7 by name", "Tests/LoginTests.swift:3 by name"])
            for line in (2, 6)
        ),
        # What follows the name of a class and a colon is no type of a variable.
        (SWIFT, {"symbol": "Files.Policy"}, ["Sources/Login.swift:13 resolved", "Sources/Login.swift:21 resolved"]),
        # The type in a parameter of a function is no parameter.
        (SWIFT, {"symbol": "Files"}, [f"Sources/Login.swift:{n} resolved" for n in (21, 23, 24)]),
        (KOTLIN, {"symbol": "cut"}, []),
        # A variable hides a member of its name.
        (SWIFT, {"symbol": "Files.type"}, ["Sources/Login.swift:16 resolved"]),
        # An annotation is above the parameters; these hide a member.
        (JAVA, {"symbol": "Cart"}, ["src/main/java/shop/Run.java:6 resolved"]),
        (JAVA, {"symbol": "Run.size"}, ["src/main/java/shop/Run.java:7 resolved"]),
        (
            SCALA,
            {"path": "core/src/main/scala/shop/Pack.scala", "line": 5},
            [
                "core/src/test/scala/shop/PackTest.scala:4 by name",
                *["core/src/main/scala/shop/Pack.scala:6 by name"] * 2,
                "core/src/main/scala/shop/Pack.scala:4 by name",
            ],
        ),
        # A variable is no function; the namespace of a function is not followed.
        (PHP, {"symbol": "time"}, ["src/Clock.php:3 by name", "src/Clock.php:4 resolved", "src/Main.php:6 by name"]),
        # A property of a class farther up; a static result is of the type that it was called on.
        (PHP, {"symbol": "Config.get"}, ["src/Main.php:5 resolved", "src/Main.php:8 by name"]),
        (PHP, {"symbol": "Special.get"}, ["src/Main.php:5 by name", "src/Main.php:8 resolved"]),
        # A reference that is counted stands for what it holds; a field is no method; a crate is no module of the project.
        (
            RUST,
            {"symbol": "Recipe.path"},
            ["src/main.rs:12 resolved", "src/main.rs:16 by name", *(f"src/recipe.rs:{line} by name" for line in (2, 6, 7))],
        ),
        # The type in a pattern is no variable; a crate of the workspace is found by its name.
        (
            WORKSPACE,
            {"symbol": "Cart"},
            [*(f"app/src/main.rs:{n} resolved" for n in (1, 3, 4)), "core/src/cart.rs:5 resolved", "core/src/lib.rs:2 resolved"],
        ),
        (WORKSPACE, {"symbol": "Cart.size"}, ["app/src/main.rs:5 resolved"]),
        # A crate from outside has its own functions.
        (RUST, {"symbol": "Recipe.from_str"}, []),
        # Paths that are written whole, without an import, are not followed.
        (PATHS, {"symbol": "Cart.size"}, ["app/src/main.rs:4 by name", "app/src/main.rs:5 by name", "core/src/tax.rs:9 by name"]),
        (
            PATHS,
            {"symbol": "rate"},
            ["app/src/main.rs:6 by name", "app/src/main.rs:7 resolved", "core/src/tax.rs:7 by name", "core/src/tax.rs:8 by name"],
        ),
        (C_SHARP, {"symbol": "Cart.Old"}, []),
        (C_SHARP, {"symbol": "Cart.GetEnumerator"}, []),
        (C_SHARP, {"path": "src/Shop/Cart.cs", "line": 5}, ["src/Shop/Cart.cs:7 resolved"]),
        (C_SHARP, {"symbol": "Tool.Go"}, ["src/Shop/Use.cs:4 resolved"]),
        # Whole types of one name in one namespace are of two programs.
        (C_SHARP, {"path": "one/src/Buffer.cs", "line": 2}, ["one/src/Reader.cs:2 resolved"]),
        (C_SHARP, {"path": "two/src/Buffer.cs", "line": 2}, []),
        (LUA, {"symbol": "info.show"}, [f"{place} by name" for place in ("a.lua:4", "a.lua:5", "b.lua:2", "c.lua:2")]),
        (LUA, {"path": "a.lua", "line": 4}, ["b.lua:3 by name", "c.lua:3 by name"]),
        # Each clause of a function declares it once more.
        (ELIXIR, {"symbol": "plural"}, ["lib/plural.ex:3 by name", "lib/plural.ex:3 resolved"]),
        (PYTHON, {"symbol": "load"}, ["tools/run.py:1 resolved", "tools/run.py:4 resolved"]),
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
    uses = find_uses(client, indexed_projects.copy(files, tmp_path / "kinds"), question)
    assert uses == sorted(expected), (question, uses)


def test_a_type_in_a_derived_type_overrides_none(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    files = {
        "src/Cart.kt": (
            "open class Cart {\n    open fun add() = 1\n    companion object\n}\n\n"
            "class Big : Cart() {\n    override fun add() = 2\n    companion object\n}\n"
        )
    }
    client.open(indexed_projects.copy(files, tmp_path / "held"))
    index_project(client, embeddings=False)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    found = {
        line: [
            each["line"]
            for each in operations.run("find_references", {"path": "src/Cart.kt", "line": line})["references"]
            if each["kind"] == "override"
        ]
        for line in (2, 3)
    }
    assert found == {2: [7], 3: []}


def test_a_parameter_taken_out_of_an_object_is_no_use_of_a_name_of_the_file(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    text = (
        "export const size = 1\n"
        "export function area({ size }) { return size }\n"
        "export default function Box({\n  other,\n  size = 2,\n}: Props) {\n  return size\n}\n"
        "export class Cart { fill(a, { size }: Props) { return size } }\n"
        "export function width({ size: other }) { return size }\n"
        "export function deep(cart = { size }) { return size }\n"
    )
    client.open(indexed_projects.copy({"src/box.ts": text}, tmp_path / "boxes"))
    index_project(client, embeddings=False)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    found = operations.run("find_references", {"path": "src/box.ts", "line": 1})["references"]
    assert {each["line"] for each in found if each["sure"] == "resolved" and each["kind"] == "mention"} == {10, 11}

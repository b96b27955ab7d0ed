"""Forms of single languages in which a name is used: each leads to its own declaration."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import NotFound
from rag_ls.operations import Operations
from tests.conftest import IndexedProjects
from tests.operations.code.projects import find_uses, index_project
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
# `.member` is of the type that its place wants, which is not told.
SWIFT = {
    "Sources/Kind.swift": (
        "enum Kind {\n  case small, big\n  case named(String)\n}\n\nenum Other {\n  case small, big\n}\n\n"
        "struct Cart {\n  var kind: Kind = .small\n  var size: Int\n  init(kind: Kind, other: Other = .small) {\n"
        "    self.kind = kind\n  }\n  static func make(_ other: Other, kind: Kind) -> Cart { Cart(kind: kind) }\n"
        '  var named: String {\n    switch kind {\n    case .big: return ""\n    case .named(let size): return size\n'
        '    default: return ""\n    }\n  }\n}\n'
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
# `new(...)` names no type; types of one name differ by their own arguments.
C_SHARP = {
    "src/Shop/Cart.cs": (
        "namespace Shop;\n\npublic record Size(int Width);\npublic class Other { public Other(int a) {} }\n"
        "public class Cart\n{\n    private Size _size;\n    private readonly List<Size> _sizes = new();\n"
        "    public Cart(Size size) { _size = size ?? new(1); }\n    public Size Read() { return new(2); }\n"
        "    public static void Put(this Cart cart, int count, Size size) => _sizes.Add(new(3));\n"
        "    public void Keep(Other other) {}\n}\n"
    ),
    "src/Shop/Use.cs": (
        "namespace Shop;\n\npublic class Use\n{\n    public void Run(Cart cart)\n    {\n        cart.Put(1, new(4));\n"
        "        cart.Keep(new(5));\n        var made = new Cart(\n            new(6));\n        Cart.Put(made, 1, size: new(7));\n"
        "        Unknown(new(8));\n    }\n}\n"
    ),
    "src/Shop/Box.cs": (
        "namespace Shop;\n\npublic class Box { public void Take(Box<int, List<int>> box) {} }\npublic class Box<T> { public Box<T> Own; }\n"
        "public class Box<K, V> { public Box<int> One; public Box None; }\n"
        "public interface IAdd { void Add(IEnumerable<int> all); void Add(params int[] all); }\n"
        "public class Adder : IAdd\n{\n    public void Add(IEnumerable<int> some) {}\n    public void Add(params int[] some) {}\n}\n"
    ),
}
# A value may be given to several members; calls are handed on to what an association gives.
RUBY = {
    "app/models/user.rb": (
        "class User < ApplicationRecord\n  def initialize(name)\n    self.name, self.size = name, 1\n  end\n\n  def name\n  end\n\n"
        "  def name=(other)\n  end\n\n  def size=(other)\n  end\n\n  def self.build\n    new(1)\n  end\nend\n\n"
        "class Admin < User\nend\n\nclass Guest < User\n  def initialize\n  end\nend\n"
    ),
    "app/models/post.rb": (
        "class Post < ApplicationRecord\n  belongs_to :user\n  belongs_to :author, class_name: 'User'\n\n"
        "  delegate :name, :email,\n           to: :user\n  delegate :name, to: :author, prefix: true\n  delegate :name, to: :other\n\n"
        "  before_save :check\n\n  def check\n    add(:check)\n    send(:check)\n    user.name\n  end\nend\n"
    ),
    "app/use.rb": "User.new('a')\nAdmin.new('b')\nGuest.new\nuser = User.new('c')\nuser.name, other.size = 1, 2\nprint user.name, 1\n",
}
# Parts for platforms are one; parameters of the head are properties; folders leave out `shop`.
KOTLIN = {
    "common/src/Clock.kt": "package shop\n\nexpect class Clock {\n    fun now(zone: Int): Long\n}\nexpect fun tick(): Long\n",
    "jvm/src/ClockJvm.kt": (
        "package shop\n\nactual class Clock {\n    actual fun now(zone: Int): Long = 1\n    fun now(): Long = now(2)\n}\n"
        "actual fun tick(): Long = 1\n"
    ),
    "common/src/Cart.kt": (
        "package shop\n\nenum class Kind { SMALL, BIG }\nclass Cart(val size: Int, val kind: Kind) {\n"
        "    constructor(text: String) : this(1, Kind.SMALL)\n"
        "    fun double() = size * 2\n    fun other(size: Int) = size\n}\nfun Order(size: Int) = Cart(size, Kind.BIG)\n"
    ),
    "test/src2/app/UseTest.kt": (
        "package shop.test\n\nimport shop.*\n\nclass Use(private val carts: List<Cart>, val clock: Clock) {\n"
        "    fun sizes() = carts.map { it.size }\n    fun run() {\n        clock.now(1)\n"
        "        tick()\n        val cart = Cart(size = 1, kind = Kind.BIG)\n"
        '        cart.let { it.size }\n        Order(size = 1)\n        Cart("a")\n    }\n}\n'
    ),
}
# Imports by package or path bring names, and exports pass them on; parameters and variables hide members; constructors have names.
DART = {
    "core/pubspec.yaml": "name: core\n",
    "core/lib/core.dart": "export 'src/cart.dart' show Cart;\n",
    "core/lib/src/cart.dart": (
        "class Cart {\n  final int size;\n  Cart(this.size, {int? limit}) : assert(limit != null);\n"
        "  Cart.small() : this(1, limit: 2);\n  int get limit => size;\n  int count({int? limit}) {\n    return limit! + this.limit;\n  }\n"
        "  int twice() {\n    final int limit = 2;\n    return limit;\n  }\n}\n"
    ),
    "app/pubspec.yaml": "name: app\n",
    "app/lib/use.dart": (
        "import 'package:core/core.dart';\nimport '../../core/lib/src/cart.dart' as own;\n\n"
        "int run(Cart cart) => cart.limit + own.Cart.small().limit + cart.count(limit: 1);\nfinal made = Cart(1);\n"
    ),
}
# A bare name is a variable, a function of the own module, or one of a module that is brought.
ELIXIR = {
    "lib/cart.ex": (
        "defmodule Shop.Cart do\n  @type total(a) :: a\n  @spec total(list) :: integer\n  def total(prices), do: Enum.sum(prices)\n\n"
        "  def all(carts), do: Enum.map(carts, &total/1)\nend\n\ndefmodule Shop.Bill do\n"
        "  def total(bill), do: bill\n\n  def pay(x), do: total(x)\nend\n"
    ),
    "lib/use.ex": (
        "defmodule Shop.Use do\n  import Shop.Cart\n  alias Shop.Cart\n\n  def run(list) do\n    total = total(list)\n    total\n  end\n\n"
        "  def other(x), do: Cart.total(x) + Shop.Bill.total(x)\nend\n"
    ),
}
# Variables hide fields, whatever their type.
JAVA = {
    "src/main/java/shop/Cart.java": (
        "package shop;\n\nimport java.util.*;\n\npublic class Cart {\n  private Map<String, List<Cart>> parts;\n  private Cart root;\n"
        "  Cart(Map<String, List<Cart>> parts) { this.parts = parts; }\n  void set(@Nullable final Cart root) { root.read(); }\n"
        "  void read() {\n    Cart[] root = null;\n    use(root);\n  }\n  void go() { use(root); }\n"
        "  void each(List<Cart> all) { for (Cart root : all) use(root); }\n  void block() { call(root -> root.read()); }\n}\n"
    ),
}
# The name of an argument is none of the object around; parameters of a class are its members.
SCALA = {
    "src/main/scala/shop/Cart.scala": (
        "package shop\n\nobject perms { def set() = 1 }\ncase class Cart(size: Int, perms: Int = 0) {\n  def twice = size * 2\n}\n"
        "object Use {\n  def make(perms: Int) = Cart(size = 1, perms = perms)\n"
        "  def open() = file.write(perms = 2)\n  def read(cart: Cart) = cart.size\n}\n"
    ),
}
# A macro before a class is not its name; a prototype is the function; types may be written small, or be held by a pointer; macros use
# names.
CPP = {
    "shop/cart.h": (
        "#include <memory>\n#define SHOP_API\n#define TOTAL(cart) (cart)->total(1)\nnamespace shop {\nstruct item { int size; };\n"
        "class SHOP_API Cart : private Base {\n public:\n  int total(int times);\n  Cart& add(const item& one);\n  Cart& add(bool);\n"
        " private:\n  std::unique_ptr<item> first;\n  int size;\n};\nint count(const Cart& cart);\n}\n"
    ),
    "shop/cart.cpp": (
        '#include "cart.h"\nnamespace shop {\nint Cart::total(int times) { return first->size * times; }\n'
        "Cart& Cart::add(const item& one) { item copy = one; size = copy.size; return add(true); }\n"
        "Cart& Cart::add(bool) { int size = 1; return size ? *this : *this; }\n"
        "int count(const Cart& cart) { return 1; }\n}\n"
    ),
    "app/main.cpp": (
        '#include "../shop/cart.h"\nint main() {\n  shop::Cart cart;\n  cart.total(2);\n  count(cart);\n'
        "  for (const auto& each : carts()) each.total(1);\n  TOTAL(&cart);\n}\n"
    ),
}
# `new` calls the constructor; its parameters may be fields.
PHP_CREATED = {
    "src/Cart.php": (
        "<?php\nnamespace Shop;\nclass Cart {\n    public function __construct(private Bill $bill, int $size) { $this->bill->pay(); }\n"
        "    public static function make() { return new self(1, 2); }\n    public function describe() {}\n}\n"
    ),
    "src/Big.php": "<?php\nnamespace Shop;\nclass Big extends Cart {}\nclass Other extends Cart { public function __construct() {} }\n",
    "src/Bill.php": "<?php\nnamespace Shop;\nclass Bill { public function pay() {} public function describe() {} }\n",
    "src/use.php": "<?php\nnamespace Shop;\nnew Cart(1, 2);\nnew Big(1, 2);\nnew Other();\n",
    "docs/guide.md": (
        "# Guide\n\nCall `Cart::describe`, never `Bill::describe`.\n\n"
        "`Bill::describe` pays, `describe` tells.\n\nOnly `Bill::describe`.\n"
    ),
}
_USE = "test/src2/app/UseTest.kt"


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
        # What only the place tells is by name, of both types.
        *(
            (
                SWIFT,
                {"symbol": f"{owner}.big"},
                [
                    *_at("Sources/Kind.swift", 19, sure="by name"),
                    *_at("Sources/Use.swift", 7, 10, 12, 13, 14, 18, 19, sure="by name"),
                ],
            )
            for owner in ("Kind", "Other")
        ),
        (SWIFT, {"symbol": "Kind.named"}, _at("Sources/Kind.swift", 20, sure="by name")),
        (SWIFT, {"symbol": "Cart.size"}, _at("Sources/Use.swift", 4, 17, sure="by name")),
        (SWIFT, {"symbol": "Cart.init"}, [*_at("Sources/Kind.swift", 16), *_at("Sources/Use.swift", 11)]),
        (C_SHARP, {"symbol": "Size"}, _at("src/Shop/Cart.cs", 7, 8, 9, 10, 11)),
        # Types of one name are not told apart by the number of their arguments.
        *((C_SHARP, {"path": "src/Shop/Box.cs", "line": line, "symbol": "Box"}, _at("src/Shop/Box.cs", 3, 4, 5, 5, sure="by name"))
          for line in (3, 4, 5)),
        (RUBY, {"symbol": "User.name"},
            [*_at("app/models/user.rb", 3), *_at("app/use.rb", 5, 6), *_at("app/models/post.rb", 5, 7, 8, 15, sure="by name")]),
        (RUBY, {"symbol": "Post.check"}, _at("app/models/post.rb", 10, 13, 14, sure="by name")),
        *(
            (KOTLIN, {"path": path, "line": line}, [*_at("jvm/src/ClockJvm.kt", 5), *_at(_USE, 8)])
            for path, line in (("common/src/Clock.kt", 4), ("jvm/src/ClockJvm.kt", 4))
        ),
        (KOTLIN, {"path": "jvm/src/ClockJvm.kt", "line": 7}, _at(_USE, 9)),
        (KOTLIN, {"symbol": "Cart.size"}, [*_at("common/src/Cart.kt", 6), *_at(_USE, 6, 10, 11, 12, sure="by name")]),
        (KOTLIN, {"symbol": "Kind.BIG"}, [*_at("common/src/Cart.kt", 9), *_at(_USE, 10)]),
        (KOTLIN, {"symbol": "Cart.constructor"}, [*_at("common/src/Cart.kt", 9, sure="by name"), *_at(_USE, 10, 13, sure="by name")]),
        (DART, {"symbol": "Cart.limit"}, [*_at("core/lib/src/cart.dart", 7), *_at("app/lib/use.dart", 4),
            *_at("core/lib/src/cart.dart", 4, sure="by name"), *_at("app/lib/use.dart", 4, 4, sure="by name")]),
        (DART, {"symbol": "Cart.small"}, _at("app/lib/use.dart", 4)),
        (DART, {"path": "core/lib/src/cart.dart", "line": 1},
            [*_at("core/lib/core.dart", 1), *_at("core/lib/src/cart.dart", 4), *_at("app/lib/use.dart", 4, 4, 5)]),
        *((ELIXIR, {"symbol": f"Shop.{module}.total"},
            [*_at("lib/use.ex", 10), *_at("lib/cart.ex", 2, 3, 6, 12, sure="by name"), *_at("lib/use.ex", 6, sure="by name")])
          for module in ("Cart", "Bill")),
        (JAVA, {"symbol": "Cart.root"}, _at("src/main/java/shop/Cart.java", 14)),
        (JAVA, {"symbol": "Cart.parts"}, _at("src/main/java/shop/Cart.java", 8)),
        (PHP_CREATED, {"symbol": "Cart.__construct"}, _at("src/use.php", 3)),
        (PHP_CREATED, {"symbol": "Cart.bill"}, _at("src/Cart.php", 4)),
        (PHP_CREATED, {"symbol": "Bill.pay"}, _at("src/Cart.php", 4)),
        *((CPP, {"path": path, "line": line},
            [*_at("app/main.cpp", 4), *_at("app/main.cpp", 6, sure="by name"), *_at("shop/cart.h", 3, sure="by name")])
          for path, line in (("shop/cart.h", 8), ("shop/cart.cpp", 3))),
        *((CPP, {"path": path, "line": line}, _at("shop/cart.cpp", 4, sure="by name"))
          for path, line in (("shop/cart.h", 10), ("shop/cart.cpp", 5))),
        (CPP, {"symbol": "shop::item::size"}, _at("shop/cart.cpp", 3, 4)),
        (CPP, {"symbol": "Cart.size"}, _at("shop/cart.cpp", 4)),
        (CPP, {"path": "shop/cart.cpp", "line": 6}, _at("app/main.cpp", 5)),
        (CPP, {"symbol": "item"}, [*_at("shop/cart.cpp", 4, 4), *_at("shop/cart.h", 9, 12)]),
        (SCALA, {"path": "src/main/scala/shop/Cart.scala", "line": 3}, _at("src/main/scala/shop/Cart.scala", 8, 9, sure="by name")),
        (SCALA, {"symbol": "Cart.size"},
            [*_at("src/main/scala/shop/Cart.scala", 5, 10), *_at("src/main/scala/shop/Cart.scala", 8, sure="by name")]),
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
    uses = find_uses(client, indexed_projects.copy(files, tmp_path / "forms"), question)
    assert uses == sorted(expected), (question, uses)


def test_a_question_may_name_a_namespace_and_docs_of_another_type_are_left_out(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    client.open(indexed_projects.copy(PHP_CREATED, tmp_path / "namespaces"))
    index_project(client, embeddings=False)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    for name in ("Shop\\Cart::describe", "\\Shop\\Cart::describe()", "Cart::describe", "src.Cart.describe"):
        found = operations.run("find_references", {"symbol": name})["references"]
        assert [(each["path"], each["line"]) for each in found] == [
            ("src/Cart.php", 6),
            ("docs/guide.md", 3),
            ("docs/guide.md", 5),
        ]
    with pytest.raises(NotFound, match=r"these are: Bill\.describe, Cart\.describe"):
        operations.run("find_references", {"symbol": "Bank\\Cart::describe"})


def test_a_function_is_defined_where_its_prototype_is_and_where_its_body_is(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    client.open(indexed_projects.copy(CPP, tmp_path / "prototypes"))
    index_project(client, embeddings=False)
    asked = {"path": "shop/cart.h", "line": 8}
    found = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", asked)["references"]
    assert [(each["path"], each["line"]) for each in found if each["kind"] == "definition"] == [
        ("shop/cart.cpp", 3),
        ("shop/cart.h", 8),
    ]

"""`find_references`: each use with its line, and how sure it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.errors import InvalidRequest, NotFound
from rag_ls.indexing import Buffer
from rag_ls.operations import Operations
from tests.conftest import IndexedProjects
from tests.operations.code.projects import index_project
from tests.support import PATIENCE_S, write

# They ask for lines, names and uses, which need no embeddings.
pytestmark = pytest.mark.usefixtures("words_alone")

FILES = {
    "shop/__init__.py": "from shop.cart import total as grand_total\n",
    "shop/cart.py": (
        "class Base:\n    def save(self):\n        pass\n\n\n"
        "class Cart(Base):\n    def save(self):\n        return super().save()\n\n"
        "    def close(self):\n        self.save()\n        total([])\n\n\n"
        "def total(prices):\n    return sum(prices)\n"
    ),
    "shop/bill.py": (
        "from shop import grand_total\nfrom shop.cart import Cart\n\n\n"
        "def pay(cart: Cart, other, total):\n    cart.save()\n    other.save()\n    total([1])\n    return grand_total([2])\n\n\n"
        "def run():\n    cart = Cart()\n    cart.save()\n    pay(cart, None, None)\n"
    ),
    "tests/test_bill.py": "from shop import bill\n\n\ndef test_pay():\n    bill.pay(1, 2, 3)\n",
    "web/api.ts": "export class Api {\n  load() { return 1 }\n}\nexport const fetchAll = () => new Api().load()\n",
    "web/index.ts": "export { fetchAll } from './api'\n",
    "web/page.ts": "import { fetchAll as all } from './index'\nall()\n",
    "docs/guide.md": "# Guide\n\nCall `grand_total` or `total`.\n",
}


@pytest.fixture
def root(indexed_projects: IndexedProjects, tmp_path: Path) -> Path:
    """A shop in two languages."""
    return indexed_projects.copy(FILES, tmp_path / "references-shop")


@pytest.fixture
def operations(client: Client, root: Path) -> Operations:
    """The operations on it."""
    client.open(root)
    index_project(client)
    return Operations(client, wait_for_model_s=PATIENCE_S)


def _places(answer: dict, kind: str = "") -> list[str]:
    return [
        f"{each['path']}:{each['line']} {each['sure']}" for each in answer["references"] if kind in ("", each["kind"])
    ]


def test_a_field_that_is_taken_apart_from_its_own_class_ends_no_question(client: Client, tmp_path: Path) -> None:
    panel = "export class Panel {\n  show() {\n    const { store } = this;\n    return store.open();\n  }\n}\n"
    store = "export class Store {\n  open() { return 1; }\n}\n"
    client.open(write(tmp_path / "panel", {"panel.ts": panel, "store.ts": store}))
    index_project(client)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", {"symbol": "open"})
    assert _places(answer, "call") == ["panel.ts:4 by name"]


@pytest.mark.slow
def test_calls_are_resolved_by_scope_imports_and_their_new_names(operations: Operations) -> None:
    answer = operations.run("find_references", {"symbol": "total"})
    assert _places(answer, "definition") == ["shop/cart.py:15 resolved"]
    # A parameter of the same name is another thing.
    assert _places(answer, "call") == ["shop/bill.py:9 resolved", "shop/cart.py:12 resolved"]
    assert _places(answer, "import") == ["shop/__init__.py:1 resolved", "shop/bill.py:1 resolved"]
    assert _places(answer, "docs") == ["docs/guide.md:3 by name"]
    assert answer["summary"].startswith("1 definition in 1 file; 2 calls in 2 files, 2 resolved; 2 imports in 2 files")


def test_methods_are_resolved_by_the_type_of_what_they_are_called_on(operations: Operations) -> None:
    calls = _places(operations.run("find_references", {"symbol": "Cart.save"}), "call")
    assert calls == [
        "shop/bill.py:6 resolved",
        "shop/bill.py:14 resolved",
        "shop/cart.py:11 resolved",
        "shop/bill.py:7 by name",
        # It means what this one overrides.
        "shop/cart.py:8 by name",
    ]
    base = operations.run("find_references", {"symbol": "Base.save"})
    assert _places(base, "call")[0] == "shop/cart.py:8 resolved"
    assert all(place.endswith("by name") for place in _places(base, "call")[1:])
    assert _places(base, "override") == ["shop/cart.py:7 resolved"]


def test_a_name_that_several_declare_is_told_and_each_use_names_its_own(operations: Operations) -> None:
    answer = operations.run("find_references", {"symbol": "save"})
    assert "2 declarations have this name: Base.save (shop/cart.py:2), Cart.save (shop/cart.py:7)" in answer["note"]
    targets = {f"{each['path']}:{each['line']}": each.get("target", "") for each in answer["references"]}
    assert (targets["shop/cart.py:8"], targets["shop/cart.py:11"]) == ("Base.save", "Cart.save")


def test_what_derives_from_a_class_is_listed(operations: Operations) -> None:
    answer = operations.run("find_references", {"symbol": "Base", "show": "implements"})
    assert [(each["path"], each["line"], each["symbol"]) for each in answer["references"]] == [
        ("shop/cart.py", 6, "Cart")
    ]


def test_callers_of_callers_are_a_tree(operations: Operations) -> None:
    answer = operations.run("find_references", {"symbol": "Cart.save", "show": "callers", "depth": 2})
    steps = [(each["depth"], each["symbol"]) for each in answer["references"] if "depth" in each]
    assert (2, "run") in steps
    assert (2, "test_pay") in steps
    places = _places(answer)
    assert places.index("shop/bill.py:6 resolved") < places.index("tests/test_bill.py:5 resolved")


def test_callers_in_tests_come_last(operations: Operations, client: Client, root: Path) -> None:
    write(root, {"a_tests/test_first.py": "from shop.cart import total\n\n\ndef test_total():\n    total([3])\n"})
    index_project(client)
    answer = operations.run("find_references", {"symbol": "total", "show": "callers"})
    is_test = [each.get("test", False) for each in answer["references"]]
    assert is_test == sorted(is_test)
    assert is_test[-1]


def test_callees_are_named(operations: Operations) -> None:
    answer = operations.run("find_references", {"path": "shop/cart.py", "line": 10, "show": "callees"})
    assert [(each["line"], each["target"]) for each in answer["references"]] == [(11, "Cart.save"), (12, "total")]


def test_scripts_follow_exports_and_new_names(operations: Operations) -> None:
    answer = operations.run("find_references", {"symbol": "fetchAll"})
    assert _places(answer, "call") == ["web/page.ts:2 resolved"]
    assert _places(answer, "import") == ["web/index.ts:1 resolved", "web/page.ts:1 resolved"]
    assert _places(operations.run("find_references", {"symbol": "Api.load"}), "call") == ["web/api.ts:4 resolved"]


def test_unsaved_text_counts_as_it_is_typed(operations: Operations, client: Client, root: Path) -> None:
    (view,) = client.projects()
    text = (root / "shop/cart.py").read_text() + "\n\ndef late():\n    return total([1])\n"
    view.buffer_changed(Buffer("shop/cart.py", text))
    calls = operations.run("find_references", {"symbol": "total", "show": "callers"})
    assert "shop/cart.py:20 resolved" in _places(calls)
    view.buffer_closed("shop/cart.py")
    assert "shop/cart.py:20 resolved" not in _places(operations.run("find_references", {"symbol": "total"}))


def test_a_change_on_disk_is_followed(operations: Operations, client: Client, root: Path) -> None:
    write(root, {"shop/late.py": "from shop import cart\n\n\ndef late():\n    cart.total([])\n"})
    index_project(client)
    assert "shop/late.py:5 resolved" in _places(operations.run("find_references", {"symbol": "total"}))


def test_what_holds_the_name_and_was_not_read_is_told(operations: Operations, client: Client, root: Path) -> None:
    write(
        root,
        {
            "jobs.yml": "# nightly\nrun: grand_total\n",
            "web/app.min.js": "function a(){return grand_total()}\n",
            "web/other.min.js": "function b(){return grand_totals()}\n",
            "data/big.py": "x = 1\n" * 400_000,
        },
    )
    index_project(client)
    note = operations.run("find_references", {"symbol": "grand_total"})["note"]
    assert "also in files whose uses are not read: jobs.yml:2 (yaml), web/app.min.js:1 (generated)" in note
    assert "not looked at" not in note
    nothing = operations.run("find_references", {"symbol": "grandest_total"})["note"]
    assert "1 file not looked at: index_status with skipped = true lists them" in nothing


@pytest.mark.slow
def test_of_many_files_whose_uses_are_not_read_some_are_looked_at(
    operations: Operations, client: Client, root: Path
) -> None:
    # Those without a text do not count among them.
    write(root, {"web/app.min.js": "function a(){return grand_total()}\n"})
    write(root, {f"jobs/{number:03}.yml": "run: grand_total\n" for number in range(103)})
    for number in range(101):
        (root / "jobs" / f"{number}.js").symlink_to(root / "web/app.min.js")
    index_project(client)
    note = operations.run("find_references", {"symbol": "grand_total"})["note"]
    assert "jobs/004.yml:1 (yaml), 96 more, 3 that may hold the name" in note


def test_a_name_that_is_declared_nowhere_is_found_by_name(operations: Operations) -> None:
    answer = operations.run("find_references", {"symbol": "sum"})
    assert _places(answer) == ["shop/cart.py:16 by name"]
    assert "no declaration is called 'sum'" in answer["note"]


def test_nothing_says_what_was_looked_at_and_what_is_near(operations: Operations) -> None:
    answer = operations.run("find_references", {"symbol": "gran_total"})
    assert (answer["total"], answer["summary"]) == (0, "no references")
    assert "is used in none of 8 files" in answer["note"]
    with pytest.raises(NotFound, match=r"no 'Cart\.total' is declared; these are: total"):
        operations.run("find_references", {"symbol": "Cart.total"})
    with pytest.raises(InvalidRequest, match="a symbol, or a path with a line"):
        operations.run("find_references", {"path": "shop/cart.py"})


def test_a_member_may_be_named_by_a_type_that_inherits_it(client: Client, tmp_path: Path) -> None:
    use = "from base import Base\n\n\nclass Cart(Base):\n    pass\n\n\ndef run(cart: Cart):\n    cart.load()\n"
    write(tmp_path, {"base.py": "class Base:\n    def load(self):\n        return 1\n", "cart.py": use})
    client.open(tmp_path)
    index_project(client)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", {"symbol": "Cart.load()"})
    assert _places(answer) == ["base.py:2 resolved", "cart.py:9 resolved"]


def test_a_name_that_grew_is_the_nearest_where_it_was(client: Client, tmp_path: Path) -> None:
    near = [f"def process{end}():\n    pass\n\n\n" for end in ("es", "or", "ed", "job")]
    files = {"label.py": "def process_all_builders():\n    pass\n", "other.py": "".join(near)}
    client.open(write(tmp_path / "grown", files))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    for show in ("all", "callers", "callees"):
        answer = operations.run("find_references", {"symbol": "label.process", "show": show})
        assert "the nearest are process_all_builders, " in answer["note"], show


def test_a_key_that_many_files_of_data_have_is_used_there_and_declared_in_code(client: Client, tmp_path: Path) -> None:
    files = {f"tasks/{number}.yml": "block:\n  set_fact:\n    a: 1\n" for number in range(6)}
    client.open(write(tmp_path / "tasks", {**files, "run.py": "def set_fact():\n    pass\n\n\nset_fact()\n"}))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    answer = operations.run("find_references", {"symbol": "set_fact"})
    assert _places(answer, "definition") == ["run.py:1 resolved"]
    assert _places(answer, "mention") == [f"tasks/{number}.yml:2 by name" for number in range(6)]
    assert not answer.get("note"), "no file is told twice"
    page = operations.run("find_references", {"symbol": "set_fact", "k": 3})
    assert (len(page["references"]), page["total"]) == (3, 8)
    assert _places(operations.run("find_references", {"symbol": "set_fact", "show": "callers"})) == [
        "run.py:5 resolved"
    ]


def test_a_long_list_has_pages(operations: Operations) -> None:
    first = operations.run("find_references", {"symbol": "total", "k": 2})
    assert (len(first["references"]), first["total"]) == (2, 6)
    assert "4 more: offset = 2 goes on" in first["note"]
    rest = operations.run("find_references", {"symbol": "total", "k": 3, "offset": 2})
    assert len(rest["references"]) == 3
    assert not {*_places(first)} & {*_places(rest)}


def test_what_is_no_variable_is_not_taken_for_one(operations: Operations, client: Client, root: Path) -> None:
    text = (
        "from shop.cart import Cart, total\n\n\nclass A:\n    def f(self, x):\n        with raises(total):\n            pass\n"
        "        return isinstance(x, total)\n\n    def g(self) -> 'Cart':\n        total = 1\n        return total\n"
    )
    write(root, {"shop/late.py": text})
    index_project(client)
    late = [each for each in _places(operations.run("find_references", {"symbol": "total"})) if "late" in each]
    assert late == ["shop/late.py:1 resolved", "shop/late.py:6 resolved", "shop/late.py:8 resolved"]
    quoted = [each for each in _places(operations.run("find_references", {"symbol": "Cart"})) if "late" in each]
    assert quoted == ["shop/late.py:1 resolved", "shop/late.py:10 resolved"]


def test_scripts_offer_names_under_others(operations: Operations, client: Client, root: Path) -> None:
    write(root, {"web/core.ts": "class Core {\n  #own() {}\n  go() { this.#own() }\n}\nexport { Core as Base }\n"})
    write(root, {"web/late.ts": "import { Base } from './core'\nconst core = new Base()\ncore.go()\n"})
    index_project(client)
    assert _places(operations.run("find_references", {"symbol": "Core.go"}), "call") == ["web/late.ts:3 resolved"]
    assert _places(operations.run("find_references", {"symbol": "#own"}), "call") == ["web/core.ts:3 resolved"]


def test_a_file_with_other_letters_than_ascii_has_its_uses_too(
    operations: Operations, client: Client, root: Path
) -> None:
    write(
        root,
        {"shop/café.py": "# Wer zahlt? Größe zählt.\nfrom shop.cart import total\n\n\ndef pay():\n    total([3])\n"},
    )
    index_project(client)
    assert "shop/café.py:6 resolved" in _places(operations.run("find_references", {"symbol": "total"}), "call")


def test_a_declaration_is_shown_by_the_line_with_its_name(operations: Operations, client: Client, root: Path) -> None:
    write(
        root,
        {
            "shop/gift.py": "from shop.cart import Cart\n\n\nclass Gift(Cart):\n    @log(1)\n    def save(self):\n        pass\n"
        },
    )
    index_project(client)
    answer = operations.run("find_references", {"symbol": "Cart.save", "show": "implements"})
    (override,) = answer["references"]
    assert (override["line"], override["text"].strip()) == (6, "def save(self):")


@pytest.mark.parametrize(
    ("files", "symbol", "expected"),
    [
        pytest.param(
            {
                "go.mod": "module shop\n",
                "cart.go": "package shop\n\ntype Cart struct{ owner *Owner }\n\nfunc NewCart() *Cart { return nil }\n\n"
                "func (c *Cart) Save() {}\n",
                "owner.go": "package shop\n\ntype Owner struct{}\n\nfunc (o *Owner) Tell() {}\n",
                "run.go": "package shop\n\nfunc run() {\n\tc := NewCart()\n\tc.Save()\n\tNewCart().Save()\n\tother.Save()\n}\n",
            },
            "Cart.Save",
            ["run.go:5 resolved", "run.go:6 resolved", "run.go:7 by name"],
            id="the result of a function, in Go",
        ),
        pytest.param(
            {
                "go.mod": "module shop\n",
                "cart.go": "package shop\n\ntype Cart struct{ owner *Owner }\n\nfunc (c *Cart) run() { c.owner.Tell() }\n",
                "owner.go": "package shop\n\ntype Owner struct{}\n\nfunc (o *Owner) Tell() {}\n",
            },
            "Tell",
            ["cart.go:5 resolved"],
            id="a field of a struct, in Go",
        ),
        pytest.param(
            {
                "a.go": "package shop\n\ntype Config struct{}\n\nfunc (config Config) Use() {}\n\nfunc (Config) Drop() {}\n",
                "b.go": 'package shop\n\ntype Options struct{ Config string }\n\nvar o = Options{\n\tConfig: "x",\n}\n',
            },
            "Config",
            ["a.go:5 resolved", "a.go:7 resolved", "b.go:6 by name", "b.go:3 by name"],
            id="the receivers of methods, and no key of that name, in Go",
        ),
        pytest.param(
            {
                "base.ts": "class Api<T> {\n  at(path: string): this { return this }\n  load() {}\n}\nexport { Api as Base }\n",
                "api.ts": "import { Base } from './base'\nexport class Api<T> extends Base<T> {}\n",
                "page.ts": "import { Api } from './api'\ndescribe('a', () => {\n  const api = new Api<number>()\n"
                "  it('loads', () => {\n    api.load()\n    api\n      .at(')')\n      .load()\n    other.load()\n  })\n})\n",
            },
            "Api.load",
            ["page.ts:5 resolved", "page.ts:8 by name", "page.ts:9 by name"],
            id="a variable of the block around a callback; a bracket in a text ends a chain of calls",
        ),
        pytest.param(
            {
                "api.ts": "export class Api {\n  load() {}\n}\nexport const make = (): Api => new Api()\n"
                "export const guess = () => {\n  return new Api()\n}\nexport interface Context { api: Api }\n",
                "page.ts": "import { make, guess, Context } from './api'\nmake().load()\nconst second = guess()\nsecond.load()\n"
                "function f({ api }: Context, c: Context) {\n  api.load()\n  c.api.load()\n}\nrun((it) => it.api.load())\n",
            },
            "Api.load",
            [*(f"page.ts:{line} resolved" for line in (2, 7)), *(f"page.ts:{line} by name" for line in (4, 6, 9))],
            id="results and fields with a type; without one, taken apart, or of unknown things, they are told by name",
        ),
        pytest.param(
            {
                "api.ts": "export class Api {\n  constructor(path: string) {}\n}\n",
                "page.ts": "import { Api } from './api'\nconst api = new Api('x')\n",
            },
            "Api.constructor",
            ["page.ts:2 resolved"],
            id="a constructor",
        ),
        pytest.param(
            {
                "store.ts": "export interface Store {\n  save(): void\n}\nexport class Disk implements Store {\n  save() {}\n}\n"
                "export class Tape implements Store {\n  save() {}\n}\nfunction f(store: Store, tape: Tape) {\n"
                "  store.save()\n  tape.save()\n}\n",
            },
            "Disk.save",
            ["store.ts:11 resolved"],
            id="a call through an interface",
        ),
        pytest.param(
            {
                "store.ts": "export interface Store {\n  save(): void\n}\nexport class Tape implements Store {\n  save() {}\n}\n"
                "function f(store: Store, tape: Tape) {\n  store.save()\n  tape.save()\n}\n",
            },
            "Store.save",
            ["store.ts:8 resolved", "store.ts:9 resolved"],
            id="a call of what implements an interface",
        ),
        pytest.param(
            {
                "store.ts": "export class Item {\n  load() {}\n  find() {}\n}\nexport class Shelf {\n"
                "  items: readonly Item[] = []\n  async all(): Promise<Array<Item>> { return [] }\n}\n",
                "page.ts": "import { Item, Shelf } from './store'\nasync function run(items: Item[] | undefined, shelf: Shelf) {\n"
                "  for (const item of items) {\n    item.load()\n  }\n  shelf.items.map(async (each) => {\n    each.load()\n  })\n"
                "  items.find((x) => x)!.load()\n  items[0].load()\n  items.load()\n  const many = await shelf.all()\n"
                "  many.filter(Boolean).forEach((one) => one.load())\n}\n",
            },
            "Item.load",
            [f"page.ts:{line} by name" for line in (4, 7, 9, 10, 11, 13)],
            id="elements of lists are told by name",
        ),
        pytest.param(
            {
                "cookie.ts": "export type Cookie = Record<string, string>\nexport const parse = (text: string): Cookie => {\n"
                "  return read(text) as Cookie\n}\n",
            },
            "Cookie",
            ["cookie.ts:2 resolved", "cookie.ts:3 resolved"],
            id="the type of a function's result",
        ),
        pytest.param(
            {
                "go.mod": "module shop\n",
                "a.go": "package shop\n\ntype Error string\n\nfunc (e Error) Error() string { return string(e) }\n\n"
                'func run(e Error) string {\n\t_ = Error("x")\n\treturn e.Error()\n}\n',
            },
            "Error.Error",
            ["a.go:9 resolved"],
            id="a method that is called as its type, in Go",
        ),
        pytest.param(
            {
                "user.rb": "class User\n  def save\n  end\nend\n",
                "user.ts": "export class User {\n  save() {}\n}\nnew User().save()\n",
            },
            "user.rb:1",
            [],
            id="a type of that name in another language",
        ),
        pytest.param(
            {
                "a/Order.cs": "namespace A;\npublic partial class Order {\n    public void Pay() { }\n}\n",
                "b/Order.cs": "namespace B;\npublic class Order {\n    public void Pay() { }\n    void Run() { Pay(); }\n}\n",
            },
            "a/Order.cs:3",
            [],
            id="a type of that name that is not declared in parts",
        ),
        pytest.param(
            {
                "client.py": "import copy\nfrom typing import Any, TypeVar, Union\n\nimport requests\nfrom requests import Session\n\n"
                'T = TypeVar("T")\n\n\nclass Client(Session):\n    def fetch(self):\n        pass\n',
                "run.py": "import copy\nimport requests\nfrom requests import Session, Response\nfrom typing import Any, Union\n"
                "from client import Client, T\n\n\n"
                "def run(a: Session, b: Any, c: Union[Client, Response], d: T, e: requests.Session, f: Response | Client):\n"
                "    a.fetch()\n    b.fetch()\n    c.fetch()\n    d.fetch()\n    e.fetch()\n    f.fetch()\n"
                "    copy.copy(f).fetch()\n    requests.fetch()\n    Response.fetch()\n    requests.api.fetch()\n",
            },
            "Client.fetch",
            [f"run.py:{line} by name" for line in range(9, 16)],
            id="values of types from outside, but not what stands outside",
        ),
        pytest.param(
            {
                "src/Reply.php": "<?php\nnamespace Shop;\nuse Psr\\Http\\Message\\ResponseInterface;\n\n"
                "class Reply implements ResponseInterface\n{\n    public function send(): void {}\n}\n",
                "src/App.php": "<?php\nnamespace Shop;\nuse Psr\\Http\\Message\\ResponseInterface;\n\nclass App\n{\n"
                "    public function run(ResponseInterface $reply, Reply|ResponseInterface $second): void\n    {\n"
                "        if ($reply instanceof Reply) {\n            $reply->send();\n        }\n        $second->send();\n    }\n}\n",
            },
            "Reply.send",
            ["src/App.php:10 by name", "src/App.php:12 by name"],
            id="a type from outside that instanceof narrows, and one of two types",
        ),
        pytest.param(
            {
                "api.ts": "export class Disk {\n  save() {}\n}\nexport class Tape {\n  save() {}\n}\n"
                "export const pick = (): Promise<Disk | Tape> | undefined => undefined\n",
                "page.ts": "import { Disk, Tape, pick } from './api'\nimport { Store } from 'store'\n"
                "function run(a: Disk | Tape | null, b: Store | Tape, c: Store) {\n  a.save()\n  b.save()\n  c.save()\n  Store.save()\n}\n"
                "const one = await pick()\none.save()\n",
            },
            "Tape.save",
            [f"page.ts:{line} by name" for line in (4, 5, 6, 7, 10)],
            id="one of several types is told by name",
        ),
        pytest.param(
            {
                "fields.py": "class Field:\n    errors = {'null': 'Field may not be null.', 'bad': 'Not a Field'}\n\n\n"
                "def run(one: 'Field', many: 'dict[str, Field]', other: 'Field | None'):\n    pass\n",
            },
            "Field",
            ["fields.py:5 resolved"],
            id="types in quotes, but no sentences",
        ),
        pytest.param(
            {
                "state.ts": "export const getState = () => ({})\n",
                "page.ts": "import { getState } from './state'\nexport const all = {\n  ...getState(),\n  list: [...getState()],\n}\n",
            },
            "getState",
            ["page.ts:3 resolved", "page.ts:4 resolved"],
            id="a call whose result is spread",
        ),
        pytest.param(
            {
                "state.ts": "export function wrap() {\n  return async function wrap() {}\n}\n",
                "page.ts": "import { wrap } from './state'\nwrap()\n",
            },
            "wrap",
            ["page.ts:2 resolved"],
            id="a function in an expression with that name of its own",
        ),
    ],
)
def test_receivers_are_followed(
    client: Client,
    indexed_projects: IndexedProjects,
    tmp_path: Path,
    files: dict[str, str],
    symbol: str,
    expected: list[str],
) -> None:
    client.open(indexed_projects.copy(files, tmp_path / "receivers"))
    index_project(client)
    asked = "path" if ":" in symbol else "symbol"
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", {asked: symbol})
    uses = [each for kind in ("call", "mention") for each in _places(answer, kind)]
    assert sorted(uses) == sorted(expected)


def test_the_name_at_a_column_is_meant(operations: Operations) -> None:
    answer = operations.run("find_references", {"path": "shop/bill.py", "line": 6, "column": 10})
    assert _places(answer, "definition") == ["shop/cart.py:7 resolved"]
    answer = operations.run("find_references", {"path": "shop/bill.py", "line": 9, "column": 12})
    assert (answer["symbol"], _places(answer, "definition")) == ("grand_total", ["shop/cart.py:15 resolved"])
    written = operations.run("find_references", {"path": "shop/bill.py:9:12"})
    assert written["symbol"] == "grand_total"
    around = operations.run("find_references", {"path": "shop/bill.py", "line": 6})
    assert around["symbol"] == "pay"
    declared = operations.run("find_references", {"path": "shop/cart.py", "line": 15, "column": 6})
    assert (declared["symbol"], _places(declared, "definition")) == ("total", ["shop/cart.py:15 resolved"])


RAILS = {
    "app/controllers/stories_controller.rb": (
        "class StoriesController\n  before_action :load_story, only: [:show]\n\n  def show\n    load_story\n    title = load_title\n"
        "    title\n  end\n\n  def load_story\n  end\n\n  def load_title = 1\n\n  def title = 2\nend\n"
    ),
    "app/helpers/stories_helper.rb": "module StoriesHelper\n  def link_name(story)\n    story\n  end\nend\n",
    "app/views/stories/show.html.erb": "<p>link_name</p>\n<%= link_name(@story) %>\n",
    "lib/shop/cart.rb": "module Shop\n  class Cart\n    def total = 1\n  end\nend\n",
    "lib/shop/bill.rb": "module Shop\n  class Cart\n    def bill = total\n  end\nend\n",
    "test/cart_test.rb": "describe Shop::Cart do\n  cart = Shop::Cart.new\n  cart.total\nend\n",
    "config/routes.rb": 'get "/s" => "stories#show"\n',
}


@pytest.mark.slow
def test_ruby_calls_without_brackets_symbols_and_templates_are_references(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    client.open(indexed_projects.copy(RAILS, tmp_path / "references-rails"))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    load = operations.run("find_references", {"symbol": "load_story"})
    controller = "app/controllers/stories_controller.rb"
    assert _places(load, "call") == [f"{controller}:5 resolved"]
    assert _places(load, "mention") == [f"{controller}:2 by name"]
    assert _places(operations.run("find_references", {"symbol": "StoriesController.show"}), "mention") == [
        f"{controller}:2 by name",
        "config/routes.rb:1 by name",
    ]
    assert _places(operations.run("find_references", {"symbol": "link_name"}), "call") == [
        "app/views/stories/show.html.erb:2 resolved"
    ]
    # A variable of the same name is another thing.
    title = operations.run("find_references", {"symbol": "StoriesController.title"})
    assert [place for place in _places(title) if place.startswith(controller)] == [f"{controller}:15 resolved"]
    callees = operations.run("find_references", {"path": controller, "line": 4, "show": "callees"})
    assert [each["target"] for each in callees["references"]] == [
        "StoriesController.load_story",
        "StoriesController.load_title",
    ]
    # A module and a class may be opened again in another file.
    total = operations.run("find_references", {"symbol": "Cart.total", "show": "callers"})
    assert _places(total) == ["lib/shop/bill.rb:3 resolved", "test/cart_test.rb:3 resolved"]


JAVA = {
    "src/main/java/shop/Cart.java": (
        "package shop;\n\npublic class Cart extends Store.Base<Cart> {\n    private int size;\n\n    public Cart(int size) {\n"
        "        this.size = size;\n    }\n\n    public Cart() {\n        this(1);\n    }\n\n    public Cart copy() {\n"
        "        return new Cart(size);\n    }\n\n    public int total(int total) {\n        return total + size();\n    }\n\n"
        "    public int size() {\n        return size;\n    }\n\n    class Line {\n        int all = size();\n    }\n}\n"
    ),
    "src/main/java/shop/Store.java": (
        "package shop;\n\npublic class Store {\n    static class Base<T> {\n        void close() {\n        }\n    }\n}\n"
    ),
    "src/test/java/shop/CartTest.java": (
        "package shop;\n\nclass CartTest extends Cart {\n    CartTest() {\n        super(2);\n    }\n\n    void sizes(String text) {\n"
        "        new Cart().copy().size();\n        carts.map(Cart::size);\n        Cart cart = new Cart();\n"
        "        cart.close();\n        text.size();\n    }\n}\n"
    ),
}


def test_constants_of_modules_are_seen_with_the_module_alone(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    files = {
        "lib/job/client.rb": "module Job\n  class Client\n    def push = 1\n  end\n\n  class Process\n  end\nend\n",
        "lib/job/api.rb": "module Job\n  def self.run\n    Client.new\n  end\nend\n",
        "bin/run.rb": "Job::Client.new.push\nProcess.clock_gettime(1)\nJob::Process.new\n",
    }
    client.open(indexed_projects.copy(files, tmp_path / "modules"))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    assert _places(operations.run("find_references", {"symbol": "Job.Client"})) == [
        "lib/job/client.rb:2 resolved",
        "bin/run.rb:1 resolved",
        "lib/job/api.rb:3 resolved",
    ]
    uses = _places(operations.run("find_references", {"symbol": "Job.Process"}))
    assert uses == ["lib/job/client.rb:6 resolved", "bin/run.rb:3 resolved", "bin/run.rb:2 by name"]
    impact = operations.run("rag_query_impact", {"file_path": "lib/job/client.rb"})
    assert [(each["filePath"], each["lines"]) for each in impact["dependents"]] == [
        ("bin/run.rb", [1, 3]),
        ("lib/job/api.rb", [3]),
    ]


@pytest.mark.parametrize(
    ("files", "path", "expected"),
    [
        pytest.param(
            {
                "src/main/java/shop/Cart.java": "package shop;\npublic class Cart {\n}\n",
                "src/test/java/shop/CartTest.java": "package shop;\nclass CartTest {\n    Cart cart = new Cart();\n}\n",
            },
            "src/main/java/shop/Cart.java",
            {"src/test/java/shop/CartTest.java": [3]},
            id="tests of the package, in Java",
        ),
        pytest.param(
            {
                "composer.json": '{"autoload": {"psr-4": {"App\\\\": "app/"}}}',
                "app/Cart.php": "<?php\nnamespace App;\nclass Cart\n{\n}\n",
                "app/Bill.php": "<?php\nnamespace App;\nclass Bill\n{\n    function pay() { return new Cart(); }\n}\n",
                "app/Web/View.php": "<?php\nnamespace App\\Web;\nclass View\n{\n    function show(\\App\\Cart $cart) {}\n}\n",
            },
            "app/Cart.php",
            {"app/Bill.php": [5], "app/Web/View.php": [5]},
            id="the namespace and full names, in PHP",
        ),
        pytest.param(
            {
                "Shop/Cart.cs": "namespace Shop;\npublic class Cart\n{\n}\n",
                "Shop/Bill.cs": "namespace Shop;\npublic class Bill\n{\n    Cart cart = new Cart();\n}\n",
            },
            "Shop/Cart.cs",
            {"Shop/Bill.cs": [4]},
            id="the namespace, in C#",
        ),
        pytest.param(
            {
                "lib/shop/cart.ex": "defmodule Shop.Cart do\n  def total(cart), do: cart\nend\n",
                "lib/shop/bill.ex": "defmodule Shop.Bill do\n  alias Shop.Cart\n\n  def pay(cart), do: Cart.total(cart)\nend\n",
                "lib/shop/mail.ex": "defmodule Shop.Mail do\n  def send(cart), do: Shop.Cart.total(cart)\nend\n",
            },
            "lib/shop/cart.ex",
            {"lib/shop/bill.ex": [2, 4], "lib/shop/mail.ex": [2]},
            id="aliases and full names, in Elixir",
        ),
    ],
)
def test_what_needs_no_import_depends_too(
    client: Client,
    indexed_projects: IndexedProjects,
    tmp_path: Path,
    files: dict[str, str],
    path: str,
    expected: dict[str, list[int]],
) -> None:
    client.open(indexed_projects.copy(files, tmp_path / "unimported"))
    index_project(client)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("rag_query_impact", {"file_path": path})
    assert {each["filePath"]: each["lines"] for each in answer["dependents"]} == expected


TEMPLATES = {
    "app/User.php": "<?php\nnamespace App;\nclass User\n{\n    public function avatar(int $size): string { return ''; }\n"
    "    public function canEdit(): bool { return true; }\n}\n",
    "views/user.blade.php": "@extends('layouts.user')\n<p>avatar</p>\n@if(count(array_keys(only([1], last($user->canEdit())))) > 0)\n"
    '  <img src="{{ $user->avatar(80) }}">\n  {{-- $user->avatar(1) --}}\n  @{{ avatar() }}\n@endif\n'
    '<x-box :title="$user->avatar(2)" />\n@php\n  $url = $user->avatar(3);\n@endphp\n',
    "views/user.html.twig": "{% extends 'base' %}\n<p>avatar</p>\n{# user.avatar(1) #}\n"
    "{% if user.canEdit %}{{ user.avatar(2)|raw }}{% endif %}\n",
    "routes/web.php": "<?php\nuse App\\User;\nRoute::get('/a', [User::class, 'avatar']);\nRoute::get('/b', 'User@avatar');\n",
    "web/Basket.cs": "namespace Web;\npublic class Basket\n{\n    public int CountItems(int id) { return 1; }\n"
    "    public void Add() { }\n}\n",
    "web/Cart.cshtml": "@model Basket\n@* @Model.CountItems(0) *@\n@if (Model.CountItems(1) > 0)\n{\n    var n = Model.CountItems(2);\n"
    "    <p class='CountItems'>@Model.CountItems(3) of @(Model.CountItems(4) + 1), me@CountItems.org</p>\n}\n",
    "web/Cart.razor": '@inject Basket Items\n<button @onclick="Items.Add">Add</button>\n@code {\n    void Run() { Items.Add(); }\n}\n',
    "web/Shop.java": "package web;\npublic class Shop {\n    public int total() { return 1; }\n}\n",
    "web/shop.jsp": '<p>total</p>\n<%= shop.total() %>\n<c:out value="${shop.total()}"/>\n',
    "web/Shop.vue": "<template>\n  <p>{{ total() }}</p>\n</template>\n<script>\nrun()\n</script>\n",
}


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        (
            "User.avatar",
            [
                "routes/web.php:3",
                "routes/web.php:4",
                *(f"views/user.blade.php:{line}" for line in (4, 8, 10)),
                "views/user.html.twig:4",
            ],
        ),
        ("User.canEdit", ["views/user.blade.php:3", "views/user.html.twig:4"]),
        ("Basket.CountItems", [f"web/Cart.cshtml:{line}" for line in (3, 5, 6, 6)]),
        ("Basket.Add", ["web/Cart.razor:2", "web/Cart.razor:4"]),
        ("Shop.total", ["web/shop.jsp:2", "web/shop.jsp:3"]),
    ],
)
def test_the_code_of_templates_is_read(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path, symbol: str, expected: list[str]
) -> None:
    client.open(indexed_projects.copy(TEMPLATES, tmp_path / "templates"))
    index_project(client)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", {"symbol": symbol})
    found = [place.removesuffix(" resolved").removesuffix(" by name") for place in _places(answer)]
    assert sorted(found[1:]) == sorted(expected)
    # A page whose markup holds the name beside scripts is not read, and named.
    assert ("web/Shop.vue:2" in str(answer)) == (symbol == "Shop.total")


def test_java_types_constructors_and_methods_are_told_apart(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    client.open(indexed_projects.copy(JAVA, tmp_path / "references-java"))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    cart, test, store = (
        "src/main/java/shop/Cart.java",
        "src/test/java/shop/CartTest.java",
        "src/main/java/shop/Store.java",
    )
    # Tests see the package of the sources; a field and a variable are no methods; a class sees what is around it.
    size = operations.run("find_references", {"path": cart, "line": 22})
    assert _places(size) == [
        f"{cart}:22 resolved",
        f"{cart}:19 resolved",
        f"{cart}:27 resolved",
        f"{test}:9 resolved",
        f"{test}:10 resolved",
        f"{test}:13 by name",
    ]
    made = operations.run("find_references", {"path": cart, "line": 6, "show": "callers"})
    # Which of the overloads a creation means is not told.
    assert {f"{cart}:15 by name", f"{test}:9 by name"} <= set(_places(made))
    assert f"{cart}:14 resolved" in _places(operations.run("find_references", {"path": cart, "line": 3}), "mention")
    assert _places(operations.run("find_references", {"symbol": "Base.close"})) == [
        f"{store}:5 resolved",
        f"{test}:12 resolved",
    ]


OTHERS = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/lib.rs": "mod cart;\npub use crate::cart::sinks;\n",
    "src/cart.rs": (
        "pub enum Style { Bold, Thin }\npub struct Cart { size: u8 }\nimpl Cart {\n    fn size(&self) -> u8 { self.size }\n"
        "    fn all(&self, style: Style) -> u8 {\n        match style {\n            Style::Bold => self.size(),\n"
        "            _ => [1].iter().map(Self::size),\n        }\n    }\n}\npub mod sinks {\n    pub struct Text;\n}\n"
    ),
    "examples/run.rs": "use shop::sinks::Text;\nfn main() { Text; }\n",
    "src/Cart.php": "<?php\nnamespace Shop;\nclass Bag {\n    /** @var Bag $other */\n    public function f() { return new Bag(); }\n}\n"
    "function g() {\n    /** @var Bag $bag */\n    $bag = make(Bag::class);\n}\n",
    "Shop/Order.cs": "public partial class Order {\n    public void Pay() { }\n}\n",
    "Shop/Order.Late.cs": "public partial class Order {\n    public Order Pay(int late) { Pay(); return this; }\n}\n",
}


def test_fields_variants_and_parts_of_types_are_told_apart_in_rust_and_c_sharp(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    client.open(indexed_projects.copy(OTHERS, tmp_path / "references-others"))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    # A field is no method, and a method may be handed on without a call.
    size = _places(operations.run("find_references", {"symbol": "Cart.size", "path": "src/cart.rs", "line": 4}))
    assert [place for place in size if place.endswith("resolved")] == [
        f"src/cart.rs:{line} resolved" for line in (4, 7, 8)
    ]
    style = _places(operations.run("find_references", {"symbol": "Style"}), "mention")
    assert style == ["src/cart.rs:5 resolved", "src/cart.rs:7 resolved"]
    # What another document passes on is not denied.
    text = _places(operations.run("find_references", {"symbol": "Text"}))
    assert {"examples/run.rs:1 by name", "examples/run.rs:2 by name"} <= set(text)
    # The type that a comment names is no variable.
    bag = _places(operations.run("find_references", {"symbol": "Bag"}), "mention")
    assert bag == ["src/Cart.php:9 resolved"]
    pay = operations.run("find_references", {"path": "Shop/Order.cs", "line": 2, "show": "callers"})
    assert _places(pay) == ["Shop/Order.Late.cs:2 resolved"]
    order = operations.run("find_references", {"path": "Shop/Order.cs", "line": 1})
    assert "Shop/Order.Late.cs:2 resolved" in _places(order)


def test_members_and_types_are_followed_through_imports_of_them(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    files = {
        "src/main/java/shop/Prices.java": "package shop;\n\npublic class Prices {\n    static int net(int gross) { return gross; }\n}\n",
        "src/main/java/till/One.java": (
            "package till;\n\nimport static shop.Prices.net;\n\nclass One {\n    int pay() { return net(1); }\n}\n"
        ),
        "src/main/java/till/All.java": (
            "package till;\n\nimport static shop.Prices.*;\n\nclass All {\n    int pay() { return net(2); }\n}\n"
        ),
        "Shop/Money.cs": "namespace Shop;\npublic class Money\n{\n    public static int Round(int sum) => sum;\n}\n",
        "Till/Other.cs": (
            "using Money = Shop.Money;\nusing static Shop.Money;\nclass Other\n{\n    int Pay() => Round(1) + Money.Round(2);\n}\n"
        ),
        "Till/Loose.cs": "int Level(int sum)\n{\n    return sum;\n}\n",
        "Till/Levels.cs": "class Levels\n{\n    int Pay() => Level(1);\n}\n",
        "Shop/Cart.cs": "namespace Shop;\npublic class Cart\n{\n    public int Size { get; set; }\n}\n",
        "Till/Fill.cs": (
            "class Fill\n{\n    object Make()\n    {\n        return new Cart\n        {\n            Size = 1\n        };\n    }\n}\n"
        ),
    }
    client.open(indexed_projects.copy(files, tmp_path / "members"))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    java, sharp = "src/main/java/till", "Till/Other.cs"
    net = operations.run("find_references", {"symbol": "Prices.net"})
    assert _places(net, "call") == [f"{java}/All.java:6 resolved", f"{java}/One.java:6 resolved"]
    assert _places(net, "import") == [f"{java}/One.java:3 resolved"]
    calls = operations.run("find_references", {"symbol": "Money.Round"})["references"]
    assert [(each["path"], each["line"], each["sure"]) for each in calls if each["kind"] == "call"] == [
        (sharp, 5, "resolved"), (sharp, 5, "resolved"),
    ]  # fmt: skip
    assert f"{sharp}:5 resolved" in _places(operations.run("find_references", {"symbol": "Money"}))
    # A function of one document is seen there alone.
    assert _places(operations.run("find_references", {"symbol": "Level"}), "call") == ["Till/Levels.cs:3 by name"]
    # What an object is made with is no variable.
    assert _places(operations.run("find_references", {"symbol": "Cart.Size"}), "mention") == ["Till/Fill.cs:7 by name"]


def test_a_qualified_name_of_php_means_the_type_of_its_namespace(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    files = {
        "lib/Shop/Part.php": "<?php\nnamespace Shop;\ninterface Part\n{\n    public function size();\n}\n",
        "lib/Shop/Part/Base.php": "<?php\nnamespace Shop\\Part;\nuse Shop\\Part;\nabstract class Base implements Part\n{\n}\n",
        "lib/Shop/Part/Line.php": (
            "<?php\nnamespace Shop\\Part;\nuse Shop\\Part;\nclass Line extends Part\\Base\n{\n    public function size() { return 1; }\n}\n"
        ),
        "lib/Shop/Till.php": (
            "<?php\nnamespace Shop;\nuse Shop;\nclass Till\n{\n    public function pay(Part $part) {\n        $part->size();\n"
            "        return new Shop\\Part\\Line();\n    }\n}\n"
        ),
    }
    client.open(indexed_projects.copy(files, tmp_path / "namespaces"))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    assert _places(operations.run("find_references", {"symbol": "Line"}), "call") == ["lib/Shop/Till.php:8 resolved"]
    # In what `extends Part\Base` says, Part is the namespace.
    part = _places(operations.run("find_references", {"symbol": "Part"}))
    assert [each for each in part if "Line.php" in each] == ["lib/Shop/Part/Line.php:3 resolved"]
    # What is called on the interface may reach it.
    assert _places(operations.run("find_references", {"symbol": "Line.size"}), "call") == [
        "lib/Shop/Till.php:7 by name"
    ]


def test_a_symbol_that_the_given_file_only_uses_is_found_where_it_is_declared(operations: Operations) -> None:
    answer = operations.run("find_references", {"symbol": "pay", "path": "shop/cart.py"})
    assert _places(answer, "definition") == ["shop/bill.py:5 resolved"]


def test_uses_of_declarations_that_all_documents_see_are_told_by_name(
    operations: Operations, client: Client, root: Path
) -> None:
    write(
        root,
        {
            "web/flow.ts": "declare global {\n  interface Flow {\n    start(): Flow\n  }\n  var Flow: { of: () => number }\n}\nexport {}\n",
            "web/skip.ts": (
                "export const skip = Symbol('skip')\ndeclare global {\n  interface Flow {\n    [skip](): Flow\n  }\n}\n"
                "export class Tap {\n  [skip]() {\n  }\n}\n"
            ),
            "web/late.ts": "import { skip } from './skip'\nlet flow: Flow\nflow.start()\nFlow.of()[skip]()\n",
            "web/own.ts": "import { Flow } from 'elsewhere'\nlet flow: Flow\n",
        },
    )
    index_project(client)
    uses = _places(operations.run("find_references", {"path": "web/flow.ts", "line": 2}), "mention")
    assert uses == [
        f"web/{place} by name" for place in ("flow.ts:3", "late.ts:2", "late.ts:4", "own.ts:2", "skip.ts:4")
    ]
    assert _places(operations.run("find_references", {"symbol": "global.Flow.start"}), "call") == [
        "web/late.ts:3 by name"
    ]
    computed = operations.run("find_references", {"path": "web/skip.ts", "line": 8})
    assert computed["references"][0]["symbol"] == "Tap.skip"


def test_what_a_document_adds_to_the_type_of_a_module_belongs_to_it(
    operations: Operations, client: Client, root: Path
) -> None:
    write(
        root,
        {
            "web/store.ts": "export interface Store {\n  open(): void\n}\n",
            "web/trace.ts": "declare module './store' {\n  interface Store {\n    trace(): void\n  }\n}\nexport {}\n",
            "web/late.ts": "import { Store } from './store'\nfunction go(store: Store) {\n  store.trace()\n}\n",
        },
    )
    index_project(client)
    for question, sure in (
        ({"path": "web/trace.ts", "line": 2}, "by name"),
        ({"path": "web/store.ts", "line": 1}, "resolved"),
    ):
        assert f"web/late.ts:2 {sure}" in _places(operations.run("find_references", question))
    assert _places(operations.run("find_references", {"path": "web/trace.ts", "line": 3}), "call") == [
        "web/late.ts:3 by name"
    ]


def test_a_model_that_a_text_names_with_its_application_is_told_by_name(
    operations: Operations, client: Client, root: Path
) -> None:
    write(
        root,
        {
            "site/__init__.py": "",
            "site/orders/models/lines.py": "class Line:\n    pass\n",
            "site/bills/models.py": (
                'line = ForeignKey("orders.Line", on_delete=1)\nother = ForeignKey("bills.Line")\n'
                'model = apps.get_model("orders", "Line")\n'
            ),
        },
    )
    index_project(client)
    assert _places(operations.run("find_references", {"symbol": "Line"}), "mention") == [
        "site/bills/models.py:1 by name",
        "site/bills/models.py:2 by name",
        "site/bills/models.py:3 by name",
    ]


def test_the_line_of_a_declaration_below_its_annotations_is_no_use(
    operations: Operations, client: Client, root: Path
) -> None:
    write(root, {"web/Visit.java": '@Entity\n@Table(name = "visits")\npublic class Visit {\n    Visit next;\n}\n'})
    write(root, {"web/tab.ts": "@Component({\n  selector: 'tab',\n})\nexport class Tab {\n}\n"})
    index_project(client)
    assert _places(operations.run("find_references", {"symbol": "Visit"})) == [
        "web/Visit.java:3 resolved",
        "web/Visit.java:4 resolved",
    ]
    assert _places(operations.run("find_references", {"symbol": "Tab"})) == ["web/tab.ts:4 resolved"]


def test_so_many_constructors_are_no_question_for_all_that_is_created(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path
) -> None:
    classes = "".join(f"class Type{number}:\n    def __init__(self):\n        pass\n\n" for number in range(60))
    client.open(indexed_projects.copy({"types.py": f"{classes}Type7()\n"}, tmp_path / "constructors"))
    index_project(client)
    operations = Operations(client, wait_for_model_s=PATIENCE_S)
    answer = operations.run("find_references", {"symbol": "__init__"})
    assert _places(answer, "call") == []
    assert "where 60 types are created was not looked for: Type0.__init__ asks for one" in answer["note"]
    assert _places(operations.run("find_references", {"symbol": "Type7.__init__"}), "call") == ["types.py:241 resolved"]


COINS = {
    "Shop/Money.cs": (
        "namespace Shop;\npublic class Money {\n    public Money(int a) {}\n    public Money(int a, string b) : this(a) {}\n}\n"
        "public class Gold : Money {\n    public Gold() : base(3) {}\n    public Gold(string s) : base(3, s) {}\n}\n"
    ),
    "Bank/Use.cs": (
        "using Coin = Shop.Money;\nusing Shop;\nnamespace Bank;\nclass Use {\n    private Coin _coin = new(1);\n"
        '    public Money Price { get; } = new(1, "a");\n    Money Make() => new(2);\n'
        '    void Run() {\n        Money m = new(5, "x");\n        Coin c = new Coin(5);\n    }\n}\n'
    ),
    "src/pay.rs": (
        "pub trait Pay { fn pay(&self); }\nimpl<'a> Pay for &'a [u8] {\n    fn pay(&self) {}\n}\n"
        "pub struct Cart;\nimpl<'a> Pay for &'a mut Cart {\n    fn pay(&self) {}\n}\n"
    ),
    "src/pay.c": "int\npay_all(int n)\n{\n    return n;\n}\n",
}


def test_the_type_of_an_impl_is_no_lifetime(client: Client, indexed_projects: IndexedProjects, tmp_path: Path) -> None:
    client.open(indexed_projects.copy(COINS, tmp_path / "coins"))
    index_project(client, embeddings=False)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", {"symbol": "pay"})
    assert [each["symbol"] for each in answer["references"] if each["kind"] == "definition"] == [
        "Pay.pay",
        "pay",
        "Cart.pay",
    ]


NAMESAKES = {
    "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}}\n',
    "src/Console/Application.php": (
        "<?php\nnamespace Shop\\Console;\nuse Symfony\\Component\\Console\\Application as BaseApplication;\n"
        "class Application extends BaseApplication {\n    public function run() { return parent::run(); }\n}\n"
    ),
    "src/Start.php": "<?php\nnamespace Shop;\nuse Symfony\\Component\\Console\\Application;\n$a = new Application();\n",
    "src/Main.php": "<?php\nnamespace Shop;\nuse Shop\\Console\\Application;\n$a = new Application();\n",
    "src/lib.rs": (
        "trait Detect { fn should_detect(&self) -> bool; }\nimpl Detect for Option<u8> {\n    fn should_detect(&self) -> bool {\n"
        "        true\n    }\n}\nstruct Stub {\n    should_detect: bool,\n}\nfn stub() -> Stub {\n    Stub { should_detect: true }\n}\n"
    ),
    "lib/strategies.rb": (
        "module Auth\n  class Strategy\n    def self.status\n      1\n    end\n    def self.status=(value)\n      2\n    end\n"
        "  end\nend\n\nWarden.add(:strategy, Auth::Strategy)\n"
    ),
    "src/main/scala/shop/Setup.scala": (
        "package shop\n\nobject Setup {\n  lazy val quiet = new Effects {\n    def showUsage(): Unit = ()\n  }\n}\n"
    ),
    "src/main/scala/shop/Runner.scala": (
        "package shop\n\nobject Runner {\n  def run(): Unit = {\n    def showUsage(): Unit = println(1)\n    showUsage()\n  }\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # A class of a library is none of the project, though the ends of their names are alike.
        (
            {"path": "src/Console/Application.php", "line": 4},
            ["src/Main.php:4 resolved", "src/Main.php:3 resolved"],
        ),
        ({"path": "src/Console/Application.php", "line": 5}, ["src/Console/Application.php:5 by name"]),
        # A field may be one of a type from outside: its uses are told by name.
        ({"path": "src/lib.rs", "line": 3}, ["src/lib.rs:8 by name", "src/lib.rs:11 by name"]),
        # A constant among arguments is no variable; what a writer declares is no use of the reader.
        ({"symbol": "Auth.Strategy"}, ["lib/strategies.rb:12 resolved"]),
        ({"path": "lib/strategies.rb", "line": 3}, []),
        # What an object without a name declares is not seen in other files.
        ({"path": "src/main/scala/shop/Setup.scala", "line": 5}, [f"src/main/scala/shop/Runner.scala:{n} by name" for n in (6, 5)]),
    ],
)  # fmt: skip
def test_namesakes_from_outside_and_of_other_kinds_are_told_apart(
    client: Client, indexed_projects: IndexedProjects, tmp_path: Path, question: dict, expected: list[str]
) -> None:
    client.open(indexed_projects.copy(NAMESAKES, tmp_path / "namesakes"))
    index_project(client, embeddings=False)
    answer = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", question)
    assert _places(answer)[1:] == expected


def test_a_file_that_only_passes_on_what_others_export_is_not_told_as_unread(client: Client, tmp_path: Path) -> None:
    files = {
        "src/load/index.ts": "export function load() { return 1 }\n",
        "src/index.ts": 'export * from "./load/index"\n',
        "package.json": '{"exports": {"./load": "./src/load/index.ts"}}\n',
    }
    client.open(write(tmp_path / "barrel", files))
    index_project(client)
    note = Operations(client, wait_for_model_s=PATIENCE_S).run("find_references", {"symbol": "load"})["note"]
    assert note.endswith("also in files whose uses are not read: package.json:1 (json)")


def test_lines_that_hold_the_name_of_a_setting_in_strings_are_told(
    operations: Operations, client: Client, root: Path
) -> None:
    write(
        root, {"src/env.py": "import os\n\nWAIT = os.environ['SHOP_WAIT_S']\n", "docs/env.md": "Set `SHOP_WAIT_S`.\n"}
    )
    index_project(client)
    answer = operations.run("find_references", {"symbol": "SHOP_WAIT_S"})
    assert [each["path"] for each in answer["references"]] == ["docs/env.md"]
    assert "1 more line holds it, in texts or as another's name: src/env.py:3:" in answer["note"]

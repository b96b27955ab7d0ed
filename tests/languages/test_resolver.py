"""Imports are resolved by the rules of each language."""

from __future__ import annotations

import json

import pytest

from rag_ls.languages import LANGUAGES, ImportResolver, SourceTree
from rag_ls.model import Import

PYTHON = {
    "src/shop/__init__.py": "", "src/shop/cart.py": "", "src/shop/tax/__init__.py": "", "src/shop/tax/rates.py": "",
    "tests/helpers.py": "", "tests/test_cart.py": "", "tools/json.py": "",
    "packages/mail/src/mail/__init__.py": "", "packages/mail/src/mail/send.py": "",
}  # fmt: skip
SCRIPT = {
    "tsconfig.json": '{"extends": "./base.json", /* ours */ "include": ["src"],}',
    "base.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["src/*"], "config": ["src/settings.ts"]}}}',
    "package.json": "{}", "src/settings.ts": "", "src/cart.ts": "", "src/cart/index.ts": "", "src/ui/Button.tsx": "",
    "src/ui/index.ts": "", "src/ui/list.vue": "", "src/data.json": "",
    "packages/mail/package.json": json.dumps({"name": "@shop/mail", "main": "dist/index.js", "exports": {
        ".": {"import": "./dist/index.mjs"}, "./queue": "./dist/queue.js", "./lib/*": "./src/lib/*.ts"}}),
    "packages/mail/src/index.ts": "", "packages/mail/src/queue.ts": "", "packages/mail/src/lib/a.ts": "",
}  # fmt: skip
GO = {"go.mod": "module example.org/shop\n", "main.go": "", "cart/cart.go": "", "cart/total.go": "", "cart/cart_test.go": "",
      "tools/go.mod": "module example.org/shop/tools\n", "tools/gen/gen.go": ""}  # fmt: skip
RUST = {"Cargo.toml": '[package]\nname = "shop-app"\n', "src/lib.rs": "", "src/main.rs": "", "src/cart.rs": "",
        "src/cart/total.rs": "", "src/tax/mod.rs": "", "crates/mail/Cargo.toml": '[package]\nname = "mail-kit"\n',
        "crates/mail/src/lib.rs": "", "crates/mail/src/send.rs": "", "tests/cart.rs": "", "tests/common/mod.rs": "",
        "tests/all/main.rs": "", "tests/all/tax.rs": "", "src/bin/tool.rs": "", "src/bin/args.rs": "",
        "odd/Cargo.toml": '[package]\nname = "odd"\n[lib]\nname = "even"\npath = "code/start.rs"\n'
        '[dependencies]\npost = { path = "../crates/mail", package = "mail-kit" }\n',
        "odd/code/start.rs": "", "odd/code/one.rs": "", "run/Cargo.toml": '[package]\nname = "run"\n', "run/src/main.rs": ""}  # fmt: skip
JAVA = {"app/src/main/java/org/shop/Cart.java": "", "app/src/main/java/org/shop/Tax.java": "",
        "lib/src/main/java/org/kit/Cart.java": ""}  # fmt: skip
PHP = {"composer.json": '{"autoload": {"psr-4": {"App\\\\": "app/"}}}', "app/Models/User.php": "", "app/Http/Kernel.php": "",
       "lib/util.php": ""}  # fmt: skip
RUBY = {"lib/shop/cart.rb": "", "lib/shop.rb": "", "spec/cart_spec.rb": "", "spec/helper.rb": ""}
C = {"src/cart.c": "", "src/cart.h": "", "include/shop/tax.h": "", "src/vendor/tax.h": ""}
CSHARP = {
    "src/Shop.Core/Models/Cart.cs": "namespace Shop.Core.Models;",
    "src/Shop.Core/Tax.cs": "",
    "src/Shop.Web/Startup.cs": "",
}


def _targets(
    files: dict[str, str], importer: str, language: str, imported: Import
) -> list[tuple[str, tuple[str, ...]]]:
    resolver = ImportResolver(SourceTree(files, lambda path: files.get(path, "")))
    return sorted((target.path, target.names) for target in resolver.targets(importer, language, imported))


@pytest.mark.parametrize(
    ("importer", "module", "names", "uses", "targets"),
    [
        ("src/shop/cart.py", "shop.tax.rates", (), ("vat",), [("src/shop/tax/rates.py", ("vat",))]),
        ("src/shop/cart.py", "shop.tax", ("rates",), ("rates.vat",), [("src/shop/tax/rates.py", ("vat",))]),
        ("src/shop/cart.py", "shop.tax", ("vat",), (), [("src/shop/tax/__init__.py", ("vat",))]),
        ("src/shop/cart.py", ".tax", ("rates", "vat"), (), [("src/shop/tax/__init__.py", ("vat",)), ("src/shop/tax/rates.py", ())]),
        ("src/shop/tax/rates.py", "..cart", ("total",), (), [("src/shop/cart.py", ("total",))]),
        ("src/shop/tax/rates.py", ".", ("VAT",), (), [("src/shop/tax/__init__.py", ("VAT",))]),
        ("src/shop/cart.py", ".", ("*",), (), [("src/shop/__init__.py", ("*",))]),
        ("tests/test_cart.py", "helpers", ("shop",), (), [("tests/helpers.py", ("shop",))]),
        ("tests/test_cart.py", "mail.send", ("post",), (), [("packages/mail/src/mail/send.py", ("post",))]),
        ("tools/run.py", "json", (), (), []),
        ("src/shop/cart.py", "requests", ("get",), (), []),
        ("src/shop/cart.py", "....far", ("x",), (), []),
    ],
)  # fmt: skip
def test_python(importer: str, module: str, names: tuple[str, ...], uses: tuple[str, ...], targets: list) -> None:
    assert _targets(PYTHON, importer, "python", Import(module, names, 1, uses)) == targets


@pytest.mark.parametrize(
    ("importer", "module", "target"),
    [
        ("src/ui/Button.tsx", "../cart", "src/cart.ts"),
        ("src/ui/Button.tsx", "../cart/index.js", "src/cart/index.ts"),
        ("src/ui/Button.tsx", ".", "src/ui/index.ts"),
        ("src/ui/Button.tsx", "./list.vue", "src/ui/list.vue"),
        ("src/ui/Button.tsx", "@app/cart", "src/cart.ts"),
        ("src/ui/Button.tsx", "config", "src/settings.ts"),
        ("src/ui/Button.tsx", "src/data.json", "src/data.json"),
        ("src/ui/Button.tsx", "@/ui/Button", None),
        ("src/cart.ts", "@/ui/Button", "src/ui/Button.tsx"),
        ("src/cart.ts", "@shop/mail", "packages/mail/src/index.ts"),
        ("src/cart.ts", "@shop/mail/queue", "packages/mail/src/queue.ts"),
        ("src/cart.ts", "@shop/mail/lib/a", "packages/mail/src/lib/a.ts"),
        ("src/cart.ts", "react", None),
        ("src/cart.ts", "../../outside", None),
    ],
)
def test_javascript_and_typescript(importer: str, module: str, target: str | None) -> None:
    found = _targets(SCRIPT, importer, "typescript", Import(module, ("x",), 1))
    assert [path for path, _ in found] == ([target] if target else [])


def test_a_go_package_is_its_files_without_tests() -> None:
    imported = Import("example.org/shop/cart", (), 1, ("Total",))
    assert _targets(GO, "main.go", "go", imported) == [("cart/cart.go", ("Total",)), ("cart/total.go", ("Total",))]
    assert _targets(GO, "main.go", "go", Import("example.org/shop/tools/gen", ("*",), 1)) == [
        ("tools/gen/gen.go", ("*",))
    ]
    assert _targets(GO, "main.go", "go", Import("example.org/other/cart", (), 1)) == []


@pytest.mark.parametrize(
    ("importer", "module", "names", "targets"),
    [
        ("src/main.rs", "crate::cart", ("Cart",), [("src/cart.rs", ("Cart",))]),
        ("src/main.rs", "crate::cart::total", (), [("src/cart/total.rs", ())]),
        ("src/main.rs", "crate::cart::sum", (), [("src/cart.rs", ("sum",))]),
        ("src/main.rs", "shop_app::tax", ("*",), [("src/tax/mod.rs", ("*",))]),
        ("src/lib.rs", "self::cart", (), [("src/cart.rs", ())]),
        ("src/cart/total.rs", "super", ("Cart",), [("src/cart.rs", ("Cart",))]),
        ("src/main.rs", "mail_kit::send", ("post",), [("crates/mail/src/send.rs", ("post",))]),
        ("src/main.rs", "std::fs", (), []),
        # Each test and program is a crate; a crate may have another name, other sources, and another name for those who use it.
        ("tests/cart.rs", "self::common", (), [("tests/common/mod.rs", ())]),
        ("tests/cart.rs", "crate::common", ("run",), [("tests/common/mod.rs", ("run",))]),
        ("tests/all/tax.rs", "crate", ("run",), [("tests/all/main.rs", ("run",))]),
        ("src/bin/tool.rs", "self::args", (), [("src/bin/args.rs", ())]),
        ("odd/code/start.rs", "self::one", (), [("odd/code/one.rs", ())]),
        ("src/main.rs", "even::one", (), [("odd/code/one.rs", ())]),
        ("odd/code/one.rs", "post::send", (), [("crates/mail/src/send.rs", ())]),
        # Nothing can be taken from a program.
        ("src/main.rs", "run", ("start",), []),
    ],
)
def test_rust(importer: str, module: str, names: tuple[str, ...], targets: list) -> None:
    assert _targets(RUST, importer, "rust", Import(module, names, 1)) == targets


def test_java_classes_packages_and_static_members() -> None:
    cart = "app/src/main/java/org/shop/Cart.java"
    tax = "app/src/main/java/org/shop/Tax.java"
    assert _targets(JAVA, tax, "java", Import("org.shop.Cart", (), 1)) == [(cart, ("Cart",))]
    assert _targets(JAVA, tax, "java", Import("org.shop.Cart.total", (), 1)) == [(cart, ("Cart",))]
    assert _targets(JAVA, tax, "java", Import("org.shop", ("*",), 1)) == [(cart, ("*",)), (tax, ("*",))]
    assert _targets(JAVA, tax, "java", Import("java.util.List", (), 1)) == []


def test_php_classes_by_composer_and_included_files() -> None:
    kernel = "app/Http/Kernel.php"
    assert _targets(PHP, kernel, "php", Import("App\\Models\\User", (), 1)) == [("app/Models/User.php", ("User",))]
    assert _targets(PHP, kernel, "php", Import("App\\Models", ("User",), 1)) == [("app/Models/User.php", ("User",))]
    assert _targets(PHP, kernel, "php", Import("../../lib/util.php", (), 1)) == [("lib/util.php", ())]
    assert _targets(PHP, kernel, "php", Import("Closure", (), 1)) == []


def test_ruby_c_and_csharp() -> None:
    assert _targets(RUBY, "spec/cart_spec.rb", "ruby", Import("./helper", (), 1)) == [("spec/helper.rb", ())]
    assert _targets(RUBY, "spec/cart_spec.rb", "ruby", Import("shop/cart", (), 1)) == [("lib/shop/cart.rb", ())]
    assert _targets(C, "src/cart.c", "c", Import("cart.h", (), 1)) == [("src/cart.h", ())]
    assert _targets(C, "src/cart.c", "c", Import("shop/tax.h", (), 1)) == [("include/shop/tax.h", ())]
    models = _targets(CSHARP, "src/Shop.Web/Startup.cs", "csharp", Import("Shop.Core.Models", (), 1))
    assert models == [("src/Shop.Core/Models/Cart.cs", ("*",))]


def test_clojure() -> None:
    paths = dict.fromkeys(("src/acme/web_shop/cart.clj", "src/acme/web_shop/cart.cljs", "test/cart.clj"), "")
    found = _targets(paths, "test/cart.clj", "clojure", Import("acme.web-shop.cart", ("total",), 1))
    assert found == [("src/acme/web_shop/cart.clj", ("total",)), ("src/acme/web_shop/cart.cljs", ("total",))]
    assert _targets(paths, "test/cart.clj", "clojure", Import("clojure.string", ("join",), 1)) == []


def test_a_package_of_python_is_no_place_that_its_modules_are_imported_from() -> None:
    own = {"shop/__init__.py": "", "shop/cache/__init__.py": "", "shop/cache/redis.py": "", "shop/kit/shop/__init__.py": "",
           "shop/kit/__init__.py": "", "shop/kit/pay.py": "", "shop/prices.py": "",
           "demo/__init__.py": "", "demo/pyproject.toml": "", "demo/parts.py": ""}  # fmt: skip
    assert _targets(own, "shop/cache/redis.py", "python", Import("redis", ("Redis",), 1)) == []
    assert _targets(own, "shop/kit/pay.py", "python", Import("shop.prices", (), 1)) == [("shop/prices.py", ())]
    assert _targets(own, "demo/main.py", "python", Import("parts", (), 1)) == [("demo/parts.py", ())]


def test_a_namespace_of_a_library_is_no_folder_whose_path_ends_alike() -> None:
    files = {
        "src/Shop.Core/Logging/Log.cs": "namespace Shop.Core.Logging;\n",
        "src/Shop.Web/Logging/Log.cs": "using System;\n\nnamespace Shop.Web.Logging\n{\n}\n",
        "src/Shop.Web/Page.cs": "namespace Shop.Web;\n",
    }
    logging = _targets(files, "src/Shop.Web/Page.cs", "csharp", Import("Shop.Web.Logging", (), 1))
    assert logging == [("src/Shop.Web/Logging/Log.cs", ("*",))]
    relative = _targets(files, "src/Shop.Web/Page.cs", "csharp", Import("Core.Logging", (), 1))
    assert relative == [("src/Shop.Core/Logging/Log.cs", ("*",))]
    web = _targets(files, "src/Shop.Core/Logging/Log.cs", "csharp", Import("Shop.Web", (), 1))
    assert web == [("src/Shop.Web/Page.cs", ("*",))]
    assert _targets(files, "src/Shop.Web/Page.cs", "csharp", Import("Microsoft.Extensions.Logging", (), 1)) == []


def test_a_package_of_one_part_is_no_folder_of_a_longer_one() -> None:
    files = {
        "flink/src/main/scala/org/shop/flink/scala/Streams.scala": "package org.shop.flink.scala\n",
        "app/models/Cart.scala": "package models\n",
    }
    standard = Import("scala.util", ("Try",), 1)
    assert _targets(files, "common/src/main/scala/org/shop/Config.scala", "scala", standard) == []
    assert _targets(files, "app/Home.scala", "scala", Import("models", ("*",), 1)) == [
        ("app/models/Cart.scala", ("*",))
    ]


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("core/src/main/java/org/codehaus/groovy/runtime/A.java", "org/codehaus/groovy/runtime"),
        ("core/src/test/groovy/org/apache/groovy/runtime/A.java", "org/apache/groovy/runtime"),
        ("src/org/apache/groovy/runtime/A.java", "org/apache/groovy/runtime"),
        ("src/com/acme/util/A.java", "com/acme/util"),
        ("app/src/main/com/acme/A.java", "com/acme"),
        ("java/com/acme/A.java", "com/acme"),
        ("src/main/java/A.java", ""),
        ("src/main/java11/com/acme/A.java", "com/acme"),
    ],
)
def test_packages_of_java_begin_below_the_root_of_their_sources(path: str, folder: str) -> None:
    assert LANGUAGES["java"].shared_folder(path) == folder


def test_the_description_of_a_package_is_read_once_for_all_names_that_it_exports() -> None:
    exports = {".": "./src/index.ts", **{f"./{name}": f"./src/{name}.ts" for name in ("add", "max", "min")}}
    files = {"package.json": json.dumps({"name": "dates", "exports": exports})}
    files |= {f"src/{name}.ts": "" for name in ("index", "add", "max", "min")}
    reads: list[str] = []

    def read(path: str) -> str:
        reads.append(path)
        return files[path]

    resolver = ImportResolver(SourceTree(files, read))
    assert [resolver.names_of(f"src/{name}.ts") for name in ("index", "add", "max")] == [("dates",), ("add",), ("max",)]
    assert reads.count("package.json") == 1

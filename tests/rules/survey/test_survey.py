"""What a survey claims of small projects, and what it does not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest

from rag_ls.rules.checks.contracts import Edge
from rag_ls.rules.survey.findings import SourceLine, SurveyFinding
from rag_ls.rules.survey.sources import is_vendored
from rag_ls.rules.survey.survey import Survey, survey_tree
from tests.rules.survey.surveys import tree_of

Edges = Iterable[tuple[str, str, int]]


def look(files: dict[str, str], edges: Edges | None = None, frontend: str = "", backend: str = "") -> Survey:
    """The survey of some files with the imports that they have, or those that are given."""
    imports = None if edges is None else [(importing, Edge(target, "", line)) for importing, target, line in edges]
    return survey_tree(tree_of(files, imports), frontend, backend)


def claims(findings: Iterable[SurveyFinding]) -> list[tuple[str, int, int]]:
    return [(finding.claim, finding.count, finding.total) for finding in findings]


def test_an_empty_project_has_no_pattern() -> None:
    found = look({"README.md": "# x", "a.py": "x = 1\n"})
    assert found.files == 1
    assert (found.frontend, found.backend, found.stacks) == (None, None, ())
    every = (
        found.about("middleware"), found.about("responses"), found.about("imports"), found.about("layers"), found.about("naming"),
        found.about("errors"), found.about("tests"), found.endpoints, found.events, found.about("endpoints"),
    )  # fmt: skip
    assert not any(every)


def test_two_occurrences_are_no_pattern() -> None:
    assert (
        look({"a.py": "@app.before_request\ndef a(): ...\n@app.before_request\ndef b(): ...\n"}).about("middleware")
        == ()
    )


def test_overrides_name_the_folders() -> None:
    found = look({"web/x.js": ""}, frontend="web/", backend=".")
    assert (found.frontend, found.backend) == ("web", "")


def test_a_root_with_endpoints_is_the_backend_without_a_framework() -> None:
    found = look({"go.mod": "module x", "main.go": 'func main() { http.HandleFunc("/x", x) }'})
    assert found.backend == ""


def test_express_middleware_is_named_and_counted() -> None:
    text = """\
    const express = require('express');
    const app = express();
    app.use(cors());
    app.use('/admin', helmet(), auth.required);
    app.use('/users', usersRouter);
    app.use((req, res, next) => next());
    // app.use(commented());
    """
    found = look({"src/app.js": text})
    assert claims(found.about("middleware"))[0] == (
        "`app.use` registers, among others, `auth.required`, `cors`, `helmet`",
        3,
        0,
    )
    assert found.about("middleware")[0].examples == (SourceLine("src/app.js", 3), SourceLine("src/app.js", 4))


def test_middleware_of_the_other_frameworks() -> None:
    found = look(
        {
            "settings.py": 'MIDDLEWARE = [\n    "django.middleware.security.SecurityMiddleware",\n    # "x.Commented",\n]\n',
            "main.py": "app.add_middleware(CORSMiddleware, allow_origins=[])\n",
            "web.py": "@app.before_request\ndef load_user(): ...\n",
            "r.go": 'import "github.com/gin-gonic/gin"\nfunc f() { r.Use(Logger(), gin.Recovery()) }',
            "app/controllers/a.rb": "before_action :login, :load, only: [:show]\n",
            "routes/api.php": "<?php Route::middleware(['auth:api', 'throttle'])->group(function () {});",
            "src/main.rs": "use axum::Router;\nfn f() { Router::new().layer(TraceLayer::new_for_http()); }",
            "Program.cs": "app.UseAuthentication();\n",
            "a.ts": "@UseGuards(AuthGuard, new RolesGuard())\nclass A {}",
            "F.java": "public class JwtFilter extends OncePerRequestFilter {}",
            "I.java": "class Audit implements HandlerInterceptor {}",
            "fast.js": "const fastify = require('fastify')();\nfastify.register(helmet, {});",
            "lib/router.ex": "plug :accepts, [:html]\nplug :find_tenant\n",
        }
    )
    assert set(found.middleware_names) == {
        "SecurityMiddleware", "CORSMiddleware", "load_user", "Logger", "gin.Recovery", "login", "load", "auth:api", "throttle",
        "TraceLayer::new_for_http", "UseAuthentication", "AuthGuard", "RolesGuard", "JwtFilter", "Audit", "helmet", "find_tenant",
    }  # fmt: skip


def test_middleware_that_any_application_has_is_not_worth_a_line() -> None:
    text = "const app = express();\napp.use(express.json());\napp.use(express.urlencoded());\n"
    assert claims(look({"a.js": text}).about("middleware")) == []
    assert claims(look({"a.js": text + "app.use(audit());\n"}).about("middleware")) == [
        ("`app.use` registers, among others, `audit`", 1, 0)
    ]
    laravel = "Route::middleware(['auth', config('jetstream.auth_session')])->group(function () { Route::get('/a', A::class); });\n"
    assert look({"routes/web.php": "<?php\n" + laravel}).middleware_names == ("auth",), (
        "a setting is read, and names nothing"
    )
    tesla = "defmodule Client do\n  use Tesla\n  plug Tesla.Middleware.JSON\nend\n"
    assert look({"lib/client.ex": tesla}).middleware_names == (), "requests that are sent"
    endpoint = "plug Plug.RequestId\nplug Phoenix.CodeReloader\nplug MyApp.Audit\n"
    assert claims(look({"lib/endpoint.ex": endpoint}).about("middleware")) == [
        ("`plug` registers, among others, `MyApp.Audit`", 1, 0)
    ]
    rails = "class A < ApplicationController\n  before_action :set_account\n  before_action :ensure_admin\nend\n"
    assert look({"app/controllers/a_controller.rb": rails}).middleware_names == ("ensure_admin",), (
        "what loads a record guards nothing"
    )
    rails = "module A\n  before_action :ensure_admin\n  after_action :log_use\n  around_action :set_zone\nend\n"
    assert claims(look({f"app/controllers/concerns/{name}.rb": rails for name in "abc"}).about("middleware")) == [
        ("`after_action` registers, among others, `log_use`", 3, 0),
        ("`before_action` registers, among others, `ensure_admin`", 3, 0),
    ]
    vue = "import VueRouter from 'x'\nconst routes = VueRouter.createRouter({})\nwindow.app = Vue.createApp({})\napp.use(i18n)\n"
    assert look({"static/app.js": vue}).middleware_names == (), "a plugin of Vue"
    express = "const app = express();\nconst router = express.Router();\napp.use(global.BasePath, router);\nrouter.use(upload());\n"
    assert look({"app.js": express}).middleware_names == ("upload",), "a path is none"
    more = express + "router.use(audit);\nrouter.use(limit);\n"
    assert claims(look({"app.js": more}).about("middleware")) == [
        ("`router.use` registers, among others, `audit`, `limit`, `upload`", 3, 0)
    ]


def test_annotations_of_classes_are_told_apart_from_those_of_functions() -> None:
    method = '  @PreAuthorize("x")\n  public X one() {}\n'
    java = f"import org.springframework.x.Y;\n@RestController\npublic class AController implements AApi {{\n{method * 3}}}\n"
    assert claims(look({f"{name}.java": java for name in "ABC"}).about("middleware")) == [
        ("Handlers carry `PreAuthorize`", 9, 0),
    ]
    nest = "@Controller('a')\n@UseGuards(Own)\nexport class A {\n  @Get()\n  @UseGuards(Other)\n  a() {}\n  @Get('b')\n  b() {}\n}\n"
    bare = nest.replace("@UseGuards(Own)\n", "")
    files = {f"{name}.ts": nest for name in "abc"} | {f"{name}.ts": bare for name in "def"}
    assert claims(look(files).about("middleware")) == [
        ("Handlers use the guards `Other`", 6, 0),
        ("Controllers use the guards `Own`", 3, 0),
    ]


def test_tests_lie_where_the_build_tool_asks_for_them() -> None:
    tests = {f"app/src/test/java/{name}Test.java": "@Test void x() {}" for name in "ABCDE"}
    found = look({**tests, "app/src/main/java/IndexSpec.java": "class IndexSpec {}"})
    assert claims(found.about("tests")) == [], (
        "Gradle and Maven ask for `src/test`, and what is below `src/main` is no test"
    )
    scripts = {f"test/backend/{name}.test.js": "const test = require('node:test');\n" for name in "abc"}
    assert [each.claim for each in look(scripts).about("tests") if "use" in each.claim] == [
        "JavaScript test files use node:test"
    ]


def test_several_names_of_middleware_have_each_their_count() -> None:
    text = "const app = express();\napp.use(audit());\napp.use(audit());\napp.use(limit());\n"
    assert claims(look({"a.js": text}).about("middleware")) == [
        ("`app.use` registers, among others, `audit` (2), `limit`", 3, 0)
    ]


def test_answers_with_a_status_beside_them_have_keys_too() -> None:
    route = "@app.get('/{0}')\ndef {0}():\n    return {{'status': 1}}{1}\n"
    endings = (", 201", "", ", 200, {'X': 1}")
    text = "from flask import Flask\n" + "".join(map(route.format, "abc", endings))
    assert claims(look({"app.py": text}).about("responses")) == [("Answers have the key `status`", 3, 3)]


def test_one_file_s_answers_are_no_convention_of_several() -> None:
    route = "app.get('/{0}', (req, res) => {{ {1} }});\n"
    others = {f"src/{name}.js": route.format(name, "list(req, res)") for name in "abc"}
    health = {"src/health.js": "".join(route.format(name, "res.json({ status: 1 })") for name in "xyz")}
    assert claims(look(health).about("responses")) == [("Answers have the key `status`", 3, 3)]
    assert claims(look({**others, **health}).about("responses")) == []


def test_components_are_named_as_they_are_declared() -> None:
    names = ("UserCard", "UserList", "SideBar", "TopBar", "LogIn", "LogOut")
    assert claims(look({f"src/{name}.vue": "<script></script>" for name in names}).about("naming")) == []
    kebab = {
        f"src/{name}.vue": "<script></script>"
        for name in ("user-card", "user-list", "side-bar", "top-bar", "log-in", "log-out")
    }
    assert claims(look(kebab).about("naming")) == [("Vue files with a name of several words are in kebab-case", 6, 6)]


def test_the_envelope_of_responses() -> None:
    text = """\
    function a(req, res) { res.json({ success: true, data }); }
    function b(req, res) { res.status(200).json({ success: true, data: x.map((y) => ({ id: y })) }); }
    function c(req, res) { return res.status(400).json({ success: false, error: 'no, {really}' }); }
    """
    found = claims(look({"a.ts": text, "b.ts": text}).about("responses"))
    assert found == [("Answers have the key `success`", 6, 6)]


def test_the_exceptions_of_answers_keys_are_all_files_with_an_answer_that_lacks_one() -> None:
    good, bad = "jsonify(ok=True, data=1)\n" * 5, "jsonify(ok=True, data=2)\njsonify(ok=False)\n"
    found = look({"a.py": good, "b.py": bad}).about("responses")
    assert [(each.claim, each.evidence()) for each in found] == [
        ("Answers have the keys `ok`, `data`", "6 of 7; not always in `b.py`")
    ], "in one claim"


def test_the_examples_of_several_keys_have_them_all() -> None:
    whole = "jsonify(ok=True, data=1)\n" * 8
    files = {"a.py": "jsonify(data=1)\n" + whole, "b.py": "jsonify(ok=True)\n" * 2 + whole}
    (found,) = look(files).about("responses")
    assert (found.claim, found.count, found.total) == ("Answers have the keys `ok`, `data`", 16, 19)
    assert [(place.path, place.line) for place in found.examples] == [("a.py", 2), ("b.py", 3)]


def test_responses_of_other_languages() -> None:
    calls = "".join(f'c.JSON({status}, gin.H{{"data": x}})\n' for status in ("http.StatusOK", "400", "200"))
    go = f'import "github.com/gin-gonic/gin"\nfunc f() {{\n{calls}}}\n'
    assert ("Answers have the key `data`", 3, 3) in claims(look({"a.go": go}).about("responses"))
    python = "jsonify(ok=True)\n" * 2 + "jsonify({'ok': False})\n"
    assert ("Answers have the key `ok`", 3, 3) in claims(look({"a.py": python}).about("responses"))
    php = "<?php\nreturn response()->json(['errors' => $e], 422);\n" * 3
    assert ("Answers have the key `errors`", 3, 3) in claims(look({"a.php": php}).about("responses"))


def test_the_prefix_of_imports() -> None:
    text = "import a from '@/a';\nimport { b } from '@/b';\nimport c from './c';\nimport react from 'react';\n"
    found = look({"src/x.ts": text, "src/y.ts": text})
    assert found.frontend_imports == ("@/",)
    assert claims(found.about("imports")) == [], "a part of the files is no convention"
    alone = look({path: text.replace("'./c'", "'@/c'") for path in ("src/x.ts", "src/y.ts")})
    assert claims(alone.about("imports")) == [("Files import one another by the prefix `@/`", 6, 6)]


def test_prefixes_are_read_from_tsconfig() -> None:
    files = {
        "tsconfig.json": '{"compilerOptions": {"paths": {"@app/*": ["./src/*"]}}}',
        "src/x.ts": "import '@app/a';\n" * 3,
        "src/a.ts": "export {};\n",
    }
    assert look(files).frontend_imports == ("@app/",)


def test_python_imports_by_the_full_name() -> None:
    files = {
        "shop/__init__.py": "",
        "shop/a.py": "from shop.b import c\nimport shop.d\nfrom shop import e\nimport os\n",
        "shop/b.py": "c = 1\n",
        "shop/d.py": "",
        "shop/e.py": "",
    }
    claim = "Python modules import one another by the package's full name"
    assert claims(look(files).about("imports")) == [(claim, 3, 3)]


def test_imports_of_many_files_that_mix_both_ways_are_no_convention() -> None:
    mixed = "from app.a import a\nfrom app.b import b\nfrom app.c import c\nfrom app.d import d\nfrom .e import e\n"
    files = {f"app/{name}.py": mixed for name in "abcdef"}
    assert look({"app/__init__.py": "", **files}).about("imports") == ()


def test_a_server_in_javascript_beside_types_is_the_backend_of_its_root() -> None:
    package = '{"name": "forge", "bin": {"forge": "app.js"}, "dependencies": {"fastify": "4"}, "devDependencies": {"typescript": "5"}}'
    texts = {
        "package.json": package,
        "app.js": "const app = fastify();\napp.get('/x', h);\n",
        "ui/a.ts": "export {};\n",
    }
    assert look(texts).backend == ""


def test_folders_that_hardly_import_one_another_have_no_order() -> None:
    names = "abcdefg"
    edges = [(f"src/{above}/x.py", f"src/{below}/y.py", 1) for above, below in pairwise(names)]
    twice = [*edges, *((importing, target, 2) for importing, target, _ in edges)]
    files = dict.fromkeys([path for edge in edges for path in edge[:2]], "x = 1\n")
    assert look(files, twice).about("layers") == ()
    assert look(files, [*twice, *((importing, target, 3) for importing, target, _ in edges)]).about("layers")


def test_the_order_of_layers_is_one_finding_with_its_rule() -> None:
    edges = [(f"src/api/{name}.py", f"src/services/{name}.py", 2) for name in "abcd"]
    edges += [(f"src/services/{name}.py", f"src/store/{name}.py", 1) for name in "abcd"]
    files = {path: "x" for edge in edges for path in edge[:2]}
    (layers,) = look(files, edges).about("layers")
    assert "from the highest: `src/api`; `src/services`; `src/store`" in layers.claim
    assert (layers.count, layers.total, layers.exceptions) == (8, 8, ())
    assert layers.examples == (SourceLine("src/api/a.py", 2), SourceLine("src/api/b.py", 2))
    assert layers.rule is not None
    assert layers.rule["layers"] == ["src/api/**", "src/services/**", "src/store/**"]


def test_few_imports_that_go_up_are_exceptions_and_folders_in_a_circle_have_no_order() -> None:
    down = [(f"a/{name}.js", f"b/{name}.js", line) for name in "uvwxyz" for line in (1, 2, 3, 4)]
    files = {f"{layer}/{name}.js": "x" for layer in ("a", "b", "c") for name in "uvwxyz"}
    (layers,) = look(files, [*down, ("b/x.js", "a/y.js", 1)]).about("layers")
    assert (layers.count, layers.total, layers.exceptions) == (24, 25, ("b/x.js -> a/y.js",))
    circle = [(f"b/{name}.js", f"c/{name}.js", 3) for name in "uvw"] + [
        (f"c/{name}.js", f"b/{name}.js", 3) for name in "xyz"
    ]
    assert look(files, [*down, *circle]).about("layers") == ()
    assert look(files, circle).about("layers") == ()


def test_imports_of_tests_are_no_layers() -> None:
    files = {f"tests/{name}.py": "x" for name in "abc"} | {f"core/{name}.py": "x" for name in "abc"}
    assert look(files, [(f"tests/{name}.py", f"core/{name}.py", 1) for name in "abc"]).about("layers") == ()


def test_names_of_files_with_their_exceptions() -> None:
    names = ("user-list", "user-card", "date-time", "page-nav", "side-bar", "oddName", "plain")
    (naming,) = look({f"src/{name}.ts": "x" for name in names}).about("naming")
    assert naming.claim == "TypeScript files with a name of several words are in kebab-case"
    assert naming.evidence() == "5 of 6; not in `src/oddName.ts`"
    assert naming.rule is not None
    assert (naming.rule["file_names"], naming.rule["files"]) == ("kebab-case", ["src/**/*.ts"])


def test_a_mixture_of_names_and_a_handful_of_names_are_no_convention() -> None:
    mixture = {f"{name}.ts": "x" for name in ("a-b", "c-d", "e-f", "gH", "iJ", "kL")}
    assert look(mixture).about("naming") == ()
    assert look({f"{name}.ts": "x" for name in ("a-b", "c-d", "e-f")}).about("naming") == ()


def test_what_one_view_carries_is_not_told_beside_what_many_do() -> None:
    text = "from django.views.decorators.csrf import csrf_exempt\n\n@{}\ndef view(request): ...\n"
    files = {f"{name}.py": text.format("csrf_exempt") for name in "abc"} | {"d.py": text.format("require_POST")}
    assert claims(look(files).about("middleware")) == [("Views carry `csrf_exempt`", 3, 0)]


def test_names_that_the_tools_of_a_framework_give_show_no_style() -> None:
    angular = {f"src/user-{name}.component.ts": "x" for name in "abcdefgh"}
    assert claims(look(angular).about("naming")) == []
    own = {f"src/user-{name}.ts": "x" for name in "abcdef"}
    (found,) = look({**angular, **own}).about("naming")
    assert found.evidence() == "6 of 6"


def test_the_folders_of_a_route_do_not_say_what_its_file_is_for() -> None:
    served = ["pages/api/migration/index.ts", "web/pages/api/links/archive/index.ts", "src/routes/api/old/+server.ts",
              "app/api/examples/route.ts", "app/docs/[id]/route.ts"]  # fmt: skip
    others = [
        "pages/api/x.test.ts",
        "pages/api/__tests__/a.ts",
        "app/examples/a.ts",
        "examples/app/api/x/route.ts",
        "src/old/a.ts",
    ]
    assert look(dict.fromkeys([*served, *others], "x")).files == len(served)


def test_a_project_of_tests_in_csharp_is_no_part_of_the_product() -> None:
    paths = [
        "Shop/Carts/Cart.cs",
        "Shop.Tests/Carts/Helper.cs",
        "Shop.IntegrationTests/Setup.cs",
        "Shop.Benchmarks/Run.cs",
    ]
    assert look(dict.fromkeys(paths, "x")).files == 1
    assert look({"src/routes/.well-known/a/+server.ts": "x", "src/.cache/a.ts": "x"}).files == 1


def test_own_errors_share_a_base() -> None:
    text = """\
    class AppError(Exception): ...
    class NotFound(AppError): ...
    class Gone(NotFound): ...
    class Denied(AppError): ...
    class Other(AppError): ...
    class Plain: ...
    """
    found = claims(look({"errors.py": text}).about("errors"))
    assert found == [("Python error classes of the project derive from `AppError`", 3, 3)]


def test_go_errors_are_wrapped() -> None:
    text = (
        'func f() error {\n\tif err := g(); err != nil {\n\t\treturn fmt.Errorf("g: %w", err)\n\t}\n\treturn nil\n}\n'
    )
    found = claims(look({f"{name}.go": text for name in "abc"}).about("errors"))
    assert found == [("Checks of `err != nil` wrap the error with `fmt.Errorf` and `%w`", 3, 3)]


def test_rust_results_and_thrown_classes() -> None:
    rust = "fn a() -> Result<Vec<(u8, u8)>, AppError> {}\n" * 3
    assert claims(look({"src/a.rs": rust}).about("errors")) == [
        ("Rust functions that can fail return `Result<_, AppError>`", 3, 3)
    ]
    text = "throw new HttpError(404);\n" * 3 + "// throw new Commented();\n"
    assert claims(look({"a.ts": text}).about("errors")) == [("TypeScript code raises `HttpError`", 3, 3)]
    assert look({"a.ts": text.replace("HttpError", "TypeError")}).about("errors") == (), (
        "code without errors of its own"
    )


def test_the_library_of_tests() -> None:
    files = {f"src/{name}.ts": "x" for name in "abc"}
    files |= {f"src/{name}.test.ts": "import { it } from 'vitest'\n" for name in "abc"}
    assert claims(look(files).about("tests")) == [
        ("TypeScript test files use Vitest", 3, 3),
    ]


def test_that_tests_of_go_lie_beside_the_code_is_not_worth_a_line() -> None:
    files = {f"shop/{name}.go": "package shop\n" for name in "abc"}
    files |= {f"shop/{name}_test.go": 'package shop\nimport "testing"\nfunc TestX(t *testing.T) {}\n' for name in "abc"}
    assert claims(look(files).about("tests")) == []


def test_tests_in_a_folder_of_their_own() -> None:
    files = {f"shop/tests/test_{name}.py": "def test_x(): ...\n" for name in "abc"} | {"shop/tests/helpers.py": "x"}
    assert ("Python test files lie below `shop/tests/`", 3, 3) in claims(look(files).about("tests"))
    usual = {path.removeprefix("shop/"): text for path, text in files.items()}
    assert claims(look(usual).about("tests")) == [], "the runner looks there by itself"
    bare = {f"src/{name}.test.ts": "import { it } from 'vitest'\n" for name in "abcd"} | {"src/e.test.ts": "\n"}
    assert claims(look(bare).about("tests")) == [("TypeScript test files use Vitest", 4, 4)], (
        "an empty file holds no test"
    )


def test_tests_examples_vendored_and_generated_files_do_not_count() -> None:
    route = "const app = express();\napp.get('/x', h);\n"
    files = dict.fromkeys(
        ("tests/a.js", "examples/a.js", "node_modules/a/a.js", "docs/a.js", "dist/a.js", "a.spec.js"), route
    )
    files["made.js"] = "// @generated\n" + route
    files["bundle.js"] = route + "x" * 3000
    assert look(files).endpoints == ()


def test_a_java_package_called_demo_is_no_example() -> None:
    text = '@RestController\nclass A {\n@GetMapping("/x") void x() {}\n}'
    assert len(look({"src/main/java/com/example/demo/A.java": text}).endpoints) == 1


def test_every_example_shows_a_line_of_the_file() -> None:
    text = "import a from '@/a';\r\nclass A { f() { throw new HttpError(1); } }\r\n"
    found = look({f"src/{name}.ts": text for name in "abcd"})
    places = [place for f in (*found.about("errors"), *found.about("imports")) for place in f.examples]
    assert {place.line for place in places} == {1, 2}


@pytest.mark.slow
def test_each_of_a_thousand_files_is_read_once() -> None:
    code = "export function total(items: Item[]): number {\n  // adds 'em up\n  return items.reduce((sum, x) => sum + x.price, 0);\n}\n"
    body = "import { x } from '@/x';\n" + code * 50 + "try { f(); } catch (e) { throw new MyError(e); }\n"
    files = {f"src/m{index % 50}/file{index}.ts": body for index in range(1000)}
    reads: list[str] = []

    def read(path: str) -> str:
        reads.append(path)
        return files[path]

    found = survey_tree(tree_of(files, read=read))
    assert found.files == len(set(reads)) == 1000
    assert sorted({path for path in reads if reads.count(path) > 1}) == sorted(
        {excerpt.place.path for excerpt in found.excerpts}
    )


@pytest.mark.slow
def test_hostile_texts_are_read_to_their_end() -> None:
    """Patterns that are more than linear would not come to an end here."""
    texts = [
        "(" * 50_000,
        "/*" * 50_000,
        '"' * 50_000,
        "app.use(" * 10_000,
        "@a.get(" * 10_000,
        "import {" * 10_000,
        "r'''" * 20_000,
    ]
    for suffix in ("ts", "py", "go", "rs", "php", "rb", "java", "cs", "ex", "vue"):
        found = look({f"a{index}.{suffix}": "\n".join((text, "x", "\n" * 2000)) for index, text in enumerate(texts)})
        assert found.files == len(texts)


def test_a_folder_migration_is_one_of_steps_where_their_names_have_numbers() -> None:
    steps = ("server/migration/16039-Initial.ts", "db/V2/user_migration/V1__a.sql", "a/migrations/first.py")
    assert all(map(is_vendored, steps))
    assert not any(map(is_vendored, ("server/migration/plan.ts", "server/migration/api/v1.ts", "src/vendored.py")))
    assert all(map(is_vendored, (".eslintrc.js", "web/.eslintrc.js", "web/a.min.js")))

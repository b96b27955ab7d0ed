"""Routes as the file that declares them writes them: below what the file itself puts before them, and no more."""

from __future__ import annotations

import pytest

from rag_ls.rules.survey.documents import architecture_yaml
from tests.rules.survey.surveys import routes, survey_of

_FASTAPI = "from fastapi import APIRouter, Depends, FastAPI\n"
_FLASK = "from flask import Blueprint, Flask\n"


def mounted(files: dict[str, str]) -> list[str]:
    """The routes that another file may put below a prefix."""
    return [each.route for _, each in survey_of(files).endpoints if each.is_mounted]


@pytest.mark.parametrize(
    ("path", "text", "route"),
    [
        ("users.js", "const router = express.Router();\nrouter.get('/x', h);\nmodule.exports = router;\n", "GET /x"),
        ("users.js", "module.exports = (app) => { app.get('/x', h); };\n", "GET /x"),
        ("plugin.ts", "export default async (fastify) => { fastify.get('/x', h); };\n", "GET /x"),
        ("users.py", f"{_FASTAPI}router = APIRouter(prefix='/u')\n@router.get('/x')\ndef x(): ...\n", "GET /u/x"),
        ("urls.py", "from django.urls import path\nurlpatterns = [path('x/', views.x)]\n", "ANY /x/"),
        ("u.go", 'package u\nimport "github.com/gin-gonic/gin"\nfunc R(g *gin.RouterGroup) { g.Group("/u").GET("/x", h) }\n',
         "GET /u/x"),
        ("u.rs", 'use axum::Router;\npub fn users() -> Router { Router::new().route("/x", get(x)) }\n', "GET /x"),
        ("U.kt", 'import io.ktor.server.routing.*\nfun Route.users() { route("/u") { get("/x") { } } }\n', "GET /u/x"),
        ("U.cs", 'class U { static void Map(RouteGroupBuilder users) { users.MapGet("/x", h); } }\n', "GET /x"),
        ("UController.cs", 'public class UController(Db db) : BaseApi {\n  [HttpGet("x")]\n  public X Get() => x;\n}\n', "GET /x"),
        ("U.java", 'import org.springframework.x;\nclass U extends Base<A> {\n  @GetMapping("/x") int x() { return 1; }\n}\n',
         "GET /x"),
        ("routes/api.php", "<?php\nRoute::get('/x', [X::class, 'x']);\n", "GET /x"),
        ("u.ts", "@Controller('u')\nexport class U {\n  @Get('x') x() {}\n}\n", "GET /u/x"),
    ],
)  # fmt: skip
def test_a_route_that_another_file_may_put_below_a_prefix_is_told_as_it_is_written(
    path: str, text: str, route: str
) -> None:
    assert routes({path: text}) == [route]
    assert mounted({path: text}) == [route.partition(" ")[2]]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app.js", "const app = express();\napp.get('/x', h);\nconst api = express.Router();\napi.get('/y', h);\napp.use('/v1', api);\n"),
        ("app.py", f"{_FASTAPI}app = FastAPI()\nu = APIRouter()\n@u.get('/x')\ndef x(): ...\napp.include_router(u, prefix='/u')\n"),
        ("app.py", f"{_FLASK}app = Flask(__name__)\n@app.route('/x')\ndef x(): ...\n"),
        ("main.go", 'package main\nimport "github.com/gin-gonic/gin"\nfunc f() { r := gin.New(); g := r.Group("/g"); g.GET("/x", h) }\n'),
        ("Program.cs", 'var app = builder.Build();\nvar api = app.MapGroup("/api");\napi.MapGet("/x", h);\n'),
        ("A.cs", '[Route("a")]\npublic class A : BaseApi {\n  [HttpGet("x")]\n  public X Get() => x;\n}\n'),
        ("B.cs", 'public class B(Db db) : ControllerBase {\n  [HttpGet("x")]\n  public X Get() => x;\n}\n'),
        ("config/routes.rb", "Rails.application.routes.draw do\n  get '/x', to: 'x#y'\nend\n"),
    ],
)  # fmt: skip
def test_routes_of_an_application_and_of_controllers_are_whole(path: str, text: str) -> None:
    assert routes({path: text}) != []
    assert mounted({path: text}) == []


def test_a_file_says_that_others_may_put_its_routes_below_a_prefix() -> None:
    files = {
        "app.js": "const users = require('./users');\nconst app = express();\napp.use('/api', auth, users);\napp.get('/a', h);\n",
        "users.js": "const router = express.Router();\nrouter.get('/b', h);\nmodule.exports = router;\n",
    }
    assert routes(files) == ["GET /a", "GET /b"]
    text = architecture_yaml(survey_of(files), "shop")
    assert '"`app.js` declares 1 endpoint"' in text
    assert '"`users.js` declares 1 endpoint, as it writes them: below a prefix, where another file mounts it"' in text


def test_a_prefix_of_routes_that_others_may_put_below_another_is_told_as_written() -> None:
    text = "".join(f"app.get('/v1/{name}', h);\n" for name in "abc")
    whole = survey_of({"app.js": f"const app = express();\n{text}"}).endpoint_patterns
    handed = survey_of({"app.js": f"module.exports = (app) => {{ {text} }};\n"}).endpoint_patterns
    assert [each.claim for each in (*whole, *handed)] == [
        "Routes begin with `/v1`",
        "Routes as written begin with `/v1`",
    ]


def test_a_router_mounted_on_another_of_its_file_is_below_its_prefix() -> None:
    text = f"""{_FASTAPI}
app = FastAPI()
api = APIRouter(prefix="/api")
users = APIRouter(prefix="/users")
@users.get("/me")
def read_me(): ...
api.include_router(users)
app.include_router(api)
"""
    assert routes({"app.py": text}) == ["GET /api/users/me"]


def test_routes_of_gin_may_lack_the_first_slash() -> None:
    text = """
    package main
    import "github.com/gin-gonic/gin"
    func main() {
        r := gin.Default()
        r.GET("users/:id", show)
        r.GET(conf.UI.BaseURL+"/install", install)
        store.GET("users", show)
        made := r.Group(base())
        made.GET("/made", h)
    }
    """
    assert routes({"main.go": text}) == ["GET /users/:id"]
    assert [each.line for each in survey_of({"main.go": text}).unknown_routes] == [7, 10], (
        "what a setting says is unknown"
    )


def test_procedures_have_the_names_of_the_routers_around_them() -> None:
    text = """
    import { router, publicProcedure } from './trpc';
    import { postRouter } from './post';
    const tagRouter = router({ list: publicProcedure.query(f) });
    export const appRouter = router({
      health: publicProcedure.query(f),
      post: postRouter,
      tag: tagRouter,
      admin: router({ clear: adminProcedure.mutation(f) }),
    });
    """
    assert routes({"app.ts": text}) == ["QUERY /tag.list", "QUERY /health", "MUTATION /admin.clear"]


def test_django_includes_lists_that_are_written_there_or_held_in_a_variable() -> None:
    text = """
    from django.urls import include, path, re_path
    from shop.urls import api_urls as shop_api
    from rest_framework.routers import DefaultRouter
    router = DefaultRouter()
    router.register(r"tags", TagViewSet)
    checks = [path("name/", v.a)]
    inner = ([path("checks/", include(checks))], "inner")
    urlpatterns = [
        path("checks/<uuid:code>/", include(checks)),
        re_path(r"^v1/", include((checks, "ns"), namespace="v1")),
        re_path("^api/", include([
            path("x/", include("shop.urls")),
            path("s/", include(shop_api)),
            re_path("^find/", include(([re_path("^$", v.s), re_path("^more/$", v.m)], "find"), namespace="find")),
            *router.urls,
        ])),
        path("in/", include(inner)),
    ]
    urlpatterns += [path("late/", v.l)]
    """
    assert sorted(routes({"urls.py": text})) == [
        "ANY /api/find", "ANY /api/find/more/", "ANY /api/tags", "ANY /checks/<uuid:code>/name/", "ANY /in/checks/name/",
        "ANY /late/", "ANY /v1/name/",
    ]  # fmt: skip


def test_a_prefix_where_a_blueprint_is_registered_stands_instead_of_its_own() -> None:
    text = f"""{_FLASK}
own = Blueprint('own', __name__, url_prefix='/own')
parent = Blueprint('p', __name__, url_prefix='/parent')
inner = Blueprint('i', __name__, url_prefix='/inner')
@own.route('/a')
def a(): ...
@inner.route('/x')
def x(): ...
parent.register_blueprint(inner)
app.register_blueprint(own, url_prefix='/new')
app.register_blueprint(parent, url_prefix='/top')
"""
    assert routes({"app.py": text}) == ["GET /new/a", "GET /top/inner/x"]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("app.config['USER_PREFIX']", ""),
        ("app.config.get('X', '/x')", ""),
        ("settings.API", "GET /{settings.API}/me"),
        ("PREFIX", "GET /p/me"),
        ("OTHER", "GET /{OTHER}/me"),
        ("None", "GET /own/me"),
    ],
)
def test_a_prefix_that_a_name_stands_for_is_its_text_or_the_name_and_a_call_is_unknown(
    prefix: str, expected: str
) -> None:
    text = (
        f"{_FLASK}PREFIX = '/p'\nbp = Blueprint('u', __name__, url_prefix='/own')\n@bp.route('/me')\ndef me(): ...\n"
        f"app.register_blueprint(bp, url_prefix={prefix})\n"
    )
    assert routes({"app.py": text}) == list(filter(None, [expected]))
    assert len(survey_of({"app.py": text}).unknown_routes) == (not expected)


def test_a_path_of_spring_may_be_a_constant_of_the_file_and_is_the_name_of_one_of_another() -> None:
    kotlin = """
    import org.springframework.x
    private const val BASE = "/opds/"
    private const val SERIES = "series"
    @RequestMapping(value = [BASE], produces = ["x"])
    class A {
      @GetMapping(SERIES)
      fun a(): String {}
      @GetMapping("$SERIES/{id}")
      fun b(): String {}
      @GetMapping(made())
      fun c(): String {}
    }
    """
    found = survey_of({"A.kt": kotlin})
    assert [each.route for _, each in found.endpoints] == ["/opds/series", "/opds/series/{id}"]
    assert len(found.unknown_routes) == 1
    java = (
        'import org.springframework.x;\n@RequestMapping("/a")\nclass A {\n@GetMapping(Paths.USERS) public X x() {}\n}\n'
    )
    assert routes({"A.java": java}) == ["GET /a/{Paths.USERS}"]


def test_constants_of_kotlin_stand_in_paths() -> None:
    text = """
    package a
    import io.ktor.server.routing.*
    const val api = "/api/v2"
    private const val param = "id"
    fun Route.users() {
      route("$api/users") {
        get("/{$param}/pdf") { call.respond(1) }
      }
      post("$api/{$made}") { }
    }
    """
    assert routes({"A.kt": text}) == ["GET /api/v2/users/{id}/pdf"]
    assert [each.line for each in survey_of({"A.kt": text}).unknown_routes] == [10]


def test_a_parameter_of_gos_function_is_no_router_that_another_function_makes() -> None:
    text = """
    package routes
    import "github.com/labstack/echo/v4"
    func Register(e *echo.Echo) {
        a := e.Group("/api/v1")
        api(a)
    }
    func api(a *echo.Group) {
        a.Use(noStore())
        u := a.Group("/user")
        u.GET("s", h)
    }
    func metrics(a *echo.Group) { r := a.Group("/metrics"); r.GET("", h) }
    """
    assert routes({"routes.go": text}) == ["GET /users", "GET /metrics"]


def test_a_function_of_rust_that_the_file_nests_is_below_its_path_and_one_of_another_file_is_not() -> None:
    text = """
    use axum::Router;
    fn app() -> Router { Router::new().nest("/api", users()).nest("/other", posts::open()) }
    fn users() -> Router { Router::new().route("/users", get(all)) }
    fn open() -> Router { Router::new().route("/open", get(all)) }
    """
    assert routes({"src/main.rs": text}) == ["GET /api/users", "GET /open"]


def test_an_application_that_is_mounted_puts_its_prefix_before_its_routers() -> None:
    text = """
    from fastapi import APIRouter, FastAPI
    app = FastAPI()
    api = FastAPI()
    users = APIRouter(prefix="/users")
    @users.get("/me")
    def read_me(): ...
    api.include_router(users)
    app.mount("/api/v1", app=api)
    """
    assert routes({"app.py": text}) == ["GET /api/v1/users/me"]


def test_a_router_that_its_own_file_mounts_at_several_places_has_the_routes_of_each() -> None:
    text = """
    from fastapi import APIRouter, Depends, FastAPI
    users = APIRouter()
    api = APIRouter(prefix="/api", dependencies=[Depends(auth)])
    app = FastAPI()
    @users.get("/me")
    def me(): ...
    api.include_router(users, prefix="/users")
    app.include_router(api, prefix="/v1")
    app.include_router(api, prefix="/v2", dependencies=[Depends(limit)])
    """
    assert routes({"app.py": text}) == ["GET /v1/api/users/me", "GET /v2/api/users/me"]


def test_a_plugin_of_fastify_may_call_its_application_by_any_name() -> None:
    files = {
        "a.ts": """
        import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
        export async function routes(f: FastifyInstance, opts: X) { f.get('/a', h); f.register(inner, { prefix: '/in' }); }
        const inner: FastifyPluginAsync = async (g) => { g.get('/b', h); g.addHook('onRequest', g.auth); g.get('/c', h); };
        export default async (k, opts) => {
          k.register(async (child) => { child.post('/d', h); }, { prefix: '/child' });
          cache.get('/no', 1);
        };
        """,
        "b.js": "const fp = require('fastify-plugin');\nmodule.exports = async function (srv, opts) {\n"
        "  srv.get('/x', { preHandler: srv.auth }, h);\n  cache.get('/no', 2);\n};\n",
    }
    assert routes(files) == ["GET /a", "GET /in/b", "GET /in/c", "POST /child/d", "GET /x"]


def test_patterns_of_django_are_read_from_constants_that_are_made_of_others() -> None:
    text = r"""
    from django.urls import re_path
    USER = rf"^user/(?P<name>{regex.NAME})"
    STATUS = rf"{USER}/s/(?P<status>\d+)"
    urlpatterns = [
        re_path(rf"{USER}/inbox/?$", views.Inbox.as_view()),
        re_path(rf"{STATUS}(.json)?/$", views.Status.as_view()),
        re_path(r"^link/(?P<status>(a|b\)))/(?P<id>\d+)$", views.Link.as_view()),
    ]
    """
    assert routes({"urls.py": text}) == [
        "ANY /user/<name>/inbox/?", "ANY /user/<name>/s/<status>/", "ANY /link/<status>/<id>"
    ]  # fmt: skip


def test_a_parameter_of_laravels_resource_has_no_hyphen() -> None:
    found = routes({"routes/api.php": "<?php\nRoute::apiResource('tax-types', A::class)->only('show');\n"})
    assert found == ["GET /tax-types/{tax_type}"]


def test_a_path_that_only_a_setting_puts_before_routers_is_none_of_their_routes() -> None:
    text = """
        use axum::Router;
        fn app() -> Router { if prefix.is_empty() { routes() } else { Router::new().nest(&prefix, routes()) } }
        fn routes() -> Router { Router::new().route("/x", get(x)) }
    """
    assert routes({"src/main.rs": text}) == ["GET /x"]


def test_a_handler_of_spring_that_another_one_calls_is_where_it_is() -> None:
    text = """
    import org.springframework.x
    @RequestMapping("/a")
    class A {
      @GetMapping("/x")
      fun x() { y() }
      @GetMapping("/y")
      fun y() { }
    }
    """
    assert routes({"A.kt": text}) == ["GET /a/x", "GET /a/y"]


def test_a_decorator_of_the_project_may_be_given_the_method_of_a_router() -> None:
    text = """
    from fastapi import APIRouter
    router = APIRouter(prefix="/roms")
    @protected_route(router.post, "/x", [Scope.WRITE])
    def add(): ...
    """
    assert routes({"a.py": text}) == ["POST /roms/x"]


def test_a_router_may_be_handed_out_where_it_is_made() -> None:
    text = "const auth = module.exports = Router();\nauth.get('/auth/x', h);\n"
    assert routes({"a.js": "const Router = require('express').Router;\n" + text}) == ["GET /auth/x"]


def test_routes_of_asp_net_without_a_path_are_unknown_unless_their_own_route_says_it() -> None:
    text = """
    public class UIManageController : Controller {
      [HttpGet] public X Keys() {}
      [Route("server/x")] [HttpPost] public X Post() {}
    }
    """
    found = survey_of({"A.cs": text})
    assert [f"{each.method} {each.route}" for _, each in found.endpoints] == ["POST /server/x"]
    assert [each.line for each in found.unknown_routes] == [3]

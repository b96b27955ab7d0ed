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
    assert '"`app.js` writes out 1 endpoint"' in text
    assert '"`users.js` writes out 1 endpoint, below a prefix, where one is set elsewhere"' in text


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
    assert routes({"main.go": text}) == ["GET /users/:id", "GET /made"]
    assert mounted({"main.go": text}) == ["/made"], "below what a function says"


def test_a_router_that_is_mounted_at_several_places_or_below_a_setting_is_told_as_written() -> None:
    text = f"""{_FASTAPI}
app = FastAPI()
users = APIRouter(prefix="/users")
items = APIRouter(prefix="/items")
@users.get("/me")
def read_me(): ...
@items.get("/{{id}}")
def read_item(): ...
app.include_router(users, prefix="/v1")
app.include_router(users, prefix="/v2")
app.include_router(items, prefix=settings.API)
"""
    assert routes({"app.py": text}) == ["GET /users/me", "GET /items/{id}"]
    assert mounted({"app.py": text}) == ["/users/me", "/items/{id}"]


def test_django_includes_lists_that_are_written_there() -> None:
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
        "ANY /api/find", "ANY /api/find/more/", "ANY /late/", "ANY /name/", "ANY /tags",
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


def test_routes_of_asp_net_without_a_path_are_left_out_unless_their_own_route_says_it() -> None:
    text = """
    public class UIManageController : Controller {
      [HttpGet] public X Keys() {}
      [Route("server/x")] [HttpPost] public X Post() {}
    }
    """
    assert routes({"A.cs": text}) == ["POST /server/x"]

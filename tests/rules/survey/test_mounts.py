"""Routes below the prefixes, and behind the middleware, that other files give to their routers."""

from __future__ import annotations

import textwrap

import pytest

from rag_ls.languages import detect_language
from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.mounts import RouterMounts
from rag_ls.rules.survey.routes import Endpoint
from rag_ls.rules.survey.survey import Survey, SurveyedTree, survey


def survey_of(files: dict[str, str], *edges: tuple[str, str, int]) -> Survey:
    """An edge is the importing file, the imported one and the line."""
    texts = {path: textwrap.dedent(text) for path, text in files.items()}
    return survey(SurveyedTree(tuple(texts), texts.__getitem__, lambda path: detect_language(path) or "", edges))


def routes(files: dict[str, str], *edges: tuple[str, str, int]) -> list[str]:
    """Each route with what stands before it."""
    return [" ".join((each.method, each.route, *each.middleware)) for _, each in survey_of(files, *edges).endpoints]


_API = {
    "src/app.js": "const api = require('./api');\nconst app = require('express')();\napp.use('/api', limit, api);\n",
    "src/api/index.js": "const router = express.Router();\nrouter.use('/users', require('./users'));\n",
    "src/api/users.js": "const router = express.Router();\nrouter.get('/:id', h);\n",
}
_API_EDGES = (("src/app.js", "src/api/index.js", 1), ("src/api/index.js", "src/api/users.js", 2))


def test_a_router_is_below_those_that_mount_it_and_behind_what_stands_before_it() -> None:
    assert routes(_API, *_API_EDGES) == ["GET /api/users/:id limit"]


def test_a_router_that_is_mounted_twice_has_both_routes() -> None:
    old = {"src/old.js": "const api = require('./api');\nconst app = express();\napp.use('/old', api);\n"}
    both = routes({**_API, **old}, *_API_EDGES, ("src/old.js", "src/api/index.js", 1))
    assert both == ["GET /api/users/:id limit", "GET /old/users/:id"]


def test_a_file_may_hand_out_its_routers_under_other_names() -> None:
    files = {
        "app.js": "const routes = require('./routes');\nconst app = express();\n"
        "app.use('/', routes.pages);\napp.use('/api', routes.api);\n",
        "routes.js": "const page = express.Router();\npage.get('/login', h);\nconst apiRouter = express.Router();\n"
        "apiRouter.get('/users', h);\nmodule.exports = {\n  api: apiRouter,\n  pages: page,\n};\n",
    }
    assert routes(files, ("app.js", "routes.js", 1)) == ["GET /login", "GET /api/users"]


def test_a_name_of_a_router_may_hold_a_keyword() -> None:
    files = {
        "app.js": "let importRoutes = require('./imports');\nconst app = express();\napp.use('/imports', importRoutes);\n",
        "imports.js": "const router = express.Router();\nrouter.get('/last', h);\nmodule.exports = router;\n",
    }
    assert routes(files, ("app.js", "imports.js", 1)) == ["GET /imports/last"]


def test_a_router_of_another_file_is_no_middleware() -> None:
    assert survey_of(_API, *_API_EDGES).middleware_names == ("limit",)
    files = {
        "app.js": "const users = require('./users');\nconst app = express();\napp.use(users.guard);\napp.use('/u', users.router);\n",
        "users.js": "const router = express.Router();\nrouter.get('/:id', h);\nmodule.exports = { router, guard };\n",
    }
    assert survey_of(files, ("app.js", "users.js", 1)).middleware_names == ("users.guard",)


def test_what_a_plugin_puts_before_its_requests_stands_before_those_of_the_plugins_in_it() -> None:
    files = {
        "routes/index.js": "const users = require('./users');\nmodule.exports = async function (app) {\n"
        "  app.addHook('preHandler', app.verifySession);\n  app.addHook('preHandler', team.load.bind(null, app));\n"
        "  app.register(users, { prefix: '/api/users' });\n};\n",
        "routes/users.js": "module.exports = async function (app) {\n  app.get('/', { preHandler: app.may('list') }, h);\n};\n",
    }
    expected = ["GET /api/users app.verifySession team.load app.may"]
    assert routes(files, ("routes/index.js", "routes/users.js", 1)) == expected


def test_an_application_may_put_a_prefix_before_all_its_controllers() -> None:
    files = {
        "src/main.ts": "const app = await NestFactory.create(AppModule);\n"
        "app.setGlobalPrefix('api', { exclude: ['robots.txt', 'share/*'] });\n",
        "src/users.controller.ts": "@Controller('users')\nexport class Users {\n  @Get(':id')\n  one() {}\n}\n",
        "src/other.controller.ts": "@Controller()\nexport class Other {\n  @Get('robots.txt')\n  robots() {}\n"
        "  @Get('share/:id')\n  share() {}\n}\n",
        "src/plain.js": "const app = express();\napp.get('/plain', h);\n",
    }
    assert sorted(routes(files)) == ["GET /api/users/:id", "GET /plain", "GET /robots.txt", "GET /share/:id"]


@pytest.mark.parametrize(
    ("where", "groups"),
    [
        ("app/Routes.php", "Route::prefix('api')->middleware(['api', 'auth:api'])->group(base_path('routes/api.php'));"),
        ("bootstrap/app.php", "$app->withRouting(web: __DIR__.'/../web.php', api: __DIR__.'/../routes/api.php');"),
    ],
)  # fmt: skip
def test_files_of_routes_are_below_the_prefix_that_laravel_gives_them(where: str, groups: str) -> None:
    files = {
        where: f"<?php\n{groups}\n",
        "routes/api.php": "<?php\nRoute::get('users', [UserController::class, 'index']);\n",
        "routes/web.php": "<?php\nRoute::get('about', [PageController::class, 'about']);\n",
    }
    guard = " auth:api" if "auth" in groups else ""
    assert sorted(routes(files)) == ["GET /about", f"GET /api/users{guard}"]


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


def test_routes_of_django_are_below_the_paths_that_include_them() -> None:
    files = {
        "site/urls.py": """
        from django.urls import include, path, re_path
        from shop.api import routes as api_routes
        urlpatterns = [
            re_path(r"^shop/", include("shop.urls", namespace="shop")),
            path("api/tags/", include(api_routes.tag_router.urls)),
            path("help/", include([path("faq", views.faq)])),
        ]
        """,
        "shop/urls.py": "from django.urls import path\nurlpatterns = [path('basket/', views.basket, name='basket')]\n",
        "shop/api/routes.py": """
        from rest_framework.routers import SimpleRouter
        item_router = SimpleRouter()
        item_router.register("items", ItemViewSet)
        tag_router = SimpleRouter()
        tag_router.register("all", TagViewSet)
        """,
    }
    found = routes(files, ("site/urls.py", "shop/api/routes.py", 3))
    assert sorted(found) == ["ANY /api/tags/all", "ANY /help/faq", "ANY /items", "ANY /shop/basket/"]


def test_controllers_have_the_route_of_the_class_that_they_derive_from() -> None:
    files = {
        "Api/BaseApi.cs": '[ApiController]\n[Route("api/[controller]")]\npublic class BaseApi : ControllerBase { }\n',
        "Api/UsersController.cs": 'public class UsersController : BaseApi {\n  [HttpGet("{id}")]\n  public User Get(int id) => x;\n}\n',
        "Api/Plain.cs": '[Route("")]\npublic class PlainController : BaseApi {\n  [HttpGet("ping")]\n  public string Ping() => x;\n}\n',
        "Api/Alone.cs": 'public class AloneController : ControllerBase {\n  [HttpGet("alone")]\n  public string Get() => x;\n}\n',
    }
    assert sorted(routes(files)) == ["GET /alone", "GET /api/Users/{id}", "GET /ping"]


def test_a_router_of_go_comes_to_the_functions_that_it_is_given_to() -> None:
    files = {
        "main.go": """
        package main
        import ("github.com/gin-gonic/gin"; "shop/users")
        func open(r *gin.Engine) {
            api := r.Group("/api", limit.Handler)
            users.Register(db, api)
            svc.itemModule.Register(api.Group("/v2"))
            api.GET("/health", health)
        }
        """,
        "users/users.go": """
        package users
        import "github.com/gin-gonic/gin"
        func Register(db *DB, group *gin.RouterGroup) {
            group.GET("/users", list)
            addAdmin(group.Group("/admin", guard.Admin))
        }
        func addAdmin(group *gin.RouterGroup) { group.DELETE("/users", clear) }
        """,
        "item/item.go": """
        package item
        import "github.com/gin-gonic/gin"
        func (m *Module) Register(group *gin.RouterGroup) { group.GET("/items", list) }
        """,
    }
    assert sorted(routes(files, ("main.go", "users/users.go", 3))) == [
        "DELETE /api/admin/users limit.Handler",
        "GET /api/health limit.Handler",
        "GET /api/users limit.Handler",
        "GET /api/v2/items limit.Handler",
    ]


def test_blueprints_that_are_registered_in_a_loop_are_all_below_its_prefix() -> None:
    files = {
        "shop/factory.py": "from flask import Flask\nAPI_VERSION = 1\ndef configure(app, blueprints):\n    for each in blueprints:\n"
        '        app.register_blueprint(each, url_prefix=f"/api/{API_VERSION}")\n',
        "shop/keys/views.py": "from flask import Blueprint\nmod = Blueprint('keys', __name__)\n@mod.route('/keys')\ndef keys(): ...\n",
    }
    assert routes(files) == ["GET /api/{API_VERSION}/keys"]
    made = files["shop/factory.py"].replace("        app.reg", "        each = github(each)\n        app.reg")
    assert routes({**files, "shop/factory.py": made}) == ["GET /keys"], "what the loop makes is no other file's"
    loaded = files["shop/factory.py"].replace(
        "        app.reg", "        each = import_module(each).mod\n        app.reg"
    )
    assert routes({**files, "shop/factory.py": loaded}) == ["GET /api/{API_VERSION}/keys"]


def test_a_router_mounted_on_another_of_its_file_is_below_its_prefix() -> None:
    python = """
    from fastapi import APIRouter, FastAPI
    app = FastAPI()
    api = APIRouter(prefix="/api")
    users = APIRouter(prefix="/users")
    @users.get("/me")
    def read_me(): ...
    api.include_router(users)
    app.include_router(api)
    """
    assert routes({"app.py": python}) == ["GET /api/users/me"]
    files = {
        "src/routes.ts": "import { Router } from 'express';\nimport tags from './tags';\n"
        "const api = Router()\n  .use(tags)\n  .use(a)\n  .use(b)\n  .use(c)\n  .use(d);\nexport default Router().use('/api', api);\n",
        "src/tags.ts": "const router = Router();\nrouter.get('/tags', h);\n",
    }
    assert routes(files, ("src/routes.ts", "src/tags.ts", 2)) == ["GET /api/tags"]


def test_an_import_may_take_several_lines_and_name_several_routers() -> None:
    files = {
        "app/main.py": "from app.routers import (\n    items,\n    users,\n)\napp = FastAPI()\nrouter = APIRouter()\n"
        "router.include_router(users.router, prefix='/u')\napp.include_router(items.public)\n"
        "app.include_router(items.closed, prefix='/closed', dependencies=[Depends(admin)])\napp.include_router(router)\n",
        "app/routers/users.py": "router = APIRouter()\n@router.get('/me')\ndef me(): ...\n",
        "app/routers/items.py": "public = APIRouter(prefix='/items')\nclosed = APIRouter()\n"
        "@public.get('/all')\ndef every(): ...\n@closed.get('/one')\ndef one(): ...\n",
    }
    edges = [("app/main.py", f"app/routers/{name}.py", 1) for name in ("users", "items")]
    assert routes(files, *edges) == ["GET /items/all", "GET /closed/one admin", "GET /u/me"]


def test_a_router_may_have_another_name_where_it_is_mounted() -> None:
    files = {
        "app/main.py": "from app.users import router as users_router\napp = FastAPI()\n"
        "app.include_router(users_router, prefix='/users')\n",
        "app/users.py": "router = APIRouter()\nopen_router = APIRouter()\n@router.get('/me')\ndef me(): ...\n"
        "@open_router.get('/all')\ndef every(): ...\n",
    }
    assert routes(files, ("app/main.py", "app/users.py", 1)) == ["GET /users/me", "GET /all"]


def test_routes_of_gin_may_lack_the_first_slash_or_stand_after_a_setting() -> None:
    files = {
        "main.go": """
        package main
        import "github.com/gin-gonic/gin"
        func main() {
            r := gin.Default()
            r.GET("users/:id", show)
            r.GET(conf.UI.BaseURL+"/install", install)
            store.GET("users", show)
            dnsApi.Init(r.Group("/api"))
        }
        """,
        "dns_api/dns.go": 'package dns_api\nfunc Init(r *gin.RouterGroup) { r.GET("zones", list) }\n',
    }
    found = ["GET /api/zones", "GET /users/:id", "GET /{conf.UI.BaseURL}/install"]
    assert sorted(routes(files, ("main.go", "dns_api/dns.go", 3))) == found


def test_a_file_that_hands_a_router_on_mounts_nothing() -> None:
    files = {
        "app.ts": "import pins from './pins';\nconst router = new Router({ prefix: '/api' });\nrouter.use('/', pins.routes());\n",
        "pins/index.ts": "export { default } from './pins';\n",
        "pins/pins.ts": "const router = new Router();\nrouter.post('/pins', auth(), h);\n",
    }
    assert routes(files, ("app.ts", "pins/index.ts", 1), ("pins/index.ts", "pins/pins.ts", 1)) == [
        "POST /api/pins auth"
    ]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("class Settings:\n    API: str = '/api/v1'\n", "GET /api/v1/me"),
        ("import os\nsettings = os.environ\n", "GET /{settings.API}/me"),
    ],
)
def test_a_prefix_that_another_file_names_is_looked_up_there(config: str, expected: str) -> None:
    files = {
        "main.py": "from config import settings\nfrom users import router\napp = FastAPI()\n"
        "app.include_router(router, prefix=settings.API)\n",
        "config.py": config,
        "users.py": "router = APIRouter()\n@router.get('/me')\ndef me(): ...\n",
    }
    assert routes(files, ("main.py", "config.py", 1), ("main.py", "users.py", 2)) == [expected]


def test_what_a_type_or_a_class_of_router_depends_on_stands_before_the_routes() -> None:
    files = {
        "deps.py": """
        from fastapi import APIRouter, Depends
        CurrentUser = Annotated[User, Depends(get_current_user)]
        SessionDep = Annotated[Session, Depends(get_db)]
        class AdminAPIRouter(APIRouter):
            def __init__(self, **kwargs):
                super().__init__(dependencies=[Depends(get_admin)], **kwargs)
        """,
        "users.py": """
        from fastapi import APIRouter
        from deps import AdminAPIRouter, CurrentUser, SessionDep
        router = APIRouter(dependencies=[Depends(limit)])
        admin = AdminAPIRouter(prefix="/admin")
        @router.get("/me")
        def me(session: SessionDep, user: CurrentUser, id: UUID): ...
        @admin.get("/all")
        def every(session: SessionDep): ...
        """,
    }
    assert routes(files) == ["GET /me limit get_current_user", "GET /admin/all get_admin"]


def test_fastify_loads_the_routes_of_a_folder_below_their_folders() -> None:
    files = {
        "src/app.ts": "import autoload from '@fastify/autoload'\nimport users from './users.js'\n"
        "export default async function app (fastify) {\n"
        "  fastify.register(autoload, { dir: path.join(import.meta.dirname, 'routes'), options: { prefix: '/v1' } })\n"
        "  fastify.register(users, { prefix: '/users' })\n}\n",
        "src/routes/home.ts": "import type { F } from 'fastify'\nexport default async function (fastify) {\n  fastify.get('/', h)\n}\n",
        "src/routes/api/tasks/index.ts": "import type { F } from 'fastify'\nexport default async function (fastify) {\n"
        "  fastify.get('/:id', { preHandler: (request) => request.isAdmin() }, h)\n}\n",
        "src/users.ts": "import type { F } from 'fastify'\nexport default async function (fastify) {\n  fastify.get('/me', h)\n}\n",
    }
    assert routes(files, ("src/app.ts", "src/users.ts", 2)) == [
        "GET /v1/api/tasks/:id", "GET /v1", "GET /users/me",
    ]  # fmt: skip


def test_an_application_of_fastapi_may_be_mounted_as_a_router_is() -> None:
    files = {
        "main.py": "from fastapi import FastAPI\nfrom admin import app as admin_app\napp = FastAPI()\n"
        "app.mount('/admin', admin_app)\n",
        "admin.py": "app = FastAPI()\n@app.get('/users')\ndef users(): ...\n",
    }
    assert routes(files, ("main.py", "admin.py", 2)) == ["GET /admin/users"]


def test_koa_joins_names_without_a_slash_below_what_mounts_them() -> None:
    files = {
        "web.ts": "import Koa from 'koa';\nimport mount from 'koa-mount';\nimport api from './api';\n"
        "const app = new Koa();\napp.use(mount('/api', api));\n",
        "api.ts": "import Koa from 'koa';\nimport pins from './pins';\nimport editor from './editor';\n"
        "const api = new Koa();\nconst router = new Router();\napi.use(editor());\n"
        "router.use('/', pins.routes());\napi.use(router.routes());\nexport default api;\n",
        "pins.ts": "const router = new Router();\nrouter.post('pins.create', auth(), validate(x), async (ctx) => {});\n",
    }
    expected = ["POST /api/pins.create auth validate"]
    assert routes(files, ("web.ts", "api.ts", 3), ("api.ts", "pins.ts", 2), ("api.ts", "editor.ts", 3)) == expected


def test_procedures_have_the_names_of_the_routers_around_them() -> None:
    files = {
        "app.ts": """
        import { router, publicProcedure } from './trpc';
        import { postRouter } from './post';
        import { user } from './user';
        const tagRouter = router({ list: publicProcedure.query(f) });
        export const appRouter = router({
          health: publicProcedure.query(f),
          post: postRouter,
          tag: tagRouter,
          admin: router({ clear: adminProcedure.mutation(f) }),
          user,
        });
        """,
        "post.ts": "import { router } from './trpc';\nexport const postRouter = router({ add: publicProcedure.mutation(f) });\n",
        "user.ts": "import { router } from './trpc';\nexport const user = router({ me: protectedProcedure.query(f) });\n",
    }
    assert routes(files, ("app.ts", "post.ts", 3), ("app.ts", "user.ts", 4)) == [
        "QUERY /tag.list", "QUERY /health", "MUTATION /admin.clear adminProcedure",
        "MUTATION /post.add", "QUERY /user.me protectedProcedure",
    ]  # fmt: skip


def test_routers_that_mount_each_other_are_below_each_other_once() -> None:
    files = {
        "src/a.js": "const b = require('./b');\nconst router = express.Router();\nrouter.use('/b', b);\nrouter.get('/x', h);\n",
        "src/b.js": "const a = require('./a');\nconst router = express.Router();\nrouter.use('/a', a);\nrouter.get('/y', h);\n",
    }
    assert routes(files, ("src/a.js", "src/b.js", 1), ("src/b.js", "src/a.js", 1)) == ["GET /b/a/x", "GET /b/y"]


def test_an_argument_of_a_call_is_no_constant_of_its_name() -> None:
    files = {
        "app/main.py": "from app import users\nfrom app import config\napp = FastAPI()\n"
        "app.include_router(users.router, prefix=config.prefix)\n",
        "app/config.py": "prefix = load()\n",
        "app/users.py": "router = APIRouter(prefix='/users')\n@router.get('/me')\ndef me(): ...\n",
    }
    edges = (("app/main.py", "app/users.py", 1), ("app/main.py", "app/config.py", 2))
    assert routes(files, *edges) == ["GET /{config.prefix}/users/me"]
    known = {**files, "app/config.py": "prefix = '/v1'\n"}
    assert routes(known, *edges) == ["GET /v1/users/me"]


def test_files_are_read_once_for_a_constant_however_many_routes_are_below_it() -> None:
    facts = {
        f"src/C{number}.java": FileFacts(endpoints=[Endpoint("GET", "/{=Paths.API}/x", line) for line in range(5)])
        for number in range(4)
    }
    read = list[str]()

    def read_text(path: str) -> str:
        read.append(path)
        return 'String API = "/api";'

    mounts = RouterMounts(facts, (), read_text)
    found = [each.route for path in facts for each in mounts.endpoints(path) if not isinstance(each, int)]
    assert found == ["/api/x"] * 20
    assert sorted(read) == sorted(facts)


def unknown_lines(files: dict[str, str], *edges: tuple[str, str, int]) -> list[str]:
    """The places of routes that were found, but not followed."""
    return sorted(f"{place.path}:{place.line}" for place in survey_of(files, *edges).unknown_routes)


def test_routes_that_a_project_registers_by_its_own_functions_are_unknown() -> None:
    go = {
        "web/table.go": """
        package web
        import "github.com/gorilla/mux"
        type RouteFunc func(http.ResponseWriter, *http.Request)
        func Add(rt *Runtime, prefix, path string, methods []string, run RouteFunc) { routes[prefix+path] = run }
        func AddPublic(rt *Runtime, path string, methods []string, run RouteFunc) { Add(rt, Public, path, methods, run) }
        func Build(router *mux.Router) { router.HandleFunc("/about", about) }
        """,
        "web/routes.go": """
        package web
        func Register(rt *Runtime, seen Set) {
            AddPublic(rt, "meta", []string{"GET"}, meta.Meta)
            AddPublic(rt, "/users/{id}", nil, users.Get)
            seen.Add("a", "b", "c", "d")
        }
        """,
        "main.go": """
        package main
        import "example.org/web"
        func main() { web.Add(rt, web.Root, "setup", []string{"POST"}, setUp) }
        """,
        "cache/cache.go": 'package cache\nfunc Warm() { AddPublic(rt, "/x", nil, y) }\n',
    }
    assert unknown_lines(go, ("main.go", "web/table.go", 3)) == ["main.go:4", "web/routes.go:4", "web/routes.go:5"]


def test_a_function_whose_parameter_is_the_path_of_a_route_registers_its_calls() -> None:
    files = {
        "app.js": """
        const app = express();
        function open(path, handler) { app.get(path, handler); }
        const closed = (path, handler) => { app.post(path, auth, handler); };
        open('/users', list);
        closed('/users', add);
        open(name);
        """,
        "api.py": """
        from flask import Flask
        app = Flask(__name__)
        class Api:
            def add(self, path, view): app.add_url_rule(path, view_func=view)
        Api().add("/items", items)
        def register(app, routes, view):
            for route in routes:
                app.add_url_rule(route, view_func=view)
        register(app, routes=["/a", "/b"], view=show)
        """,
    }
    assert unknown_lines(files) == ["api.py:10", "api.py:6", "app.js:5", "app.js:6"]


def test_a_controller_of_nest_may_name_its_path_in_an_object() -> None:
    files = {
        "src/main.ts": "const app = await NestFactory.create(M);\napp.setGlobalPrefix('api');\n",
        "src/cats.ts": "@Controller({ path: 'cats', version: '1' })\nexport class Cats {\n  @Post('x')\n  x() {}\n}\n",
    }
    assert routes(files) == ["POST /api/cats/x"]
    files["src/main.ts"] += "app.enableVersioning({ type: VersioningType.URI });\n"
    assert routes(files) == ["POST /api/v1/cats/x"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });",
            ["/api/v1/a", "/api/v2/b", "/api/c"],
        ),
        ("app.enableVersioning();", ["/api/a", "/api/v2/b", "/api/c"]),
        ("app.enableVersioning({ type: VersioningType.HEADER, defaultVersion: '1' });", ["/api/a", "/api/b", "/api/c"]),
        ("", ["/api/a", "/api/b", "/api/c"]),
    ],
)
def test_versions_of_nest_stand_in_the_path_where_the_application_says_so(call: str, expected: list[str]) -> None:
    files = {
        "src/main.ts": f"const app = await NestFactory.create(M);\n{call}\napp.setGlobalPrefix('api');\n",
        "src/a.ts": "@Controller()\nexport class A {\n  @Get('a')\n  a() {}\n  @Version('2')\n  @Get('b')\n  b() {}\n"
        "  @Get('c')\n  @Version(VERSION_NEUTRAL)\n  c() {}\n}\n",
    }
    assert sorted(routes(files)) == sorted(f"GET {each}" for each in expected)


def test_symfony_may_put_a_prefix_before_the_controllers_of_a_folder() -> None:
    controller = "<?php\nclass A {\n    #[Route('/list', methods: ['GET'])]\n    public function list() {}\n}\n"
    files = {
        "config/routes.yaml": "web:\n    resource: ../src/Controller/\n    type: attribute\n    prefix: /{_locale}\n\n"
        "auth:\n    resource: '../src/Controller/Auth'\n    # behind the proxy\n    prefix: '/auth'\n\n"
        "home: { path: /, controller: x }\n",
        "config/routes/api.yaml": "api:\n  resource:\n    path: ../../src/API/\n    namespace: App\\API\n  prefix: /api\n",
        "src/Controller/A.php": controller, "src/Controller/Auth/A.php": controller, "src/API/A.php": controller,
        "src/Other/A.php": controller,
    }  # fmt: skip
    assert sorted(routes(files)) == ["GET /api/list", "GET /auth/list", "GET /list", "GET /{_locale}/list"]


def test_a_router_that_a_class_of_another_file_holds_is_below_its_mount() -> None:
    files = {
        "server.js": "const ApiRouter = require('./api');\nclass Server {\n  start(auth) {\n    this.api = new ApiRouter(this);\n"
        "    const router = express.Router();\n    router.use('/api', auth.check(auth.bind(this)), this.api.router);\n  }\n}\n",
        "api.js": "class ApiRouter {\n  constructor() {\n    this.router = express();\n    this.router.get('/users', f);\n  }\n}\n",
    }
    assert routes(files, ("server.js", "api.js", 1)) == ["GET /api/users auth.check"]


def test_a_router_that_is_mounted_at_a_list_of_paths_is_below_each() -> None:
    files = {**_API, "src/app.js": _API["src/app.js"].replace("'/api', limit", "['/a', '/b']")}
    assert sorted(routes(files, *_API_EDGES)) == ["GET /a/users/:id", "GET /b/users/:id"]


def test_a_file_of_laravel_in_a_group_of_a_group_is_below_both() -> None:
    web = """
    <?php
    Route::prefix('adm')->middleware(['auth'])->group(function () {
        Route::prefix('in')->group(base_path('routes/inner.php'));
    });
    Route::prefix('x')->group(base_path('routes/other.php'));
    """
    files = {"routes/web.php": web, "routes/inner.php": "<?php\nRoute::post('/deep', [D::class, 'd']);\n"}
    files["routes/other.php"] = "<?php\nRoute::get('/far', [D::class, 'd']);\n"
    assert sorted(routes(files)) == ["GET /x/far", "POST /adm/in/deep auth"]


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
    assert routes({"app.py": text}) == ["GET /v1/api/users/me auth", "GET /v2/api/users/me limit auth"]


def test_django_includes_lists_that_are_written_there_or_held_in_a_variable() -> None:
    files = {
        "site/urls.py": """
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
            path(prefix, include("blog.urls")),
        ]
        urlpatterns += [path("late/", v.l)]
        """,
        "shop/urls.py": "from django.urls import path\napi_urls = [path('basket/', v.b)]\nurlpatterns = [path('shop/', v.s)]\n",
        "blog/urls.py": "from django.urls import path\nurlpatterns = [path('posts/', v.s)]\nurls = load()\n"
        "if urls:\n    urlpatterns += urls\n",
    }
    assert sorted(routes(files, ("site/urls.py", "shop/urls.py", 3))) == [
        "ANY /api/find", "ANY /api/find/more/", "ANY /api/s/basket/", "ANY /api/tags", "ANY /api/x/shop/",
        "ANY /checks/<uuid:code>/name/", "ANY /in/checks/name/", "ANY /late/", "ANY /v1/name/", "ANY /{prefix}/posts/",
    ]  # fmt: skip


_FLASK = "from flask import Blueprint, Flask\n"


def test_a_prefix_where_a_blueprint_is_registered_stands_instead_of_its_own() -> None:
    files = {
        "app.py": f"{_FLASK}from users import bp\nfrom posts import make\nfrom child import child\n"
        "own = Blueprint('own', __name__, url_prefix='/own')\nparent = Blueprint('p', __name__, url_prefix='/parent')\n"
        "inner = Blueprint('i', __name__, url_prefix='/inner')\n@own.route('/a')\ndef a(): ...\n@inner.route('/x')\ndef x(): ...\n"
        "parent.register_blueprint(inner)\nparent.register_blueprint(child, url_prefix='/c')\nposts = make(config)\n"
        "app.register_blueprint(own, url_prefix='/new')\napp.register_blueprint(parent, url_prefix='/top')\n"
        "app.register_blueprint(bp, url_prefix='/y')\napp.register_blueprint(posts)\n",
        "users.py": f"{_FLASK}bp = Blueprint('u', __name__, url_prefix='/users')\n@bp.route('/me')\ndef me(): ...\n",
        "posts.py": f"{_FLASK}def make(config):\n    view = Blueprint('p', __name__, url_prefix='/posts')\n"
        "    @view.route('/p')\n    def p(): ...\n    return view\n",
        "child.py": f"{_FLASK}child = Blueprint('c', __name__, url_prefix='/child')\n@child.route('/z')\ndef z(): ...\n",
    }
    edges = [("app.py", f"{name}.py", line) for line, name in enumerate(("users", "posts", "child"), 2)]
    assert sorted(routes(files, *edges)) == [
        "GET /new/a", "GET /posts/p", "GET /top/c/z", "GET /top/inner/x", "GET /y/me",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("app.config['USER_PREFIX']", "GET /user/me"),
        ("app.config['OTHER_PREFIX']", "GET /{config.OTHER_PREFIX}/me"),
        ("app.config.get('X', '/x')", "GET /x/me"),
        ("os.environ.get('X', '')", "GET /me"),
        ("config.get('section', 'prefix')", "GET /{url_prefix}/me"),
        ("prefix_of(app) + '/o'", "GET /{url_prefix}/me"),
        ("None", "GET /own/me"),
    ],
)
def test_a_prefix_of_a_setting_is_its_default_or_its_name(prefix: str, expected: str) -> None:
    files = {
        "app.py": f"{_FLASK}from users import bp\napp.register_blueprint(bp, url_prefix={prefix})\n",
        "web/config.py": "class Default:\n    USER_PREFIX = '/user'\n",
        "users.py": f"{_FLASK}bp = Blueprint('u', __name__, url_prefix='/own')\n@bp.route('/me')\ndef me(): ...\n",
    }
    assert routes(files, ("app.py", "users.py", 2)) == [expected]


def test_controllers_of_spring_have_the_prefix_of_what_they_derive_from_and_give_theirs_to_what_they_inherit() -> None:
    spring = "import org.springframework.web.bind.annotation.*;\n"
    files = {
        "Base.java": f'{spring}public abstract class Base<T extends A<B>> {{\n  @GetMapping("/list") int list() {{ return 1; }}\n}}\n',
        "Users.java": f'{spring}@RestController @RequestMapping("/users")\nclass Users extends Base<Map<K, V>> implements Closeable {{\n'
        '  @GetMapping("/one") int one() { return 1; }\n}\n',
        "Posts.java": f'{spring}@RestController\n@RequestMapping(Paths.ROOT + "/posts")\nclass Posts extends Base<Post> {{ }}\n',
        "Paths.java": 'interface Paths { String ROOT = "/v1"; }\n',
        "Api.java": f'{spring}@RequestMapping("/things") interface Api {{ @GetMapping("/x") int x(); }}\n',
        "Things.java": f"{spring}@RestController class Things implements Other, Api {{\n"
        '  public int x() { return 1; }\n  @PostMapping("/y") int y() { return 1; }\n}\n',
        "Alone.java": f'{spring}public interface Alone {{ @GetMapping("/alone") int c(); }}\n',
        "K.kt": f'{spring}@RestController @RequestMapping("/k") class K : KBase(), Z {{ }}\n'
        'abstract class KBase {\n  @GetMapping("/kb") fun kb() = 1\n}\n',
    }
    assert sorted(routes(files)) == [
        "GET /alone", "GET /k/kb", "GET /things/x", "GET /users/list", "GET /users/one", "GET /v1/posts/list", "POST /things/y",
    ]  # fmt: skip


def test_a_name_that_two_classes_have_gives_no_prefix() -> None:
    spring = "import org.springframework.web.bind.annotation.*;\n"
    files = {f"{name}/Api.java": f'{spring}@RequestMapping("/{name}") interface Api {{ }}\n' for name in ("a", "b")}
    files["c/Impl.java"] = (
        f'{spring}@RestController class Impl implements Api {{ @GetMapping("/x") int x() {{ return 1; }} }}\n'
    )
    assert routes(files) == ["GET /x"]


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
    assert routes(files) == ["GET /a", "GET /in/b", "GET /in/c g.auth", "POST /child/d", "GET /x srv.auth"]


def test_a_router_that_an_object_of_a_class_holds_or_a_call_gives_is_below_what_mounts_it() -> None:
    main = """import { Users } from './users';
import { Open } from './open';
import { makeLogs } from './logs';
const app = express();
const users = new Users();
app.use('/users', auth, users.router);
const open = new Open(db).router;
app.use('/open', open);
app.use('/late', users.check, open.limit(5), h);
class Other { constructor() { this.logs = makeLogs(); app.use('/logs', this.logs.router); } }
"""
    held = "export class {} {{ router = Router(); constructor() {{ this.router.get('/x', h); }} }}\n"
    logs = "export function makeLogs() { const router = Router(); router.get('/y', h); return { router }; }\n"
    files = {"app.ts": main, "users.ts": held.format("Users"), "open.ts": held.format("Open"), "logs.ts": logs}
    found = routes(files, *(("app.ts", f"{name}.ts", line) for line, name in enumerate(("users", "open", "logs"), 1)))
    assert sorted(found) == ["GET /logs/y", "GET /open/x", "GET /users/x auth"]


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


def test_paths_of_spring_may_be_constants_of_the_file_or_of_another_one() -> None:
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
    files = {
        "A.java": 'import org.springframework.x;\n@RequestMapping("/a")\nclass A {\n@GetMapping(Paths.USERS) public X x() {}\n}\n',
        "Paths.java": 'class Paths { static final String USERS = "/users"; }\n',
    }
    assert routes(files, ("A.java", "Paths.java", 1)) == ["GET /a/users"]


def test_a_parameter_of_laravels_resource_has_no_hyphen() -> None:
    found = routes({"routes/api.php": "<?php\nRoute::apiResource('tax-types', A::class)->only('show');\n"})
    assert found == ["GET /tax-types/{tax_type}"]


def test_routers_that_functions_of_rust_return_are_below_those_that_nest_them() -> None:
    files = {
        "src/main.rs": """
            use axum::Router;
            fn app(state: S) -> Router {
                let api = Router::new()
                    .nest("/users", users::router(state.clone()).layer(from_fn(inner)))
                    .route("/local", get(local))
                    .layer(from_fn(auth));
                let posts = posts::router().with_state(x);
                Router::new().nest("/api", api).merge(posts).route("/health", get(health))
            }
        """,
        "src/users.rs": 'use axum::Router;\npub fn router() -> Router { Router::new().route("/me", get(me)).route_layer(from_fn(own)) }\n',
        "src/posts/mod.rs": 'use axum::Router;\npub fn router() -> Router { Router::new().route("/posts", get(all)) }\n',
        "src/other.rs": 'use axum::Router;\npub fn router() -> Router { Router::new().route("/other", get(all)) }\n',
    }
    assert sorted(routes(files)) == [
        "GET /api/local auth", "GET /api/users/me auth inner own", "GET /health", "GET /other", "GET /posts",
    ]  # fmt: skip


def test_a_path_that_only_a_setting_puts_before_routers_is_none_of_their_routes() -> None:
    text = """
        use axum::Router;
        fn app() -> Router { if prefix.is_empty() { routes() } else { Router::new().nest(&prefix, routes()) } }
        fn routes() -> Router { Router::new().route("/x", get(x)) }
    """
    assert routes({"src/main.rs": text}) == ["GET /x"]


def test_handlers_of_rust_are_below_what_lists_them() -> None:
    rocket = {
        "src/main.rs": 'fn rocket() -> _ { build().mount("/api", routes![users::list, home]).mount("/", routes![root]) }\n'
        '#[get("/home")]\nfn home() {}\n#[get("/")]\nfn root() {}\n',
        "src/users.rs": '#[get("/users")]\npub fn list() {}\n',
    }
    assert sorted(routes(rocket)) == ["GET /", "GET /api/home", "GET /api/users"]
    actix = {
        "src/main.rs": 'use actix_web::*;\nfn main() { App::new().service(web::scope("/api").service(users::list)'
        '.configure(posts::config)).service(home) }\n#[get("/home")]\nasync fn home() {}\n',
        "src/users.rs": 'use actix_web::get;\n#[get("/users")]\npub async fn list() {}\n',
        "src/posts.rs": (
            "use actix_web::web;\n"
            'pub fn config(cfg: &mut C) { cfg.service(web::scope("/posts").route("", web::get().to(all))); }\n'
        ),
    }
    assert sorted(routes(actix)) == ["GET /api/posts", "GET /api/users", "GET /home"]
    utoipa = {
        "crates/app/src/routes.rs": "use utoipa_axum::router::OpenApiRouter;\n"
        'pub fn all() -> OpenApiRouter { OpenApiRouter::new().nest("/api", users()) }\n'
        "fn users() -> OpenApiRouter { OpenApiRouter::new().routes(routes!(ui::list, ui::add)).layer(from_fn(auth)) }\n",
        "crates/ui/src/ui.rs": '#[utoipa::path(get, path = "/users")]\nasync fn list() {}\n'
        '#[utoipa::path(post, path = "/users")]\nasync fn add() {}\n#[utoipa::path(get, path = "/told")]\nasync fn told() {}\n',
    }
    assert routes(utoipa) == ["GET /api/users auth", "POST /api/users auth"]


def test_a_router_in_a_variable_of_gos_package_is_known_in_its_other_files() -> None:
    files = {
        "server/start.go": """
            package server
            import "github.com/gin-gonic/gin"
            func Start() {
                router := gin.New()
                APIv1 = router.Group(conf.BaseUri(config.ApiUri), Api(conf))
                router.GET(conf.BaseUri("/health"), h)
                register(router)
                made := router.Group(base())
                made.GET("/made", h)
            }
        """,
        "server/routes.go": """
            package server
            import "github.com/gin-gonic/gin"
            var APIv1 *gin.RouterGroup
            func register(router *gin.Engine) {
                api.GetAlbum(APIv1)
            }
        """,
        "api/albums.go": 'package api\nimport "github.com/gin-gonic/gin"\n'
        'func GetAlbum(router *gin.RouterGroup) { router.GET("/albums/:id", h); router.POST("batch/photos", h) }\n',
        "config/const.go": 'package config\nconst ApiUri = "/api/v1"\n',
    }
    edges = (("server/start.go", "config/const.go", 3), ("server/routes.go", "api/albums.go", 3))
    found = survey_of(files, *edges)
    assert [" ".join((each.method, each.route, *each.middleware)) for _, each in found.endpoints] == [
        "GET /api/v1/albums/:id Api", "POST /api/v1/batch/photos Api", "GET /health",
    ]  # fmt: skip
    assert [each.line for each in found.unknown_routes] == [10], "below a path that a function makes"


def test_functions_of_kotlin_put_routes_on_what_they_extend() -> None:
    files = {
        "src/a/Api.kt": """
            package a
            import io.ktor.server.routing.*
            const val api = "/api/v2"
            private const val param = "id"
            fun Route.registerUsers() {
              route("$api/users") {
                get("/{$param}/pdf") { call.respond(1) }
                get("/{name}") { call.respond(1) }
              }
            }
        """,
        "src/a/Actions.kt": 'package a\nimport io.ktor.x\nfun Route.registerActions() {\n  post("$api/{$made}") { }\n}\n',
        "src/a/Module.kt": """
            package a
            import io.ktor.server.routing.*
            fun Application.module() {
              install(CallId) { }
              routing {
                registerOpen()
                authenticate("jwt") { registerUsers() }
                route("/in") { registerActions() }
              }
            }
            fun Route.registerOpen() { get("/health") { } }
        """,
        "src/a/Client.kt": "import io.ktor.client.*\nval config: HttpClientConfig<*>.() -> Unit = { install(Retry) { } }\n",
    }
    found = survey_of(files)
    assert sorted(" ".join((each.method, each.route, *each.middleware)) for _, each in found.endpoints) == [
        "GET /api/v2/users/{id}/pdf jwt", "GET /api/v2/users/{name} jwt", "GET /health",
    ]  # fmt: skip
    assert [each.path for each in found.unknown_routes] == ["src/a/Actions.kt"]
    assert found.middleware_names == ("CallId", "jwt")


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


def test_methods_of_asp_net_put_routes_on_the_groups_that_they_are_given() -> None:
    files = {
        "AuditModule.cs": """
            public class AuditModule : IModule {
              public void MapEndpoints(IEndpointRouteBuilder endpoints) {
                var group = endpoints.MapGroup("api/audits").WithTags("Audits").RequireAuthorization();
                group.MapGetAudits();
                Users.Map(group);
                endpoints.MapGroup("/x").MapChained();
              }
            }
        """,
        "GetAudits.cs": """
            public static class GetAudits {
              public static RouteHandlerBuilder MapGetAudits(this IEndpointRouteBuilder endpoints) { return endpoints.MapGet("/{id}", h); }
              public static void MapChained(this IEndpointRouteBuilder app) { var g = app.MapGroup("/in"); g.MapPost("/y", h); }
            }
        """,
        "Users.cs": 'class Users { public static void Map(RouteGroupBuilder users) { users.MapGet("/users", h); } }\n',
        "Roles.cs": 'class Roles { public static void Map(RouteGroupBuilder roles) { roles.MapGet("/roles", h); } }\n',
        "Program.cs": 'var api = app.MapGroup("/api");\napi.MapDelete("/z", h);\nRoles.Map(api);\napp.MapGet("/health", h);\n',
    }
    assert sorted(routes(files)) == [
        "DELETE /api/z", "GET /api/audits/users RequireAuthorization", "GET /api/audits/{id} RequireAuthorization",
        "GET /api/roles", "GET /health", "POST /x/in/y",
    ]  # fmt: skip


def test_routes_on_an_imported_router_are_where_it_is_mounted_and_behind_what_other_files_put_before_it() -> None:
    files = {
        "app/__init__.py": "from flask import Flask\nfrom .api import api\napp = Flask()\n"
        "app.register_blueprint(api, url_prefix='/api/v1')\n",
        "app/api/__init__.py": "from flask import Blueprint\napi = Blueprint('api', __name__, url_prefix='/own')\n"
        "from . import users, checks\n",
        "app/api/users.py": "from flask import request\nfrom . import api\n@api.route('/users')\ndef users(): ...\n",
        "app/api/checks.py": "from flask import request\nfrom . import api\n@api.before_request\n@login\ndef check(): ...\n",
    }
    edges = [("app/__init__.py", "app/api/__init__.py", 2)]
    edges += [(f"app/api/{name}.py", "app/api/__init__.py", 2) for name in ("users", "checks")]
    assert routes(files, *edges) == ["GET /api/v1/users check"]
    script = {
        "app.js": "const { router } = require('./router');\nconst app = express();\napp.use('/api', limit, router);\n",
        "router.js": "const router = express.Router();\nrouter.get('/first', h);\nmodule.exports = { router };\n",
        "users.js": "const { router } = require('./router');\nrouter.get('/users', h);\n",
    }
    assert routes(script, ("app.js", "router.js", 1), ("users.js", "router.js", 1)) == [
        "GET /api/first limit", "GET /api/users limit"
    ]  # fmt: skip


def test_what_a_blueprint_does_before_requests_stands_before_all_its_routes() -> None:
    text = """
    from flask import Blueprint
    bp = Blueprint('a', __name__)
    @bp.route('/x')
    def x(): ...
    @bp.before_request
    def check(): ...
    @bp.after_request
    def close(response): ...
    """
    assert routes({"a.py": text}) == ["GET /x check"]


def test_a_parameter_of_gos_function_is_no_router_that_another_function_makes() -> None:
    files = {
        "routes/routes.go": """
            package routes
            import "github.com/labstack/echo/v4"
            func Register(e *echo.Echo) {
                a := e.Group("/api/v1")
                api(a)
                open(a)
            }
            func api(a *echo.Group) {
                a.Use(noStore())
                n := a.Group("")
                metrics(n)
                u := a.Group("/user")
                u.GET("s", h)
                m := a.Group("/migration")
                migrations(m)
            }
            func migrations(m *echo.Group) {
                csv := handler.New()
                csv.Register(m)
            }
            func metrics(a *echo.Group) { r := a.Group("/metrics"); r.GET("", h) }
            func open(u *echo.Group) { u.GET("/open", h) }
        """,
        "handler/h.go": 'package handler\nimport "github.com/labstack/echo/v4"\n'
        'func (c *Csv) Register(g *echo.Group) { g.GET("/csv", h) }\n',
    }
    assert sorted(routes(files, ("routes/routes.go", "handler/h.go", 3))) == [
        "GET /api/v1/metrics noStore", "GET /api/v1/migration/csv noStore", "GET /api/v1/open", "GET /api/v1/users noStore",
    ]  # fmt: skip


def test_a_decorator_of_the_project_may_be_given_the_method_of_a_router() -> None:
    text = """
    from fastapi import APIRouter
    router = APIRouter(prefix="/roms")
    @protected_route(router.post, "/x", [Scope.WRITE])
    def add(): ...
    """
    assert routes({"a.py": text}) == ["POST /roms/x protected_route"]


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


def test_a_required_file_is_middleware_unless_it_is_a_router() -> None:
    files = {
        "app.js": "const app = express();\napp.use(require('./lib/tooBusy'));\napp.use(require('./users'));\n",
        "lib/tooBusy.js": "module.exports = function (req, res, next) { next(); };\n",
        "users.js": "const router = express.Router();\nrouter.get('/me', h);\nmodule.exports = router;\n",
    }
    found = survey_of(files, ("app.js", "lib/tooBusy.js", 2), ("app.js", "users.js", 3))
    assert found.middleware_names == ("tooBusy",)
    assert [each.route for _, each in found.endpoints] == ["/me"]

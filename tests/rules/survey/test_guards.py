"""Guards that a route does not have are never told: of neighbours, of outer applications, of branches, of paths, or lifted."""

from __future__ import annotations

import pytest

from tests.rules.survey.surveys import routes, survey_of

_FASTAPI = "from fastapi import APIRouter, Depends, FastAPI\n"


def test_what_a_router_depends_on_where_it_is_included_is_no_guard_of_its_neighbours() -> None:
    text = f"""{_FASTAPI}
app = FastAPI()
a = APIRouter()
b = APIRouter()
@a.get('/a')
def get_a(): ...
@b.get('/b')
def get_b(): ...
@app.get('/open')
def main(): ...
app.include_router(a, dependencies=[Depends(auth)])
app.include_router(b)
"""
    assert routes({"main.py": text}) == ["GET /a auth", "GET /b", "GET /open"]


def test_what_a_function_within_a_handler_depends_on_is_no_guard_of_its_route() -> None:
    text = f"""{_FASTAPI}
app = FastAPI()
CurrentUser = Annotated[User, Depends(get_current_user)]
@app.get("/x")
def x(limit=Depends(limit)):
    def inner(user: CurrentUser, admin=Depends(get_admin)): ...
def make():
    @app.get("/y")
    def y(user: CurrentUser): ...
"""
    assert routes({"app.py": text}) == ["GET /x limit", "GET /y get_current_user"]


def test_an_application_that_is_mounted_does_not_depend_on_what_the_outer_one_does() -> None:
    one_file = f"""{_FASTAPI}
app = FastAPI(dependencies=[Depends(auth)])
sub = FastAPI(dependencies=[Depends(limit)])
inner = APIRouter(dependencies=[Depends(own)])
@app.get("/outer")
def outer(): ...
@inner.get("/x")
def x(): ...
@sub.get("/y")
def y(): ...
sub.include_router(inner, prefix="/inner")
app.mount("/sub", sub)
"""
    assert routes({"app.py": one_file}) == ["GET /outer auth", "GET /sub/inner/x limit own", "GET /sub/y limit"]


def test_routes_of_a_mount_of_starlette_are_below_it_and_behind_its_own_middleware() -> None:
    text = """
    from starlette.applications import Starlette
    from starlette.routing import Mount, Route
    routes = [
        Route('/', home),
        Mount('/users', routes=[Route('/{name}', user, methods=['POST'])]),
        Mount('/in', middleware=[Middleware(Auth, backend=b)], routes=[Route('/x', x, middleware=[Middleware(Limit)])]),
    ]
    """
    assert routes({"app.py": text}) == ["GET /", "POST /users/{name}", "GET /in/x Auth Limit"]


@pytest.mark.parametrize(
    "call",
    [
        "router.use(/^\\/admin/, auth);", "router.use(['/a', '/b'], auth);", "router.use(ADMIN_PATH, auth);",
        "router.use(config.adminPath, auth);", "router.use(base + '/x', auth);", "router.use(`${base}/x`, auth);",
        "if (secured) { router.use(auth); }", "secured && router.use(auth);", "if (secured) router.use(auth);",
        "if (secured) { a(); } else { router.use(auth); }", "switch (x) { case 1: router.use(auth); }",
    ],
)  # fmt: skip
def test_middleware_of_a_path_or_of_a_branch_is_not_told_of_other_routes(call: str) -> None:
    text = f"const router = express.Router();\n{call}\nrouter.get('/x', h);\n"
    assert routes({"r.js": text}) == ["GET /x"]


def test_middleware_in_a_branch_stands_before_the_routes_of_the_branch() -> None:
    text = """
    const router = express.Router();
    if (secured) {
        router.use([auth, limit]);
        router.get('/in', h);
    }
    router.get('/out', h);
    """
    assert routes({"r.js": text}) == ["GET /in auth limit", "GET /out"]


def test_routers_of_one_name_have_each_their_own_middleware_and_mounts() -> None:
    classes = """
    export class A { router = Router(); constructor() { this.router.use(auth); this.router.get('/a', h); } }
    export class B { router = Router(); constructor() { this.router.get('/b', h); } }
    """
    assert routes({"a.ts": classes}) == ["GET /a auth", "GET /b"]
    functions = """
    exports.users = (app) => {
      const router = express.Router();
      router.use(auth);
      router.get('/u', h);
      app.use('/users', router);
    };
    exports.open = (app) => {
      const router = express.Router();
      router.get('/o', h);
      app.use('/open', router);
    };
    """
    assert routes({"a.js": functions}) == ["GET /users/u auth", "GET /open/o"]


def test_a_route_that_two_branches_mount_is_behind_what_both_put_before_it() -> None:
    text = f"""{_FASTAPI}
app = FastAPI()
users = APIRouter(prefix="/users", dependencies=[Depends(limit)])
@users.get("/x")
def x(): ...
if settings.secure:
    app.include_router(users, dependencies=[Depends(auth)])
else:
    app.include_router(users)
"""
    assert routes({"app.py": text}) == ["GET /users/x limit"]


def test_a_router_that_is_mounted_is_no_guard_of_the_routes_after_it() -> None:
    text = (
        "const users = require('./routes/users');\nconst router = express.Router();\nconst own = express.Router();\n"
        "router.use(users);\nrouter.use(check, own);\nrouter.get('/last', h);\n"
    )
    assert routes({"r.js": text}) == ["GET /last check"]


def test_a_chain_of_calls_has_its_middleware_before_what_comes_after_it() -> None:
    text = (
        "import { Hono } from 'hono';\nexport default new Hono().get('/open', h).use(auth).get('/closed', h);\n"
        "const app = new Hono().route('/api', tags).get('/x', h);\n"
    )
    assert routes({"app.ts": text}) == ["GET /open", "GET /closed auth", "GET /x"]


@pytest.mark.parametrize(
    ("package", "call"), [("github.com/gin-gonic/gin", "gin.New()"), ("github.com/labstack/echo/v4", "echo.New()")]
)
def test_what_stands_before_a_group_of_go_is_no_guard_of_the_routes_beside_it(package: str, call: str) -> None:
    text = f"""
    package main
    import "{package}"
    func open() {{
        r := {call}
        api := r.Group("/api")
        in := api.Group(base, auth)
        if secured {{
            api.Use(jwt)
        }}
        api.GET("/open", h)
        api.Use(limit)
        api.GET("/late", h)
    }}
    """
    assert routes({"main.go": text}) == ["GET /api/open", "GET /api/late limit"]


def test_middleware_of_a_scope_stands_before_the_routes_after_it_in_the_same_branch() -> None:
    chi = """
    package main
    import "github.com/go-chi/chi/v5"
    func open(r chi.Router) {
        r.Group(func(r chi.Router) {
            if secured {
                r.Use(jwt)
            }
            r.Use(limit)
            r.Get("/x", h)
        })
    }
    """
    assert routes({"main.go": chi}) == ["GET /x limit"]
    phoenix = """
    defmodule Web.Router do
      use Web, :router
      scope "/api" do
        get "/early", A, :early
        pipe_through [:auth]
        get "/late", A, :late
      end
    end
    """
    assert routes({"router.ex": phoenix}) == ["GET /api/early", "GET /api/late auth"]


def test_only_the_hooks_of_fastify_that_come_before_the_handler_stand_before_it() -> None:
    text = """
    module.exports = async function (fastify) {
      fastify.addHook('onClose', closeDatabase);
      fastify.addHook('onSend', addHeaders);
      fastify.addHook('onRequest', auth);
      fastify.get('/x', h);
    };
    """
    assert routes({"a.js": text}) == ["GET /x auth"]


_LIFTED = {
    "ASP.NET": (
        {
            "A.cs": '[Authorize]\n[Route("a")]\npublic class A : ControllerBase {\n  [HttpGet("x")]\n  public int X() => 1;\n'
            '  [AllowAnonymous]\n  [HttpPost("y")]\n  public int Y() => 1;\n}\n',
            "P.cs": 'var g = app.MapGroup("/g").RequireAuthorization();\ng.MapGet("/x", () => 1);\n'
            'g.MapGet("/y", () => 1).AllowAnonymous();\nvar open = g.MapGroup("/open").AllowAnonymous();\nopen.MapGet("/z", () => 1);\n',
        },
        ["GET /a/x Authorize", "POST /a/y", "GET /g/x RequireAuthorization", "GET /g/y", "GET /g/open/z"],
    ),
    "JAX-RS": (
        {
            "A.java": 'import jakarta.ws.rs.*;\n@Path("a") @RolesAllowed("x")\nclass A {\n  @GET @Path("x") int x() { return 1; }\n'
            '  @PUT @Path("y") @PermitAll int y() { return 1; }\n}\n'
            '@Path("b") @PermitAll\nclass B {\n  @GET @Path("z") @RolesAllowed("x") int z() { return 1; }\n}\n',
        },
        ["GET /a/x RolesAllowed", "GET /b/z PermitAll RolesAllowed", "PUT /a/y PermitAll"],
    ),
    "Spring": (
        {
            "A.java": "import org.springframework.web.bind.annotation.*;\n@RestController @PreAuthorize(\"hasRole('x')\")\nclass A {\n"
            '  @GetMapping("/x") int x() { return 1; }\n  @PreAuthorize("permitAll()") @GetMapping("/y") int y() { return 1; }\n}\n',
        },
        ["GET /x PreAuthorize", "GET /y"],
    ),
    "Spring's anonymous": (
        {
            "A.java": "import org.springframework.web.bind.annotation.*;\n@RestController @PreAuthorize(\"hasRole('x')\")\nclass A {\n"
            '  @PreAuthorize("isAnonymous()") @GetMapping("/y") int y() { return 1; }\n}\n'
            '@RestController class B { @Secured("IS_AUTHENTICATED_ANONYMOUSLY") @GetMapping("/z") int z() { return 1; } }\n',
        },
        ["GET /y", "GET /z"],
    ),
    "NestJS": (
        {
            "a.ts": "@Controller('a')\n@UseGuards(AuthGuard('jwt'), RolesGuard)\nexport class A {\n  @Get('x') x() {}\n"
            "  @Public() @Get('y') y() {}\n}\n",
        },
        ["GET /a/x AuthGuard RolesGuard", "GET /a/y RolesGuard"],
    ),
    "Ktor": (
        {
            "a.kt": 'import io.ktor.server.routing.*\nfun Route.all() {\n  authenticate("jwt") { get("/x") { show() } }\n'
            '  authenticate("jwt", optional = true) { get("/y") { show() } }\n'
            '  authenticate(optional = true) { get("/z") { show() } }\n}\n',
        },
        ["GET /x jwt", "GET /y", "GET /z"],
    ),
    "Laravel": (
        {
            "routes/r.php": "<?php\nRoute::middleware(['auth:api', 'log'])->group(function () {\nRoute::get('/x', [A::class, 'a']);\n"
            "Route::get('/y', [A::class, 'a'])->withoutMiddleware('auth:api');\n"
            "Route::withoutMiddleware(['auth'])->group(function () {\n  Route::get('/z', [A::class, 'a']);\n});\n});\n",
        },
        ["GET /x auth:api log", "GET /y log", "GET /z log"],
    ),
}


@pytest.mark.parametrize("framework", _LIFTED)
def test_a_route_that_is_freed_from_a_guard_is_not_behind_it(framework: str) -> None:
    files, expected = _LIFTED[framework]
    assert sorted(routes(files)) == sorted(expected)


def test_a_layer_of_axum_stands_before_the_routes_that_its_router_has_by_then() -> None:
    text = """
    use axum::Router;
    fn app() -> Router {
        Router::new()
            .route("/a", get(a))
            .nest("/n", Router::new().route("/c", get(c)).layer(middleware::from_fn(inner)).route("/d", get(d)))
            .route_layer(middleware::from_fn_with_state(state.clone(), auth))
            .route("/b", get(b).layer(middleware::from_fn(own)))
            .layer(TraceLayer::new_for_http())
    }
    fn other(app: Router) -> Router {
        let one = Router::new().route("/z", get(z));
        app.layer(middleware::from_fn(late))
    }
    """
    assert routes({"a.rs": text}) == ["GET /a auth", "GET /n/c auth inner", "GET /n/d auth", "GET /b own", "GET /z"]


def test_a_function_whose_routes_are_put_at_two_places_has_the_paths_of_both_and_the_guards_that_both_have() -> None:
    text = """
    package main
    import "github.com/go-chi/chi/v5"
    func open(r chi.Router) {
        r.Mount("/admin", adminRouter())
        r.With(limit).Mount("/v1", api())
        r.With(limit, auth).Mount("/v2", api())
    }
    func adminRouter() http.Handler {
        r := chi.NewRouter()
        r.Get("/x", show)
        return r
    }
    func api() http.Handler {
        r := chi.NewRouter()
        r.Get("/y", show)
        return r
    }
    """
    assert routes({"main.go": text}) == ["GET /admin/x", "GET /v1/y limit", "GET /v2/y limit"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "A.java",
            'import org.springframework.x;\n@RequestMapping("/a")\n@PreAuthorize("x")\nclass A {\n'
            '@GetMapping("/x") public String x() {}\n@RequestMapping("/b")\nstatic class B {\n'
            '@GetMapping("/y") public String y() {}\n}\n}\n',
        ),
        (
            "A.kt",
            'import org.springframework.x\n@RequestMapping("/a")\n@PreAuthorize("x")\nclass A {\n@GetMapping("/x")\n'
            'fun x(): String {}\n@RequestMapping("/b")\nclass B {\n@GetMapping("/y")\nfun y(): String {}\n}\n}\n',
        ),
    ],
)
def test_a_nested_class_has_neither_the_guards_nor_the_prefix_of_the_outer_one(path: str, text: str) -> None:
    assert routes({path: text}) == ["GET /a/x PreAuthorize", "GET /b/y"]


def test_roles_that_are_none_are_no_guard() -> None:
    text = """
    import jakarta.ws.rs.*;
    @Path("/a") @RolesAllowed({})
    class A {
      @GET public String x() {}
      @POST @RolesAllowed({"admin"}) public String y() {}
    }
    """
    assert routes({"A.java": text}) == ["GET /a", "POST /a RolesAllowed"]


@pytest.mark.parametrize(
    "given",
    ["unless('/login', auth)", "unless(['/login'], auth)", "auth({}).unless({ path: ['/login'] })", "auth.unless(x)"],
)
def test_what_some_requests_pass_by_is_registered_and_stands_before_no_route(given: str) -> None:
    found = survey_of({"r.js": f"const router = express.Router();\nrouter.use({given});\nrouter.get('/login', h);\n"})
    assert [each.middleware for _, each in found.endpoints] == [()]
    assert found.middleware_names == ("auth",)


def test_a_wrapper_of_functions_is_no_middleware_but_what_it_wraps() -> None:
    text = """
    const router = express.Router();
    router.use(wrap(session));
    router.get('/x', asyncHandler(auth.jwt), catchAsync(can('read')), asyncHandler(show));
    """
    assert routes({"r.js": text}) == ["GET /x auth.jwt can session"]


def test_all_of_a_chain_that_goes_on_is_middleware_of_what_follows() -> None:
    text = """
    const router = express.Router();
    router.route('/x').get(list).all(auth).post(add);
    router.route('/y').get(list).all(refused);
    """
    assert routes({"r.js": text}) == ["GET /x", "POST /x auth", "GET /y", "ANY /y"]


def test_the_argument_of_laravels_auth_says_who_may_pass() -> None:
    text = "<?php\nRoute::middleware(['auth:customer', 'throttle:6,1'])->group(function () {\n  Route::get('/x', f());\n});\n"
    assert routes({"routes/api.php": text}) == ["GET /x auth:customer throttle"]


def test_guards_of_which_nearly_every_route_has_one_are_told_together() -> None:
    route = "router.get('/{0}', {1}, h);\n"
    guards = ["auth('customer')", "requireAdmin", "auth('customer')", "requireAdmin", "authOptional"]
    text = "const router = express();\n" + "".join(route.format(at, guard) for at, guard in enumerate(guards))
    (found,) = (each for each in survey_of({"r.js": text}).middleware if "one of" in each.claim)
    assert found.claim == "Routes stand behind one of `auth` (2), `requireAdmin` (2)"
    assert (found.count, found.total, found.exceptions) == (4, 5, ("GET /4",))

"""The forms of each framework's file: routes with what stands before their handlers, answers, and what cannot be known."""

from __future__ import annotations

import textwrap

import pytest

from rag_ls.languages import detect_language
from rag_ls.rules.survey.facts import read_facts
from rag_ls.rules.survey.findings import FileFacts
from rag_ls.rules.survey.found_forms import find_forms
from rag_ls.rules.survey.frameworks import Framework, load_frameworks, read_form
from tests.rules.survey.surveys import routes, survey_of


def facts(path: str, text: str) -> FileFacts:
    return read_facts(path, detect_language(path) or "", textwrap.dedent(text))


_FORMS = {
    "Express": (
        "routes/users.js",
        """
        const { Router } = require('express');
        const router = Router();
        router.post('/users', auth, validate(schema), async (req, res) => res.json({ success: true, data }));
        router.get('/users/:id', [auth, limit], show);
        router.route('/x').put(auth, put).get(show);
        """,
        ["POST /users auth validate", "GET /users/:id auth limit", "PUT /x auth", "GET /x"],
    ),
    "Fastify": (
        "a.ts",
        """
        const app = fastify();
        app.get('/x', { preHandler: [auth, validate] }, h);
        app.route({ method: 'POST', url: '/y', onRequest: auth, handler });
        app.register(users, { prefix: '/users' });
        async function users(app) { app.get('/list', h); }
        """,
        ["GET /x auth validate", "POST /y auth", "GET /list"],
    ),
    "Hono": ("a.ts", "const api = new Hono().basePath('/v1');\napi.get('/x', bearer(), h);\n", ["GET /x bearer"]),
    "NestJS": (
        "a.ts",
        """
        @Controller('users')
        @UseGuards(AuthGuard)
        export class Users {
          @Get(':id') @UseGuards(RolesGuard)
          one() {}
          @Post()
          two() {}
        }
        """,
        ["GET /users/:id AuthGuard RolesGuard", "POST /users AuthGuard"],
    ),
    "chi": (
        "r.go",
        """
        package a
        import "github.com/go-chi/chi/v5"
        func f(r chi.Router) {
            r.With(RequireAuth).Get("/me", h)
            r.Group(func(r chi.Router) {
                r.Use(Admin)
                r.Post("/x", h)
            })
        }
        """,
        ["GET /me RequireAuth", "POST /x Admin"],
    ),
    "a router's own guards": (
        "routes.js",
        """
        const router = require('express').Router();
        router.get('/open', h);
        router.use(requireAuth);
        router.get('/closed', h);
        """,
        ["GET /open", "GET /closed requireAuth"],
    ),
    "a group's own guards": (
        "m.go",
        """
        package a
        import "github.com/gin-gonic/gin"
        func f(r *gin.Engine) {
            admin := r.Group("/admin")
            admin.Use(AuthRequired())
            admin.GET("/x", h)
            r.GET("/open", h)
        }
        """,
        ["GET /admin/x AuthRequired", "GET /open"],
    ),
    "Go since 1.26": (
        "m.go",
        """
        package a
        import "github.com/go-chi/chi/v5"
        func f(r chi.Router) { r.Get("/x", h) }
        func g() { a.UpdatedAt = new(time.Now()) }
        """,
        ["GET /x"],
    ),
    "Ktor's methods and names": (
        "A.kt",
        """
        import io.ktor.server.routing.*
        fun Route.a() {
            route("wish") {
                post("make") { call.respondHtml { head { title("x") } } }
            }
        }
        """,
        ["POST /wish/make"],
    ),
    "Go's gRPC": (
        "s.go",
        """
        package a
        import pb "x/pb"
        func (s *server) SayHello(ctx context.Context, in *pb.HelloRequest) (*pb.HelloReply, error) { return nil, nil }
        func (s *server) helper(ctx context.Context, in *pb.HelloRequest) (*pb.HelloReply, error) { return nil, nil }
        func (s *server) Watch(req *pb.WatchRequest, stream pb.Greeter_WatchServer) error { return nil }
        """,
        ["RPC /SayHello", "RPC /Watch"],
    ),
    "Gin": ("m.go", "package a\nfunc f() {\n\tr.GET(\"/x\", auth(), h)\n}\n", ["GET /x auth"]),
    "Echo": (
        "m.go",
        'package a\nimport "github.com/labstack/echo/v4"\nfunc f() {\n\te.GET("/x", h, auth)\n}\n',
        ["GET /x auth"],
    ),
    "Fiber": (
        "m.go",
        'package a\nimport "github.com/gofiber/fiber/v2"\nfunc f() {\n\tapi := app.Group("/api")\n\tapi.Get("/x", auth, h)\n}\n',
        ["GET /api/x auth"],
    ),
    "FastAPI": (
        "a.py",
        """
        router = APIRouter(prefix="/items")
        @router.get("/{id}", dependencies=[Depends(rate_limit)])
        async def read(id: int, user: User = Depends(current_user), db=Depends(get_db)): ...
        @router.post("/")
        async def create(user: Annotated[User, Security(current_user, scopes=["x"])]): ...
        """,
        ["GET /items/{id} rate_limit current_user", "POST /items/ current_user"],
    ),
    "Flask": (
        "a.py",
        '@bp.route("/x", methods=["POST"])\n@login_required\n@limiter.limit("5/minute")\ndef f(): ...\n',
        ["POST /x login_required limit"],
    ),
    "Spring": (
        "A.java",
        """
        @RequestMapping("/users")
        @Secured("X")
        public class A {
          @GetMapping("/{id}") @PreAuthorize("hasRole('ADMIN')")
          public U one() { return x; }
          @PostMapping
          public U two() { return x; }
        }
        """,
        ["GET /users/{id} Secured PreAuthorize", "POST /users Secured"],
    ),
    "ASP.NET Core": (
        "a.cs",
        """
        [Route("api/[controller]")]
        public class OrdersController : ControllerBase {
          [HttpGet("{id}")] [Authorize]
          public IActionResult Get(int id) { return Ok(x); }
          [HttpPost("/all")]
          public IActionResult All() { return Ok(x); }
        }
        """,
        ["GET /api/[controller]/{id} Authorize", "POST /all"],
    ),
    "ASP.NET Core without controllers": (
        "p.cs",
        'app.MapGet("/x", () => Results.Ok(1)).RequireAuthorization();\n',
        ["GET /x RequireAuthorization"],
    ),
    "Laravel": (
        "routes/api.php",
        """<?php
        Route::post('login', [A::class, 'login'])->middleware('throttle:5');
        Route::middleware(['auth:sanctum'])->group(function () {
          Route::get('me', [A::class, 'me']);
        });
        """,
        ["POST /login throttle", "GET /me auth:sanctum"],
    ),
    "Symfony": (
        "B.php",
        "<?php\n#[Route('/blog')]\nclass B {\n  #[Route('/{slug}', methods: 'GET')]\n  #[IsGranted('Y')]\n function show() {}\n}\n",
        ["GET /blog/{slug} IsGranted"],
    ),
    "Actix Web": (
        "src/m.rs",
        """
        use actix_web::web;
        fn routes(c: &mut web::ServiceConfig) {
            c.service(web::scope("/api").route("/x", web::get().to(x)).service(web::resource("/y").route(web::post().to(y))));
        }
        """,
        ["GET /api/x", "POST /api/y"],
    ),
    "Actix Web by imported names": (
        "src/m.rs",
        """
        use actix_web::web::{get, post, put, resource, scope, ServiceConfig};
        pub fn config(c: &mut ServiceConfig, limit: &RateLimit) {
            c.service(
                scope("/api").wrap(limit.message())
                    .service(scope("/site").route("", get().to(read)).route("", put().to(edit)))
                    .service(resource("/search").wrap(limit.search()).route(get().to(search))),
            );
        }
        """,
        ["GET /api/site", "PUT /api/site", "GET /api/search"],
    ),
    "Rocket": ("src/m.rs", '#[get("/x/<id>", rank = 2)]\nfn x(id: u8) {}\n', ["GET /x/<id>"]),
    "Ktor": (
        "A.kt",
        """
        import io.ktor.server.routing.*
        fun Application.routes() {
            routing {
                route("/api") {
                    get("/x") { call.respond(1) }
                    authenticate("jwt") { post("/y") { } }
                }
            }
        }
        """,
        ["GET /api/x", "POST /api/y jwt"],
    ),
    "Phoenix": (
        "lib/router.ex",
        """
        defmodule R do
          use MyWeb, :router
          scope "/api", MyWeb do
            get "/ping", PingController, :index
            resources "/users", UserController, only: [:index, :show] do
              resources "/posts", PostController, only: [:create, :delete]
            end
          end
        end
        """,
        ["GET /api/ping", "RESOURCES /api/users", "RESOURCES /posts"],
    ),
    "Next.js": (
        "src/app/(shop)/api/users/route.ts",
        "export async function GET() {}\nexport const POST = wrap(h)\nconst helper = 1\n",
        ["GET /api/users", "POST /api/users"],
    ),
    "Next.js pages": ("pages/api/users/[id].ts", "export default function handler(req, res) {}\n", ["ANY /api/users/[id]"]),
    "SvelteKit": (
        "src/routes/(app)/x/[id]/+server.ts",
        "export const GET: RequestHandler = async () => json({ a: 1 });\nexport async function POST() {}\n",
        ["GET /x/[id]", "POST /x/[id]"],
    ),
    "private folders of SvelteKit": (
        "src/routes/__debug/+server.ts",
        "export const GET = () => new Response();\n",
        ["GET /__debug"],
    ),
    "the index of a folder of Next.js": (
        "pages/api/v1.0/users/index.ts",
        "export default handle;\n",
        ["ANY /api/v1.0/users"],
    ),
    "parameters of Ktor": (
        "B.kt",
        "import io.ktor.server.routing.*\nfun Application.b() { routing { route(\"/b\") { get(\"{id?}\") { show() } } } }\n",
        ["GET /b/{id?}"],
    ),
    "handlers that Next.js exports by a list": (
        "app/api/x/route.ts",
        "const handler = f();\nexport { handler as GET, handler as POST };\n",
        ["GET /api/x", "POST /api/x"],
    ),
    "catch-all pages of Next.js": (
        "pages/api/auth/[...nextauth].ts",
        "export default NextAuth(options);\n",
        ["ANY /api/auth/[...nextauth]"],
    ),
    "empty lists of Rails": (
        "config/routes.rb",
        "Rails.application.routes.draw do\n  resources :counts, only: [] do\n    collection { get :recent }\n  end\nend\n",
        ["RESOURCES /counts", "GET /recent"],
    ),
    "resources of Phoenix below a path": (
        "lib/router.ex",
        """
        defmodule R do
          use MyWeb, :router
          scope "/" do
            resources "/news/items", ItemController, only: [:show] do
              resources "/notes", NoteController, only: [:index]
            end
          end
        end
        """,
        ["RESOURCES /news/items", "RESOURCES /notes"],
    ),
    "tRPC": (
        "server/u.ts",
        "export const u = router({\n  list: publicProcedure.query(() => 1),\n  add: protectedProcedure.input(z).mutation(add),\n});\n",
        ["QUERY /list", "MUTATION /add protectedProcedure"],
    ),
    "GraphQL resolvers": (
        "r.ts",
        "export const resolvers = { Query: { users: f, async user(_, a) {} }, Mutation: { addUser }, User: { x() {} } };\n",
        ["QUERY /users", "QUERY /user", "MUTATION /addUser"],
    ),
    "GraphQL of Nest": (
        "r.ts",
        "@Resolver(() => U)\nexport class R {\n  @Query(() => [U])\n  users() {}\n  @Mutation(() => U) @UseGuards(G)\n  add() {}\n}\n",
        ["QUERY /users", "MUTATION /add G"],
    ),
    "GraphQL of Spring": ("A.java", "class A {\n  @QueryMapping\n  public U users() { return x; }\n}\n", ["QUERY /users"]),
    "gRPC in Python": (
        "s.py",
        "import x_pb2_grpc\nclass G(x_pb2_grpc.GreeterServicer):\n    def SayHello(self, request, context): ...\n    def own(self): ...\n",
        ["RPC /SayHello"],
    ),
    "gRPC in Java": (
        "S.java",
        "class G extends GreeterGrpc.GreeterImplBase {\n  public void sayHello(Req r, StreamObserver<Rep> o) {}\n}\n",
        ["RPC /sayHello"],
    ),
    "gRPC of Nest": ("g.ts", "class G {\n  @GrpcMethod('Greeter', 'SayHello')\n  hello() {}\n}\n", ["RPC /SayHello"]),
    "JAX-RS": (
        "A.java",
        """
        import jakarta.ws.rs.GET;
        @Path("/users")
        @RequiresAuthentication
        public class Users {
          @GET @Path("{id}") @Produces("x") public U one(@PathParam("id") int i) { return x; }
          @POST @RolesAllowed("admin") public U two() { return x; }
        }
        """,
        ["GET /users/{id} RequiresAuthentication", "POST /users RequiresAuthentication RolesAllowed"],
    ),
    "pipelines of Phoenix": (
        "lib/router.ex",
        """
        defmodule R do
          use MyWeb, :router
          scope "/api", MyWeb do
            pipe_through [:browser, :auth]
            get "/ping", PingController, :index
          end
        end
        """,
        ["GET /api/ping browser auth"],
    ),
    "groups of ASP.NET Core": (
        "p.cs",
        """
        var users = app.MapGroup("/users").RequireAuthorization();
        users.MapGet("/x", Show);
        app.MapGet("/", Show);
        """,
        ["GET /users/x RequireAuthorization", "GET /"],
    ),
    "Ktor without a provider": (
        "A.kt",
        'import io.ktor.server.routing.*\nfun Application.a() { routing { authenticate { get("/x") { } } } }\n',
        ["GET /x authenticate"],
    ),
    "Symfony's checks in handlers": (
        "B.php",
        "<?php\n#[IsGranted('X')]\nclass B {\n  #[Route('/a', methods: ['GET'])]\n"
        "  function show() { $this->denyAccessUnlessGranted('y'); }\n}\n",
        ["GET /a IsGranted denyAccessUnlessGranted"],
    ),
    "groups of Laravel": (
        "routes/a.php",
        "<?php\nRoute::prefix('admin')->middleware('auth')->group(function () {\n  Route::get('x', [A::class, 'x']);\n});\n",
        ["GET /admin/x auth"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _FORMS)
def test_routes_and_what_stands_before_their_handlers(name: str) -> None:
    path, text, expected = _FORMS[name]
    found = facts(path, text)
    shown = [each.split(" ") for each in expected]
    assert [[each.method, each.route] for each in found.endpoints] == [each[:2] for each in shown]
    assert {name for each in shown for name in each[2:]} <= {each.name for each in found.middleware}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.ts", "function f(req, res) { res.status(200).json({ success: true, data: rows.map((r) => ({ id: r.id })) }); }\n"),
        ("app/api/route.ts", "export async function GET() { return NextResponse.json({ success: true, data: 1 }); }\n"),
        ("src/routes/+server.ts", "export const GET = () => json({ success: true, data: 1 });\n"),
        ("a.py", '@router.get("/")\ndef f():\n    return {"success": True, "data": 1}\n'),
        ("a.py", "from flask import jsonify\ndef f():\n    return jsonify(success=True, data=1)\n"),
        ("a.cs", "class A { R F() { return Ok(new { success = true, data = x }); } }\n"),
        ("a.rb", "class A < ApplicationController\n  def x\n    render json: { success: true, data: x }, status: 200\n  end\nend\n"),
        ("a.rb", "class A < ApplicationController\n  def x\n    render json: { success: true, data: x }.to_json\n  end\nend\n"),
        ("a.php", "<?php\nreturn response()->json(['success' => true, 'data' => $x], 200);\n"),
        ("a.go", 'package a\nimport "github.com/gin-gonic/gin"\nfunc f() { c.JSON(200, gin.H{"success": true, "data": x}) }\n'),
        ("a.rs", 'use axum::Json;\nfn f() -> X { Json(json!({"success": true, "data": [1]})) }\n'),
        ("A.kt", 'import io.ktor.server.application.*\nfun f() { call.respond(mapOf("success" to true, "data" to 1)) }\n'),
        ("a.ex", 'defmodule A do\n  def x(conn, _) do\n    json(conn, %{success: true, data: 1})\n  end\nend\n'),
    ],
)  # fmt: skip
def test_the_keys_of_answers(path: str, text: str) -> None:
    assert [each.keys for each in facts(path, text).answers] == [("success", "data")]


_SHOP = """
import { Router } from 'express';
import { useCart } from '@/hooks/cart';
import { helper } from '../hooks/helper';
const router = Router();
router.get('/things', auth, async (req, res) => { res.json({ success: true, data: x }); });
router.post('/things', auth, validate(s), async (req, res) => { res.status(400).json({ success: false, error: 'x' }); });
"""


def test_a_small_project_shows_its_patterns_in_words() -> None:
    found = survey_of({f"src/{name}.js": _SHOP for name in "abc"})
    assert found.middleware_names == ("auth", "validate")
    assert found.response_format == "success_data_error"
    assert found.frontend_imports == ("../hooks", "@/")
    assert [(each.claim, each.count) for each in found.about("middleware")] == [
        ("Routes take `auth` (6), `validate` (3)", 9)
    ]


def test_middleware_of_few_routes_of_many_is_no_pattern() -> None:
    text = "const app = express();\n" + "".join(f"app.get('/r{index}', h);\n" for index in range(9))
    assert survey_of({"a.js": text + "app.get('/x', rare, h);\napp.get('/y', rare, h);\n"}).middleware_names == ()


def test_answers_that_share_no_envelope_have_no_word() -> None:
    text = "function f(req, res) { res.json({ user }); res.json({ article }); res.json({ tags }); }\n"
    assert survey_of({"a.js": text}).response_format == ""


def test_a_file_that_does_not_parse_is_left_out_and_named() -> None:
    broken = "const app = express();\napp.get('/x', h);\n" + "}}} ??? <<<< {{{ ((( =>=> \n" * 60
    found = survey_of({"src/bad.js": broken, "src/good.js": "const app = express();\napp.get('/y', h);\n"})
    assert [endpoint.route for _, endpoint in found.endpoints] == ["/y"]
    assert found.broken == ("src/bad.js",)


def test_four_stacks_of_a_monorepo_are_told_apart() -> None:
    found = survey_of(
        {
            "web/package.json": '{"private": true, "dependencies": {"next": "14", "react": "18"}}',
            "web/app/api/x/route.ts": "export async function GET() {}\n",
            "services/api/package.json": '{"private": true, "dependencies": {"express": "4"}}',
            "services/api/a.js": "const app = require('express')();\napp.get('/node', auth, h);\n",
            "services/ml/requirements.txt": "fastapi\n",
            "services/ml/a.py": 'router = APIRouter()\n@router.get("/python")\ndef f(): ...\n',
            "services/mail/go.mod": "module m\nrequire github.com/gin-gonic/gin v1.9.0\n",
            "services/mail/a.go": 'package m\nfunc f() {\n\tr.GET("/go", h)\n}\n',
        }
    )
    assert [(path, endpoint.route) for path, endpoint in found.endpoints] == [
        ("services/api/a.js", "/node"), ("services/mail/a.go", "/go"), ("services/ml/a.py", "/python"),
        ("web/app/api/x/route.ts", "/api/x"),
    ]  # fmt: skip
    assert [(stack.folder, *stack.frameworks) for stack in found.stacks] == [
        ("web", "Next.js", "React"), ("services/api", "Express"), ("services/mail", "Gin"), ("services/ml", "FastAPI"),
    ]  # fmt: skip


def test_calls_that_look_like_a_frameworks_are_none() -> None:
    assert (
        facts("a.rb", "class A < ApplicationController\n  def x\n    render :new, status: 422\n  end\nend\n").answers
        == []
    )
    assert facts("a.ex", 'def f(list) do\n  push(list, "name", [])\nend\n').events == []
    assert facts("a.php", "<?php\n$group->map(fn ($x) => $x->id);\n").endpoints == []
    assert (
        facts(
            "main.ts", "import { createRouter } from 'vue-router';\nconst app = createApp(App);\napp.use(i18n);\n"
        ).middleware
        == []
    )
    assert facts("a.ts", "const x = cache.get('/a', 1);\napi.post('/b', body);\n").endpoints == []


def test_a_form_that_says_nothing_is_refused() -> None:
    assert len(load_frameworks()) > 30
    with pytest.raises(ValueError, match="is no form"):
        read_form("x.yml", {"route": {}, "calls": "get"}, frozenset())


@pytest.mark.parametrize("framework", load_frameworks(), ids=lambda each: each.name)
def test_every_form_is_a_rule_of_its_languages(framework: Framework) -> None:
    from ast_grep_py import SgRoot

    for form in framework.forms:
        for language in form.languages:
            root = SgRoot("", language).root()
            assert list(find_forms(root, "", language, [(framework, form)])) == []


_GUARDS = {
    "Next.js": ("src/middleware.ts", 'import { x } from "next";\nexport default withAuth({});\n', ["withAuth"]),
    "controllers of Phoenix": (
        "lib/c.ex",
        "defmodule C do\n  use MyWeb, :controller\n  plug :require_user when action in [:edit]\n  plug RequireAdmin\nend\n",
        ["require_user", "RequireAdmin"],
    ),
    "providers of NestJS": (
        "m.ts",
        "@Module({ providers: [{ provide: APP_GUARD, useClass: AuthGuard }, { provide: X, useClass: Y }] })\nexport class A {}\n",
        ["AuthGuard"],
    ),
    "views of Django": (
        "v.py",
        "import django\nclass V(LoginRequiredMixin, ListView): ...\n@login_required\ndef f(request): ...\n"
        "class W(APIView):\n    permission_classes = [IsAuthenticated]\n",
        ["LoginRequiredMixin", "login_required", "IsAuthenticated"],
    ),
    "gRPC in Go": (
        "s.go",
        'package a\nimport "google.golang.org/grpc"\nfunc f() { grpc.NewServer(grpc.ChainUnaryInterceptor(auth, log())) }\n',
        ["auth", "log"],
    ),
    "gRPC in Python": ("s.py", "import grpc\ns = grpc.server(pool, interceptors=[Auth(), log])\n", ["Auth", "log"]),
    "gRPC in Java": (
        "S.java",
        "import io.grpc.ServerBuilder;\nclass S { void f() { b.intercept(new AuthInterceptor()).build(); } }\n",
        ["AuthInterceptor"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _GUARDS)
def test_guards_of_whole_applications_and_controllers(name: str) -> None:
    path, text, expected = _GUARDS[name]
    assert [each.name for each in facts(path, text).middleware] == expected


_LOOPS = {
    "Express": ("a.js", "const app = require('express')();\nnames.forEach((n) => app.get(`/x/${n}`, h));\n"),
    "Flask": ("a.py", 'import flask\nfor n in names:\n    app.add_url_rule(f"/x/{n}", view_func=f)\n'),
    "ASP.NET Core": ("p.cs", 'foreach (var x in xs)\n    app.MapGet($"/x/{x}", Show);\n'),
    "Gin": ("m.go", 'package a\nfunc f() {\n\tfor _, n := range names { r.GET("/" + n, h) }\n}\n'),
}


@pytest.mark.parametrize("name", _LOOPS)
def test_nothing_is_said_of_routes_made_in_loops(name: str) -> None:
    path, text = _LOOPS[name]
    assert facts(path, text).endpoints == []


def test_a_function_of_the_name_authenticate_is_no_guard_of_ktor() -> None:
    text = "import io.ktor.server.routing.*\nfun f() { validate { users.authenticate(it) } }\n"
    assert facts("A.kt", text).middleware == []


def test_what_runs_after_a_request_does_not_run_before_it() -> None:
    names = ("before_request", "after_app_request", "teardown_request")
    text = "import flask\n" + "".join(f"@app.{name}\ndef {name}_of_app(): ...\n" for name in names)
    assert [(each.label, each.name) for each in facts("a.py", text).middleware] == [
        ("before_request", "before_request_of_app"), ("after_request", "after_app_request_of_app"),
        ("teardown_request", "teardown_request_of_app"),
    ]  # fmt: skip


def test_a_plugin_counts_without_its_wrapper_and_an_import_does_not() -> None:
    text = "const app = fastify();\napp.register(import('./x.js'));\napp.register(fp(auth));\napp.register(cors);\n"
    assert [each.name for each in facts("a.js", text).middleware] == ["auth", "cors"]


def test_a_long_file_is_read_to_its_end() -> None:
    rows = "".join(f"table.push([{number}, 'a row of the table']);\n" for number in range(10_000))
    found = facts("a.js", "const app = express();\nfunction load(table) {\n" + rows + "}\napp.get('/x', h);\n")
    assert not found.is_broken
    assert [each.route for each in found.endpoints] == ["/x"]


def test_what_implements_a_service_of_grpc_is_a_backend() -> None:
    service = "import shop_pb2_grpc\nclass Shop(shop_pb2_grpc.ShopServicer):\n" + "".join(
        f"    def {name}(self, request, context): ...\n" for name in ("Order", "Pay", "Cancel")
    )
    client = "import shop_pb2_grpc\nstub = shop_pb2_grpc.ShopStub(channel)\n"
    found = survey_of({
        "shop/requirements.txt": "grpcio\n", "shop/server.py": service,
        "bot/requirements.txt": "grpcio\n", "bot/main.py": client,
    })  # fmt: skip
    assert {stack.folder: stack.role for stack in found.stacks} == {"shop": "backend", "bot": "package"}


def test_a_path_made_in_a_comprehension_of_elixir_is_no_route() -> None:
    text = """
    defmodule R do
      use MyWeb, :router
      scope "/" do
        for name <- ~w(a b) do
          get "/#{name}", PageController, :show
        end
      end
    end
    """
    assert facts("lib/router.ex", text).endpoints == []


def test_a_view_that_does_not_parse_is_no_broken_file_of_a_framework() -> None:
    lines = ["class View < Component", "  def template", "    render partial('x')"]
    view = "\n".join([*lines, '    div class: "x", &@body', '    div class: "y", &@foot', "  end", "end", ""])
    assert survey_of({"app/views/view.rb": view * 20}).broken == ()


def test_a_dependency_that_only_sorts_or_supplies_is_no_guard() -> None:
    text = (
        "app = FastAPI()\n@app.get('/x')\n"
        "def x(sort=Depends(SortingGetter(Sort)), page=Depends(make_dependable(Page)),"
        " locker=Depends(get_locker), body=Depends(get_body), who=Depends(UserGetter()), w=Depends(get_admin)): ...\n"
    )
    assert [each.name for each in facts("a.py", text).middleware] == ["UserGetter", "get_admin"]


def test_what_a_pipeline_of_phoenix_plugs_is_middleware() -> None:
    text = """
    defmodule Router do
      use Web, :router
      pipeline :api do
        plug(:accepts, ["json"])
        plug(Web.AuthPlug, otp_app: :web)
        plug :limit
      end
      scope path: "/v1" do
        pipe_through(:api)
        resources("/session", SessionController, singleton: true, only: [:create, :delete])
        forward("/graph", Absinthe.Plug, schema: Schema)
      end
    end
    """
    assert routes({"lib/router.ex": text}) == ["RESOURCES /v1/session", "ANY /v1/graph"]
    assert [each.name for each in facts("lib/router.ex", text).middleware] == ["Web.AuthPlug", "limit"]


def test_an_adapter_of_hono_in_a_route_of_next_is_no_route_of_its_own() -> None:
    text = """
    import { Hono } from "hono";
    import { handle } from "hono/vercel";
    const app = new Hono().basePath("/api/x");
    app.get("/y", show);
    export const GET = handle(app);
    """
    assert routes({"src/app/api/x/[...route]/route.ts": text}) == ["GET /y"]


def test_branches_of_asp_net_register_middleware_too() -> None:
    text = "app.Map(url, mainApp => { mainApp.UseRobots(); mainApp.UseMiddleware<ErrorMiddleware>(); });\n"
    assert set(survey_of({"Startup.cs": text}).middleware_names) >= {"UseRobots", "ErrorMiddleware"}

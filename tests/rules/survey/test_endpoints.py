"""Routes of every framework, read from small pieces of code."""

from __future__ import annotations

import textwrap

import pytest

from rag_ls.rules.survey.facts import read_facts
from tests.rules.survey.surveys import survey_of


def routes(path: str, language: str, text: str) -> list[str]:
    found = read_facts(path, language, textwrap.dedent(text)).endpoints
    return [f"{endpoint.method} {endpoint.route}" for endpoint in found]


def test_express_routes_are_found_with_their_lines() -> None:
    text = "const app = express();\napp.get('/health', ok);\napp.all('/any', auth, handler);\n"
    assert [(e.method, e.route, e.line) for e in read_facts("a.js", "javascript", text).endpoints] == [
        ("GET", "/health", 2),
        ("ANY", "/any", 3),
    ]


def test_a_router_prefix_is_joined_with_its_routes() -> None:
    text = """
    const router = express.Router();
    router.post('/login', login);
    router.route('/:id').get(show).delete(remove);
    app.use('/auth', limiter, router);
    """
    assert routes("a.ts", "typescript", text) == ["POST /auth/login", "GET /auth/:id", "DELETE /auth/:id"]


def test_a_client_called_api_and_a_setting_are_no_routes() -> None:
    text = "api.get('/users', { params });\naxios.post('/login', body);\napp.get('env');\nrequest(app).get('/x', cb);\n"
    assert routes("a.ts", "typescript", text) == []


def test_routes_in_comments_and_strings_do_not_count() -> None:
    text = """
    // app.get('/a', handler)
    /* app.get('/b', handler) */
    const example = "app.get('/c', handler)";
    """
    assert routes("a.js", "javascript", text) == []


def test_fastify_koa_and_hono() -> None:
    fastify = (
        "fastify.route({ method: ['GET', 'HEAD'], url: '/x', handler })\nfastify.get<{ Params: P }>('/y', opts, h)"
    )
    assert routes("a.ts", "typescript", fastify) == ["GET /x", "HEAD /x", "GET /y"]
    assert routes("a.js", "javascript", "const r = new Router({ prefix: '/v1' });\nr.get('/x', h);") == ["GET /v1/x"]
    assert routes("a.ts", "typescript", "const books = new Hono();\nbooks.get('/books', (c) => c.json([]));") == [
        "GET /books"
    ]


def test_nest_controllers_give_their_prefix() -> None:
    text = """
    @Controller('users')
    export class UsersController {
      @Get(':id')
      one(@Param('id') id: string) {}
      @Post()
      create() {}
    }
    """
    assert routes("users.controller.ts", "typescript", text) == ["GET /users/:id", "POST /users"]


def test_next_route_files() -> None:
    assert routes("app/api/users/[id]/route.ts", "typescript", "export async function GET(r) {}\n") == [
        "GET /api/users/[id]"
    ]


def test_fastapi_routers_and_inclusion() -> None:
    text = '''
    """
    @router.get("/in-a-docstring")
    """
    router = APIRouter(prefix="/items", tags=["items"])

    @router.get("/", response_model=Items)
    def read(): ...

    @router.post(
        "/{id}/tags",
        status_code=201,
    )
    def tag(): ...

    app.include_router(router, prefix="/api")
    '''
    assert routes("items.py", "python", text) == ["GET /api/items/", "POST /api/items/{id}/tags"]


def test_flask_routes_with_methods() -> None:
    text = """
    bp = Blueprint("auth", __name__, url_prefix="/auth")

    @bp.route("/login", methods=["GET", "POST"])
    def login(): ...

    @app.route("/")
    def index(): ...

    @mock.patch("requests.get")
    def other(): ...
    """
    assert routes("auth.py", "python", text) == ["GET /auth/login", "POST /auth/login", "GET /"]


def test_django_urls_without_inclusions() -> None:
    text = r"""
    from django.urls import include, path, re_path
    urlpatterns = [
        path("users/<int:pk>/", views.user),
        path("blog/", include("blog.urls")),
        re_path(r"^articles/(?P<year>[0-9]{4})/$", views.year),
    ]
    router.register(r"groups", GroupViewSet)
    """
    assert routes("urls.py", "python", text) == ["ANY /users/<int:pk>/", "ANY /articles/<year>/", "ANY /groups"]


def test_spring_class_and_method_mappings() -> None:
    text = """
    @RestController
    @RequestMapping(path = "/users")
    @RequiredArgsConstructor(onConstructor = @__(@Autowired))
    public class UserApi {
        /** @GetMapping("/documented") */
        @GetMapping("/{id}")
        public User one() {}
        @PostMapping
        public User create() {}
        @RequestMapping(value = {"/a", "/b"}, method = RequestMethod.PUT)
        public User put() {}
    }
    """
    assert routes("UserApi.java", "java", text) == ["GET /users/{id}", "POST /users", "PUT /users/a", "PUT /users/b"]
    assert routes("Client.java", "java", '@FeignClient("x")\ninterface C {\n@GetMapping("/x") X x(); }') == []


def test_gin_groups_of_groups() -> None:
    text = """
    func Routes(r *gin.Engine) {
        v1 := r.Group("/api")
        users := v1.Group("/users")
        users.GET("/:id", show)
        v1.Any("/ping", ping)
    }
    """
    assert routes("r.go", "go", text) == ["GET /api/users/:id", "ANY /api/ping"]


def test_chi_nests_routes_in_functions() -> None:
    text = """
    import "github.com/go-chi/chi/v5"
    func routes() {
        r.Route("/articles", func(r chi.Router) {
            r.Get("/", list)
            r.Route("/{id}", func(r chi.Router) {
                r.Put("/", update)
            })
        })
        r.Post("/login", login)
    }
    """
    assert routes("r.go", "go", text) == ["GET /articles", "PUT /articles/{id}", "POST /login"]


def test_net_http_and_gorilla() -> None:
    text = """
    mux.HandleFunc("GET /items/{id}", item)
    http.HandleFunc("/health", health)
    r.HandleFunc("/x", x).Methods("PUT", http.MethodPost)
    """
    assert routes("m.go", "go", text) == ["GET /items/{id}", "ANY /health", "PUT /x", "POST /x"]


def test_rails_resources_namespaces_and_members() -> None:
    text = """
    Rails.application.routes.draw do
      root to: "home#index"
      # get "/commented"
      namespace :admin do
        resources :users, only: [:index, :show] do
          member do
            post :ban
          end
          get "recent", on: :collection
          resources :notes, only: %i[create]
        end
      end
      resource :session, only: [:create, :destroy]
      match "/both", to: "x#y", via: [:get, :post]
      scope "/v1" do
        get "ping" => "ping#show"
      end
    end
    """
    assert routes("config/routes.rb", "ruby", text) == [
        "GET /", "RESOURCES /admin/users", "POST /ban", "GET /recent", "RESOURCES /notes", "RESOURCES /session", "GET /both",
        "POST /both", "GET /v1/ping",
    ]  # fmt: skip
    assert routes("app/models/user.rb", "ruby", 'get "/x" => "y#z"') == []


def test_sinatra() -> None:
    assert routes("app.rb", "ruby", "require 'sinatra'\nget '/hi' do\n  'hi'\nend\n") == ["GET /hi"]


def test_laravel_groups_and_resources() -> None:
    text = """<?php
    Route::prefix('admin')->middleware('auth')->group(function () {
        Route::get('users', [UserController::class, 'index']);
        Route::apiResource('posts', PostController::class)->only(['index', 'store']);
    });
    Route::group(['prefix' => 'v1'], function () {
        Route::match(['put', 'patch'], 'me', 'MeController@update');
    });
    Route::resource('tags', 'TagController', ['except' => ['create', 'edit', 'update', 'destroy', 'show']]);
    """
    assert routes("routes/api.php", "php", text) == [
        "GET /admin/users", "RESOURCES /admin/posts", "PUT /v1/me", "PATCH /v1/me", "RESOURCES /tags",
    ]  # fmt: skip


def test_slim_and_symfony() -> None:
    slim = "<?php\n$app->group('/users', function ($group) {\n    $group->get('/{id}', Show::class);\n});\n"
    assert routes("routes.php", "php", slim) == ["GET /users/{id}"]
    symfony = "<?php\n#[Route('/blog')]\nclass Blog {\n  #[Route('/{slug}', name: 'x', methods: ['GET'])]\n  function show() {}\n}\n"
    assert routes("Blog.php", "php", symfony) == ["GET /blog/{slug}"]


def test_axum_methods_and_nesting() -> None:
    text = """
    fn app() -> Router {
        Router::new()
            .route("/users", get(list).post(|b| async { repo.get(b) }))
            .nest("/api", api())
    }
    fn api() -> Router { Router::new().route("/ping", get(ping)) }
    #[cfg(test)]
    #[expect(clippy::unwrap_used)]
    mod tests { fn t() { Router::new().route("/test", get(x)); } }
    """
    found = survey_of({"src/main.rs": text}).endpoints
    assert [f"{each.method} {each.route}" for _, each in found] == ["GET /users", "POST /users", "GET /ping"]
    assert routes("m.rs", "rust", '#[get("/hello/<name>")]\nfn hello() {}') == ["GET /hello/<name>"]


def test_aspnet_controllers_and_minimal_endpoints() -> None:
    text = """
    [ApiController]
    [Route("api/[controller]/[action]")]
    public class OrderController : Controller
    {
        [HttpGet("{id}")]
        public async Task<ActionResult<Order>> Detail(int id) {}
        [HttpPost]
        public IActionResult Create() {}
    }
    """
    assert routes("OrderController.cs", "csharp", text) == [
        "GET /api/[controller]/[action]/{id}", "POST /api/[controller]/[action]",
    ]  # fmt: skip
    minimal = 'var todos = app.MapGroup("/todos");\ntodos.MapGet("/{id}", Get);\napp.MapPost("/login", Login);\n'
    assert routes("Program.cs", "csharp", minimal) == ["GET /todos/{id}", "POST /login"]


@pytest.mark.parametrize("language", ["markdown", "json", "haskell"])
def test_other_languages_have_no_endpoints(language: str) -> None:
    assert read_facts("x", language, "app.get('/x', h)").endpoints == []

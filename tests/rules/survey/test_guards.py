"""Middleware and guards are told where they are put, with their counts: what is none, or stands elsewhere, is not among them."""

from __future__ import annotations

import pytest

from tests.rules.survey.surveys import routes
from tests.rules.survey.test_frameworks import facts


def names(path: str, text: str) -> list[str]:
    """The middleware of a file; that of single routes begins with a star."""
    return ["*" * each.is_of_route + each.name for each in facts(path, text).middleware]


def test_only_the_hooks_of_fastify_that_come_before_the_handler_count() -> None:
    text = """
    module.exports = async function (fastify) {
      fastify.addHook('onClose', closeDatabase);
      fastify.addHook('onSend', addHeaders);
      fastify.addHook('onRequest', auth);
      fastify.get('/x', h);
    };
    """
    assert names("a.js", text) == ["auth"]


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
def test_a_nested_class_does_not_have_the_prefix_of_the_outer_one(path: str, text: str) -> None:
    assert routes({path: text}) == ["GET /a/x", "GET /b/y"]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("A.java", 'import jakarta.ws.rs.*;\n@Path("/a") @RolesAllowed({})\nclass A {\n  @GET public String x() {}\n'
         '  @POST @RolesAllowed({"admin"}) public String y() {}\n}\n', ["*RolesAllowed"]),
        ("A.java", "import org.springframework.x;\n@RestController class A {\n"
         '  @PreAuthorize("permitAll()") @GetMapping("/y") int y() { return 1; }\n}\n', []),
        ("a.kt", 'import io.ktor.server.routing.*\nfun Route.all() {\n  authenticate("jwt") { get("/x") { show() } }\n'
         '  authenticate("session", optional = true) { get("/y") { show() } }\n}\n', ["jwt"]),
    ],
)  # fmt: skip
def test_a_guard_that_lets_everybody_pass_is_none(path: str, text: str, expected: list[str]) -> None:
    assert names(path, text) == expected


def test_a_wrapper_of_functions_is_no_middleware_but_what_it_wraps() -> None:
    text = """
    const router = express.Router();
    router.use(wrap(session));
    router.get('/x', asyncHandler(auth.jwt), catchAsync(can('read')), asyncHandler(show));
    """
    assert names("r.js", text) == ["session", "*auth.jwt", "*can"]


def test_all_of_a_chain_that_goes_on_is_middleware_of_what_follows() -> None:
    text = """
    const router = express.Router();
    router.route('/x').get(list).all(auth).post(add);
    router.route('/y').get(list).all(refused);
    """
    assert routes({"r.js": text}) == ["GET /x", "POST /x", "GET /y", "ANY /y"]
    assert names("r.js", text) == ["*auth"]


def test_the_argument_of_laravels_auth_says_who_may_pass() -> None:
    text = "<?php\nRoute::middleware(['auth:customer', 'throttle:6,1'])->group(function () {\n  Route::get('/x', f());\n});\n"
    assert names("routes/api.php", text) == ["auth:customer", "throttle"]


@pytest.mark.parametrize(
    "given",
    ["app.use('/users', users)", "app.use(['/a', '/b'], users)", "app.use(users.routes())", "app.use(require('./users'))",
     "app.use(users)", "app.use('/users', users.router)"],
)  # fmt: skip
def test_what_may_be_a_router_of_another_file_is_no_middleware(given: str) -> None:
    text = f"const users = require('./routes/users');\nconst app = express();\n{given};\napp.use('/x', limit(5));\n"
    assert names("app.js", text) == ["limit"]


def test_a_router_that_is_mounted_is_no_middleware() -> None:
    text = "const router = express.Router();\nconst own = express.Router();\nrouter.use(check, own);\nrouter.get('/last', h);\n"
    assert names("r.js", text) == ["check"]


def test_what_the_result_of_a_call_is_asked_for_has_no_name() -> None:
    text = "const app = express();\napp.use('/images', storage.getStorage('images').serve());\napp.use(limit());\n"
    assert names("app.js", text) == ["limit"]

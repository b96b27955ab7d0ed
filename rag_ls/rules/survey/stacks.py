"""Finds the parts of a repository that have a manifest of their own: frontends, backends, libraries."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal

from rag_ls.languages import family_of
from rag_ls.rules.survey.findings import MIN_COUNT
from rag_ls.rules.survey.sources import is_vendored
from rag_ls.search import is_secondary_by_path, is_test_by_path
from rag_ls.util.decoding import read_json, read_toml
from rag_ls.util.records import dataclass, replace

Role = Literal["frontend", "backend", "package"]

FRONTEND_FOLDERS = ("frontend", "client", "src")
BACKEND_FOLDERS = ("backend", "server", "api")

_FRONTEND = {
    "next": "Next.js", "nuxt": "Nuxt", "react": "React", "preact": "Preact", "vue": "Vue", "@angular/core": "Angular", "angular": "Angular",
    "svelte": "Svelte", "@sveltejs/kit": "SvelteKit", "solid-js": "Solid", "astro": "Astro", "vite": "Vite",
    "microsoft.net.sdk.blazorwebassembly": "Blazor",
}  # fmt: skip
_BACKEND = {
    "express": "Express", "fastify": "Fastify", "@nestjs/core": "NestJS", "koa": "Koa", "hono": "Hono", "@hapi/hapi": "hapi",
    "socket.io": "Socket.IO", "fastapi": "FastAPI", "flask": "Flask", "django": "Django", "djangorestframework": "Django REST framework",
    "starlette": "Starlette", "aiohttp": "aiohttp", "tornado": "Tornado", "sanic": "Sanic", "litestar": "Litestar",
    "github.com/gin-gonic/gin": "Gin", "github.com/go-chi/chi": "chi", "github.com/labstack/echo": "Echo",
    "github.com/gofiber/fiber": "Fiber",
    "github.com/gorilla/mux": "gorilla/mux", "axum": "axum", "actix-web": "Actix Web", "rocket": "Rocket", "warp": "warp",
    "laravel/framework": "Laravel", "symfony/framework-bundle": "Symfony", "slim/slim": "Slim", "laravel/lumen-framework": "Lumen",
    "rails": "Rails", "sinatra": "Sinatra", "hanami": "Hanami", "grape": "Grape", "phx": "Phoenix",
    "microsoft.net.sdk.web": "ASP.NET Core", "microsoft.aspnetcore.app": "ASP.NET Core",
    "spring-boot-starter-web": "Spring Boot", "spring-boot-starter-webmvc": "Spring Boot",
    "spring-boot-starter-webflux": "Spring Boot", "spring-webmvc": "Spring MVC",
    "quarkus": "Quarkus", "micronaut": "Micronaut", "ktor-server": "Ktor", "javalin": "Javalin",
}  # fmt: skip
_JVM = re.compile(r"spring-boot-starter-web(?:mvc|flux)?\b|spring-webmvc\b|quarkus|micronaut|ktor\w*[-.]server|javalin")
_BENEATH = frozenset({"Starlette", "aiohttp", "Tornado"})
"""Frameworks that others stand on, and that clients use: where there is another, it is that one."""
_DEVELOPMENT = re.compile(r"(?i)dev|test|lint|docs?|typ(?:es|ing)|format|^ci$|check|build|bench")
"""The groups of dependencies that the product does not run on."""
_PACKAGE_KEYS = ("dependencies", "devDependencies", "peerDependencies", "scripts", "version", "workspaces")
_SUFFIXES = {
    "javascript": (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte"),
    "typescript": (".ts", ".tsx", ".vue", ".svelte", ".js"),
    "python": (".py",), "go": (".go",), "rust": (".rs",), "java": (".java", ".kt"), "kotlin": (".kt", ".java"), "php": (".php",),
    "ruby": (".rb",), "elixir": (".ex", ".exs"), "csharp": (".cs",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Manifest:
    """The declarations of a manifest."""

    language: str
    packages: frozenset[str]
    """The packages that the product runs on, in lower case."""
    development: frozenset[str] = frozenset()
    """The packages for development alone; npm projects of a frontend often keep their framework there."""
    published: bool = False
    """Whether the project is made to be depended on."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A folder with a manifest."""

    folder: str
    """From the root, without a slash at its end; "" for the root itself."""
    role: Role
    language: str
    manifest: str
    """The path of the manifest."""
    frameworks: tuple[str, ...]
    published: bool = False
    """Whether it is made to be depended on."""


def find_stacks(paths: Sequence[str], read: Callable[[str], str]) -> list[Stack]:
    """The stacks of a repository, by folder: those near the root first."""
    sources, known = _folders_by_suffix(paths), frozenset(paths)
    by_stack: dict[tuple[str, str], list[tuple[str, Manifest]]] = {}
    for path in sorted(paths, key=_order_manifest):
        folder, name = posixpath.split(path)
        reader = next((each for pattern, each in _READERS if pattern.search(name)), None)
        if reader is None or is_vendored(path) or is_test_by_path(path) or is_secondary_by_path(path):
            continue
        try:
            manifest = reader(read(path))
        except ValueError:
            continue
        if manifest and name == "package.json" and posixpath.join(folder, "pnpm-workspace.yaml") in known:
            manifest = replace(manifest, development=frozenset())
        if manifest and any((folder, suffix) in sources for suffix in _SUFFIXES[manifest.language]):
            by_stack.setdefault((folder, manifest.language), []).append((path, manifest))
    found = [stack for (folder, _), manifests in by_stack.items() for stack in _make_stacks(folder, manifests)]
    return sorted(found, key=lambda stack: (stack.folder.count("/") + bool(stack.folder), stack.folder, stack.role))


def _folders_by_suffix(paths: Iterable[str]) -> set[tuple[str, str]]:
    """Each folder with each suffix of a file in or below it."""
    found: set[tuple[str, str]] = set()
    for path in paths:
        folder, suffix = posixpath.dirname(path), posixpath.splitext(path)[1]
        while (folder, suffix) not in found:
            found.add((folder, suffix))
            folder = posixpath.dirname(folder)
    return found


def _order_manifest(path: str) -> tuple[bool, str]:
    """The order in which a stack is named by a manifest of its folder: a list of requirements last."""
    return path.endswith(".txt"), path


def _make_stacks(folder: str, manifests: Sequence[tuple[str, Manifest]]) -> list[Stack]:
    """One stack; two where a manifest is a frontend's and a backend's at once."""
    path, first = manifests[0]
    packages = frozenset[str]().union(*(manifest.packages for _, manifest in manifests))
    development = frozenset[str]().union(*(manifest.development for _, manifest in manifests))
    published, name = any(manifest.published for _, manifest in manifests), posixpath.basename(folder)
    front = own = _name_frameworks(_FRONTEND, packages)
    back = _name_frameworks(_BACKEND, packages)
    if not set(front) - {"Vite"}:
        # Beside the frontend's own framework, that of a tool may be there for development.
        front = _name_frameworks(_FRONTEND, packages | development)
    is_frontend = bool(front) and (name in FRONTEND_FOLDERS or not published)
    is_backend = (bool(back) and not published) or (name in BACKEND_FOLDERS and not is_frontend)
    # Servers are built with Vite, too.
    is_frontend &= not (is_backend and front == ("Vite",))
    roles: dict[Role, tuple[str, ...]] = {"frontend": front} if is_frontend else {}
    roles |= {"backend": back} if is_backend else {}
    return [
        Stack(folder, role, first.language, path, frameworks, published=role == "package" and published)
        for role, frameworks in (roles or {"package": tuple(dict.fromkeys((*own, *back)))}).items()
    ]


def _name_frameworks(known: dict[str, str], packages: frozenset[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(name for package, name in known.items() if package in packages))
    return tuple(name for name in found if name not in _BENEATH) or found


def with_endpoints(stacks: Sequence[Stack], endpoints: Iterable[tuple[str, str]]) -> list[Stack]:
    """The stacks, of which those with several endpoints, each given by its path and language, are backends.

    A manifest alone does not say so: packages are clients' too, and those of a parent count for its modules.
    """
    counts = Counter[Stack]()
    for path, language in endpoints:
        around = [
            each for each in stacks
            if f"{path}/".startswith(f"{each.folder}/".lstrip("/")) and family_of(each.language) == family_of(language)
        ]  # fmt: skip
        if around:
            counts[max(around, key=lambda each: len(each.folder))] += 1
    serving = {family_of(each.language) for each, count in counts.items() if count >= MIN_COUNT}
    return [replace(each, role=_role_of(each, counts[each], serving)) for each in stacks]


def _role_of(stack: Stack, endpoints: int, serving: Collection[str]) -> Role:
    """A role by its endpoints; a library of a workspace may depend on the framework in which another part serves."""
    if stack.role == "package" and endpoints >= MIN_COUNT and not stack.published:
        return "backend"
    is_idle = stack.folder and not endpoints and posixpath.basename(stack.folder) not in BACKEND_FOLDERS
    return "package" if stack.role == "backend" and is_idle and family_of(stack.language) in serving else stack.role


def frontend_of(stacks: Iterable[Stack]) -> str | None:
    """The folder of the main frontend; "" for the root, None where none is the main one."""
    return _find_main([stack.folder for stack in stacks if stack.role == "frontend"], FRONTEND_FOLDERS)


def backend_of(stacks: Iterable[Stack]) -> str | None:
    """The folder of the main backend, as `frontend_of` has the frontend's."""
    return _find_main([stack.folder for stack in stacks if stack.role == "backend"], BACKEND_FOLDERS)


def _find_main(found: Sequence[str], usual: tuple[str, ...]) -> str | None:
    """The only folder; of several one with a usual name before the root, one near the root before one below."""
    names = [*usual, ""]
    known = [folder for folder in found if posixpath.basename(folder) in names]
    if not known:
        return found[0] if len(found) == 1 else None
    return min(known, key=lambda folder: (names.index(posixpath.basename(folder)), folder.count("/"), folder))


def name_package(text: str) -> str:
    """The name that a package.json gives its package; "" for none."""
    found = re.search(r"\"name\"\s*:\s*\"([^\"]+)\"", text)
    return found[1] if found else ""


def _read_package_json(text: str) -> Manifest | None:
    data = _read_object(text)
    if not any(key in data for key in _PACKAGE_KEYS):
        # A stub in a folder only tells how to read the folder's files.
        return None
    product, development = _keys(data.get("dependencies")), _keys(data.get("devDependencies"))
    exported = any(key in data for key in ("exports", "module", "types", "files"))
    published = bool(data.get("peerDependencies")) or (exported and data.get("private") is not True)
    language = "typescript" if "typescript" in product | development else "javascript"
    # In the root of a workspace, the development dependencies are those of its packages.
    return Manifest(language, product, frozenset() if "workspaces" in data else development, published)


def _read_pyproject(text: str) -> Manifest | None:
    data = read_toml(text)
    project, poetry = _table(data.get("project")), _table(_table(data.get("tool")).get("poetry"))
    groups = _table(data.get("dependency-groups"))
    declared = [project.get("dependencies"), *(each for name, each in groups.items() if not _DEVELOPMENT.search(name))]
    if not project and not poetry and not groups and "build-system" not in data:
        return None
    lines = [line for each in declared if isinstance(each, list) for line in each]
    return Manifest("python", _read_requirements(lines) | _keys(poetry.get("dependencies")))


def _read_setup(text: str) -> Manifest | None:
    """`setup.py`, `setup.cfg`: what they require is all that is asked of them. Other modules are called so, too."""
    if not re.search(r"setuptools|distutils|skbuild|install_requires|^\[(?:metadata|options)", text, re.MULTILINE):
        return None
    match = re.search(r"install_requires\s*=\s*(\[[^\]]*|[^\n]*(?:\n[ \t]+[^\n]*)*)", text)
    return Manifest("python", _read_requirements(re.split(r"[\[\n,\"']", match[1]) if match else ()))


def _read_requirements(lines: Iterable[object]) -> frozenset[str]:
    names = (re.match(r"\s*([A-Za-z0-9][\w.-]*)", line) for line in lines if isinstance(line, str))
    return frozenset(match[1].lower().replace("_", "-") for match in names if match)


def _read_go_mod(text: str) -> Manifest:
    direct = (line for line in text.splitlines() if "// indirect" not in line)
    found = (re.match(r"\s*(?:require\s+)?([\w.-]+\.[\w-]+/\S+)\s+v", line) for line in direct)
    return Manifest("go", frozenset(re.sub(r"/v\d+$", "", match[1].lower()) for match in found if match))


def _read_cargo(text: str) -> Manifest | None:
    data = read_toml(text)
    return Manifest("rust", _keys(data.get("dependencies"))) if "package" in data else None


def _read_jvm(text: str) -> Manifest:
    """`pom.xml`, `build.gradle`: the names of frameworks in their text; a catalog of versions writes `ktorLibs.server.core`."""
    words = (re.sub(r"^ktor.*", "ktor-server", word) for word in _JVM.findall(text.lower()))
    return Manifest("kotlin" if re.search(r"kotlin[-\"'(.]", text) else "java", frozenset(words))


def _read_composer(text: str) -> Manifest:
    data = _read_object(text)
    published = data.get("type") in ("library", "symfony-bundle", "composer-plugin")
    return Manifest("php", _keys(data.get("require")), published=published)


def _read_gemfile(text: str) -> Manifest:
    gems = re.findall(r"^[ \t]*gem\s*\(?\s*[\"']([\w-]+)", text, re.MULTILINE)
    return Manifest("ruby", frozenset(gems), published=bool(re.search(r"^[ \t]*gemspec\b", text, re.MULTILINE)))


def _read_mix(text: str) -> Manifest:
    lines = re.findall(r"\{\s*:(\w+)\s*,([^}\n]*)", text)
    names = {name for name, rest in lines if "optional: true" not in rest and "only:" not in rest}
    # An application may name its licence for those who fork it. npm's `phoenix` is a client.
    is_application = "phoenix" in names and bool(re.search(r"\bmod:\s*\{", text))
    packages = names | ({"phx"} if "phoenix" in names else set())
    return Manifest("elixir", frozenset(packages), published="package:" in text and not is_application)


def _read_csproj(text: str) -> Manifest:
    sdk = re.findall(r"<Project\s[^>]*Sdk=\"([^\"]+)\"", text)
    packages = re.findall(r"<(?:PackageReference|FrameworkReference)\s[^>]*Include=\"([^\"]+)\"", text)
    return Manifest("csharp", frozenset(name.lower() for name in [*sdk, *packages]))


def _keys(value: object) -> frozenset[str]:
    return frozenset(str(key).lower() for key in _table(value))


def _read_object(text: str) -> dict[str, Any]:
    """The object that a text of JSON is. Raises `ValueError`."""
    if not isinstance(data := read_json(text), dict):
        raise ValueError("no object")
    return data


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


_READERS: tuple[tuple[re.Pattern[str], Callable[[str], Manifest | None]], ...] = (
    (re.compile(r"^package\.json$"), _read_package_json),
    (re.compile(r"^pyproject\.toml$"), _read_pyproject),
    (
        re.compile(r"^requirements(?![\w.-]*(?:dev|test|doc|lint))[\w.-]*\.txt$"),
        lambda text: Manifest("python", _read_requirements(text.splitlines())),
    ),
    (re.compile(r"^setup\.(?:cfg|py)$"), _read_setup),
    (re.compile(r"^go\.mod$"), _read_go_mod),
    (re.compile(r"^Cargo\.toml$"), _read_cargo),
    (re.compile(r"^(?:pom\.xml|build\.gradle(?:\.kts)?)$"), _read_jvm),
    (re.compile(r"^composer\.json$"), _read_composer),
    (re.compile(r"^Gemfile$"), _read_gemfile),
    (re.compile(r"^mix\.exs$"), _read_mix),
    (re.compile(r"\.csproj$"), _read_csproj),
)

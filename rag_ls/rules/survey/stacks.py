"""Finds the parts of a repository that have a manifest of their own: frontends, backends, libraries."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from rag_ls.languages import family_of
from rag_ls.rules.survey.findings import MIN_COUNT
from rag_ls.rules.survey.manifests import Manifest, read_manifest
from rag_ls.rules.survey.sources import is_vendored
from rag_ls.search.roles import is_secondary_by_path, is_test_by_path
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
    "rails": "Rails", "sinatra": "Sinatra", "hanami": "Hanami", "grape": "Grape", "phoenix": "Phoenix",
    "microsoft.net.sdk.web": "ASP.NET Core", "microsoft.aspnetcore.app": "ASP.NET Core",
    "spring-boot-starter-web": "Spring Boot", "spring-boot-starter-webmvc": "Spring Boot",
    "spring-boot-starter-webflux": "Spring Boot", "spring-webmvc": "Spring MVC",
    "quarkus": "Quarkus", "micronaut": "Micronaut", "ktor-server-core": "Ktor", "javalin": "Javalin",
}  # fmt: skip
_CLIENTS = frozenset({"phoenix"})
"""The packages of npm that have a framework's name, and are its client."""
_BENEATH = frozenset({"Starlette", "aiohttp", "Tornado"})
"""Frameworks that others stand on, and that clients use: where there is another, it is that one."""
_SUFFIXES = {
    "javascript": (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte"),
    "typescript": (".ts", ".tsx", ".vue", ".svelte", ".js"),
    "python": (".py",), "go": (".go",), "rust": (".rs",), "java": (".java", ".kt"), "kotlin": (".kt", ".java"), "php": (".php",),
    "ruby": (".rb",), "elixir": (".ex", ".exs"), "csharp": (".cs",),
}  # fmt: skip


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
    for path in sorted(paths, key=_manifest_order):
        folder, name = posixpath.split(path)
        if posixpath.basename(folder) == "requirements" and name.endswith(".txt"):
            folder, name = posixpath.dirname(folder), f"requirements-{name}"
        if name.startswith("requirements"):
            # The image that runs a project lists what the project needs.
            folder = _DEPLOYING.sub("", folder)
        if not _MANIFEST.search(name) or is_vendored(path) or is_test_by_path(path) or is_secondary_by_path(path):
            continue
        manifest = read_manifest(name, read(path))
        if manifest and name == "package.json" and posixpath.join(folder, "pnpm-workspace.yaml") in known:
            manifest = replace(manifest, development=frozenset())
        if manifest and any((folder, suffix) in sources for suffix in _SUFFIXES[manifest.language]):
            by_stack.setdefault((folder, manifest.language), []).append((path, manifest))
    found = [stack for (folder, _), manifests in by_stack.items() for stack in _stacks(folder, manifests)]
    return sorted(found, key=lambda stack: (stack.folder.count("/") + bool(stack.folder), stack.folder, stack.role))


_MANIFEST = re.compile(
    r"^(package\.json|pyproject\.toml|requirements[\w.-]*\.txt|setup\.(cfg|py)|go\.mod|Cargo\.toml|pom\.xml|build\.gradle(\.kts)?"
    r"|composer\.json|Gemfile|mix\.exs|[^/]+\.csproj)$"
)
_DEPLOYING = re.compile(r"(^|/)(?:docker|deploy(?:ment)?|build|container|\.?devcontainer)(?:/.*)?$")
_PREFERRED = ("pyproject.toml", "setup.cfg", "setup.py", "pom.xml", "build.gradle.kts", "build.gradle")


def _manifest_order(path: str) -> tuple[int, str]:
    """The manifest that a stack is named by comes before others of its folder."""
    name = posixpath.basename(path)
    return (_PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED)), path


def with_endpoints(stacks: Sequence[Stack], endpoints: Iterable[tuple[str, str, bool]]) -> list[Stack]:
    """The stacks, of which those with a service of gRPC or several routes are backends.

    A manifest alone does not say so: gRPC's packages are clients' too, and those of a parent count for its modules.
    `endpoints` has the path of each with its language, and whether it is a procedure of gRPC.
    """
    routes, serving = Counter[Stack](), set[Stack]()
    for path, language, is_procedure in endpoints:
        around = [each for each in stacks if not each.folder or path.startswith(each.folder + "/")]
        if around and is_procedure:
            serving.add(max(around, key=lambda each: len(each.folder)))
        same = [each for each in around if family_of(each.language) == family_of(language)]
        if same and not is_procedure:
            routes[max(same, key=lambda each: len(each.folder))] += 1
    return [
        replace(stack, role="backend", frameworks=(*stack.frameworks, *(["gRPC"] if stack in serving else [])))
        if stack.role == "package" and (stack in serving or (routes[stack] >= MIN_COUNT and not stack.published))
        else stack
        for stack in stacks
    ]


def name_package(text: str) -> str:
    """The name that a package.json gives its package; "" for none."""
    found = re.search(r"\"name\"\s*:\s*\"([^\"]+)\"", text)
    return found[1] if found else ""


def _folders_by_suffix(paths: Iterable[str]) -> set[tuple[str, str]]:
    """Each folder with each suffix of a file in or below it."""
    found: set[tuple[str, str]] = set()
    for path in paths:
        folder, suffix = posixpath.dirname(path), posixpath.splitext(path)[1]
        while (folder, suffix) not in found:
            found.add((folder, suffix))
            folder = posixpath.dirname(folder)
    return found


def _stacks(folder: str, manifests: list[tuple[str, Manifest]]) -> Iterator[Stack]:
    """One stack; two where a manifest is a frontend's and a backend's at once."""
    path, first = manifests[0]
    packages = frozenset[str]().union(*(manifest.packages for _, manifest in manifests))
    development = frozenset[str]().union(*(manifest.development for _, manifest in manifests))
    published = any(manifest.published for _, manifest in manifests)
    name = posixpath.basename(folder)
    front = _frameworks(_FRONTEND, packages)
    if not set(front) - {"Vite"}:
        # Beside the frontend's own framework, that of a tool may be there for development.
        front = _frameworks(_FRONTEND, packages | development)
    elif "vite" in development:
        front = tuple(dict.fromkeys((*front, "Vite")))
    back = _frameworks(_BACKEND, packages - _CLIENTS if first.language in ("javascript", "typescript") else packages)
    is_frontend = bool(front) and (name in FRONTEND_FOLDERS or not published)
    is_backend = (bool(back) and not published) or (name in BACKEND_FOLDERS and not is_frontend)
    if is_backend and is_frontend and (front == ("Vite",) or (front == ("React",) and _writes_mails(packages))):
        # Servers are built with Vite, too, and write mails with React.
        is_frontend = False
    if is_frontend:
        yield Stack(folder, "frontend", first.language, path, front)
    if is_backend:
        yield Stack(folder, "backend", first.language, path, back)
    if not is_frontend and not is_backend:
        yield Stack(folder, "package", first.language, path, tuple(dict.fromkeys((*front, *back))), published=published)


def _frameworks(known: dict[str, str], packages: frozenset[str]) -> tuple[str, ...]:
    names = [name for package, name in known.items() if package in packages or _is_artifact(package, packages)]
    found = tuple(dict.fromkeys(names))
    return tuple(name for name in found if name not in _BENEATH) or found


def _writes_mails(packages: frozenset[str]) -> bool:
    """Whether a package needs React for mails alone."""
    return "react-dom" not in packages and any(re.match(r"react-email$|@react-email/", each) for each in packages)


def _is_artifact(known: str, packages: frozenset[str]) -> bool:
    """Quarkus, Micronaut and Javalin name many artifacts after themselves; a catalog of versions writes `ktorLibs.server.core`."""
    if known == "ktor-server-core":
        return any(re.search(r"ktor\w*[-.]server\b", package) for package in packages)
    return known in ("quarkus", "micronaut", "javalin") and any(
        package.startswith((known, "io." + known)) for package in packages
    )


def frontend_of(stacks: Iterable[Stack], weight: Callable[[str], int]) -> str | None:
    """The folder of the main frontend; "" for the root, None where none is the main one.

    `weight` says how much there is in a folder, for a project with several in folders of no usual name.
    """
    return _main([stack for stack in stacks if stack.role == "frontend"], FRONTEND_FOLDERS, weight)


def backend_of(stacks: Iterable[Stack], weight: Callable[[str], int]) -> str | None:
    """The folder of the main backend, as `frontend_of` has the frontend's."""
    return _main([stack for stack in stacks if stack.role == "backend"], BACKEND_FOLDERS, weight)


def _main(stacks: list[Stack], folders: tuple[str, ...], weight: Callable[[str], int]) -> str | None:
    """A folder with one of the usual names before the root, one near the root before one below; else the one with most."""
    names = [*folders, ""]
    usual = [stack for stack in stacks if posixpath.basename(stack.folder) in names]
    if usual:
        return min(
            usual,
            key=lambda stack: (names.index(posixpath.basename(stack.folder)), stack.folder.count("/"), stack.folder),
        ).folder
    weights = {stack.folder: weight(stack.folder) for stack in stacks}
    first = max(sorted(weights), key=weights.__getitem__, default=None)
    return first if first is not None and 2 * weights[first] >= sum(weights.values()) else None

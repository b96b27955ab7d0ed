"""Reads what a manifest says of its project: the language, and the packages that it depends on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import takewhile

from rag_ls.util.decoding import read_json, read_toml
from rag_ls.util.records import dataclass


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


_SERVERS = frozenset({"uvicorn", "gunicorn", "hypercorn", "daphne", "waitress", "granian"})
_DEVELOPMENT = re.compile(r"(?i)dev|test|lint|docs?|typ(?:es|ing)|format|^ci$|check|build|bench")
"""The groups of dependencies that the product does not run on."""
_PACKAGE_KEYS = ("dependencies", "devDependencies", "peerDependencies", "scripts", "version", "workspaces")


def read_manifest(name: str, text: str) -> Manifest | None:
    """The declarations of a file of this name; None for a file that is no manifest, or declares nothing."""
    for pattern, reader in _READERS:
        if pattern.search(name):
            return reader(text)
    return None


def _package_json(text: str) -> Manifest | None:
    try:
        data = read_json(text)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    if not any(key in data for key in _PACKAGE_KEYS):
        # A stub in a folder only tells how to read the folder's files.
        return None
    tables = {key: _keys(data.get(key)) for key in ("dependencies", "devDependencies", "peerDependencies")}
    everything = tables["dependencies"] | tables["devDependencies"]
    exported = any(key in data for key in ("exports", "module", "types", "files"))
    published = bool(tables["peerDependencies"]) or (exported and data.get("private") is not True)
    if "workspaces" in data:
        # In the root of a workspace, the development dependencies are those of its packages.
        tables["devDependencies"] = frozenset()
    language = "typescript" if "typescript" in everything else "javascript"
    return Manifest(language, tables["dependencies"], tables["devDependencies"], published)


def _pyproject(text: str) -> Manifest | None:
    try:
        data = read_toml(text)
    except ValueError:
        return None
    project, poetry = _table(data, "project"), _table(data, "tool", "poetry")
    groups = {name: given for name, given in _table(data, "dependency-groups").items() if not _DEVELOPMENT.search(name)}
    if not project and not poetry and not groups and "build-system" not in data:
        return None
    packages = set[str]()
    for declared in (project.get("dependencies"), *groups.values()):
        packages |= _requirements(declared if isinstance(declared, list) else [])
    packages |= {name.lower() for name in _table(poetry, "dependencies") if name != "python"}
    name = str(project.get("name") or poetry.get("name") or "").lower()
    return Manifest("python", frozenset(packages), published=_extends(name, packages))


def _requirements_txt(text: str) -> Manifest | None:
    return Manifest("python", frozenset(_requirements(text.splitlines())))


def _setup(text: str) -> Manifest | None:
    """`setup.py`, `setup.cfg`: the names of frameworks in its text are all that is asked of it. Other modules are called so, too."""
    if not re.search(r"setuptools|distutils|skbuild|install_requires|^\[(?:metadata|options)", text, re.MULTILINE):
        return None
    match = re.search(r"install_requires\s*=\s*(?:\[([^\]]*)\])?", text)
    if match is None or match[1] is not None:
        lines = re.findall(r"[\"']([^\"'\n]+)[\"']", match[1]) if match else []
    else:
        lines = list(takewhile(lambda line: line[:1].isspace(), text[match.end() :].lstrip("\n").splitlines()))
        lines = [text[match.end() :].split("\n", 1)[0], *lines]
    name = re.search(r"^[ \t]*name\s*=\s*[\"']?([\w.-]+)", text, re.MULTILINE)
    packages = _requirements(lines)
    return Manifest("python", frozenset(packages), published=bool(name and _extends(name[1].lower(), packages)))


def _extends(name: str, packages: Collection[str]) -> bool:
    """Whether a package extends a framework by its name, and is no application, which brings a server."""
    return name.startswith(("flask-", "django-", "fastapi-")) and _SERVERS.isdisjoint(packages)


def _requirements(lines: Iterable[object]) -> set[str]:
    names = (re.match(r"\s*([A-Za-z0-9][\w.-]*)", line) for line in lines if isinstance(line, str))
    return {match[1].lower().replace("_", "-") for match in names if match}


def _go_mod(text: str) -> Manifest | None:
    direct = (line for line in text.splitlines() if "// indirect" not in line)
    found = (re.match(r"\s*(?:require\s+)?([\w.-]+\.[\w-]+/\S+)\s+v", line) for line in direct)
    return Manifest("go", frozenset(re.sub(r"/v\d+$", "", match[1].lower()) for match in found if match))


def _cargo(text: str) -> Manifest | None:
    try:
        data = read_toml(text)
    except ValueError:
        return None
    return Manifest("rust", frozenset(_keys(data.get("dependencies")))) if "package" in data else None


def _jvm(text: str) -> Manifest | None:
    """`pom.xml`, `build.gradle`: artifacts and plugins by their names."""
    words = re.findall(r"[\w.-]*(?:spring|quarkus|micronaut|ktor|android|javalin|dropwizard)[\w.-]*", text.lower())
    language = "kotlin" if re.search(r"kotlin[-\"'(.]", text) else "java"
    return Manifest(language, frozenset(words))


def _composer(text: str) -> Manifest | None:
    try:
        data = read_json(text)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    published = data.get("type") in ("library", "symfony-bundle", "composer-plugin")
    return Manifest("php", frozenset(_keys(data.get("require"))), published=published)


def _gemfile(text: str) -> Manifest | None:
    gems = re.findall(r"^[ \t]*gem\s*\(?\s*[\"']([\w-]+)", text, re.MULTILINE)
    return Manifest("ruby", frozenset(gems), published=bool(re.search(r"^[ \t]*gemspec\b", text, re.MULTILINE)))


def _mix(text: str) -> Manifest | None:
    lines = re.findall(r"\{\s*:(\w+)\s*,([^}\n]*)", text)
    names = frozenset(name for name, rest in lines if "optional: true" not in rest and "only:" not in rest)
    # An application may name its licence for those who fork it.
    is_application = "phoenix" in names and bool(re.search(r"\bmod:\s*\{", text))
    return Manifest("elixir", names, published="package:" in text and not is_application)


def _csproj(text: str) -> Manifest | None:
    sdk = re.findall(r"<Project\s[^>]*Sdk=\"([^\"]+)\"", text)
    packages = re.findall(r"<(?:PackageReference|FrameworkReference)\s[^>]*Include=\"([^\"]+)\"", text)
    return Manifest("csharp", frozenset(name.lower() for name in [*sdk, *packages]))


def _keys(value: object) -> frozenset[str]:
    return frozenset(str(key).lower() for key in value) if isinstance(value, dict) else frozenset()


def _table(data: dict[str, object], *names: str) -> dict[str, object]:
    value: object = data
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


_READERS: tuple[tuple[re.Pattern[str], Callable[[str], Manifest | None]], ...] = (
    (re.compile(r"^package\.json$"), _package_json),
    (re.compile(r"^pyproject\.toml$"), _pyproject),
    (re.compile(r"^requirements(?![\w.-]*(?:dev|test|doc|lint))[\w.-]*\.txt$"), _requirements_txt),
    (re.compile(r"^setup\.(?:cfg|py)$"), _setup),
    (re.compile(r"^go\.mod$"), _go_mod),
    (re.compile(r"^Cargo\.toml$"), _cargo),
    (re.compile(r"^(?:pom\.xml|build\.gradle(?:\.kts)?)$"), _jvm),
    (re.compile(r"^composer\.json$"), _composer),
    (re.compile(r"^Gemfile$"), _gemfile),
    (re.compile(r"^mix\.exs$"), _mix),
    (re.compile(r"\.csproj$"), _csproj),
)

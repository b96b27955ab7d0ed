"""Finds packages that one folder alone imports: a database, a framework, a client that the rest does not know."""

from __future__ import annotations

import posixpath
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from rag_ls.languages import family_of
from rag_ls.rules.survey.findings import MAX_EXAMPLES, SourceLine, SurveyFinding, folders_above, lowest_folder
from rag_ls.rules.survey.imports import Imports

TOPIC = "imports"

_MIN_FILES, _MIN_WITH_EXCEPTIONS = 5, 6
"""Of fewer files that share a package, one elsewhere says that they share it by chance."""
_MIN_SHARE_OF_FOLDER, _MAX_SHARE_OF_PRODUCT = 0.3, 0.5
_MIN_SHARE = 0.85
"""With more files elsewhere a package has no home."""
_MAX_FINDINGS = 6
_NODE = frozenset(
    "assert async_hooks buffer child_process cluster console crypto dns events fs http http2 https net os path perf_hooks process "
    "querystring readline stream string_decoder timers tls tty url util v8 vm worker_threads zlib".split()
)
# Frameworks that a project is built on: importing them directly is usual, and needs no rule.
_FRAMEWORKS = re.compile(
    r"(?:@?(?:react|vue|angular|nestjs|svelte|sveltejs|remix-run|astro|next|nuxt|rxjs|express|koa|fastify|hono|solid)\b|fastapi|starlette|flask|django|rest_framework"
    r"|alembic|org\.springframework|Illuminate|Laravel|Symfony|Microsoft\.AspNetCore|Microsoft\.Extensions|axum|actix|io\.(?:ktor|micronaut|quarkus))",
    re.I,
)
# The number of parts of a module's name that name the package.
_PARTS = {"java": 3, "kotlin": 3, "csharp": 2, "php": 2}
_JVM = r"(?:javax?|kotlin|jakarta)\."
_STANDARD = {
    "java": _JVM, "kotlin": _JVM, "csharp": r"System\b", "rust": r"(?:std|core|alloc|crate|self|super)\b",
    "typescript": r"[./~#$]|@/|\w+:",
}  # fmt: skip


def package_findings(
    imports: Imports, languages: Mapping[str, str], stacks: Collection[str] = ()
) -> Iterator[SurveyFinding]:
    """`languages` has the language of each file of the product.

    `stacks` are the folders with a manifest. That the folder of a whole stack, or one called after the package, holds its
    imports is worth no line.
    """
    whole = {posixpath.join(stack, inner).rstrip("/") for stack in stacks for inner in ("", "src", "lib")}
    own = {posixpath.dirname(path).replace("/", ".") for path in languages}
    users: dict[tuple[str, str], dict[str, int]] = {}
    for path, edge in imports:
        name = package_of(edge.module, family := family_of(languages[path]))
        if edge.target:
            own.add(name)
        elif name and not _FRAMEWORKS.match(name):
            users.setdefault((family, name), {}).setdefault(path, edge.line)
    files = Counter((family_of(each), folder) for path, each in languages.items() for folder in folders_above(path))
    totals = Counter(map(family_of, languages.values()))
    found, homes = list[SurveyFinding](), dict[str, set[str]]()
    for (family, name), lines in sorted(users.items(), key=lambda user: -len(user[1])):
        folder = lowest_folder(lines) if len(lines) >= _MIN_FILES else ""
        inside = sorted(path for path in lines if path.startswith(folder + "/"))
        least = max(
            _MIN_FILES if len(inside) == len(lines) else _MIN_WITH_EXCEPTIONS, _MIN_SHARE_OF_FOLDER * files[family, folder],
            _MIN_SHARE * len(lines),
        )  # fmt: skip
        is_widespread = files[family, folder] > _MAX_SHARE_OF_PRODUCT * totals[family]
        # The files of a project's own package may be made by a generator; parts of one library are told once.
        is_said = 2 * len(homes.get(folder, set()).intersection(inside)) > len(inside) or _is_called_after(folder, name)
        if not folder or is_widespread or len(inside) < least or is_said or folder in whole or _is_own(name, own):
            continue
        homes.setdefault(folder, set()).update(inside)
        claim = f"Files that import `{name}` lie in `{folder}/`"
        identity = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
        rule = {"id": f"{identity}-stays", "forbid_imports": name, "not_files": [f"{folder}/**"], "message": claim}
        found.append(
            SurveyFinding(
                TOPIC, claim, len(inside), len(lines), tuple(SourceLine(path, lines[path]) for path in inside[:MAX_EXAMPLES]),
                exceptions=tuple(sorted(set(lines).difference(inside))), rule=rule,
            )
        )  # fmt: skip
    yield from sorted(found, key=lambda finding: (-finding.count, finding.claim))[:_MAX_FINDINGS]


def _is_own(package: str, own: Collection[str]) -> bool:
    """Whether a package is one whose files the project holds, or a folder of it."""
    return any(each == package or each.endswith(f".{package}") for each in own)


def _is_called_after(folder: str, package: str) -> bool:
    """Whether a part of a folder's path is in the package's name, or holds it: `plugins/tmdb` and `TMDbLib`."""
    parts, name = re.findall(r"[a-z]{4,}", folder.lower()), package.lower()
    return any(part in name or name in part for part in parts)


def package_of(module: str, family: str) -> str:
    """The package that a module is of; "" for one of the language itself, and for a file of the project."""
    if not module or (family in _STANDARD and re.match(_STANDARD[family], module)):
        return ""
    if family == "typescript":
        parts = module.split("/")
        name = "/".join(parts[:2]) if module.startswith("@") else parts[0]
        return "" if name in _NODE else name
    if family == "python":
        name = module.partition(".")[0]
        return "" if name in sys.stdlib_module_names else name
    if family == "go":
        parts = module.split("/")
        return "/".join(parts[:3]) if "." in parts[0] else ""
    if family == "rust":
        return module.partition("::")[0]
    if family in _PARTS:
        separator = "\\" if family == "php" else "."
        parts = module.strip("\\").split(separator)[: _PARTS[family]]
        if family in ("java", "kotlin"):
            # A class is not a package.
            parts = [part for part in parts if part.islower()]
        return separator.join(parts) if len(parts) > 1 else ""
    return ""

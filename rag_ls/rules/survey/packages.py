"""Finds packages that one folder alone imports: a database, a framework, a client that the rest does not know."""

from __future__ import annotations

import posixpath
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from rag_ls.languages import family_of
from rag_ls.rules.survey.findings import (
    MAX_EXAMPLES,
    SourceLine,
    SurveyFinding,
    folders_above,
    lowest_folder,
)

TOPIC = "imports"

_MIN_FILES = 5
_MIN_WITH_EXCEPTIONS = 6
"""Of fewer files that share a package, one elsewhere says that they share it by chance."""
_MIN_SHARE_OF_FOLDER = 0.3
_MAX_SHARE_OF_PRODUCT = 0.5
_MAX_FINDINGS = 6
_NODE = frozenset(
    "assert async_hooks buffer child_process cluster console crypto dns events fs http http2 https net os path perf_hooks process "
    "querystring readline stream string_decoder timers tls tty url util v8 vm worker_threads zlib".split()
)
_MIN_SHARE = 0.85
"""With more files elsewhere a package has no home."""
_GENERAL_WORDS = frozenset(
    "src app apps lib libs main core common server client com org net github api web sdk tools".split()
)
_MIN_WORD = 4
# Frameworks that a project is built on: importing them directly is usual, and needs no rule.
_FRAMEWORKS = re.compile(
    r"(?:@?(?:react|vue|angular|nestjs|svelte|sveltejs|remix-run|astro|next|nuxt|rxjs|express|koa|fastify|hono|solid)\b|fastapi|starlette|flask|django|rest_framework"
    r"|alembic|org\.springframework|Illuminate|Laravel|Symfony|Microsoft\.AspNetCore|Microsoft\.Extensions|axum|actix|io\.(?:ktor|micronaut|quarkus))",
    re.I,
)
# The number of parts of a module's name that name the package.
_PARTS = {"java": 3, "kotlin": 3, "csharp": 2, "php": 2}
_JVM = r"(?:javax?|kotlin|jakarta)\."
_STANDARD = {"java": _JVM, "kotlin": _JVM, "csharp": r"System\b", "rust": r"(?:std|core|alloc)\b"}


def package_findings(
    modules: Iterable[tuple[str, str, int]], languages: Mapping[str, str], stacks: Collection[str] = ()
) -> Iterator[SurveyFinding]:
    """`modules` are the imports of what is not the project's; `languages` has the language of each file of the product.

    `stacks` are the folders with a manifest. That the folder of a whole stack, or one called after the package, holds its
    imports is worth no line.
    """
    whole = {posixpath.join(stack, inner).rstrip("/") for stack in stacks for inner in ("", "src", "lib")}
    users: dict[tuple[str, str], dict[str, int]] = {}
    own = {end for folder in {posixpath.dirname(path) for path in languages} for end in _ends_of(folder)}
    for path, module, line in modules:
        if path not in languages:
            continue
        name = package_of(module, family := family_of(languages[path]))
        # The project's own packages, too, may have files that a generator has yet to make.
        if name and not _FRAMEWORKS.match(name) and name.replace(".", "/") not in own:
            users.setdefault((family, name), {}).setdefault(path, line)
    files = Counter(
        (family_of(language), folder) for path, language in languages.items() for folder in folders_above(path)
    )
    totals = Counter(family_of(language) for language in languages.values())
    found = []
    homes: dict[str, set[str]] = {}
    for (family, name), lines in sorted(users.items(), key=lambda user: -len(user[1])):
        folder = lowest_folder(lines) if len(lines) >= _MIN_FILES else ""
        inside = sorted(path for path in lines if path.startswith(folder + "/"))
        in_folder = files[family, folder]
        least = _MIN_FILES if len(inside) == len(lines) else _MIN_WITH_EXCEPTIONS
        is_widespread = in_folder > _MAX_SHARE_OF_PRODUCT * totals[family]
        if not folder or is_widespread or len(inside) < max(least, _MIN_SHARE_OF_FOLDER * in_folder):
            continue
        if len(inside) < _MIN_SHARE * len(lines) or folder in whole or _is_called_after(folder, name):
            continue
        # Parts of one library are told once: `lexical` beside `@lexical/react`.
        if 2 * len(homes.get(folder, set()).intersection(inside)) > len(inside):
            continue
        homes.setdefault(folder, set()).update(inside)
        outside = tuple(sorted(set(lines) - set(inside)))
        claim = f"Files that import `{name}` lie in `{folder}/`"
        rule = {
            "id": f"{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-')}-stays", "forbid_imports": name, "not_files": [f"{folder}/**"],
            "message": claim,
        }  # fmt: skip
        places = tuple(SourceLine(path, lines[path]) for path in inside[:MAX_EXAMPLES])
        found.append(
            SurveyFinding(
                topic=TOPIC,
                claim=claim,
                count=len(inside),
                total=len(lines),
                examples=places,
                exceptions=outside,
                rule=rule,
            )
        )
    yield from sorted(found, key=lambda finding: (-finding.count, finding.claim))[:_MAX_FINDINGS]


def _is_called_after(folder: str, package: str) -> bool:
    """Whether a part of a folder's path is a word of the package's name, or begins as one: `plugins/tmdb` and `TMDbLib`."""
    words = {word for word in re.findall(r"[a-z]+", package.lower()) if len(word) >= _MIN_WORD} - _GENERAL_WORDS
    parts = {word for word in re.findall(r"[a-z]+", folder.lower()) if len(word) >= _MIN_WORD} - _GENERAL_WORDS
    return any(word.startswith(part) or part.startswith(word) for word in words for part in parts)


def package_of(module: str, family: str) -> str:
    """The package that a module is of; "" for one of the language itself, and for a file of the project."""
    if family == "typescript":
        if module.startswith((".", "/", "@/", "~", "#", "$", "node:")) or ":" in module:
            return ""
        parts = module.split("/")
        name = "/".join(parts[:2]) if module.startswith("@") else parts[0]
        return "" if name in _NODE else name
    if family == "python":
        name = module.partition(".")[0]
        return "" if not name or name in sys.stdlib_module_names else name
    if family == "go":
        parts = module.split("/")
        return "/".join(parts[:3]) if "." in parts[0] else ""
    if family in _STANDARD and re.match(_STANDARD[family], module):
        return ""
    if family == "rust":
        name = module.partition("::")[0]
        return "" if name in ("crate", "self", "super") else name
    if family in _PARTS:
        separator = "\\" if family == "php" else "."
        parts = module.strip("\\").split(separator)[: _PARTS[family]]
        if family in ("java", "kotlin"):
            # A class is not a package.
            parts = [part for part in parts if not part[:1].isupper()]
        return separator.join(parts) if len(parts) > 1 else ""
    return ""


def _ends_of(folder: str) -> Iterator[str]:
    """`a/b/c`, `b/c` and `c`."""
    while folder:
        yield folder
        folder = folder.partition("/")[2]

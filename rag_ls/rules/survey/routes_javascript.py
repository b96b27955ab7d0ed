"""Reads routes of Express, Koa, Hono, Fastify, NestJS and Next.js."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_ls.rules.survey.brackets import arguments, chain
from rag_ls.rules.survey.routes import ANY, QUOTED, Endpoint, first_string, join_routes, methods_of, strings
from rag_ls.rules.survey.sources import SurveyedFile

_VERBS = "get|post|put|patch|delete|all|head|options"
# A file without such a call has no routes; this is cheap to see.
_ANY_CALL = re.compile(rf"\.\s*(?:{_VERBS}|del|route)\s*[(<]")
_CALL = re.compile(rf"\b(\w+)\s*\.\s*({_VERBS}|del)\s*(?:<[^<>()\n]*>\s*)?\(\s*{QUOTED}\s*,")
_ROUTE = re.compile(rf"\b(\w+)\s*\.\s*route\s*\(\s*(?:{QUOTED}\s*\)|(?=\{{))")
_ROUTER = re.compile(
    r"\b(\w+)\s*(?::[^=\n]{1,80})?=\s*(?:await\s+)?(?:new\s+)?(?:\w+\.)?"
    r"(?:express|Router|KoaRouter|Hono|OpenAPIHono|fastify|Fastify|polka|restify)\s*(?:<[^>\n]*>\s*)?\("
)
_MOUNT = re.compile(rf"\b(?:\w+)\s*\.\s*(?:use|route|register)\s*\(\s*{QUOTED}\s*,")
_MOUNTED = re.compile(r"^\s*(\w+)(?:\s*\.\s*routes\s*\(\s*\))?\s*$")
_OWN_PREFIX = re.compile(rf"\bprefix\s*:\s*{QUOTED}")
_SET_PREFIX = re.compile(rf"\b(\w+)\s*\.\s*(?:prefix|basePath)\s*\(\s*{QUOTED}")
# What routes are usually called; a client called `api` or `http` has the same methods.
_ROUTER_NAME = re.compile(r"^(?:app|router|server|route|routes|fastify|\w*(?:Router|Routes|App))$")
_DECORATOR = re.compile(r"@(Controller|Get|Post|Put|Patch|Delete|All|Head|Options)\s*\(")
_NEXT_FILE = re.compile(r"(?:^|/)app/((?:[^/]+/)*)route\.[jt]sx?$")
_NEXT_METHOD = re.compile(
    r"^export\s+(?:async\s+)?(?:function|const)\s+(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b", re.M
)


def javascript_endpoints(source: SurveyedFile) -> Iterator[Endpoint]:
    yield from _routers(source)
    if "@Controller" in source.code:
        yield from _nest(source)
    if match := _NEXT_FILE.search("/" + source.path):
        folders = [part for part in match[1].split("/") if part and not part.startswith(("(", "@"))]
        for method in source.find(_NEXT_METHOD):
            yield Endpoint(method[1], join_routes(*folders), source.line(method.start()))


def _routers(source: SurveyedFile) -> Iterator[Endpoint]:
    if not _ANY_CALL.search(source.code):
        return
    prefixes = _prefixes(source)
    for match in source.find(_CALL):
        if not match[3].startswith(("/", "*", ":")) and match[3]:
            continue
        if match[1] in prefixes or _ROUTER_NAME.match(match[1]):
            method = {"all": ANY, "del": "DELETE"}.get(match[2], match[2].upper())
            yield Endpoint(method, join_routes(prefixes.get(match[1], ""), match[3]), source.line(match.start()))
    for match in source.find(_ROUTE):
        if match[1] not in prefixes and not _ROUTER_NAME.match(match[1]):
            continue
        if match[2] is None:
            yield from _fastify(source, match, prefixes.get(match[1], ""))
            continue
        for name, opening in chain(source, match.end()):
            if re.fullmatch(_VERBS, name):
                method = ANY if name == "all" else name.upper()
                line = source.line(source.bare.rfind(".", 0, opening))
                yield Endpoint(method, join_routes(prefixes.get(match[1], ""), match[2]), line)


def _fastify(source: SurveyedFile, match: re.Match[str], prefix: str) -> Iterator[Endpoint]:
    """`fastify.route({ method: 'GET', url: '/x' })`"""
    fields = {part.partition(":")[0].strip(): part.partition(":")[2] for _, part in arguments(source, match.end())}
    if "url" in fields and (route := first_string(fields["url"])) is not None:
        for method in methods_of(strings(fields.get("method", ""))):
            yield Endpoint(method, join_routes(prefix, route), source.line(match.start()))


def _prefixes(source: SurveyedFile) -> dict[str, str]:
    """The routers that the file makes, each with the prefix under which the file mounts it."""
    prefixes: dict[str, str] = {}
    for match in source.find(_ROUTER):
        call = source.code[match.end() : source.closing(match.end() - 1, 1000)]
        own = _OWN_PREFIX.search(call)
        prefixes[match[1]] = own[1] if own else ""
    for match in source.find(_SET_PREFIX):
        if match[1] in prefixes:
            prefixes[match[1]] = match[2]
    for match in source.find(_MOUNT):
        parts = arguments(source, source.bare.index("(", match.start()), 600)
        mounted = _MOUNTED.match(parts[-1][1]) if parts else None
        if mounted and mounted[1] in prefixes and match[1].startswith("/"):
            prefixes[mounted[1]] = join_routes(match[1], prefixes[mounted[1]])
    return prefixes


def _nest(source: SurveyedFile) -> Iterator[Endpoint]:
    prefix = ""
    for match in source.find(_DECORATOR):
        text = source.code[match.end() : source.closing(match.end() - 1, 1000)]
        if match[1] == "Controller":
            path = re.search(rf"\bpath\s*:\s*{QUOTED}", text)
            prefix = path[1] if path else first_string(text) or ""
            continue
        method = ANY if match[1] == "All" else match[1].upper()
        for route in strings(text) if text.lstrip().startswith("[") else [first_string(text) or ""]:
            yield Endpoint(method, join_routes(prefix, route), source.line(match.start()))

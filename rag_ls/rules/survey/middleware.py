"""Finds what stands around the handlers: middleware, guards, filters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rag_ls.rules.survey.brackets import arguments, name_in
from rag_ls.rules.survey.findings import SurveyFinding, Tally, list_names
from rag_ls.rules.survey.forms import Form, form
from rag_ls.rules.survey.routes import first_string, strings
from rag_ls.rules.survey.sources import JAVASCRIPT, JVM, SurveyedFile

TOPIC = "middleware"

Names = Callable[[SurveyedFile, re.Match[str]], Iterable[str]]


def _values(source: SurveyedFile, match: re.Match[str]) -> Iterator[str]:
    """The names of the arguments, without the paths in front of them."""
    for _, part in arguments(source, match.end() - 1):
        if first_string(part) is None:
            yield name_in(part)


def _first(source: SurveyedFile, match: re.Match[str]) -> Iterator[str]:
    parts = arguments(source, match.end() - 1)
    if parts:
        yield first_string(parts[0][1]) or name_in(parts[0][1])


def _group(source: SurveyedFile, match: re.Match[str]) -> Iterator[str]:
    yield match[1]


def _strings(source: SurveyedFile, match: re.Match[str]) -> Iterator[str]:
    """The strings in the brackets: the names of middleware, without their arguments."""
    for text in strings(source.code[match.end() : source.closing(match.end() - 1, 8000)]):
        yield text.partition(":")[0]


def _classes(source: SurveyedFile, match: re.Match[str]) -> Iterator[str]:
    """The last part of each dotted name in the brackets."""
    yield from (name.rpartition(".")[2] for name in _strings(source, match))


def _symbols(source: SurveyedFile, match: re.Match[str]) -> Iterator[str]:
    """`before_action :a, :b, only: ...`"""
    head = re.split(r"\b\w+:(?!:)|=>", match[1])[0]
    yield from re.findall(r":(\w+[?!]?)", head)


def _way(
    languages: Iterable[str], label: str, mark: str, pattern: str, names: Names, *needs: str
) -> tuple[Form, Names]:
    """A way to register middleware. A match ends in the bracket of the call, or the name is its first group."""
    return form(languages, label, mark, pattern, *needs), names


_GO_SERVER = ("gin-gonic/gin", "go-chi/chi", "labstack/echo", "gofiber/fiber", "gorilla/mux", "urfave/negroni")
_SERVER = ("express", "koa", "hono", "Hono", "polka", "connect(", "restify", "Router", "fastify")
_WAYS = (
    _way(JAVASCRIPT, "app.use", "use", r"\b(?:app|server|router|api|\w*(?:Router|App|Routes))\s*\.\s*use\s*\(", _values, *_SERVER),
    _way(JAVASCRIPT, "fastify.register", "register", r"\b(?:fastify|app|server|instance)\s*\.\s*register\s*\(", _first, "fastify"),
    _way(JAVASCRIPT, "@UseGuards", "@UseGuards", r"@UseGuards\s*\(", _values),
    _way(JAVASCRIPT, "@UseInterceptors", "@UseInterceptors", r"@UseInterceptors\s*\(", _values),
    _way(JAVASCRIPT, "@UsePipes", "@UsePipes", r"@UsePipes\s*\(", _values),
    _way(JAVASCRIPT, "@UseFilters", "@UseFilters", r"@UseFilters\s*\(", _values),
    _way(JAVASCRIPT, "app.useGlobal...", "useGlobal", r"\.\s*useGlobal(?:Pipes|Guards|Filters|Interceptors)\s*\(", _values),
    _way(JAVASCRIPT, "consumer.apply", "consumer", r"\bconsumer\s*\.\s*apply\s*\(", _values),
    _way(["python"], "MIDDLEWARE", "MIDDLEWARE", r"^MIDDLEWARE(?:_CLASSES)?\s*\+?=\s*[\[(]", _classes),
    _way(["python"], "add_middleware", "add_middleware", r"\.add_middleware\(", _first),
    _way(["python"], "@middleware", ".middleware", r"^[ \t]*@[\w.]+\.middleware\b[^\n]*\n\s*(?:async\s+)?def\s+(\w+)", _group),
    _way(["python"], "before_request", "_request", r"^[ \t]*@[\w.]+\.(?:before|after|teardown)_(?:app_)?request\b[^\n]*\n\s*def\s+(\w+)",
         _group),
    _way(["go"], "Use", ".Use(", r"\b\w+\.Use\(", _values, *_GO_SERVER),
    _way(["ruby"], "before_action", "_action", r"^[ \t]*(?:prepend_)?(?:before|around|after)_action[ (]([^\n]+)", _symbols),
    _way(["ruby"], "use", "use", r"^[ \t]*(?:config\.middleware\.)?use[ (]\s*([A-Z][\w:]+)", _group, "Rack", "config.middleware", "inatra"),
    _way(["php"], "middleware", "middleware(", r"(?:->|::)middleware\(", _strings),
    _way(["php"], "$app->add", "$app->add", r"\$app->add\(", _values, "Slim"),
    _way(["rust"], "layer", "layer", r"\.\s*(?:route_)?layer\s*\(", _values, "axum", "tower"),
    _way(["rust"], "wrap", "wrap", r"\.\s*wrap\s*\(", _values, "actix"),
    _way(["csharp"], "app.Use...", "Use", r"\bapp\s*\.\s*(Use[A-Z]\w*)\s*[(<]", _group),
    _way(JVM, "filter", "class",
         r"\bclass\s+(\w+)[^{\n]*\b(?:OncePerRequestFilter|HandlerInterceptor|WebFilter|implements\s+Filter)\b", _group),
    _way(JVM, "addInterceptor", "addInterceptor", r"\.\s*addInterceptor\s*\(", _first, "springframework"),
    _way(["elixir"], "plug", "plug", r"^[ \t]*plug[ (]\s*:?([\w.]+)", _group),
)  # fmt: skip
_NO_MIDDLEWARE = re.compile(
    r"(^|[._])(router|routes?|Router|Routes)$|^\w+(?:Router|Routes|routes)$|^Use(?:Endpoints|Routing)$"
)


@dataclass(slots=True)
class Middleware:
    """Gathers the registrations of all files."""

    ways: Tally
    names: dict[str, Tally]

    def read(self, source: SurveyedFile) -> None:
        for way, names_in in _WAYS:
            for match in way.find(source):
                names = [name for name in names_in(source, match) if name and not _NO_MIDDLEWARE.search(name)]
                place = source.place(match)
                for name in names:
                    self.ways.add(way.label, place)
                    self.names.setdefault(way.label, Tally()).add(name, place)

    def findings(self) -> Iterator[SurveyFinding]:
        for label in self.ways.most_common():
            names = self.names[label]
            claim = f"`{label}` registers {list_names(names.most_common(1))}"
            yield self.ways.finding(TOPIC, claim, label, 0)
            for name in names.most_common():
                if len(names.counts) > 1:
                    yield names.finding(TOPIC, f"`{name}` is registered with `{label}`", name)

    def all_names(self) -> tuple[str, ...]:
        """Every middleware that is registered, also once, the most frequent first."""
        together = Tally()
        for names in self.names.values():
            for name, count in names.counts.items():
                together.counts[name] = together.count(name) + count
        return tuple(together.most_common(1))


def gather_middleware() -> Middleware:
    return Middleware(Tally(), {})

"""Finds the endpoints that a file declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rag_ls.rules.survey.routes import Endpoint
from rag_ls.rules.survey.routes_annotated import aspnet_endpoints, spring_endpoints
from rag_ls.rules.survey.routes_go import go_endpoints
from rag_ls.rules.survey.routes_javascript import javascript_endpoints
from rag_ls.rules.survey.routes_php import php_endpoints
from rag_ls.rules.survey.routes_python import python_endpoints
from rag_ls.rules.survey.routes_ruby import ruby_endpoints
from rag_ls.rules.survey.routes_rust import rust_endpoints
from rag_ls.rules.survey.sources import JAVASCRIPT, JVM, SurveyedFile, source_of

__all__ = ["Endpoint", "endpoints_in", "endpoints_of"]

_READERS: dict[str, Callable[[SurveyedFile], Iterator[Endpoint]]] = {
    **dict.fromkeys(JAVASCRIPT, javascript_endpoints),
    "python": python_endpoints,
    **dict.fromkeys(JVM, spring_endpoints),
    "csharp": aspnet_endpoints,
    "go": go_endpoints,
    "rust": rust_endpoints,
    "php": php_endpoints,
    "ruby": ruby_endpoints,
}


def endpoints_in(path: str, language: str, text: str) -> list[Endpoint]:
    """The endpoints that a file declares, by line."""
    return endpoints_of(source_of(path, language, text)) if language in _READERS else []


def endpoints_of(source: SurveyedFile) -> list[Endpoint]:
    """The endpoints of a source, by line; the same one twice on a line counts once."""
    reader = _READERS.get(source.language)
    found = dict.fromkeys(reader(source)) if reader else {}
    return sorted(found, key=lambda endpoint: endpoint.line)

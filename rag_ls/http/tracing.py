"""Spans of requests for OpenTelemetry, sent where the user's environment says, if the extra `otel` is installed.

Names and attributes: OpenTelemetry's semantic conventions for HTTP servers. A span holds the route as it is declared,
never a request's own path, question or answer.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator

from opentelemetry import propagate, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from starlette.datastructures import Headers
from starlette.types import Scope

import rag_ls
from rag_ls.http.exchange import Exchange
from rag_ls.util.installation import extra_command
from rag_ls.util.masks import mask_secrets

_log = logging.getLogger(__name__)

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def start_exporting() -> None:
    """Send spans to the collector that the environment names. Does nothing if none is named or if it is done already."""
    endpoint = next(filter(None, map(os.environ.get, _ENDPOINTS)), "")
    if not endpoint:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        _log.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, but no spans are sent: `%s`", extra_command("otel"))
        return
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return
    resource = Resource.create({"service.version": rag_ls.__version__})
    if resource.attributes.get("service.name", "").startswith("unknown_service"):  # type: ignore[union-attr]
        resource = resource.merge(Resource({"service.name": "rag-ls"}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    _log.info("spans go to %s", mask_secrets(endpoint))


def send_rest() -> None:
    """Send the spans that still wait."""
    if (flush := getattr(trace.get_tracer_provider(), "force_flush", None)) is not None:
        flush(2000)


@contextlib.contextmanager
def request_span(scope: Scope, exchange: Exchange) -> Iterator[Span]:
    """The span of one request, below the caller's own if it sent one (W3C Trace Context)."""
    caller = propagate.extract(Headers(scope=scope))
    method = str(scope["method"])
    tracer = trace.get_tracer("rag-ls", rag_ls.__version__)
    attributes = {"http.request.method": method, "rag_ls.request_id": exchange.request_id}
    with tracer.start_as_current_span(method, caller, SpanKind.SERVER, attributes, record_exception=False) as span:
        yield span


def describe(span: Span, method: str, exchange: Exchange, status: int) -> None:
    """Add to a span the facts that are known when its request is answered."""
    route = exchange.route or "other"
    span.update_name(f"{method} {route}")
    span.set_attributes({"http.route": route, "http.response.status_code": status})
    if exchange.error:
        span.set_attribute("error.type", exchange.error)
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))

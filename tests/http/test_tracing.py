"""Spans of requests, as a collector receives them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

from rag_ls.http import tracing
from tests.http.conftest import Served
from tests.support import PATIENCE_S

_TRACE, _PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class _Collector:
    """Receives OTLP over HTTP, as protobuf."""

    def __init__(self) -> None:
        received = self.received = queue.Queue[ExportTraceServiceRequest]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                received.put(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Collector]:
    """A collector that the environment names, in a process that sends spans nowhere else."""
    collector = _Collector()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", None)
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER_SET_ONCE", type(_once())())
    tracing.start_exporting()
    yield collector
    _provider().shutdown()
    collector.server.shutdown()


def _once() -> object:
    from opentelemetry import trace

    return trace._TRACER_PROVIDER_SET_ONCE


def _provider() -> TracerProvider:
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    return provider


def _received(collector: _Collector, *names: str) -> tuple[list[ExportTraceServiceRequest], dict[str, Span]]:
    """The spans of these names at least, with the requests that brought them: a span may end a moment after its answer was read."""
    sent: list[ExportTraceServiceRequest] = []
    spans: dict[str, Span] = {}
    while not spans.keys() >= set(names):
        tracing.send_rest()
        sent.append(collector.received.get(timeout=PATIENCE_S))
        spans |= {
            span.name: span for each in sent[-1].resource_spans for scope in each.scope_spans for span in scope.spans
        }
    return sent, spans


def test_a_request_is_a_span_below_the_callers_without_its_texts(collector: _Collector, two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token(), traceparent=f"00-{_TRACE}-{_PARENT}-01")
    answer = caller.post("/api/search_code", json={"query": "who refunds a payment"})
    assert caller.post("/api/get_chunk", json={"id": "none"}).status_code == 404
    sent, spans = _received(collector, "POST /api/search_code", "POST /api/get_chunk")
    resource = sent[0].resource_spans[0].resource
    assert {each.key: each.value.string_value for each in resource.attributes}["service.name"] == "rag-ls"
    span = spans["POST /api/search_code"]
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (_TRACE, _PARENT)
    told = {each.key: each.value for each in span.attributes}
    assert told["http.response.status_code"].int_value == 200
    assert told["rag_ls.request_id"].string_value == answer.headers["x-request-id"]
    failed = {each.key: each.value for each in spans["POST /api/get_chunk"].attributes}
    assert failed["error.type"].string_value == "NotFound"
    assert not any(b"refund" in each.SerializeToString() for each in sent)


def test_nothing_is_sent_unless_the_environment_names_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Resource, "create", lambda *_: pytest.fail("the SDK was set up"))
    tracing.start_exporting()

"""The counts, for Prometheus and as JSON: of requests here, and of the engine at the moment of asking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from rag_ls.embedding import CACHED_QUERIES, EMBEDDED_QUERIES, EMBEDDED_TEXTS
from rag_ls.engine import Engine
from rag_ls.errors import RagLsError
from rag_ls.search import CACHED_ANSWERS, MADE_ANSWERS
from rag_ls.util.processes import used_memory_bytes

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_CACHES = (("query_embeddings", CACHED_QUERIES, EMBEDDED_QUERIES), ("answers", CACHED_ANSWERS, MADE_ANSWERS))
_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class HttpMetrics:
    """Counts the requests of one server. Safe from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_EngineMetrics(engine))
        self._requests = Counter(
            "rag_ls_http_requests", "Requests", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "rag_ls_http_request_seconds", "Time until the answer's end", ("route",), buckets=_BUCKETS_S,
            registry=self._registry,
        )  # fmt: skip
        self._errors = Counter("rag_ls_http_errors", "Errors by type", ("type",), registry=self._registry)

    def note(self, method: str, route: str, status: int, seconds: float, error: str) -> None:
        """Count one request. `error` is its type, or empty."""
        known = method if method in ("GET", "POST", "DELETE", "PATCH", "OPTIONS", "HEAD") else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        if error:
            self._errors.labels(error).inc()

    def as_text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def as_json(self) -> dict[str, float]:
        """All counters and gauges by name; labels stand in braces. Histograms give their sum and count."""
        return {
            sample.name + _format_labels(sample.labels): sample.value
            for metric in self._registry.collect()
            for sample in metric.samples
            if not sample.name.endswith(("_bucket", "_created"))
        }


def _format_labels(labels: dict[str, str]) -> str:
    return "{" + ",".join(f"{name}={value}" for name, value in labels.items()) + "}" if labels else ""


class _EngineMetrics:
    """The engine's figures, read when somebody asks for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[Metric]:
        """As prometheus_client asks collectors."""
        engine = self._engine
        documents = GaugeMetricFamily("rag_ls_documents", "Indexed documents", labels=("project",))
        chunks = GaugeMetricFamily("rag_ls_chunks", "Chunks", labels=("project",))
        queued = GaugeMetricFamily("rag_ls_queued_documents", "Documents to be read", labels=("project",))
        pending = GaugeMetricFamily("rag_ls_pending_embeddings", "Chunks without a vector", labels=("project",))
        for project, _ in engine.projects():
            if project.is_lost:
                continue
            counts, name = project.counts(), str(project.root)
            documents.add_metric((name,), counts.documents)
            chunks.add_metric((name,), counts.chunks)
            queued.add_metric((name,), counts.queued_documents)
            pending.add_metric((name,), counts.pending_embeddings)
        yield from (documents, chunks, queued, pending)
        pushed = GaugeMetricFamily(
            "rag_ls_pushed_chunks", "Chunks of texts that programs pushed", labels=("collection",)
        )
        for name in engine.collections.names():
            with suppress(RagLsError):
                pushed.add_metric((name,), engine.collections.existing(name).count())
        yield pushed
        yield GaugeMetricFamily("rag_ls_projects_open", "Open projects", value=len(engine.projects()))
        yield GaugeMetricFamily("rag_ls_clients", "Clients of the engine", value=len(engine.clients()))
        yield GaugeMetricFamily("rag_ls_memory_bytes", "Resident memory", value=used_memory_bytes())
        yield GaugeMetricFamily("rag_ls_uptime_seconds", "Time since the start", value=engine.uptime_s)
        yield from self._models_and_caches()
        yield from self._collect_operations()

    def _models_and_caches(self) -> Iterator[Metric]:
        counts = self._engine.counts
        yield CounterMetricFamily(
            "rag_ls_embeddings", "Texts embedded, without questions", value=counts[EMBEDDED_TEXTS]
        )
        hits = CounterMetricFamily("rag_ls_cache_hits", "Answered from a cache", labels=("cache",))
        misses = CounterMetricFamily("rag_ls_cache_misses", "Not in the cache, so made", labels=("cache",))
        for name, cached, made in _CACHES:
            hits.add_metric((name,), counts[cached])
            misses.add_metric((name,), counts[made])
        yield from (hits, misses)

    def _collect_operations(self) -> Iterator[Metric]:
        calls = CounterMetricFamily("rag_ls_operations", "Operations of all surfaces", labels=("operation",))
        times = GaugeMetricFamily(
            "rag_ls_operation_ms", "Latency of the last thousand", labels=("operation", "quantile")
        )
        for name, item in self._engine.workers.latencies.summary().items():
            calls.add_metric((name,), item.count)
            for quantile, value in (("0.5", item.p50), ("0.95", item.p95), ("0.99", item.p99)):
                times.add_metric((name, quantile), value)
        yield from (calls, times)

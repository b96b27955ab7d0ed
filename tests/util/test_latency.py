"""Percentiles of what operations took."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_ls.util.threads import Latencies, percentile


def test_percentiles_of_a_known_series() -> None:
    latencies = Latencies()
    for value in range(1, 101):
        latencies.record("search", float(value))
    summary = latencies.summary()["search"]
    assert (summary.count, summary.p50, summary.p95, summary.p99) == (100, 50.0, 95.0, 99.0)


def test_the_last_thousand_count_and_all_are_counted() -> None:
    latencies = Latencies()
    for value in [1000.0] * 1000 + [1.0] * 1000:
        latencies.record("hover", value)
    summary = latencies.summary()["hover"]
    assert (summary.count, summary.p99) == (2000, 1.0)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from([50, 95, 99, 100]))
def test_a_percentile_is_one_of_the_values_and_that_share_is_not_above_it(values: list[float], share: int) -> None:
    ordered = sorted(values)
    found = percentile(ordered, share)
    assert found in ordered
    assert sum(value <= found for value in ordered) * 100 >= share * len(ordered)

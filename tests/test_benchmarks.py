"""The benchmarks can be started: nobody runs them with the tests."""

from __future__ import annotations

import sys

from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks.code import evaluate


def test_every_benchmark_can_be_imported() -> None:
    assert callable(benchmarks.main)
    assert evaluate.__name__ in sys.modules

"""Questions in six languages over comments and memories, for `python -m tests.benchmarks.languages`."""

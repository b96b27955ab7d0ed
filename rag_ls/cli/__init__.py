"""The command line."""

DONE, FAILED, WRONG_USAGE = 0, 1, 2
"""Exit codes."""

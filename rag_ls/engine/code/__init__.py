"""One client's questions about one project's code: search, lookup, and memories about the code."""

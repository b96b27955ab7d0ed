"""The engine over HTTP: MCP, REST, metrics and a page for people. Heavy imports stay inside the modules that serve."""

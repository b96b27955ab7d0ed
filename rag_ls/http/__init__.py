"""The engine over HTTP: MCP, REST, metrics and a page for people. Heavy imports stay inside the modules that serve."""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)

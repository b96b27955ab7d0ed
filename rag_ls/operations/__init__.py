"""The operations that every surface offers, under one name and with one request and answer each.

`OPERATIONS` is their table. MCP tools, LSP's `ragLs.*` commands and shell verbs are generated from it and end here.
"""

from rag_ls.util.doors import Door

__getattr__ = Door(__name__)

"""The operations that every surface offers, under one name and with one request and answer each.

`OPERATIONS` is their table. MCP tools, LSP's `ragLs.*` commands and shell verbs are generated from it and end here.
"""

from rag_ls.operations.client_session import ClientSession
from rag_ls.operations.fields import Json
from rag_ls.operations.operation import Operation
from rag_ls.operations.operations import OPERATIONS, Operations

__all__ = ["OPERATIONS", "ClientSession", "Json", "Operation", "Operations"]

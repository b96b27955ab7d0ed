"""The MCP server: agents' tool calls to engine calls and back."""

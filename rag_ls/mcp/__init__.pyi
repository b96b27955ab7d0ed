# The names that other rooms may use.
from rag_ls.mcp.client_lines import ClientLines as ClientLines
from rag_ls.mcp.handshake import initialize_result as initialize_result
from rag_ls.mcp.main import serve_alone as serve_alone
from rag_ls.mcp.main import serve_client as serve_client
from rag_ls.mcp.server import create_server as create_server

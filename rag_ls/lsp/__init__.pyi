# The names that other rooms may use.
from rag_ls.lsp.handshake import initialize_result as initialize_result
from rag_ls.lsp.handshake import serve_alone as serve_alone
from rag_ls.lsp.server import serve as serve
from rag_ls.lsp.text_buffer import Position as Position
from rag_ls.lsp.text_buffer import TextBuffer as TextBuffer

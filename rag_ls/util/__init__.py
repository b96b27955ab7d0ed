"""Tools that know nothing of code or memories: text, whole files, processes, pipes, JSON-RPC framing."""

"""What knows nothing of code or memories: text, whole files, processes, pipes, JSON-RPC framing."""

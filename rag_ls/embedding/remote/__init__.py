"""Models that a service runs: Ollama, or anything with OpenAI's `/v1/embeddings`. Texts leave this process for it."""

"""Ollama's own API: `POST /api/embed`, `POST /api/show`, `GET /api/tags` (docs/api.md of ollama/ollama)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rag_ls.embedding.api import BatchRefused
from rag_ls.embedding.remote.apis import Described, Embedded, vectors_of
from rag_ls.embedding.remote.service import RetryPolicy, Service, ServiceFailed, ServiceRefused
from rag_ls.errors import ModelMissing

DEFAULT_ENDPOINT = "http://127.0.0.1:11434"
DEFAULT_MODEL = "nomic-embed-text:v1.5"
# The model stays loaded between batches and questions.
_KEEP_ALIVE = "10m"
_DEFAULT_TOKENS = 512
_REVISION_CHARACTERS = 12
# Ollama words the same refusal in several ways; its runner ends without a word (EOF) for some inputs that are too long.
_TOO_LONG = ("context length", "too large", "too long", "exceed", "eof", "batch size", "ubatch")


class OllamaApi:
    """An `EmbeddingApi`."""

    def __init__(self, service: Service, model: str) -> None:
        self._service = service
        self.endpoint = service.endpoint
        self._model = model

    def describe(self, policy: RetryPolicy) -> Described:
        listed = self._service.get("/api/tags", policy)
        digest = _digest_of(listed, self._model)
        if not digest:
            raise ModelMissing(f"Ollama at {self.endpoint} has no model {self._model}: `ollama pull {self._model}`")
        dimensions = len(self.embed(["dimensions"], policy).vectors[0])
        # The server can be told to give fewer dimensions of the same model.
        return Described(f"{digest[:_REVISION_CHARACTERS]}-{dimensions}", dimensions, self._max_tokens(policy))

    def embed(self, texts: Sequence[str], policy: RetryPolicy) -> Embedded:
        body = {"model": self._model, "input": list(texts), "truncate": True, "keep_alive": _KEEP_ALIVE}
        try:
            answer = self._service.post("/api/embed", body, policy)
        except ServiceRefused as refused:
            if refused.status == 404:
                raise ModelMissing(
                    f"Ollama at {self.endpoint} has no model {self._model}: `ollama pull {self._model}`"
                ) from refused
            # A busy server (503) also uses the word "exceed", but not about this text.
            is_about_text = refused.status in (400, 422, 500) and any(words in refused.said for words in _TOO_LONG)
            if refused.status == 413 or is_about_text:
                raise BatchRefused(str(refused)) from refused
            raise
        if not isinstance(answer, Mapping):
            raise ServiceFailed(f"{self.endpoint} is no Ollama: it answered {type(answer).__name__}")
        tokens = answer.get("prompt_eval_count")
        vectors = vectors_of(self.endpoint, answer.get("embeddings"))
        return Embedded(vectors, tokens if isinstance(tokens, int) else 0)

    def close(self) -> None:
        self._service.close()

    def _max_tokens(self, policy: RetryPolicy) -> int:
        try:
            shown = self._service.post("/api/show", {"model": self._model}, policy)
        except ServiceRefused:
            return _DEFAULT_TOKENS
        facts = shown.get("model_info") if isinstance(shown, Mapping) else None
        found = [value for name, value in (facts or {}).items() if str(name).endswith(".context_length")]
        return found[0] if found and isinstance(found[0], int) and found[0] > 0 else _DEFAULT_TOKENS


def _digest_of(listed: Any, model: str) -> str:
    """The digest of a model in the answer of `/api/tags`; empty if it is not there. A name without a tag means `latest`."""
    wanted = model if ":" in model.rpartition("/")[2] else f"{model}:latest"
    models = listed.get("models") if isinstance(listed, Mapping) else None
    for item in models or ():
        if isinstance(item, Mapping) and wanted in (item.get("name"), item.get("model")):
            return str(item.get("digest", "")).removeprefix("sha256:")
    return ""

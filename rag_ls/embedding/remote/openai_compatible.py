"""`POST /v1/embeddings` as OpenAI's API reference describes it, and as many servers offer it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from rag_ls.embedding.api import BatchRefused
from rag_ls.embedding.remote.apis import Described, Embedded, vectors_of
from rag_ls.embedding.remote.service import RetryPolicy, Service, ServiceFailed, ServiceRefused
from rag_ls.errors import ModelMissing

DEFAULT_ENDPOINT = "https://api.openai.com/v1"
_PATH = "/embeddings"
_DEFAULT_TOKENS = 512
_REVISION_CHARACTERS = 12
_TOO_LONG = (
    "maximum context length",
    "too long",
    "too large",
    "too many",
    "exceed",
    "max_tokens",
    "batch size",
    "at most",
)


class OpenAiApi:
    """An `EmbeddingApi`."""

    def __init__(self, service: Service, model: str, key_variable: str = "") -> None:
        self._service = service
        self.endpoint = service.endpoint
        self._model = model
        self._key_variable = key_variable

    def describe(self, policy: RetryPolicy) -> Described:
        dimensions = len(self.embed(["dimensions"], policy).vectors[0])
        # The protocol tells no revision, so one name at two addresses counts as two models.
        revision = hashlib.sha256(f"{self.endpoint} {dimensions}".encode()).hexdigest()[:_REVISION_CHARACTERS]
        return Described(revision, dimensions, _DEFAULT_TOKENS)

    def embed(self, texts: Sequence[str], policy: RetryPolicy) -> Embedded:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            answer = self._service.post(_PATH, body, policy)
        except ServiceRefused as refused:
            raise self._explain(refused) from refused
        data = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
            raise ServiceFailed(f"{self.endpoint} answered with no `data`: is it the right address?")
        # Each vector has the number of its text, or is at its place.
        numbers = [item.get("index") for item in data]
        is_numbered = all(isinstance(number, int) for number in numbers)
        ordered = sorted(enumerate(data), key=lambda item: numbers[item[0]] if is_numbered else item[0])
        usage = answer.get("usage")
        tokens = usage.get("total_tokens") if isinstance(usage, Mapping) else 0
        vectors = vectors_of(self.endpoint, [item.get("embedding") for _, item in ordered])
        return Embedded(vectors, tokens if isinstance(tokens, int) else 0)

    def close(self) -> None:
        self._service.close()

    def _explain(self, refused: ServiceRefused) -> Exception:
        if refused.status in (401, 403):
            key = f"the key in {self._key_variable}" if self._key_variable else "a request without a key"
            return ModelMissing(f"{self.endpoint} refuses {key} ({refused.status}): set embedding.api_key_env")
        if refused.status == 404:
            return ModelMissing(
                f"{self.endpoint} has no model {self._model}, or offers no embeddings in OpenAI's way: {refused.said}"
            )
        # An error about a rate or quota uses the same words, but is not about this text.
        is_about_text = refused.status in (400, 422) and any(words in refused.said for words in _TOO_LONG)
        if refused.status == 413 or is_about_text:
            return BatchRefused(str(refused))
        return refused


def base_of(endpoint: str) -> str:
    """The base of the API's addresses: an endpoint without a path has it at `/v1`."""
    bare = endpoint.rstrip("/").removesuffix(_PATH)
    return bare if urlsplit(bare).path else f"{bare}/v1"

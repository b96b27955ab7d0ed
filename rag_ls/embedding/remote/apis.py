"""The protocols of services: Ollama's own (docs/api.md of ollama/ollama), and `POST /v1/embeddings` as OpenAI's API reference
describes it, and as many servers offer it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from rag_ls.embedding.api import BatchRefused
from rag_ls.embedding.remote.service import RetryPolicy, Service, ServiceFailed, ServiceRefused
from rag_ls.errors import ModelMissing
from rag_ls.util.records import dataclass

_DEFAULT_TOKENS = 512
_REVISION_CHARACTERS = 12
# Each service words the same refusal in several ways.
_TOO_LONG = (
    "context length", "too large", "too long", "too many", "exceed", "max_tokens", "batch size", "ubatch", "at most",
)  # fmt: skip
OLLAMA_ENDPOINT = "http://127.0.0.1:11434"
OLLAMA_MODEL = "nomic-embed-text:v1.5"
# The model stays loaded between batches and questions.
_KEEP_ALIVE = "10m"
OPENAI_ENDPOINT = "https://api.openai.com/v1"
_OPENAI_PATH = "/embeddings"


@dataclass(frozen=True, slots=True)
class Described:
    """A model as its service describes it."""

    revision: str
    """Differs between models whose vectors must not be compared."""
    dimensions: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of some texts in order, and how many tokens the service counted; 0 if it did not say."""

    vectors: Sequence[Sequence[float]]
    tokens: int = 0


def _vectors_of(endpoint: str, found: Any) -> Sequence[Sequence[float]]:
    """A service's vectors as they came, if they are lists of numbers. Raises `ServiceFailed`."""
    is_right = isinstance(found, list) and all(
        isinstance(row, list) and row and all(isinstance(value, int | float) for value in row) for row in found
    )
    if not is_right:
        raise ServiceFailed(
            f"{endpoint} answered with no vectors: is it the right address, and a model for embeddings?"
        )
    return list(found)


def _is_too_long(refused: ServiceRefused, statuses: tuple[int, ...]) -> bool:
    """Whether a request was refused for its length. With another status, the same words are about a rate, a quota or the load."""
    is_about_text = refused.status in statuses and any(words in refused.said for words in _TOO_LONG)
    return refused.status == 413 or is_about_text


class OllamaApi:
    """One model of an Ollama."""

    def __init__(self, service: Service, model: str) -> None:
        self._service = service
        self.endpoint = service.endpoint
        self._model = model

    def describe(self, policy: RetryPolicy) -> Described:
        """The model. Raises `ModelMissing` where the service has none of this name, `ServiceFailed`."""
        listed = self._service.get("/api/tags", policy)
        digest = _digest_of(listed, self._model)
        if not digest:
            raise ModelMissing(f"Ollama at {self.endpoint} has no model {self._model}: `ollama pull {self._model}`")
        dimensions = len(self.embed(["dimensions"], policy).vectors[0])
        # The server can be told to give fewer dimensions of the same model.
        return Described(f"{digest[:_REVISION_CHARACTERS]}-{dimensions}", dimensions, self._max_tokens(policy))

    def embed(self, texts: Sequence[str], policy: RetryPolicy) -> Embedded:
        """Vectors of texts. Raises `BatchRefused` where they are too long together or alone, `ServiceFailed`."""
        body = {"model": self._model, "input": list(texts), "truncate": True, "keep_alive": _KEEP_ALIVE}
        try:
            answer = self._service.post("/api/embed", body, policy)
        except ServiceRefused as refused:
            if refused.status == 404:
                raise ModelMissing(
                    f"Ollama at {self.endpoint} has no model {self._model}: `ollama pull {self._model}`"
                ) from refused
            # Its runner also ends without a word for some inputs that are too long.
            if _is_too_long(refused, statuses=(400, 422, 500)) or (refused.status == 500 and "eof" in refused.said):
                raise BatchRefused(str(refused)) from refused
            raise
        if not isinstance(answer, Mapping):
            raise ServiceFailed(f"{self.endpoint} is no Ollama: it answered {type(answer).__name__}")
        tokens = answer.get("prompt_eval_count")
        vectors = _vectors_of(self.endpoint, answer.get("embeddings"))
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


class OpenAiApi:
    """One model of a server that speaks OpenAI's protocol."""

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
            answer = self._service.post(_OPENAI_PATH, body, policy)
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
        vectors = _vectors_of(self.endpoint, [item.get("embedding") for _, item in ordered])
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
        return BatchRefused(str(refused)) if _is_too_long(refused, statuses=(400, 422)) else refused


EmbeddingApi: TypeAlias = OllamaApi | OpenAiApi


def openai_base_of(endpoint: str) -> str:
    """The base of the API's addresses: an endpoint without a path has it at `/v1`."""
    bare = endpoint.rstrip("/").removesuffix(_OPENAI_PATH)
    return bare if urlsplit(bare).path else f"{bare}/v1"

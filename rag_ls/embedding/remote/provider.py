"""The embedding provider that sends texts to a service: the user agrees once, and the settings limit the amount."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.config import EmbeddingSettings
from rag_ls.embedding.api import BatchBudget, BatchRefused, LoadedModel, ModelCard, normalise
from rag_ls.embedding.local.stack import LocalProvider
from rag_ls.embedding.remote.apis import (
    OLLAMA_ENDPOINT,
    OLLAMA_MODEL,
    OPENAI_ENDPOINT,
    Described,
    Embedded,
    EmbeddingApi,
    OllamaApi,
    OpenAiApi,
    openai_base_of,
)
from rag_ls.embedding.remote.service import (
    RetryPolicy,
    Service,
    ServiceFailed,
    ServiceRecords,
    authorization_of,
    is_address,
    is_local,
)
from rag_ls.errors import InvalidRequest, ModelMissing
from rag_ls.locations import user_data_folder
from rag_ls.util.records import asdict, dataclass, replace
from rag_ls.util.text import mask_secrets

_log = logging.getLogger(__name__)

OLLAMA, OPENAI = "ollama", "openai"
_DESCRIBE_POLICY = RetryPolicy(timeout_s=5.0, attempts=1)
_LOAD_POLICY = RetryPolicy(timeout_s=60.0, attempts=2)
_QUERY_POLICY = RetryPolicy(timeout_s=3.0, attempts=1)
_QUERY_DEADLINE_S = 3.0
# If a service did not answer, questions do not ask it again for this long.
_RETRY_PAUSE_S = 10.0
_MAX_TEXTS = 64
_MAX_URGENT_TEXTS, _URGENT_TIMEOUT_S = 64, 10.0
_CHARACTERS_PER_TOKEN = 3
# A refused text is halved until it is this short. If the service refuses that too, the text gets no vector.
_MIN_CHARACTERS = 64
# Every service should embed this text. If the service does, another text that fails is itself the cause.
_PLAIN_TEXT = "dimensions"
# The prefixes of questions and of documents that the models' cards ask for, by the start of the model's name.
_PREFIXES = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages: ", ""),
}


@dataclass(frozen=True, slots=True)
class Destination:
    """The service that texts go to, as the settings say."""

    provider: str
    endpoint: str
    model: str

    @property
    def stays_here(self) -> bool:
        """Whether texts stay on this machine. For models whose tag ends with `cloud`, Ollama sends texts to its makers."""
        is_passed_on = self.provider == OLLAMA and self.model.partition(":")[2].endswith("cloud")
        return is_local(self.endpoint) and not is_passed_on

    @property
    def name(self) -> str:
        """The model's name among all providers' models."""
        return f"{self.provider}/{self.model}"


def destination_of(settings: EmbeddingSettings, model: str = "") -> Destination:
    """The service that texts go to. Raises `ModelMissing` for settings that name no usable one."""
    wanted = (model or settings.model).removeprefix(f"{settings.provider}/")
    endpoint = settings.endpoint.strip().rstrip("/")
    if settings.provider == OLLAMA:
        endpoint = (endpoint or OLLAMA_ENDPOINT).removesuffix("/api")
        wanted = OLLAMA_MODEL if wanted == "auto" else wanted
    else:
        endpoint = openai_base_of(endpoint or OPENAI_ENDPOINT)
        if wanted == "auto":
            raise ModelMissing(
                f'embedding.provider = "{settings.provider}" needs the name of a model in embedding.model'
            )
    if not is_address(endpoint):
        raise ModelMissing(
            f"embedding.endpoint = {mask_secrets(endpoint)!r} is no http address; a key belongs into embedding.api_key_env"
        )
    return Destination(settings.provider, endpoint, wanted)


class RemoteProvider:
    """An `EmbeddingProvider`: the model that the settings name, run by a service."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        records: ServiceRecords | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._records = records or ServiceRecords(user_data_folder())
        self._clock = clock
        self._local = LocalProvider(settings)
        self._failed: dict[str, tuple[float, str]] = {}

    def models(self) -> list[ModelCard]:
        try:
            return [self.find(self._settings.model)]
        except ModelMissing:
            return []

    def find(self, name: str) -> ModelCard:
        """See `EmbeddingProvider`. Uses the service's last description, and asks the service only if there is none."""
        where = self._find_destination(name)
        known = self._records.description(_key(where))
        return _card(where, Described(**known)) if known else self._ask_service(where)

    def card(self, model_id: str) -> ModelCard:
        name = model_id.rpartition("@")[0] or model_id
        if not name.startswith(f"{self._settings.provider}/"):
            return self._local.card(model_id)
        found = None
        with contextlib.suppress(ModelMissing):
            found = self.find(name)
        return found if found is not None and found.id == model_id else ModelCard(model_id, name, 0, 0)

    def ask(self) -> ModelCard:
        """The model of the settings as its service describes it now. Raises `ModelMissing`."""
        where = self._find_destination(self._settings.model)
        api = self._api(where)
        try:
            return self._describe(where, api, _DESCRIBE_POLICY)
        finally:
            api.close()

    def load(self, model_id: str) -> LoadedModel:
        """See `EmbeddingProvider`. Asks the service which revision it has now.

        A local model can be loaded too: it answers questions until the service's model has made all vectors.
        """
        name = model_id.rpartition("@")[0]
        if not name.startswith(f"{self._settings.provider}/"):
            return self._local.load(model_id)
        where = self._find_destination(name)
        api = self._api(where)
        try:
            card = self._describe(where, api, _LOAD_POLICY)
            if card.id != model_id:
                raise ModelMissing(f"{where.endpoint} has {card.id} now, not {model_id}; all texts are embedded anew")
        except BaseException:
            api.close()
            raise
        return RemoteModel(api, card, self._settings, self._records, sends_away=not where.stays_here)

    def _find_destination(self, name: str) -> Destination:
        """The service that texts go to, if the user agreed. Raises `ModelMissing`."""
        where = destination_of(self._settings, name)
        if not (where.stays_here or self._records.is_confirmed(where.endpoint)):
            raise ModelMissing(
                f"embedding.provider = {where.provider!r} would send the texts of your code and memories to {where.endpoint}: "
                "agree once with `rag-ls doctor --confirm-endpoint`; until then words alone are searched"
            )
        return where

    def _ask_service(self, where: Destination) -> ModelCard:
        failed_at, why = self._failed.get(where.name, (0.0, ""))
        if why and self._clock() - failed_at < _RETRY_PAUSE_S:
            raise ModelMissing(why)
        api = self._api(where)
        try:
            return self._describe(where, api, _DESCRIBE_POLICY)
        except ModelMissing as error:
            self._failed[where.name] = self._clock(), str(error)
            raise
        finally:
            api.close()

    def _describe(self, where: Destination, api: EmbeddingApi, policy: RetryPolicy) -> ModelCard:
        """Ask the service to describe its model, and record the answer. Raises `ModelMissing`."""
        try:
            found = api.describe(policy)
        except (ServiceFailed, BatchRefused) as error:
            raise ModelMissing(str(error)) from error
        self._records.describe(_key(where), asdict(found))
        return _card(where, found)

    def _api(self, where: Destination) -> EmbeddingApi:
        service = Service(where.endpoint, authorization_of(self._settings.api_key_env, "embedding.api_key_env"))
        if where.provider == OLLAMA:
            return OllamaApi(service, where.model)
        return OpenAiApi(service, where.model, self._settings.api_key_env)


class RemoteModel:
    """A `LoadedModel` of a service."""

    worker_process_id = None
    query_deadline_s: float | None = _QUERY_DEADLINE_S

    def __init__(
        self,
        api: EmbeddingApi,
        card: ModelCard,
        settings: EmbeddingSettings,
        records: ServiceRecords,
        *,
        sends_away: bool,
    ) -> None:
        self.card = card
        self.sends_away = sends_away
        self.budget = BatchBudget(_MAX_TEXTS, settings.max_batch_bytes)
        self._api = api
        self._settings = settings
        self._records = records
        self._query_prefix, self._document_prefix = _prefixes(settings, card.name)

    def embed_documents(self, texts: Sequence[str], *, backlog: int = 0) -> NDArray[np.float32]:
        """See `LoadedModel`. A text that fails alone is shortened; if the shortest fails too, its vector is NaN."""
        if not texts:
            return np.zeros((0, self.card.dimensions), np.float32)
        policy = RetryPolicy(self._settings.timeout_s)
        if len(texts) + backlog <= _MAX_URGENT_TEXTS:
            # A user may be waiting; background work tries again later.
            policy = replace(policy, timeout_s=min(_URGENT_TIMEOUT_S, policy.timeout_s), attempts=1)
        try:
            return self._embed([self._document_prefix + text for text in texts], policy)
        except BatchRefused:
            if len(texts) > 1:
                raise
        except ServiceFailed as failed:
            if not self._takes_plain_text():
                raise
            if len(texts) > 1:
                raise BatchRefused(str(failed)) from failed
        return self._embed_shortened(texts[0], RetryPolicy(policy.timeout_s, attempts=2))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._embed([self._query_prefix + text], _QUERY_POLICY)[0]
        return vector

    def warm_up(self) -> None:
        """See `LoadedModel`. The service was asked when the model was loaded."""

    def release(self) -> None:
        """See `LoadedModel`. Nothing is held here."""

    def close(self) -> None:
        self._api.close()

    def _embed_shortened(self, text: str, policy: RetryPolicy) -> NDArray[np.float32]:
        while True:
            try:
                return self._embed([self._document_prefix + text], policy)
            except (BatchRefused, ServiceFailed) as failed:
                if len(text) > _MIN_CHARACTERS:
                    text = text[: len(text) // 2]
                elif self._takes_plain_text():
                    break
                else:
                    raise ServiceFailed(str(failed)) from failed
        _log.warning("%s refuses a text of any length; it is found by its words alone", self._api.endpoint)
        return np.full((1, self.card.dimensions), np.nan, np.float32)

    def _takes_plain_text(self) -> bool:
        try:
            self._embed([_PLAIN_TEXT], _DESCRIBE_POLICY)
        except (BatchRefused, ServiceFailed):
            return False
        return True

    def _embed(self, texts: Sequence[str], policy: RetryPolicy) -> NDArray[np.float32]:
        self._check_spend()
        found = self._api.embed(texts, policy)
        self._note_spend(found, texts)
        return self._check_vectors(found, len(texts))

    def _check_vectors(self, found: Embedded, count: int) -> NDArray[np.float32]:
        sizes = {len(row) for row in found.vectors}
        if len(found.vectors) != count or sizes != {self.card.dimensions}:
            shape = f"{len(found.vectors)} vectors of {', '.join(map(str, sorted(sizes)))} numbers"
            raise ServiceFailed(
                f"{self._api.endpoint} answered with {shape}, not {count} of {self.card.dimensions}: its model changed; "
                "`rag-ls stop`, and the next engine embeds all anew"
            )
        return normalise(np.asarray(found.vectors, np.float32))

    def _check_spend(self) -> None:
        most = self._settings.max_tokens_per_day
        if most and (sent := self._records.tokens_today(self._api.endpoint)) >= most:
            raise ServiceFailed(
                f"{sent:,} tokens were sent to {self._api.endpoint} today, embedding.max_tokens_per_day is {most:,}: it goes "
                "on at midnight (UTC)"
            )

    def _note_spend(self, found: Embedded, texts: Sequence[str]) -> None:
        if self._settings.max_tokens_per_day:
            self._records.add_tokens(
                self._api.endpoint, found.tokens or sum(1 + len(text) // _CHARACTERS_PER_TOKEN for text in texts)
            )


def confirm(settings: EmbeddingSettings, records: ServiceRecords) -> Destination:
    """Record that the user agrees to send texts to the service of the settings. Raises `InvalidRequest` if they name none."""
    if settings.provider not in (OLLAMA, OPENAI):
        raise InvalidRequest('embedding.provider is "local": no text leaves this machine, there is nothing to confirm')
    where = destination_of(settings)
    records.confirm(where.endpoint)
    return where


def _card(where: Destination, found: Described) -> ModelCard:
    return ModelCard(f"{where.name}@{found.revision}", where.name, found.max_tokens, found.dimensions)


def _key(where: Destination) -> str:
    return f"{where.name} {where.endpoint}"


def _prefixes(settings: EmbeddingSettings, name: str) -> tuple[str, str]:
    """The prefixes of questions and documents: those of the settings, else those that the model was trained with."""
    model = name.rpartition("/")[2]
    usual = next((found for start, found in _PREFIXES.items() if model.startswith(start)), ("", ""))
    chosen = (settings.query_prefix, settings.document_prefix)
    query, document = (own if given == "auto" else given for given, own in zip(chosen, usual, strict=True))
    return query, document

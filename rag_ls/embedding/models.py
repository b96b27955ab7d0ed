"""Loads the models of an engine in the background, from any provider, and returns them once they are ready."""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path

from rag_ls.config import EmbeddingSettings
from rag_ls.embedding.api import EmbeddingProvider, LoadedModel, ModelCard
from rag_ls.embedding.hosted import HostedModel
from rag_ls.embedding.local.stack import MAX_THREADS, LocalProvider
from rag_ls.embedding.local.worker import Reranker
from rag_ls.errors import ModelMissing, RagLsError
from rag_ls.util.records import dataclass
from rag_ls.util.threads import Counts

_log = logging.getLogger(__name__)

OFF = 'embedding is off (embedding.model = "none"); set it to "auto"'
"""The reason why there is no model where the user wants none."""
_LOAD_S = 30.0
# After this time a failed load is tried again: the model may have been installed or repaired.
_RETRY_LOADING_S = 30.0


@dataclass(frozen=True, slots=True)
class ModelState:
    """The state of a model, for `status`."""

    model: str
    ready: bool
    error: str = ""


class ModelHost:
    """Loads models by id in background threads, and gives them out once they are ready."""

    def __init__(
        self, settings: EmbeddingSettings, provider: EmbeddingProvider | None = None, counts: Counts | None = None
    ) -> None:
        """`provider` is the source of the models; by default this machine. `counts`: see `HostedModel`."""
        self._counts = counts
        self._settings = settings
        self._provider = provider or provider_of(settings)
        self._lock = threading.Lock()
        self._configured: ModelCard | None = None
        self._models: dict[str, HostedModel] = {}
        self._asked_at: dict[str, float] = {}
        self._errors: dict[str, tuple[float, str]] = {}
        self._loading: dict[str, threading.Thread] = {}
        self._reranker: Reranker | None = None
        self._closed = False

    @property
    def is_off(self) -> bool:
        """Whether the user wants no model: nothing is embedded, and questions are answered by words."""
        return self._settings.is_off

    def count_awaited(self, pending: int) -> int:
        """The number of texts, of those without a vector, that will get one: none where embedding is off."""
        return 0 if self.is_off else pending

    def configured(self) -> ModelCard:
        """The model that the settings ask for. Raises `ModelMissing`; it may be installed later."""
        if self.is_off:
            raise ModelMissing(OFF)
        if self._configured is None:
            self._configured = self._provider.find(self._settings.model)
        return self._configured

    @property
    def configured_id(self) -> str:
        """The id of the configured model; empty if it is not on this machine."""
        try:
            return self.configured().id
        except ModelMissing:
            return ""

    def can_have(self, model_id: str) -> bool:
        """Whether a model can be loaded without sending anything to somebody new: the configured one, or another one here."""
        if model_id and model_id == self.configured_id:
            return True
        return self._settings.provider == "local" and model_id in [card.id for card in self._provider.models()]

    def get(self, model_id: str) -> HostedModel | None:
        """The model if it is ready, else None; the first call starts loading it."""
        if self.is_off:
            return None
        with self._lock:
            self._asked_at[model_id] = time.monotonic()
            if model_id in self._models or model_id in self._loading or self._closed:
                return self._models.get(model_id)
            if self._recent_error(model_id):
                return None
            thread = threading.Thread(target=self._load, args=(model_id,), name=f"load {model_id}", daemon=True)
            self._loading[model_id] = thread
            thread.start()
        return None

    def wait(self, model_id: str, timeout_s: float | None = None) -> HostedModel | None:
        """The model, waiting until it is loaded or has failed."""
        if (model := self.get(model_id)) is None:
            with self._lock:
                thread = self._loading.get(model_id)
            if thread is not None:
                thread.join(timeout_s)
            model = self.get(model_id)
        return model

    def state(self, model_id: str) -> ModelState:
        """Whether a model is ready, and the error if loading failed or if it embeds nothing now."""
        with self._lock:
            self._asked_at[model_id] = time.monotonic()
            hosted = self._models.get(model_id)
            _, error = self._errors.get(model_id, (0.0, ""))
            return ModelState(model_id, hosted is not None, hosted.failure if hosted else error)

    def has_failed(self, model_id: str) -> bool:
        """Whether a model failed so shortly ago that it is not tried again yet."""
        with self._lock:
            hosted = self._models.get(model_id)
            return hosted.has_failed if hosted else bool(self._recent_error(model_id))

    def card(self, model_id: str) -> ModelCard:
        """The card of the model that stored vectors name."""
        with self._lock:
            hosted = self._models.get(model_id)
        return hosted.card if hosted else self._provider.card(model_id)

    def reranker(self) -> Reranker:
        """The cross-encoder of the settings. Raises `ModelMissing` if none is set or its folder is missing."""
        folder = Path(self._settings.reranker).expanduser()
        if not self._settings.reranker or not folder.is_dir():
            named = f"{self._settings.reranker} is no folder" if self._settings.reranker else "none is set"
            raise ModelMissing(f"reranking needs the folder of a cross-encoder in embedding.reranker: {named}")
        with self._lock:
            if self._reranker is None:
                threads = self._settings.threads or min(os.cpu_count() or 1, MAX_THREADS)
                self._reranker = Reranker(folder, device=self._settings.device, threads=threads)
            return self._reranker

    def loaded(self) -> list[HostedModel]:
        """The models that are ready."""
        with self._lock:
            return list(self._models.values())

    def unload_idle(self, idle_s: float) -> None:
        """Unload what nobody asked for in the last `idle_s` seconds, but not the configured model. It is loaded again when asked for."""
        kept, now = self.configured_id, time.monotonic()
        with self._lock:
            idle = [each for each in self._models if each != kept and now - self._asked_at[each] >= idle_s]
            unloaded = [self._models.pop(each) for each in idle]
        for model in unloaded:
            _log.info("unloaded %s, which answers nothing any more", model.model_id)
            model.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            models = list(self._models.values())
            self._models.clear()
            loading = list(self._loading.values())
        # Wait for loading threads: one inside onnxruntime at the interpreter's end would abort the process.
        for thread in loading:
            thread.join(_LOAD_S)
        for model in models:
            model.close()
        if self._reranker is not None:
            self._reranker.close()

    def _recent_error(self, model_id: str) -> str:
        """The reason why a model could not be loaded, until it is time to try again; else empty. Call it under the lock."""
        failed_at, error = self._errors.get(model_id, (0.0, ""))
        return error if time.monotonic() - failed_at < _RETRY_LOADING_S else ""

    def _check_dimension(self, model: LoadedModel) -> None:
        wanted = self._settings.dimension
        if wanted and (found := len(model.embed_query("dimension"))) != wanted:
            raise ModelMissing(
                f"{model.card.id} makes vectors of {found} dimensions, embedding.dimension asks for {wanted}: "
                "set it to 0, or choose another model"
            )

    def _load(self, model_id: str) -> None:
        try:
            loaded = self._provider.load(model_id)
            try:
                loaded.warm_up()
                self._check_dimension(loaded)
            except BaseException:
                loaded.close()
                raise
            model = HostedModel(loaded, self._counts)
        except RagLsError as error:
            _log.warning("%s", error)
            failure = str(error)
        except Exception as error:
            _log.exception("loading %s failed", model_id)
            failure = f"{type(error).__name__}: {error}"
        else:
            with self._lock:
                self._loading.pop(model_id, None)
                if not self._closed:
                    self._models[model_id] = model
                self._errors.pop(model_id, None)
            return
        with self._lock:
            self._loading.pop(model_id, None)
            self._errors[model_id] = (time.monotonic(), failure)
            # The service may have a newer revision of the model by now.
            self._configured = None


def provider_of(settings: EmbeddingSettings) -> EmbeddingProvider:
    """The source of models that the settings name."""
    if settings.provider == "local":
        return LocalProvider(settings)
    from rag_ls.embedding.remote.provider import RemoteProvider

    return RemoteProvider(settings)


def local_model(name: str, settings: EmbeddingSettings) -> HostedModel:
    """A model of this machine by its name, loaded now. Raises `ModelMissing`, `ModelDamaged`."""
    provider = LocalProvider(settings)
    return HostedModel(provider.load(provider.find(name).id))

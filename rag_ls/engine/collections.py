"""The collections of an engine: stores of memories that are opened when they are first used."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from rag_ls.config import Settings
from rag_ls.embedding import Embedder, ShortenedModel
from rag_ls.engine.open_memories import close_unused
from rag_ls.engine.workers import OpenedOnce
from rag_ls.errors import NotFound, RagLsError, StoreUnavailable
from rag_ls.memory import Clock, Memories, check_name, embed_missing, utc_now
from rag_ls.model import Scope
from rag_ls.project import make_private_folder
from rag_ls.storage import Connections, MemoryStore, open_memories
from rag_ls.util.decoding import read_json
from rag_ls.util.files import remedy_for, whole_file
from rag_ls.util.text import nearest, nearest_text

_log = logging.getLogger(__name__)

FOLDER = "collections"
DEFAULT = "default"
_FILE = "collection.json"


class Collections:
    """The user's collections, each in a folder of its name. Safe from several threads."""

    def __init__(self, folder: Path, settings: Settings, connections: Connections, now: Clock = utc_now) -> None:
        """`folder` is made with the first collection."""
        self._folder = folder
        self._settings = settings
        self._connections = connections
        self._now = now
        self._stores = OpenedOnce(self._open_store)

    def names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        return sorted(entry.name for entry in self._folder.iterdir() if entry.is_dir())

    def make(self, name: str) -> MemoryStore:
        """A collection, made if there is none of this name. Raises `InvalidRequest` and `StoreUnavailable`."""
        return self._stores.get(check_name(name or DEFAULT))

    def existing(self, name: str) -> MemoryStore:
        """A collection that was made before. Raises `NotFound`."""
        wanted, known = check_name(name or DEFAULT), self.names()
        if wanted not in known:
            near = nearest_text(nearest(wanted, known))
            raise NotFound(f"there is no collection {wanted!r}; {near}push makes it")
        return self._stores.get(wanted)

    def vector_size(self, name: str) -> int | None:
        """The length of a collection's vectors, if it was made with one; None for the length of the model's."""
        try:
            found = read_json((self._folder / check_name(name) / _FILE).read_text(encoding="utf-8"))
            return int(found["vector_size"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreUnavailable(
                f"the collection {name}: {_FILE} cannot be read ({error}); delete it", name
            ) from error

    def resize(self, name: str, vector_size: int) -> None:
        """Have a collection's vectors made with so many numbers from now on. Raises `StoreUnavailable`."""
        file = self._folder / check_name(name) / _FILE
        try:
            with whole_file(file) as stream:
                json.dump({"vector_size": vector_size}, stream)
        except OSError as error:
            raise StoreUnavailable(f"{file} cannot be written: {error.strerror or error}", name) from error

    def model_of(self, name: str, model: Embedder | None) -> Embedder | None:
        """The model as a collection uses it; None without one."""
        size = self.vector_size(name or DEFAULT)
        if model is None or size is None or size >= model.card.dimensions:
            return model
        return ShortenedModel(model, size)

    def memories(self, store: MemoryStore) -> Memories:
        """A collection's memories, to be searched and summarised."""
        return Memories({Scope.GLOBAL: lambda: store}, self._now)

    @property
    def has_open(self) -> bool:
        """Whether a collection was used."""
        return bool(self._stores.items())

    def embed_missing(self, model: Embedder) -> None:
        """Embed a few chunks of the opened collections that have no vectors yet."""
        for name, store in self._stores.items():
            if close_unused(store):
                continue
            try:
                if (own := self.model_of(name, model)) is not None:
                    embed_missing(store, own)
            except (RagLsError, ValueError) as error:
                # A failure of one must not stop the others.
                _log.warning("the collection %s: %s", name, error)

    def close(self) -> None:
        for store in self._stores.take_all():
            store.close()

    def _open_store(self, name: str) -> MemoryStore:
        return open_kept(self._folder / name, f"collection {name}", self._settings, self._connections)


def open_kept(folder: Path, store: str, settings: Settings, connections: Connections) -> MemoryStore:
    """Open a store of memories in the user's data, whose folder is made. Raises `StoreUnavailable`."""
    try:
        make_private_folder(folder)
    except OSError as error:
        remedy = remedy_for(error, "set RAG_LS_HOME")
        raise StoreUnavailable(
            f"the {store} cannot be kept: {folder} cannot be made ({error}); {remedy}", store
        ) from error
    return open_memories(folder, Scope.GLOBAL, settings, connections)

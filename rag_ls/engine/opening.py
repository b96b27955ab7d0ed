"""Opens a project's index, and chooses how its documents are cut."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from rag_ls.chunking import Budget
from rag_ls.config import Settings
from rag_ls.embedding import ModelCard, ModelHost
from rag_ls.errors import ModelMissing, StoreUnavailable
from rag_ls.indexing import Cutting, FileRules
from rag_ls.project import Project, shared_name
from rag_ls.storage import ProjectIndex, open_index
from rag_ls.util.files import has_free_handles

if TYPE_CHECKING:
    from pathlib import Path

    from rag_ls.engine.engine import Engine

_log = logging.getLogger(__name__)

# Tokens of the model's window that stay free for the header that is embedded before a chunk's text.
_HEADER_TOKENS = 32


def open_project_index(project: Project, settings: Settings, engine: Engine) -> tuple[Path, ProjectIndex]:
    """The data folder with its opened index: where none can be opened there, one in the user's data. Memories need it too."""
    is_served = settings.store.url and settings.store.search == "server"
    folder, open_in = project.create_data_folder(), partial(
        open_index, settings=settings, shared_name=shared_name(project.root) if is_served else "",
        connections=engine.connections, is_trusted=engine.memory_homes.trusts(project),
    )  # fmt: skip
    try:
        index = open_in(folder)
        index.file.why_remade = project.why_elsewhere or index.file.why_remade
    except StoreUnavailable as error:
        if folder == project.data_folder_elsewhere or not has_free_handles():
            raise
        _log.warning("%s", error)
        folder = project.create_data_folder(elsewhere=True)
        index = open_in(folder)
        index.file.why_remade = f"{error}; until then the index is in {folder}"
    return folder, index


def make_cutting(settings: Settings, models: ModelHost) -> Cutting:
    sizes = settings.chunking
    try:
        model: ModelCard | None = models.configured()
    except ModelMissing:
        model = None
    largest = min(sizes.max_chunk_size, model.max_tokens - _HEADER_TOKENS) if model else sizes.max_chunk_size
    budget = Budget(largest, min(sizes.min_chunk_size, largest), min(sizes.overlap, largest // 2))
    rules = FileRules(settings.index.encodings, settings.languages.map, settings.index.force)
    return Cutting(budget, sizes.strategy == "lines", settings.languages.enabled, rules, settings.index.max_file_bytes)

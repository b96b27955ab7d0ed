"""The model that answers for a project, as users are told of it, and vectors of questions."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding import HostedModel
from rag_ls.errors import ModelMissing, RagLsError
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from rag_ls.engine.open_project import OpenProject


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """The model whose vectors a project's index answers with."""

    id: str
    """Empty where there is none."""
    is_ready: bool
    note: str
    """The reason why it is not the configured one, or does not answer as it should; empty where all is well."""


def describe_model(project: OpenProject) -> ModelDescription:
    """The model that answers, which is loaded if it was not; with a note for the user."""
    models, indexing, served = project.engine.models, project.indexing, project.index.served
    if models.is_off:
        return ModelDescription("", False, describe_share_problem(project))
    try:
        configured = models.configured().id
    except ModelMissing as error:
        return ModelDescription("", False, str(error))
    active = project.index.checkout.embeddings.active_model() or configured
    state = models.state(active)
    if not state.ready:
        models.get(active)
    waits = indexing.waits_for
    note = state.error or (_describe_change(project, active, configured) if active != configured else "")
    if served and served.problem:
        note = note or f"found by words alone, since the vectors are away: {served.problem}"
    note = note or describe_share_problem(project)
    note = note or (waits and f"embedding waits: {waits}")
    return ModelDescription(active, state.ready, note)


def describe_share_problem(project: OpenProject) -> str:
    """The reason why vectors or memories are not shared with the team; empty if they are, or are not to be."""
    if problem := project.indexing.share_problem:
        return f"vectors are not shared: {problem}"
    return project.memories.files.problem


def _describe_change(project: OpenProject, active: str, configured: str) -> str:
    """The progress of the change from the answering model to the configured one."""
    if waits := project.indexing.waits_for:
        how = f" waits: {waits}"
    elif not project.indexing.is_asked:
        how = " goes on while an editor or agent has the project open, or with `rag-ls index`"
    else:
        how = ""
    return f"re-embedding with {configured}{how}; {active} answers until then"


_log = logging.getLogger(__name__)

# About as many characters as a small model reads of a text.
_PIECE_CHARACTERS = 1000


def embed_text(
    model: HostedModel | None,
    text: str,
    embed: Callable[[HostedModel, str], NDArray[np.float32]] = HostedModel.embed_query,
) -> NDArray[np.float32] | None:
    """The text's vector; None without a model, without text, or if embedding fails."""
    if model is None or not text.strip():
        return None
    try:
        return embed(model, text)
    except RagLsError as error:
        _log.warning("%s", error)
        return None


def begin_embedding(model: HostedModel | None, text: str) -> Callable[[], NDArray[np.float32] | None] | None:
    """As `embed_text`, but in the background: the function that it gives waits for the vector."""
    if model is None or not text.strip():
        return None
    wait = model.begin_query(text)
    return lambda: embed_text(model, text, lambda *_: wait())


def mean_of_pieces(embed: Callable[[list[str]], NDArray[np.float32]], text: str) -> NDArray[np.float32]:
    """The unit-length embedding of a text; of a long one, the mean of its pieces: a model reads only the start."""
    size = -(-len(text) // -(-len(text) // _PIECE_CHARACTERS))
    mean = embed([text[at : at + size] for at in range(0, len(text), size)]).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)

"""Notes for the user on the model that answers for a project, and on what a team shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_ls.errors import ModelMissing
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
    """The reason why vectors or memories are not shared with the team; empty if they are, or have no team."""
    if problem := project.indexing.share_problem:
        return f"vectors are not shared: {problem}"
    problem = project.memories.team_problem
    return problem and f"memories are not shared: {problem}"


def _describe_change(project: OpenProject, active: str, configured: str) -> str:
    """The progress of the change from the answering model to the configured one."""
    if waits := project.indexing.waits_for:
        how = f" waits: {waits}"
    elif not project.indexing.is_asked:
        how = " goes on while an editor or agent has the project open, or with `rag-ls index`"
    else:
        how = ""
    return f"re-embedding with {configured}{how}; {active} answers until then"

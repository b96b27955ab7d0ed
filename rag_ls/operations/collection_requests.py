"""What operations on collections take (see `requests`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_ls.model import SummaryStrategy
from rag_ls.operations.fields import argument
from rag_ls.operations.requests import TYPE_NAMES, TimeRange

STRATEGIES = ("auto", *(strategy.value for strategy in SummaryStrategy))
FACTS = ("memory-types", "projects", "tags", "health", "settings", "usage")


@dataclass(frozen=True, slots=True)
class Push:
    """A text to keep."""

    text: str = argument(doc="the text; it is cut into chunks")
    collection: str = argument("", "where to keep it (default: default)")
    project_id: str = argument("", "what it belongs to (default: default)", aliases=("project",))
    memory_type: str = argument("", "what kind of knowledge it is", choices=TYPE_NAMES, aliases=("type",))
    tags: tuple[str, ...] = argument((), "words to find it by")
    source_uri: str = argument("", "where it comes from; pushed again, it replaces the former text")
    force: bool = argument(False, "even if it looks like it holds a secret")


@dataclass(frozen=True, slots=True)
class SearchCollection:
    """A question to what was pushed."""

    query_text: str = argument(doc="a question or words", aliases=("query",))
    project_id: str = argument("", "only what belongs to this", aliases=("project",))
    memory_type: str = argument("", "only this kind", choices=TYPE_NAMES, aliases=("type",))
    tags: tuple[str, ...] = argument((), "with any of these")
    time_range: Mapping[str, Any] = argument({}, "pushed in this time", properties=TimeRange, shown=("start", "end"))
    limit: int | None = argument(None, "results at most", least=1, agent_default=5, aliases=("k", "top_k"))
    score_threshold: float | None = argument(None, "only results with at least this score, 0 to 1")
    collection: str = argument("", "where to search (default: default)")


@dataclass(frozen=True, slots=True)
class SummarizeCollection:
    """A time whose texts are to be summed up."""

    time_range: Mapping[str, Any] = argument(
        {}, "start and end, both", properties=TimeRange, shown=("start", "end"), agents_required=True
    )
    project_id: str = argument("", "only what belongs to this", aliases=("project",))
    memory_type: str = argument("", "only this kind", choices=TYPE_NAMES, aliases=("type",))
    tags: tuple[str, ...] = argument((), "with any of these")
    limit: int | None = argument(None, "chunks at most, those pushed last", least=1, aliases=("k",))
    max_words: int | None = argument(None, "how long it may be", least=5)
    strategy: str = argument("", "how it is made (default: auto)", choices=STRATEGIES)
    collection: str = argument("", "where to look (default: default)")


@dataclass(frozen=True, slots=True)
class NewCollection:
    """A collection to make."""

    name: str = argument(doc="its name")
    vector_size: int | None = argument(
        None, "how many numbers a vector has, at most the model's (default: all)", least=1
    )
    force: bool = argument(False, "resize it though its vectors are lost and made anew")


@dataclass(frozen=True, slots=True)
class OfCollection:
    """All collections, or one."""

    collection: str = argument("", "only this one")


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    """One of the facts that agents read as resources."""

    what: str = argument(doc="which", choices=FACTS)
    project_id: str = argument("", "whose tags", aliases=("project",))

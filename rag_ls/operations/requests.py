"""What operations take, as data: each argument with its meaning, limits and default, once for all surfaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_ls.engine.code.lookup import CONTEXTS
from rag_ls.engine.requests import DECLARED_KINDS
from rag_ls.memory.portable import KINDS as SOURCES
from rag_ls.memory.portable import Format
from rag_ls.model import MemoryOrder, MemoryType, Scope
from rag_ls.operations.fields import argument
from rag_ls.search import DOCUMENT_KINDS

SCOPE_NAMES = tuple(scope.value for scope in Scope)
SCOPES_OR_ALL = (*SCOPE_NAMES, "all")
TYPE_NAMES = tuple(kind.value for kind in MemoryType)
FORMATS = tuple(item.value for item in Format)
CODE_KINDS = (*DECLARED_KINDS, *DOCUMENT_KINDS)
ANCHOR_STATES = ("fresh", "drifted", "orphaned", "unknown", "any")
# What an answer of code holds where an agent does not say.
AGENTS_BUDGET_TOKENS = 2500


@dataclass(frozen=True, slots=True)
class NoArguments:
    """Nothing is asked for besides the operation itself."""


@dataclass(frozen=True, slots=True)
class ListRepos:
    """The projects that can be named."""

    here_alone: bool = argument(False, "not those that the team published: its server is not asked", flag="-")


# --- code


@dataclass(frozen=True, slots=True)
class SearchCode:
    """A question about code."""

    query: str = argument(doc="words, an identifier, a path, an error message or a piece of code")
    k: int | None = argument(None, "hits at most", agent_default=10, flag="-k")
    project: tuple[str, ...] = argument(
        (), "names or roots of projects, or all", agents="a name of list_repos, or all", agents_type="string"
    )
    language: str = argument("", "only code in this language")
    path_glob: str = argument("", "only files that match", agents="e.g. src/**/*.py", flag="--path", metavar="GLOB")
    kind: str = argument("", "only this kind of declaration or document", names=CODE_KINDS)
    files_only: bool = argument(False, "one hit a file, without its text")
    min_score: float | None = argument(None, "only hits with at least this score, 0 to 1")
    rerank: bool = argument(False, "have the cross-encoder of the settings order the first hits")
    budget_tokens: int | None = argument(
        None, "cut the answer to about so many tokens; 0 for no limit", least=0, agent_default=AGENTS_BUDGET_TOKENS
    )


@dataclass(frozen=True, slots=True)
class FindRelated:
    """A place, a symbol or a snippet that other code is to be like."""

    path: str = argument("", "a file", is_path=True)
    line: int | None = argument(None, "a line of it, from 1", least=1)
    symbol: str = argument("", "a symbol, by its qualified name or its last part")
    snippet: str = argument("", "a piece of code or text")
    k: int | None = argument(None, "hits at most", flag="-k")
    min_score: float | None = argument(None, "only hits at least this close, 0 to 1")
    language: str = argument("", "only code in this language")
    path_glob: str = argument("", "only files that match", metavar="GLOB")
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class GetChunk:
    """A chunk by its id."""

    id: str = argument(doc="a chunk's id, as searches give it")
    context: str = argument("", "how much of its document around it", choices=CONTEXTS)


@dataclass(frozen=True, slots=True)
class ListSymbols:
    """Declarations of files, or of a name."""

    path: str = argument("", "a file", is_path=True)
    path_glob: str = argument("", "files that match", metavar="GLOB")
    query: str = argument("", "a name, or a part of one")
    kind: str = argument("", "only this kind of declaration")
    k: int | None = argument(None, "symbols at most", least=1, flag="-k")
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class RelatedTests:
    """A place whose tests are wanted."""

    path: str = argument("", "a file", is_path=True)
    line: int | None = argument(None, "a line of it, from 1", least=1)
    symbol: str = argument("", "a symbol")
    k: int | None = argument(None, "tests at most", least=1, flag="-k")
    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class Search:
    """A question about code and memories, as the shell asks it."""

    query: str = argument(doc="a question, words, an identifier, a path, an error message or a piece of code")
    kinds: tuple[str, ...] = argument(
        (),
        "what to search: code, memory, rules (default: code,memory; memory with --scope)",
        flag="--in",
        metavar="KINDS",
    )
    k: int | None = argument(None, "hits at most, of each kind, to 100", flag="-k")
    language: str = argument("", "only code in this language")
    path_glob: str = argument("", "only files that match, e.g. 'src/**'", flag="--path", metavar="GLOB")
    scope: str = argument("", "memories of this scope (default: all)", choices=SCOPES_OR_ALL, agents_type="string")
    min_similarity: float | None = argument(None, "of memories, 0 to 1 (default: 0.7)")


@dataclass(frozen=True, slots=True)
class Show:
    """A memory or a chunk by its id."""

    id: str = argument(doc="a memory's id (or its first 4 or more characters), or a chunk's")
    history: bool = argument(False, "with a memory's former versions")


# --- memories


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Start and end of a time: days, or moments (RFC 3339)."""

    start: str = argument("", "e.g. 2026-01-01", agents_required=True)
    end: str = argument("", "e.g. 2026-01-31 (default: now)")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a caller says about a memory."""

    tags: tuple[str, ...] = argument((), "words to find it by")
    source_file: str = argument("", "the file it is about", is_path=True)
    line: int | None = argument(None, "a line of that file, from 1", least=1)
    symbol: str = argument("", "a symbol of that file")
    memory_type: str = argument("", "what kind of knowledge it is", choices=TYPE_NAMES)
    importance_score: float | None = argument(None, "0 to 1; it ranks a little higher")
    language: str = argument("", "a programming language")
    chunk_index: int | None = argument(None, "its place among the parts of a text", least=0)
    parent_id: str = argument("", "the memory or text that it is a part of")
    ast_node_type: str = argument("", "the kind of code that it is about")
    custom: Mapping[str, Any] = argument({}, "anything else, as JSON")
    source_uri: str = argument("", "where it comes from")
    branch: Any = argument(None, "the git branch that it counts on; true for the one checked out")


@dataclass(frozen=True, slots=True)
class Filters:
    """What memories must be like."""

    tags: tuple[str, ...] = argument((), "with any of these tags")
    memory_type: str = argument("", "of this kind", choices=TYPE_NAMES)
    language: str = argument("", "about this programming language")
    time_range: Mapping[str, Any] = argument({}, "changed in this time", agents="start, end", properties=TimeRange)
    branch: str = argument("", "of this git branch instead of the one checked out; * for all")
    never_recalled: bool = argument(False, "only what nobody ever looked up")
    anchor: str = argument("", "about code that stands so", choices=ANCHOR_STATES)
    path: str = argument("", "about this file")


_SHOWN_FILTERS = ("tags", "memory_type", "time_range", "anchor", "path")
_SHOWN_METADATA = ("tags", "source_file", "line", "symbol", "memory_type")


@dataclass(frozen=True, slots=True)
class StoreMemory:
    """A memory to keep."""

    content: str = argument(doc="the text to remember")
    scope: str = argument("", "where it lives", choices=SCOPE_NAMES, agents_required=True)
    metadata: Mapping[str, Any] = argument({}, "what else is said of it", properties=Metadata, shown=_SHOWN_METADATA)
    project: str = argument("", "the name or root of a project")
    force: bool = argument(False, "even if it looks trivial, or like a secret")
    tags: Any = argument(None, "as in metadata, as what follows", flag="-")
    source_file: Any = argument(None, flag="-")
    line: Any = argument(None, flag="-")
    symbol: Any = argument(None, flag="-")
    memory_type: Any = argument(None, flag="-")
    importance_score: Any = argument(None, flag="-")
    language: Any = argument(None, flag="-")
    chunk_index: Any = argument(None, flag="-")
    parent_id: Any = argument(None, flag="-")
    ast_node_type: Any = argument(None, flag="-")
    custom: Any = argument(None, flag="-")
    source_uri: Any = argument(None, flag="-")
    branch: Any = argument(None, flag="-")


@dataclass(frozen=True, slots=True)
class SearchMemory:
    """A question about what was remembered. Filters may stand beside `filters`, too."""

    query: str = argument(doc="a question, words or tags")
    k: int | None = argument(None, "memories at most", agent_default=5, flag="-k")
    scope: str = argument("", "memories of this scope", choices=SCOPES_OR_ALL)
    filters: Mapping[str, Any] = argument({}, "what they must be like", properties=Filters, shown=_SHOWN_FILTERS)
    min_similarity: float | None = argument(None, "how close in meaning, 0 to 1", agent_default=0.7)
    project: str = argument("", "the name or root of a project, or all")
    budget_tokens: int | None = argument(None, "how long `context` may be", least=1)
    tags: tuple[str, ...] = argument(())
    memory_type: str = argument("", choices=TYPE_NAMES)
    language: str = argument("")
    time_range: Mapping[str, Any] = argument({})
    branch: str = argument("")
    never_recalled: bool = argument(False)
    anchor: str = argument("", choices=ANCHOR_STATES)
    path: str = argument("")
    is_unsaved: bool = argument(False, "the query is unsaved text: it is not sent to another machine", flag="-")


@dataclass(frozen=True, slots=True)
class ListMemories:
    """A page of memories. Filters may stand beside `filters`, too."""

    scope: str = argument("", "memories of this scope (default: all)", choices=SCOPES_OR_ALL, agents_type="string")
    filters: Mapping[str, Any] = argument(
        {}, "what they must be like", properties=Filters, agents="as in search_memory"
    )
    k: int | None = argument(None, "how many at most", least=1, agent_default=50, flag="--limit")
    offset: int | None = argument(None, "how many to pass over", least=0)
    order: str = argument("", "which come first", choices=tuple(item.value for item in MemoryOrder))
    deleted: bool = argument(False, "those that were deleted, the latest first; `restore ID` brings one back")
    project: str = argument("", "the name or root of a project, or all")
    tags: tuple[str, ...] = argument(())
    memory_type: str = argument("", choices=TYPE_NAMES)
    language: str = argument("")
    time_range: Mapping[str, Any] = argument({})
    branch: str = argument("")
    never_recalled: bool = argument(False)
    anchor: str = argument("", choices=ANCHOR_STATES)
    path: str = argument("")


@dataclass(frozen=True, slots=True)
class GetMemory:
    """A memory by its id."""

    id: str = argument(doc="a memory's id, or its first 4 or more characters")
    embedding: bool = argument(False, "with its vectors")
    history: bool = argument(False, "with its former versions")


@dataclass(frozen=True, slots=True)
class UpdateMemory:
    """A memory with what is to change of it; with neither, the caller confirms that it still holds."""

    id: str = argument(doc="a memory's id, or its first 4 or more characters")
    content: str | None = argument(None, "its new text")
    metadata: Mapping[str, Any] | None = argument(None, "changes of its metadata; null removes a key")
    expected_version: int | None = argument(None, "refuse where it is at another version", least=1)
    force: bool = argument(False, "even if it looks trivial, or like a secret")


@dataclass(frozen=True, slots=True)
class MemoryId:
    """A memory by its id."""

    id: str = argument(doc="a memory's id, or its first 4 or more characters")


@dataclass(frozen=True, slots=True)
class DeleteMemories:
    """Memories to delete together."""

    ids: tuple[str, ...] = argument((), "ids, or their first 4 or more characters")
    dry_run: bool = argument(False, "show what would be done, and do nothing")


@dataclass(frozen=True, slots=True)
class Undo:
    """A change of many memories to take back."""

    id: str = argument("", "which one, by the id that it named (default: the latest)")
    dry_run: bool = argument(False, "show what would be done, and do nothing")


@dataclass(frozen=True, slots=True)
class RestoreMemory:
    """A former version of a memory."""

    id: str = argument(doc="of a memory that was changed or deleted")
    version: int | None = argument(None, "which version (default: the one before)", least=1)


@dataclass(frozen=True, slots=True)
class ConsolidateMemories:
    """Which memories to merge, and whether to do so."""

    scope: str = argument("", "memories of this scope (default: all)", choices=SCOPES_OR_ALL, agents_type="string")
    threshold: float | None = argument(None, "how close they must be, 0 to 1 (default: 0.85)")
    dry_run: bool = argument(False, "show what would be done, and do nothing")
    undo: Any = argument(None, "true takes the latest one back, an id that one", agents_type="boolean")
    project: str = argument("", "the name or root of a project")


@dataclass(frozen=True, slots=True)
class SummarizeMemories:
    """A time whose memories are to be summed up."""

    time_range: Mapping[str, Any] = argument(
        {}, "start and end", properties=TimeRange, shown=("start", "end"), agents_required=True
    )
    scope: str = argument("", "memories of this scope (default: project)", choices=SCOPES_OR_ALL, agents_type="string")
    filters: Mapping[str, Any] = argument({}, "what they must be like", properties=Filters)
    dry_run: bool = argument(False, "show what would be done, and do nothing")
    max_words: int | None = argument(None, "how long it may be", least=5)
    summary_key: str = argument("", "the name under which the next one replaces this one")
    project: str = argument("", "the name or root of a project")
    tags: tuple[str, ...] = argument(())
    memory_type: str = argument("", choices=TYPE_NAMES)
    language: str = argument("")


@dataclass(frozen=True, slots=True)
class MemoriesAbout:
    """A place in the code of which something may be known."""

    path: str = argument(doc="a file", is_path=True)
    line: int | None = argument(None, "a line of it, from 1", least=1)
    text: str = argument("", "what the question is, where it is not what stands there")
    k: int | None = argument(None, "memories at most")
    budget_tokens: int | None = argument(None, "how long `context` may be", least=1)


# --- looking after memories and indexes


@dataclass(frozen=True, slots=True)
class OfScope:
    """All scopes, or one."""

    scope: str = argument("", "memories of this scope (default: all)", choices=SCOPES_OR_ALL, agents_type="string")


@dataclass(frozen=True, slots=True)
class ExportMemories:
    """Where a scope's memories are to be written."""

    output: str = argument(doc="a file", is_path=True, is_written=True)
    scope: str = argument("", "memories of this scope (default: project)", choices=SCOPE_NAMES)
    format: str = argument("", "(default: by the file's name, else json)", choices=FORMATS)
    embeddings: bool = argument(False, "with their vectors")
    tags: tuple[str, ...] = argument((), flag="-")
    filters: Mapping[str, Any] = argument({}, flag="-", properties=Filters)


@dataclass(frozen=True, slots=True)
class ImportMemories:
    """Where memories are to be read."""

    input: str = argument(doc="a file or folder", is_path=True)
    scope: str = argument("", "memories of this scope (default: project)", choices=SCOPE_NAMES)
    format: str = argument("", "(default: by the file's name and beginning)", choices=FORMATS)
    source: str = argument("", "it comes from another tool", choices=SOURCES, flag="--from")
    force: bool = argument(False, "take in what looks like a secret too")
    dry_run: bool = argument(False, "show what would be done, and do nothing")


@dataclass(frozen=True, slots=True)
class RestoreBackup:
    """A backup to bring back."""

    scope: str = argument("", "memories of this scope (default: project)", choices=SCOPE_NAMES[1:])
    backup: str = argument("", "latest, a date like 2026-01-31, a time of it, or a file", metavar="NAME", is_path=True)
    dry_run: bool = argument(False, "show what would be done, and do nothing")


# --- the index, the engine, the projects


@dataclass(frozen=True, slots=True)
class IndexProject:
    """How far to index."""

    words_only: bool = argument(False, "leave the embeddings to the editor or agent")
    force: bool = argument(False, "also a folder of all kinds of things (home, /), or of more than 100,000 files")


@dataclass(frozen=True, slots=True)
class OfProjects:
    """The client's projects, or some."""

    project: tuple[str, ...] = argument((), "names or roots of projects, or all")


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Whose state is asked for, and whether to wait."""

    project: tuple[str, ...] = argument((), "names or roots of projects, or all")
    wait_s: int | None = argument(None, "wait so long for the index to be complete", least=0)
    skipped: bool = argument(False, "name the skipped files")


@dataclass(frozen=True, slots=True)
class Status:
    """How much of the state is shown."""

    skipped: bool = argument(False, "name the files that are skipped, with the reasons")


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Whose state is asked for, and how much of it."""

    project: tuple[str, ...] = argument((), "names or roots of projects, or all")
    details: bool = argument(False, "what each project is made of, too")
    open_only: bool = argument(False, "only projects that the engine has open: no other is opened for this")


@dataclass(frozen=True, slots=True)
class Scan:
    """The projects to index."""

    project: tuple[str, ...] = argument((), "names or roots, or all", flag="-")
    words_only: bool = argument(False, "leave the embeddings to the editor or agent")


@dataclass(frozen=True, slots=True)
class AddProject:
    """A project to be known by name."""

    path: str = argument(doc="a folder of the project", is_path=True, is_root=True)
    name: str = argument("", "what to call it (default: the folder's name)")


@dataclass(frozen=True, slots=True)
class PlanRemoval:
    """A project that is to go."""

    project: str = argument(doc="a name, or the path of a root")
    memories: bool = argument(False, "delete its memories too, with their backups")


@dataclass(frozen=True, slots=True)
class RemoveProjects:
    """Projects that go."""

    roots: tuple[str, ...] = argument((), "their roots")
    memories: bool = argument(False, "with their memories")

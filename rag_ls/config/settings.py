"""Every setting, declared once: a dataclass field with its meaning, its limits and its rules (see `engine_settings`).

The reference in `docs/configuration.md`, VS Code's settings and the `rag-ls config` command are generated from these fields;
what loads settings and what applies changed ones reads the rules from them (see `described`).
"""

from __future__ import annotations

from pathlib import Path

from rag_ls.config.engine_settings import (
    DaemonSettings,
    EmbeddingSettings,
    HnswSettings,
    HttpSettings,
    LocationSettings,
    LogSettings,
    SetBy,
    StorageSettings,
    StoreSettings,
    SummarySettings,
    TakesEffect,
    section,
    setting,
)
from rag_ls.config.entries import ProjectEntry, entry_of
from rag_ls.util.records import dataclass, field, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """The files that are indexed."""

    max_file_bytes: int = setting(1_000_000, minimum=1, waits="above", takes_effect=TakesEffect.CUT)
    """Files of more bytes are not indexed; `status` counts them."""
    exclude: tuple[str, ...] = setting((), takes_effect=TakesEffect.COMPARED)
    """Files and folders that are not indexed: patterns as in .gitignore, besides .gitignore and .ragignore."""
    include: tuple[str, ...] = setting((), takes_effect=TakesEffect.COMPARED)
    """Index only files that match one of these patterns, as in .gitignore, e.g. `src/**`. Empty: all files."""
    encodings: tuple[str, ...] = setting((), pairs=True, takes_effect=TakesEffect.CUT, expert=True)
    """Encodings of files that are neither UTF-8 nor recognised, by patterns as in .gitignore: `"legacy/**" = "gbk"`."""
    force: tuple[str, ...] = setting((), waits="above", takes_effect=TakesEffect.CUT)
    """Index files that match one of these patterns even if they look like data, binary, generated or minified."""
    product: tuple[str, ...] = setting((), expert=True)
    """Files that are product code although their paths look like tests, examples or foreign code: patterns, e.g. `src/testing/**`."""
    tests: tuple[str, ...] = setting((), expert=True)
    """Files that are tests, whatever their paths look like: patterns, which count before `index.product`."""
    submodules: bool = setting(True, takes_effect=TakesEffect.COMPARED)
    """Index git submodules that are checked out, by their own ignore rules. Off: they are left out, and named."""
    branch: str = setting("")
    """Index in the background only while this git branch is checked out. Empty: any branch."""
    watch: bool = setting(True, takes_effect=TakesEffect.COMPARED, expert=True)
    """Notice at once what other programs write. Off: each question first compares the files with the index."""
    debounce_ms: int = setting(60, minimum=0, maximum=1500, takes_effect=TakesEffect.COMPARED, expert=True)
    """A file that another program writes is read again after this many milliseconds without a change. Questions wait for less, and
    text in an editor is read at once."""
    sweep_minutes: float = setting(10.0, minimum=0, waits="below", expert=True)
    """Minutes between two comparisons of all files with the index, in case a change was missed. 0: never."""
    on_open: bool = setting(True)
    """Index a project in the background when an editor or agent opens it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingSettings:
    """Cutting of documents; sizes in tokens of the embedding model."""

    max_chunk_size: int = setting(512, minimum=16, maximum=8192, waits="below")
    """The most tokens in a chunk, the piece of a file that search finds; the model's own limit counts too."""
    min_chunk_size: int = setting(24, minimum=1, maximum=4096)
    """The fewest tokens in a chunk: smaller pieces are merged with their siblings."""
    overlap: int = setting(24, minimum=0, maximum=1024, waits="above")
    """The tokens of the part before that each part repeats, where a piece is too large for one chunk."""
    strategy: str = setting("semantic_ast", choices=("semantic_ast", "lines"))
    """The way in which files are cut: `semantic_ast` along their syntax, `lines` by lines alone, whatever the language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Ranking of hits."""

    code_k: int = setting(10, minimum=1, maximum=100)
    """Hits in an answer about code, unless the question says how many."""
    default_k: int = setting(5, minimum=1, maximum=100)
    """Memories in an answer, unless the question says how many."""
    min_similarity: float = setting(0.7, minimum=0, maximum=1, expert=True)
    """The closeness in meaning that a memory must have to the question; half of it if both share a word. With every model, texts
    begin to be
    about the same at 0.7."""
    query_expansion: bool = setting(True, expert=True)
    """Search memories for abbreviations and synonyms of the question's words, too."""
    enable_reranking: bool = setting(False, waits="above", expert=True)
    """Let a second model, the cross-encoder `embedding.reranker`, put the memories that were found in order."""
    budget_tokens: int = setting(0, minimum=0, maximum=1_000_000, waits="always", expert=True)
    """The most tokens in an answer of `search_code`: longer ones are cut to the lines that matter. 0: no limit, but 2,000 for agents
    over MCP."""
    dense_weight: float = setting(0.65, minimum=0, maximum=1, expert=True)
    """The weight of closeness in meaning (of embeddings) in the score."""
    lexical_weight: float = setting(0.35, minimum=0, maximum=1, expert=True)
    """The weight of common words (BM25) in the score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """Recall of memories, and the files that they are kept in besides."""

    files: str = setting("")
    """A folder of the project, e.g. `docs/memory`, in which each memory is a Markdown file too: what an editor, a merge or a pull
    changes there is taken in, so that a team shares memories through git. In a folder that you trust."""
    global_files: str = setting("", is_folder=True)
    """A folder in which each of your global memories is a Markdown file too, e.g. `~/notes/memories`: a repository of your own, for
    several machines. Only your own settings count."""
    half_life_days: float = setting(180.0, minimum=0, expert=True)
    """After this many days without a change or a recall, a memory's bonus for being recent is half as large. 0: it never shrinks. No
    memory is deleted for its age."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySettings:
    """Git's commits, by which history is searched and code explained."""

    authors: bool = setting(False)
    """Keep and show who made a commit. Off: only its date, message and files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings:
    """Merging of memories."""

    similarity_threshold: float = setting(0.8, minimum=0.5, maximum=1, waits="below", expert=True)
    """The closeness (cosine) that all memories must have to each other to be proposed for merging."""
    auto_consolidate: bool = setting(False, waits="above")
    """Merge the project's memories that say the same while the engine is idle, without being asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSettings:
    """Languages that are indexed."""

    enabled: tuple[str, ...] = setting(())
    """Index only files in these languages, e.g. `python`. Empty: all languages."""
    map: tuple[str, ...] = setting((), pairs=True)
    """The language of files whose names do not tell it, by patterns as in .gitignore: `"*.inc" = "php"`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoverSettings:
    """The content of a hover."""

    enabled: bool = setting(True)
    """Show related memories and code on hover."""
    min_similarity: float = setting(0.62, minimum=0, maximum=1, expert=True)
    """The closeness (cosine) that code must have to be shown as related."""
    max_related: int = setting(3, minimum=0, maximum=10)
    """The most related places in a hover."""
    lenses: bool = setting(True)
    """Show above each declaration how many memories are about it."""
    max_memories: int = setting(3, minimum=0, maximum=10)
    """The most memories in a hover."""
    history: bool = setting(True)
    """Show how many commits changed the declaration, and the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSettings:
    """The tools and hints that agents are offered."""

    toolsets: tuple[str, ...] = setting(
        ("code", "memory", "rules"), choices=("code", "memory", "rules", "collections"), waits="above"
    )
    """The sets of tools that agents are offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of rag-ls."""

    index: IndexSettings = section(IndexSettings)
    chunking: ChunkingSettings = section(ChunkingSettings, takes_effect=TakesEffect.CUT, expert=True)
    embedding: EmbeddingSettings = section(EmbeddingSettings, set_by=SetBy.USER, takes_effect=TakesEffect.RESTARTED)
    search: SearchSettings = section(SearchSettings)
    memory: MemorySettings = section(MemorySettings)
    history: HistorySettings = section(HistorySettings, set_by=SetBy.USER)
    hnsw: HnswSettings = section(HnswSettings, takes_effect=TakesEffect.OPENED, expert=True)
    consolidation: ConsolidationSettings = section(ConsolidationSettings)
    storage: StorageSettings = section(StorageSettings)
    locations: LocationSettings = section(LocationSettings, set_by=SetBy.USER, takes_effect=TakesEffect.RESTARTED)
    summaries: SummarySettings = section(SummarySettings, set_by=SetBy.USER)
    store: StoreSettings = section(StoreSettings, set_by=SetBy.USER, takes_effect=TakesEffect.RESTARTED)
    languages: LanguageSettings = section(LanguageSettings, takes_effect=TakesEffect.CUT)
    hover: HoverSettings = section(HoverSettings)
    mcp: McpSettings = section(McpSettings)
    daemon: DaemonSettings = section(
        DaemonSettings, set_by=SetBy.USER, takes_effect=TakesEffect.RESTARTED, short="mode"
    )
    http: HttpSettings = section(HttpSettings, set_by=SetBy.USER, takes_effect=TakesEffect.RESTARTED)
    log: LogSettings = section(LogSettings, set_by=SetBy.USER, takes_effect=TakesEffect.RESTARTED)
    projects: tuple[ProjectEntry, ...] = field(default=(), metadata={"set_by": SetBy.USER})
    """The projects that the user's file lists: `[[projects]]` tables, no section of settings."""

    def of(self, root: Path) -> Settings:
        """As they are for one project, with what its entry in `projects` says of it."""
        entry = entry_of(self.projects, root)
        if entry is None:
            return self
        index = replace(
            self.index,
            include=entry.include or self.index.include,
            exclude=(*self.index.exclude, *entry.exclude),
            branch=entry.branch or self.index.branch,
        )
        return replace(self, index=index)

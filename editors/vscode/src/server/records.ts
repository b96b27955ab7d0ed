// Generated from the answers in rag_ls/operations/ by scripts/dev.py docs.

/** A project that is known by name now. */
export interface AddedProjectAnswer {
  readonly name: string;
  readonly root: string;
  readonly source: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly branch: string;
  readonly note: string;
}

/** The place in the code that a memory is about. */
export interface AnchorRecord {
  readonly path: string;
  readonly state: string;
  readonly symbol?: string;
  readonly line?: number;
  readonly project?: string;
  readonly former_symbol?: string;
}

/** A memory about a place in a file. */
export interface AnchoredMemory {
  readonly id: string;
  readonly content: string;
  readonly line?: number;
  readonly filePath?: string;
  readonly state?: string;
}

/** The changes that were made, or would be made. */
export interface BatchRecord {
  readonly dry_run: boolean;
  readonly inserted: number;
  readonly replaced: number;
  readonly deleted: number;
  readonly inserted_memories: readonly BriefMemory[];
  readonly replaced_memories: readonly BriefMemory[];
  readonly deleted_memories: readonly BriefMemory[];
  readonly undo: string;
}

/** A memory in a few words. */
export interface BriefMemory {
  readonly id: string;
  readonly content: string;
  readonly scope: string;
  readonly similarity?: number;
  readonly cosine?: number;
  readonly contradicts?: string;
}

/** The former and the present size of a file. */
export interface BytesRecord {
  readonly before: number;
  readonly after: number;
}

/** A file that differs from the revision. */
export interface ChangeRecord {
  readonly filePath: string;
  readonly status: string;
  readonly formerPath?: string;
  readonly names?: readonly ChangedNameRecord[];
  readonly mustChange?: readonly DependentRecord[];
  readonly dependentsTotal: number;
  readonly tests?: readonly string[];
  readonly note?: string;
}

/** A public name that a change touches. */
export interface ChangedNameRecord {
  readonly name: string;
  readonly line: number;
  readonly change: string;
}

/** The places in a file that break a rule. */
export interface CheckedFileAnswer {
  readonly filePath: string;
  readonly violations: readonly ViolationRecord[];
  readonly total: number;
  readonly status: string;
}

/** The number of memories that were forgotten. */
export interface ClearedAnswer {
  readonly cleared: number;
}

/** A client that is connected to the engine. */
export interface ClientRecord {
  readonly surface: string;
  readonly name: string;
  readonly pid: number | null;
  readonly connected_at: string;
}

/** Files, best first. */
export interface CodeAnswer {
  readonly query: string;
  readonly results: readonly CodeRecord[];
  readonly stats: Stats;
  readonly exact?: ExactPlaces;
  readonly words?: readonly string[];
}

/** A file at its best place, with others of it; or a chunk, or more of its document around it. */
export interface CodeRecord {
  readonly kind: string;
  readonly id: string;
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly language: string;
  readonly symbol: string;
  readonly node_type: string;
  readonly score: number;
  readonly matched_by: readonly string[];
  readonly freshness: string | null;
  readonly file?: string;
  readonly scope?: string;
  readonly why?: string;
  readonly context?: string;
  readonly text?: string;
  readonly truncated?: boolean;
  readonly left_out?: readonly string[];
  readonly places?: readonly PlaceRecord[];
  readonly far?: boolean;
  readonly note?: string;
  readonly project?: string;
}

/** The chunks that answer a question, and a text of them for a prompt. */
export interface CollectionAnswer {
  readonly results: readonly PushedResult[];
  readonly context: string;
  readonly used_filters: UsedFilters;
  readonly note?: string;
}

/** The size of the collections, in numbers. */
export interface CollectionMetricsAnswer {
  readonly documents: number;
  readonly chunks: number;
  readonly last_chunk_size: number;
  readonly collections: number;
  readonly types: Readonly<Record<string, number>>;
  readonly pending_embeddings: number;
}

/** Whether a collection exists, and its size. */
export interface CollectionRecord {
  readonly exists: boolean;
  readonly chunks: number;
}

/** Chunks by what they hold. */
export interface CollectionStats {
  readonly codebase: number;
  readonly constraints: number;
  readonly patterns: number;
}

/** A summary, and how it was made. */
export interface CollectionSummaryAnswer {
  readonly summary: string;
  readonly source_memory_ids: readonly string[];
  readonly upserted_memory_id: string;
  readonly summary_key: string;
  readonly strategy: string;
  readonly provider: string;
  readonly used_filters: UsedFilters;
  readonly note?: string;
}

/** All collections. */
export interface CollectionsAnswer {
  readonly collections: readonly PushedCollection[];
}

/** A commit. */
export interface CommitRecord {
  readonly id: string;
  readonly date: string;
  readonly subject: string;
  readonly kind: string;
  readonly body?: string;
  readonly author?: string;
  readonly introduces?: boolean;
  readonly path?: string;
  readonly files?: readonly string[];
  readonly more_files?: number;
  readonly score?: number;
  readonly project?: string;
}

/** The user's settings, which list a project. */
export interface ConfigFile {
  readonly file: string;
}

/** The changes that a consolidation made, or would make; or those that taking it back restored. */
export interface ConsolidationAnswer {
  readonly dry_run?: boolean;
  readonly threshold?: number;
  readonly merges?: readonly MergeRecord[];
  readonly proposals?: readonly ProposalRecord[];
  readonly contradictions?: readonly ContradictionRecord[];
  readonly never_recalled?: readonly BriefMemory[];
  readonly undo?: Readonly<Record<string, string>>;
  readonly restored?: readonly MemoryRecord[];
}

/** The rules that apply to a planned change. */
export interface ConstraintsAnswer {
  readonly query: string;
  readonly constraints: readonly RuleRecord[];
  readonly patterns: readonly RuleRecord[];
  readonly examples: readonly ExampleRecord[];
  readonly summary: string;
  readonly violations?: readonly ViolationRecord[];
  readonly checks?: readonly string[];
  readonly status: string;
}

/** Two memories that cannot both hold. */
export interface ContradictionRecord {
  readonly memories: readonly BriefMemory[];
  readonly reason: string;
}

/** The indexed share of a project in percent, by tier; 100 only if nothing is left to do. */
export interface Coverage {
  readonly words: number;
  readonly vectors: number;
}

/** A memory that was deleted. */
export interface DeletedAnswer {
  readonly id: string;
  readonly deleted: boolean;
  readonly scope: string;
}

/** The memories that were deleted together. */
export interface DeletedMemoriesAnswer {
  readonly missing: readonly string[];
  readonly changes: BatchRecord;
  readonly still_held?: readonly string[];
}

/** A file that depends on another one. */
export interface DependentRecord {
  readonly filePath: string;
  readonly imports: readonly string[];
  readonly names?: readonly string[];
  readonly lines?: readonly number[];
  readonly uses?: readonly UseRecord[];
  readonly byName?: boolean;
}

/** The patterns that set-up found in the code. */
export interface DetectedPatterns {
  readonly middleware: readonly string[];
  readonly responseFormat: string | null;
  readonly frontendImports: readonly string[];
}

/** The proposals that were dropped. */
export interface DroppedAnswer {
  readonly dropped: readonly string[];
}

/** The vectors of a memory's parts. */
export interface EmbeddingRecord {
  readonly model: string;
  readonly vectors: readonly (readonly number[])[];
}

/** The engine; with its clients and latencies, where they are asked for. */
export interface EngineRecord {
  readonly mode: string;
  readonly pid: number;
  readonly version: string;
  readonly uptime_s: number;
  readonly address?: string;
  readonly log?: string;
  readonly memory_bytes?: number;
  readonly processor_s?: number;
  readonly models?: readonly ModelRecord[];
  readonly clients?: readonly ClientRecord[];
  readonly latency?: Readonly<Record<string, LatencyRecord>>;
}

/** All lines that hold a literal text or match a regular expression, a page of them told. */
export interface ExactPlaces {
  readonly match: string;
  readonly pattern: string;
  readonly total: number;
  readonly files: number;
  readonly places: readonly LineRecord[];
  readonly inside_words?: number;
  readonly next_offset?: number;
  readonly left_out?: string;
  readonly is_partial?: boolean;
}

/** Code that does what the change is about. */
export interface ExampleRecord {
  readonly content: string;
  readonly filePath: string;
  readonly lines: string;
  readonly type: string;
  readonly relevance: number;
}

/** The memories that were written to a file. */
export interface ExportAnswer {
  readonly exported: number;
  readonly scope: string;
  readonly output: string;
  readonly format: string;
}

/** A fact that agents read as a resource: names, or figures, or a text. */
export interface FactsAnswer {
  readonly what: string;
  readonly names?: readonly string[];
  readonly values?: Readonly<Record<string, unknown>>;
  readonly text?: string;
}

/** Figures by scope. */
export interface FiguresAnswer {
  readonly scopes: Readonly<Record<string, ScopeFigures>>;
}

/** A file that could not be indexed. */
export interface FileError {
  readonly file: string;
  readonly error: string;
}

/** The commits that changed some code: the one that brought it, then the others, the newest first. Or those that answer a question. */
export interface HistoryAnswer {
  readonly commits: readonly CommitRecord[];
  readonly total: number;
  readonly path?: string;
  readonly start_line?: number;
  readonly end_line?: number;
  readonly symbol?: string;
  readonly line_changed_by?: CommitRecord;
  readonly memories?: readonly string[];
  readonly rules?: readonly string[];
  readonly note?: string;
}

/** Files, memories, rules and commits, best first. */
export interface HitsAnswer {
  readonly query: string;
  readonly results: readonly (CodeRecord | MemoryRecord | CommitRecord)[];
  readonly stats: Stats;
  readonly exact?: ExactPlaces;
  readonly words?: readonly string[];
}

/** The files, tests, memories and rules that a change of a file would touch. */
export interface ImpactAnswer {
  readonly filePath: string;
  readonly exports: readonly string[];
  readonly apiEndpoints: readonly string[];
  readonly websocketEvents: readonly string[];
  readonly dependents: readonly DependentRecord[];
  readonly similarFiles: readonly SimilarRecord[];
  readonly summary: string;
  readonly tests: readonly string[];
  readonly testsThrough?: readonly ReachingRecord[];
  readonly memories?: readonly AnchoredMemory[];
  readonly dependentsTotal: number;
  readonly dependentsBeyond: number;
  readonly base?: string;
  readonly changes?: readonly ChangeRecord[];
  readonly rules?: readonly SpeakingRule[];
  readonly violations?: readonly ViolationRecord[];
  readonly notes?: readonly string[];
  readonly status: string;
}

/** The memories that were taken in. */
export interface ImportAnswer {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly duplicates: number;
  readonly scope: string;
  readonly input: string;
  readonly changes: BatchRecord;
}

/** Proposals, the newest first, after the memories whose code has changed. */
export interface InboxPage {
  readonly proposals: readonly InboxRecord[];
  readonly total: number;
  readonly next_offset?: number;
}

/** A memory that was proposed, or one that should be looked at again. */
export interface InboxRecord {
  readonly id: string;
  readonly content: string;
  readonly origin: string;
  readonly why: string;
  readonly proposed_at: string;
  readonly kind: string;
  readonly anchor?: AnchorRecord;
}

/** The share of a language. */
export interface LanguageRecord {
  readonly documents: number;
  readonly chunks: number;
}

/** The change of many memories that `undo` would take back now. */
export interface LastChangeAnswer {
  readonly id: string;
  readonly kind: string;
  readonly at: string;
  readonly memories: number;
}

/** The latency of an operation, in milliseconds. */
export interface LatencyRecord {
  readonly count: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
}

/** A line that holds the text or matches the expression. */
export interface LineRecord {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly symbol?: string;
  readonly byte_column?: number;
  readonly file?: string;
  readonly project?: string;
}

/** Memories, best first, and the same as a text with citations. */
export interface MemoryAnswer {
  readonly query: string;
  readonly results: readonly MemoryRecord[];
  readonly stats: Stats;
  readonly context: string;
}

/** A page of memories. */
export interface MemoryPage {
  readonly memories: readonly MemoryRecord[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly next_offset?: number;
  readonly note?: string;
  readonly hint?: string;
  readonly happened?: string;
}

/** A memory; in search answers with its score, alone with all that is known of it. */
export interface MemoryRecord {
  readonly id: string;
  readonly content: string;
  readonly scope: string;
  readonly metadata: MetadataRecord;
  readonly memory_type: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
  readonly anchor: AnchorRecord | null;
  readonly kind?: string;
  readonly truncated?: boolean;
  readonly start?: number;
  readonly length?: number;
  readonly note?: string;
  readonly branch?: string;
  readonly uses?: number;
  readonly used_at?: string;
  readonly summary_key?: string;
  readonly content_hash?: string;
  readonly source_uri?: string;
  readonly source_memory_ids?: readonly string[];
  readonly superseded_by?: string;
  readonly score?: number;
  readonly matched_by?: readonly string[];
  readonly similarity?: number;
  readonly embedding?: EmbeddingRecord;
  readonly history?: readonly VersionRecord[];
  readonly deleted_at?: string;
  readonly reason?: string;
}

/** Memories that say the same. */
export interface MergeRecord {
  readonly kept: BriefMemory;
  readonly merged: readonly BriefMemory[];
}

/** Facts that a caller stated about a memory. */
export interface MetadataRecord {
  readonly tags?: readonly string[];
  readonly source_file?: string;
  readonly language?: string;
  readonly chunk_index?: number;
  readonly parent_id?: string;
  readonly ast_node_type?: string;
  readonly importance_score?: number;
  readonly custom?: Readonly<Record<string, unknown>>;
}

/** A model that is loaded. */
export interface ModelRecord {
  readonly model: string;
  readonly ready: boolean;
  readonly worker_pid: number | null;
}

/** The collection after the request. */
export interface NewCollectionAnswer {
  readonly name: string;
  readonly status: string;
  readonly vector_size: number;
  readonly count: number;
}

/** One of the engine's projects, in short. */
export interface OpenProjectRecord {
  readonly root: string;
  readonly documents: number;
  readonly chunks: number;
  readonly queued_documents: number;
  readonly pending_embeddings: number;
  readonly activity: string;
  readonly clients: number;
}

/** The indexes that were brought into their best shape. */
export interface OptimizedAnswer {
  readonly optimized: readonly string[];
}

/** One more place of a file, with the line of it that says most. */
export interface PlaceRecord {
  readonly start_line: number;
  readonly end_line: number;
  readonly symbol: string;
  readonly line: number;
  readonly text: string;
  readonly whole?: string;
}

/** The state of a project. */
export interface ProjectStatusRecord {
  readonly root: string;
  readonly complete: boolean;
  readonly documents: number;
  readonly chunks: number;
  readonly queued_documents: number;
  readonly pending_embeddings: number;
  readonly indexed_percent: Coverage;
  readonly unsaved_buffers: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly activity: string;
  readonly sync: string;
  readonly last_sync: string | null;
  readonly model: string;
  readonly model_ready: boolean;
  readonly memories: Readonly<Record<string, number>>;
  readonly note?: string;
  readonly share_problem?: string;
  readonly languages?: Readonly<Record<string, LanguageRecord>>;
  readonly skipped_files?: readonly SkippedRecord[];
  readonly engine?: EngineRecord;
  readonly projects?: readonly OpenProjectRecord[];
}

/** Memories that may say the same; `ids` merges them. */
export interface ProposalRecord {
  readonly memories: readonly BriefMemory[];
  readonly cosine: number;
}

/** A file that set-up would write, or leaves alone. */
export interface ProposedFile {
  readonly path: string;
  readonly written: boolean;
  readonly why: string;
  readonly text: string;
  readonly needs?: string;
}

/** The outcome of pushing a text. */
export interface PushedAnswer {
  readonly collection: string;
  readonly chunks_indexed: number;
  readonly chunk_size: number;
  readonly inserted: number;
  readonly updated: number;
  readonly skipped_duplicates: number;
  readonly memory_ids: readonly string[];
}

/** One collection. */
export interface PushedCollection {
  readonly name: string;
  readonly vector_size: number;
  readonly count: number;
}

/** Facts that are kept with a chunk. */
export interface PushedMetadata {
  readonly project_id: string;
  readonly memory_type: string;
  readonly tags: readonly string[];
  readonly source_uri: string | null;
  readonly timestamp: string;
  readonly chunk_hash: string;
  readonly chunk_index: number | null;
}

/** One chunk that answers a question. */
export interface PushedResult {
  readonly id: string;
  readonly score: number;
  readonly text: string;
  readonly metadata: PushedMetadata;
}

/** A test that reaches a file through another one. */
export interface ReachingRecord {
  readonly filePath: string;
  readonly through: string;
}

/** A place that uses a symbol. */
export interface ReferenceRecord {
  readonly kind: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly symbol: string;
  readonly text: string;
  readonly sure: string;
  readonly target?: string;
  readonly depth?: number;
  readonly test?: boolean;
  readonly project?: string;
}

/** The places that use a symbol: definitions first, then kind by kind. Of each the resolved ones come first, of a name with very many uses in each part that was looked at. */
export interface ReferencesAnswer {
  readonly symbol: string;
  readonly references: readonly ReferenceRecord[];
  readonly total: number;
  readonly summary: string;
  readonly offset?: number;
  readonly estimated?: boolean;
  readonly root?: string;
  readonly note?: string;
}

/** The projects whose files are being compared. */
export interface ReindexAnswer {
  readonly started: readonly string[];
}

/** The projects that would be removed. */
export interface RemovalPlan {
  readonly projects: readonly RemovalRecord[];
  readonly memories: boolean;
}

/** The data that removing a project deletes. */
export interface RemovalRecord {
  readonly name: string;
  readonly root: string;
  readonly source: string;
  readonly reason: string;
  readonly documents: number;
  readonly chunks: number;
  readonly embeddings: number;
  readonly bytes: number;
  readonly memories: number | null;
  readonly memory_bytes: number;
  readonly files: readonly string[];
  readonly config: ConfigFile | null;
  readonly copy?: string;
  readonly shared_with?: readonly string[];
}

/** The projects that were removed. */
export interface RemovedAnswer {
  readonly removed: readonly RemovalRecord[];
  readonly memories: boolean;
}

/** A project that can be named. */
export interface RepoRecord {
  readonly name: string;
  readonly root: string;
  readonly source: string;
  readonly open: boolean;
  readonly documents: number;
  readonly chunks: number;
  readonly complete: boolean;
  readonly branch: string;
  readonly bytes: number;
  readonly last_opened: string | null;
  readonly missing?: boolean;
  readonly note?: string;
}

/** The projects that can be named. */
export interface ReposAnswer {
  readonly repos: readonly RepoRecord[];
  readonly problems?: readonly string[];
  readonly published?: readonly string[];
}

/** The changes that bringing a backup back made. */
export interface RestoredBackupAnswer {
  readonly scope: string;
  readonly backup: string;
  readonly inserted: number;
  readonly replaced: number;
  readonly deleted: number;
  readonly moved_aside: string | null;
  readonly changes: BatchRecord;
}

/** A section of a rule document. */
export interface RuleRecord {
  readonly content: string;
  readonly filePath: string;
  readonly type: string;
  readonly relevance: number;
  readonly keyRules: readonly string[];
  readonly lines: string;
  readonly keyRuleLines?: readonly number[];
  readonly section?: string;
  readonly why?: string;
  readonly namesPath?: boolean;
}

/** Whether rules can be asked for. */
export interface RulesHealthAnswer {
  readonly healthy: boolean;
  readonly collections: Readonly<Record<string, CollectionRecord>>;
  readonly constraintFiles: Readonly<Record<string, boolean>>;
  readonly queryTest: string;
  readonly lastIndexed: string | null;
  readonly issues: readonly string[];
  readonly warnings: readonly string[];
  readonly status: string;
}

/** An index that was made anew. */
export interface RulesIndexedAnswer {
  readonly projectRoot: string;
  readonly filesIndexed: number;
  readonly chunksCreated: number;
  readonly collectionStats: CollectionStats;
  readonly errors: readonly FileError[];
  readonly duration: number;
  readonly message: string;
  readonly warning?: string;
  readonly status: string;
}

/** The state of the project's rules. */
export interface RulesStatusAnswer {
  readonly initialized: boolean;
  readonly projectRoot: string | null;
  readonly indexed: boolean | null;
  readonly lastIndexed: string | null;
  readonly totalChunks: number | null;
  readonly collectionCounts: CollectionStats | null;
  readonly status: string;
}

/** The state of the indexed projects. */
export interface ScanAnswer {
  readonly complete: boolean;
  readonly projects: readonly ProjectStatusRecord[];
}

/** The content of a scope, in numbers. */
export interface ScopeFigures {
  readonly memories: number;
  readonly types: Readonly<Record<string, number>>;
  readonly tags: Readonly<Record<string, number>>;
  readonly anchored: number;
  readonly never_recalled: number;
  readonly bytes: number;
  readonly newest: string | null;
  readonly model?: string;
  readonly not_embedded?: number;
}

/** The text with which an agent's session begins, in at most 600 tokens. */
export interface SessionContext {
  readonly text: string;
}

/** The facts that set-up found, and the files that it wrote. */
export interface SetUpAnswer {
  readonly projectRoot: string;
  readonly frontendDetected: string | null;
  readonly backendDetected: string | null;
  readonly chromaDbPath: string;
  readonly filesGenerated: readonly string[];
  readonly patternsDetected: DetectedPatterns;
  readonly message: string;
  readonly warning?: string;
  readonly filesLeftAlone?: readonly string[];
  readonly filesKept?: readonly string[];
  readonly filesProposed?: readonly ProposedFile[];
  readonly proposal?: string;
  readonly status: string;
}

/** A file like another one. */
export interface SimilarRecord {
  readonly filePath: string;
  readonly similarity: number;
  readonly reason: string;
}

/** A file that is not indexed, and why. */
export interface SkippedRecord {
  readonly path: string;
  readonly reason: string;
}

/** A section of a rule document that a change should heed. */
export interface SpeakingRule {
  readonly filePath: string;
  readonly lines: string;
  readonly section: string;
  readonly relevance: number;
  readonly keyRules?: readonly string[];
}

/** The way an answer came about, and what it could not see. */
export interface Stats {
  readonly took_ms: number;
  readonly dense: boolean;
  readonly candidates: number;
  readonly complete: boolean;
  readonly pending_documents?: number;
  readonly pending_embeddings?: number;
  readonly indexed_percent?: Coverage;
  readonly note?: string;
  readonly idle?: boolean;
  readonly nothing_close?: boolean;
}

/** The state of a client's projects, and of the engine. */
export interface StatusAnswer {
  readonly version: string;
  readonly complete: boolean;
  readonly projects: readonly ProjectStatusRecord[];
  readonly engine: EngineRecord;
  readonly note?: string;
}

/** The outcome of storing a memory. */
export interface StoredAnswer {
  readonly id: string;
  readonly status: string;
  readonly version: number;
  readonly scope: string;
  readonly anchor: AnchorRecord | null;
  readonly duplicate_of?: string;
  readonly known?: readonly BriefMemory[];
  readonly evicted?: readonly string[];
  readonly note?: string;
}

/** A summary that was made, and what storing it did. */
export interface SummaryAnswer {
  readonly id: string;
  readonly status: string;
  readonly version: number;
  readonly scope: string;
  readonly anchor: AnchorRecord | null;
  readonly summary: string;
  readonly summary_key: string | null;
  readonly source_memory_ids: readonly string[];
  readonly count: number;
  readonly duplicate_of?: string;
  readonly known?: readonly BriefMemory[];
  readonly evicted?: readonly string[];
  readonly note?: string;
  readonly replaces?: BriefMemory;
  readonly undo?: string;
}

/** A declaration. */
export interface SymbolRecord {
  readonly path: string;
  readonly symbol: string;
  readonly kind: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly signature: string;
  readonly exported: boolean;
  readonly project?: string;
}

/** Declarations. */
export interface SymbolsAnswer {
  readonly symbols: readonly SymbolRecord[];
  readonly total: number;
  readonly note?: string;
}

/** A document of tests, at the place in it that is nearest. */
export interface TestRecord {
  readonly path: string;
  readonly file: string;
  readonly score: number;
  readonly why: readonly string[];
  readonly id?: string;
  readonly symbol?: string;
  readonly start_line?: number;
  readonly end_line?: number;
  readonly mentioned_in?: readonly string[];
}

/** Tests, those that most speaks for first. */
export interface TestsAnswer {
  readonly tests: readonly TestRecord[];
  readonly note?: string;
}

/** The change that was taken back. */
export interface UndoneAnswer {
  readonly id: string;
  readonly project: string;
  readonly kind: string;
  readonly at: string;
  readonly kept: readonly string[];
  readonly changes: BatchRecord;
}

/** A line that uses a name. */
export interface UseRecord {
  readonly line: number;
  readonly name: string;
}

/** The filters that were applied, as the request names them. */
export interface UsedFilters {
  readonly project_id?: string;
  readonly memory_type?: string;
  readonly tags?: readonly string[];
  readonly start?: string;
  readonly end?: string;
  readonly limit?: number;
  readonly score_threshold?: number;
}

/** Space given back, by store. */
export interface VacuumAnswer {
  readonly bytes: Readonly<Record<string, BytesRecord>>;
}

/** A former version of a memory. */
export interface VersionRecord {
  readonly version: number;
  readonly content: string;
  readonly metadata: MetadataRecord;
  readonly memory_type: string;
  readonly updated_at: string;
  readonly replaced_at: string;
  readonly reason: string;
}

/** A place that breaks a rule that a machine checks. */
export interface ViolationRecord {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly filePath: string;
  readonly line: number;
  readonly see?: string;
}

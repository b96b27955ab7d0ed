// What the server's commands answer, as far as the extension reads it. docs of the server: JSON in, JSON out.

export interface CodeHit {
  readonly id: string;
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly language: string;
  readonly symbol: string;
  readonly score: number;
  readonly freshness: string | null;
  readonly text: string;
}

export interface SearchStats {
  readonly complete: boolean;
  readonly note?: string;
  readonly pending_documents?: number;
  readonly pending_embeddings?: number;
}

export interface CodeAnswer {
  readonly query: string;
  readonly results: readonly CodeHit[];
  readonly stats: SearchStats;
}

export interface Anchor {
  readonly path: string;
  readonly line?: number;
  readonly symbol?: string;
  readonly state?: string;
}

export interface Memory {
  readonly id: string;
  readonly content: string;
  readonly scope: string;
  readonly version?: number;
  readonly memory_type?: string;
  readonly metadata?: { readonly tags?: readonly string[]; readonly source_file?: string; readonly importance_score?: number };
  readonly anchor?: Anchor | null;
}

export interface MemoryVersion {
  readonly version: number;
  readonly content: string;
  readonly metadata: NonNullable<Memory["metadata"]>;
  readonly memory_type: string;
  readonly updated_at: string;
  readonly replaced_at: string | null;
  readonly reason: string;
}

export interface RememberedMemory extends Memory {
  readonly updated_at?: string;
  readonly history?: readonly MemoryVersion[];
}

/** A memory in a few words, as plans name it. */
export interface BriefMemory {
  readonly id: string;
  readonly content: string;
  readonly scope: string;
}

export interface Consolidation {
  readonly merges: readonly { readonly kept: BriefMemory; readonly merged: readonly BriefMemory[]; readonly cosine: number }[];
  readonly contradictions: readonly { readonly memories: readonly BriefMemory[]; readonly reason: string }[];
  readonly never_recalled: readonly BriefMemory[];
  readonly undo: Readonly<Record<string, string>>;
}

export interface MemoryPage {
  readonly memories: readonly Memory[];
  readonly total: number;
}

export interface ProjectStatus {
  readonly root: string;
  readonly complete: boolean;
  readonly documents: number;
  readonly chunks: number;
  readonly queued_documents: number;
  readonly pending_embeddings: number;
  readonly indexed_percent: { readonly words: number; readonly vectors: number };
  readonly activity: string;
  readonly model: string;
  readonly note?: string;
  readonly skipped: Readonly<Record<string, number>>;
  readonly memories?: Readonly<Record<string, number>>;
  readonly sync?: string;
  /** Told with `details` alone, as what follows. */
  readonly languages?: Readonly<Record<string, { readonly documents: number; readonly chunks: number }>>;
  readonly skipped_files?: readonly { readonly path: string; readonly reason: string }[];
}

export interface EngineStatus {
  readonly uptime_s: number;
  readonly memory_bytes?: number;
  readonly log?: string;
  readonly clients?: readonly { readonly surface: string; readonly name: string; readonly pid: number }[];
  readonly latency?: Readonly<Record<string, { readonly count: number; readonly p50_ms: number; readonly p95_ms: number; readonly p99_ms: number }>>;
}

export interface Status {
  readonly version: string;
  readonly complete: boolean;
  readonly projects: readonly ProjectStatus[];
  readonly engine?: EngineStatus;
}

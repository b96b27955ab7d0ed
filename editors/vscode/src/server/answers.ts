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
}

export interface Status {
  readonly version: string;
  readonly complete: boolean;
  readonly projects: readonly ProjectStatus[];
}

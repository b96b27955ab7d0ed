// What the server's commands answer, as far as the extension reads it. The types come from the server's own records.

import type {
  AnchorRecord, CodeRecord, ConsolidationAnswer, EngineRecord, ExactPlaces, MemoryRecord, ProjectStatusRecord, Stats, StatusAnswer,
} from "./records.ts";

export type { BriefMemory, ExactPlaces, VersionRecord as MemoryVersion } from "./records.ts";

type Some<T, K extends keyof T> = Pick<T, K> & Partial<Omit<T, K>>;

export type SearchStats = Some<Stats, "complete">;

/** A hit of search_code, which has its file and its text. */
export type CodeHit = Pick<
  CodeRecord, "id" | "path" | "start_line" | "end_line" | "language" | "symbol" | "score" | "freshness"
> & { readonly file: string; readonly text: string };

export interface CodeAnswer {
  readonly query: string;
  readonly results: readonly CodeHit[];
  readonly stats: SearchStats;
  /** The lines that hold the question, where it was asked for them, or may mean a text. */
  readonly exact?: ExactPlaces;
}

export type Anchor = Some<AnchorRecord, "path">;

/** A memory as lists show it; drafts lack what the server gives. */
export type Memory = Pick<MemoryRecord, "id" | "content" | "scope"> &
  Partial<Pick<MemoryRecord, "version" | "memory_type" | "metadata">> & { readonly anchor?: Anchor | null };

export type RememberedMemory = Memory & Partial<Pick<MemoryRecord, "updated_at" | "history">>;

export interface MemoryPage {
  readonly memories: readonly Memory[];
  readonly total: number;
}

/** A plan of what to merge, not the answer to an undo. */
export type Consolidation = Required<Pick<ConsolidationAnswer, "merges" | "proposals" | "contradictions" | "never_recalled" | "undo">>;

export type ProjectStatus = Some<
  ProjectStatusRecord,
  "root" | "complete" | "documents" | "chunks" | "queued_documents" | "pending_embeddings" | "indexed_percent" | "activity"
  | "model" | "skipped"
>;

export type EngineStatus = Some<EngineRecord, "uptime_s">;

export type Status = Pick<StatusAnswer, "version" | "complete"> & {
  readonly projects: readonly ProjectStatus[];
  readonly engine?: EngineStatus;
};

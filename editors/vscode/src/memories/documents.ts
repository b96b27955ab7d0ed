// Memories as documents that can be edited: saving one changes the memory.
import * as vscode from "vscode";
import type { Memory } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { fromMarkdown, toMarkdown } from "./markdown.ts";
import { fileNameOf, idIn } from "./names.ts";

const START_MS = 30_000;

export const SCHEME = "rag-ls-memory";

interface Open {
  readonly memory: Memory | undefined;
  /** What a memory that is still to be written will be about. */
  readonly place?: Place;
  readonly data: Uint8Array;
  readonly mtime: number;
}

export interface Place {
  readonly source_file: string;
  readonly line?: number;
}

/** Where a memory is a document: the one that is open already, whatever it was called then, else one that is called by its first line. */
export function uriOf(memory: Pick<Memory, "id" | "content">): vscode.Uri {
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === SCHEME && idIn(uri.path) === memory.id);
  return open?.uri ?? vscode.Uri.from({ scheme: SCHEME, path: `/${memory.id}/${fileNameOf(memory)}` });
}

export class MemoryDocuments implements vscode.FileSystemProvider {
  private readonly emitter = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.emitter.event;
  private readonly stored = new vscode.EventEmitter<{ readonly uri: vscode.Uri; readonly memory: Memory }>();
  /** The document at `uri` was written as a memory. */
  readonly onDidStore = this.stored.event;
  private readonly open = new Map<string, Open>();
  private drafts = 0;
  private readonly server: Server;

  constructor(server: Server) {
    this.server = server;
  }

  /** The document of a memory that is still to be written. */
  draft(memory: Partial<Memory> = {}, place?: Place): vscode.Uri {
    this.drafts += 1;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/draft-${this.drafts}/New memory.md` });
    const anchor = place && { path: vscode.workspace.asRelativePath(place.source_file), ...(place.line ? { line: place.line } : {}) };
    const data = Buffer.from(toMarkdown(anchor ? { ...memory, anchor } : memory));
    this.open.set(uri.path, { memory: undefined, data, mtime: Date.now(), ...(place ? { place } : {}) });
    return uri;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { data, mtime } = await this.of(uri);
    return { type: vscode.FileType.File, ctime: mtime, mtime, size: data.length };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return (await this.of(uri)).data;
  }

  async writeFile(uri: vscode.Uri, data: Uint8Array): Promise<void> {
    const known = await this.of(uri);
    const draft = fromMarkdown(Buffer.from(data).toString("utf8"));
    const metadata = {
      tags: draft.tags,
      memory_type: draft.memory_type,
      ...(draft.importance === undefined ? {} : { importance_score: draft.importance }),
      ...(known.memory ? {} : known.place),
    };
    if (known.memory) {
      if (draft.scope !== known.memory.scope) {
        throw vscode.FileSystemError.Unavailable(`a memory stays in its scope, ${known.memory.scope}; add another one instead`);
      }
      await this.server.ask("updateMemory", {
        id: known.memory.id,
        content: draft.content,
        metadata,
        ...(known.memory.version === undefined ? {} : { expected_version: known.memory.version }),
      });
    }
    const { id } = known.memory ?? (await this.server.ask<{ id: string }>("storeMemory", { content: draft.content, scope: draft.scope, metadata }));
    const written = await this.read(id);
    this.open.set(uri.path, written);
    this.emitter.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    this.stored.fire({ uri, memory: written.memory });
  }

  /** Memories may be others now: what is open is read again when it is next shown. */
  forget(): void {
    for (const [path, { memory }] of this.open) {
      if (memory) {
        this.open.delete(path);
        this.emitter.fire([{ type: vscode.FileChangeType.Changed, uri: vscode.Uri.from({ scheme: SCHEME, path }) }]);
      }
    }
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions("memories have no folders");
  }

  delete(): void {
    throw vscode.FileSystemError.NoPermissions("delete a memory in the Memories view");
  }

  rename(): void {
    throw vscode.FileSystemError.NoPermissions("memories have no names");
  }

  private async of(uri: vscode.Uri): Promise<Open> {
    const known = this.open.get(uri.path);
    if (known) {
      return known;
    }
    const id = idIn(uri.path);
    if (id === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    // An editor that opens its documents again is faster than the server.
    await this.server.settled(START_MS);
    try {
      const read = await this.read(id);
      this.open.set(uri.path, read);
      return read;
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(error instanceof Error ? error.message : String(error));
    }
  }

  private async read(id: string): Promise<Open & { readonly memory: Memory }> {
    const memory = await this.server.ask<Memory>("getMemory", { id });
    return { memory, data: Buffer.from(toMarkdown(memory)), mtime: Date.now() };
  }
}

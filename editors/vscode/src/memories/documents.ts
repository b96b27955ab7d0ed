// Memories as documents that can be edited: saving one changes the memory.
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { messageOf, typeOf } from "../errors.ts";
import type { Memory } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { fromMarkdown, toMarkdown } from "./markdown.ts";
import { fileNameOf, idIn, queryOf } from "./names.ts";

export const SCHEME = "rag-ls-memory";

interface Open {
  readonly memory: Memory | undefined;
  readonly data: Uint8Array;
  readonly mtime: number;
}

/** What a memory that is still to be written will be about, and whose it will be. It is part of its document's URI, so that it outlives the window. */
export interface Place {
  /** Which draft it is. */
  readonly draft?: string;
  readonly source_file?: string;
  readonly line?: number;
  /** The root of its project. */
  readonly project?: string;
}

/** The documents of memories that are open, drafts left out. */
function openMemories(): { readonly uri: vscode.Uri; readonly id: string }[] {
  return vscode.workspace.textDocuments.flatMap(({ uri }) => {
    const id = uri.scheme === SCHEME ? idIn(uri.query) : undefined;
    return id === undefined ? [] : [{ uri, id }];
  });
}

/** Where a memory is a document: the one that is open already, whatever it was called then, else one that is called by its first line. */
export function uriOf(memory: Pick<Memory, "id" | "content">): vscode.Uri {
  const open = openMemories().find(({ id }) => id === memory.id);
  return open?.uri ?? vscode.Uri.from({ scheme: SCHEME, path: `/${fileNameOf(memory)}`, query: queryOf(memory.id) });
}

export class MemoryDocuments implements vscode.FileSystemProvider {
  private readonly emitter = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.emitter.event;
  private readonly stored = new vscode.EventEmitter<{ readonly uri: vscode.Uri; readonly memory: Memory }>();
  /** The document at `uri` was written as a memory. */
  readonly onDidStore = this.stored.event;
  private readonly open = new Map<string, Open>();
  private readonly server: Server;

  constructor(server: Server) {
    this.server = server;
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
      // Others may change it while nobody looks.
      vscode.workspace.onDidCloseTextDocument(({ uri }) => uri.scheme === SCHEME && this.open.delete(uri.toString())),
    );
  }

  /** The document of a memory that is still to be written. */
  draft(place: Place = {}): vscode.Uri {
    return vscode.Uri.from({ scheme: SCHEME, path: "/New memory.md", query: JSON.stringify({ draft: randomUUID(), ...place }) });
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
    };
    const { project, draft: _, ...place } = placeOf(uri);
    if (known.memory) {
      if (draft.scope !== known.memory.scope) {
        throw vscode.FileSystemError.Unavailable(`a memory stays in its scope, ${known.memory.scope}; add another one instead`);
      }
      await this.update(uri, known.memory, draft.content, metadata);
    }
    const added = { content: draft.content, scope: draft.scope, metadata: { ...metadata, ...place }, ...(project ? { project } : {}) };
    const { id } = known.memory ?? (await this.server.ask<{ id: string }>("storeMemory", added));
    const written = await this.read(id);
    this.open.set(uri.toString(), written);
    this.emitter.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    this.stored.fire({ uri, memory: written.memory });
  }

  private async update(uri: vscode.Uri, memory: Memory, content: string, metadata: object): Promise<void> {
    const expected = memory.version === undefined ? {} : { expected_version: memory.version };
    try {
      await this.server.ask("updateMemory", { id: memory.id, content, metadata, ...expected });
    } catch (error) {
      const now = await this.read(memory.id);
      if (now.memory.version === memory.version) {
        throw error;
      }
      this.open.set(uri.toString(), now);
      this.emitter.fire([{ type: vscode.FileChangeType.Changed, uri }]);
      throw vscode.FileSystemError.Unavailable("this memory was changed elsewhere meanwhile; saving again replaces that, “Revert File” shows it");
    }
  }

  /** A memory is no more. */
  gone(id: string): void {
    for (const { uri } of openMemories().filter((each) => each.id === id)) {
      this.open.delete(uri.toString());
      this.emitter.fire([{ type: vscode.FileChangeType.Deleted, uri }]);
    }
  }

  /** Memories may be others now: what is open is read again. */
  async refresh(): Promise<void> {
    for (const { uri, id } of openMemories()) {
      try {
        this.open.set(uri.toString(), await this.read(id));
        // One that was deleted and brought back is there again.
        this.emitter.fire([vscode.FileChangeType.Created, vscode.FileChangeType.Changed].map((type) => ({ type, uri })));
      } catch (error) {
        if (typeOf(error) === "NotFound") {
          this.gone(id);
        }
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
    const known = this.open.get(uri.toString());
    if (known) {
      return known;
    }
    const id = idIn(uri.query);
    if (id === undefined) {
      const { source_file, line } = placeOf(uri);
      const anchor = source_file ? { path: vscode.workspace.asRelativePath(source_file), ...(line ? { line } : {}) } : null;
      const draft = { memory: undefined, data: Buffer.from(toMarkdown({ anchor })), mtime: Date.now() };
      this.open.set(uri.toString(), draft);
      return draft;
    }
    try {
      const read = await this.read(id);
      this.open.set(uri.toString(), read);
      return read;
    } catch (error) {
      throw typeOf(error) === "NotFound" ? vscode.FileSystemError.FileNotFound(uri) : vscode.FileSystemError.Unavailable(messageOf(error));
    }
  }

  private async read(id: string): Promise<Open & { readonly memory: Memory }> {
    const memory = await this.server.ask<Memory>("getMemory", { id });
    return { memory, data: Buffer.from(toMarkdown(memory)), mtime: Date.now() };
  }
}

function placeOf(uri: vscode.Uri): Place {
  try {
    const place: unknown = JSON.parse(uri.query || "{}");
    return typeof place === "object" && place !== null ? place : {};
  } catch {
    return {};
  }
}

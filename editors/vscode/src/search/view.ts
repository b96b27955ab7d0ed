// The search view in the side bar: a question and its filters, the hits by file, arrows that preview.
import * as vscode from "vscode";
import { messageOf } from "../errors.ts";
import { uriOf } from "../memories/documents.ts";
import type { CodeAnswer, CodeHit, ExactPlaces, Memory, SearchStats, Status } from "../server/answers.ts";
import { rootsOf } from "../server/projects.ts";
import type { Server } from "../server/server.ts";
import { pageHtml, webviewOptions } from "../webview.ts";
import { codeGroups, countOf, lineHits, linesIn, memoryGroups } from "./items.ts";
import type { FromPage, Question, ShownGroup, ToPage } from "./messages.ts";
import { FORM } from "./form.ts";
import { openHit, placeOfHit } from "./open.ts";
import { type Surroundings, asCodeQuestion } from "./question.ts";
import { type Matcher, textOf, wordsOf } from "./snippet.ts";

const HITS = 30;
const LINES = 500;

type Found = { readonly code: readonly CodeHit[] } | { readonly memories: readonly Memory[] };

export class SearchView implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private found: Found = { code: [] };
  /** What the page is told once it is there. */
  private readonly waiting = new Map<ToPage["kind"], ToPage>();
  private isReady = false;
  private asking: vscode.CancellationTokenSource | undefined;
  private readonly server: Server;
  private readonly extension: vscode.Uri;

  constructor(server: Server, extension: vscode.Uri) {
    this.server = server;
    this.extension = extension;
  }

  register(): vscode.Disposable {
    return vscode.window.registerWebviewViewProvider("ragLs.search", this, { webviewOptions: { retainContextWhenHidden: true } });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.webview.options = webviewOptions(this.extension);
    view.webview.onDidReceiveMessage((message: FromPage) => {
      this.heard(message).catch((error: unknown) => this.tell({ kind: "problem", text: messageOf(error) }));
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.isReady = false;
    });
    view.webview.html = pageHtml(view.webview, this.extension, { name: "search", title: "Search", body: FORM });
  }

  /** Show the view with a part of the question filled in, and ask it where it has one. */
  async focus(question: Partial<Question> = {}): Promise<void> {
    await vscode.commands.executeCommand("ragLs.search.focus");
    this.tell({ kind: "form", question, ask: Object.keys(question).length > 0, focus: true });
  }

  /** Show what was found elsewhere; `title` says for what. */
  show(answer: CodeAnswer, title = ""): void {
    this.asking?.cancel();
    this.tell({ kind: "form", question: { query: title ? "" : answer.query }, ask: false, focus: false });
    this.showCode(answer, title);
  }

  clear(): void {
    this.asking?.cancel();
    this.found = { code: [] };
    this.tell({ kind: "form", question: { query: "", folder: "", language: "", subject: "code", match: "auto" }, ask: false, focus: true });
    this.tell({ kind: "answer", summary: "", groups: [] });
  }

  private tell(message: ToPage): void {
    if (this.isReady) {
      void this.view?.webview.postMessage(message);
    } else {
      this.waiting.set(message.kind, message);
    }
  }

  private async heard(message: FromPage): Promise<void> {
    switch (message.kind) {
      case "ready":
        await this.begin(message.question);
        break;
      case "languages":
        await this.tellLanguages();
        break;
      case "ask":
        await this.ask(message.question);
        break;
      case "show":
        await this.open(message.index, message.preview);
        break;
    }
  }

  /** The page is there; `former` is what was asked before the window was loaded again. */
  private async begin(former: Question | undefined): Promise<void> {
    this.isReady = true;
    const isAnswered = this.waiting.has("answer");
    this.waiting.forEach((each) => this.tell(each));
    this.waiting.clear();
    // What was found meanwhile is what is wanted now.
    await Promise.all([this.tellLanguages(), former && !isAnswered ? this.ask(former) : undefined]);
  }

  private async ask(question: Question): Promise<void> {
    this.asking?.cancel();
    const mine = (this.asking = new vscode.CancellationTokenSource());
    if (question.query === "") {
      return;
    }
    this.tell({ kind: "busy" });
    try {
      if (question.subject === "memory") {
        const asked = { query: question.query, k: HITS };
        const answer = await this.server.ask<{ results: readonly Memory[]; stats?: SearchStats }>("searchMemory", asked, mine.token);
        if (!mine.token.isCancellationRequested) {
          this.showMemories(answer.results, question.query, answer.stats?.note);
        }
      } else {
        const isOfLines = (question.match ?? "auto") !== "auto";
        const asked = { ...asCodeQuestion(question, await this.around(question)), k: isOfLines ? LINES : HITS };
        const answer = await this.server.ask<CodeAnswer>("searchCode", asked, mine.token);
        if (!mine.token.isCancellationRequested) {
          isOfLines && answer.exact ? this.showLines(answer.exact, question) : this.showCode(answer);
        }
      }
    } catch (error) {
      if (!mine.token.isCancellationRequested) {
        this.tell({ kind: "problem", text: messageOf(error) });
      }
    }
  }

  private async around(question: Question): Promise<Surroundings> {
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({ name, path: uri.fsPath }));
    return { folders, roots: question.folder ? await rootsOf(this.server) : [] };
  }

  private showLines(exact: ExactPlaces, { match, matchCase = false, wholeWords = false }: Question): void {
    // An expression is not marked: the editor's dialect is not that of the search.
    const groups = this.keep(lineHits(exact), match === "exact" ? textOf(exact.pattern, { isCaseIgnored: !matchCase, isWhole: wholeWords }) : () => []);
    this.tell({ kind: "answer", summary: [linesIn(exact), exact.left_out].filter(Boolean).join(" · "), groups });
  }

  private keep(hits: readonly CodeHit[], matchesIn: Matcher): ShownGroup[] {
    // The folder's own name comes first where there are several.
    const named = hits.map((hit) => ({ ...hit, path: placeOfHit(hit).scheme === "file" ? vscode.workspace.asRelativePath(placeOfHit(hit)) : hit.path }));
    this.found = { code: named };
    return codeGroups(named, matchesIn);
  }

  private showCode(answer: CodeAnswer, title = ""): void {
    const groups = this.keep(answer.results, wordsOf(title ? "" : answer.query));
    this.tell({ kind: "answer", summary: [title, countOf(groups, "files"), answer.stats.note].filter(Boolean).join(" · "), groups });
  }

  private showMemories(memories: readonly Memory[], query: string, note: string | undefined): void {
    this.found = { memories };
    const groups = memoryGroups(memories, query);
    this.tell({ kind: "answer", summary: [countOf(groups, "scopes"), note].filter(Boolean).join(" · "), groups });
  }

  private async open(index: number, preview: boolean): Promise<void> {
    if ("code" in this.found) {
      const hit = this.found.code[index];
      await (hit && openHit(hit, { preview }));
    } else {
      const memory = this.found.memories[index];
      await (memory && vscode.window.showTextDocument(uriOf(memory), { preview: true, preserveFocus: preview }));
    }
  }

  private async tellLanguages(): Promise<void> {
    const status = await this.server.ask<Status>("status", { details: true }).catch(() => undefined);
    const names = new Set(status?.projects.flatMap((project) => Object.keys(project.languages ?? {})) ?? []);
    this.tell({ kind: "languages", names: [...names].toSorted() });
  }
}

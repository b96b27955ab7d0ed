// The language server of this window: found, started, watched, and asked.
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { messageOf } from "../errors.ts";
import type { Memory } from "./answers.ts";
import { told } from "../told.ts";
import type { LanguageClient, ShowDocumentParams } from "vscode-languageclient/node";
import { OLDEST_SERVER, candidates, firstThat, isAtLeast, isExecutable, toolBins, versionIn } from "./find.ts";
import { installServer } from "./install.ts";
import { ownBin } from "./installing.ts";
import { onPythonSelected, selectedPython } from "./python.ts";
import { restarts } from "./restarts.ts";
import { explicitSettings } from "./settings.ts";
import { SHOW_USES, listUses } from "./uses.ts";

const SECTION = "ragLs";
// `State` of the library, which is loaded late.
const [RUNNING, STARTING] = [2, 3];
const STOP_MS = 5000;
const START_MS = 60_000;
const run = promisify(execFile);

/** Something that happened in the server (`ragLs/event`); `type` says what. */
export interface ServerEvent {
  readonly type: "documentIndexed" | "indexProgressed" | "indexComplete" | "memoryChanged" | "anchorsMoved" | "settingsChanged";
}

/** What the server asks where code was selected (`ragLs/askForNote`): a note about it. */
export interface NoteQuestion {
  readonly about: string;
  /** What is remembered about the place already. */
  readonly known: readonly Memory[];
}

/** Show a rule or its pattern beside the code that it speaks of. */
async function showBeside({ uri, selection }: ShowDocumentParams): Promise<{ success: boolean }> {
  const line = selection?.start.line ?? 0;
  try {
    await vscode.window.showTextDocument(vscode.Uri.parse(uri), {
      viewColumn: vscode.ViewColumn.Beside,
      preview: true,
      selection: new vscode.Range(line, 0, line, 0),
    });
    return { success: true };
  } catch {
    return { success: false };
  }
}

async function showOutside({ uri }: ShowDocumentParams): Promise<{ success: boolean }> {
  return { success: await vscode.env.openExternal(vscode.Uri.parse(uri)) };
}

/** A problem that the user can do something about. */
export class ServerProblem extends Error {}

export class Server implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("rag-ls", { log: true });
  private readonly changed = new vscode.EventEmitter<void>();
  /** The state, the activity or the answers may be others now. */
  readonly onChange = this.changed.event;
  /** Gives the note that the user types about code. */
  askForNote: (question: NoteQuestion) => Promise<string | undefined> = () => Promise.resolve(undefined);
  private readonly happened = new vscode.EventEmitter<readonly ServerEvent[]>();
  /** What happened in the server, whoever did it. */
  readonly onEvents = this.happened.event;
  private client: LanguageClient | undefined;
  private command = "";
  private problem = "";
  private stopping = false;
  private python: vscode.Disposable | undefined;
  private turn = Promise.resolve();
  private again: NodeJS.Timeout | undefined;
  private readonly restarts = restarts();
  private readonly keys: readonly string[];
  private readonly storage: string;

  /** `manifest` is the extension's own, which lists its settings; `storage` a folder of its own. */
  constructor(manifest: { contributes: { configuration: { properties: Record<string, unknown> } } }, storage: string) {
    this.storage = storage;
    this.onChange(() => void vscode.commands.executeCommand("setContext", "ragLs.isRunning", this.isRunning));
    this.keys = Object.keys(manifest.contributes.configuration.properties).map((key) => key.slice(SECTION.length + 1));
  }

  get isRunning(): boolean {
    return this.client?.state === RUNNING;
  }

  get isStarting(): boolean {
    return this.client?.state === STARTING;
  }

  /** Why there is no server; empty while there is one. */
  get whyNot(): string {
    return this.problem;
  }

  /** The command that runs, once it was found. */
  get path(): string {
    return this.command;
  }

  start(): Promise<void> {
    return this.inTurn(() => this.startNow());
  }

  async stop(): Promise<void> {
    await this.inTurn(() => this.stopNow());
    this.problem = "it was stopped; “rag-ls: Restart Server” starts it";
    this.changed.fire();
  }

  /** Start the server anew, wherever it is found now. */
  restart(): Promise<void> {
    this.restarts.reset();
    return this.inTurn(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  /** One start or stop after the other: two at once would leave a server that nobody owns. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => undefined);
    return done;
  }

  private async startNow(): Promise<void> {
    clearTimeout(this.again);
    this.again = undefined;
    if (this.isRunning) {
      return;
    }
    this.stopping = false;
    this.problem = "";
    this.command = "";
    try {
      this.command = await this.found();
      await this.launch(this.command);
    } catch (error) {
      const problem = messageOf(error);
      if (this.again) {
        // It ended while it started, and is tried again: that is told once, if it goes on.
        this.log.warn(problem);
      } else if (!this.problem) {
        this.fail(problem);
      }
    }
    this.changed.fire();
    await this.followPython();
  }

  /** Look again where another interpreter is selected and there is no server. */
  private async followPython(): Promise<void> {
    this.python ??= await onPythonSelected(() => {
      if (this.problem && !this.stopping) {
        told(this.restart());
      }
    });
  }

  private async stopNow(): Promise<void> {
    clearTimeout(this.again);
    this.again = undefined;
    this.stopping = true;
    const client = this.client;
    this.client = undefined;
    await client?.dispose(STOP_MS).catch((error: unknown) => this.log.warn(String(error)));
    this.changed.fire();
  }

  /** Wait until the server runs, or it is known that it will not, or time is up. */
  private async settled(longestMs: number): Promise<void> {
    if (this.isRunning || this.problem) {
      return;
    }
    let listening: vscode.Disposable | undefined;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, longestMs);
      listening = this.onChange(() => (this.isRunning || this.problem) && resolve());
    });
    clearTimeout(timer);
    listening?.dispose();
  }

  /** Install the server into an environment of its own, and start that. */
  async install(): Promise<void> {
    if (await installServer(this.storage, this.log)) {
      await this.restart();
    }
  }

  dispose(): void {
    void this.inTurn(() => this.stopNow());
    this.python?.dispose();
    this.changed.dispose();
    this.happened.dispose();
    this.log.dispose();
  }

  /** The answer of one of the server's commands to one JSON object; a server that is still starting is waited for. Raises `ServerProblem`. */
  async ask<T>(command: string, argument: object, token?: vscode.CancellationToken): Promise<T> {
    await this.settled(START_MS);
    if (!this.client || !this.isRunning) {
      throw new ServerProblem(this.problem || "rag-ls is still starting");
    }
    const params = { command: `ragLs.${command}`, arguments: [argument] };
    const method = "workspace/executeCommand";
    // A token that is not there would count as a second parameter.
    return await (token ? this.client.sendRequest<T>(method, params, token) : this.client.sendRequest<T>(method, params));
  }

  /** Tell the server what the settings are now. */
  async tellSettings(): Promise<void> {
    if (this.isRunning) {
      const settings = { [SECTION]: this.settings() };
      await this.client?.sendNotification("workspace/didChangeConfiguration", { settings });
    }
  }

  private settings(): object {
    const configuration = vscode.workspace.getConfiguration(SECTION);
    return explicitSettings(this.keys, (key) => configuration.inspect(key));
  }

  /** What the user has named by `ragLs.path`; empty for nothing. */
  private get named(): string {
    return vscode.workspace.getConfiguration(SECTION).get<string>("path", "").trim();
  }

  private async found(): Promise<string> {
    const problems: string[] = [];
    const works = async (place: string): Promise<boolean> => {
      const problem = (await isExecutable(place)) ? await this.problemOf(place) : undefined;
      problems.push(...(problem ? [problem] : []));
      return problem === "";
    };
    const python = await selectedPython({ wake: false });
    let command = await firstThat(this.places(python), works);
    if (command === undefined && !this.named) {
      // Only now: the Python extension is not woken up for nothing.
      const woken = await selectedPython({ wake: true });
      command = woken === python ? undefined : await firstThat(this.places(woken), works);
    }
    if (command === undefined) {
      throw new ServerProblem(problems[0] ?? this.notFound());
    }
    return command;
  }

  private places(python: string | undefined): string[] {
    return candidates({
      setting: this.named,
      python,
      folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
      trusted: vscode.workspace.isTrusted,
      own: ownBin(this.storage),
      searchPath: process.env.PATH ?? "",
      toolBins: toolBins(process.env, homedir(), path),
      windows: process.platform === "win32",
    });
  }

  private notFound(): string {
    if (this.named) {
      return `ragLs.path names ${this.named}, which is not there or cannot be run`;
    }
    return vscode.workspace.isTrusted
      ? "the rag-ls command was not found in the selected Python environment, in .venv, nor on the PATH"
      : "the rag-ls command was not found on the PATH; the folder's own .venv counts once you trust it";
  }

  /** Why a command cannot be the server; empty where it can. */
  private async problemOf(command: string): Promise<string> {
    try {
      const { stdout } = await run(command, ["--version"], { timeout: 20_000 });
      const version = versionIn(stdout);
      if (version === undefined || !isAtLeast(version, OLDEST_SERVER)) {
        return `${command} is ${version ?? "no rag-ls"}; this extension needs ${OLDEST_SERVER} or later: upgrade it`;
      }
      this.log.info(`${command} is version ${version}`);
      return "";
    } catch (error) {
      return `${command} --version failed: ${messageOf(error)}`;
    }
  }

  private async launch(command: string): Promise<void> {
    const { CloseAction, ErrorAction, LanguageClient, Trace } = await import("./client.ts");
    const client = new LanguageClient(
      SECTION,
      "rag-ls",
      // Not in the folder: Windows would look for programs there first.
      { command, args: ["lsp"], options: { cwd: homedir() } },
      {
        documentSelector: [{ scheme: "file" }, { scheme: "untitled" }, { scheme: "vscode-notebook-cell" }],
        initializationOptions: this.settings(),
        middleware: {
          workspace: { configuration: ({ items }) => items.map(() => this.settings()) },
          executeCommand: (name, given, next) => (name === SHOW_USES ? listUses(given, (asked) => next(name, asked)) : next(name, given)),
          window: { showDocument: (params) => (params.external ? showOutside(params) : showBeside(params)) },
        },
        outputChannel: this.log,
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => {
            this.ended();
            return { action: CloseAction.DoNotRestart, handled: true };
          },
        },
      },
    );
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object | undefined), ragLs: { events: true, asksForNotes: true, tellsTrust: true } };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    client.onRequest("ragLs/askForNote", async (question: NoteQuestion) => {
      const content = await this.askForNote(question);
      return content === undefined ? null : { content };
    });
    // The server asks before it opens a folder; it is started anew when the user grants trust. No setting can answer this.
    client.onRequest("ragLs/isTrusted", () => vscode.workspace.isTrusted);
    client.onNotification("ragLs/event", ({ events }: { events: ServerEvent[] }) => this.happened.fire(events));
    client.onDidChangeState(() => this.changed.fire());
    this.client = client;
    await client.start();
    await client.setTrace(Trace.Off);
  }

  /** The server's process is gone, and nobody asked for that. */
  private ended(): void {
    if (this.stopping) {
      return;
    }
    const wait = this.restarts.next(Date.now());
    if (wait === undefined) {
      this.fail("rag-ls ended several times in a row; the log says why");
      return;
    }
    this.log.warn(`the server ended; starting it again in ${wait / 1000} s`);
    this.changed.fire();
    this.again = setTimeout(() => void this.start(), wait);
  }

  private fail(problem: string): void {
    this.problem = problem;
    this.log.error(problem);
    this.changed.fire();
    void this.offerHelp(problem);
  }

  private async offerHelp(problem: string): Promise<void> {
    const [install, settings, log, again] = ["Install…", "Open Settings", "Show Log", "Try Again"] as const;
    const chosen = await vscode.window.showErrorMessage(`rag-ls: ${problem}.`, ...(this.command || this.named ? [] : [install]), settings, log, again);
    if (chosen === install) {
      await this.install();
    } else if (chosen === settings) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "ragLs.path");
    } else if (chosen === log) {
      this.log.show();
    } else if (chosen === again) {
      await this.restart();
    }
  }
}


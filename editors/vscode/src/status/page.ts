// How everything stands, as a page that follows it while it is seen.
import * as vscode from "vscode";
import { messageOf } from "../errors.ts";
import type { ProjectStatus, Status } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { pageHtml, webviewOptions } from "../webview.ts";
import { REMEDIES, problemHtml, statusHtml } from "./html.ts";

const LOOK_MS = 2000;

/** The page's script is there, again each time the tab is brought back; or one of its buttons was pressed. */
interface FromPage {
  readonly command?: string;
}

export class StatusPage implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private timer: NodeJS.Timeout | undefined;
  private used: { readonly at: number; readonly processor_s: number } | undefined;
  private details: readonly ProjectStatus[] = [];
  private seen = "";
  private readonly server: Server;
  private readonly extension: vscode.Uri;

  constructor(server: Server, extension: vscode.Uri) {
    this.server = server;
    this.extension = extension;
  }

  show(): void {
    if (this.panel) {
      this.panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel("ragLs.status", "rag-ls status", vscode.ViewColumn.Active, webviewOptions(this.extension));
    panel.iconPath = vscode.Uri.joinPath(this.extension, "media", "icon.svg");
    panel.webview.html = pageHtml(panel.webview, this.extension, { name: "status", title: "rag-ls status", body: "<main></main>" });
    panel.webview.onDidReceiveMessage(({ command }: FromPage) => {
      if (command === undefined) {
        void this.follow();
      } else if (command in REMEDIES) {
        void vscode.commands.executeCommand(`ragLs.ui.${command}`);
      }
    });
    panel.onDidDispose(() => {
      clearTimeout(this.timer);
      this.panel = undefined;
      this.used = undefined;
    });
    this.panel = panel;
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private async follow(): Promise<void> {
    clearTimeout(this.timer);
    if (this.panel?.visible) {
      const html = await this.html();
      void this.panel?.webview.postMessage({ html });
    }
    if (this.panel) {
      this.timer = setTimeout(() => void this.follow(), LOOK_MS);
    }
  }

  /** The status with what each project is made of, which costs more than the rest and is asked for when it is another. */
  private async detailed(status: Status): Promise<Status> {
    const seen = JSON.stringify(status.projects.map(({ root, documents, chunks, skipped }) => [root, documents, chunks, skipped]));
    if (seen !== this.seen) {
      this.details = (await this.server.ask<Status>("status", { details: true })).projects;
      this.seen = seen;
    }
    const detailsOf = (root: string) => this.details.find((project) => project.root === root);
    const projects = status.projects.map((project) => ({
      ...project,
      languages: detailsOf(project.root)?.languages ?? {},
      skipped_files: detailsOf(project.root)?.skipped_files ?? [],
    }));
    return { ...status, projects };
  }

  /** The share of one core that was used since the last look, in percent. */
  private load(processor_s: number | undefined): number | undefined {
    const former = this.used;
    this.used = processor_s === undefined ? undefined : { at: Date.now(), processor_s };
    return former && this.used && this.used.at > former.at
      ? Math.max(0, Math.round((1e5 * (this.used.processor_s - former.processor_s)) / (this.used.at - former.at)))
      : undefined;
  }

  private async html(): Promise<string> {
    try {
      const status = await this.detailed(await this.server.ask<Status>("status", {}));
      return statusHtml(status, this.server.path, this.load(status.engine?.processor_s));
    } catch (error) {
      return problemHtml(messageOf(error));
    }
  }
}

// How the index stands, in the status bar.
import * as vscode from "vscode";
import type { Status } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { summary } from "./summary.ts";

// No event tells that a model is loaded: while something goes on, the bar looks by itself besides.
const BUSY_MS = 1500;
// Events come in bursts: one look for those of a moment.
const SOON_MS = 300;

/** A status bar item that follows the server; dispose it to end that. */
export function followStatus(server: Server): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("ragLs.status", vscode.StatusBarAlignment.Right, 90);
  item.name = "rag-ls";
  item.command = "ragLs.ui.status";
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    clearTimeout(timer);
    const status = server.isRunning ? await server.ask<Status>("status", {}).catch(() => undefined) : undefined;
    if (isOver) {
      return;
    }
    const shown = summary(status?.projects, { starting: server.isStarting, problem: server.whyNot });
    item.text = shown.text;
    item.tooltip = shown.tooltip;
    item.accessibilityInformation = { label: shown.tooltip };
    item.backgroundColor = shown.isProblem ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    item.show();
    if (shown.isBusy) {
      timer = setTimeout(() => void look(), BUSY_MS);
    }
  };
  let soon: NodeJS.Timeout | undefined;
  const lookSoon = (): void => {
    soon ??= setTimeout(() => {
      soon = undefined;
      void look();
    }, SOON_MS);
  };
  const listening = vscode.Disposable.from(server.onChange(() => void look()), server.onEvents(lookSoon));
  void look();
  return vscode.Disposable.from(listening, item, new vscode.Disposable(() => {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(soon);
  }));
}

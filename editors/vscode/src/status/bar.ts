// How the index stands, in the status bar.
import * as vscode from "vscode";
import type { Status } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { summary } from "./summary.ts";

const BUSY_MS = 1500;
const QUIET_MS = 20_000;

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
    timer = setTimeout(() => void look(), shown.isBusy ? BUSY_MS : QUIET_MS);
  };
  const listening = server.onChange(() => void look());
  void look();
  return vscode.Disposable.from(listening, item, new vscode.Disposable(() => {
    isOver = true;
    clearTimeout(timer);
  }));
}

// Merging memories that say the same: first the plan as a diff, then, if it is wanted, what it says.
import * as vscode from "vscode";
import type { ReadOnlyDocuments } from "../readonly.ts";
import type { Consolidation, Memory } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { planTexts } from "./plan.ts";

/** Show what consolidating would do, and do it where the user says so; `changed` is called whenever memories changed. */
export async function consolidate(server: Server, views: ReadOnlyDocuments, changed: () => void): Promise<void> {
  const plan = await server.ask<Consolidation>("consolidateMemories", { dry_run: true });
  if (plan.merges.length === 0 && plan.contradictions.length === 0) {
    void vscode.window.showInformationMessage("rag-ls: no two memories say the same, and none contradicts another.");
    return;
  }
  const contents = new Map<string, string>();
  for (const { id, content } of plan.merges.flatMap(({ kept, merged }) => [kept, ...merged])) {
    const memory = await server.ask<Memory>("getMemory", { id }).catch(() => undefined);
    contents.set(id, memory?.content ?? content);
  }
  const texts = planTexts(plan, (id) => contents.get(id) ?? "");
  const [before, after] = [views.of("before/memories.md", texts.before), views.of("after/memories.md", texts.after)];
  await vscode.commands.executeCommand("vscode.diff", before, after, "Consolidation: before and after");
  if (texts.going === 0) {
    void vscode.window.showWarningMessage("rag-ls: nothing is to be merged, but some memories contradict each other.");
    return;
  }
  const say = `Merge ${texts.going} ${texts.going === 1 ? "memory" : "memories"} into others, as the comparison shows?`;
  if (!(await vscode.window.showInformationMessage(say, "Merge"))) {
    return;
  }
  const done = await server.ask<Consolidation>("consolidateMemories", {});
  changed();
  if (await vscode.window.showInformationMessage(`Merged ${texts.going}.`, "Undo")) {
    for (const undo of Object.values(done.undo)) {
      await server.ask("consolidateMemories", { undo });
    }
    changed();
  }
}

// Merging memories that say the same: first the plan as a diff, then, if it is wanted, what it says.
import * as vscode from "vscode";
import type { ReadOnlyDocuments } from "../readonly.ts";
import type { Consolidation, Memory } from "../server/answers.ts";
import { pickProject } from "../server/projects.ts";
import type { Server } from "../server/server.ts";
import { planTexts } from "./plan.ts";

/** Show what consolidating would do, and do it where the user says so; `changed` is called whenever memories changed. */
export async function consolidate(server: Server, views: ReadOnlyDocuments, changed: () => void): Promise<void> {
  const project = await pickProject(server, "Consolidate the memories of…");
  if (!project) {
    return;
  }
  let request: object = project;
  const planned = (): Promise<Consolidation> => server.ask<Consolidation>("consolidateMemories", { ...request, dry_run: true });
  let plan = await planned();
  if (plan.merges.length === 0 && plan.proposals.length > 0) {
    const ids = await pickProposal(plan.proposals);
    if (!ids) {
      return;
    }
    request = { ...project, ids };
    plan = await planned();
  }
  if (plan.merges.length === 0 && plan.contradictions.length === 0) {
    void vscode.window.showInformationMessage("rag-ls: no two memories say the same, and none contradicts another.");
    return;
  }
  const texts = planTexts(plan, await contentsOf(server, plan));
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
  if (!isSame(plan, await planned())) {
    throw new Error("memories have changed since this comparison; consolidate again to see what would be merged now");
  }
  const done = await server.ask<Consolidation>("consolidateMemories", request);
  changed();
  const count = done.merges.reduce((sum, { merged }) => sum + merged.length, 0);
  if (await vscode.window.showInformationMessage(`Merged ${count}.`, "Undo")) {
    try {
      // One number stands for what was done in all scopes.
      for (const undo of new Set(Object.values(done.undo))) {
        await server.ask("consolidateMemories", { ...project, undo });
      }
    } finally {
      changed();
    }
  }
}

/** Let the user pick memories that may say the same, to merge them: their ids; undefined where none is picked. */
async function pickProposal(proposals: Consolidation["proposals"]): Promise<string[] | undefined> {
  const items = proposals.map(({ memories: [first, ...others] }) => ({
    label: first?.content ?? "",
    detail: others.map(({ content }) => content).join(" · "),
    ids: [first, ...others].flatMap((each) => (each ? [each.id] : [])),
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: "No two memories say the same for sure. Merge which of these, that may?",
    matchOnDetail: true,
  });
  return picked?.ids;
}

/** The whole texts of the memories that a plan names in short. */
async function contentsOf(server: Server, plan: Consolidation): Promise<(id: string) => string> {
  const contents = new Map<string, string>();
  for (const { id, content } of plan.merges.flatMap(({ kept, merged }) => [kept, ...merged])) {
    const memory = await server.ask<Memory>("getMemory", { id }).catch(() => undefined);
    contents.set(id, memory?.content ?? content);
  }
  return (id) => contents.get(id) ?? "";
}

function isSame(one: Consolidation, other: Consolidation): boolean {
  const merges = ({ merges: all }: Consolidation): string => JSON.stringify(all.map(({ kept, merged }) => [kept, ...merged]));
  return merges(one) === merges(other);
}

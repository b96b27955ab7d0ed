// What the status bar says: no editor in here, so that it can be tested without one.
import type { ProjectStatus } from "../server/answers.ts";
import { many } from "./html.ts";

export interface Summary {
  readonly text: string;
  readonly tooltip: string;
  readonly isProblem: boolean;
  /** Whether it will be another one soon. */
  readonly isBusy: boolean;
}

const FEW = 3;

/** A few characters for the status bar, and a sentence for who points at them. */
export function summary(
  projects: readonly ProjectStatus[] | undefined,
  server: { readonly starting: boolean; readonly problem: string },
): Summary {
  if (server.problem) {
    return { text: "$(warning) rag-ls", tooltip: `rag-ls does not run: ${server.problem}`, isProblem: true, isBusy: false };
  }
  if (projects === undefined) {
    const what = server.starting ? "rag-ls is starting" : "rag-ls does not answer yet";
    return { text: "$(loading~spin) rag-ls", tooltip: what, isProblem: false, isBusy: true };
  }
  if (projects.length === 0) {
    return { text: "$(search) rag-ls", tooltip: "rag-ls: no folder is open", isProblem: false, isBusy: false };
  }
  // A file that somebody types in, or has just saved, is nothing to spin for.
  const left = projects.filter((project) => !project.complete && !isAsGoodAsComplete(project));
  if (left.length === 0) {
    const files = projects.reduce((sum, project) => sum + project.documents, 0);
    return { text: "$(search) rag-ls", tooltip: `rag-ls: ${many(files, "file")} indexed`, isProblem: false, isBusy: false };
  }
  const words = Math.min(...left.map((project) => project.indexed_percent.words));
  const vectors = Math.min(...left.map((project) => project.indexed_percent.vectors));
  const shown = words < 100 ? words : vectors;
  return {
    text: `$(sync~spin) rag-ls ${shown} %`,
    tooltip: `rag-ls: found by words ${words} %, by meaning ${vectors} %`,
    isProblem: false,
    isBusy: true,
  };
}

function isAsGoodAsComplete({ documents, queued_documents, activity, indexed_percent: { words, vectors } }: ProjectStatus): boolean {
  return documents > 0 && queued_documents <= FEW && activity === "idle" && words === 100 && vectors === 100;
}

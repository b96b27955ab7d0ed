// What the status bar says: no editor in here, so that it can be tested without one.
import type { ProjectStatus } from "../server/answers.ts";

export interface Summary {
  readonly text: string;
  readonly tooltip: string;
  readonly isProblem: boolean;
}

const number = new Intl.NumberFormat("en");

/** A few characters for the status bar, and a sentence for who points at them. */
export function summary(
  projects: readonly ProjectStatus[] | undefined,
  server: { readonly starting: boolean; readonly problem: string },
): Summary {
  if (server.problem) {
    return { text: "$(warning) rag-ls", tooltip: `rag-ls does not run: ${server.problem}`, isProblem: true };
  }
  if (projects === undefined) {
    const what = server.starting ? "rag-ls is starting" : "rag-ls does not answer yet";
    return { text: "$(loading~spin) rag-ls", tooltip: what, isProblem: false };
  }
  const left = projects.filter((project) => !project.complete);
  if (left.length === 0) {
    const files = projects.reduce((sum, project) => sum + project.documents, 0);
    return { text: "$(search) rag-ls", tooltip: `rag-ls: ${number.format(files)} files are indexed`, isProblem: false };
  }
  const words = Math.min(...left.map((project) => project.indexed_percent.words));
  const vectors = Math.min(...left.map((project) => project.indexed_percent.vectors));
  const shown = words < 100 ? words : vectors;
  return {
    text: `$(sync~spin) rag-ls ${shown} %`,
    tooltip: `rag-ls: found by words ${words} %, by meaning ${vectors} %`,
    isProblem: false,
  };
}

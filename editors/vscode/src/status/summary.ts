// What the status bar and the status page say: no editor in here, so that it can be tested without one.
import type { ProjectStatus, Status } from "./server/answers.ts";

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

/** The status page, as Markdown that reads as well without being rendered. */
export function page(status: Status, command: string): string {
  const parts = status.projects.map((project) => {
    const skipped = Object.entries(project.skipped).map(([why, count]) => `${number.format(count)} ${why}`);
    const rows: [string, string][] = [
      ["files", number.format(project.documents)],
      ["chunks", number.format(project.chunks)],
      ["found by words", `${project.indexed_percent.words} %`],
      ["found by meaning", `${project.indexed_percent.vectors} %`],
      ["to read", number.format(project.queued_documents)],
      ["to embed", number.format(project.pending_embeddings)],
      ["now", project.activity],
      ["skipped", skipped.join(", ") || "nothing"],
      ["model", project.model || "none"],
      ...(project.note ? ([["note", project.note]] as [string, string][]) : []),
    ];
    return `## ${project.root}\n\n${rows.map(([name, value]) => `- ${name}: ${value}`).join("\n")}`;
  });
  return `# rag-ls ${status.version}\n\n\`${command}\`\n\n${parts.join("\n\n") || "No project is open."}\n`;
}

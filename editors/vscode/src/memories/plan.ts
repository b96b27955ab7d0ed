// A plan of consolidation as two texts that a diff compares: no editor in here, so that it can be tested without one.
import type { Consolidation } from "../server/answers.ts";

export interface PlanTexts {
  readonly before: string;
  readonly after: string;
  /** How many memories go. */
  readonly going: number;
}

/** What is remembered before and after; `contentOf` is a memory's whole text. */
export function planTexts(plan: Consolidation, contentOf: (id: string) => string): PlanTexts {
  const before: string[] = [];
  const after: string[] = [];
  for (const [at, { kept, merged }] of plan.merges.entries()) {
    const title = `## ${at + 1}. ${merged.length + 1} memories that say the same\n`;
    before.push(title, ...[kept, ...merged].map(({ id }) => `${contentOf(id)}\n`));
    after.push(title, `${contentOf(kept.id)}\n`);
  }
  const contradictions = plan.contradictions.map(
    ({ memories, reason }) => `- ${memories.map(({ content }) => `“${content}”`).join(" and ")}: ${reason}`,
  );
  const close = plan.proposals.map(({ memories }) => `- ${memories.map(({ content }) => `“${content}”`).join(" and ")}`);
  const rest = [
    ...(close.length > 0 ? ["## These may say the same; change or delete one of them\n", ...close, ""] : []),
    ...(contradictions.length > 0 ? ["## These contradict each other; decide which one holds\n", ...contradictions] : []),
  ];
  return {
    before: [...before, ...rest].join("\n"),
    after: [...after, ...rest].join("\n"),
    going: plan.merges.reduce((sum, { merged }) => sum + merged.length, 0),
  };
}

// Memories in the order of the tree: by scope, then by file or tag. No editor in here, so that it can be tested without one.
import { plain } from "../quoting.ts";
import type { Memory } from "../server/answers.ts";

export interface Group {
  readonly kind: "group";
  readonly title: string;
  readonly memories: readonly Memory[];
  readonly groups: readonly Group[];
}

export const SCOPE_TITLES: Readonly<Record<string, string>> = { project: "This project", global: "All projects", session: "This session" };

/** A group for each scope; in it one for each file that a memory is about, one for each tag of the others, and the rest. */
export function grouped(memories: readonly Memory[]): Group[] {
  return ["project", "global", "session"]
    .map((scope) => {
      const own = memories.filter((memory) => memory.scope === scope);
      const about = own.filter((memory) => memory.anchor);
      const others = own.filter((memory) => !memory.anchor);
      const groups = [
        ...by(about, (memory) => [memory.anchor?.path ?? ""]),
        ...by(others, (memory) => (memory.metadata?.tags ?? []).map((tag) => `#${tag}`)),
      ];
      const untagged = others.filter((memory) => (memory.metadata?.tags ?? []).length === 0);
      return { kind: "group" as const, title: SCOPE_TITLES[scope] ?? scope, groups, memories: untagged };
    })
    .filter((group) => group.groups.length > 0 || group.memories.length > 0);
}

/** The groups of several projects: those of each under its folder's name, then what they share. */
export function groupedByProject(projects: readonly { readonly root: string; readonly memories: readonly Memory[] }[]): Group[] {
  const isOwn = (memory: Memory): boolean => memory.scope === "project";
  const own = projects.flatMap(({ root, memories }) => {
    const title = root.split(/[\\/]/).filter(Boolean).at(-1) ?? root;
    return grouped(memories.filter(isOwn)).map((group) => ({ ...group, title }));
  });
  return [...own, ...grouped((projects[0]?.memories ?? []).filter((memory) => !isOwn(memory)))];
}

function by(memories: readonly Memory[], keys: (memory: Memory) => readonly string[]): Group[] {
  const found = new Map<string, Memory[]>();
  for (const memory of memories) {
    for (const key of keys(memory)) {
      found.set(key, [...(found.get(key) ?? []), memory]);
    }
  }
  return [...found]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([title, own]) => ({ kind: "group", title, memories: own, groups: [] }));
}

/** Whether the code that a memory is about is another now, or gone. */
export function isStale(memory: Memory): boolean {
  return memory.anchor?.state === "drifted" || memory.anchor?.state === "orphaned";
}

/** A memory's first line. */
export function titleOf(memory: Pick<Memory, "content">): string {
  return plain(memory.content.trim().split(/\r\n|\n|\r/, 1)[0] ?? "");
}

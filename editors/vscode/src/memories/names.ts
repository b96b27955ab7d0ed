// What a memory's document is called: no editor in here, so that it can be tested without one.
import type { Memory } from "../server/answers.ts";
import { titleOf } from "./groups.ts";

const LONGEST = 40;

/** The name of a memory's document, which its tab shows: the beginning of its first line, whole words of it. */
export function fileNameOf(memory: Pick<Memory, "content">): string {
  const title = titleOf(memory).replaceAll(/[\\/:*?"<>|#%\p{Cc}]+/gu, " ").replaceAll(/\s+/g, " ").trim();
  const cut = title.length > LONGEST ? title.slice(0, LONGEST).replace(/\s+\S*$/, "") : title;
  return `${cut.replace(/[.,;\s]+$/, "") || "Memory"}.md`;
}

/** The memory's id in the path of its document (`/<id>/<name>.md`); undefined for a draft. */
export function idIn(path: string): string | undefined {
  return /^\/([0-9a-f-]{8,})\/[^/]+\.md$/.exec(path)?.[1];
}

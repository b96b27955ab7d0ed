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

/** The query of the URI of a memory's document: the path shows in breadcrumbs, and an id says nothing to people. */
export function queryOf(id: string): string {
  return `id=${id}`;
}

/** The memory's id in the query of its document's URI; undefined for a draft. */
export function idIn(query: string): string | undefined {
  return /^id=([0-9a-f-]{8,})$/.exec(query)?.[1];
}

// A memory as a Markdown document with front matter, and back: no editor in here, so that it can be tested without one.
import { plain } from "../quoting.ts";
import type { Memory } from "../server/answers.ts";

export interface Draft {
  readonly content: string;
  readonly scope: string;
  readonly tags: readonly string[];
  readonly memory_type: string;
  /** Undefined: as it is. */
  readonly importance: number | undefined;
}

export const SCOPES = ["project", "global", "session"];
export const TYPES = ["semantic", "episodic", "procedural"];

/** What the front matter says is wrong, in words for whoever wrote it. */
export class BadFrontMatter extends Error {}

/** The document of a memory; one without an id is still to be written. */
export function toMarkdown(memory: Partial<Memory>): string {
  const lines = [
    "---",
    `scope: ${memory.scope ?? "project"}`,
    `type: ${memory.memory_type ?? "semantic"}`,
    `tags: ${(memory.metadata?.tags ?? []).map(quoted).join(", ")}`,
    `importance: ${memory.metadata?.importance_score ?? 0.5}`,
  ];
  if (memory.anchor) {
    const { path, line, symbol, state } = memory.anchor;
    const place = `${path}${line ? `:${line}` : ""}${symbol ? ` (${symbol})` : ""}`;
    // In one line: another one would be a value of the front matter.
    lines.push(`# about ${plain(place)}${state && state !== "fresh" ? `, ${state}` : ""}`);
  }
  return `${lines.join("\n")}\n---\n\n${memory.content ?? ""}\n`;
}

/** What a document says. Lines of the front matter that begin with `#` are remarks. Throws `BadFrontMatter`. */
export function fromMarkdown(text: string): Draft {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const end = lines.indexOf("---", 1);
  const has = lines[0] === "---" && end > 0;
  const values = has ? entries(lines.slice(1, end)) : new Map<string, string>();
  const content = (has ? lines.slice(end + 1) : lines).join("\n").trim();
  if (content === "") {
    throw new BadFrontMatter("a memory needs a text below the second ---");
  }
  const importance = values.get("importance");
  return {
    content,
    scope: one("scope", values.get("scope") ?? "project", SCOPES),
    memory_type: one("type", values.get("type") ?? "semantic", TYPES),
    tags: tagsIn(values.get("tags") ?? ""),
    importance: importance === undefined || importance === "" ? undefined : share(importance),
  };
}

/** A tag that holds what parts tags is quoted. */
function quoted(tag: string): string {
  return /[,"\p{Cc}]/u.test(tag) ? JSON.stringify(tag) : tag;
}

function tagsIn(text: string): string[] {
  const parts = text.match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return parts.map((part) => unquoted(part.trim())).filter((tag) => tag !== "");
}

function unquoted(part: string): string {
  try {
    const said: unknown = part.startsWith('"') ? JSON.parse(part) : part;
    return typeof said === "string" ? said.trim() : part;
  } catch {
    return part;
  }
}

function entries(lines: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of lines) {
    if (line.trim() === "" || line.startsWith("#")) {
      continue;
    }
    const [, key, value] = /^(\w+):\s*(.*)$/.exec(line) ?? [];
    if (key === undefined || !["scope", "type", "tags", "importance"].includes(key)) {
      throw new BadFrontMatter(`the front matter knows scope, type, tags and importance, not ${JSON.stringify(line)}`);
    }
    found.set(key, (value ?? "").trim());
  }
  return found;
}

function one(key: string, value: string, choices: readonly string[]): string {
  if (!choices.includes(value)) {
    throw new BadFrontMatter(`${key} is one of ${choices.join(", ")}, not ${JSON.stringify(value)}`);
  }
  return value;
}

function share(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) {
    throw new BadFrontMatter(`importance is a number from 0 to 1, not ${JSON.stringify(text)}`);
  }
  return value;
}

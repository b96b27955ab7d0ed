// What the search view and its page say to each other.
import type { SnippetLine } from "./snippet.ts";

/** What is looked for: code of any kind, code of one, or memories. */
export const SUBJECTS = ["code", "function", "type", "section", "test", "memory"] as const;
export type Subject = (typeof SUBJECTS)[number];

/** How the question finds code: by meaning, as a text that lines hold, or as a regular expression. */
export const MATCHES = ["auto", "exact", "regex"] as const;
export type Match = (typeof MATCHES)[number];

export interface Question {
  readonly query: string;
  readonly subject: Subject;
  /** Empty for all. */
  readonly language: string;
  /** A folder, or a pattern of paths; empty for all. */
  readonly folder: string;
  /** By meaning, where it is not said. */
  readonly match?: Match;
  /** Of exact texts and regular expressions: whether case counts, and only whole words do. */
  readonly matchCase?: boolean;
  readonly wholeWords?: boolean;
}

export interface ShownHit {
  /** What the page names when the hit is to be shown. */
  readonly index: number;
  readonly label: string;
  readonly place: string;
  /** Whether the place is the number of a line; else it is a file. */
  readonly isLine: boolean;
  readonly lines: readonly SnippetLine[];
}

export interface ShownGroup {
  readonly title: string;
  /** The folder of a file; empty for others. */
  readonly folder: string;
  readonly hits: readonly ShownHit[];
}

export type ToPage =
  | { readonly kind: "answer"; readonly summary: string; readonly groups: readonly ShownGroup[] }
  | { readonly kind: "busy" }
  | { readonly kind: "problem"; readonly text: string }
  | { readonly kind: "languages"; readonly names: readonly string[] }
  /** Put this into the form; ask it, or go to it, where that is said. */
  | { readonly kind: "form"; readonly question: Partial<Question>; readonly ask: boolean; readonly focus: boolean };

export type FromPage =
  /** With the question that the page was left with, where there is one. */
  | { readonly kind: "ready"; readonly question?: Question }
  /** The languages may be others now. */
  | { readonly kind: "languages" }
  | { readonly kind: "ask"; readonly question: Question }
  | { readonly kind: "show"; readonly index: number; readonly preview: boolean };

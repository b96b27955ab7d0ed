import { plain } from "./quoting.ts";

/** The type of an error that the server answered with, such as `NotFound`; empty for other errors. */
export function typeOf(error: unknown): string {
  const data: unknown = typeof error === "object" && error !== null && "data" in error ? error.data : undefined;
  return typeof data === "object" && data !== null && "type" in data && typeof data.type === "string" ? data.type : "";
}

/** What an error says to people. */
export function messageOf(error: unknown): string {
  return plain(error instanceof Error ? error.message : String(error));
}

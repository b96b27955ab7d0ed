// Links that open an editor at a line.
import { el } from "./dom.js";

const escaped = (file) => file.split("/").map(encodeURIComponent).join("/");
// A Windows path has no slash at its beginning.
const rooted = (file) => escaped(file.replaceAll("\\", "/").replace(/^(?!\/)/, "/"));
const LINKS = {
  "VS Code": (file, line) => `vscode://file${rooted(file)}:${line}`,
  Cursor: (file, line) => `cursor://file${rooted(file)}:${line}`,
  Zed: (file, line) => `zed://file${rooted(file)}:${line}`,
  JetBrains: (file, line) => `idea://open?file=${encodeURIComponent(file)}&line=${line}`,
};
const KEY = "rag-ls.editor";

const chosen = () => localStorage.getItem(KEY) ?? "VS Code";

const linkTo = (file, line) => (LINKS[chosen()] ?? LINKS["VS Code"])(file, line);

/** A link that opens a file at a line in the chosen editor. */
export const editorLink = (file, line, text, more = "") => el("a", { class: `editor ${more}`.trim(), href: linkTo(file, line), "data-file": file, "data-line": String(line) }, text);

/** Have the links below an element open the editor that is chosen now. */
export function relink(below) {
  for (const link of below.querySelectorAll("a.editor")) link.href = linkTo(link.dataset.file, Number(link.dataset.line));
}

/** Fill the choice of editors, and keep what is chosen. */
export function offerEditors(select, changed) {
  for (const name of Object.keys(LINKS)) select.append(new Option(name, name, false, name === chosen()));
  select.addEventListener("change", () => { localStorage.setItem(KEY, select.value); changed(); });
}

// Links that open an editor at a line.
const LINKS = {
  "VS Code": (file, line) => `vscode://file${file}:${line}`,
  Cursor: (file, line) => `cursor://file${file}:${line}`,
  Zed: (file, line) => `zed://file${file}:${line}`,
  JetBrains: (file, line) => `idea://open?file=${encodeURIComponent(file)}&line=${line}`,
};
const KEY = "rag-ls.editor";

export const chosen = () => localStorage.getItem(KEY) ?? "VS Code";

/** The address that opens a file at a line in the chosen editor. */
export const linkTo = (file, line) => (LINKS[chosen()] ?? LINKS["VS Code"])(file.split("/").map(encodeURIComponent).join("/"), line);

/** Fill the choice of editors, and keep what is chosen. */
export function offerEditors(select, changed) {
  for (const name of Object.keys(LINKS)) select.append(new Option(name, name, false, name === chosen()));
  select.addEventListener("change", () => { localStorage.setItem(KEY, select.value); changed(); });
}

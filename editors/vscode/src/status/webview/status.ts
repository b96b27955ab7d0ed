// The script of the status page: shows what it is told, and keeps open what was opened.
declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const vscode = acquireVsCodeApi();
const main = document.querySelector("main") as HTMLElement;
let shown = "";

main.addEventListener("click", ({ target }) => {
  const command = (target as HTMLElement).closest<HTMLElement>("[data-command]")?.dataset["command"];
  if (command !== undefined) {
    vscode.postMessage({ command });
  }
});

window.addEventListener("message", ({ data }: MessageEvent<{ readonly html: string }>) => {
  // What somebody is about to copy stays, and so does a button that has the focus.
  if (document.getSelection()?.type === "Range" || data.html === shown) {
    return;
  }
  shown = data.html;
  const key = (details: HTMLDetailsElement): string => details.dataset["key"] ?? "";
  const open = new Set([...main.querySelectorAll<HTMLDetailsElement>("details[open]")].map(key));
  const focused = document.activeElement?.closest<HTMLDetailsElement>("details");
  main.innerHTML = data.html;
  for (const details of main.querySelectorAll("details")) {
    details.open = open.has(key(details));
    if (focused && key(focused) === key(details)) {
      details.querySelector("summary")?.focus();
    }
  }
});
vscode.postMessage({});

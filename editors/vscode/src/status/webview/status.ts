// The script of the status page: shows what it is told, and keeps open what was opened.
declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const main = document.querySelector("main") as HTMLElement;

window.addEventListener("message", ({ data }: MessageEvent<{ readonly html: string }>) => {
  // What somebody is about to copy stays.
  if (document.getSelection()?.type === "Range") {
    return;
  }
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
acquireVsCodeApi().postMessage({ kind: "ready" });

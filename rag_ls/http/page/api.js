// What the page asks the server, always with the token in a header.
const TOKEN = "rag-ls.token";
const SIGNED_OUT = "You are signed out: run `rag-ls open` in a terminal.";

export class Refused extends Error {}

/** Keep the token of this tab. */
export const keepToken = (token) => sessionStorage.setItem(TOKEN, token);

function signOut() {
  sessionStorage.removeItem(TOKEN);
  throw new Refused(SIGNED_OUT);
}

function heldToken() {
  return sessionStorage.getItem(TOKEN) ?? signOut();
}

/** Ask an address; the JSON of its answer. Throws `Refused` with words for the user. */
export async function ask(path, { method = "POST", body, project, signal } = {}) {
  const headers = { "X-RAG-Token": heldToken() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (project) headers["X-RAG-Project"] = encodeURI(project);
  const answer = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  if (answer.status === 401) signOut();
  const found = await answer.json();
  if (!answer.ok) throw new Refused(`${found.error.message} (request ${found.error.request_id})`);
  return found;
}

/** Run an operation. */
export const run = (operation, body = {}, options = {}) => ask(`/api/${operation}`, { ...options, body });

/** Call `heard` with the name of each event of the engine, until `signal` aborts; comes back after a broken connection. */
export async function listen(heard, signal) {
  for (let wait = 1000; !signal.aborted; wait = Math.min(2 * wait, 30000)) {
    try {
      const answer = await fetch("/events", { headers: { "X-RAG-Token": heldToken() }, signal });
      if (answer.status === 401) return;
      if (!answer.ok) throw new Refused(String(answer.status));
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ;) {
        const { done, value } = await reader.read();
        if (done) break;
        wait = 1000;
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        for (const part of parts) {
          const name = /^event: (.*)$/m.exec(part);
          if (name) heard(name[1]);
        }
      }
    } catch {
      if (signal.aborted || !sessionStorage.getItem(TOKEN)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

// What the page asks the server, always with the token in a header, and after the server has shown that it knows the token:
// while the engine is down, another user's program may listen at its address.
const TOKEN = "rag-ls.token";
const SIGNED_OUT = "You are signed out: run `rag-ls open` in a terminal.";

export class Refused extends Error {}

const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const bytesOf = (text) => new TextEncoder().encode(text);

/** Keep the token of this tab. */
export const keepToken = (held) => sessionStorage.setItem(TOKEN, JSON.stringify(held));

function signOut(why = SIGNED_OUT) {
  sessionStorage.removeItem(TOKEN);
  throw new Refused(why);
}

/** The proof in an answer; nothing where it is no JSON. A request that is given up proves nothing, either way: it throws. */
async function proofIn(answer) {
  try {
    return (await answer.json())?.proof;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The token, once who listens there has proved to be the engine that gave it. Throws `Refused`. */
async function provenToken(signal) {
  const held = JSON.parse(sessionStorage.getItem(TOKEN) ?? "null");
  if (!held) signOut();
  if (!crypto.subtle) throw new Refused("Browsers show this page at 127.0.0.1 or over HTTPS alone.");
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  const answer = await fetch(`/prove?id=${held.id}&nonce=${nonce}`, { signal, credentials: "omit" });
  if (answer.status === 404) signOut();
  if (!answer.ok) throw new Refused("The engine is busy; try again in a moment.");
  const digest = hex(await crypto.subtle.digest("SHA-256", bytesOf(held.token)));
  const key = await crypto.subtle.importKey("raw", bytesOf(digest), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const wanted = hex(await crypto.subtle.sign("HMAC", key, bytesOf(nonce)));
  if ((await proofIn(answer)) !== wanted) signOut("Another program answers at this address; nothing was sent to it. Run `rag-ls open` in a terminal.");
  return held.token;
}

/** Ask an address; the JSON of its answer. Throws `Refused` with words for the user. */
export async function ask(path, { method = "POST", body, project, signal } = {}) {
  const headers = { "X-RAG-Token": await provenToken(signal) };
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
      const answer = await fetch("/events", { headers: { "X-RAG-Token": await provenToken(signal) }, signal });
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

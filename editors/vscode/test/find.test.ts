import assert from "node:assert/strict";
import { test } from "node:test";
import * as path from "node:path";
import { type Surroundings, candidates, firstThat, isAtLeast, toolBins, versionIn } from "../src/server/find.ts";

const linux: Surroundings = {
  setting: "",
  python: "/work/env/bin/python",
  folders: ["/work/shop"],
  trusted: true,
  own: "/home/me/storage/bin",
  searchPath: "/usr/bin:/usr/local/bin",
  toolBins: ["/home/me/.local/bin"],
  windows: false,
};

test("the selected Python environment goes before the workspace's own, then comes what the extension installed, then the PATH, then where uv puts commands", () => {
  assert.deepEqual(candidates(linux), [
    "/work/env/bin/rag-ls",
    "/work/shop/.venv/bin/rag-ls",
    "/home/me/storage/bin/rag-ls",
    "/usr/bin/rag-ls",
    "/usr/local/bin/rag-ls",
    "/home/me/.local/bin/rag-ls",
  ]);
});

test("nothing that lies in a folder is run before the user trusts it", () => {
  const places = candidates({ ...linux, trusted: false, searchPath: ".:bin:/usr/bin", toolBins: ["/work/shop/bin"] });
  assert.ok(!places.some((place) => place.startsWith("/work/shop") || !place.startsWith("/")), places.join());
  assert.equal(places.at(-1), "/usr/bin/rag-ls");
  assert.ok(!candidates({ ...linux, trusted: false, python: "/work/shop/env/bin/python" }).includes("/work/shop/env/bin/rag-ls"));
  for (const setting of ["${workspaceFolder}/rag-ls", "bin/rag-ls", "/work/shop/../shop/rag-ls"]) {
    assert.deepEqual(candidates({ ...linux, trusted: false, setting }), []);
  }
  assert.deepEqual(candidates({ ...linux, trusted: false, setting: "/opt/rag-ls" }), ["/opt/rag-ls"]);
});

test("a setting is meant alone, and may be relative to the workspace", () => {
  assert.deepEqual(candidates({ ...linux, setting: "/opt/rag-ls" }), ["/opt/rag-ls"]);
  assert.deepEqual(candidates({ ...linux, setting: "env/bin/rag-ls" }), ["/work/shop/env/bin/rag-ls"]);
  assert.deepEqual(candidates({ ...linux, setting: "${workspaceFolder}/x" }), ["/work/shop/x"]);
  assert.deepEqual(candidates({ ...linux, folders: [], setting: "rag-ls" }), ["rag-ls"]);
});

test("on Windows the names and folders are Windows' own", () => {
  const windows = { ...linux, python: "C:\\env\\Scripts\\python.exe", folders: ["C:\\shop"], searchPath: "C:\\bin;;", toolBins: ["C:\\me\\.local\\bin"], windows: true };
  assert.deepEqual(candidates(windows).slice(0, 2), ["C:\\env\\Scripts\\rag-ls.exe", "C:\\shop\\.venv\\Scripts\\rag-ls.exe"]);
  assert.deepEqual(candidates(windows).slice(-2), ["C:\\bin\\rag-ls.exe", "C:\\me\\.local\\bin\\rag-ls.exe"]);
});

test("uv's and pipx's folders are theirs by the environment, and the user's own, never one of the opened folder", () => {
  assert.deepEqual(toolBins({}, "/home/me", path.posix), ["/home/me/.local/bin"]);
  assert.deepEqual(toolBins({ UV_TOOL_BIN_DIR: "/tools", XDG_BIN_HOME: "bin" }, "/home/me", path.posix), ["/tools", "/home/me/.local/bin"]);
  assert.deepEqual(toolBins({}, "C:\\Users\\me", path.win32), ["C:\\Users\\me\\.local\\bin"]);
});

test("the first place where it is counts", async () => {
  assert.equal(await firstThat(["/a", "/b", "/c"], async (place) => place !== "/a"), "/b");
  assert.equal(await firstThat(["/a"], async () => false), undefined);
});

test("versions are read and compared by their numbers", () => {
  assert.equal(versionIn("rag-ls 0.10.2\n"), "0.10.2");
  assert.equal(versionIn("ripgrep 14.1.0"), undefined);
  assert.ok(isAtLeast("0.10.2", "0.9.9"));
  assert.ok(isAtLeast("0.1.0", "0.1.0"));
  assert.ok(!isAtLeast("0.1.9", "0.2.0"));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { RELEASE, installation, installerFolders, lastLine, modelBeside, ownBin } from "../src/server/installing.ts";

test("both installers put the command where it is looked for, and nothing elsewhere", () => {
  for (const name of ["uv", "pipx"] as const) {
    const { args, environment } = installation({ name, program: `/bin/${name}` }, "/src/rag-ls", undefined, "/storage");
    assert.ok(args.includes("/src/rag-ls"));
    assert.ok(Object.values(environment).includes(ownBin("/storage")));
    assert.ok(Object.values(environment).every((folder) => folder.startsWith("/storage/")));
  }
});

test("the embedding model comes from beside rag-ls: its folder in the sources, or a wheel", () => {
  for (const name of ["uv", "pipx"] as const) {
    const model = "rag_ls_model-1.1.0-py3-none-any.whl";
    const from = (source: string) => installation({ name, program: name }, source, modelBeside(source, ["a.whl", model]), "/storage").args.join(" ");
    assert.match(from("/src/rag-ls"), /--(with|preinstall) \/src\/rag-ls\/packages\/rag-ls-model/);
    assert.match(from("/dist/rag_ls-1.0-py3-none-any.whl"), new RegExp(`--(with|preinstall) /dist/${model}`));
    assert.doesNotMatch(from("rag-ls==1.0"), /rag-ls-model/);
  }
});

test("without a setting nothing is installed by a name that anybody could register", () => {
  assert.match(RELEASE, /^(rag-ls>=\d+\.\d+\.\d+)?$/);
});

test("installers are looked for where they install themselves, too", () => {
  assert.ok(installerFolders("/Users/me", false).includes("/opt/homebrew/bin"));
  assert.deepEqual(installerFolders("C:\\Users\\me", true), ["C:\\Users\\me\\.local\\bin", "C:\\Users\\me\\.cargo\\bin"]);
});

test("progress shows the last thing that an installer said", () => {
  assert.equal(lastLine("Resolved 80 packages\n\u001b[2mDownloading torch\u001b[0m (190 MB)\r\n  \n---\n"), "Downloading torch (190 MB)");
  assert.equal(lastLine("\n"), "");
});

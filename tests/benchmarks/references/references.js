// Reads [path, line, character] triples (0-based) from standard input; prints for each the [path, line] (1-based) of its references, and
// the files that were read.
const fs = require("fs");
const path = require("path");
const ts = require("typescript");

const root = process.argv[2];
const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const files = ts.sys
  .readDirectory(root, [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"], ["**/node_modules/**", "**/.git/**", "**/dist/**"], ["**/*"]);
const configured = ts.findConfigFile(root, ts.sys.fileExists);
const config = configured ? ts.parseJsonConfigFileContent(ts.readConfigFile(configured, ts.sys.readFile).config, ts.sys, root) : { options: {} };
const options = { ...config.options, allowJs: true, noEmit: true };
// As package managers link them: a package of the repository is found by its name, in its sources.
const packages = new Map();
for (const manifest of ts.sys.readDirectory(root, [".json"], ["**/node_modules/**", "**/.git/**"], ["**/package.json"])) {
  const content = ts.readConfigFile(manifest, ts.sys.readFile).config || {};
  if (content.name && !packages.has(content.name)) packages.set(content.name, { folder: path.dirname(manifest), content });
}
function findInPackages(name) {
  const own = [...packages.keys()].find((each) => name === each || name.startsWith(each + "/"));
  if (own === undefined) return undefined;
  const { folder, content } = packages.get(own);
  const rest = name.slice(own.length + 1).replace(/\.[cm]?js$/, "");
  const built = JSON.stringify([(content.exports || {})[rest ? `./${rest}` : "."], ...(rest ? [] : [content.types, content.main])]);
  const sources = [...built.matchAll(/"\.\/(?:\w+\/)?([^"*]+?)(?:\.d)?\.[cm]?[jt]s"/g)].map((match) => `src/${match[1]}`);
  const stems = [...sources, ...(rest ? [`src/${rest}`, `src/${rest}/index`, rest] : ["src/index", "src/main", "index"])];
  const places = stems.flatMap((stem) => [".ts", ".tsx", ".mts"].map((suffix) => path.join(folder, stem + suffix)));
  return places.find((place) => fs.existsSync(place));
}
const host = {
  resolveModuleNameLiterals: (literals, from, _, settings) =>
    literals.map(({ text }) => {
      const found = ts.resolveModuleName(text, from, settings, ts.sys);
      const own = found.resolvedModule || text.startsWith(".") ? undefined : findInPackages(text);
      return own ? { resolvedModule: { resolvedFileName: own, extension: path.extname(own) } } : found;
    }),
  getScriptFileNames: () => files,
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => (fs.existsSync(name) ? ts.ScriptSnapshot.fromString(fs.readFileSync(name, "utf8")) : undefined),
  getCurrentDirectory: () => root,
  getCompilationSettings: () => options,
  getDefaultLibFileName: (each) => ts.getDefaultLibFilePath(each),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
};
const service = ts.createLanguageService(host, ts.createDocumentRegistry());
const program = service.getProgram();
const answers = asked.map(([file, line, character]) => {
  const name = path.join(root, file);
  const source = program.getSourceFile(name);
  if (!source) return [];
  const position = source.getPositionOfLineAndCharacter(line, character);
  const found = (service.findReferences(name, position) || []).flatMap((each) => each.references);
  return found
    .filter((each) => !each.isDefinition)
    .map((each) => {
      const at = program.getSourceFile(each.fileName);
      return [path.relative(root, each.fileName), at.getLineAndCharacterOfPosition(each.textSpan.start).line + 1];
    });
});
process.stdout.write(JSON.stringify({ answers, looked: files.map((each) => path.relative(root, each)) }));

// Prints, for each TypeScript or JavaScript file below a folder, the files whose top-level names it uses or that it
// imports, as TypeScript's checker resolves them. One line an edge: the using file, a tab, the declaring file; and one for each file that was read.
const fs = require("fs");
const path = require("path");
const ts = require("typescript");

const root = path.resolve(process.argv[2]);
const skipped = new Set(["node_modules", ".git", "dist", ".rag-ls", "build"]);
const files = [];
const packages = {};

function walk(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!skipped.has(entry.name)) walk(place);
    } else if (/\.(?:[cm]?ts|tsx|[cm]?js|jsx)$/.test(entry.name)) {
      files.push(place);
    } else if (entry.name === "package.json") {
      try {
        const name = JSON.parse(fs.readFileSync(place, "utf8")).name;
        if (name) packages[name] = path.relative(root, folder);
      } catch {
        // no package
      }
    }
  }
}

walk(root);
// In a workspace that is installed, packages are links; their sources stand for what is built from them.
const workspace = {};
for (const [name, folder] of Object.entries(packages)) {
  workspace[name] = ["src/index", "index", "lib/index"].map((entry) => path.posix.join(folder, entry));
  workspace[`${name}/*`] = ["src/*", "*"].map((entry) => path.posix.join(folder, entry));
}
const options = {
  allowJs: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler, jsx: ts.JsxEmit.Preserve, types: [],
  allowImportingTsExtensions: true, resolveJsonModule: true,
};
const shared = { ...options, baseUrl: root, paths: workspace };
const configs = new Map();

function optionsOf(folder) {
  if (!configs.has(folder)) {
    const config = ts.findConfigFile(folder, ts.sys.fileExists);
    const read = config ? ts.getParsedCommandLineOfConfigFile(config, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} }) : undefined;
    const own = read?.options ?? {};
    configs.set(folder, { ...options, baseUrl: own.baseUrl, paths: own.paths, pathsBasePath: own.pathsBasePath });
  }
  return configs.get(folder);
}

const host = ts.createCompilerHost(options);
host.resolveModuleNameLiterals = (literals, containing) =>
  literals.map((literal) => {
    const own = ts.resolveModuleName(literal.text, containing, optionsOf(path.dirname(containing)), host);
    return own.resolvedModule ? own : ts.resolveModuleName(literal.text, containing, shared, host);
  });
const program = ts.createProgram(files, options, host);
const checker = program.getTypeChecker();
const edges = new Set();

function relative(file) {
  return path.relative(root, file).split(path.sep).join("/");
}

function note(from, declared) {
  // Types beside a script stand for it.
  const script = declared.replace(/\.d\.([cm]?)ts$/, ".$1js");
  const to = script !== declared && fs.existsSync(path.join(root, script)) ? script : declared;
  if (from !== to && !to.startsWith("..") && !to.includes("node_modules")) edges.add(`${from}\t${to}`);
}

function isTopLevel(declaration) {
  let node = declaration.parent;
  while (node && (ts.isVariableDeclarationList(node) || ts.isVariableStatement(node) || ts.isVariableDeclaration(node))) node = node.parent;
  // What no module exports is global: nobody imports it. What augments another module is not its declaration.
  return node !== undefined && ts.isSourceFile(node) && ts.isExternalModule(node);
}

for (const source of program.getSourceFiles()) {
  const from = relative(source.fileName);
  if (from.startsWith("..")) continue;
  edges.add(from);
  const visit = (node) => {
    if (ts.isStringLiteralLike(node) && node.parent && (ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent) ||
        (ts.isCallExpression(node.parent) && (node.parent.expression.kind === ts.SyntaxKind.ImportKeyword || node.parent.expression.getText() === "require")))) {
      const module = checker.getSymbolAtLocation(node);
      for (const declaration of (module?.declarations ?? []).filter(ts.isSourceFile)) note(from, relative(declaration.getSourceFile().fileName));
    }
    if (ts.isIdentifier(node)) {
      let symbol = checker.getSymbolAtLocation(node);
      if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
      for (const declaration of symbol?.declarations ?? []) {
        if (isTopLevel(declaration)) note(from, relative(declaration.getSourceFile().fileName));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
console.log([...edges].sort().join("\n"));

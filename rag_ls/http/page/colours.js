// Code in colours, by what most languages share: comments, strings, numbers, keywords, names. A wrong guess costs a colour, nothing else.

const set = (names) => new Set(names.split(" "));
const PROSE = set("text rst asciidoc org markdown mdx textile latex man csv diff log");
// By what a comment begins with; all others take `//` and `/* */`.
const HASH = set("python cython ruby bash shell zsh fish perl r julia elixir nim coffeescript yaml toml make makefile cmake dockerfile nix crystal gdscript powershell tcl awk just starlark bazel graphql hcl ini properties gettext jinja");
const DASHES = set("lua sql haskell elm ada vhdl agda idris applescript purescript dhall");
const SEMICOLON = set("clojure lisp commonlisp scheme racket elisp fennel janet assembly");
const PERCENT = set("erlang prolog matlab bibtex");
const MARKUP = set("html xml vue svelte astro handlebars erb eex");
// A single quote stands for one letter there, or for something else altogether.
const LETTERS = set("c cpp cuda objc csharp java kotlin scala go rust zig swift haskell ocaml fsharp elm d glsl hlsl vhdl ada clojure lisp commonlisp scheme racket elisp fennel");
const KEYWORDS = set("abstract actor and as assert async await begin break by case catch class const continue crate debugger declare def default defer defmodule defp del delete do elif else elseif elsif end enum error except export extends extern false final finally fn for foreach from fun func function global go goto guard if impl implements import in include inline instanceof interface internal is isa let local loop macro match mod module mut namespace new nil none None not null of operator or override package pass private protected protocol pub public raise readonly record ref rescue return sealed self Self set static struct super switch template then this throw throws trait true True False try type typedef typeof undefined union unless unsafe until use using val var virtual void when where while with yield");

const COMMENTS = [[HASH, String.raw`(?<![^\s(\[{;])#[^\n]*`], [DASHES, String.raw`--[^\n]*|\{-[\s\S]*?(?:-\}|$)`], [SEMICOLON, ";[^\\n]*"], [PERCENT, "%[^\\n]*"], [MARKUP, "<!--[\\s\\S]*?(?:-->|$)"]];
const SLASHES = String.raw`//[^\n]*|/\*[\s\S]*?(?:\*/|$)`;
const LONG_STRINGS = String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)`;
// The end is optional, so that a text without it takes no longer.
const STRING = String.raw`"(?:\\.|[^"\\\n])*"?|${"`"}(?:\\[\s\S]|[^${"`"}\\])*${"`"}?`;
const ATTRIBUTE = String.raw`(?<=[=(])(?:"[^"\n]*"?|'[^'\n]*'?)`;
const QUOTED = String.raw`'(?:\\.|[^'\\\n])*'?`, LETTER = String.raw`'(?:\\[^'\n]{1,8}|[^'\\\n])'`;
const REST = String.raw`(?<number>\b\d[\w.]*)|(?<name>[\p{L}_$][\p{L}\p{N}_$]*)(?<call>(?=\s?\())?`;

function patternOf(language) {
  if (PROSE.has(language)) return /(?<keyword>^#{1,6} [^\n]*)|(?<string>`[^`\n]+`)/gmu;
  const comment = COMMENTS.find(([languages]) => languages.has(language))?.[1] ?? SLASHES;
  const strings = MARKUP.has(language) ? ATTRIBUTE : [LONG_STRINGS, STRING, LETTERS.has(language) ? LETTER : QUOTED].join("|");
  return new RegExp(`(?<comment>${comment})|(?<string>${strings})|${REST}`, "gu");
}

function kindOf({ comment, string, keyword, number, name, call }) {
  if (comment !== undefined) return "comment";
  if (string !== undefined) return "string";
  if (number !== undefined) return "number";
  if (keyword !== undefined || KEYWORDS.has(name)) return "keyword";
  if (/^\p{Lu}.*\p{Ll}/u.test(name)) return "type";
  return call === undefined ? "" : "call";
}

/** The lines of a text, each as its parts: `{ text, kind }`, where `kind` names a colour or is empty. */
export function colouredLines(text, language) {
  const lines = [[]];
  const add = (part, kind) => {
    for (const [place, line] of part.split("\n").entries()) {
      if (place) lines.push([]);
      if (line) lines.at(-1).push({ text: line, kind });
    }
  };
  let end = 0;
  for (const found of text.matchAll(patternOf(language))) {
    add(text.slice(end, found.index), "");
    add(found[0], kindOf(found.groups));
    end = found.index + found[0].length;
  }
  add(text.slice(end), "");
  return lines;
}

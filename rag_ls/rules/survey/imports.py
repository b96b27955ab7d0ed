"""Finds how files import one another: relatively, absolutely, by a prefix."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SurveyFinding, Tally
from rag_ls.rules.survey.sources import JAVASCRIPT, SurveyedFile, is_vendored

TOPIC = "imports"

_JAVASCRIPT = re.compile(
    r"""^[ \t]*(?:import|export)\b[^;"'`]{0,2000}?["']([^"'\n]+)["']|\b(?:require|import)\(\s*["']([^"'\n]+)["']""",
    re.M,
)
_PYTHON = re.compile(r"^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import\b|^[ \t]*import[ \t]+([\w.]+)", re.MULTILINE)
_RUST = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?use\s+(crate|super|self)::", re.MULTILINE)
_RUBY = re.compile(r"^[ \t]*(require_relative|require)[ (]\s*[\"']([^\"'\n]+)", re.MULTILINE)
_USUAL_PREFIXES = ("@/", "~/", "#/", "$lib/", "@@/", "~~/")
_TSCONFIG = re.compile(r"(^|/)(ts|js)config[\w.-]*\.json$")
_ALIAS = re.compile(r"""["']([@~#$\w][\w@~#$./-]*)/\*["']\s*:\s*\[""")
_EXTENSION = re.compile(r"\.(?:[cm]?jsx?|tsx?)$")
_ABOVE = re.compile(r"(?:\.\./)+\w[\w-]*(?=/)")
_RELATIVE = "relative"
_MAX_PREFIXES = 8


@dataclass(slots=True)
class Imports:
    """Gathers the imports of a project's own files in all files."""

    prefixes: tuple[str, ...]
    """The aliases that the project may import by."""
    packages: frozenset[str]
    """The names of the project's own Python packages."""
    javascript: Tally = field(default_factory=Tally)
    python: Tally = field(default_factory=Tally)
    rust: Tally = field(default_factory=Tally)
    ruby: Tally = field(default_factory=Tally)
    extensions: Tally = field(default_factory=Tally)
    relative: int = 0
    prefixed: Tally = field(default_factory=Tally)
    """The imports of JavaScript by their prefix: an alias, or the folder beside or above."""

    def read(self, source: SurveyedFile) -> None:
        if source.language in JAVASCRIPT:
            self._javascript(source)
        elif source.language == "python":
            self._python(source)
        elif source.language == "rust":
            for match in source.find(_RUST):
                self.rust.add(match[1], source.place(match))
        elif source.language == "ruby":
            for match in source.find(_RUBY):
                if match[1] == "require_relative":
                    self.ruby.add(match[1], source.place(match))

    def _javascript(self, source: SurveyedFile) -> None:
        for match in source.find(_JAVASCRIPT):
            module = match[1] or match[2]
            if above := _ABOVE.match(module):
                self.prefixed.add(above[0])
            if module.startswith("."):
                self.javascript.add(_RELATIVE, source.place(match))
                self.relative += 1
                if _EXTENSION.search(module):
                    self.extensions.add(posixpath.splitext(module)[1], source.place(match))
            elif prefix := next((prefix for prefix in self.prefixes if module.startswith(prefix)), ""):
                self.javascript.add(prefix, source.place(match))
                self.prefixed.add(prefix)

    def _python(self, source: SurveyedFile) -> None:
        for match in source.find(_PYTHON):
            module = match[1] or match[2] or ""
            if module.startswith("."):
                self.python.add(_RELATIVE, source.place(match))
            elif module.partition(".")[0] in self.packages:
                self.python.add("absolute", source.place(match))

    def findings(self) -> Iterator[SurveyFinding]:
        words = {_RELATIVE: "Files import one another by relative paths"}
        yield from _mixture(
            self.javascript, lambda name: words.get(name, f"Files import one another by the prefix `{name}`")
        )
        for ending in self.extensions.most_common():
            if self.extensions.count(ending) >= MIN_SHARE * self.relative:
                claim = f"Relative imports name the extension `{ending}`"
                yield self.extensions.finding(TOPIC, claim, ending, self.relative)
        words = {
            _RELATIVE: "Python modules import one another relatively (`from .module import ...`)",
            "absolute": "Python modules import one another by the package's full name",
        }
        yield from _mixture(self.python, words.__getitem__)
        yield from _mixture(self.rust, lambda name: f"Rust modules import one another by `use {name}::`")
        yield from _mixture(self.ruby, lambda name: f"Ruby files load one another with `{name}`")

    def used_prefixes(self) -> tuple[str, ...]:
        """The prefixes that are a pattern, the most frequent first."""
        return tuple(name for name in self.javascript.most_common() if name != _RELATIVE)

    def frontend_prefixes(self) -> tuple[str, ...]:
        """The prefixes, also of folders (`../hooks`), with three imports, or half of a small project's."""
        least = (
            MIN_COUNT if self.prefixed.total > 2 * MIN_COUNT else max(1, min(MIN_COUNT, (self.prefixed.total + 1) // 2))
        )
        return tuple(self.prefixed.most_common(least)[:_MAX_PREFIXES])


def _mixture(tally: Tally, claim: Callable[[str], str]) -> Iterator[SurveyFinding]:
    """Every way with its share of the total."""
    for name in tally.most_common(MIN_COUNT):
        yield tally.finding(TOPIC, claim(name), name)


def gather_imports(paths: Iterable[str], read: Callable[[str], str], own: Iterable[str]) -> Imports:
    """`own` are the product's files; aliases are read from the project's `tsconfig.json` files."""
    aliases: set[str] = set(_USUAL_PREFIXES)
    for path in paths:
        if _TSCONFIG.search(path) and not is_vendored(path):
            aliases.update(f"{name}/" for name in _ALIAS.findall(read(path)))
            aliases.update(_base_folders(path, read(path), paths))
    packages = frozenset(_python_packages(own))
    return Imports(tuple(sorted(aliases, key=lambda name: (-len(name), name))), packages)


def _base_folders(path: str, text: str, paths: Iterable[str]) -> Iterator[str]:
    """With a `baseUrl`, files are imported by the names of the folders there."""
    found = re.search(r"""["']baseUrl["']\s*:\s*("[^"\n]*")""", text)
    if found is None:
        return
    base = posixpath.normpath(posixpath.join(posixpath.dirname(path), json.loads(found[1].replace("\\", "/"))))
    prefix = "" if base == "." else base + "/"
    for other in paths:
        if other.startswith(prefix) and re.search(r"\.(?:[jt]sx?|vue|svelte)$", other):
            folder, slash, _ = other[len(prefix) :].partition("/")
            if slash and not is_vendored(other):
                yield folder + "/"


def _python_packages(paths: Iterable[str]) -> Iterator[str]:
    """The folders that modules are imported from: those that hold modules and lie in one that holds none, or in `src`."""
    folders = {posixpath.dirname(path) for path in paths if path.endswith(".py")}
    packaged = {posixpath.dirname(path) for path in paths if path.endswith("/__init__.py")}
    for folder in folders:
        parent, name = posixpath.split(folder)
        if name and (folder in packaged or parent == "") and parent not in packaged:
            yield name

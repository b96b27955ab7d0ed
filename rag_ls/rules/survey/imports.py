"""Finds how files import one another: relatively, absolutely, by a prefix."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator

from rag_ls.languages import family_of
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SurveyFinding, Tally
from rag_ls.rules.survey.sources import JAVASCRIPT, SurveyedFile, is_vendored
from rag_ls.rules.survey.traces import Trace, Traces
from rag_ls.util.records import dataclass, replace

TOPIC = "imports"

_JAVASCRIPT = re.compile(
    r"""^[ \t]*(?:import|export)\b[^;"'`]{0,2000}?["']([^"'\n]+)["']|\b(?:require|import)\(\s*["']([^"'\n]+)["']""",
    re.M,
)
_PYTHON = re.compile(r"^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import\b|^[ \t]*import[ \t]+([\w.]+)", re.MULTILINE)
_USUAL_PREFIXES = ("@/", "~/", "#/", "$lib/", "@@/", "~~/")
_TSCONFIG = re.compile(r"(^|/)(ts|js)config[\w.-]*\.json$")
_ALIAS = re.compile(r"""["']([@~#$\w][\w@~#$./-]*)/\*["']\s*:\s*\[""")
_SUBPATH = re.compile(r"""["'](#[\w@~$./-]+)/\*["']\s*:""")
"""A name in `imports` of a package.json."""
_NAMESPACE = re.compile(r"\"([A-Z][\w\\]*?)(?:\\\\)?\"\s*:\s*[\"\[]")
"""A namespace of composer.json, whose other keys are lower-case."""
_MODULE_MANIFESTS = ("go.mod", "composer.json")
_ABOVE = re.compile(r"(?:\.\./)+\w[\w-]*(?=/)")
_RELATIVE, _ABSOLUTE = "relative", "absolute"
_MAX_PREFIXES = 8


@dataclass(frozen=True, slots=True)
class ImportNames:
    """The names by which a project's files may import one another."""

    prefixes: tuple[str, ...]
    """The aliases of JavaScript."""
    packages: frozenset[str]
    """The names of the project's own Python packages."""
    modules: tuple[str, ...] = ()
    """The beginnings of its Go modules and of its namespaces in PHP, each with a slash at its end."""

    def are_own(self, module: str) -> bool:
        """Whether a module is one of the project's files, or a folder of them."""
        if module.startswith((".", *self.prefixes)) or module.partition(".")[0] in self.packages:
            return True
        folder = f"{module.replace(chr(92), '/').strip('/')}/"
        return any(map(folder.startswith, self.modules))


def import_traces(source: SurveyedFile, names: ImportNames) -> Iterator[Trace]:
    """The imports of a file that are of the project's own files."""
    family = family_of(source.language)
    if source.language in JAVASCRIPT:
        for match in source.find(_JAVASCRIPT):
            module, line = match[1] or match[2], source.place(match).line
            prefix = next((prefix for prefix in names.prefixes if module.startswith(prefix)), "")
            above = _ABOVE.match(module)
            if shown := above[0] if above else prefix:
                yield Trace("import prefix", family, shown, line)
            if module.startswith(".") or prefix:
                yield Trace("import", family, _RELATIVE if module.startswith(".") else prefix, line)
    elif source.language == "python":
        for match in source.find(_PYTHON):
            module = match[1] or match[2] or ""
            if module.startswith(".") or module.partition(".")[0] in names.packages:
                way = _RELATIVE if module.startswith(".") else _ABSOLUTE
                yield Trace("import", family, way, source.place(match).line)


def import_findings(traces: Traces) -> Iterator[SurveyFinding]:
    """The way in which nearly all files of a language import one another."""
    tally = traces.tally("import", "typescript")
    if (name := tally.convention()) and name != _RELATIVE and _is_kept_by_files(tally, name):
        yield tally.finding(TOPIC, f"Files import one another by the prefix `{name}`", name)
    tally = traces.tally("import", "python")
    if tally.convention() == _RELATIVE:
        claim = "Python modules import one another relatively (`from .module import ...`)"
        yield tally.finding(TOPIC, claim, _RELATIVE)
    elif tally.convention() == _ABSOLUTE and _is_kept_by_files(tally, _ABSOLUTE):
        claim = "Python modules import one another by the package's full name"
        rule = {"id": "absolute-imports", "language": "python", "forbid": {"kind": "relative_import"}, "message": claim}
        judged = frozenset(path for files in tally.files.values() for path in files)
        yield replace(tally.finding(TOPIC, claim, _ABSOLUTE), rule=rule, judged=judged, marks=("from .",))


def _is_kept_by_files(tally: Tally, way: str) -> bool:
    """Whether nearly all files import in a way alone: most imports may be of a few files."""
    every = {path for files in tally.files.values() for path in files}
    others = {path for other, files in tally.files.items() if other != way for path in files}
    return len(others) <= (1 - MIN_SHARE) * len(every)


def frontend_prefixes(traces: Traces) -> tuple[str, ...]:
    """The prefixes, also of folders (`../hooks`), with three imports, or half of a small project's."""
    tally = traces.tally("import prefix", "typescript")
    least = MIN_COUNT if tally.total > 2 * MIN_COUNT else max(1, min(MIN_COUNT, (tally.total + 1) // 2))
    return tuple(tally.most_common(least)[:_MAX_PREFIXES])


def gather_import_names(paths: Iterable[str], read: Callable[[str], str], own: Iterable[str]) -> ImportNames:
    """`own` are the product's files; aliases are read from the project's `tsconfig.json` and `package.json` files."""
    aliases: set[str] = set(_USUAL_PREFIXES)
    for path in paths:
        if path.endswith(".json") and _TSCONFIG.search(path) and not is_vendored(path):
            aliases.update(f"{name}/" for name in _ALIAS.findall(read(path)))
            aliases.update(_base_folders(path, read(path), paths))
        elif posixpath.basename(path) == "package.json" and not is_vendored(path):
            aliases.update(f"{name}/" for name in _SUBPATH.findall(read(path)))
    packages = frozenset(_python_packages(own))
    manifests = (path for path in paths if path.endswith(_MODULE_MANIFESTS) and not is_vendored(path))
    modules = tuple(f"{name}/" for path in manifests for name in _own_modules(path, read))
    return ImportNames(tuple(sorted(aliases, key=lambda name: (-len(name), name))), packages, modules)


def _own_modules(path: str, read: Callable[[str], str]) -> Iterator[str]:
    """The names that a manifest gives the project's own modules: of Go, and of PHP's autoloading."""
    name = posixpath.basename(path)
    if name == "go.mod":
        yield from re.findall(r"^module[ \t]+\"?([^\s\"]+)", read(path), re.MULTILINE)
    elif name == "composer.json":
        yield from (each.replace("\\\\", "/") for each in _NAMESPACE.findall(read(path)))


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

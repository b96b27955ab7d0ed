"""Resolves imports of JavaScript and TypeScript: relative paths, `paths` of tsconfig, packages of a workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from rag_ls.languages.source_tree import SourceTree, Target, above, join
from rag_ls.model import Import
from rag_ls.util.decoding import read_json

_SUFFIXES = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".json", ".d.mts")  # fmt: skip
# TypeScript sources import files by the names that they will have when compiled.
_COMPILED = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_MAX_EXTENDS = 8
_BUILT = r"^(?:dist|lib|build|out|esm|cjs)(?:/(?:esm|cjs|src|types))?/"
_SUFFIX = r"(?:\.d)?\.[cm]?[jt]sx?$"
# A string or comment that is never closed reaches to the end. Without that, each opening quote would search to the end: minutes.
_JSON_NOISE = r'(?s)("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s*[}\]])'


class _Paths(NamedTuple):
    """The `baseUrl` and `paths` of a tsconfig, as project paths."""

    base: str | None
    patterns: tuple[tuple[str, tuple[str, ...]], ...]


class JavaScriptResolver:
    """See `Resolver`."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._configs: dict[str, _Paths | None] = {}
        self._manifests: dict[str, dict[str, Any]] = {}

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The document that an import means."""
        path = self._resolve_module(importer, imported.module.partition("?")[0])
        if path is not None and path != importer:
            members = tuple(use for use in imported.uses if "." not in use)
            names = tuple(dict.fromkeys((*imported.names, *members)))
            yield Target(path, names)

    def names_of(self, path: str) -> tuple[str, ...]:
        """The last part of the package's name, for a document that the package's name may mean."""
        return tuple(self._entry_names.get(path, ()))

    def _resolve_module(self, importer: str, module: str) -> str | None:
        if module.startswith("."):
            return self._file(join(importer.rpartition("/")[0], module))
        if module.startswith("/"):
            return self._file(module.lstrip("/"))
        config = self._config_of(importer)
        for candidate in self._by_config(config, module) if config else ():
            if (found := self._file(candidate)) is not None:
                return found
        return self._in_package(module) or self._by_usual_alias(importer, module)

    def _by_config(self, config: _Paths, module: str) -> Iterator[str]:
        for pattern, places in config.patterns:
            start, star, end = pattern.partition("*")
            if star and module.startswith(start) and module.endswith(end) and len(module) >= len(start) + len(end):
                rest = module[len(start) : len(module) - len(end)]
                yield from (place.replace("*", rest) for place in places)
            elif module == pattern:
                yield from places
        if config.base is not None:
            yield join(config.base, module)

    def _by_usual_alias(self, importer: str, module: str) -> str | None:
        """`@/x` and `~/x` mean the nearest `src`, else the package's folder: what Vite, Nuxt and others are set to."""
        prefix, _, rest = module.partition("/")
        if prefix not in ("@", "~") or not rest:
            return None
        for folder in above(importer):
            if (found := self._file(join(folder, f"src/{rest}")) or self._file(join(folder, rest))) is not None:
                return found
        return None

    def _file(self, path: str) -> str | None:
        """The document at a path without its suffix, or in the folder there."""
        paths = self._tree.paths
        if path in paths:
            return path
        for suffix, sources in _COMPILED.items():
            if path.endswith(suffix):
                stem = path.removesuffix(suffix)
                if (found := next((stem + end for end in sources if stem + end in paths), None)) is not None:
                    return found
        for suffix in _SUFFIXES:
            if path + suffix in paths:
                return path + suffix
        if path not in self._tree.folders:
            return None
        for suffix in _SUFFIXES:
            if (index := join(path, "index" + suffix)) in paths:
                return index
        return None

    # --- packages of the project

    def _in_package(self, module: str) -> str | None:
        parts = module.split("/")
        name = "/".join(parts[:2]) if module.startswith("@") else parts[0]
        folder = self._packages.get(name)
        if folder is None:
            return None
        rest = module[len(name) + 1 :]
        return next((found for place in self._entries(folder, rest) if (found := self._file(place)) is not None), None)

    def _entries(self, folder: str, rest: str) -> Iterator[str]:
        """The places that a package's name, or a path below it, may mean."""
        manifest = self._manifest(join(folder, "package.json"))
        exported = _find_exports(manifest.get("exports"), f"./{rest}" if rest else ".")
        named = [manifest.get(key) for key in ("source", "types", "module", "main")] if not rest else []
        for entry in (*exported, *named):
            if isinstance(entry, str):
                entry = entry.removeprefix("./")
                yield join(folder, entry)
                # The built file's source lies in `src`.
                stem = re.sub(_SUFFIX, "", re.sub(_BUILT, "", entry))
                yield from (join(folder, f"src/{stem}"), join(folder, stem))
        for place in (f"src/{rest or 'index'}", rest or "index", f"lib/{rest or 'index'}"):
            yield join(folder, place)

    @cached_property
    def _packages(self) -> dict[str, str]:
        """The folders of the project's packages by name."""
        found: dict[str, str] = {}
        for path in self._tree.by_name.get("package.json", ()):
            name = self._manifest(path).get("name")
            if isinstance(name, str) and name:
                found.setdefault(name, path.rpartition("/")[0])
        return found

    @cached_property
    def _entry_names(self) -> dict[str, set[str]]:
        """The last parts of the names by which packages, or paths in them, mean a document."""
        found: dict[str, set[str]] = {}
        for name, folder in self._packages.items():
            exports = self._manifest(join(folder, "package.json")).get("exports")
            inner = (
                [key for key in exports if str(key).startswith("./") and "*" not in key]
                if isinstance(exports, dict)
                else []
            )
            for module in (name, *(f"{name}/{key[2:]}" for key in inner)):
                if (path := self._in_package(module)) is not None:
                    found.setdefault(path, set()).add(module.rsplit("/", 1)[-1])
        return found

    def _manifest(self, path: str) -> dict[str, Any]:
        # Asked for each name that a package exports: date-fns has a thousand.
        if path not in self._manifests:
            self._manifests[path] = _json(self._tree.read(path)) if path in self._tree.paths else {}
        return self._manifests[path]

    # --- tsconfig

    def _config_of(self, importer: str) -> _Paths | None:
        folder = importer.rpartition("/")[0]
        if folder not in self._configs:
            places = (
                join(above_it, name) for above_it in above(importer) for name in ("tsconfig.json", "jsconfig.json")
            )
            config = next((place for place in places if place in self._tree.paths), None)
            self._configs[folder] = self._read_config(config, 0) if config else None
        return self._configs[folder]

    def _read_config(self, path: str, depth: int) -> _Paths | None:
        content = self._manifest(path)
        folder = path.rpartition("/")[0]
        options = content.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        base, paths = options.get("baseUrl"), options.get("paths")
        base_folder = join(folder, base) if isinstance(base, str) else None
        if isinstance(paths, dict):
            patterns = [
                (pattern, tuple(join(base_folder or folder, place) for place in places if isinstance(place, str)))
                for pattern, places in paths.items()
                if isinstance(places, list)
            ]
            return _Paths(base_folder, tuple(sorted(patterns, key=lambda item: -len(item[0].partition("*")[0]))))
        inherited = self._inherit_paths(content, folder, depth)
        if base_folder is not None:
            return _Paths(base_folder, inherited.patterns if inherited else ())
        return inherited or self._follow_reference(content, folder, depth)

    def _inherit_paths(self, content: dict[str, Any], folder: str, depth: int) -> _Paths | None:
        extended = content.get("extends")
        for entry in extended if isinstance(extended, list) else [extended]:
            if isinstance(entry, str) and entry.startswith(".") and depth < _MAX_EXTENDS:
                place = join(folder, entry)
                for candidate in (place, place + ".json", join(place, "tsconfig.json")):
                    if candidate in self._tree.paths and (found := self._read_config(candidate, depth + 1)):
                        return found
        return None

    def _follow_reference(self, content: dict[str, Any], folder: str, depth: int) -> _Paths | None:
        """Vite's templates keep the paths in a config that the main one refers to."""
        references = content.get("references")
        for entry in references if isinstance(references, list) else ():
            place = join(folder, str(entry.get("path", ""))) if isinstance(entry, dict) else ""
            if place.endswith(".json") and place in self._tree.paths and depth < _MAX_EXTENDS:
                found = self._read_config(place, depth + 1)
                if found and found.patterns:
                    return found
        return None


def _find_exports(exports: Any, wanted: str) -> Iterator[str]:
    """The files that the `exports` of a package.json give for a path."""
    if isinstance(exports, str):
        if wanted == ".":
            yield exports
    elif isinstance(exports, list):
        yield from (found for each in exports for found in _find_exports(each, wanted))
    elif isinstance(exports, dict):
        if not any(str(key).startswith(".") for key in exports):
            if wanted == ".":
                yield from (found for each in exports.values() for found in _find_exports(each, "."))
            return
        for key, value in exports.items():
            start, star, end = str(key).partition("*")
            if key == wanted:
                yield from _find_exports(value, ".")
            elif star and wanted.startswith(start) and wanted.endswith(end):
                rest = wanted[len(start) : len(wanted) - len(end)]
                yield from (found.replace("*", rest) for found in _find_exports(value, "."))


def _json(text: str) -> dict[str, Any]:
    """The object in a JSON text, which may hold comments and trailing commas; empty if it does not parse."""
    try:
        found = read_json(re.sub(_JSON_NOISE, lambda match: match[1] or "", text.removeprefix("\ufeff")))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

"""Reads which members of an imported module a document uses: `pkg.Name`, `module::name`. One pass over the text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_ls.model import Import

MAX_USES = 200
_MAX_BINDINGS = 300
_AS = re.compile(r"\bas\s+([\w$]+)")
_NAMED_AS = re.compile(r"\b([\w$]+)\s+as\s+([\w$]+)")
_DEFAULT = re.compile(r"import\s+(?:type\s+)?([\w$]+)\s*(?:,|\bfrom\b)")
_NAMESPACE = re.compile(r"\*\s*as\s+([\w$]+)")
_ASSIGNED = re.compile(rb"\b(?:const|let|var)\s+([\w$]+)\s*(?::[^=]{1,80})?=\s*(?:await\s*)?$")
_TAKEN_APART = re.compile(rb"\b(?:const|let|var)\s*\{([^{}]{1,400})\}\s*=\s*(?:await\s*)?$")
_GO_ALIAS = re.compile(r"^\s*(\w+)\s+[\"`]")
_GO_VERSION = re.compile(r"^v\d+$")
_BEFORE_BYTES = 500
_SEPARATORS: Mapping[str, str] = {
    "python": r"\s*\.\s*",
    "javascript": r"\??\.",
    "typescript": r"\??\.",
    "tsx": r"\??\.",
    "go": r"\.",
    "rust": r"::",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """An import with the text of its statement and what stands before it."""

    imported: Import
    text: str
    before: bytes


def statement_of(imported: Import, text: str, data: bytes, start: int) -> Statement:
    """An import that was read from the statement `text`, which begins at the offset `start` of a document."""
    return Statement(imported, text, data[max(0, start - _BEFORE_BYTES) : start])


def with_uses(statements: Sequence[Statement], language: str, data: bytes) -> list[Import]:
    """The imports of a document, each with the members that its text takes from the imported module or names."""
    separator = _SEPARATORS.get(language)
    if separator is None:
        return [statement.imported for statement in statements]
    statements = [_with_names(statement, language) for statement in statements]
    bound: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, statement in enumerate(statements):
        for name, owner in _bindings(statement, language):
            bound[name].append((number, owner))
    members = _members(list(bound)[:_MAX_BINDINGS], separator, data)
    uses: dict[int, list[str]] = defaultdict(list)
    for name, used in members.items():
        for number, owner in bound[name]:
            uses[number] += [f"{owner}.{member}" if owner else member for member in used]
    return [
        replace(
            statement.imported,
            uses=tuple(dict.fromkeys(uses[number]))[:MAX_USES],
            aliases=tuple(_aliases(statement).items()),
        )
        for number, statement in enumerate(statements)
    ]


def _aliases(statement: Statement) -> dict[str, str]:
    """The names that a document gives to imported names."""
    names = statement.imported.names
    found = {match[1]: match[2] for match in _NAMED_AS.finditer(statement.text) if match[1] in names}
    # Not in `export`: that passes the default on under its own name.
    default = _DEFAULT.match(statement.text)
    return found | {"default": default[1]} if default and "default" in names else found


def _members(names: Sequence[str], separator: str, data: bytes) -> dict[str, list[str]]:
    """The members that follow each name in the text."""
    if not names:
        return {}
    # The longest first: `a.b` would hide `a.b.c`.
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w$./])({alternatives}){separator}([A-Za-z_$][\w$]*)".encode())
    members: dict[str, dict[str, None]] = defaultdict(dict)
    for match in pattern.finditer(data):
        members[match[1].decode()][match[2].decode()] = None
    return {name: list(found) for name, found in members.items()}


def _with_names(statement: Statement, language: str) -> Statement:
    """A statement with the names that an assignment before a `require` takes from it."""
    imported = statement.imported
    if language in ("javascript", "typescript", "tsx") and not imported.names:
        taken = _TAKEN_APART.search(statement.before)
        if taken:
            names = [part.split(":")[0].split("=")[0].strip() for part in taken[1].decode("utf-8", "ignore").split(",")]
            imported = replace(imported, names=tuple(name for name in names if re.fullmatch(r"[\w$]+", name)))
            return replace(statement, imported=imported)
    return statement


def _bindings(statement: Statement, language: str) -> Iterator[tuple[str, str]]:
    """The names that a statement binds in its document, each with the name that it has in the module; empty for the
    module itself."""
    imported = statement.imported
    match language:
        case "python":
            yield from _python(statement)
        case "go":
            yield _go(imported, statement.text), ""
        case "rust":
            if not imported.names:
                alias = _AS.search(statement.text)
                yield (alias[1] if alias else imported.module.rsplit("::", 1)[-1]), ""
        case _:
            yield from _javascript(statement)


def _python(statement: Statement) -> Iterator[tuple[str, str]]:
    imported = statement.imported
    if imported.names:
        renamed = _aliases(statement)
        yield from ((renamed.get(name, name), name) for name in imported.names if name != "*")
        return
    alias = re.search(rf"(?<![\w.]){re.escape(imported.module)}\s+as\s+(\w+)", statement.text)
    yield (alias[1] if alias else imported.module), ""


def _go(imported: Import, text: str) -> str:
    alias = _GO_ALIAS.match(text)
    if alias:
        return alias[1]
    parts = [part for part in imported.module.split("/") if not _GO_VERSION.match(part)] or [imported.module]
    # `gopkg.in/yaml.v3` is called yaml, `go-cmp` often cmp.
    return parts[-1].split(".v")[0].removeprefix("go-").removesuffix("-go").rpartition("-")[2] or parts[-1]


def _javascript(statement: Statement) -> Iterator[tuple[str, str]]:
    namespace = _NAMESPACE.search(statement.text)
    if namespace:
        yield namespace[1], ""
        return
    assigned = _ASSIGNED.search(statement.before)
    if assigned and not statement.imported.names:
        yield assigned[1].decode(), ""
        return
    renamed = _aliases(statement)
    yield from ((renamed.get(name, name), name) for name in statement.imported.names if name not in ("*", "default"))

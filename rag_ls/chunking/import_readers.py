"""Reads the modules and names in the text of an import statement.

The grammar has already found the statement, so there are only a few words and marks to read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

Taken = tuple[str, tuple[str, ...]]
"""A module, and the names that are taken from it."""

Reader = Callable[[str], Iterable[Taken]]

_STRING = re.compile(r"""(["'`])(.*?)\1""", re.DOTALL)
_SLASHED = re.compile(r"(?:^|(?<=\s))//[^\n]*|/\*.*?\*/", re.DOTALL)
_HASHED = re.compile(r"#[^\n]*|\\\r?\n")
_WORD = re.compile(r"[\w$]+")


def python(text: str) -> Iterator[Taken]:
    text = _HASHED.sub(" ", text)
    match = re.match(r"from\s*([\w.\s]+?)\s*\bimport\b(.*)", text, re.DOTALL)
    if match:
        yield "".join(match[1].split()), _names(match[2].strip("() \t\r\n"))
        return
    for part in _parts(text.removeprefix("import")):
        yield _first(part), ()


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _first(text: str) -> str:
    """The first word: an alias follows it."""
    words = text.split(None, 1)
    return words[0].strip(";(){}") if words else ""


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in (_first(part) for part in _parts(text)) if name)


def javascript(text: str) -> Iterator[Taken]:
    strings = list(_STRING.finditer(text))
    if not strings:
        return
    module = strings[-1] if text.startswith(("import ", "import{", "export")) else strings[0]
    head = _SLASHED.sub(" ", text[: module.start()])
    if re.match(r"(?:import|require)\s*\(", head) or "=" in head:
        yield module[2], ()
        return
    yield module[2], tuple(_javascript_names(head))


def _javascript_names(head: str) -> Iterator[str]:
    clause = re.sub(r"^(?:import|export)\s*(?:type\b|typeof\b)?|\bfrom\s*$", "", head).strip()
    braces = re.search(r"\{(.*)\}", clause, re.DOTALL)
    outer = clause if braces is None else clause.replace(braces[0], "")
    for part in _parts(outer):
        yield "*" if part.startswith("*") else "default"
    for part in _parts(braces[1]) if braces else ():
        yield _first(part.removeprefix("type "))


def go(text: str) -> Iterator[Taken]:
    for match in _STRING.finditer(text):
        yield match[2], ("*",) if text.lstrip().startswith(".") else ()


def rust(text: str) -> Iterator[Taken]:
    text = re.sub(r"^pub(?:\s*\([^)]*\))?\s*", "", _SLASHED.sub(" ", text))
    kind, _, rest = text.partition(" ")
    rest = rest.strip().rstrip(";").strip()
    if kind == "mod":
        yield f"self::{rest}", ()
    elif kind == "extern":
        yield _first(rest.removeprefix("crate").strip()), ()
    else:
        taken: dict[str, list[str]] = {}
        for path in _branches(rest):
            module, name = _rust_leaf(_first(path))
            taken.setdefault(module, []).extend([name] if name else [])
        yield from ((module, tuple(names)) for module, names in taken.items())


def _branches(text: str, depth: int = 0) -> Iterator[str]:
    """The paths of a tree of braces: `a::{b, c::{d}}` is `a::b` and `a::c::d`."""
    opening = text.find("{")
    if opening < 0 or depth > 8:
        yield text.strip()
        return
    prefix = "".join(text[:opening].split())
    for part in _split_outside(text[opening + 1 : text.rfind("}")]):
        yield from (prefix + path for path in _branches(part, depth + 1))


def _split_outside(text: str) -> Iterator[str]:
    """Parts between the commas that are in no braces."""
    level, start = 0, 0
    for index, mark in enumerate(text):
        level += (mark == "{") - (mark == "}")
        if mark == "," and level == 0:
            yield text[start:index]
            start = index + 1
    if text[start:].strip():
        yield text[start:]


def _rust_leaf(path: str) -> tuple[str, str]:
    """Split off the last name if it is a type, constant or `*`; any other name may itself be a module."""
    module, mark, last = path.rpartition("::")
    if last == "self":
        return module, ""
    if mark and (last == "*" or last[:1].isupper()):
        return module, last
    return path, ""


def dotted(text: str) -> Iterator[Taken]:
    """Java, Kotlin: `import static a.b.C;`, `import a.b.*`."""
    for path in _parts(re.sub(r"^import\s+(?:static\s+)?", "", _SLASHED.sub(" ", text))):
        name = _first(path)
        for end in (".*", "._"):
            if name.endswith(end):
                yield name.removesuffix(end), ("*",)
                break
        else:
            yield name, ()


def scala(text: str) -> Iterator[Taken]:
    text = _SLASHED.sub(" ", text).removeprefix("import").strip()
    for part in _split_outside(text):
        module, brace, names = part.strip().partition(".{")
        if brace:
            wanted = _names(names.replace("=>", " ").rstrip("} \n"))
            yield module, tuple("*" if name in ("_", "given") else name for name in wanted)
        else:
            yield from dotted(part.strip())


def quoted(text: str) -> Iterator[Taken]:
    """All the strings of the statement."""
    for match in _STRING.finditer(text):
        yield match[2], ()


def include(text: str) -> Iterator[Taken]:
    """C and Objective-C: in quotes or angles; `@import Name;`."""
    match = re.search(r"[<\"]([^>\"]+)[>\"]|@import\s+([\w.]+)", text)
    if match:
        yield match[1] or match[2], ()


def csharp(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:global\s+)?using\s+(static\s+)?(?:\w+\s*=\s*)?([\w.:]+)", text)
    if match:
        yield match[2], ("*",) if match[1] else ()


def ruby(text: str) -> Iterator[Taken]:
    for module, _ in quoted(text):
        relative = text.startswith("require_relative") and not module.startswith(".")
        yield ("./" + module if relative else module), ()


def php(text: str) -> Iterator[Taken]:
    text = _SLASHED.sub(" ", text)
    if not text.startswith("use"):
        yield from ((module.lstrip("/") if "__DIR__" in text else module, ()) for module, _ in quoted(text))
        return
    body = re.sub(r"^use\s+(?:function\s+|const\s+)?", "", text).strip().rstrip(";")
    prefix, brace, names = body.partition("{")
    if brace:
        yield prefix.strip(" \\\n"), _names(names.strip("} \n"))
    else:
        yield from ((_first(part).lstrip("\\"), ()) for part in _parts(body))


_SWIFT_KINDS = r"(?:struct|class|enum|protocol|func|var|let|typealias)\s+"


def swift(text: str) -> Iterator[Taken]:
    match = re.search(rf"\bimport\s+(?:{_SWIFT_KINDS})?([\w.]+)", text)
    if match:
        yield match[1], ()


def elixir(text: str) -> Iterator[Taken]:
    match = re.match(r"\w+\s*\(?\s*([\w.]+)(?:\.?\{([^}]*)\})?", text)
    if match is None:
        return
    module = match[1].rstrip(".")
    inner = [f"{module}.{name}" for name in _names(match[2] or "")]
    yield from ((name, ()) for name in inner or [module])


def haskell(text: str) -> Iterator[Taken]:
    """Haskell, Elm: `import qualified A.B as C (d, e)`."""
    match = re.match(r"import\s+(?:safe\s+)?(?:qualified\s+)?(?:\"[^\"]*\"\s*)?([\w.]+)(.*)", text, re.DOTALL)
    if match is None:
        return
    rest = match[2]
    names = re.search(r"\((.*)\)", rest, re.DOTALL) if "hiding" not in rest else None
    wanted = re.sub(r"\([^()]*\)", "", names[1]) if names else ""
    yield match[1], tuple("*" if name == ".." else name for name in _names(wanted))


def view(text: str) -> Iterator[Taken]:
    """OCaml: everything of a module."""
    match = re.match(r"(?:open|include)!?\s+(?:type\s+)?([\w.]+)", text)
    if match:
        yield match[1], ("*",)


def julia(text: str) -> Iterator[Taken]:
    if text.startswith("include"):
        yield from quoted(text)
        return
    module, colon, names = re.sub(r"^(?:using|import)\s+", "", text).partition(":")
    if colon:
        yield module.strip(), _names(names)
    else:
        yield from ((_first(part), ()) for part in _parts(module))


def dart(text: str) -> Iterator[Taken]:
    module = _STRING.search(text)
    if module:
        shown = re.search(r"\bshow\s+([\w\s,]+?)(?:\bhide\b|;|$)", text)
        yield module[2], _names(shown[1]) if shown else ()


def bash(text: str) -> Iterator[Taken]:
    words = text.split()
    if len(words) > 1:
        yield words[1].strip("\"'"), ()


def css(text: str) -> Iterator[Taken]:
    strings = [match[2] for match in _STRING.finditer(text)]
    bare = re.search(r"url\(\s*([^\"')\s]+)", text)
    yield from ((module, ()) for module in strings or ([bare[1]] if bare else []))


def markup(text: str) -> Iterator[Taken]:
    """The `src` of a script, the `href` of a link."""
    tag = re.match(r"<(script|link)\b[^>]*", text, re.IGNORECASE)
    if tag:
        wanted = "src" if tag[1].lower() == "script" else "href"
        match = re.search(rf"\s{wanted}\s*=\s*(?:\"([^\"]+)\"|'([^']+)'|([^\s\"'>]+))", tag[0], re.IGNORECASE)
        if match:
            yield next(value for value in match.groups() if value), ()


def r(text: str) -> Iterator[Taken]:
    match = re.search(r"\(\s*[\"']?([^\"',)]+)", text)
    if match:
        yield match[1].strip(), ()


def nix(text: str) -> Iterator[Taken]:
    match = re.match(r"import\s+([^\s;(){}]+)", text)
    if match:
        yield match[1], ()


def erlang(text: str) -> Iterator[Taken]:
    match = re.match(r"-\s*(?:include|include_lib|import)\s*\(\s*(?:\"([^\"]+)\"|(\w+))", text)
    if match:
        yield match[1] or match[2], tuple(re.findall(r"(\w+)/\d", text)) if match[2] else ()


def solidity(text: str) -> Iterator[Taken]:
    strings = list(_STRING.finditer(text))
    braces = re.search(r"\{(.*)\}", text, re.DOTALL)
    if strings:
        yield strings[-1][2], _names(braces[1]) if braces else ()


def second_word(text: str) -> Iterator[Taken]:
    """`use name`, `include file`, `source file`: what follows the keyword."""
    match = re.match(r"[\w-]+(?:\s*,[^:]*::)?[\s(]+[\"']?([^\s\"',;)]+)", text)
    if match:
        yield match[1], ()


def powershell(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:Import-Module|using\s+\w+|\.)\s+(?:-Name\s+)?[\"']?([^\s\"';]+)", text, re.IGNORECASE)
    if match:
        yield match[1], ()


def gleam(text: str) -> Iterator[Taken]:
    match = re.match(r"import\s+([\w/]+)(?:\.\{([^}]*)\})?", text)
    if match:
        yield match[1], _names((match[2] or "").replace("type ", ""))


def makefile(text: str) -> Iterator[Taken]:
    """`include a.mk b.mk`"""
    yield from ((word, ()) for word in text.split()[1:])

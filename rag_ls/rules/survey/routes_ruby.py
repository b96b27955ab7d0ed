"""Reads the routes of Rails and Sinatra, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_ls.rules.survey.resources import actions, resource_routes, singular
from rag_ls.rules.survey.routes import ANY, Endpoint, join_routes, methods_of
from rag_ls.rules.survey.sources import SurveyedFile

_ROUTES_FILE = re.compile(r"(^|/)(config/routes(\.rb|/.+\.rb)|[\w-]*routes\.rb)$")
_VERB = re.compile(r"(get|post|put|patch|delete|match)\s*\(?\s*(.+)", re.DOTALL)
_NAME = re.compile(r"""\s*(?::(\w+)|["']([^"'\n]*)["'])""")
_RESOURCE = re.compile(r"(resources?)\s*\(?\s*(.+)", re.DOTALL)
_SCOPE = re.compile(r"(namespace|scope|path)\b\s*\(?\s*(.*)", re.DOTALL)
_OPTION = r"\b{0}(?::\s*|\s*=>\s*)"
_PATH_OPTION = re.compile(r"""\bpath(?::|\s*=>)\s*["']([^"'\n]*)["']""")
_LIST = r"(?:%[iw][\[(]([^\])]*)[\])]|\[([^\]]*)\]|:(\w+))"
_OPENS = re.compile(r"\bdo\s*(\|[^|]*\|)?\s*$")
_CONDITION = re.compile(r"(if|unless|case|begin|while|def|class|module)\b")
_MAX_STATEMENT_LINES = 20


@dataclass(frozen=True, slots=True)
class _Block:
    """The block that a `do` opened: the prefix of the routes in it."""

    prefix: str
    resource: str = ""
    """The name of the resource that the block is about."""
    key: str = ""
    """The parameter for one of them, `:id`."""


def ruby_endpoints(source: SurveyedFile) -> Iterator[Endpoint]:
    if _ROUTES_FILE.search(source.path):
        yield from _rails(source)
    elif "inatra" in source.code:
        for match in source.find(_SINATRA):
            yield Endpoint(match[1].upper(), join_routes(match[2]), source.place(match).line)


_SINATRA = re.compile(
    r"""^[ \t]*(get|post|put|patch|delete|options)\s*\(?\s*["'](/[^"'\n]*)["'][^\n]*\bdo\b""", re.MULTILINE
)


def _rails(source: SurveyedFile) -> Iterator[Endpoint]:
    blocks: list[_Block] = []
    for line, statement in _statements(source.code):
        opens = bool(_OPENS.search(statement))
        if re.match(r"(end\b|\})", statement):
            if blocks:
                blocks.pop()
            continue
        block, endpoints = _read(statement, blocks)
        yield from (Endpoint(method, route, line) for method, route in endpoints)
        if opens or _CONDITION.match(statement):
            blocks.append(block)


def _statements(code: str) -> Iterator[tuple[int, str]]:
    """The statements with the lines that they begin on; one that ends in a comma goes on."""
    lines = code.split("\n")
    index = 0
    while index < len(lines):
        start, text = index, lines[index].strip()
        while text.endswith((",", "[", "(")) and index + 1 < len(lines) and index - start < _MAX_STATEMENT_LINES:
            index += 1
            text += " " + lines[index].strip()
        index += 1
        if text:
            yield start + 1, text


def _read(statement: str, blocks: list[_Block]) -> tuple[_Block, list[tuple[str, str]]]:
    """The block that a statement may open, and the endpoints that it declares."""
    here = blocks[-1] if blocks else _Block("")
    if match := _RESOURCE.match(statement):
        return _resources(match, here)
    if match := _SCOPE.match(statement):
        option = _PATH_OPTION.search(match[2])
        name = _NAME.match(match[2])
        own = option[1] if option else (name[1] or name[2]) if name and not _is_option(match[2]) else ""
        return _Block(join_routes(_inner(here), own)), []
    if re.match(r"member\b", statement):
        return _Block(join_routes(here.prefix, here.key)), []
    if re.match(r"(collection|root)\b", statement):
        route = [("GET", join_routes(here.prefix, ""))] if statement.startswith("root") else []
        return _Block(here.prefix), route
    if match := _VERB.match(statement):
        return here, _verb(match, here, statement)
    return here, []


def _is_option(text: str) -> bool:
    """`scope module: "x"` has no path of its own."""
    return bool(re.match(r"\s*(?:\w+:|:\w+\s*=>)", text))


def _inner(block: _Block) -> str:
    """The prefix of what is nested in a block: below a resource, the resource's parameter."""
    if not block.key:
        return block.prefix
    return join_routes(block.prefix, block.key.replace(":", f":{singular(block.resource)}_", 1))


def _resources(match: re.Match[str], here: _Block) -> tuple[_Block, list[tuple[str, str]]]:
    several, text = match[1] == "resources", match[2]
    names: list[str] = []
    rest = text
    while (name := _NAME.match(rest)) and not re.match(r"\s*=>", rest[name.end() :]):
        names.append(name[1] or name[2])
        rest = rest[name.end() :].lstrip().removeprefix(",")
    wanted = actions(_option_names("only", rest), _option_names("except", rest))
    renamed = re.search(r"\bparam(?::|\s*=>)\s*[:\"'](\w+)", rest)
    key = (f":{renamed[1]}" if renamed else ":id") if several else ""
    option = _PATH_OPTION.search(rest)
    endpoints: list[tuple[str, str]] = []
    block = here
    for name_ in names:
        path = option[1] if option else name_
        endpoints += [
            (method, join_routes(_inner(here), route)) for method, route in resource_routes(path, wanted, key)
        ]
        block = _Block(join_routes(_inner(here), path), name_, key)
    return block, endpoints


def _option_names(option: str, text: str) -> list[str] | None:
    """The names of an option: `only: [:index, :show]`, `only: %i[index show]`, `only: :index`."""
    found = re.search(_OPTION.format(option) + _LIST, text)
    if found is None:
        return None
    return re.findall(r"\w+", next((group for group in found.groups() if group), ""))


def _verb(match: re.Match[str], here: _Block, statement: str) -> list[tuple[str, str]]:
    names: list[str] = []
    rest = match[2]
    while name := _NAME.match(rest):
        names.append(name[2] if name[2] is not None else name[1])
        rest = rest[name.end() :].lstrip()
        if not rest.startswith(",") or re.match(r",\s*(?:\w+:(?!:)|:\w+\s*=>|[\"'][^\"']*[\"']\s*=>)", rest):
            break
        rest = rest[1:]
    methods = [match[1].upper()]
    if match[1] == "match":
        methods = methods_of(name for name in _option_names("via", statement) or [] if name != "all") or [ANY]
    on = re.search(r"\bon(?::|\s*=>)\s*:(\w+)", statement)
    prefix = here.prefix if on and on[1] == "collection" else join_routes(here.prefix, here.key) if on else _inner(here)
    return [
        (method, join_routes(prefix, re.sub(r"\(\.:format\)|\(\.\w+\)", "", name)))
        for name in names
        for method in methods
    ]

"""Reads the terms of forms: what a value of a framework's file stands for at a place in the code.

`args[0]`, `args[1:-1]`, `args[prefix]` are arguments by place and by name; `before(With)` and `after(Methods)` those of the
calls before and after in a chain and `beside(Path)` those of the other annotations of a declaration, `called(...)` the names
of these calls, `members(get|post)` the functions of the class that an annotation stands at, `base($P)` the name that a chain
begins with, `chain(1)` the methods in an argument, `holds(x)` a text of the file, `inside(0)` what a call among the
arguments is given, also where a variable of the file holds it, `type` the route that is declared
of a type argument; `$X` and `$$$X` what a rule has captured;
`name` the call's own name, `holder` that of the declaration that an annotation stands at, `block` the function in braces
after a call, `keys` the first key of an argument, `text` the place
itself, `text(x|y)` a pattern that is in it, `file` the route that the path of a file stands for.
Others stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rag_ls.rules.survey import declarations, literals, nodes
from rag_ls.rules.survey.frameworks import Form, Framework
from rag_ls.rules.survey.nodes import Call
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_TERM = re.compile(
    r"(args|before|after|beside|base|called|chain|holds|inside|members|text|\$+\w+)(?:\(([^)]*)\))?(?:\[([^\]]*)\])?"
)
_BRACKETED = re.compile(r"\[([^\]]*)\]")
_TYPED = r"@(?:Resource|Location)\(\s*\"([^\"]*)\"\s*\)\s*(?:@\S+\s*)*(?:data\s+)?(?:class|object)\s+{}\b"
_FLAT_PART = re.compile(r"(?:\[[^\]]*\]|[^/.])+")
_NO_MIDDLEWARE = re.compile(
    r"(^|[._])(?:\w+Path$|this\.app$)|(^|[._])(router|routes|Router|Routes)$|(^|\.)route$|(?i:(?:^|[._]|base|mount|root|api|router?|public|static|context|admin)_?(?:path|url|prefix)$)"
    r"|(?:^|\.)\w+(?:Router|Routes|routes|Controller|Api)$|^Use(?:Endpoints|Routing)$"
    r"|^(?:api|blocks?|middlewares?|mw|fn|next|handlers?|filters?|args|opts|options|import|require|fp|config|env|[a-z])$|^[A-Z\d]+(?:_[A-Z\d]+)+$|^[^\w$@]*$|\s"
)

_SAYS_WHO = re.compile("::|^(?:auth|can|roles?|permissions?|abilit(?:y|ies)):")
"""A name of middleware whose arguments say who may pass, or of a class."""
_MADE = "{=made}"
"""The mark of a path that is made when the program runs, so that the routes below it are unknown."""
_KOTLIN_NAME = re.compile(r"\$\{?([A-Za-z_][\w.]*)")
_MADE_TEXT = re.compile(r"[$#]\{|^[rR@]?[fF$][rR@]?[\"']")
_FILLED = re.compile(r"\{(\w+)\}")
_MADE_PATH = re.compile("^regex|template|^binary|string")
_CONSTANT = re.compile(r"(?:^|\.)[A-Z\d]+(?:_[A-Z\d]+)+$")
_EVERYWHERE = frozenset({"/", "*", "/*"})
_PATH_NAME = re.compile(r"(?i)(prefix|path|base|url|root|_v\d+|version)[^.]*$")
"""A name of something that routes are put below, where middleware may stand too."""


@dataclass(frozen=True, slots=True)
class FoundForm:
    """A place that has a form of a framework."""

    framework: Framework
    form: Form
    call: Call


@dataclass(frozen=True, slots=True)
class FormTerms:
    """The values of terms in one file."""

    path: str
    text: str

    def value(self, term: str, found: FoundForm) -> Sequence[SgNode | str]:
        """The nodes and texts that a term stands for in a place."""
        call = found.call
        if term in ("name", "text"):
            return [call.name if term == "name" else call.node.text()]
        if term == "keys":
            return [
                pair[0]
                for node in call.arguments
                if literals.is_string(nodes.children_of(node)[0] if nodes.children_of(node) else node)
                and (pair := literals.pair_of(node))
            ][:1]
        if term == "file":
            match = found.framework.files.search("/" + self.path) if found.framework.files else None
            path = match[1] or "" if match else ""
            return [_flat_route(path) if found.form.says("dots") else _route_of_file(path)] if match else []
        if term == "holder":
            return [declarations.declared_name(declarations.holder_of(call.node))]
        if term == "type":
            given = re.match(r"\w+<(\w+)>", call.node.text())
            declared = re.search(_TYPED.format(given[1]), self.text) if given else None
            return [declared[1] if declared else f"{{={given[1]}}}"] if given else []
        if term == "receiver":
            return [call.receiver] if call.receiver else []
        if term == "block":
            return nodes.blocks_of(call.node)
        parts = _TERM.fullmatch(term)
        if parts is None:
            return [term]
        what, names, selector = parts.groups()
        if what == "text":
            return [names] if re.search(names, call.node.text()) else []
        if what == "chain":
            return list(_chained(call.arguments[int(names) : int(names) + 1]))
        if what == "holds":
            return [names] if names in self.text else []
        if what == "inside":
            values = (declarations.value_of(literals.unwrap(each)) for each in call.arguments[int(names) :][:1])
            found_arguments = [
                argument for each in map(nodes.read_call, values) if each for argument in each.arguments[:1]
            ]
            return list(_select(found_arguments, selector)) if selector else found_arguments
        if what == "members":
            return [
                name for name in declarations.members_of(declarations.holder_of(call.node)) if re.fullmatch(names, name)
            ]
        if what == "base":
            return [nodes.base_name(node) for node in self._nodes(names, "", call)]
        if what == "called":
            every = [*nodes.calls_before(call), *nodes.calls_after(call)]
            return [each.name for each in every if re.fullmatch(names, each.name)]
        found_nodes = self._nodes(what, names, call)
        return found_nodes if what.startswith("$") and selector is None else list(_select(found_nodes, selector))

    def _nodes(self, what: str, names: str, call: Call) -> list[SgNode]:
        if what == "args":
            return list(call.arguments)
        if what.startswith("$$$"):
            return [node for node in call.node.get_multiple_matches(what[3:]) if node.is_named()]
        if what.startswith("$"):
            node = call.node.get_match(what[1:])
            return [node] if node else []
        ways = {"before": nodes.calls_before, "after": nodes.calls_after}
        chained = ways[what](call) if what in ways else declarations.annotations_beside(call.node)
        return [node for each in chained if re.fullmatch(names, each.name) for node in each.arguments]

    def strings(self, found: FoundForm, key: str) -> list[str]:
        """The texts of the first of a value's terms that gives any."""
        for term in found.form.values.get(key, ()):
            values = self.value(term, found)
            texts = [
                text for each in values for text in (self._literals(each) if not isinstance(each, str) else [each])
            ]
            if texts:
                return texts
        return []

    def prefixes(self, found: FoundForm, *, made: bool = False) -> list[str]:
        """Return the texts of `path`; for a name of another file a mark, as `{=settings.API}`, and perhaps one for a call."""
        if texts := self.strings(found, "path"):
            return texts
        for term in found.form.values.get("path", ()):
            is_named = found.form.annotation is not None or found.form.says("constants") or re.search(r"\[[a-z]", term)
            for node in (literals.unwrap(each) for each in self.value(term, found) if not isinstance(each, str)):
                name = node.text()
                if re.fullmatch(r"[A-Za-z_][\w.]{1,60}", name) and (is_named or _PATH_NAME.search(name)):
                    return [f"{{={name}}}"] if name != "None" else []
                if name and (is_named or (made and "call" in node.kind() and nodes.read_call(node))):
                    return [_MADE]
        return []

    def are_paths(self, found: FoundForm, key: str) -> bool:
        """Whether the values of a key are paths, or patterns of them: written out, made, or by their names."""
        for each in (value for term in found.form.values.get(key, ()) for value in self.value(term, found)):
            node = each if isinstance(each, str) else literals.unwrap(each)
            if isinstance(node, str) or (texts := literals.strings_of(node)) or _MADE_PATH.search(node.kind()):
                return isinstance(node, str) or not texts or not _EVERYWHERE.issuperset(texts)
            if re.fullmatch(r"[\w.]+", node.text()) and (
                _PATH_NAME.search(node.text()) or _CONSTANT.search(node.text())
            ):
                return True
        return False

    def methods(self, found: FoundForm) -> list[str]:
        """The methods of the first term that gives any; they may be constants: `RequestMethod.PUT`, `http.MethodPost`."""
        for term in found.form.values.get("method", ()):
            methods = list[str]()
            for each in self.value(term, found):
                texts = [each] if isinstance(each, str) else literals.strings_of(each)
                methods += [part for text in texts for part in re.split(r"[,|]\s*", text)]
                if not texts and not isinstance(each, str):
                    methods += re.findall(r"\w+(?=\s*(?:,|\}|\]|$))", each.text())
            if methods:
                return methods
        return []

    def _literals(self, node: SgNode) -> list[str]:
        """The strings of a node; that of a constant of the same file; the name that is declared; a regular expression."""
        if node.kind() == "regex":
            written = node.text().rpartition("/")[0].removeprefix("/")
            path = written.removeprefix("^").removesuffix("$").replace("\\/", "/").removeprefix("/")
            # Without its end, it stands for all routes that begin so.
            return [f"/{path}" if written.endswith(("$", ")")) or not path else f"/{path}*"]
        if texts := literals.strings_of(node):
            if self._is_kotlin:
                return [self._fill_kotlin(text, node.text()) for text in texts]
            is_made = any("{" in text for text in texts) and re.search(_MADE_TEXT, node.text())
            if is_made:
                # A constant is the same each time.
                is_fixed = all(name.isupper() for text in texts for name in _FILLED.findall(text))
                is_known = is_fixed or not declarations.is_in_loop(node)
                return [_FILLED.sub(self._constant_or_text, text) for text in texts] if is_known else []
            return texts
        if (several := literals.unwrap(node)).kind() in literals.LISTS:
            return [text for each in nodes.children_of(several) for text in self._literals(each)]
        parent = node.parent()
        if node.kind() == "shorthand_property_identifier":
            return [node.text()]
        if (
            parent is not None
            and "identifier" in node.kind()
            and re.search(r"pair|definition|declarat|assignment", parent.kind())
        ):
            return [node.text()]
        name = literals.unwrap(node).text()
        constant = self._constant(name) if re.fullmatch(r"[\w.]{1,60}", name) else ""
        return [constant] if constant else self._join_path(node)

    def _join_path(self, node: SgNode) -> list[str]:
        """The path that is made of several, `path.Join(base, "/x")` or `base + "/x"`, where all of them show."""
        call = nodes.read_call(node) if "call" in node.kind() else None
        is_sum = node.kind().startswith("binary_") and re.search(r"\+|\.", node.text())
        parts = call.arguments if call and call.name in ("Join", "join") else nodes.children_of(node) if is_sum else ()
        texts = [text for part in parts for text in self._literals(part)[:1]]
        if not texts or len(texts) < len(parts):
            return []
        return [re.sub("/+", "/", ("/" if call else "").join(texts)).rstrip("/") or "/"]

    @property
    def _is_kotlin(self) -> bool:
        return self.path.endswith((".kt", ".kts"))

    def _fill_kotlin(self, text: str, written: str) -> str:
        """A text with the constants that Kotlin fills in; those of other files have a mark."""
        names = set(_KOTLIN_NAME.findall(written))

        def value(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            return (self._constant(name) or f"{{={name}}}") if name in names else found[0]

        return re.sub(r"\$([A-Za-z_]\w*)|\{([A-Za-z_][\w.]*)\}", value, text) if names else text

    def _constant(self, name: str, depth: int = 3) -> str:
        """The path that the file gives a name; "" for none."""
        # A constant may be a part of a path.
        start = "" if name.isupper() or (self._is_kotlin and f"const val {name}" in self.text) else "[/^]"
        written = rf"\b{re.escape(name)}\b(?:\s*:\s*[\w&' ]+)?\s*:?=\s*[rRfF]{{,2}}[\"'`]({start}[^\"'`\n\s]*)[\"'`]"
        found = re.search(written, self.text) if depth else None
        if found is None:
            return ""
        # A constant may be made of others.
        return _FILLED.sub(lambda each: self._constant(each[1], depth - 1) or each[0], found[1])

    def _constant_or_text(self, found: re.Match[str]) -> str:
        return self._constant(found[1]) or found[0]

    def names(self, found: FoundForm, key: str) -> list[str]:
        """The names of all terms of a value."""
        names = list[str]()
        strings = found.form.says("strings") == "True"
        for term in found.form.values.get(key, ()):
            for each in self.value(term, found):
                names += [each] if isinstance(each, str) else literals.names_of(each, strings, found.form.says("inner"))
        end = found.form.says("shown")
        names = [name.partition(":")[0] if strings and not _SAYS_WHO.search(name) else name for name in names]
        names = [name.rpartition(".")[2] if end == "last" else name for name in names]
        return [name for name in names if name and not _NO_MIDDLEWARE.search(name) and found.form.is_named(name)]


def _chained(given: Sequence[SgNode]) -> Iterator[str]:
    """The methods of a chain of calls, `get(list).post(add)`."""
    for node in given:
        call = nodes.read_call(literals.unwrap(node)) if "call" in node.kind() else None
        if call is not None:
            names = [each.name for each in (call, *nodes.calls_before(call))]
            yield from (
                name for name in reversed(names) if re.fullmatch("get|post|put|patch|delete|head|options|any", name)
            )


def _select(found: Sequence[SgNode], selector: str | None) -> Iterator[SgNode]:
    """Those of some arguments that a selector means: by place, by slice, by key."""
    positional = [node for node in found if literals.pair_of(node) is None]
    if selector is None:
        yield from positional
    elif re.fullmatch(r"-?\d+", selector):
        yield from positional[int(selector) :][:1]
    elif ":" in selector:
        start, _, stop = selector.partition(":")
        yield from positional[int(start) if start else None : int(stop) if stop else None]
    else:
        for key in selector.split("."):
            option = literals.option_of(found, key)
            found = [option] if option is not None else []
        yield from found


def _route_of_file(path: str) -> str:
    """The route of a path of files: groups and slots of Next.js and SvelteKit do not show in it."""
    return "/" + "/".join(part for part in path.split("/") if part and not part.startswith(("(", "@")))


def _flat_route(path: str) -> str:
    """The route of a path of Remix: `.` is a slash, `$` a parameter; what stands in brackets is meant as it is written.

    `_layout`, `index` and `_` at an end do not show in it.
    """
    parts = list[str]()
    for part in _FLAT_PART.findall(path):
        shown = _BRACKETED.sub(lambda found: found[1], part.rstrip("_+"))
        if shown and not part.startswith(("(", "_")):
            parts.append("*" if part == "$" else re.sub(r"^\$", ":", shown))
    return "/" + "/".join(parts[:-1] if parts[-1:] == ["index"] else parts)

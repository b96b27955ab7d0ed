"""Finds the forms of frameworks in a syntax tree, and takes the values of their terms.

A term is `name` (what is called), `holder` (what is declared below an annotation), `file` (the route of the file's path),
`args`, `args[0]`, `args[1:-1]`, `args[key]`, `$X` and `$$$X` (what a rule captured), `head/x(.*)/`, `text/x(.*)/` and
`$X/x(.*)/` (a group of a pattern in what is called, in the whole, in what was captured), or else a constant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rag_ls.rules.survey.frameworks import Form, Framework
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_JAVASCRIPT = (("call_expression", "function"), ("new_expression", "constructor"))
_CALLS: dict[str, tuple[tuple[str, str], ...]] = {
    "javascript": _JAVASCRIPT, "typescript": _JAVASCRIPT, "tsx": _JAVASCRIPT, "python": (("call", "function"),),
    "go": (("call_expression", "function"),), "rust": (("call_expression", "function"),),
    "csharp": (("invocation_expression", "function"), ("object_creation_expression", "type")),
    "java": (("method_invocation", "name"), ("object_creation_expression", "type")), "kotlin": (("call_expression", ""),),
    "php": (
        ("member_call_expression", "name"), ("scoped_call_expression", "name"), ("function_call_expression", "function"),
        ("object_creation_expression", ""),
    ),
    "ruby": (("call", "method"),), "elixir": (("call", "target"),),
}  # fmt: skip
"""The kinds of calls of each language, with the field that holds what is called; "" for the first child."""
LANGUAGES = tuple(_CALLS)
_DECORATED = ("decorator",)
_ANNOTATIONS = {
    "python": _DECORATED, "javascript": _DECORATED, "typescript": _DECORATED, "tsx": _DECORATED, "kotlin": ("annotation",),
    "java": ("annotation", "marker_annotation"), "csharp": ("attribute",), "php": ("attribute",), "rust": ("attribute",),
}  # fmt: skip
_ARGUMENTS = (
    "arguments", "argument_list", "annotation_argument_list", "attribute_argument_list", "value_arguments", "token_tree",
)  # fmt: skip
_WITH_ARGUMENTS = ("call", "call_expression", "constructor_invocation")
"""The calls that annotations hold."""
_ANNOTATING = re.compile(r"decorator$|annotation$|attribute|^modifiers$")
_CLASS = re.compile(r"class_d|interface_d|annotation_type_d|object_d|record_d|export_statement")
_LAST_WORD = re.compile(r"([\w$]+[?!]?)(?:::)?(?:<[^()]*>)?\s*$")
_DECLARED = re.compile(r"\b(?:def|fun|func|function|class)\s+(\w+)|(?<![@\w.$])(\w+)\s*\(")
_PLACE = re.compile(r"args(?:\[([^\]]*)\])?")
_GROUP = re.compile(r"(head|text|after|\$\w+)/(.+)/")
_VERB = re.compile(r"(?i)get|post|put|patch|delete|head|options|query|mutation|subscription|rpc|resources?")
_OTHER_VERBS = {"DEL": "DELETE", "VIEW": "GET", "LIVE": "GET", "RESOURCE": "RESOURCES"}
_SAYS_WHO = re.compile("::|^(?:auth|can|roles?|permissions?|abilit(?:y|ies)):")
"""A name of middleware whose arguments say who may pass, or of a class."""
_NO_MIDDLEWARE = re.compile(
    r"(^|[._])(?:\w+Path$|this\.app$)|(^|[._])(router|routes|Router|Routes)$|(^|\.)(?:route|unless)$|(?i:(?:^|[._]|base|mount|root|api|router?|public|static|context|admin)_?(?:path|url|prefix)$)"
    r"|(?:^|\.)\w+(?:Router|Routes|routes|Controller|Api)$|^Use(?:Endpoints|Routing)$"
    r"|^(?:api|blocks?|middlewares?|mw|fn|next|handlers?|filters?|args|opts|options|fp|config|env|None|null|nil|true|false|undefined|[a-z])$"
    r"|^[A-Z\d]+(?:_[A-Z\d]+)+$|\s"
)
_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|//[^\n]*|/\*.*?\*/|(?<=\s)#\s[^\n]*|[()\[\]{},]",
    re.DOTALL,
)
_COMMENT = re.compile(r"^\s*(?://[^\n]*\n|/\*.*?\*/|#\s[^\n]*\n)\s*", re.DOTALL)
_STRING = re.compile(r"(?:[rRuUbB]{0,2}|@)([\"'`])(.*)\1", re.DOTALL)
_SYMBOL = re.compile(r":([\w?!]+)")
_MADE = re.compile(r"[$#]\{|(?<!\\)\$[A-Za-z_]|\n|[\"'`]")
"""The signs of a text that is put together, or of several."""
_LIST = re.compile(
    r"(?:new\s*(?:\w+\s*)?\[\]\s*|\[\]string|listOf|arrayOf|%[wi]|&)?\s*[\[{(](.*)[\])}](?:\s+as\s+const)?", re.DOTALL
)
_FUNCTION = re.compile(r"(?:async\s+)?(?:function|func|fn|lambda|def|import|require)\b|\(|\{|\||[\w$]+\s*=>")
_NAME = re.compile(r"(?:(?:new|await|do)\s+|\.\.\.|[&*@$]+)*([A-Za-z_$](?:[\w$.:\\]*[\w$?!])?)")
_GOES_ON = re.compile(r"^\(.*\)\s*\.", re.DOTALL)
"""A call whose result is asked for something: another name."""
_KEY = re.compile(
    r"(?:[\"'`]([\w-]+)[\"'`]\s*(?::|=>|,|\bto\b)|:([\w]+)\s*=>|([\w$]+)\s*(?::(?!:)|=(?![=>]))|([\w$]+)$)"
)
_BEFORE_KEYS = re.compile(r"[^\[{(]*[\[{(](.*)[\])}][^\])}]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FoundForm:
    """A place that has a form of a framework."""

    path: str
    framework: Framework
    form: Form
    node: SgNode
    head: str
    """The text before the arguments; "" for a place that a rule found."""
    args: tuple[str, ...]

    @property
    def start(self) -> int:
        return self.node.range().start.index

    @property
    def end(self) -> int:
        return self.node.range().end.index

    @property
    def line(self) -> int:
        """The 1-based line of the name, also where a chain of calls began above."""
        return self.node.range().start.line + 1 + self.head.count("\n")

    @property
    def name(self) -> str:
        """The name of what is called."""
        return found[1] if (found := _LAST_WORD.search(self.head)) else ""

    @property
    def on(self) -> str:
        """The name that a call, or a chain of calls, is on; "" for none."""
        receiver = (_LAST_WORD.sub("", self.head)).strip().removeprefix("new ")
        dotted = re.match(r"[\w$.\->@:?!\s]*", receiver)
        words = re.findall(r"[\w$]+", dotted[0]) if dotted else []
        is_called = dotted is not None and receiver[dotted.end() : dotted.end() + 1] == "("
        words = words[:-1] if is_called and len(words) > 1 else words
        return words[-1].lstrip("$") if words else ""

    def texts(self, key: str) -> Sequence[str]:
        """The texts of the first of a value's terms that stands for any."""
        return next((found for term in self.form.values.get(key, ()) if (found := self._find(term))), ())

    def strings(self, key: str) -> list[str] | None:
        """The strings of a value; None where it is no literal, and none where nothing stands there."""
        if self.form.says("plain"):
            return list(self.texts(key))
        found = [read_strings(each) for each in self.texts(key)]
        return None if None in found else [text for each in found for text in each or ()]

    def methods(self) -> list[str]:
        """The methods of a route, in upper case: `GetMapping`, `http.MethodPost`, `["get", "post"]`; "ANY" where none is said."""
        words = [word.upper() for text in self.texts("method") for word in _VERB.findall(text)]
        return [_OTHER_VERBS.get(word, word) for word in dict.fromkeys(words)] or ["ANY"]

    def names(self, key: str = "names") -> list[str]:
        """The names of middleware that a value holds."""
        strings, is_last = bool(self.form.says("strings")), self.form.says("shown") == "last"
        every = (
            name
            for term in self.form.values.get(key, ())
            for text in self._find(term)
            for name in read_names(text, self.form.says("inner"), strings=strings)
        )
        names = (name.partition(":")[0] if strings and not _SAYS_WHO.search(name) else name for name in every)
        names = (name.rpartition(".")[2] if is_last else name for name in names)
        return [name for name in names if name and not _NO_MIDDLEWARE.search(name) and self.form.is_named(name)]

    def _find(self, term: str) -> Sequence[str]:
        if place := _PLACE.fullmatch(term):
            return _select(self.args, place[1])
        if group := _GROUP.fullmatch(term):
            source = self._source(group[1])
            found = re.search(group[2], source, re.DOTALL)
            return [found[1]] if found else []
        if term.startswith("$$$"):
            return [node.text() for node in self.node.get_multiple_matches(term[3:]) if node.is_named()]
        if term.startswith("$"):
            node = self.node.get_match(term[1:])
            return [node.text()] if node else []
        if term in ("name", "holder", "file"):
            found_text = {
                "name": lambda: self.name,
                "holder": lambda: declared_name(self.node),
                "file": self._file_route,
            }[term]()
            return [f'"{found_text}"']
        return [term]

    def _source(self, name: str) -> str:
        """The text that a pattern is looked for in."""
        if name == "after":
            parent = self.node.parent()
            return parent.text()[len(self.node.text()) :] if parent is not None else ""
        return {"head": self.head, "text": self.node.text()}.get(name) or "".join(self._find(name))

    def _file_route(self) -> str:
        """The route of the file's path; groups and slots of Next.js and SvelteKit do not show in it."""
        found = self.framework.files.search("/" + self.path) if self.framework.files else None
        parts = (found[1] or "").split("/") if found else []
        return "/" + "/".join(part for part in parts if part and not part.startswith(("(", "@")))


def find_forms(root: SgNode, path: str, language: str, forms: Sequence[tuple[Framework, Form]]) -> Iterator[FoundForm]:
    """The places of all forms; one search finds the calls and annotations."""
    rules = list[Any]()
    if calls := "|".join(dict.fromkeys(form.call.pattern for _, form in forms if form.call)):
        ends = rf"(^|[^\w])(?:{calls})(::)?(<[^()]*>)?$"
        rules += [
            {"kind": kind, "has": {"field": field, "regex": ends} if field else {"regex": ends}}
            for kind, field in _CALLS[language]
        ]
    kinds = _ANNOTATIONS.get(language, ())
    if names := "|".join(dict.fromkeys(form.annotation.pattern for _, form in forms if form.annotation)):
        regex = rf"^@?(\w+:)?([\w.:\\]+[.:\\])?(?:{names})($|\W)"
        rules += [{"kind": kind, "regex": regex} for kind in kinds]
    for node in root.find_all(any=rules) if rules else ():
        is_annotation = node.kind() in kinds
        head, args = _split_call(node, is_annotation=is_annotation)
        last = _LAST_WORD.search(head)
        for framework, form in forms if last else ():
            pattern = form.annotation if is_annotation else form.call
            if pattern and last and pattern.fullmatch(last[1]):
                yield FoundForm(path, framework, form, node, head=head, args=args)
    for framework, form in forms:
        if form.rule is not None:
            for node in root.find_all(dict(form.rule)):  # type: ignore[call-overload]
                is_call = any(node.kind() == kind for kind, _ in _CALLS[language])
                head, args = _split_call(node, is_annotation=False) if is_call else ("", ())
                yield FoundForm(path, framework, form, node, head=head, args=args)


def _split_call(node: SgNode, *, is_annotation: bool) -> tuple[str, tuple[str, ...]]:
    """The text before the arguments of a call or an annotation, and the arguments."""
    given = _find_arguments(node, (*_WITH_ARGUMENTS, "attribute") if is_annotation else ("call_suffix",))
    if given is None:
        head = node.text()
        return (head if is_annotation else re.split(r"\s*\{", head, maxsplit=1)[0]), ()
    text = given.text()
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    head = node.text()[: given.range().start.index - node.range().start.index]
    return head.rstrip(), tuple(split_parts(inner))


def _find_arguments(node: SgNode, holders: Sequence[str]) -> SgNode | None:
    for child in reversed(node.children()):
        if child.kind() in _ARGUMENTS:
            return child
        if child.kind() in holders:
            return _find_arguments(child, holders)
    return None


def _select(args: Sequence[str], selector: str | None) -> Sequence[str]:
    """Those of some arguments that a selector means: by place, by slice, by key."""
    positional = [each for each in args if not re.match(r"\w+\s*(?:=(?![=>])|:(?![:\w]))", each)]
    if selector is None:
        return positional
    if re.fullmatch(r"-?\d+", selector):
        return positional[int(selector) :][:1]
    if ":" in selector:
        start, _, stop = selector.partition(":")
        return positional[int(start) if start else None : int(stop) if stop else None]
    return [found] if (found := find_option(args, selector)) else []


def holder_of(node: SgNode) -> SgNode:
    """The declaration that an annotation stands at."""
    holder = node
    while (parent := holder.parent()) is not None and _ANNOTATING.search(holder.kind()):
        holder = parent
    if holder.kind() == "class_body":
        # In TypeScript, the decorators of a method stand before it.
        holder = next(
            (each for each in node.next_all() if each.is_named() and each.kind() not in ("decorator", "comment")), node
        )
    return holder


def is_at_class(node: SgNode) -> bool:
    """Whether an annotation stands at a class."""
    holder = holder_of(node)
    kinds = (holder.kind(), *(child.kind() for child in holder.children() if holder.kind() == "decorated_definition"))
    return any(map(_CLASS.match, kinds))


def declared_name(node: SgNode) -> str:
    """The name of what is declared below an annotation."""
    found = _DECLARED.search(holder_of(node).text())
    return (found[1] or found[2]) if found else ""


def split_parts(text: str) -> list[str]:
    """The parts between the commas of a text, without those inside of brackets and strings, and without comments."""
    parts, depth, start = list[str](), 0, 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if token[0] == "," and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    stripped = (_COMMENT.sub("", each).strip() for each in (*parts, text[start:]))
    return [each for each in stripped if each]


def find_option(parts: Sequence[str], key: str) -> str:
    """The value of a named argument, or of a key of an object among the arguments; "" where there is none."""
    named = re.compile(rf"[\"':]?{key}[\"']?\s*(?::(?!:)|=>|=(?!=))\s*(.*)", re.DOTALL)
    inner = (part for each in parts if each[:1] in "{[" for part in split_parts(each[1:-1]))
    return next((found[1] for each in (*parts, *inner) if (found := named.fullmatch(each))), "")


def read_string(text: str) -> str | None:
    """The text that a literal stands for; None for anything else, and for one that is put together."""
    if symbol := _SYMBOL.fullmatch(text):
        return symbol[1]
    found = _STRING.fullmatch(text)
    return found[2] if found and not _MADE.search(found[2]) else None


def read_strings(text: str) -> list[str] | None:
    """The texts of a literal, or of a list of some; None where one is anything else."""
    text = text.strip()
    if (single := read_string(text)) is not None:
        return [single]
    if (listed := _LIST.fullmatch(text)) is None:
        return None
    if text.startswith("%"):
        return listed[1].split()
    found = [read_string(each) for each in split_parts(listed[1])]
    return None if None in found else [each for each in found if each is not None]


def read_names(text: str, inner: str, *, strings: bool) -> Iterator[str]:
    """The names in a value: of functions and classes, called or not, in lists, within calls of `inner`; of `strings` if asked."""
    if (listed := _LIST.fullmatch(text)) and text[0] in "[%":
        parts = listed[1].split() if text[0] == "%" else split_parts(listed[1])
        for part in parts:
            yield from read_names(f":{part}" if text[0] == "%" else part, inner, strings=strings)
    elif (string := read_string(text)) is not None or (string := _symbol_before(text)):
        if strings:
            yield string
    elif not _FUNCTION.match(text) and (found := _NAME.match(text)):
        name, rest = found[1], text[found.end() :]
        if inner and re.fullmatch(inner, name.rpartition(".")[2]) and rest.startswith("("):
            for part in split_parts(rest[1:-1])[:1]:
                yield from read_names(part, inner, strings=strings)
        elif not _GOES_ON.search(rest):
            yield re.sub(r"(?:::|\.)class$", "", name)


def _symbol_before(text: str) -> str:
    """The symbol of Elixir before a condition: `:login when action in [:edit]`."""
    found = re.match(r":(\w+)\s+when\b", text)
    return found[1] if found else ""


def read_keys(text: str) -> tuple[str, ...]:
    """The keys of a literal object or map."""
    if (inner := _BEFORE_KEYS.fullmatch(text)) is None:
        return ()
    parts = split_parts(inner[1])
    if len(parts) == 1 and parts[0][:1] in "{[":
        return read_keys(parts[0])
    found = (_KEY.match(part) for part in parts)
    return tuple(next(filter(None, each.groups())) for each in found if each)

"""Read names, signatures and documentation off the syntax tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag_ls.chunking.headings import clean_title
from rag_ls.languages import Declaration, Kind, Syntax, words
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_NAME = 100
MAX_SYMBOL = 300
MAX_SIGNATURE = 200
MAX_DOC = 300

_MAX_STEPS = 16
_BODY_TYPES = words(
    "aggregate_body block body_statement class_body compound_statement constructor_body declaration_list do_block enum_body "
    "enum_class_body field_declaration_list function_body interface_body protocol_body statement_block template_body Block"
)


@dataclass(frozen=True, slots=True)
class DeclarationNode:
    """A declaration in the tree."""

    path: tuple[Node, ...]
    """From the outermost wrapper (`export`, decorators) to the declaring node itself."""
    rule: Declaration

    @property
    def node(self) -> Node:
        return self.path[-1]


def find_declaration(node: Node, syntax: Syntax, data: bytes) -> DeclarationNode | None:
    """The one declaration that this node is or wraps, if any."""
    path = [node]
    for _ in range(_MAX_STEPS):
        rules = syntax.declarations.get(node.type)
        if rules:
            for rule in rules:
                if rule.when is None or _applies(rule.when, node, data):
                    return DeclarationNode(tuple(path), rule)
        if node.type not in syntax.wrappers:
            return None
        inner = [
            each for each in node.named_children if each.type in syntax.declarations or each.type in syntax.wrappers
        ]
        if len(inner) != 1:
            return None
        node = inner[0]
        path.append(node)
    return None


def _applies(when: tuple[str, frozenset[str]], node: Node, data: bytes) -> bool:
    path, allowed = when
    found = _follow(node, path)
    return found is not None and (found.type in allowed or _text(found, data, MAX_NAME) in allowed)


def _follow(node: Node, path: str) -> Node | None:
    current: Node | None = node
    for step in path.split("/"):
        if current is None:
            return None
        if step.startswith("<"):
            current = next((child for child in current.named_children if child.type == step[1:]), None)
        elif step.endswith("*"):
            current = _follow_repeatedly(current, step[:-1])
        else:
            current = current.child_by_field_name(step)
    return current


def _follow_repeatedly(node: Node, field: str) -> Node | None:
    """Follow a field down as often as it exists; C++ reference_declarators have their declarator without a field."""
    start = node
    for _ in range(_MAX_STEPS):
        inner = node.child_by_field_name(field)
        if inner is None and node.type in ("reference_declarator", "parenthesized_declarator") and node.named_children:
            inner = node.named_children[-1]
        if inner is None:
            break
        node = inner
    return None if node == start else node


def qualify(outer: str, name: str, syntax: Syntax) -> str:
    """The qualified name of what an outer declaration holds; the name alone where it would be too long."""
    if not name or not outer or not syntax.qualified:
        return name or outer
    symbol = f"{outer}{syntax.separator}{name}"
    return symbol if len(symbol) <= MAX_SYMBOL else name


def name_of(found: DeclarationNode, syntax: Syntax, data: bytes) -> str:
    """The declaration's own name, with the type that it names itself (a receiver); may be empty."""
    name = _first_name(found.node, found.rule.names, syntax, data)
    owner = _first_name(found.node, found.rule.owner, syntax, data)
    return f"{owner}{syntax.separator}{name}" if owner and name else name


def more_names_of(found: DeclarationNode, data: bytes) -> list[str]:
    """The names of a declaration after its first one: `case small, big`."""
    nodes = found.node.children_by_field_name(found.rule.each) if found.rule.each else []
    return [_code_name(_text(node, data, MAX_NAME)) for node in nodes[1:]]


def _first_name(node: Node, paths: tuple[str, ...], syntax: Syntax, data: bytes) -> str:
    for path in paths:
        if path.startswith("="):
            return path[1:]
        found = None
        if path.startswith("!"):
            name = _SPECIAL[path](node, data)
        else:
            found = _follow(node, path)
            name = _text(found, data, 4 * MAX_NAME) if found is not None else ""
        name = plain_name(name) if syntax.plain_names else _code_name(name)
        if found is not None and found.has_error and not syntax.plain_names:
            # A macro before the type of a function takes the type's place, and that of its name.
            name = name.rpartition(" ")[2]
        name = clean_title(name) if syntax.prose else name
        if name:
            return name[:MAX_NAME]
    return ""


def _text(node: Node, data: bytes, limit: int) -> str:
    start = node.start_byte
    return data[start : min(node.end_byte, start + limit)].decode("utf-8", "ignore")


def plain_name(text: str) -> str:
    """A name in one line, without the quotes around it."""
    name = " ".join(text.split())
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] and name[0] in "\"'" else name


_GENERICS = lazy_pattern(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}")
# Of Rust: `&'a mut Cart`, `&dyn Pay`.
_REFERENCED = lazy_pattern(r"&\s*(?:'\w+\s+)?(?:mut\s+|dyn\s+)*|^dyn\s+")
_SUPERTYPE = lazy_pattern(r"\s*<:.*")


def _code_name(text: str) -> str:
    """A plain name: without generics, pointers and quotes, its parts separated by dots."""
    if text.isidentifier():
        return text
    text = " ".join(text.split())
    if "operator" not in text:
        text = _SUPERTYPE.sub("", _REFERENCED.sub("", text))
        for _ in range(3):
            text = _GENERICS.sub("", text)
    text = text.strip(" *&$@\"'`:;,").replace("::", ".").replace("\\", ".")
    return re.sub(r"(?<=\w):(?=\w)", ".", text).removeprefix("self.")


def _tag(node: Node, data: bytes) -> str:
    """`tag#id` of an HTML element."""
    start = next((c for c in node.named_children if c.type in ("start_tag", "self_closing_tag")), None)
    if start is None:
        return ""
    name, identity = "", ""
    for child in start.named_children:
        if child.type == "tag_name":
            name = _text(child, data, MAX_NAME)
        elif child.type == "attribute" and _text(child, data, 3).lower() == "id=":
            identity = "#" + _text(child, data, MAX_NAME)[3:].strip("\"' ")
    return name + identity


def _prelude(node: Node, data: bytes) -> str:
    """The text of a CSS rule up to its block."""
    return _text(node, data, 4 * MAX_NAME).partition("{")[0].rstrip("; ")


def _labels(node: Node, data: bytes) -> str:
    """`resource.aws_instance.web`: type and labels of an HCL block."""
    words = [c for c in node.named_children if c.type in ("identifier", "string_lit")]
    return ".".join(_text(word, data, MAX_NAME).strip("\"'") for word in words)


def _name_computed(node: Node, data: bytes) -> str:
    """The last name in the brackets of `[Symbol.iterator]() {}` and `Shop.prototype[close] = ...`, with what is before them."""
    found = node.child_by_field_name("name") or node.child_by_field_name("left")
    match = _COMPUTED.fullmatch(_text(found, data, MAX_NAME)) if found is not None else None
    return ".".join(filter(None, match.groups())) if match else ""


def _second(node: Node, data: bytes) -> str:
    """The second symbol of a list, without the metadata before it."""
    named = [child for child in node.named_children[:_MAX_STEPS] if child.type == "sym_lit"]
    name = named[1].child_by_field_name("name") if len(named) > 1 else None
    return _text(name, data, MAX_NAME) if name is not None else ""


def _name_constructor(node: Node, data: bytes) -> str:
    """The last name before the parameters of a constructor: `found` of `Response.found(...)`, else that of its type."""
    named = [child for child in node.named_children[:_MAX_STEPS] if child.type == "identifier"]
    return _text(named[-1], data, MAX_NAME) if named else ""


def _target(node: Node, data: bytes) -> str:
    """The `name = "..."` of a rule that a build file calls."""
    match = _TARGET.search(data, node.start_byte, min(node.end_byte, node.start_byte + 4 * MAX_NAME))
    return match[1].decode("utf-8", "ignore") if match else ""


_TARGET = lazy_pattern(rb"[(,]\s*name\s*=\s*[\"']([^\"'\n]+)[\"']")
_COMPUTED = lazy_pattern(r"([\w$.]*)\[(?:[\w$]+\.)*([\w$]+)\]")
_SPECIAL = {
    "!tag": _tag, "!prelude": _prelude, "!labels": _labels, "!computed": _name_computed, "!second": _second, "!target": _target,
    "!constructor": _name_constructor,
}  # fmt: skip

_OPENER = lazy_pattern(r"\s*(?:\{|:|=>|=|\bdo|\bthen)\s*$")


def signature_of(found: DeclarationNode, syntax: Syntax, data: bytes) -> str:
    """One line: from the declaration's first word to its body, white space collapsed."""
    kind = found.rule.kind
    start = first_word(found.path[0], syntax)
    end = min(found.path[0].end_byte, start + 4 * MAX_SIGNATURE)
    if syntax.one_line or kind in (Kind.GROUP, Kind.SCOPE):
        end = min(end, _line_end(data, start))
    elif kind is not Kind.VALUE:
        end = min(end, _head_end(found.node, start, syntax))
    text = " ".join(data[start:end].decode("utf-8", "ignore").split())
    if kind is not Kind.VALUE:
        text = _OPENER.sub("", text)
    return text[:MAX_SIGNATURE].rstrip()


def first_word(outer: Node, syntax: Syntax) -> int:
    """The start of the declaration after its decorators."""
    for index in range(min(outer.child_count, _MAX_STEPS)):
        child = outer.child(index)
        if child is not None and child.type != "decorator" and child.type not in syntax.attributes | syntax.comments:
            return child.start_byte
    return outer.start_byte


def _head_end(node: Node, start: int, syntax: Syntax) -> int:
    """The start of the body, or of a comment before it."""
    path = body_path(node)
    ends = [path[-1].start_byte] if path else [node.end_byte]
    for index in range(min(node.child_count, _MAX_STEPS)):
        child = node.child(index)
        if child is not None and child.type in syntax.comments:
            ends.append(child.start_byte)
    return min((end for end in ends if end > start), default=node.end_byte)


def _line_end(data: bytes, start: int) -> int:
    ends = [data.find(mark, start, start + 4 * MAX_SIGNATURE) for mark in (b"\n", b"\r")]
    return min((end for end in ends if end >= 0), default=len(data))


def body_path(node: Node, field: str = "body") -> list[Node]:
    """The nodes from below a declaration down to its body: a field, or a well-known last child."""
    path: list[Node] = []
    current = node
    for _ in range(4):
        body = current.child_by_field_name(field)
        if body is None and current.named_child_count:
            last = current.named_child(current.named_child_count - 1)
            current = last if last is not None else current
        elif body is None:
            return []
        path.append(body or current)
        if body is not None or current.type in _BODY_TYPES:
            return path
    return []


def doc_of(found: DeclarationNode, comments: tuple[Node, ...], syntax: Syntax, data: bytes) -> str:
    """The first paragraph of the docstring, or else of the comments before the declaration."""
    doc = _docstring(found, syntax, data)
    if not doc:
        doc = first_paragraph([_text(c, data, 4 * MAX_DOC) for c in comments if c.type in syntax.comments])
    return doc


def _docstring(found: DeclarationNode, syntax: Syntax, data: bytes) -> str:
    if not syntax.docstrings:
        return ""
    path = body_path(found.node)
    inner = path[-1].named_children[:1] if path else []
    own = found.node.named_children[:-1]  # a text at the end is a value
    doc = next((each for each in (*inner, *own[:_MAX_STEPS]) if each.type in syntax.docstrings), None)
    if doc is None:
        return ""
    text = _text(doc, data, 4 * MAX_DOC)
    return first_paragraph([text]) if text.lstrip("rRuUbB").startswith(('"', "'", "@moduledoc")) else ""


_OPENING = lazy_pattern(
    r"^\s*(?:@(?:module|type)?doc\b\s*)?(?:~[sS])?[rRuUbB]{0,2}"
    r"(\"\"\"|'''|/\*[*!]*|\(\*+|\{-\s*\|?|<!--|<#|\"|')"
)
_CLOSING = lazy_pattern(r"(?:\"\"\"|'''|\*+/|\*+\)|-\}|-->|#>|\"|')\s*$")
_LINE_MARK = lazy_pattern(r"^\s*(?://+[!/]?|#+[:'!]?|--+\s*[|^]?|;+|%+|!+[<>]?|\*(?![*/]))\s?")
_XML_TAG = lazy_pattern(r"</?(?:summary|para|remarks)>")
# Documentation follows such a tag: of Doxygen, JSDoc, EDoc and NatSpec.
_SAYING_TAG = lazy_pattern(r"^[@\\](?:brief|short|details?|desc(?:ription)?|summary|doc|notice|dev)\b\s*")
_TAG_LINE = lazy_pattern(
    r"^\s*(?:@\w+|:param|:return|<param|<returns|\\(?:t?param|returns?|throws?|see)\b|\.[A-Z]{4,}\b)"
)


def first_paragraph(comments: list[str]) -> str:
    """The first paragraph of some comments, one line, without comment marks; at most 300 characters."""
    words: list[str] = []
    for comment in comments:
        if comment.startswith("@") and not comment.startswith(("@doc", "@moduledoc", "@typedoc")):
            continue
        body, view = _OPENING.subn("", comment, count=1)
        body = _CLOSING.sub("", body) if view else body
        for line in body.split("\n"):
            line = _SAYING_TAG.sub("", _XML_TAG.sub("", _LINE_MARK.sub("", line)).strip())
            if words and (not line or _TAG_LINE.match(line)):
                return " ".join(words)[:MAX_DOC].rstrip()
            if line and not _TAG_LINE.match(line):
                words.extend(line.split())
    return " ".join(words)[:MAX_DOC].rstrip()

"""Tells what the uses of names mean: by scopes and imports, or by the type of the receiver."""

from __future__ import annotations

import re

from rag_ls.chunking import KEY, SHORTHAND, UNKNOWN
from rag_ls.engine.code.references.chains import Step, read_chain_before, read_steps
from rag_ls.engine.code.references.code_files import CodeFile
from rag_ls.engine.code.references.declarations import OUTSIDE, Meaning
from rag_ls.engine.code.references.names import Names
from rag_ls.engine.code.references.receiver_types import ReceiverTypes
from rag_ls.engine.code.references.scopes import Scopes
from rag_ls.model import Use, UseKind
from rag_ls.storage import StoredSymbol
from rag_ls.util.patterns import lazy_pattern

_MAX_CHAIN_LINES = 30
_OPENS_EXPRESSION = lazy_pattern(r"[(\[{,:=&|<>+;]$|[!=]=$|\?\?$|\b(?:return|case|in|where|else|is)$")
_DECLARING = lazy_pattern(r"\b(?:func|fun|def|function)\s+$")
_QUALIFIER = lazy_pattern(r"(?:[A-Z]\w*\.)+$")


class UseMeanings:
    """The meanings of uses. For one question; not safe from several threads."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._files = names.files
        self._scopes = Scopes(names.files)
        self._types = ReceiverTypes(names, self._scopes)

    def find(self, source: CodeFile, use: Use) -> Meaning | None:
        """The things that a use means; None where that is unknown."""
        if use.kind == UseKind.IMPORT:
            found = self._names.imported(source, use)
            return None if found is None else Meaning(found)
        if use.receiver == KEY:
            return None
        if use.receiver == SHORTHAND:
            found_name = self._of_bare_name(source, use)
            return found_name if found_name is not None and found_name.declarations else None
        return self._of_member(source, use) if use.receiver else self._of_bare_name(source, use)

    def _of_bare_name(self, source: CodeFile, use: Use) -> Meaning | None:
        rule, before = source.rule, self._files.before(source, use)
        is_called = use.kind == UseKind.CALL or (bool(rule.function_mark) and before.endswith(rule.function_mark))
        if not is_called:
            if (rule.variables and before.endswith(rule.variables)) or (rule.locals and not use.name[:1].isupper()):
                return OUTSIDE
            # The label of an argument, the key of a value, a function within another one.
            around = f"{before}\0{self._files.after(source, use)}"
            if (rule.labels and re.search(rule.labels, around)) or _DECLARING.search(before):
                return None
            if rule.is_declared and self._scopes.is_local(source, use.name, use.line):
                return OUTSIDE
        if members := self._names.classes.implied_members(source, use.name, use.line):
            return self._with_extensions(source, use.name, Meaning(members))
        # There, functions and variables have names apart.
        is_function = bool(rule.locals) or (rule.is_dotted and is_called)
        if not is_function and self._scopes.is_local(source, use.name, use.line):
            return OUTSIDE
        return self._names.bare(source, use.name)

    def _of_member(self, source: CodeFile, use: Use) -> Meaning | None:
        chain, before = self._chain_before(source, use), self._files.before(source, use)
        if source.rule.leading_dot and _begins_with_dot(self._text_before(source, use)):
            return None
        paths, is_qualified = source.language.paths, before.endswith("\\")
        whole = f"{chain}.{use.name}"
        if (meaning := self._names.full(source, whole)) is not None:
            return meaning
        is_path = paths is not None and before.endswith(paths.separator)
        if is_path and (meaning := self._names.whole(source, whole, use.line)) is not None:
            return meaning
        if is_qualified and (named := self._names.declared.in_folders(source, whole)) is not None:
            return Meaning((named,))
        steps = read_steps(re.sub(r"^\$(?!\d)", "", chain))
        owner = self._types.of_chain(source, steps, use.line)
        if owner is None or (owner == OUTSIDE and not self._is_foreign(source, steps, use.line)):
            return self._names.extension(source, use.name, is_imported=True)
        return self._with_extensions(source, use.name, self._names.member_of(owner, use.name))

    def _with_extensions(self, source: CodeFile, name: str, members: Meaning | None) -> Meaning | None:
        """The members of a name; which one of several is meant is not told, so it may be a function that extends the type, too."""
        declared = members.declarations if members is not None else ()
        own = [item for item in declared if not self._names.declared.is_extension(item)]
        if len(own) == 1:
            return members
        found = self._names.extension(source, name, is_imported=not declared)
        return Meaning((*own, *found.declarations)) if found is not None else members

    def members(self, owner: StoredSymbol, name: str) -> tuple[StoredSymbol, ...]:
        """The member that a type, or the nearest type that it derives from, declares by a name."""
        return self._names.classes.members(owner, name)

    def created_type(self, source: CodeFile, use: Use) -> StoredSymbol | None:
        """The type of which a member, such as `new`, makes an object."""
        chain = self._chain_before(source, use)
        if not chain or chain in ("self", "self.class"):
            return self._names.classes.type_around(source, use.line)
        typed = self._types.of_chain(source, read_steps(chain), use.line) if chain[:1].isupper() else None
        return next((item for item in typed.declarations if item.kind == "type"), None) if typed is not None else None

    def _chain_before(self, source: CodeFile, use: Use) -> str:
        """The receiver of a use, which is read from the text where it is more than names."""
        if source.rule.is_dotted and (qualifier := _QUALIFIER.search(self._files.before(source, use))):
            return qualifier[0][:-1]
        if UNKNOWN in use.receiver or "()" in use.receiver:
            return read_chain_before(self._text_before(source, use))
        return use.receiver

    def _is_foreign(self, source: CodeFile, steps: list[Step], line: int) -> bool:
        """Whether a receiver is a name from outside of the project: a value of a type from there may be of a type that derives from it."""
        is_name = not any(step.is_called for step in steps) and not self._scopes.is_local(source, steps[0].name, line)
        return is_name and self._names.bare(source, steps[0].name) == OUTSIDE

    def _text_before(self, source: CodeFile, use: Use) -> str:
        lines = self._files.lines(source)[max(0, use.line - _MAX_CHAIN_LINES) : use.line - 1]
        return "\n".join((*lines, self._files.before(source, use)))


def _begins_with_dot(text: str) -> bool:
    """Whether the dot that ends a text begins an expression, and does not go on with the one before it."""
    before = text.removesuffix(".").rstrip()
    is_choice = before.endswith("?") and before[-2:-1].isspace()
    return is_choice or not before or bool(_OPENS_EXPRESSION.search(before))

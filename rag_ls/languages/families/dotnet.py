"""The languages of .NET."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from rag_ls.languages.imports import ImportRule, Taken, read_match, statements
from rag_ls.languages.language import TYPE_NAMES, UNLESS_PRIVATE, Language
from rag_ls.languages.line_rules import DOUBLE_NOISE, TRIPLE_NOISE, LineRule
from rag_ls.languages.patterns import (
    COMMON_LEXIS,
    THROWN_CLASS,
    Comments,
    ErrorSyntax,
    Tests,
    compile_lines,
    suffixed_tests,
)
from rag_ls.languages.reference_rules import COLON_TYPE, NEW, PREFIX_TYPE, ReferenceRule
from rag_ls.languages.source_tree import SourceTree, Target, above, join
from rag_ls.languages.syntax import Syntax, declare, words
from rag_ls.model import Import

_PROJECT_REFERENCE = r"<ProjectReference\s[^>]*?Include\s*=\s*\"([^\"]+)\""
_PACKAGE_REFERENCE = r"<PackageReference\s[^>]*?Include\s*=\s*\"([^\"]+)\""
_SHARED_PROJECTS = ("Directory.Build.props", "Directory.Build.targets")


class CSharpProjects:
    """Answers from the references that project files name: code may use its own project and those that it refers to,
    directly or through others (MSBuild's `ProjectReference`)."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        # Asked for at each of a hundred thousand imports.
        self._of_folder: dict[str, str] = {}
        self._referred: dict[str, frozenset[str] | None] = {}
        self._reached: dict[str, frozenset[str] | None] = {}

    def may_use(self, importer: str, path: str) -> bool:
        """Whether the code of one document may use that of another; also where their projects or references are not known."""
        own, other = self._project_of(importer), self._project_of(path)
        if not own or not other or own == other:
            return True
        if own not in self._reached:
            self._reached[own] = self._reach(own)
        reached = self._reached[own]
        return reached is None or other in reached

    @cached_property
    def _by_folder(self) -> dict[str, str]:
        return {path.rpartition("/")[0]: path for path in sorted(self._tree.paths) if path.endswith(".csproj")}

    def _project_of(self, path: str) -> str:
        folder = path.rpartition("/")[0]
        if folder not in self._of_folder:
            found = (self._by_folder[each] for each in above(path) if each in self._by_folder)
            self._of_folder[folder] = next(found, "")
        return self._of_folder[folder]

    def _reach(self, project: str) -> frozenset[str] | None:
        """The projects that one may use; None where a property or a shared file says so."""
        found, waiting = set[str](), [project]
        while waiting:
            at = waiting.pop()
            if at not in self._referred:
                self._referred[at] = self._references(at)
            referred = self._referred[at]
            if referred is None:
                return None
            waiting += referred - found
            found |= referred
        return frozenset(found)

    def _references(self, project: str) -> frozenset[str] | None:
        shared = (
            path
            for folder in above(project)
            for name in _SHARED_PROJECTS
            if (path := join(folder, name)) in self._tree.paths
        )
        if any("<ProjectReference" in self._tree.read(path) for path in shared):
            return None
        # A sample may take the project's own package.
        packages = (f"{name}.csproj" for name in re.findall(_PACKAGE_REFERENCE, self._tree.read(project)))
        taken = {path for name in packages for path in self._tree.by_name.get(name, ())}
        named = [name.replace("\\", "/") for name in re.findall(_PROJECT_REFERENCE, self._tree.read(project))]
        folder = project.rpartition("/")[0]
        known = {path for name in named if (path := join(folder, name)) in self._tree.paths}
        return frozenset(known | taken) if not any("$(" in name or "*" in name for name in named) else None


def _read_csharp_import(text: str) -> Iterator[Taken]:
    match = re.match(r"(?:global\s+)?using\s+(static\s+)?(?:\w+\s*=\s*)?(?:global::)?([\w.:]+)", text)
    if match:
        yield match[2], ("*",) if match[1] else ()


_NAMESPACE = r"^\ufeff?[ \t]*namespace[ \t]+([\w.]+)"


class CSharpResolver:
    """See `Resolver`: a namespace means the folder whose path ends as it does, a type its file there."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._projects = CSharpProjects(tree)
        self._namespaces: dict[str, tuple[str, ...]] = {}

    def targets(self, importer: str, imported: Import) -> Iterator[Target]:
        """The documents in the folder of a namespace; the one of a type that is given another name, or whose members are taken."""
        yield from (each for each in self._declaring(importer, imported) if self._projects.may_use(importer, each.path))

    def _declaring(self, importer: str, imported: Import) -> Iterator[Target]:
        parts = imported.module.split(".")
        for length in range(len(parts), 0, -1):
            end = "/".join(parts[-length:])
            files = [path for folder in self._folders(parts[-length:]) for path in self._tree.files_in[folder]]
            if found := [path for path in files if path.endswith(".cs") and self._declares(path, imported.module)]:
                yield from (Target(path, ("*",)) for path in found)
                return
            space = ".".join(parts[:-1])
            named = self._tree.find_ending(f"{end}.cs", importer) if length > 1 else []
            if found := [path for path in named if self._declares(path, space)]:
                yield from (Target(path, (parts[-1],)) for path in found)
                return

    def _folders(self, parts: Sequence[str]) -> Iterable[str]:
        """The folders whose paths end in some parts of a namespace; a folder may have the name of several."""
        end = "/".join(parts)
        return (each for each in self._by_end.get(parts[-1], ()) if f"/{each.replace('.', '/')}".endswith(f"/{end}"))

    @cached_property
    def _by_end(self) -> dict[str, list[str]]:
        """The folders by the last part of their names."""
        found: dict[str, list[str]] = {}
        for folder in self._tree.files_in:
            found.setdefault(folder.replace(".", "/").rpartition("/")[2], []).append(folder)
        return found

    def _declares(self, path: str, namespace: str) -> bool:
        """Whether a document adds to a namespace: to that one, or to one whose last parts it is."""
        if path not in self._namespaces:
            self._namespaces[path] = tuple(compile_lines(_NAMESPACE).findall(self._tree.read(path)))
        return any(f".{each}".endswith(f".{namespace}") for each in self._namespaces[path])


# A namespace is not named, so that both of its forms give the same symbols.
CSHARP = Language(
    "csharp", title="C#",
    syntax=Syntax("csharp", declare("""
        type class_declaration interface_declaration enum_declaration struct_declaration record_declaration \
            delegate_declaration
        function method_declaration constructor_declaration destructor_declaration local_function_statement \
            property_declaration event_declaration
        function operator_declaration, names operator
        value enum_member_declaration
        value field_declaration event_field_declaration, \
            names <variable_declaration/<variable_declarator/name <variable_declaration/<variable_declarator
        scope namespace_declaration, names
    """), transparent=words("preproc_if preproc_else preproc_elif")),
    lexis=COMMON_LEXIS, is_matched=True,
    references=ReferenceRule(
        is_open=True, holds_functions=True, aliases=(r"\busing\s+(\w+)\s*=\s*(?:global::)?{name}\b",),
        members_apart=True,
        calls=(
            "(invocation_expression function: (_) @call)",
            "(invocation_expression function: (generic_name (identifier) @call))",
            "(invocation_expression function: (member_access_expression name: (generic_name (identifier) @call)))",
            "(object_creation_expression type: (_) @call)",
            "(object_creation_expression type: (generic_name (identifier) @call))",
            '(constructor_initializer ["this" "base"] @name @call)',
            # `Cart cart = new(1)`: the type of what is declared is the one that is created.
            *(
                f"({declared.format(written)}"
                for declared in (
                    "variable_declaration type: {} (variable_declarator (implicit_object_creation_expression)))",
                    "property_declaration type: {} value: (implicit_object_creation_expression))",
                    "property_declaration type: {} value: (arrow_expression_clause (implicit_object_creation_expression)))",
                    "method_declaration returns: {} body: (arrow_expression_clause (implicit_object_creation_expression)))",
                    "method_declaration returns: {} body: (block (return_statement (implicit_object_creation_expression))))",
                )
                for written in ("(_) @call", "(generic_name (identifier) @call)", "(nullable_type (identifier) @call)")
            ),
        ),
        # An implementation by the whole name of an interface's member is called by nobody.
        skipped=("(method_declaration (explicit_interface_specifier) name: (identifier) @skip)",),
        bases=("(base_list (_) @base)", "(base_list (generic_name (identifier) @base))"), parents=words("base"),
        own_is_implied=True, is_overloaded=True, is_declared=True, types_precede=True,
        reopened=r"\bpartial\b", types=(PREFIX_TYPE, NEW),
        returns=r"([A-Z][\w.]*)(?:<[^;(){}]*>)?\??(?:\[\])*\s+(?:[A-Z][\w.<>]*\.)?{name}\s*(?:<[^()]*>\s*)?(?:[({]|=>|$)",
        wrappers=words("Nullable Task ValueTask"),
    ),
    imports=ImportRule(
        _read_csharp_import, ("using_directive",),
        # Not `using var file = ...`.
        places=statements(
            "using", r"(?:global[ \t]+)?", r"[ \t]+(?:(?:static|unsafe)[ \t]+)*[\w.:]+[ \t]*(?:[;=<\r\n]|$)",
        ),
    ),
    exports=UNLESS_PRIVATE, own_names=TYPE_NAMES, resolver=CSharpResolver, needs_use=True, is_named_by_tools=True,
    tests=Tests(
        file_names=suffixed_tests("cs"),
        libraries=(
            ("xUnit", r"using Xunit\b|\[Fact\b|\[Theory\b"), ("NUnit", r"using NUnit\b"),
            ("MSTest", r"VisualStudio\.TestTools"),
        ),
        declared=r"^[ \t]*\[(?:Fact|Theory|Test|TestMethod|TestCase)\b",
    ),
    errors=ErrorSyntax(declared=r"\bclass\s+(\w+)\s*(?:\([^()]*\))?\s*:\s*([\w.]+)", raised=THROWN_CLASS),
)  # fmt: skip


_FS_ATTRIBUTES = rb"(?:\[<[^\n]*?>\][ \t]*)?"
_FS_MODIFIERS = rb"(?:(?:rec|inline|private|internal|public|mutable)[ \t]+)*+"
_FS_NAME = rb"(?:\(\|[^)\n]*\|\)|``[^`\n]+``|[A-Za-z_][\w']*)"
FSHARP = Language(
    "fsharp", title="F#",
    lines=LineRule(
        rb"^[ \t]*+" + _FS_ATTRIBUTES + rb"let[ \t]+" + _FS_MODIFIERS
        + rb"(?P<function>" + _FS_NAME + rb")(?:<[^\n=]*?>)?(?=[ \t]*(?:\(|[ \t][\w_(\[{]))"
        + rb"|^[ \t]*+" + _FS_ATTRIBUTES + rb"let[ \t]+" + _FS_MODIFIERS + rb"(?P<value>" + _FS_NAME + rb")(?=[ \t]*(?:[:=]|$))"
        + rb"|^[ \t]*+" + _FS_ATTRIBUTES + rb"(?:static[ \t]+)?(?:member|override|default|abstract(?:[ \t]+member)?)[ \t]+"
        + _FS_MODIFIERS + rb"(?:val[ \t]+)?(?:[\w']+\.)?(?P<function2>" + _FS_NAME + rb")"
        + rb"|^[ \t]*+(?:type|and)[ \t]+" + _FS_ATTRIBUTES + _FS_MODIFIERS + rb"(?P<type>[A-Z]\w*)"
        + rb"|^[ \t]*+and[ \t]+" + _FS_MODIFIERS + rb"(?P<function3>[a-z_][\w']*)|^exception[ \t]+(?P<type2>\w+)"
        + rb"|^[ \t]*+(?:module[ \t]+|namespace[ \t]+)" + _FS_MODIFIERS + rb"(?P<module>[\w.]+)"
        + rb"|^[ \t]*+val[ \t]+" + _FS_MODIFIERS + rb"(?P<value2>" + _FS_NAME + rb")(?=[ \t]*:)",
        noise=TRIPLE_NOISE + rb"|\(\*(?!\))(?s:.*?)(?:\*\)|\Z)|//[^\n]*|" + DOUBLE_NOISE, closing=rb"[})\]]",
        going_on=rb"\||\{|(?:with|end|else|elif|then|in)\b", attributes=rb"\[<",
        imported=rb"^[ \t]*(?:open|#load|#r)[ \t]+[^\n]+", called=rb"\s?\(|<[\w., ]+>\(",
        calls=rb"(?:\|>|>>|>=>|<\|)[ \t]*(?:\w+\.)*([A-Za-z_]\w*)",
        bases=rb"^[ \t]*(?:inherit|interface)[ \t]+([\w.]+)",
    ),
    comments=Comments(pattern=r"//[^\n]*|\(\*(?!\)).*?\*\)", start="// "), has_single_quotes=False, is_indented=True,
    references=ReferenceRule(is_open=True, types=(COLON_TYPE,), own=words("this self x __ _")),
    imports=ImportRule(read_match(r"^(?:open|#load|#r)\s+(?:type\s+)?\"?([^\s\"]+)")), exports=UNLESS_PRIVATE,
)  # fmt: skip


_VB_MODIFIERS = (
    rb"(?:(?:public|private|protected|friend|shared|static|overridable|overrides|overloads|mustinherit|notinheritable|partial|async|"
    rb"readonly|writeonly|default|shadows|iterator|global)[ \t]+)*"
)
VB = Language(
    "vb", title="Visual Basic",
    lines=LineRule(
        rb"(?i:^[ \t]*+" + _VB_MODIFIERS + rb"(?:(?P<word>sub|function)[ \t]+(?P<function>\w+)"
        rb"|(?P<word2>property)[ \t]+(?:(?:get|let|set)[ \t]+)?(?P<value>\w+)(?=[^\n]*\n[ \t]*(?:\w+[ \t]+)*(?:get|set)\b)"
        rb"|(?P<word3>class|module|structure|interface|enum|type)[ \t]+(?P<type>\w+)(?![ \t]*=)"
        rb"|(?P<word4>namespace)[ \t]+(?P<module>[\w.]+)|const[ \t]+(?P<value2>\w+)))",
        noise=rb'"[^"\n]*"' + rb"|'[^\n]*", paired=rb"(?i:end[ \t]+%s\b)", attributes=rb"<",
        imported=rb"(?i:^[ \t]*imports[ \t]+[^\n]+)", comment_mark=rb"^[ \t]*'+",
    ),
    comments=Comments(pattern=r"'[^\n]*", start="' "), has_single_quotes=False,
    references=ReferenceRule(is_open=True, own=words("Me"), parents=words("MyBase")),
    imports=ImportRule(read_match(r"(?i)^imports\s+(?:\w+\s*=\s*)?([\w.]+)")),
)  # fmt: skip

LANGUAGES = (CSHARP, FSHARP, VB)

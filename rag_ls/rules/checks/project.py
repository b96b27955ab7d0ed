"""Checks the files of a project without an engine: reads them, their imports, and the rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from rag_ls.chunking import recognise
from rag_ls.errors import InvalidRequest
from rag_ls.indexing import Cutters, Patterns, list_files
from rag_ls.languages import ImportResolver, SourceTree
from rag_ls.model import Outline
from rag_ls.rules.checks.architecture import RuleFiles
from rag_ls.rules.checks.checked_code import outline_files, read_blanked, read_code, read_text
from rag_ls.rules.checks.checker import (
    applies,
    language_to_match,
    needs_chains,
    needs_imports,
    needs_symbols,
    structures_apart,
    violations,
)
from rag_ls.rules.checks.contracts import Edge, ImportGraph, resolve_imports
from rag_ls.rules.checks.records import (
    CheckedDocument,
    CheckRule,
    LayersCheck,
    RuleProblem,
    RuleSet,
    Severity,
    StructureCheck,
    Violation,
)
from rag_ls.util.git import GitSilent
from rag_ls.util.git_changes import list_differences, list_staged_apart
from rag_ls.util.path_globs import matches_any, nearest_to_glob
from rag_ls.util.paths import is_among
from rag_ls.util.records import dataclass
from rag_ls.util.secret_texts import describe_secret_lines
from rag_ls.util.text import count_of, nearest_text

_MAX_SHOWN_APART = 5
_FILES_PER_REPORT = 50


Report = Callable[[int, int], None]
"""Called with the number of files that were looked at, and of all that will be; one that is read twice, first for its imports,
counts as half in between."""
_MAX_NAMED = 3
# The beginnings of imports of the project's own code, in one language or another: a relative path, or a usual alias.
_OWN_IMPORTS = (".", "/", "#", "$", "~", "@/", "crate::", "super::")
_CRUISER_FILES = tuple(f".dependency-cruiser.{end}" for end in ("json", "js", "cjs", "mjs"))
_AST_GREP_FILES = ("sgconfig.yml", "sgconfig.yaml")
_LINTER_FILES = (".importlinter", "setup.cfg", "pyproject.toml")


def ignore_steps(done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check."""

    rules: RuleSet
    violations: tuple[Violation, ...]
    files: int
    """The number of files that were checked."""
    notes: tuple[str, ...] = ()
    """The things that it did not look at, and the reasons that kept the ignore rules from being applied as git would."""
    blind: tuple[CheckRule, ...] = ()
    """The rules that are for no file of the project."""
    unread: tuple[str, ...] = ()
    """The files that were wanted, that a rule may be for, and that are no part of the project: ignored, say."""

    @property
    def is_idle(self) -> bool:
        """Whether there are rules, and none is for any file of the project."""
        return bool(self.rules.rules) and len(self.blind) == len(self.rules.rules)


def check_project(
    root: Path, wanted: Sequence[str] = (), *, patterns: Patterns, processes: int, report: Report = ignore_steps
) -> CheckReport:
    """Check the files of a project, or those at or below some project paths."""
    notes: dict[str, None] = {}
    paths = sorted(list_files(root, patterns, notes.setdefault))
    with closing(Cutters(processes, is_brief=True)) as cutters:
        return _check(root, paths, wanted, cutters, report, tuple(notes))


def _check(
    root: Path, paths: Sequence[str], wanted: Sequence[str], cutters: Cutters, report: Report, notes: tuple[str, ...]
) -> CheckReport:
    tree = SourceTree(paths, partial(read_text, root))
    rules = RuleFiles(cutters).read(tree)
    notes = (*notes, *name_other_checkers(tree.paths, tree.read))
    if not rules.rules:
        return CheckReport(rules, (), 0, notes)
    language_of = cache(lambda path: read_code(path, read_text(root, path)).language)
    problems, blind = explain_blind_rules(rules.rules, paths, language_of)
    rules += RuleSet((), tuple(problems))
    chosen = [path for path in paths if is_among(path, wanted) and any(applies(rule, path) for rule in rules.rules)]
    outlined = paths if needs_chains(rules) else chosen
    with_symbols = needs_symbols(rules)
    outlined = outlined if needs_imports(rules) or with_symbols else []
    outlines: dict[str, tuple[str, Outline]] = {}
    total, files = len(chosen) + len(outlined), max(len(chosen), len(outlined))
    found_outlines = cutters.call_many(partial(outline_files, root, declarations=with_symbols), outlined)
    for done, (path, known) in enumerate(zip(outlined, found_outlines, strict=True)):
        if done % _FILES_PER_REPORT == 0:
            report(done * files // total, files)
        outlines[path] = known[1:] if known else (recognise(path, "") or "text", Outline())
    resolver = ImportResolver(tree)
    graph = ImportGraph(
        {
            path: resolve_imports(resolver, path, language, outline.imports)
            for path, (language, outline) in outlines.items()
        }
        if needs_imports(rules)
        else dict[str, tuple[Edge, ...]]()
    )
    found: list[Violation] = []
    secret_lines: dict[str, int] = {}
    for done, path in enumerate(chosen, total - len(chosen)):
        if done % _FILES_PER_REPORT == 0:
            report(done * files // total, files)
        blanked = read_blanked(root, path)
        if blanked.lines:
            secret_lines[path] = blanked.lines
        code = read_code(path, blanked.text)
        outline = outlines[path][1] if path in outlines else Outline()
        document = CheckedDocument(path, code.language, code.text, outline.imports, outline.symbols)
        found += code.locate(violations(document, rules, graph, structures=partial(structures_apart, cutters)))
    unfollowed = note_unfollowed_imports(graph, chosen, partial(_is_file, root))
    unread = tuple(
        path
        for path in wanted
        if not any(is_among(each, (path,)) for each in paths)
        and recognise(path, "")
        and os.path.isfile(root / path)
        and any(applies(rule, path) for rule in rules.rules)
    )
    refused = f"not checked, since no part of the project (ignored, say): {', '.join(unread)}" if unread else ""
    more = [note for note in (describe_secret_lines(secret_lines), unfollowed, refused) if note]
    return CheckReport(rules, tuple(found), files=len(chosen), notes=(*notes, *more), blind=tuple(blind), unread=unread)


def _is_file(root: Path, importer: str, module: str) -> bool:
    place = root / module.lstrip("/") if module.startswith("/") else root / importer / ".." / module
    return os.path.isfile(os.path.normpath(place))


def changed_files(root: Path, revision: str) -> list[str]:
    """The project paths that differ from a git revision, those that git does not know yet among them.

    Raises `InvalidRequest` without git, or for an unknown revision.
    """
    if revision.startswith("-"):
        raise InvalidRequest(f"--changed {revision!r} is no revision")
    try:
        found = list(list_differences(root, revision))
    except GitSilent as silent:
        raise InvalidRequest(f"--changed {revision}: {silent}") from silent
    return list(dict.fromkeys(path for each in found for path in (each.former_path, each.path) if path))


def note_staged_apart(root: Path, revision: str) -> str:
    """A note of the files that a commit would hold otherwise than they are checked; empty where there are none."""
    apart = list_staged_apart(root, revision)
    shown = ", ".join(apart[:_MAX_SHOWN_APART]) + (" ..." if len(apart) > _MAX_SHOWN_APART else "")
    remedy = "`git diff --cached | rag-ls rules check --diff -` checks what is staged"
    return f"checked as on disk, but staged with another text: {shown}; {remedy}" if apart else ""


def explain_blind_rules(
    rules: Sequence[CheckRule], paths: Sequence[str], language_of: Callable[[str], str]
) -> tuple[list[RuleProblem], list[CheckRule]]:
    """A problem for each rule, layer and group of files that is for no file of the project; and these rules.

    A rule on the structure of code is for no file either if none is in its language.
    """
    problems, blind = list[RuleProblem](), list[CheckRule]()
    for rule in rules:
        # Files that are known exceptions are looked at: the globs are right.
        every = replace(rule, exceptions=())
        mine = [path for path in paths if applies(every, path)]
        if not mine:
            blind.append(rule)
            problems += _explain_globs(rule, rule.files, paths)
        elif isinstance(rule.check, StructureCheck) and not any(
            language_to_match(rule.check.languages, language_of(path), path) for path in mine
        ):
            blind.append(rule)
            languages = ", ".join(rule.check.languages)
            what = f"no file that {rule.id} is for is in {languages}, so it finds nothing"
            problems.append(RuleProblem(rule.path, rule.line, what, Severity.WARNING))
        else:
            problems += _explain_globs(rule, _empty_parts(rule, paths), paths)
    return problems, blind


def _explain_globs(rule: CheckRule, globs: Sequence[str], paths: Sequence[str]) -> Iterator[RuleProblem]:
    if globs:
        near = nearest_text(path for glob in globs for path in nearest_to_glob(glob, paths))
        what = f"{', '.join(globs)} matches no file of the project, so {rule.id} finds nothing there; {near}"
        yield RuleProblem(rule.path, rule.line, what.removesuffix("; "), Severity.WARNING)


def _empty_parts(rule: CheckRule, paths: Sequence[str]) -> tuple[str, ...]:
    """The globs of each layer, or of each group of files that are independent, that holds no file."""
    check = rule.check
    if not isinstance(check, LayersCheck):
        return ()
    parts = [(glob,) for layer in check.layers for glob in layer] if check.siblings_are_independent else check.layers
    empty = (part for part in parts if not any(matches_any(part, path) for path in paths))
    return tuple(glob for part in empty for glob in part)


def note_unfollowed_imports(graph: ImportGraph, paths: Collection[str], is_file: Callable[[str, str], bool]) -> str:
    """A sentence about the imports of the project's own code that lead nowhere; "" if there is none.

    `is_file` tells whether a file that imports names a file that is no code, such as a picture.
    """
    lost = [
        (path, edge)
        for path in paths
        for edge in graph.edges(path)
        if not edge.target and edge.module.startswith(_OWN_IMPORTS) and not is_file(path, edge.module)
    ]
    named = ", ".join(f"{edge.module} ({path}:{edge.line})" for path, edge in lost[:_MAX_NAMED])
    more = f" and {len(lost) - _MAX_NAMED} more" if len(lost) > _MAX_NAMED else ""
    what = f"{count_of(len(lost), 'import')} could not be followed, and rules on imports do not see where they lead"
    return f"{what}: {named}{more}" if lost else ""


def name_other_checkers(paths: Collection[str], read: Callable[[str], str]) -> list[str]:
    """A note on each configuration of import-linter and dependency-cruiser, with the command that checks by it."""
    found = {path: "npx depcruise ." for path in _CRUISER_FILES if path in paths}
    found |= {path: "ast-grep scan" for path in _AST_GREP_FILES if path in paths}
    for path in _LINTER_FILES:
        if path in paths and "importlinter" in (path if path.startswith(".") else read(path)):
            found[path] = "lint-imports"
    return [f"{path} is not read here: `{command}` checks by it" for path, command in found.items()]

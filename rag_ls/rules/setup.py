"""Plans what set-up writes, ARCHITECTURE.yml and docs/patterns, and writes it: never over existing text unasked."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from rag_ls.errors import ProjectUnavailable
from rag_ls.rules.checks.architecture import RulesUnreadable, parse_yaml, read_architecture
from rag_ls.rules.checks.checker import violations
from rag_ls.rules.checks.contracts import ImportGraph
from rag_ls.rules.checks.records import CheckedDocument, RuleProblem, RuleSet
from rag_ls.rules.other_tools import SECTIONS, find_publisher, name_foreign_keys
from rag_ls.rules.survey.documents import (
    ARCHITECTURE,
    FOLDER,
    architecture_yaml,
    pattern_pages,
    rule_text,
    ruled_findings,
)
from rag_ls.rules.survey.findings import MIN_SHARE, SurveyFinding, is_convention
from rag_ls.rules.survey.project_files import SurveyedTree
from rag_ls.rules.survey.survey import Survey
from rag_ls.util.files import read_regular, remedy_for, whole_file
from rag_ls.util.path_globs import matches_any
from rag_ls.util.paths import leads_out
from rag_ls.util.records import dataclass, replace
from rag_ls.util.text import count_of

_MIN_NEW_EXCEPTIONS = 3
# Tests and examples may often do what the product must not; others' code, and what programs write.
_NOT_PRODUCT = (
    "**/test/**", "**/tests/**", "**/__tests__/**", "**/spec/**", "**/e2e/**", "**/testing/**", "**/fixtures/**",
    "**/*.test.*", "**/*.spec.*", "**/*_test.*", "**/test_*", "**/conftest.py", "**/*Test.*", "**/*Tests.*", "**/*_spec.*",
    "**/examples/**", "**/docs/**", "**/scripts/**", "**/*.config.*", "**/.*", "**/mocks/**", "**/vendor/**", "**/third_party/**",
    "**/generated/**", "**/dist/**", "**/*.min.*", "**/*.gen.*", "**/*.pb.*", "**/*.generated.*", "**/*.d.ts", "**/migrations/**",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A document that set-up would write, or leave alone."""

    path: str
    text: str
    """Its whole new text."""
    is_written: bool
    is_there: bool
    """Whether the file exists, so that its former text is kept beside."""
    why: str
    """Its claims in short, or the reason why it is not written."""
    needs: str = ""
    """The argument with which a file that is left alone would be written: `force` or `publish`; empty where none does."""


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome for each document; project paths."""

    written: tuple[str, ...]
    left_alone: tuple[str, ...]
    """Existing files that hold another text, links, and what a site would publish."""
    kept: tuple[str, ...]
    """The folder with the former texts of replaced files."""


def plan_documents(root: Path, found: Survey, name: str, *, force: bool, publish: bool) -> tuple[PlannedFile, ...]:
    """The documents of a survey, each with what becomes of it; a file that is as it would be written is left out.

    With `force` existing ones are replaced; with `publish` they may lie where a site generator publishes them.
    The rest of an ARCHITECTURE.yml, besides the claims of set-up, is people's: it goes into the new one.
    Raises `ProjectUnavailable` for a file that cannot be read.
    """
    # The rules name the page of their topic, unless it is not written.
    with_pages = publish or not find_publisher(root, f"{FOLDER}/x.md")
    ruled, claims = len(ruled_findings(found)), count_of(len(found.findings), "claim")
    rules = f", {ruled} of them {'a rule' if ruled == 1 else 'rules'} to check" if ruled else ""
    documents = {ARCHITECTURE: (architecture_yaml(found, name, with_pages=with_pages), claims + rules)}
    documents |= pattern_pages(found)
    planned = []
    for path, (text, content) in documents.items():
        target = root / path
        try:
            # A link may lead to any place.
            is_link = Path(os.path.realpath(target)) != target or leads_out(root, target)
            former = None if is_link or not target.exists() else read_regular(target).decode("utf-8", "surrogateescape")
        except OSError as error:
            raise _refuse(target, error, ()) from error
        reason, needs = (
            ("it is a link", "") if is_link else _reason_to_leave(root, path, former, force=force, publish=publish)
        )
        new = text
        if path == ARCHITECTURE and former:
            try:
                new = keep_sections(text, former, path)
            except RulesUnreadable as error:
                reason, needs = f"its rules cannot be kept: {error}", ""
        if former == new:
            continue
        is_there, why = former is not None, reason or content
        planned.append(PlannedFile(path, new, is_written=not reason, is_there=is_there, why=why, needs=needs))
    return tuple(planned)


def digest_documents(planned: Iterable[PlannedFile]) -> str:
    """A digest of what planned documents would write, and over what."""
    writing = [(each.path, each.text, each.is_there) for each in planned if each.is_written]
    return hashlib.sha256(repr(writing).encode("utf-8", "surrogateescape")).hexdigest()


def write_documents(root: Path, planned: Sequence[PlannedFile], now: datetime) -> Written:
    """Write planned documents; the former text of a replaced file is kept beside.

    Raises `ProjectUnavailable` for a file that cannot be written.
    """
    written, kept = list[str](), list[str]()
    for each in planned:
        if not each.is_written:
            continue
        target = root / each.path
        try:
            if leads_out(root, target):
                raise OSError("it leads out of the project")
            if each.is_there:
                beside = _name_former(root, f"{each.path}.{now:%Y%m%d-%H%M%S}")
                target.rename(root / beside)
                kept.append(beside)
            target.parent.mkdir(parents=True, exist_ok=True)
            # Not private as the data folder is: these documents belong to the repository.
            with whole_file(target, 0o644) as stream:
                stream.write(each.text)
        except OSError as error:
            raise _refuse(target, error, written) from error
        written.append(each.path)
    return Written(tuple(written), tuple(each.path for each in planned if not each.is_written), tuple(kept))


def _name_former(root: Path, path: str) -> str:
    """A name for the former text of a file that no file has: an earlier one of the same second stays too."""
    names = (f"{path}{mark}.bak" for mark in itertools.chain([""], (f"-{number}" for number in itertools.count(2))))
    return next(name for name in names if not os.path.lexists(root / name))


def _refuse(target: Path, error: OSError, written: Sequence[str]) -> ProjectUnavailable:
    done = f"; {', '.join(written)} was written before" if written else ""
    remedy = remedy_for(error, "make the folder writable for you")
    return ProjectUnavailable(f"cannot write {target} ({error.strerror or error}); {remedy}{done}")


def _reason_to_leave(root: Path, path: str, former: str | None, *, force: bool, publish: bool) -> tuple[str, str]:
    """The reason to leave a file alone, and the argument that would write it; empty for a file to write."""
    if former is not None and path == ARCHITECTURE and (keys := name_foreign_keys(former, path)):
        return f"it is another tool's (its keys: {keys})", ""
    if former is not None and not force:
        return "it exists", "force"
    if not publish and (config := find_publisher(root, path)):
        return f"{config} publishes its folder", "publish"
    return "", ""


@dataclass(frozen=True, slots=True)
class _Section:
    key: str
    text: str
    """The comment directly above it included."""
    has_anchor: bool


def keep_sections(text: str, former: str, path: str) -> str:
    """A generated text, with the sections of a former one that are people's in place of its own.

    These are `rules:`, each key that set-up does not write, and each section with an anchor, which rules may refer to.
    Raises `RulesUnreadable` for a former text that is no YAML, or whose sections are no blocks of lines.
    """
    parse_yaml(former, path)
    kept = [each for each in _read_sections(former, path) if each.key not in (*SECTIONS, "project") or each.has_anchor]
    if not kept:
        return text
    keys = {each.key for each in kept}
    generated = list(_read_sections(text, path))
    head = text[: text.index(generated[0].text)]
    texts = [each.text for each in generated if each.key not in keys] + [each.text for each in kept]
    return head + "\n\n".join(each.rstrip() for each in texts) + "\n"


def _read_sections(text: str, path: str) -> Iterator[_Section]:
    """The sections of a text that is a mapping; none of another one."""
    import yaml

    root = yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if not isinstance(root, yaml.MappingNode) or not root.value:
        return
    if root.flow_style:
        raise RulesUnreadable(RuleProblem(path, 1, "its keys do not stand on lines of their own"))
    lines = text.splitlines(keepends=True)
    tokens = yaml.scan(text) if "&" in text else ()
    anchors = [token.start_mark.line for token in tokens if isinstance(token, yaml.AnchorToken)]
    starts = [_start_with_comment(lines, key.start_mark.line) for key, _ in root.value]
    for (key, _), (start, end) in zip(root.value, pairwise([*starts, len(lines)]), strict=True):
        yield _Section(str(key.value), "".join(lines[start:end]), any(start <= line < end for line in anchors))


def _start_with_comment(lines: list[str], line: int) -> int:
    while line and lines[line - 1].startswith("#"):
        line -= 1
    return line


def verify_survey(found: Survey, tree: SurveyedTree) -> Survey:
    """The survey with the findings whose rules the checker confirms, and those that have no rule.

    Rules count for files that the index refuses, too.
    """
    paths = [*(path for path in tree.paths if path not in tree.unread), *tree.refused]
    # Rules on paths and imports need neither text nor language.
    documents = [CheckedDocument(path, "", "") for path in paths]
    confirmed = (_confirm(each, documents, tree.graph) for each in found.findings)
    return replace(found, findings=tuple(each for each in confirmed if each))


def _confirm(finding: SurveyFinding, documents: Sequence[CheckedDocument], graph: ImportGraph) -> SurveyFinding | None:
    """The finding with the exceptions that the checker knows; None where it contradicts, or cannot read the rule."""
    if finding.rule is None:
        return finding
    read = read_architecture("rules:\n" + "\n".join(rule_text(finding)), "ARCHITECTURE.yml")
    if read.problems or not read.rules:
        return None
    counted = {each.partition(" -> ")[0] for each in finding.exceptions}
    every = [each.path for each in documents if violations(each, RuleSet(read.rules), graph)]
    rule, broken = _leave_out(finding, every, counted)
    if len(broken) > max(_MIN_NEW_EXCEPTIONS, (1 - MIN_SHARE) * finding.total):
        return None
    # A file that an exception names by one of its imports may break the rule by others, too.
    listed = (each for each in finding.exceptions if each.partition(" -> ")[0] not in broken)
    more = len(set(broken).difference(counted))
    confirmed = replace(
        finding, rule=rule, exceptions=tuple(dict.fromkeys((*listed, *broken))), total=finding.total + more
    )
    return confirmed if is_convention(confirmed) else None


def _leave_out(
    finding: SurveyFinding, broken: Sequence[str], counted: Collection[str]
) -> tuple[dict[str, object], Sequence[str]]:
    """The rule without tests and others' code, where these break it, and the files that break it then."""
    # Files that the survey counted are the product's, wherever they lie.
    new = [path for path in broken if path not in counted]
    left_out = [glob for glob in _NOT_PRODUCT if any(matches_any((glob,), path) for path in new)]
    rule = dict(finding.rule or {})
    if left_out:
        rule["not_files"] = left_out
        broken = [path for path in broken if path in counted or not matches_any(left_out, path)]
    return rule, broken

"""Finds what commits and comments say about why code is as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag_ls.memory.capture import rate_sentence
from rag_ls.memory.inbox import MemoryProposal
from rag_ls.memory.transcripts import split_sentences
from rag_ls.model import Anchor, MemoryType
from rag_ls.storage import StoredCommit
from rag_ls.util.patterns import lazy_pattern

_REASON = lazy_pattern(
    r"\b(?:because|since|so that|otherwise|as (?:they|the|this)|due to|in order to|weil|damit|sonst)\b", re.IGNORECASE
)
# A text with such words gives no reason that its author was sure of.
_UNCERTAIN = lazy_pattern(
    r"\b(?:not sure|no idea|unclear|forg[eo]t|(?:don'?t|do not|no longer) (?:even )?(?:know|remember)|weird|hmm+|probably|maybe|"
    r"i (?:think|guess))\b|\?",
    re.IGNORECASE,
)
_MARKED = lazy_pattern(
    r"(?m)^([ \t]*(?:\#+|//+|/?\*+|--+|;+|%+|<!--)[ \t]*)(?:TODO|FIXME|HACK|NOTE|XXX|WORKAROUND)\b(?:\([^)\n]*\))?[:,]?[ \t]*(\S.*)$"
)
_COMMENT_LINE = lazy_pattern(r"[ \t]*(?:\#+|//+|\*+|--+|;+|%+)[ \t]?(.*)$")
_COMMENT_END = lazy_pattern(r"\s*(?:\*/|-->)\s*$")
# Subjects of commits that programs make, or that say nothing of a reason.
_BY_MACHINE = lazy_pattern(r"^(?:merge|bump|revert|release|version|update dependenc|chore\(deps)", re.IGNORECASE)
_TRAILER = lazy_pattern(r"(?m)^[A-Z][\w-]+: .*$|^\(cherry picked from .*$")
_MIN_WORDS, _MAX_LINES = 6, 8
_MIN_SCORE = 5.5


def propose_from_commits(commits: Iterable[StoredCommit]) -> Iterator[MemoryProposal]:
    """Proposals from the bodies of commits that decide, forbid or explain: the subject with the sentence that says most."""
    for commit in commits:
        if _BY_MACHINE.match(commit.subject):
            continue
        body = _TRAILER.sub("", _join_lines(commit.body))
        rated = [(rate_sentence(each), each) for each in split_sentences(body, by_user=True) if _is_reason(each.text)]
        best = max(rated, key=lambda each: each[0], default=None)
        if best is not None and best[0] >= _MIN_SCORE and len(best[1].text.split()) >= _MIN_WORDS:
            text = f"{commit.subject.rstrip('.')}: {best[1].text}"
            yield MemoryProposal(text, f"commit {commit.hash[:10]}", "its commit says why", MemoryType.EPISODIC)


def propose_from_comments(path: str, text: str) -> Iterator[MemoryProposal]:
    """The comments of a file that are marked (TODO, HACK, NOTE, ...) and give a reason."""
    for found in _MARKED.finditer(text):
        lines = [found[2]]
        for line in text[found.end() + 1 :].split("\n")[: _MAX_LINES - 1]:
            below = _COMMENT_LINE.match(line)
            if below is None or not below[1].strip() or _MARKED.match(line):
                break
            lines.append(below[1])
        comment = _COMMENT_END.sub("", " ".join(line.strip() for line in lines))
        if _is_reason(comment) and len(comment.split()) >= _MIN_WORDS:
            line_number = text.count("\n", 0, found.start()) + 1
            yield MemoryProposal(
                comment, f"{path}:{line_number}", "a comment says why", anchor=Anchor(path, start_line=line_number)
            )


def _is_reason(text: str) -> bool:
    """Whether a text gives a reason that its author was sure of."""
    return bool(_REASON.search(text)) and not _UNCERTAIN.search(text)


def _join_lines(body: str) -> str:
    """A body whose paragraphs are one line each."""
    return "\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*] )", body))

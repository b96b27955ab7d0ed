"""Gathers the keys of handlers' answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding, Tally, list_names

TOPIC = "responses"
_ENVELOPE = (
    "success", "ok", "status", "code", "data", "result", "results", "items", "payload", "meta", "error", "errors", "message", "msg",
)  # fmt: skip
"""The keys of an envelope, in the order in which they are told; other keys are of the thing itself."""
_MAX_WORDS = 4


@dataclass(slots=True)
class Responses:
    """Gathers the answers of all files whose keys are written out."""

    keys: Tally = field(default_factory=Tally)
    answers: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Each with the path of its file."""
    in_envelope: int = 0

    def read(self, path: str, facts: FileFacts) -> None:
        for answer in facts.answers:
            if answer.keys:
                self.answers.append((path, answer.keys))
                self.in_envelope += any(key in _ENVELOPE for key in answer.keys)
                for key in dict.fromkeys(answer.keys):
                    self.keys.add(key, SourceLine(path, answer.line))

    def findings(self) -> Iterator[SurveyFinding]:
        """The keys that nearly all answers have together, in one claim."""
        kept, having = list[str](), self.answers
        for key in self.keys.most_common():
            with_key = [each for each in having if key in each[1]]
            if len(with_key) >= max(MIN_COUNT, MIN_SHARE * len(self.answers)):
                kept.append(key)
                having = with_key
        if kept:
            word = "key" if len(kept) == 1 else "keys"
            found = self.keys.finding(TOPIC, f"Answers have the {word} {list_names(kept)}", kept[-1], len(self.answers))
            others = dict.fromkeys(path for path, keys in self.answers if not set(kept).issubset(keys))
            yield replace(found, count=len(having), exceptions=tuple(others))

    def format(self) -> str:
        """The envelope of nearly all answers as a word, "success_data_error"; "" where they share none."""
        if len(self.answers) < 2 or self.in_envelope < MIN_SHARE * len(self.answers):
            return ""
        least = min(MIN_COUNT, max(1, len(self.answers) // 4))
        words = [key for key in _ENVELOPE if self.keys.count(key) >= least]
        return "_".join(words[:_MAX_WORDS])

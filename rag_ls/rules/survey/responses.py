"""Gathers how handlers answer: the calls, and the keys of what they send."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_ls.languages import family_of
from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.findings import MIN_COUNT, MIN_SHARE, SourceLine, SurveyFinding, Tally, shares

TOPIC = "responses"
_MIN_OTHER_SHARE = 0.15
_ENVELOPE = (
    "success", "ok", "status", "code", "data", "result", "results", "items", "payload", "meta", "error", "errors", "message", "msg",
)  # fmt: skip
"""The keys of an envelope, in the order in which they are told; other keys are of the thing itself."""
_MAX_WORDS = 4


@dataclass(slots=True)
class Responses:
    """Gathers the answers of all files."""

    calls: dict[str, Tally] = field(default_factory=dict)
    """The calls that answer, by language."""
    shapes: Tally = field(default_factory=Tally)
    """The sets of keys of the answers whose keys are written out."""
    single: Tally = field(default_factory=Tally)
    with_keys: int = 0
    in_envelope: int = 0
    models: Tally = field(default_factory=Tally)

    def read(self, path: str, language: str, facts: FileFacts) -> None:
        for answer in facts.answers:
            place = SourceLine(path, answer.line)
            self.calls.setdefault(family_of(language), Tally()).add(answer.label, place)
            if answer.keys:
                self.with_keys += 1
                self.in_envelope += any(key in _ENVELOPE for key in answer.keys)
                self.shapes.add("{" + ", ".join(answer.keys) + "}", place)
                for key in dict.fromkeys(answer.keys):
                    self.single.add(key, place)

    def findings(self) -> Iterator[SurveyFinding]:
        for _, calls in sorted(self.calls.items(), key=lambda item: -item[1].total):
            for label in shares(calls, _MIN_OTHER_SHARE):
                yield calls.finding(TOPIC, f"Handlers answer with `{label}`", label)
        for shape in shares(self.shapes, _MIN_OTHER_SHARE):
            yield self.shapes.finding(TOPIC, f"The answer has the keys `{shape}`", shape, self.with_keys)
        for key in self.single.most_common():
            if self.single.count(key) >= MIN_SHARE * self.with_keys:
                yield self.single.finding(TOPIC, f"Answers have the key `{key}`", key, self.with_keys)

    def format(self) -> str:
        """The envelope of nearly all answers as a word, "success_data_error"; "" where they share none."""
        if self.with_keys < 2 or self.in_envelope < MIN_SHARE * self.with_keys:
            return ""
        least = min(MIN_COUNT, max(1, self.with_keys // 4))
        words = [key for key in _ENVELOPE if self.single.count(key) >= least]
        return "_".join(words[:_MAX_WORDS])

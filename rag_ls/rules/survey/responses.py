"""Gathers the keys of handlers' answers."""

from __future__ import annotations

from collections.abc import Iterator

from rag_ls.rules.survey.file_facts import FileFacts
from rag_ls.rules.survey.findings import (
    MIN_COUNT,
    MIN_SHARE,
    SourceLine,
    SurveyFinding,
    Tally,
    list_names,
    pick_examples,
)
from rag_ls.util.records import dataclass, field

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
    answers: list[tuple[SourceLine, tuple[str, ...]]] = field(default_factory=list)
    in_envelope: int = 0

    def read(self, path: str, facts: FileFacts) -> None:
        for answer in facts.answers:
            if answer.keys:
                self.answers.append((SourceLine(path, answer.line), answer.keys))
                self.in_envelope += any(key in _ENVELOPE for key in answer.keys)
                for key in dict.fromkeys(answer.keys):
                    self.keys.add(key)

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
            others = (place.path for place, keys in self.answers if not set(kept).issubset(keys))
            yield SurveyFinding(
                topic=TOPIC,
                claim=f"Answers have the {word} {list_names(kept)}",
                count=len(having),
                total=len(self.answers),
                examples=pick_examples(place for place, _ in having),
                exceptions=tuple(dict.fromkeys(others)),
            )

    def format(self) -> str:
        """The envelope of nearly all answers as a word, "success_data_error"; "" where they share none."""
        if len(self.answers) < 2 or self.in_envelope < MIN_SHARE * len(self.answers):
            return ""
        least = min(MIN_COUNT, max(1, len(self.answers) // 4))
        words = [key for key in _ENVELOPE if self.keys.count(key) >= least]
        return "_".join(words[:_MAX_WORDS])

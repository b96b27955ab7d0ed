"""The forms in which frameworks write one thing, as rows of tables: answers, middleware, events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_ls.rules.survey.sources import SurveyedFile


@dataclass(frozen=True, slots=True)
class Form:
    """A form of code, with what is to know of a file before it is searched. Create it with `form`."""

    languages: frozenset[str]
    label: str
    """The name of what is found by it."""
    mark: str
    """The text that each match holds: a file without it is not searched."""
    pattern: re.Pattern[str]
    needs: tuple[str, ...]
    """A file holds one of these, if there are any; without them the code means something else."""

    def find(self, source: SurveyedFile) -> Iterator[re.Match[str]]:
        """The places of a file that have this form."""
        if source.language not in self.languages:
            return
        if not self.needs or any(word in source.code for word in self.needs):
            yield from source.find(self.pattern, self.mark)


def form(languages: Iterable[str], label: str, mark: str, pattern: str, *needs: str) -> Form:
    """A form; `^` and `$` in its pattern match at each line."""
    return Form(frozenset(languages), label, mark, re.compile(pattern, re.MULTILINE), needs)

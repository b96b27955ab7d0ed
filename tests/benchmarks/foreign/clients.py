"""An agent that asks about a repository, and an editor in which somebody types."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from tests.benchmarks.foreign.repositories import SourceFile
from tests.e2e.clients import Agent, Editor

INDEXING_S = 7200.0
_PAUSE_S = 0.5
_FOUND_S = 15.0
_MAX_MISSED = 3


@dataclass(slots=True)
class Typed:
    """Keystrokes in one document."""

    found_s: list[float] = field(default_factory=list)
    """From a keystroke to a search that finds the word that it made, in seconds."""
    missed: int = 0


async def until_indexed(ask: Callable[[], Awaitable[Any]], *, words: bool) -> None:
    """Wait until a project's status says that its files are indexed, and with vectors unless `words`."""
    deadline = time.monotonic() + INDEXING_S
    while time.monotonic() < deadline:
        status = await ask()
        # A project that was opened a moment ago has not been scanned yet.
        is_read = all(each["queued_documents"] == 0 and each["last_sync"] for each in status["projects"])
        if is_read and (words or status["complete"]):
            return
        await asyncio.sleep(_PAUSE_S)
    raise TimeoutError(f"not indexed within {INDEXING_S:.0f} s: {status}")


async def ask_all(user: Agent, questions: Sequence[str]) -> None:
    """Ask as an agent does."""
    for question in questions:
        await user.call("search_code", query=question)


async def skipped_paths(user: Agent) -> set[str]:
    """The paths of the files that the index did not admit."""
    status = await user.call("index_status", skipped=True)
    return {file["path"] for project in status["projects"] for file in project["skipped_files"] or ()}


class Typist:
    """Somebody who types one word again and again on a line of its own, in the middle of a document."""

    def __init__(self, editor: Editor, source: SourceFile) -> None:
        self._editor = editor
        self._file = source.root / source.path
        text = self._file.read_bytes().decode("utf-8", "replace")
        self._line = text.count("\n") // 2
        self._path = source.path
        self._chance = random.Random(source.path)
        editor.open(self._file, text, source.language)
        editor.type(self._file, "\n", at=(self._line, 0))
        self._typed = ""

    async def type(self, keystrokes: int) -> Typed:
        """Change the word so often; each time wait until a search finds it in the unsaved text. Gives up after a few misses."""
        typed = Typed()
        for _ in range(keystrokes):
            started = time.perf_counter()
            word = self.press()
            if await self._is_found(word):
                typed.found_s.append(time.perf_counter() - started)
            else:
                typed.missed += 1
            if typed.missed == _MAX_MISSED:
                break
        return typed

    def press(self) -> str:
        """Replace the word by another one, and wait for nothing; the new word."""
        # No two share a part: a search that finds one by words has read it.
        word = "".join(self._chance.choices(ascii_lowercase, k=12))
        self._editor.type(self._file, word, at=(self._line, 0), until=(self._line, len(self._typed)))
        self._typed = word
        return word

    def close(self) -> None:
        """Close the document without saving it."""
        self._editor.close(self._file)

    async def _is_found(self, word: str) -> bool:
        deadline = time.monotonic() + _FOUND_S
        while time.monotonic() < deadline:
            answer = await self._editor.command("searchCode", query=word, k=3)
            if any(self._is_typed(hit) for hit in answer["results"]):
                return True
        return False

    def _is_typed(self, hit: Any) -> bool:
        # The text of a long declaration is shortened, so the word need not be in it.
        return hit["path"] == self._path and hit["freshness"] == "buffer" and "lexical" in hit["matched_by"]

"""Hundreds of random steps of an editor, other programs and git; no answer may be stale and marked fresh."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.clients import Agent, Editor, agent, editor
from tests.support import git, git_repository

pytestmark = pytest.mark.slow

STEPS = 2000
PATHS = [f"pkg/module_{number}.py" for number in range(10)]


def _source(marker: int) -> str:
    """A file in which every version has words of its own, and two functions."""
    return (
        f'"""Version marker{marker}."""\n\n\ndef handle_marker{marker}(request, response, session):\n'
        f'    """Answer the request of marker{marker} in the session."""\n'
        f"    response.write(request.read(), session, {marker})\n    return response.flush(marker{marker})\n\n\n"
        "def shared_helper(request):\n    return request.headers.get('x-shared', '')\n"
    )


class Walk:
    """Takes random steps and knows what is true: the files, and the editor's texts."""

    def __init__(self, root: Path, ed: Editor, ag: Agent, seed: int) -> None:
        self.root, self.editor, self.agent = root, ed, ag
        self.random = random.Random(seed)
        self.buffers: dict[str, str] = {}
        self.markers = 100
        self.checked = 0
        self.fresh = 0

    async def step(self) -> None:
        steps = (
            (self.search_from_the_editor, 5),
            (self.search_from_the_agent, 5),
            (self.open, 3),
            (self.type, 5),
            (self.save, 3),
            (self.close, 2),
            (self.write_without_the_editor, 3),
            (self.delete, 1),
            (self.rename, 1),
            (self.checkout, 1),
        )
        chosen = self.random.choices([step for step, _ in steps], [weight for _, weight in steps])[0]
        await chosen()

    async def open(self) -> None:
        path = self.random.choice(PATHS)
        if path not in self.buffers and self.file(path).exists():
            self.buffers[path] = self.file(path).read_text()
            self.editor.open(self.file(path))

    async def type(self) -> None:
        if path := self.an_open_path():
            self.buffers[path] = self.new_text()
            self.editor.replace_all(self.file(path), self.buffers[path])

    async def save(self) -> None:
        if path := self.an_open_path():
            self.file(path).parent.mkdir(exist_ok=True)
            self.editor.save(self.file(path), self.buffers[path])

    async def close(self) -> None:
        if path := self.an_open_path():
            del self.buffers[path]
            self.editor.close(self.file(path))

    async def write_without_the_editor(self) -> None:
        path = self.random.choice(PATHS)
        self.file(path).write_text(self.new_text())
        if self.random.random() < 0.3:
            self.editor.watched(self.file(path))

    async def delete(self) -> None:
        self.file(self.random.choice(PATHS)).unlink(missing_ok=True)

    async def rename(self) -> None:
        source, target = self.random.sample(PATHS, 2)
        if self.file(source).exists():
            self.file(source).rename(self.file(target))
            if self.random.random() < 0.3:
                self.editor.watched(self.file(source), self.file(target))

    async def checkout(self) -> None:
        git(self.root, "checkout", "--quiet", "--force", self.random.choice(["main", "other"]))

    async def search_from_the_editor(self) -> None:
        self.check(await self.editor.command("searchCode", query=self.question(), k=10))

    async def search_from_the_agent(self) -> None:
        # What was typed reaches the index when the editor's next answer has come.
        await self.editor.command("status")
        self.check(await self.agent.call("search_code", query=self.question(), k=10, budget_tokens=0))

    def check(self, answer: Any) -> None:
        for hit in answer["results"]:
            truth = {"disk": self.on_disk(hit["path"]), "buffer": self.buffers.get(hit["path"]), "changed": hit["text"]}
            text = truth[hit["freshness"]]
            assert text is not None, f"{hit['path']} is {hit['freshness']} but is not there"
            assert hit["text"] in text, f"stale text of {hit['path']} is marked {hit['freshness']}"
            self.checked += 1
            self.fresh += hit["freshness"] != "changed"

    def question(self) -> str:
        marker = f"marker{self.random.randint(max(0, self.markers - 15), self.markers)}"
        return self.random.choice([marker, f"handle_{marker}", "answer the request in the session", "shared_helper"])

    def new_text(self) -> str:
        self.markers += 1
        return _source(self.markers)

    def an_open_path(self) -> str | None:
        return self.random.choice(sorted(self.buffers)) if self.buffers else None

    def on_disk(self, path: str) -> str | None:
        return self.file(path).read_text() if self.file(path).exists() else None

    def file(self, path: str) -> Path:
        return self.root / path


async def test_no_answer_of_a_random_walk_is_stale_and_marked_fresh(
    tmp_path: Path, times: Callable[[int], int]
) -> None:
    steps = times(STEPS)
    root = git_repository(tmp_path / "walk", {path: _source(number) for number, path in enumerate(PATHS)})
    git(root, "branch", "--move", "main")
    git(root, "checkout", "--quiet", "-b", "other")
    for number, path in enumerate(PATHS[:6]):
        (root / path).write_text(_source(50 + number))
    git(root, "commit", "--quiet", "--all", "--message", "other")
    async with editor(root) as ed, agent(root) as ag:
        walk = Walk(root, ed, ag, seed=20)
        for _ in range(steps):
            await walk.step()
        # The walk must have met answers worth checking, most of them fresh.
        assert walk.checked > steps
        assert walk.fresh > walk.checked / 2
        await ed.command("reindex")
        await ed.until_complete()
        await _everything_true_is_found(walk)


async def _everything_true_is_found(walk: Walk) -> None:
    for path in PATHS:
        text = walk.buffers.get(path) or walk.on_disk(path)
        if text is None:
            continue
        name = text.split("def ", 1)[1].split("(", 1)[0]
        answer = await walk.editor.command("searchCode", query=name, k=10)
        walk.check(answer)
        found = [hit for hit in answer["results"] if hit["path"] == path and name in hit["text"]]
        assert found, f"{name} of {path} is not found"
        assert found[0]["freshness"] in ("disk", "buffer")

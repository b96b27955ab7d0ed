"""Count how far three requests walk through rag_ls: an edit until its vector is there, an agent's search, an agent's memory.

Run it as `.venv/bin/python scripts/trace_walks.py [--show]`: it prints a row of a table for each walk, and with `--show` the
longest chain of calls in each thread. A *hop* is a call of a function in another module of rag_ls; a walk's hops are those
of the longest chain in each of its threads, added up. *Functions* and *modules* are the distinct ones that were entered.
Each walk is done once before it is counted, since the first of its kind opens and loads what the next ones use. A search and a
memory are counted three times, and the one with the fewest threads and hops is told: other work may begin meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from mcp import Client as McpClient  # noqa: E402

from rag_ls.engine.client import local_client  # noqa: E402
from rag_ls.mcp.server import create_server  # noqa: E402
from rag_ls.operations import ClientSession, Operations  # noqa: E402
from tests.lsp.in_process import in_process_editor  # noqa: E402
from tests.support import PATIENCE_S, SHOP, until, write  # noqa: E402

# Threads that an edit passes through; others check and show what was typed, or work all the time.
_EDIT_THREADS = ("lsp", "lsp aside", "documents", "embeddings")
_EDIT_S = 3.0
# It works each second, whatever is asked.
_ALWAYS_AT_WORK = "maintenance"


@dataclass
class Walk:
    """What was called on the way of one request."""

    functions: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    chains: dict[str, list[str]] = field(default_factory=dict)
    """The longest chain of functions, each in another module than the one before, by thread."""

    @property
    def hops(self) -> int:
        """Calls into another module on the longest chain of each thread, added up."""
        return sum(len(chain) for chain in self.chains.values())


class Tracer:
    """Follows the calls of all threads that start after it, while a walk is recorded."""

    def __init__(self) -> None:
        self._walk: Walk | None = None
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    @contextmanager
    def record(self) -> Iterator[Walk]:
        """Record what is called meanwhile."""
        self._walk = walk = Walk()
        try:
            yield walk
        finally:
            self._walk = None

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        walk = self._walk
        if walk is None or event != "call" or not (module := _module_of(frame)):
            return
        name = f"{module}.{frame.f_code.co_qualname}"
        walk.functions.add(name)
        walk.modules.add(module)
        # Any of the workers answers.
        thread = threading.current_thread().name.rstrip(" 0123456789")
        chain = _chain_to(frame)
        if len(chain) > len(walk.chains.get(thread, ())):
            walk.chains[thread] = chain


def _module_of(frame: FrameType) -> str:
    """The module of rag_ls that a function is in; empty for any other, and for what is no function."""
    module = str(frame.f_globals.get("__name__", ""))
    return module if module.startswith("rag_ls.") and frame.f_code.co_name[0] != "<" else ""


def _chain_to(frame: FrameType) -> list[str]:
    """The functions that lead to a frame, each the first in its module."""
    chain: list[str] = []
    modules: list[str] = []
    at: FrameType | None = frame
    while at is not None:
        if module := _module_of(at):
            name = f"{module}.{at.f_code.co_qualname}"
            if modules and modules[-1] == module:
                chain[-1] = name
            else:
                chain.append(name)
                modules.append(module)
        at = at.f_back
    return chain[::-1]


def trace_edit(tracer: Tracer, shop: Path) -> Walk:
    """Type into a document, until its vector is there. What the edit starts beside that (diagnostics, lenses) is left out."""
    client, file = local_client("lsp"), shop / "src/cart.py"
    with in_process_editor(client, shop) as editor:
        editor.open(file)
        editor.type(file, "def first_step():\n    return 1\n\n\n")
        assert until(lambda: editor.command("status")["complete"])
        time.sleep(_EDIT_S)
        with tracer.record() as walk:
            editor.type(file, "def second_step():\n    return 2\n\n\n")
            # To ask whether it is there would be part of the walk.
            time.sleep(_EDIT_S)
        assert editor.command("status")["complete"]
    walk.chains = {thread: chain for thread, chain in walk.chains.items() if thread in _EDIT_THREADS}
    return walk


async def trace_tools(tracer: Tracer, shop: Path) -> tuple[Walk, Walk]:
    """Ask an agent's search, and store an agent's memory."""
    client = local_client("mcp")
    session = ClientSession(client)
    session.work_in(shop)
    assert client.projects()[0].indexing.wait_until_idle(PATIENCE_S)

    async def operations() -> Operations:
        return session.operations

    async with McpClient(create_server(operations, ("code", "memory"))) as agent:

        async def walk_of(tool: str, arguments: Callable[[str], dict[str, str]]) -> Walk:
            await agent.call_tool(tool, arguments("tokens"))
            walks = []
            for word in ("prices", "discounts", "totals"):
                with tracer.record() as walk:
                    answer = await agent.call_tool(tool, arguments(word))
                assert not answer.is_error, answer.content
                walk.chains.pop(_ALWAYS_AT_WORK, None)
                walks.append(walk)
            return min(walks, key=lambda walk: (len(walk.chains), walk.hops))

        search = await walk_of("search_code", lambda word: {"query": f"how are {word} made"})
        memory = await walk_of(
            "store_memory", lambda word: {"content": f"All {word} are rounded half up.", "scope": "project"}
        )
    client.close()
    return search, memory


def main() -> int:
    with tempfile.TemporaryDirectory() as home:
        os.environ["RAG_LS_HOME"] = str(Path(home, "home"))
        shop = write(Path(home, "shop"), SHOP)
        tracer = Tracer()
        search, memory = asyncio.run(trace_tools(tracer, shop))
        edit = trace_edit(tracer, shop)
        sys.setprofile(None)
        threading.setprofile(None)
    print("| walk | hops | threads | functions | modules |\n| --- | --- | --- | --- | --- |")
    walks = {"an edit to its vector": edit, "an agent's search to its hits": search, "an agent's memory stored": memory}
    for name, walk in walks.items():
        print(f"| {name} | {walk.hops} | {len(walk.chains)} | {len(walk.functions)} | {len(walk.modules)} |")
    if "--show" in sys.argv[1:]:
        for name, walk in walks.items():
            print(f"\n{name}")
            for thread, chain in walk.chains.items():
                print(f"  {thread}", *(f"    {each.removeprefix('rag_ls.')}" for each in chain), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A relay whose engines die: the client is told, and keeps its session."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from rag_ls.daemon.channel import Channel
from rag_ls.daemon.records import McpRecord
from rag_ls.daemon.relay import Relay
from rag_ls.mcp.handshake import initialize_result


class DyingEngines:
    """Engines that answer each request with its query, and die of the query "deadly", or of anything while `dies`."""

    def __init__(self) -> None:
        self.started = 0
        self.dies = False

    def connect(self) -> Channel:
        """One more engine."""
        self.started += 1
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._serve, args=(theirs,), daemon=True).start()
        return Channel(ours)

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as stream:
            for line in stream:
                request = json.loads(line)
                query = request.get("params", {}).get("query", "")
                if query == "deadly" or self.dies:
                    return
                stream.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": query}).encode() + b"\n")
                stream.flush()


class Asker:
    """The client's end of a relay."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers
        self._number = 0

    def ask(self, query: str) -> Any:
        """Ask, and wait for the answer."""
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": "ask", "params": {"query": query}}
        self._requests.write(json.dumps(request).encode() + b"\n")
        self._requests.flush()
        answer = json.loads(self._answers.readline())
        assert answer["id"] == self._number
        return answer.get("result") or answer["error"]["message"]


@contextmanager
def _relayed(engines: DyingEngines) -> Iterator[Asker]:
    (source, requests), (answers, output) = os.pipe(), os.pipe()
    relay = Relay(
        McpRecord(initialize_result), os.fdopen(source, "rb"), os.fdopen(output, "wb", 0), engines.connect,
        log="/engine.log", pause_s=0.01,
    )  # fmt: skip
    thread = threading.Thread(target=relay.run, daemon=True)
    thread.start()
    with os.fdopen(requests, "wb") as to, os.fdopen(answers, "rb") as back:
        yield Asker(to, back)
        to.close()
        thread.join(20)
        assert not thread.is_alive()


def test_what_engines_die_of_is_refused_with_the_log_s_name_and_all_else_is_answered() -> None:
    engines = DyingEngines()
    with _relayed(engines) as client:
        assert client.ask("fine") == "fine"
        said = client.ask("deadly")
        assert "ended 3 times" in said
        assert "/engine.log" in said
        before = engines.started
        assert client.ask("deadly") == said
        assert client.ask("fine again") == "fine again"
        assert engines.started - before <= 1


def test_a_client_whose_engines_keep_dying_is_answered_each_time_and_served_again_when_one_lives() -> None:
    engines = DyingEngines()
    engines.dies = True
    with _relayed(engines) as client:
        for number in range(6):
            assert "/engine.log" in client.ask(f"question {number}")
        engines.dies = False
        assert client.ask("after all") == "after all"

"""Reads what the handlers of a file answer and have, and the events that it sends and handles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_ls.rules.survey import literals, nodes
from rag_ls.rules.survey.file_facts import AnswerPlace, Direction, HandlerPlace, SocketEvent
from rag_ls.rules.survey.file_parts import FileParts
from rag_ls.rules.survey.frameworks import name_required
from rag_ls.rules.survey.routes import join_routes
from rag_ls.rules.survey.terms import FoundForm

# Events of a connection's own life are no events of the application.
_LIFECYCLE = frozenset(
    "connection connect disconnect disconnecting connect_error connect_timeout error close open ping pong reconnect "
    "reconnect_attempt reconnect_error reconnect_failed reconnecting listening headers upgrade drain finish end data exit request".split()
)


class AnswerReading:
    """The reading of answers, handlers and events."""

    def __init__(self, file: FileParts) -> None:
        self._file, self._terms, self._routers, self._facts = file, file.terms, file.routers, file.facts

    def read_answer(self, found: FoundForm) -> None:
        if not self._file.is_on(found):
            return
        place = nodes.start_of(found.call.node)
        if found.form.says("inside") == "routes" and not self._file.routes.are_around(place):
            return
        keys: tuple[str, ...] = ()
        for term in found.form.values.get("sent", ()):
            for value in self._terms.value(term, found):
                if not keys and not isinstance(value, str):
                    keys = literals.keys_of(value)
        if not keys and found.form.says("named") == "True":
            pairs = (literals.pair_of(node) for node in found.call.arguments)
            keys = tuple(pair[0] for pair in pairs if pair)
        self._facts.answers.append(AnswerPlace(found.form.says("label"), found.call.line, keys))

    def read_handler(self, found: FoundForm) -> None:
        """The things that a handler has, by the very rule that is checked where all have one."""
        node, form = found.call.node, found.form
        if form.says("names") == "keys":
            names: Sequence[str] = literals.keys_of(node)
        elif form.says("names").startswith("args"):
            call = nodes.read_call(node)
            names = self._terms.names(replace(found, call=call), "names") if call else ()
        else:
            names = re.findall(form.says("names"), node.text())
        without = re.compile(form.says("without") or "(?!)")
        kept = tuple(
            name for name in dict.fromkeys(names)
            if not without.search(name) and node.matches(**name_required(form, name))
        )  # fmt: skip
        place = HandlerPlace(form.sort, kept, nodes.start_of(node)[0] + 1)
        if place not in self._facts.handlers:
            self._facts.handlers.append(place)

    def read_event(self, found: FoundForm) -> None:
        if not self._file.is_on(found):
            return
        direction: Direction = "handled" if found.form.says("direction") == "handled" else "emitted"
        line = found.call.node.range().start.line + 1 if found.form.annotation or found.form.rule else found.call.line
        prefix = self._routers.prefix_of(nodes.base_name(found.call.receiver), nodes.start_of(found.call.node))
        for name in self._terms.strings(found, "name"):
            # A websocket is at a path, below that of its router.
            name = join_routes(prefix, name) if name.startswith("/") and prefix != "/" else name
            if name and name not in _LIFECYCLE:
                self._facts.events.append(SocketEvent(name, line, direction))

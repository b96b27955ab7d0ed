"""Finds the endpoints and WebSocket events that a file declares."""

from __future__ import annotations

from rag_ls.rules.survey.facts import read_facts
from rag_ls.rules.survey.file_facts import SocketEvent
from rag_ls.rules.survey.routes import Endpoint


def endpoints_in(path: str, language: str, text: str) -> list[Endpoint]:
    """The endpoints that a file declares, by line."""
    return read_facts(path, language, text).endpoints


def events_in(language: str, text: str) -> list[SocketEvent]:
    """The WebSocket events of a file, by line."""
    return read_facts("", language, text).events

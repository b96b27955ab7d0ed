"""Records about services: which the user confirmed, what they called their models, what was sent today."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_ls.config.json_file import JsonFile
from rag_ls.errors import StoreUnavailable

_log = logging.getLogger(__name__)

FILE_NAME = "services.json"

_Sections = dict[str, dict[str, Any]]


class ServiceRecords:
    """A small file of the user. Nothing is confirmed while it cannot be read."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = JsonFile[_Sections](
            folder / FILE_NAME,
            parse=_parse,
            dump=lambda sections: sections,
            empty={},
            holds="services",
            remedy="then agree again with `rag-ls doctor --confirm-endpoint`",
        )
        self._now = now

    def is_confirmed(self, endpoint: str) -> bool:
        """Whether the user agreed that texts are sent to an address."""
        return endpoint in self._read().get("confirmed", {})

    def confirm(self, endpoint: str) -> None:
        """Keep that the user agreed. Raises `StoreUnavailable`."""
        self._change("confirmed", endpoint, self._now().isoformat(timespec="seconds"))

    def description(self, model: str) -> dict[str, Any]:
        """The description of a model that a service gave last; empty if it never gave one."""
        found = self._read().get("models", {}).get(model, {})
        return found if isinstance(found, dict) else {}

    def describe(self, model: str, description: dict[str, Any]) -> None:
        """Keep what a service says of a model. Raises `StoreUnavailable`."""
        self._change("models", model, description)

    def tokens_today(self, endpoint: str) -> int:
        """The number of tokens sent to an address since midnight, UTC. Raises `StoreUnavailable`."""
        return self._count_today(self._file.read(), endpoint)

    def add_tokens(self, endpoint: str, tokens: int) -> None:
        """Count tokens that were sent. Raises `StoreUnavailable`."""

        def count(held: _Sections) -> _Sections:
            counted = {"day": self._today(), "tokens": self._count_today(held, endpoint) + tokens}
            return _with_value(held, "sent", endpoint, counted)

        self._file.change(count)

    def _count_today(self, held: _Sections, endpoint: str) -> int:
        found = held.get("sent", {}).get(endpoint, {})
        return int(found["tokens"]) if found.get("day") == self._today() else 0

    def _today(self) -> str:
        return self._now().strftime("%Y-%m-%d")

    def _change(self, section: str, key: str, value: Any) -> None:
        self._file.change(lambda held: _with_value(held, section, key, value))

    def _read(self) -> _Sections:
        try:
            return self._file.read()
        except StoreUnavailable as error:
            _log.warning("no service is confirmed: %s", error)
            return {}


def _parse(content: dict[str, Any]) -> _Sections:
    if odd := [section for section, values in content.items() if not isinstance(values, dict)]:
        raise ValueError(f"{odd[0]!r} holds no object")
    for endpoint, sent in content.get("sent", {}).items():
        if not (isinstance(sent, dict) and type(sent.get("tokens")) is int):
            raise ValueError(f"what was sent to {endpoint} is no count of tokens")
    return content


def _with_value(held: _Sections, section: str, key: str, value: Any) -> _Sections:
    return {**held, section: {**held.get(section, {}), key: value}}

"""Records about services: which the user confirmed, what they called their models, what was sent today."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_ls.errors import StoreUnavailable
from rag_ls.project import make_private_folder
from rag_ls.util.foreign_text import read_json
from rag_ls.util.whole_files import whole_file

FILE_NAME = "services.json"


class ServiceRecords:
    """A small file of the user. A file that cannot be read counts as empty: nothing is confirmed then."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._folder = folder
        self._now = now
        self._lock = threading.Lock()

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
        """The number of tokens sent to an address since midnight, UTC."""
        found = self._read().get("sent", {}).get(endpoint, {})
        return int(found.get("tokens", 0)) if found.get("day") == self._today() else 0

    def add_tokens(self, endpoint: str, tokens: int) -> None:
        """Count tokens that were sent. Raises `StoreUnavailable`."""
        with self._lock:
            self._write("sent", endpoint, {"day": self._today(), "tokens": self.tokens_today(endpoint) + tokens})

    def _today(self) -> str:
        return self._now().strftime("%Y-%m-%d")

    def _change(self, section: str, key: str, value: Any) -> None:
        with self._lock:
            self._write(section, key, value)

    def _write(self, section: str, key: str, value: Any) -> None:
        found = self._read()
        section_values = found.get(section)
        found[section] = {**(section_values if isinstance(section_values, dict) else {}), key: value}
        try:
            make_private_folder(self._folder)
            with whole_file(self._folder / FILE_NAME) as file:
                json.dump(found, file, indent=1)
        except OSError as error:
            path = self._folder / FILE_NAME
            raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}", "services") from error

    def _read(self) -> dict[str, Any]:
        try:
            found = read_json((self._folder / FILE_NAME).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

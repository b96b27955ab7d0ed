"""The connection of each editor and agent to rag-ls, as `connections.toml` has them."""

from __future__ import annotations

import importlib.resources
import json
import shlex
import tomllib
from pathlib import Path
from string import Template
from typing import NamedTuple

_CHECKOUT = "/path/of/rag-ls"
_GET_CHECKOUT = f"""\
# The files for this editor are in the repository (then write its folder for {_CHECKOUT} below):

git clone --depth 1 https://github.com/rag-ls/rag-ls"""


class Connection(NamedTuple):
    """The connection of one editor or agent."""

    client: str
    summary: str
    lines: str

    def text(self, rag_ls: str, folder: Path | None) -> str:
        """The steps and lines for a command at `rag_ls`, and the folder of rag-ls where it is known.

        Lines that begin with `# ` explain; all others are to be copied.
        """
        at = str(folder or _CHECKOUT)
        text = Template(self.lines).substitute(
            path=json.dumps(rag_ls), shell=shlex.quote(rag_ls), folder=at, lua=_lua(rag_ls), lua_folder=_lua(at)
        )
        return text if folder or _CHECKOUT not in text else f"{_GET_CHECKOUT}\n\n{text}"


def _lua(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def read_connections() -> list[Connection]:
    """All of them, in the order of the README."""
    told = importlib.resources.files("rag_ls.cli").joinpath("connections.toml").read_text("utf-8")
    return [Connection(client, item["summary"], item["lines"]) for client, item in tomllib.loads(told).items()]

"""The installation of rag-ls on this machine, so that the commands that its user is told fit it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_NAME = "rag-ls"


def checkout() -> Path | None:
    """The checkout that rag-ls runs from, or was installed from; None where it is gone, or was none."""
    folder = Path(__file__).parents[2]
    found = folder if _is_checkout(folder) else _installed_from()
    return found if found is not None and _is_checkout(found) else None


def extra_command(extra: str) -> str:
    """The command that installs rag-ls with an extra, from where it came and by the program that installed it."""
    folder = checkout()
    wanted = shlex.quote(f"{_NAME if folder is None else folder}[{extra}]")
    return f"{'uv tool' if (Path(sys.prefix) / 'uv-receipt.toml').is_file() else 'pip'} install {wanted}"


def _is_checkout(folder: Path) -> bool:
    return (folder / "editors").is_dir() and (folder / "pyproject.toml").is_file()


def _installed_from() -> Path | None:
    """The folder that pip or uv noted as the source."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        noted = json.loads(distribution(_NAME).read_text("direct_url.json") or "{}")
        url = urlsplit(noted["url"])
    except (PackageNotFoundError, OSError, ValueError, KeyError, TypeError):
        return None
    return Path(url2pathname(url.path)) if url.scheme == "file" else None

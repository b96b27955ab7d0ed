"""The installation of rag-ls on this machine, so that the commands that its user is told fit it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

ON_PYPI = False
"""Whether the names `rag-ls` and `rag-ls-model` on PyPI are ours. Until they are, anybody may register them: nothing is installed
by them, and no page says so. `scripts/generate_docs.py` writes what editors and registries read of it."""

_NAME = "rag-ls"
_MODEL = "rag-ls-model"
# Where the user must name the folder.
_SOME_CHECKOUT = Path("/path/to/rag-ls")


def checkout() -> Path | None:
    """The checkout that rag-ls runs from, or was installed from; None where it is gone, or was none."""
    folder = Path(__file__).parents[2]
    found = folder if _is_checkout(folder) else _installed_from()
    return found if found is not None and _is_checkout(found) else None


def extra_command(extra: str) -> str:
    """The command that installs rag-ls with an extra, from where it came and by the program that installed it."""
    rag_ls, model = _sources()
    if _is_by_uv():
        return f"uv tool install {shlex.quote(f'{rag_ls}[{extra}]')}"
    # pip would look the model up by its name.
    return f"pip install {shlex.quote(f'{rag_ls}[{extra}]')} {shlex.quote(model)}"


def model_command() -> str:
    """The command that installs the default model again, from where rag-ls came."""
    rag_ls, model = _sources()
    if _is_by_uv():
        return f"uv tool install --reinstall {shlex.quote(rag_ls)}"
    return f"pip install --force-reinstall --no-deps {shlex.quote(model)}"


def _sources() -> tuple[str, str]:
    """The sources of rag-ls and of its model: a checkout, or their names on PyPI."""
    folder = checkout()
    if folder is None and ON_PYPI:
        return _NAME, _MODEL
    folder = folder or _SOME_CHECKOUT
    return str(folder), str(folder / "packages" / _MODEL)


def _is_by_uv() -> bool:
    return (Path(sys.prefix) / "uv-receipt.toml").is_file()


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

"""The repositories that are measured: real ones, fetched at a fixed version, never vendored."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

# About 2,800 Python files, and as many of other kinds; nobody of us wrote it.
DJANGO = "django==5.2.8"
_CACHE = Path(tempfile.gettempdir()) / "rag-ls-benchmarks"


def django() -> Path:
    """Django's source distribution, unpacked once; a fresh copy without an index."""
    folder = _CACHE / "django"
    if not folder.exists():
        _CACHE.mkdir(exist_ok=True)
        command = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", DJANGO]
        subprocess.run(
            [sys.executable, "-m", "pip", *command, "--dest", str(_CACHE)], check=True, stderr=subprocess.DEVNULL
        )
        archive = next(_CACHE.glob("*jango-*.tar.gz"))
        with tempfile.TemporaryDirectory(dir=_CACHE) as unpacked, tarfile.open(archive) as packed:
            packed.extractall(unpacked, filter="data")
            next(Path(unpacked).iterdir()).rename(folder)
    return folder


def copy_of(source: Path, target: Path) -> Path:
    """A copy that may be changed, without `source`'s index."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".rag-ls", ".git"), symlinks=True)
    return target


def many_files(target: Path, count: int) -> Path:
    """`count` small Python files."""
    for number in range(count):
        file = target / f"package_{number % 100}" / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def function_{number}(value):\n    return value + {number}\n")
    return target


def long_file(lines: int) -> str:
    """A Python file of about so many lines, in functions of ten."""
    body = "\n".join(f"    step_{number} = value * {number} + offset" for number in range(7))
    return "".join(
        f'def function_{number}(value, offset):\n    """Work on value number {number}."""\n{body}\n\n\n'
        for number in range(lines // 11)
    )

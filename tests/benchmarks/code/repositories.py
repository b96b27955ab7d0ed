"""The repositories that questions are about: real ones, fetched from package registries at fixed versions, never vendored."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_CACHE = Path(tempfile.gettempdir()) / "rag-ls-benchmarks" / "code"
_DEBIAN = "deb-src http://deb.debian.org/debian bookworm main\n"


@dataclass(frozen=True, slots=True)
class Repository:
    """A package whose sources are a repository."""

    name: str
    language: str
    registry: str
    """`pypi`, `npm` or `debian`."""
    version: str
    keep: tuple[str, ...] = ()
    """The folders that are sources; all of it where none is named."""


REPOSITORIES = (
    Repository("werkzeug", "python", "pypi", "3.1.3"),
    Repository("celery", "python", "pypi", "5.5.3"),
    Repository("fastify", "javascript", "npm", "5.4.0"),
    Repository("rxjs", "typescript", "npm", "7.8.2", ("src",)),
    Repository("zod", "typescript", "npm", "4.0.5", ("src",)),
    Repository("restic", "go", "debian", "0.14.0-1"),
    Repository("jsoup", "java", "debian", "1.15.3-1"),
    Repository("redis", "c", "debian", "5:7.0.15-1~deb12u7", ("src",)),
    Repository("leveldb", "cpp", "debian", "1.23-4"),
    Repository("ruby-sidekiq", "ruby", "debian", "6.4.1+dfsg-1"),
    Repository("php-monolog", "php", "debian", "2.9.1-1"),
    Repository("rust-ripgrep", "rust", "debian", "13.0.0-4"),
)


def fetch(repository: Repository) -> Path:
    """The folder of a repository's sources, fetched once; its index is kept in it.

    Raises `CalledProcessError` where the registry's client cannot be used.
    """
    folder = _CACHE / repository.name
    if folder.exists():
        return folder
    _CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_CACHE) as temporary:
        work = Path(temporary)
        archive = {"pypi": _from_pypi, "npm": _from_npm, "debian": _from_debian}[repository.registry](repository, work)
        with tarfile.open(archive) as packed:
            packed.extractall(work / "unpacked", filter="data")
        root = next(path for path in (work / "unpacked").iterdir() if path.is_dir())
        target = work / "kept"
        if repository.keep:
            for kept in repository.keep:
                shutil.copytree(root / kept, target / kept, symlinks=True)
        else:
            root.rename(target)
        target.rename(folder)
    return folder


def _from_pypi(repository: Repository, work: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    _run([*command, f"{repository.name}=={repository.version}", "--dest", "."], work)
    return next(work.glob("*.tar.gz"))


def _from_npm(repository: Repository, work: Path) -> Path:
    _run(["npm", "pack", "--silent", f"{repository.name}@{repository.version}"], work)
    return next(work.glob("*.tgz"))


def _from_debian(repository: Repository, work: Path) -> Path:
    """The authors' archive of a source package, by apt with lists of its own."""
    lists = _CACHE / ".apt"
    sources = lists / "sources.list"
    options = [
        "-qq", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-",
        "-o", f"Dir::State::lists={lists / 'lists'}", "-o", f"Dir::Cache={lists / 'cache'}",
    ]  # fmt: skip
    if not sources.exists():
        for made in ("lists/partial", "cache/archives/partial"):
            (lists / made).mkdir(parents=True, exist_ok=True)
        sources.write_text(_DEBIAN)
        _run(["apt-get", *options, "update"], work)
    _run(["apt-get", *options, "source", "--download-only", f"{repository.name}={repository.version}"], work)
    return next(work.glob("*.orig.tar.*z"))


def _run(command: Sequence[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)

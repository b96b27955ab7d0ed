"""What several tests need: little projects on disk, records, vectors, other processes, patience."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import psutil
from hypothesis import settings
from numpy.typing import NDArray

from rag_ls.config.memory_homes import FOLDER as HOMES_FOLDER
from rag_ls.config.memory_homes import MemoryHomes
from rag_ls.config.trust import TRUSTED_FOLDERS_FILE as TRUSTED_FILE
from rag_ls.config.trust import TrustedFolders
from rag_ls.daemon.paths import engine_paths
from rag_ls.engine.session import ProjectSession
from rag_ls.locations import user_data_folder
from rag_ls.model import Chunk, Freshness
from rag_ls.project import Project
from rag_ls.search.candidates import LaterVector
from rag_ls.search.roles import BY_PATH
from rag_ls.storage import (
    CheckoutIndex,
    DocumentRecord,
    FileState,
    LexicalIndex,
    NewChunk,
    ProjectIndex,
    VectorStore,
    index_summary,
)
from rag_ls.storage.sqlite.index_file import IndexFile, open_derived
from rag_ls.storage.sqlite.vectors import SqliteVectors

MODEL = "test-model@1"
# A file that was read long after it was written: its stamp proves what it says.
SETTLED = FileState(size=10, mtime_ns=10**18, ctime_ns=10**18, read_ns=10**18 + 10**12)
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
"""Whether these tests run as the user whom no permissions bind."""
PATIENCE_S = 180.0

SHOP = {
    "src/auth.py": (
        '"""Logging in."""\n\n\nclass Session:\n    """A logged-in user."""\n\n'
        "    def refresh(self, token: str) -> str:\n"
        '        """Exchange an expired access token for a new one."""\n'
        "        return exchange_token(token)\n"
    ),
    "src/cart.py": (
        "def total_price(items: list[float], discount: float) -> float:\n"
        '    """Sum of the items in the shopping cart, less the discount."""\n'
        "    return sum(items) * (1 - discount)\n"
    ),
    "src/mail.js": (
        "// Sends the invoice to the customer.\n"
        "export function sendInvoice(customer, invoice) {\n  return smtp.send(customer.address, invoice);\n}\n"
    ),
    "docs/guide.md": "# Guide\n\n## Refunds\n\nA refund is paid back within fourteen days.\n",
}


def scale_examples(count: int) -> int:
    """How many examples hypothesis tries of `count`: a quarter of them, at least ten, but with `--long`."""
    return max(min(count, 10), count * settings.default.max_examples // 100)


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below `root`, and return it."""
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def git(root: Path, *arguments: str) -> str:
    """Run git in `root` as somebody, whatever the machine's own settings are."""
    command = ["git", "-C", str(root), "-c", "user.name=Tester", "-c", "user.email=tester@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def trust(root: Path) -> None:
    """Trust a folder, as its user does with `rag-ls trust`."""
    TrustedFolders(user_data_folder() / TRUSTED_FILE).add(root)


def memories_file(root: Path) -> Path:
    """The file of a project's memories, in the user's data."""
    trusted = TrustedFolders(user_data_folder() / TRUSTED_FILE)
    home = MemoryHomes(user_data_folder() / HOMES_FOLDER, trusted).find(Project(root))
    assert home is not None, f"{root} has no memories yet"
    return home.folder / "memories.db"


def git_repository(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """A git repository whose first commit holds the files that it does not ignore."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet")
    write(root, files)
    git(root, "add", "--all")
    # Of somebody in this folder: two that begin alike within a second, the first deleted, would be one that was moved.
    somebody = ("-c", f"user.name=Tester in {root}")
    git(root, *somebody, "commit", "--quiet", "--allow-empty", "--message", "first")
    return root


def digest(text: str) -> bytes:
    """The address of a text's vector."""
    return hashlib.sha256(text.encode()).digest()


def new_chunk(
    text: str, *, path: str = "src/a.py", symbol: str = "", signature: str = "", ordinal: int = 0
) -> NewChunk:
    """A chunk of one line per newline of `text`, addressed by its own text."""
    size = len(text.encode())
    chunk = Chunk(
        path=path, language="python", ordinal=ordinal, start_byte=ordinal * 1000, end_byte=ordinal * 1000 + size,
        start_line=ordinal * 10 + 1, end_line=ordinal * 10 + 1 + text.count("\n"), text=text, symbol=symbol,
        signature=signature, is_declaration=bool(symbol),
    )  # fmt: skip
    return NewChunk(chunk, digest(text))


def new_chunks(texts: Sequence[str], *, path: str = "src/a.py") -> list[NewChunk]:
    """The chunks of one document."""
    return [new_chunk(text, path=path, ordinal=number) for number, text in enumerate(texts)]


def record(
    path: str = "src/a.py", session: str = "", *, sha256: str = "", state: FileState = SETTLED
) -> DocumentRecord:
    """A document to store."""
    return DocumentRecord(path, "python", sha256 or hashlib.sha256(path.encode()).hexdigest(), state, session)


class UnchangedCorpus:
    """Files that are as they were indexed, and editors that are all there."""

    roles = BY_PATH

    def is_live(self, session: str) -> bool:
        return True

    def freshness(self, document: DocumentRecord) -> Freshness | None:
        return Freshness.DISK

    def note_unembedded(self, documents: Collection[int]) -> None:
        pass


def unit_vectors(count: int, dimensions: int = 16, seed: int = 0) -> NDArray[np.float32]:
    """Random vectors of length one."""
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def open_checkout(file: Path | None) -> CheckoutIndex:
    """An index in a file of any name, or in RAM."""
    return index_at(file).checkout  # type: ignore[return-value]


def index_at(file: Path | None) -> ProjectIndex:
    """As `open_checkout`, with the stores beside it."""
    index_file = IndexFile(file)
    database = open_derived(index_file)
    lexical, vectors = LexicalIndex(database), SqliteVectors(database, file.parent if file else None)
    return ProjectIndex(
        CheckoutIndex(database, file, vectors, lexical), lexical, vectors, index_file, database=database
    )


def ready(vector: NDArray[np.float32] | None) -> LaterVector | None:
    """A query's embedding that needs no waiting for; None for none."""
    return None if vector is None else lambda: vector


def put_vectors(store: CheckoutIndex, model: str, text_hashes: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
    """Keep vectors, and let their chunks wait no longer, as the embedder does."""
    assert isinstance(store, CheckoutIndex)
    with store.together():
        store._vectors.put(model, text_hashes, vectors)
        if model == store.embeddings.active_model():
            store.embeddings.note_embedded(text_hashes)


def lexical_of(store: CheckoutIndex) -> LexicalIndex:
    """The full-text index of a checkout."""
    return store._lexical


def vectors_of(store: CheckoutIndex) -> VectorStore:
    """The vectors of a checkout."""
    return store._vectors


def embedding_count(view: ProjectSession) -> int:
    """How many vectors a project's index holds."""
    summary = index_summary(view.project.folder)
    assert summary is not None
    return summary.embeddings


def write_many(store: CheckoutIndex, name: str) -> None:
    """Forty documents of a writer's own, and as many versions of one that all writers share."""
    store.embeddings.activate(MODEL)
    for number in range(40):
        path = f"{name}/{number}.py"
        store.replace_document(record(path), new_chunks([f"{name} number{number}", "common"], path=path))
        store.replace_document(record("shared.py"), new_chunks([f"{name} shared{number}"], path="shared.py"))
        put_vectors(store, MODEL, [digest(f"{name} number{number}")], unit_vectors(1, seed=number))


def until(condition: Callable[[], object], timeout_s: float = PATIENCE_S) -> bool:
    """Wait until something holds; whether it did in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def engine_pid() -> int | None:
    """The process id of the running engine, as its PID file says."""
    try:
        return int(Path(engine_paths().pid).read_text())
    except (OSError, ValueError):
        return None


def end_engine() -> None:
    """Kill the engine that runs, if one does, and wait until it is gone."""
    pid = engine_pid()
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        until(lambda: has_ended(pid))


def has_ended(pid: int) -> bool:
    """Whether a process is gone; one that waits for its parent to read its status counts as gone."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def python(script: str, *arguments: object, within: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Another Python process that can import rag_ls, with its standard streams as pipes; `within` is a command that starts it."""
    return subprocess.Popen(
        [*within, sys.executable, "-c", script, *(str(argument) for argument in arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )


def finished(process: subprocess.Popen[str]) -> str:
    """What a process printed, once it is done; it must have succeeded."""
    printed, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    return printed


def at_once(works: Iterable[Callable[[], object]]) -> list[BaseException]:
    """Run each in a thread of its own, and wait for all; what they raised."""
    failed: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed

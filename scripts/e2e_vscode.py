"""Use the extension in a real VS Code as a person does, with nothing to set up by hand: see editors/vscode/e2e/README.md.

The editor (code-server), and uv for the steps that install a server, are fetched once into `.e2e/`; a Chromium must be there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from e2e_page import find_browser

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.benchmarks.code.repositories import REPOSITORIES, fetch  # noqa: E402 - found by the line above

CODE_SERVER = "code-server@4.139.1"
CACHE = ROOT / ".e2e"
EXTENSION = ROOT / "editors/vscode"
# The files that the steps name, with their neighbours: to embed all takes some processors longer than the steps wait.
EXCERPTS = {
    "werkzeug": (
        *("src/werkzeug/http.py", "src/werkzeug/utils.py", "src/werkzeug/sansio/response.py"),
        *("src/werkzeug/wrappers/response.py", "tests/test_http.py", "README.md"),
    ),
    "fastify": ("lib/contentTypeParser.js", "lib/request.js", "lib/route.js", "lib/server.js", "README.md"),
}
NPM_INSTALL = "npm install --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund --silent".split()


def main() -> int:
    shots = Path(sys.argv[1] if len(sys.argv) > 1 else CACHE / "screenshots").resolve()
    # node and npm from PyPI lie beside Python.
    binaries = Path(sys.executable).parent
    os.environ["PATH"] = os.pathsep.join([str(binaries), os.environ["PATH"]])
    os.environ |= {
        "CHROMIUM": find_browser(),
        "CODE_SERVER": str(code_server()),
        "UV": str(uv()),
        "RAG_LS": str(binaries / "rag-ls"),
        "NODE": str(binaries / "node"),
    }
    run("npm", "ci", "--no-audit", "--no-fund", "--silent", at=EXTENSION)
    run("npm", "run", "--silent", "package", at=EXTENSION)
    repository, other = (str(excerpt(name)) for name in EXCERPTS)
    # Only the first walk asks for what vectors find.
    by_words = {"RAG_LS_EMBEDDING_MODEL": "none"}
    walks: tuple[tuple[dict[str, str], str, str, list[str]], ...] = (
        ({}, "run", repository, []),
        (by_words, "rules", repository, []),
        (by_words, "windows", repository, [other]),
    )
    codes = [
        subprocess.call(
            ["node", f"e2e/{name}.mjs", folder, str(shots / name), *more], cwd=EXTENSION, env=os.environ | variables
        )
        for variables, name, folder, more in walks
    ]
    print(f"screenshots are in {shots}")
    # A run that was killed has a negative code.
    return int(any(codes))


def excerpt(name: str) -> Path:
    """The folder of a repository's sources with the files that the steps need."""
    sources, folder = next(fetch(each) for each in REPOSITORIES if each.name == name), CACHE / "repositories" / name
    shutil.rmtree(folder, ignore_errors=True)
    for path in EXCERPTS[name]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sources / path, folder / path)
    return folder


def code_server() -> Path:
    """VS Code's server edition."""
    folder = CACHE / CODE_SERVER
    if not folder.exists():
        work = CACHE / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        run("npm", "pack", "--silent", CODE_SERVER, at=work)
        shutil.unpack_archive(next(work.glob("*.tgz")), work, filter="data")
        for part in (work / "package", work / "package/lib/vscode"):
            run(*NPM_INSTALL, at=part)
        (work / "package").rename(folder)
        shutil.rmtree(work)
    return folder


def uv() -> Path:
    """The folder with uv in it."""
    folder = CACHE / "uv"
    if not folder.exists():
        work = CACHE / "uv-work"
        run(sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(work), "uv", at=CACHE)
        work.rename(folder)
    return folder / "bin"


def run(*command: str, at: Path) -> None:
    subprocess.run(command, cwd=at, check=True)


if __name__ == "__main__":
    sys.exit(main())

"""Use the engine's page in a real Chromium, as a person does: python3 scripts/e2e_page.py [REPOSITORY] [SCREENSHOTS]

An engine with a home of its own serves it; the repository is a copy of rag-ls itself unless one is given.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RAG_LS = Path(sys.executable).with_name("rag-ls")
MODULES = ROOT / "editors/vscode"
SETTINGS = '[http]\nenabled = true\naddress = "127.0.0.1:0"\n'


def find_browser() -> str:
    """The program of a Chromium; ends this one where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), "")
    return found or sys.exit(
        "error: no Chromium is here: install one (`apt-get install chromium`), or name it by CHROMIUM"
    )


def main() -> int:
    repository = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "rag_ls")
    shots = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / ".e2e/page").resolve()
    browser = find_browser()
    # node and npm from PyPI lie beside Python.
    os.environ["PATH"] = os.pathsep.join([str(RAG_LS.parent), os.environ["PATH"]])
    if not (MODULES / "node_modules/playwright-core").exists():
        subprocess.check_call(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=MODULES)
    work = Path(tempfile.mkdtemp(prefix="rag-ls-page-"))
    os.environ["RAG_LS_HOME"] = str(work / "home")
    settings = work / "home/config/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(SETTINGS)
    project = work / repository.name
    shutil.copytree(repository, project, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    subprocess.check_call(["git", "init", "--quiet", project])
    try:
        subprocess.check_call([RAG_LS, "index", project], stderr=subprocess.DEVNULL)
        opening, form = _open_page(work, project)
        link = json.loads(subprocess.check_output([RAG_LS, "open", "--json"]))["url"]
        names = {"FORM": form, "LINK": link, "CHROMIUM": browser, "MODULES": str(MODULES), "SHOTS": str(shots)}
        names["PROJECT"] = str(project)
        code = subprocess.call(["node", ROOT / "tests/e2e/page/page.mjs"], env={**os.environ, **names})
        code = code or opening.wait(10)
        if code:
            shutil.copy(work / "home/log/engine.log", shots)
        print(f"screenshots are in {shots}")
        return code
    finally:
        subprocess.call([RAG_LS, "stop"])
        shutil.rmtree(work, ignore_errors=True)


def _open_page(work: Path, project: Path) -> tuple[subprocess.Popen[bytes], str]:
    """`rag-ls open` while it waits for a browser, and the address of the file that it wants one to open."""
    asked, browser = work / "asked", work / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{asked}.part" && mv "{asked}.part" "{asked}"\n')
    browser.chmod(0o700)
    opening = subprocess.Popen([RAG_LS, "open"], cwd=project, env={**os.environ, "BROWSER": f"{browser} %s"})
    while not asked.exists() and opening.poll() is None:
        time.sleep(0.05)
    return opening, asked.read_text().strip()


if __name__ == "__main__":
    sys.exit(main())

"""Send random requests, valid and not, to all addresses of the HTTP surface: no answer may be a 5xx, and each must be as described.

    python3 scripts/fuzz_http.py [REQUESTS]

An engine of its own, with a home and a project of its own, is asked by schemathesis, which is installed once into `.e2e/fuzz`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RAG_LS = Path(sys.executable).with_name("rag-ls")
FUZZER = ROOT / ".e2e/fuzz"
REQUIREMENT = "schemathesis>=4.3,<5"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
SETTINGS = '[http]\nenabled = true\naddress = "127.0.0.1:{port}"\n'
START_S = 60.0


def main() -> int:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    work = Path(tempfile.mkdtemp(prefix="rag-ls-fuzz-"))
    os.environ["RAG_LS_HOME"] = str(work / "home")
    project = work / "project"
    shutil.copytree(ROOT / "rag_ls/http", project, ignore=shutil.ignore_patterns("__pycache__"))
    (project / ".git").mkdir()
    port = free_port()
    settings = work / "home/config/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(SETTINGS.format(port=port))
    try:
        rag_ls("index", str(project))
        token = json.loads(rag_ls("token", "add", "fuzz", "--scope", "admin", "--json"))["token"]
        url = f"http://127.0.0.1:{port}"
        until_served(url)
        return fuzz(url, token, wanted, work)
    finally:
        subprocess.call([RAG_LS, "stop"])
        shutil.rmtree(work, ignore_errors=True)


def fuzz(url: str, token: str, wanted: int, work: Path) -> int:
    """Ask until so many requests were sent, a new seed each round. The exit status."""
    sent, seed, started = 0, 1, time.monotonic()
    while sent < wanted:
        # The answer of /events never ends.
        command = [
            fuzzer(), "run", f"{url}/openapi.json", "-H", f"X-RAG-Token: {token}", "--checks", CHECKS, "--seed", str(seed),
            "--max-examples", "300", "--phases", "examples,coverage,fuzzing", "--request-timeout", "30", "--workers", "4",
            "--generation-database", "none", "--exclude-path", "/events", "--continue-on-failure",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=work, capture_output=True, text=True)
        if done.returncode:
            print(done.stdout[-20000:], done.stderr[-2000:])
            return 1
        sent, seed = requests_served(url, token), seed + 1
        print(f"{sent:,} requests in {time.monotonic() - started:.0f} s, no 5xx", flush=True)
    return 0


def requests_served(url: str, token: str) -> int:
    """How many requests the engine counted. Exits if one of them ended in a 5xx."""
    asked = urllib.request.Request(f"{url}/metrics", headers={"X-RAG-Token": token})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        figures = json.load(answer)
    requests = {name: int(count) for name, count in figures.items() if name.startswith("rag_ls_http_requests_total")}
    if failed := {name: count for name, count in requests.items() if re.search(r"status=5", name)}:
        sys.exit(f"error: {failed}")
    return sum(requests.values())


def fuzzer() -> str:
    """The schemathesis command."""
    command = FUZZER / "bin/schemathesis"
    if not command.exists():
        venv.create(FUZZER, with_pip=True)
        subprocess.check_call([FUZZER / "bin/pip", "install", "--quiet", REQUIREMENT])
    return str(command)


def rag_ls(*arguments: str) -> str:
    return subprocess.run([RAG_LS, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def until_served(url: str) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            urllib.request.urlopen(f"{url}/ready", timeout=5).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())

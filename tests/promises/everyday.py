"""A day with rag-ls in a minute: its commands, an editor, an agent and HTTP, on one engine. Run as a program.

It waits at the end, because what a dependency sends comes seconds after it was loaded.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

PATIENCE_S = 180.0
RAG_LS = str(Path(sys.executable).with_name("rag-ls"))
# The first look-up of an events host came nine seconds after a model was loaded.
_LATE_S = 12.0


def main(folder: Path, port: int) -> None:
    """Work in the project at `folder`; the settings have an engine serve HTTP at `port` of loopback."""
    run("search", "--standalone", "total price of the cart", folder=folder)
    run("serve", "--detach", folder=folder)
    try:
        work(folder, port)
        time.sleep(_LATE_S)
    finally:
        run("stop", folder=folder)


def work(folder: Path, port: int) -> None:
    """Use the engine over every surface."""
    run("index", folder=folder)
    run("add", "prices are net of tax", "--at", "src/cart.py:1", folder=folder)
    run("search", "what do prices include", folder=folder)
    run("list", folder=folder)
    run("rules", "setup", "--yes", folder=folder)
    run("rules", "check", "change the price", folder=folder)
    run("rules", "impact", "src/cart.py", folder=folder)
    run("check", folder=folder)
    run("doctor", folder=folder)
    ask_as_an_agent(folder)
    type_as_an_editor(folder)
    ask_over_http(port, run("token", "add", "program", "--json", folder=folder))


def run(*arguments: str, folder: Path) -> str:
    """What a command prints; it must not fail, but for `check` and `doctor`, which report what is wrong."""
    done = subprocess.run([RAG_LS, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or arguments[0] in ("check", "doctor"), f"{arguments}: {done.stderr}"
    return done.stdout


def ask_as_an_agent(folder: Path) -> None:
    """Search, and keep a memory, over MCP."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
    with subprocess.Popen([RAG_LS, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:
        _send_line(relay, {"id": 0, "method": "initialize", "params": hello})
        _send_line(relay, {"method": "notifications/initialized"})
        for number, (tool, arguments) in enumerate(
            [("search_code", {"query": "discount"}), ("store_memory", {"content": "invoices go out on Fridays"})], 1
        ):
            _send_line(relay, {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        assert relay.stdout is not None
        answered = 0
        while answered < 2:
            message = json.loads(relay.stdout.readline())
            answered += message.get("id") in (1, 2)
            assert "error" not in message, message
        assert relay.stdin is not None
        relay.stdin.close()


def type_as_an_editor(folder: Path) -> None:
    """Open a file with unsaved text and hover over it, over LSP."""
    uri = (folder / "src/cart.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": "def total_price(items):\n    return 0\n"}
    hover = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 6}}
    with subprocess.Popen([RAG_LS, "lsp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:
        root = {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}}
        _send_framed(relay, {"id": 1, "method": "initialize", "params": root})
        _send_framed(relay, {"method": "initialized", "params": {}})
        _send_framed(relay, {"method": "textDocument/didOpen", "params": {"textDocument": item}})
        _send_framed(relay, {"id": 2, "method": "textDocument/hover", "params": hover})
        while _read_framed(relay).get("id") != 2:
            pass
        _send_framed(relay, {"id": 3, "method": "shutdown"})
        while _read_framed(relay).get("id") != 3:
            pass
        _send_framed(relay, {"method": "exit"})


def ask_over_http(port: int, made: str) -> None:
    """Search over HTTP, once it is served, with a token as `rag-ls token add --json` printed it."""
    headers = {"x-rag-token": json.loads(made)["token"], "content-type": "application/json"}
    body = json.dumps({"query": "discount"}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/search_code", body, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with opener.open(request, timeout=PATIENCE_S) as answer:
                assert answer.status == 200
                return
        except urllib.error.URLError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def _send_line(relay: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert relay.stdin is not None
    relay.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    relay.stdin.flush()


def _send_framed(relay: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert relay.stdin is not None
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    relay.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    relay.stdin.flush()


def _read_framed(relay: subprocess.Popen[bytes]) -> Any:
    assert relay.stdout is not None
    length = 0
    while line := relay.stdout.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return json.loads(relay.stdout.read(length))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

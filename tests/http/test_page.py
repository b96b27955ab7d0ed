"""The page's files: served to who is signed in, under a policy that they keep."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from rag_ls.http.app import PAGE
from rag_ls.http.tokens import Access
from tests.http.conftest import Served


def test_the_page_is_served_to_who_came_by_the_link_under_a_strict_policy(served: Served) -> None:
    code = served.tokens.add_with_code("page", Access.ADMIN, timedelta(days=1), timedelta(minutes=1))
    browser = served.caller()
    assert browser.get("/").status_code == 401
    assert browser.get(f"/open/{code}").status_code == 200
    for file in PAGE.iterdir():
        path = "/" if file.name == "index.html" else f"/page/{file.name}"
        answer = browser.get(path)
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    answers = {
        "/page/../tokens.py": 401,
        "/page/%2e%2e%2ftokens.py": 404,
        "/page/nothing.js": 404,
        "/page/.hidden": 404,
    }
    assert {path: browser.get(path).status_code for path in answers} == answers


@pytest.mark.parametrize("file", sorted(PAGE.iterdir()), ids=lambda file: file.name)
def test_no_file_needs_another_host_or_inline_code(file: Path) -> None:
    text = file.read_text()
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=\"|\sstyle=\"|\beval\(", text)
    assert not re.search(r"(inner|outer)HTML|insertAdjacentHTML|document\.write", text)


_ASKS = """
import { ask, keepToken } from %(api)s;
const kept = new Map();
globalThis.sessionStorage = {
  getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value), removeItem: (key) => kept.delete(key),
};
const broken = (error) => new Response(new ReadableStream({ start: (body) => body.error(error) }));
const proofs = {
  "given up": () => broken(new DOMException("The operation was aborted.", "AbortError")),
  "cut off": () => broken(new TypeError("network error")),
  "no JSON": () => new Response("<p>somebody else"),
  "another proof": () => Response.json({ proof: "00" }),
  "unknown": () => new Response("{}", { status: 404 }),
};
for (const [name, answer] of Object.entries(proofs)) {
  keepToken({ id: "1", token: "secret" });
  globalThis.fetch = async (address) => address.startsWith("/prove") ? answer() : Response.json({});
  await ask("/api/search").catch(() => {});
  console.log(`${name}: ${kept.size ? "stays signed in" : "signed out"}`);
}
"""


def test_a_request_that_is_given_up_while_the_engine_proves_itself_signs_nobody_out(tmp_path: Path) -> None:
    script = tmp_path / "asks.mjs"
    script.write_text(_ASKS % {"api": json.dumps((PAGE / "api.js").as_uri())})
    node = Path(sys.executable).with_name("node")
    told = subprocess.run([node, script], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == [
        "given up: stays signed in",
        "cut off: stays signed in",
        "no JSON: signed out",
        "another proof: signed out",
        "unknown: signed out",
    ]

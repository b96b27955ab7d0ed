"""The page's files: served to who is signed in, under a policy that they keep."""

from __future__ import annotations

import re
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

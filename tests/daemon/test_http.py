"""HTTP from the shell: `serve --http`, `token`, `open`, `connect --http`, and what survives a kill."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

import httpx2 as httpx
import pytest

from rag_ls.daemon.paths import user_config_file
from tests.commands import RAG_LS
from tests.daemon.engines import answer, engine, free_port, run, until_served
from tests.support import PATIENCE_S, SHOP, until, write


def _settings(text: str) -> None:
    file = Path(user_config_file())
    write(file.parent, {file.name: text})


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.mark.slow
def test_the_first_token_is_shown_once_and_counts(home: Path, port: int) -> None:
    process = subprocess.Popen(
        [RAG_LS, "serve", "--http", f"127.0.0.1:{port}"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        secret = next(found[1] for line in lines if (found := re.search(r"shown only now: (\S+)", line)))
        status = httpx.get(f"http://127.0.0.1:{port}/status", headers={"x-rag-token": secret}, timeout=PATIENCE_S)
        assert status.status_code == 200
        assert secret not in "".join(file.read_text() for file in home.rglob("*.log"))
    finally:
        assert run("stop").returncode == 0
        process.communicate(timeout=PATIENCE_S)


def test_a_running_engine_serves_http_when_it_is_asked_to(home: Path, port: int) -> None:
    with engine():
        served = run("serve", "--http", f"127.0.0.1:{port}")
        assert served.returncode == 0, served.stderr
        assert f"http://127.0.0.1:{port}/" in served.stderr
        until_served(f"http://127.0.0.1:{port}")
        again = run("serve", "--http", f"127.0.0.1:{free_port()}")
        assert again.returncode == 1
        assert "already" in again.stderr


@pytest.mark.parametrize("how", [(), ("--detach",)])
def test_an_address_that_cannot_be_served_fails_the_command(home: Path, port: int, how: tuple[str, ...]) -> None:
    assert "there is no port 99999" in run("serve", *how, "--http", "127.0.0.1:99999").stderr
    with socket.create_server(("127.0.0.1", port)):
        taken = run("serve", *how, "--http", f"127.0.0.1:{port}")
    assert (taken.returncode, "another program listens there" in taken.stderr) == (1, True)
    assert "in the clear" in run("serve", *how, "--http", "0.0.0.0:0").stderr


def test_tokens_are_made_listed_and_revoked_at_the_shell(home: Path, tmp_path: Path) -> None:
    shop = write(tmp_path / "shop", SHOP)
    assert run("projects", "add", str(shop), "--name", "shop").returncode == 0
    made = answer("token", "add", "ci", "--scope", "read", "--project", "shop", "--expires", "30d")
    assert made["token"].startswith("ragls_")
    (listed,) = answer("token", "list")["tokens"]
    assert (listed["name"], listed["scope"], listed["projects"]) == ("ci", "read", [str(shop)])
    unknown = run("token", "add", "x", "--project", "shpo")
    assert unknown.returncode == 1
    assert "shop" in unknown.stderr
    assert "token" not in listed
    assert answer("token", "revoke", "ci")["revoked"][0]["name"] == "ci"
    assert run("token", "revoke", "ci").returncode == 1
    assert run("token", "add", "x", "--expires", "soon").returncode == 2


def test_a_token_of_a_newer_version_is_named_at_the_shell_and_can_be_revoked(home: Path) -> None:
    answer("token", "add", "ci")
    answer("token", "add", "deploy")
    (file,) = home.rglob("http-tokens.json")
    content = json.loads(file.read_text())
    content["tokens"][0]["only_paths"] = "src"
    file.write_text(json.dumps(content))
    listed = run("token", "list")
    assert listed.stdout.startswith("deploy ")
    assert (
        f"the token 'ci' in {file} counts for nobody: this version does not know its key 'only_paths'" in listed.stderr
    )
    assert "`rag-ls token revoke ci`" in listed.stderr
    assert answer("token", "revoke", "ci")["revoked"] == [{"name": "ci"}]
    assert run("token", "list").stderr == ""


def test_the_page_is_opened_signed_in_by_a_link_that_works_once(home: Path, port: int) -> None:
    _settings(f'[http]\naddress = "127.0.0.1:{port}"\n')
    with engine():
        link = answer("open")["url"]
        assert link.startswith(f"http://127.0.0.1:{port}/open/")
        with httpx.Client(timeout=PATIENCE_S) as browser:
            signed_in = browser.get(link)
            found = re.search(r'id="token">(.*?)</script>', signed_in.text)
            assert found is not None
            secret = json.loads(found[1])
            assert secret not in link
            assert browser.get(f"http://127.0.0.1:{port}/").status_code == 200, "the cookie lets the page's files load"
            assert browser.get(f"http://127.0.0.1:{port}/status").status_code == 401, "and nothing else"
            status = browser.get(f"http://127.0.0.1:{port}/status", headers={"x-rag-token": secret})
            assert status.status_code == 200
        assert httpx.get(link, timeout=PATIENCE_S).status_code == 401


@pytest.mark.slow
def test_settings_start_http_with_the_engine_which_then_stays(home: Path, port: int) -> None:
    _settings(f'[http]\nenabled = true\naddress = "127.0.0.1:{port}"\n[daemon]\nidle_minutes = 0.01\n')
    with engine() as process:
        until_served(f"http://127.0.0.1:{port}")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)


@pytest.mark.slow
def test_a_port_that_is_taken_does_not_keep_the_engine_from_starting(home: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        _settings(f'[http]\nenabled = true\naddress = "{address}"\n')
        with engine():
            assert run("status").returncode == 0
            asked = run("serve", "--http")
            assert asked.returncode == 1
            assert "another program listens there" in asked.stderr


def test_claude_code_gets_a_line_with_a_token_of_its_own(home: Path, tmp_path: Path, port: int) -> None:
    _settings(f'[http]\naddress = "127.0.0.1:{port}"\n')
    with engine():
        said = answer_of(run("connect", "claude-code", "--http", "--json"))
        assert said["claude-code"] == (
            f"claude mcp add --transport http --scope user rag-ls http://127.0.0.1:{port}/mcp "
            f"--header 'X-RAG-Token: {said['token']}'"
        )
        headers = {"x-rag-token": said["token"]}
        assert httpx.get(f"http://127.0.0.1:{port}/status", headers=headers, timeout=PATIENCE_S).status_code == 200
        project = write(tmp_path / "shop", {".mcp.json": '{"mcpServers": {"other": {"command": "x"}}}'})
        written = answer_of(run("connect", "claude-code", "--http", "--write", "--json", "--project", str(project)))
        servers = json.loads((project / ".mcp.json").read_text())["mcpServers"]
        assert servers["rag-ls"]["headers"] == {"X-RAG-Token": "${RAG_LS_TOKEN}"}
        assert "other" in servers
        assert written["token"] not in (project / ".mcp.json").read_text()
        assert run("connect", "emacs", "--http").returncode == 2


def answer_of(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The JSON that a command printed; it may have said something to a person besides."""
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_nothing_that_was_acknowledged_is_lost_by_a_kill_under_load(home: Path, port: int) -> None:
    _settings(f'[http]\nenabled = true\naddress = "127.0.0.1:{port}"\n')
    headers = {"x-rag-token": answer("token", "add", "writer")["token"]}
    url, stored = f"http://127.0.0.1:{port}", []

    def store(number: int) -> None:
        with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_S) as client:
            for count in range(200):
                note = f"Machine {number} was serviced {count} times by hand."
                try:
                    done = client.post("/memories", json={"content": note, "scope": "global"})
                except httpx.HTTPError:
                    return
                if done.status_code == 200:
                    stored.append(done.json()["id"])

    with engine() as process:
        until_served(url)
        threads = [threading.Thread(target=store, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        assert until(lambda: len(stored) > 20)
        process.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join(PATIENCE_S)
    with engine():
        until_served(url)
        with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_S) as client:
            for memory_id in stored:
                assert client.get(f"/memories/{memory_id}").status_code == 200

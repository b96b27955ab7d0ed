"""Operations as JSON over HTTP."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from rag_ls.http.sessions import CallerSession
from rag_ls.http.tokens import Access
from rag_ls.operations import OPERATIONS
from tests.http.conftest import CLINIC, Serve, Served
from tests.support import SHOP, until, write


def test_every_operation_has_an_address(served: Served) -> None:
    paths = served.caller(served.token()).get("/openapi.json").json()["paths"]
    assert {f"/api/{operation.name}" for operation in OPERATIONS} <= set(paths)
    commands = served.caller(served.token("other")).get("/commands").json()["commands"]
    assert {(item["method"], item["path"]) for item in commands} >= {("POST", "/search"), ("GET", "/metrics")}


def test_code_of_all_projects_is_found_and_one_can_be_named(two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token())
    for query, path in (("renew an expired login", "src/auth.py"), ("book an appointment", "clinic.py")):
        assert two_projects.ask(caller, "search_code", query=query)["results"][0]["path"] == path
    found = two_projects.ask(caller, "search_code", query="renew an expired login", project=["clinic"])
    assert all(hit["path"] == "clinic.py" for hit in found["results"])


def test_memories_have_addresses_of_their_own(two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token())
    note = {"content": "Refunds are paid within fourteen days.", "scope": "project"}
    unclear = caller.post("/memories", json=note)
    assert unclear.status_code == 400
    assert "clinic, shop" in unclear.json()["error"]["message"]
    stored = caller.post("/memories", json={**note, "project": "shop"}).json()
    assert caller.get(f"/memories/{stored['id']}").json()["content"] == note["content"]
    assert caller.get("/memories", params={"limit": 5, "project": "shop"}).json()["total"] == 1
    changed = caller.patch(
        f"/memories/{stored['id']}", json={"content": "Refunds take ten days.", "expected_version": 1}
    )
    assert changed.json()["version"] == 2
    assert caller.patch(f"/memories/{stored['id']}", json={"content": "No.", "expected_version": 1}).status_code == 409
    assert caller.delete(f"/memories/{stored['id']}").json()["deleted"]
    assert caller.get(f"/memories/{stored['id']}").status_code == 404


def test_a_project_can_be_named_in_the_body_of_any_operation(two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token())
    answer = caller.post("/search", json={"query": "book an appointment", "kinds": ["code"], "project": "clinic"})
    assert [hit["path"] for hit in answer.json()["results"]] == ["clinic.py"]
    unknown = caller.post("/search", json={"query": "book an appointment", "project": "clinik"})
    assert unknown.status_code == 404
    assert "clinik" in unknown.json()["error"]["message"]
    no_name = caller.post("/search", json={"query": "book an appointment", "project": 5})
    assert "no argument 'project'" in no_name.json()["error"]["message"]


def test_an_address_says_which_method_it_does_not_take(two_projects: Served) -> None:
    answer = two_projects.caller(two_projects.token()).get("/api/search_code")
    assert answer.status_code == 405
    assert answer.json()["error"]["message"].startswith("this address does not take GET; ")


def test_long_work_streams_its_progress(two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token(), accept="text/event-stream")
    answer = caller.post("/api/index", json={}, headers={"x-rag-project": "shop"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [part.split("\n") for part in answer.text.strip().split("\n\n") if part.startswith("event")]
    assert {event[0] for event in events[:-1]} == {"event: progress"}
    assert events[-1][0] == "event: result"
    assert json.loads(events[-1][1].removeprefix("data: "))["complete"]
    failed = caller.post("/api/search", json={})
    assert "event: error" in failed.text
    assert failed.headers["x-request-id"] in failed.text


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b"{", "application/json", "no JSON"), (b"\xff\xfe{}", "application/json", "no JSON in UTF-8"),
        (b"[" * 100_000, "application/json", "nested too deeply"), (b"[1]", "application/json", "one JSON object"),
        (b'{"query": NaN}', "application/json", "no JSON"), (b"{}", "text/plain", "application/json"),
        (b"query=x", "application/x-www-form-urlencoded", "application/json"), (b"{}", "application/json", "query"),
        (b'{"query": {}}', "application/json", "must be a string"), (b'{"nix": 1}', "application/json", "no argument"),
    ],
)  # fmt: skip
def test_bad_bodies_are_refused_in_words(served: Served, body: bytes, kind: str, words: str) -> None:
    answer = served.caller(served.token()).post("/api/search", content=body, headers={"content-type": kind})
    assert answer.status_code == 400, answer.text
    assert words in answer.json()["error"]["message"]


def test_a_token_of_one_project_sees_nothing_of_others(two_projects: Served, tmp_path: Path) -> None:
    everybody = two_projects.caller(two_projects.token())
    for name in ("shop", "clinic"):
        note = {"content": f"The {name} closes at six.", "scope": "project", "project": name}
        assert everybody.post("/memories", json=note).status_code == 200
    two_projects.ask(everybody, "store_memory", content="I like short answers in general.", scope="global")
    caller = two_projects.caller(two_projects.token("clinic only", Access.ADMIN, ("clinic",)))
    assert [repo["name"] for repo in two_projects.ask(caller, "list_repos")["repos"]] == ["clinic"]
    assert [item["content"] for item in caller.get("/memories").json()["memories"]] == ["The clinic closes at six."]
    for wanted in ("shop", str(tmp_path / "shop")):
        assert caller.post("/api/search_code", json={"query": "login", "project": [wanted]}).status_code == 404
        assert (
            caller.post("/api/search_code", json={"query": "x"}, headers={"x-rag-project": wanted}).status_code == 404
        )
    found = two_projects.ask(caller, "search_code", query="renew an expired login", project=["all"])
    assert {hit["path"] for hit in found["results"]} <= {"clinic.py"}
    refused = caller.post("/memories", json={"content": "For all of my projects.", "scope": "global"})
    assert refused.status_code == 403
    assert "clients" not in two_projects.ask(caller, "engine_status")["engine"]
    assert caller.get("/metrics").status_code == 403


@pytest.mark.parametrize("path", ["/etc/passwd", "{shop}/../outside.json", "outside.json", "~/x.json", "{link}/x.json"])
@pytest.mark.parametrize("operation", ["export_memories", "import_memories"])
def test_no_file_outside_the_projects_is_read_or_written(
    two_projects: Served, tmp_path: Path, operation: str, path: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "shop" / "link").symlink_to(outside)
    (outside / "x.json").write_text("[]")
    given = path.format(shop=tmp_path / "shop", link=tmp_path / "shop" / "link")
    name = "output" if operation == "export_memories" else "input"
    caller = two_projects.caller(two_projects.token(), **{"x-rag-project": "shop"})
    answer = caller.post(f"/api/{operation}", json={name: given})
    # Only an absolute path names a place, and its refusal says nothing of it.
    assert answer.status_code == (403 if Path(given).is_absolute() else 400), answer.text
    assert (outside / "x.json").read_text() == "[]"


def test_files_inside_a_project_can_be_written(two_projects: Served, tmp_path: Path) -> None:
    caller = two_projects.caller(two_projects.token(), **{"x-rag-project": "shop"})
    target = tmp_path / "shop" / "memories.json"
    assert two_projects.ask(caller, "export_memories", output=str(target))["output"] == str(target)
    assert target.exists()


def test_metrics_are_json_and_prometheus(two_projects: Served, tmp_path: Path) -> None:
    caller = two_projects.caller(two_projects.token())
    write(tmp_path / "shop", {"src/more.py": "def give_more():\n    return 'a text that has no vector yet'\n"})
    assert caller.post("/api/index", json={}, headers={"x-rag-project": "shop"}).json()["complete"]
    for _ in range(2):
        two_projects.ask(caller, "search_code", query="refund")
    figures = caller.get("/metrics").json()
    assert figures["rag_ls_projects_open"] == 2
    assert figures["rag_ls_embeddings_total"] > 0
    assert figures["rag_ls_cache_hits_total{cache=query_embeddings}"] >= 1
    assert figures["rag_ls_cache_misses_total{cache=query_embeddings}"] >= 1
    # What is embedded meanwhile changes the answers, so they are not always cached.
    assert figures["rag_ls_cache_misses_total{cache=answers}"] >= 1
    text = caller.get("/metrics", headers={"accept": "text/plain"}).text
    assert 'rag_ls_http_requests_total{method="POST",route="/api/search_code",status="200"} 2.0' in text
    assert "rag_ls_http_request_seconds_bucket" in text


def test_a_space_in_a_key_leads_no_file_past_the_check(two_projects: Served, tmp_path: Path) -> None:
    caller = two_projects.caller(two_projects.token(), **{"x-rag-project": "shop"})
    answer = caller.post("/api/export_memories", json={"output ": str(tmp_path / "outside.json")})
    assert answer.status_code == 403, answer.text
    assert not (tmp_path / "outside.json").exists()


@pytest.mark.parametrize("operation", ["rag_setup", "rag_index"])
def test_no_folder_becomes_a_project_over_http(two_projects: Served, tmp_path: Path, operation: str) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "diary.py").write_text("def secret_of_the_garden():\n    return 1\n")
    asked = {"project_root": str(private)}
    admin = two_projects.caller(two_projects.token()).post(f"/api/{operation}", json=asked)
    assert admin.status_code == 403, admin.text
    assert "no project that this token sees" in admin.text
    writer = two_projects.caller(two_projects.token("writer", Access.WRITE)).post(f"/api/{operation}", json=asked)
    assert writer.status_code == 403
    assert [entry.name for entry in private.iterdir()] == ["diary.py"]


@pytest.mark.slow
def test_setting_rules_up_in_one_project_changes_nothing_for_later_questions(
    two_projects: Served, tmp_path: Path
) -> None:
    caller = two_projects.caller(two_projects.token())
    two_projects.ask(caller, "rag_setup", project_root=str(tmp_path / "shop"))
    found = two_projects.ask(caller, "search_code", query="book an appointment")
    assert found["results"][0]["path"] == "clinic.py"


def test_a_project_in_the_header_hides_none_of_the_users_memories(two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token(), **{"x-rag-project": "shop"})
    two_projects.ask(caller, "store_memory", content="I like short answers in general.", scope="global")
    found = two_projects.ask(caller, "search_memory", query="short answers")
    assert [item["content"] for item in found["results"]] == ["I like short answers in general."]


def test_spellings_of_one_project_share_one_client_of_the_engine(two_projects: Served, tmp_path: Path) -> None:
    caller = two_projects.caller(two_projects.token())
    before = len(two_projects.engine.clients())
    for end in ("", "/.", "/./.", "/../shop"):
        answer = caller.get("/memories", headers={"x-rag-project": f"{tmp_path}/shop{end}"})
        assert answer.status_code == 200, answer.text
    assert len(two_projects.engine.clients()) == before + 1


def test_a_name_that_two_projects_have_is_refused(two_projects: Served, tmp_path: Path) -> None:
    other = write(tmp_path / "elsewhere" / "shop", CLINIC)
    two_projects.engine.registry.note_opened(other, name="shop", from_config=False)
    refused = two_projects.caller(two_projects.token()).get("/memories", headers={"x-rag-project": "shop"})
    assert refused.status_code == 400
    assert "give the root of one" in refused.json()["error"]["message"]


def test_a_client_that_left_holds_up_nobody(serve: Serve, tmp_path: Path) -> None:
    served = serve(max_searches=1)
    root = write(tmp_path / "shop", SHOP)
    (root / ".rag-ls").mkdir()
    served.engine.registry.add(root, "shop")
    token = served.token()
    host, port = served.server.url.removeprefix("http://").rstrip("/").split(":")
    body = json.dumps({"wait_s": 600}).encode()
    head = f"POST /api/index_status HTTP/1.1\r\nHost: {host}:{port}\r\nX-RAG-Token: {token}\r\nX-RAG-Project: shop\r\n"
    with socket.create_connection((host, int(port)), 10) as leaving:
        leaving.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        assert until(lambda: any(about.surface == "http" for about in served.engine.clients()))
    assert served.caller(token).get("/memories").status_code == 200


def test_an_opening_that_failed_is_tried_again(two_projects: Served, tmp_path: Path) -> None:
    caller = two_projects.caller(two_projects.token("second"), **{"x-rag-project": "clinic"})
    away = tmp_path / "away"
    (tmp_path / "clinic").rename(away)
    caller.post("/api/search_code", json={"query": "appointment"})
    away.rename(tmp_path / "clinic")

    def is_found() -> bool:
        answer = caller.post("/api/search_code", json={"query": "appointment"})
        return answer.status_code == 200 and bool(answer.json()["results"])

    assert until(is_found)


def test_undo_takes_back_what_was_done_in_its_project_and_asks_for_one(two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token())
    for name in ("shop", "clinic"):
        note = {"content": f"The {name} closes at six.", "scope": "project", "project": name}
        stored = caller.post("/memories", json=note).json()["id"]
        two_projects.ask(caller, "delete_memories", ids=[stored])
    asked = caller.post("/api/undo", json={})
    assert (asked.status_code, "clinic, shop" in asked.json()["error"]["message"]) == (400, True)
    assert caller.post("/api/last_change", json={}).status_code == 400
    undone = two_projects.ask(caller, "undo", project="shop")
    assert Path(undone["project"]).name == "shop"
    held = caller.get("/memories").json()["memories"]
    assert [item["content"] for item in held] == ["The shop closes at six."]
    assert caller.post("/api/undo", json={"project": "shop"}).status_code == 404
    other = two_projects.ask(caller, "last_change", project="clinic")["id"]
    assert Path(two_projects.ask(caller, "undo", id=other, dry_run=True)["project"]).name == "clinic"


def test_tags_in_an_address_are_separated_by_commas(two_projects: Served) -> None:
    caller = two_projects.caller(two_projects.token(), **{"x-rag-project": "shop"})
    note = {"content": "Refunds take ten days.", "scope": "project", "metadata": {"tags": ["money"]}}
    assert caller.post("/memories", json=note).status_code == 200
    for written in ("money,time", "money"):
        assert caller.get("/memories", params={"tags": written}).json()["total"] == 1, written


@pytest.mark.slow
def test_projects_that_were_looked_at_are_let_go_and_taken_up_again(
    two_projects: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_ls.http.sessions._REST_S", 0.0)
    monkeypatch.setattr("rag_ls.http.app._SWEEP_S", 0.05)
    caller = two_projects.caller(two_projects.token("looks"), **{"x-rag-project": "shop"})
    two_projects.ask(caller, "store_memory", content="Only for this session.", scope="session")

    def users() -> int:
        return sum(count for _, count in two_projects.engine.projects())

    assert until(lambda: users() == 0)
    assert two_projects.ask(caller, "search_code", query="renew an expired login")["results"]
    held = caller.get("/memories").json()["memories"]
    assert [item["content"] for item in held] == ["Only for this session."]
    assert until(lambda: users() == 0)
    removed = caller.post("/api/remove_projects", json={"roots": [str(tmp_path / "clinic")]})
    assert removed.status_code == 200, removed.text


@pytest.mark.slow
def test_who_leaves_while_a_project_is_opened_keeps_it_open_for_nobody(
    two_projects: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_ls.http.sessions._REST_S", 0.0)
    opened = CallerSession.open

    def slowly(self: CallerSession) -> None:
        opened(self)
        time.sleep(0.5)

    monkeypatch.setattr(CallerSession, "open", slowly)
    token = two_projects.token("leaves")
    host, port = two_projects.server.url.removeprefix("http://").rstrip("/").split(":")
    head = f"GET /memories HTTP/1.1\r\nHost: {host}:{port}\r\nX-RAG-Token: {token}\r\nX-RAG-Project: clinic\r\n\r\n"
    with socket.create_connection((host, int(port)), 10) as leaving:
        leaving.sendall(head.encode())
        assert until(lambda: any(about.name == "leaves" for about in two_projects.engine.clients()))
    assert until(lambda: sum(count for _, count in two_projects.engine.projects()) == 0)

"""An engine whose model runs on a server: what is sent there, and what is answered while it is away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_ls.daemon.paths import user_config_file
from tests.daemon.engines import answer, engine, run
from tests.e2e.clients import editor, eventually
from tests.embedding.services import DIGEST, EmbeddingService, serving
from tests.support import until, write

pytestmark = pytest.mark.own_engine

# Ollama passes it on to its makers: texts for it leave the machine, though the server is here.
_AWAY = "embedder:1-cloud"


def _settings(service: EmbeddingService, model: str) -> None:
    file = Path(user_config_file())
    text = (
        f'[embedding]\nprovider = "ollama"\nmodel = {json.dumps(model)}\nendpoint = "{service.url}"\ntimeout_s = 2.0\n'
    )
    write(file.parent, {file.name: text})


@pytest.mark.slow
async def test_nothing_leaves_before_the_user_agrees_and_unsaved_text_never(project: Path) -> None:
    with serving(EmbeddingService(models={_AWAY: DIGEST})) as service:
        _settings(service, _AWAY)
        with engine():
            indexed = run("index", folder=project)
            assert indexed.returncode == 1
            for said in (indexed.stderr, run("status", folder=project).stdout):
                assert "rag-ls doctor --confirm-endpoint" in said
            assert service.asked == []
            assert answer("search", "round_amount", folder=project)["results"], "words find it"
        agreed = run("doctor", "--confirm-endpoint", "--yes")
        assert (agreed.returncode, service.url in agreed.stderr) == (0, True)
        file = project / "src/billing/invoice.py"
        async with editor(project) as ed:
            ed.open(file)
            ed.type(file, "def unsaved_heron():\n    return 'beak'\n\n\n", at=(3, 0))
            await ed.until_complete()
            assert any("round_amount" in text for text in service.texts)
            assert "unsaved_heron" in str(await ed.command("searchCode", query="unsaved_heron"))
            # The question itself goes there, nothing else does.
            assert [text for text in service.texts if "heron" in text] == ["unsaved_heron"]
            text = file.read_text().replace(
                "def round_amount", "def saved_heron():\n    return 'beak'\n\n\ndef round_amount"
            )
            ed.replace_all(file, text)
            ed.save(file, text)
            ed.close(file)
            assert until(lambda: any("saved_heron():" in text for text in service.texts))


@pytest.mark.slow
async def test_while_the_server_is_away_words_answer_and_the_rest_is_done_when_it_is_back(project: Path) -> None:
    service = EmbeddingService(models={"embedder:1": DIGEST})
    with serving(service):
        _settings(service, "embedder:1")
        assert f"ollama/embedder:1@{DIGEST[:12]}-16" in run("doctor", folder=project).stdout
    async with editor(project) as ed:

        async def standing() -> Any:
            return (await ed.command("status"))["projects"][0]

        with serving(service):
            await ed.until_complete()
        write(project, {"src/new.py": "def walrus_pool(size):\n    return size * 2\n"})

        async def says_why() -> bool:
            return "cannot be reached" in (await standing()).get("note", "")

        assert await eventually(says_why)
        assert not (await standing())["complete"]
        found = await ed.command("searchCode", query="walrus_pool")
        assert found["results"][0]["path"] == "src/new.py"
        assert not found["stats"]["dense"]
        assert run("stop").returncode == 0, "it ends at once though it waits"
        with serving(service):
            await ed.until_complete()
            assert any("walrus_pool" in text for text in service.texts)
            assert not (await standing()).get("note")


@pytest.mark.slow
async def test_asking_what_is_known_about_unsaved_code_sends_none_of_it(project: Path) -> None:
    with serving(EmbeddingService(models={_AWAY: DIGEST})) as service:
        _settings(service, _AWAY)
        assert run("doctor", "--confirm-endpoint", "--yes").returncode == 0
        file = project / "src/billing/invoice.py"
        async with editor(project) as ed:
            await ed.until_complete()
            ed.open(file)
            ed.replace_all(file, "def unsaved_heron():\n    return 'heron beak'\n")

            async def is_asked_by_the_unsaved_code() -> bool:
                found = await ed.command("memoriesAbout", uri=file.as_uri(), line=1)
                return "unsaved_heron" in found["query"]

            assert await eventually(is_asked_by_the_unsaved_code)
            await ed.command("memoriesAbout", uri=file.as_uri(), line=1, text="unsaved_heron heron beak")
            await ed.command("memoriesAbout", uri="untitled:1", line=1, text="unsaved_heron heron beak")
            await ed.command("findRelated", path=str(file), line=1, snippet="unsaved_heron heron beak")
            assert not [text for text in service.texts if "unsaved_heron" in text or "beak" in text]

"""Models of services: whom texts are sent to, what happens when a service refuses, is away, or changes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_ls.config.engine_settings import EmbeddingSettings
from rag_ls.embedding import HostedModel, ModelHost
from rag_ls.embedding.api import ModelClosed
from rag_ls.embedding.remote import service as service_module
from rag_ls.embedding.remote.provider import _PLAIN_TEXT, RemoteProvider, confirm, destination_of
from rag_ls.embedding.remote.service import RetryPolicy, Service, ServiceFailed, ServiceRecords
from rag_ls.errors import InvalidRequest, ModelMissing, RagLsError, StoreUnavailable
from tests.embedding.services import DIGEST, EmbeddingService, serving, vector_of
from tests.support import PATIENCE_S

_OLLAMA_ID = f"ollama/nomic-embed-text:v1.5@{DIGEST[:12]}-16"


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with serving(EmbeddingService()) as found:
        yield found


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module.RetryPolicy, "__init__", _impatient(service_module.RetryPolicy.__init__))


def _impatient(made: Any) -> Any:
    def init(self: RetryPolicy, timeout_s: float, attempts: int = 4, back_off_s: float = 0.01) -> None:
        made(self, timeout_s, attempts, back_off_s)

    return init


def ollama(service: EmbeddingService, **changes: Any) -> EmbeddingSettings:
    return replace(EmbeddingSettings(provider="ollama", endpoint=service.url), **changes)


def openai(service: EmbeddingService, **changes: Any) -> EmbeddingSettings:
    return replace(EmbeddingSettings(provider="openai", endpoint=service.url, model="small"), **changes)


def loaded(settings: EmbeddingSettings) -> HostedModel:
    provider = RemoteProvider(settings)
    return HostedModel(provider.load(provider.find(settings.model).id))


def _unit(text: str) -> Any:
    vector = np.array(vector_of(text))
    return vector / np.linalg.norm(vector)


def test_ollama_is_asked_with_the_prefixes_that_its_model_was_trained_with(service: EmbeddingService) -> None:
    model = loaded(ollama(service))
    assert model.card.id == _OLLAMA_ID
    assert (model.card.dimensions, model.card.max_tokens) == (16, 2048)
    service.asked.clear()
    vectors = model.embed_documents(["one", "two"])
    question = model.embed_query("three")
    assert service.texts == ["search_document: one", "search_document: two", "search_query: three"]
    assert np.allclose(vectors, [_unit(text) for text in service.texts[:2]], atol=1e-6)
    assert np.allclose(question, _unit(service.texts[2]), atol=1e-6)
    assert {(body["model"], body["truncate"]) for body in service.asked} == {("nomic-embed-text:v1.5", True)}
    assert all(body["keep_alive"] for body in service.asked)


def test_prefixes_of_the_settings_count_more(service: EmbeddingService) -> None:
    model = loaded(ollama(service, query_prefix="Q: ", document_prefix=""))
    service.asked.clear()
    model.embed_documents(["one"])
    model.embed_query("two")
    assert service.texts == ["one", "Q: two"]


def test_vectors_of_openais_api_are_put_in_order_by_their_index(service: EmbeddingService) -> None:
    texts = [f"text {number}" for number in range(7)]
    vectors = loaded(openai(service)).embed_documents(texts)
    assert np.allclose(vectors, [_unit(text) for text in texts], atol=1e-6)


def test_the_key_comes_from_the_environment_and_stands_in_no_error(
    service: EmbeddingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.key = "right-key"
    settings = openai(service, api_key_env="TEST_EMBEDDING_KEY")
    with pytest.raises(ModelMissing, match="TEST_EMBEDDING_KEY"):
        loaded(settings)
    monkeypatch.setenv("TEST_EMBEDDING_KEY", "wrong-key")
    with pytest.raises(ModelMissing, match="refuses the key in TEST_EMBEDDING_KEY") as refused:
        loaded(settings)
    assert "wrong-key" not in str(refused.value)
    monkeypatch.setenv("TEST_EMBEDDING_KEY", "right-key")
    assert loaded(settings).embed_query("x").shape == (16,)


@pytest.mark.slow
def test_batches_stay_under_the_budget_of_bytes_and_are_halved_when_they_are_refused(
    service: EmbeddingService,
) -> None:
    model = loaded(openai(service, max_batch_bytes=1000))
    service.max_characters = 300
    service.asked.clear()
    texts = [f"{number:02}" + "x" * 98 for number in range(20)]
    vectors = model.embed_documents(texts)
    assert np.allclose(vectors, [_unit(text) for text in texts], atol=1e-6)
    assert max(sum(map(len, body["input"])) for body in service.asked) <= 1000


@pytest.mark.parametrize("settings_of", [ollama, openai])
def test_a_text_that_is_refused_alone_is_shortened(service: EmbeddingService, settings_of: Any) -> None:
    model = loaded(settings_of(service))
    service.max_characters = 300
    vectors = model.embed_documents(["long " * 1000])
    assert np.isfinite(vectors).all()


def test_a_text_that_no_length_helps_has_no_vector(service: EmbeddingService) -> None:
    model = loaded(openai(service))
    service.max_characters = 10
    assert np.isnan(model.embed_documents(["long " * 100])).all()


_BUSY = (429, {"retry-after": "0"}, b'{"error": "slow down"}')


@pytest.mark.parametrize(
    "answers",
    [[_BUSY], [_BUSY, (503, {}, b"starting"), (502, {}, b"")], [(500, {}, b'{"error": "model runner has stopped"}')]],
)
def test_what_may_pass_is_tried_again(service: EmbeddingService, answers: list[Any]) -> None:
    model = loaded(ollama(service))
    service.answers = list(answers)
    assert np.allclose(model.embed_documents(["one"], backlog=1000)[0], _unit("search_document: one"), atol=1e-6)
    assert service.answers == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((429, {"retry-after": "3600"}, b'{"error": {"message": "quota is used up"}}'), "quota is used up"),
        ((200, {}, b"<html>"), "no JSON"), ((200, {}, b'{"data": []}'), "0 vectors"), ((200, {}, b"[]"), "`data`"),
        ((200, {}, b'{"data": [{"embedding": [1, 2]}]}'), "1 vectors of 2 numbers, not 1 of 16"),
        ((200, {}, b'{"data": [{"embedding": "text"}]}'), "no vectors"), ((307, {"location": "/x"}, b""), "redirects"),
        ((429, {"retry-after": "3600"}, b'{"error": {"message": "You exceeded your current quota"}}'), "exceeded your current"),
        ((400, {}, b'{"error": {"message": "dimensions is no parameter"}}'), "dimensions is no parameter"),
        ((404, {}, b'{"error": {"message": "no such model"}}'), "no model small"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_and_not_asked_again(service: EmbeddingService, answer: Any, words: str) -> None:
    model = loaded(openai(service))
    service.asked.clear()
    service.answers = [answer] * 8
    with pytest.raises(RagLsError, match=words):
        model.embed_documents(["one"], backlog=1000)
    # A text that every service takes shows whose fault it is, except where the service says that it is its own.
    assert [text for text in service.texts if text != _PLAIN_TEXT] == ["one"]
    assert words in model.failure
    assert model.has_failed
    service.answers.clear()
    if answer[0] != 429:
        model.embed_documents(["one"])
        assert model.failure == ""


def test_a_service_that_is_busy_holds_up_no_question(service: EmbeddingService) -> None:
    model = loaded(openai(service))
    service.asked.clear()
    service.answers = [(429, {"retry-after": "50"}, b'{"error": {"message": "slow down"}}')]
    with pytest.raises(ServiceFailed, match="slow down"):
        model.embed_query("where")
    for _ in range(3):
        with pytest.raises(ServiceFailed, match="asks to wait"):
            model.embed_documents(["one"])
    assert len(service.asked) == 1


def test_a_dimension_that_changed_is_an_error_that_says_so(service: EmbeddingService) -> None:
    model = loaded(ollama(service))
    service.dimensions = 8
    with pytest.raises(ServiceFailed, match=r"vectors of 8 numbers, not 1 of 16.*embeds all anew"):
        model.embed_documents(["one"])


def test_a_dimension_that_changed_makes_another_model(service: EmbeddingService) -> None:
    service.dimensions = 8
    assert loaded(ollama(service)).model_id == f"ollama/nomic-embed-text:v1.5@{DIGEST[:12]}-8"


_UNFIT = [
    (400, {"error": "invalid input"}),
    (500, {"error": "json: unsupported value: NaN"}),
    (200, {"data": [], "embeddings": [None]}),
]


@pytest.mark.parametrize("answer", _UNFIT, ids=["400", "500", "null"])
@pytest.mark.parametrize("settings_of", [ollama, openai])
def test_a_text_that_a_service_cannot_take_stops_no_others(
    service: EmbeddingService, settings_of: Any, answer: tuple[int, object]
) -> None:
    model = loaded(settings_of(service, document_prefix=""))
    service.bad = ("unfit", *answer)
    texts = [*(f"text {number}" for number in range(9)), "this is unfit"]
    vectors = model.embed_documents(texts, backlog=1000)
    assert np.allclose(vectors[:9], [_unit(text) for text in texts[:9]], atol=1e-6)
    assert np.isnan(vectors[9]).all()
    assert model.failure == ""
    service.asked.clear()
    assert np.isnan(model.embed_documents(["this is unfit", "one"])[0]).all()
    assert service.texts == ["one"], "a text that has no vector is not sent again"


def test_vectors_without_numbers_are_those_of_the_texts_at_their_places(service: EmbeddingService) -> None:
    model = loaded(openai(service))
    data = [{"index": None, "embedding": vector_of(text)} for text in ("one", "two")]
    service.answers = [(200, {}, json.dumps({"data": data}).encode())]
    assert np.allclose(model.embed_documents(["one", "two"]), [_unit("one"), _unit("two")], atol=1e-6)


def test_the_background_asks_a_service_that_fails_ever_more_seldom(service: EmbeddingService) -> None:
    model = loaded(openai(service))
    service.bad = ("", 400, {"error": {"message": "closed"}})
    rests = []
    for _ in range(3):
        with pytest.raises(ServiceFailed):
            model.embed_documents(["one"])
        rests.append(model._rests_until)
    assert rests[1] - rests[0] > 2 < rests[2] - rests[1]
    with pytest.raises(ServiceFailed):
        model.embed_query("where")
    assert "closed" in model.failure
    service.bad = None
    model.embed_query("where else")
    assert not model.has_failed
    assert not model.failure


@pytest.mark.slow
def test_a_server_that_is_away_is_named_and_believed_when_it_is_back() -> None:
    away = EmbeddingService()
    with serving(away):
        pass
    clock = iter([0.0, 1.0, 100.0, 101.0, 102.0])
    provider = RemoteProvider(ollama(away), clock=lambda: next(clock))
    for _ in range(2):
        with pytest.raises(ModelMissing, match=f"{away.url} cannot be reached"):
            provider.find("auto")
    with serving(away):
        assert provider.find("auto").id == _OLLAMA_ID
    # It is known from now on, so that a question need not wait for it.
    assert provider.find("auto").id == _OLLAMA_ID
    with pytest.raises(ModelMissing, match="cannot be reached"):
        provider.load(_OLLAMA_ID)


def test_a_model_that_ollama_does_not_have_says_how_to_get_it(service: EmbeddingService) -> None:
    with pytest.raises(ModelMissing, match="ollama pull mxbai-embed-large"):
        loaded(ollama(service, model="mxbai-embed-large"))
    service.models["mxbai-embed-large:latest"] = DIGEST
    assert loaded(ollama(service, model="mxbai-embed-large")).card.name == "ollama/mxbai-embed-large"


def test_another_revision_on_the_server_is_another_model(service: EmbeddingService) -> None:
    host = ModelHost(ollama(service), RemoteProvider(ollama(service)))
    try:
        assert host.configured().id == _OLLAMA_ID
        service.models["nomic-embed-text:v1.5"] = "f" * 64
        assert host.wait(_OLLAMA_ID, PATIENCE_S) is None
        assert "embedded anew" in host.state(_OLLAMA_ID).error
        assert host.configured().id.endswith("@ffffffffffff-16")
        assert host.wait(host.configured().id, PATIENCE_S) is not None
    finally:
        host.close()


def test_nothing_is_sent_to_another_machine_before_the_user_agreed(tmp_path: Path) -> None:
    settings = EmbeddingSettings(provider="openai", endpoint="http://192.0.2.1:9", model="small")
    records = ServiceRecords(tmp_path)
    with pytest.raises(
        ModelMissing, match=r"http://192.0.2.1:9/v1: agree once with `rag-ls doctor --confirm-endpoint`"
    ):
        RemoteProvider(settings, records).find("small")
    assert confirm(settings, records).endpoint == "http://192.0.2.1:9/v1"
    assert ServiceRecords(tmp_path).is_confirmed("http://192.0.2.1:9/v1")
    assert not ServiceRecords(tmp_path).is_confirmed("http://192.0.2.2:9/v1")
    with pytest.raises(InvalidRequest, match="no text leaves"):
        confirm(EmbeddingSettings(), records)


@pytest.mark.parametrize(
    ("settings", "stays"),
    [
        ({"provider": "ollama"}, True), ({"provider": "ollama", "endpoint": "http://localhost:1/api/"}, True),
        ({"provider": "ollama", "model": "qwen3:480b-cloud"}, False), ({"provider": "ollama", "model": "x:cloud"}, False),
        ({"provider": "ollama", "endpoint": "http://10.0.0.5:11434"}, False),
        ({"provider": "openai", "model": "x"}, False), ({"provider": "openai", "model": "x", "endpoint": "http://[::1]:7"}, True),
        ({"provider": "openai", "model": "x", "endpoint": "http://127.0.0.1.evil.example"}, False),
    ],
)  # fmt: skip
def test_texts_stay_on_this_machine_or_not(settings: dict[str, str], stays: bool) -> None:
    assert destination_of(EmbeddingSettings(**settings)).stays_here is stays


@pytest.mark.parametrize("endpoint", ["ftp://x", "x", "http://user:key@x", "http://[::1", "http://x:99999", "http://"])
def test_an_endpoint_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(ModelMissing, match="no http address"):
        destination_of(EmbeddingSettings(provider="ollama", endpoint=endpoint))


def test_a_limit_a_day_ends_with_the_day(service: EmbeddingService, tmp_path: Path) -> None:
    now = [datetime(2026, 3, 1, 23, 0, tzinfo=UTC)]
    records = ServiceRecords(tmp_path, lambda: now[0])
    provider = RemoteProvider(openai(service, max_tokens_per_day=10), records)
    model = HostedModel(provider.load(provider.find("small").id))
    for _ in range(2):
        model.embed_documents(["five tokens each"])
    with pytest.raises(ServiceFailed, match=r"10 tokens were sent to .* today, embedding.max_tokens_per_day is 10"):
        model.embed_documents(["one more"])
    now[0] = datetime(2026, 3, 2, 0, 1, tzinfo=UTC)
    model.embed_documents(["one more"])


def test_an_engine_that_ends_waits_for_no_service(service: EmbeddingService) -> None:
    asked = Service(service.url)
    service.answers = [(503, {"retry-after": "50"}, b"")] * 10
    ended: list[BaseException] = []

    def ask() -> None:
        try:
            asked.post("/api/embed", {"model": "x", "input": ["x"]}, RetryPolicy(10.0))
        except RagLsError as error:
            ended.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not service.asked:
        time.sleep(0.01)
    asked.close()
    thread.join(PATIENCE_S)
    assert isinstance(ended[0], ModelClosed)


@pytest.mark.parametrize(
    "text", ["{nothing", '{"sent": 3}', '{"sent": {"https://x": 3}}', '{"sent": {"https://x": {"tokens": "3"}}}']
)
def test_records_that_are_damaged_confirm_nothing_and_are_not_written_anew(tmp_path: Path, text: str) -> None:
    file = tmp_path / "services.json"
    file.write_text(text)
    records = ServiceRecords(tmp_path)
    assert not records.is_confirmed("https://x")
    for do in (lambda: records.confirm("https://x"), lambda: records.tokens_today("https://x"),
               lambda: records.add_tokens("https://x", 1)):  # fmt: skip
        with pytest.raises(StoreUnavailable, match=r"services\.json is damaged .*rag-ls doctor --confirm-endpoint"):
            do()
    assert file.read_text() == text
    file.unlink()
    records.confirm("https://x")
    assert records.is_confirmed("https://x")
    assert file.stat().st_mode & 0o077 == 0

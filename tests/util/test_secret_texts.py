"""Secrets are found by their form, in what is indexed and in what is remembered, and their lines alone go."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_ls.errors import InvalidRequest
from rag_ls.memory.new_memories import refuse_secrets
from rag_ls.model import MemoryMetadata
from rag_ls.util.secret_texts import _read_forms, blank_secrets, find_secrets
from tests.secret_fakes import ALL, KEYS, TOKENS, make_key
from tests.support import scale_examples


def test_each_kind_of_the_list_is_tried() -> None:
    assert set(TOKENS) == {kind for kind, _, _ in _read_forms()}


@pytest.mark.parametrize(("kind", "secret"), [(kind, each) for kind, secrets in TOKENS.items() for each in secrets])
def test_a_secret_is_known_in_a_file_and_in_a_memory(kind: str, secret: str) -> None:
    for line in (secret, f"  key := `{secret}` // of the sandbox", f'{{"key": "{secret}"}}', f"KEY={secret}"):
        text = f"first line\n{line}\nlast line\n"
        blanked = blank_secrets("src/a.go", text)
        assert blanked.text == f"first line\n{' ' * len(line)}\nlast line\n"
        assert blanked.lines == 1
        with pytest.raises(
            InvalidRequest, match=r"^line 2 looks like a secret \(.+\), which was not stored"
        ) as refused:
            refuse_secrets(text, MemoryMetadata())
        assert secret[-12:] not in str(refused.value)
    assert kind in {each.kind for each in find_secrets(secret)}


@pytest.mark.parametrize("how", KEYS)
def test_all_lines_of_a_key_go_in_a_file_and_a_memory_with_one_is_refused(how: str) -> None:
    text = f'before = 1\nkey = """{KEYS[how]}"""\n\nafter = 2\n'
    found = blank_secrets("a.py", text)
    lines = found.text.splitlines()
    assert (lines[0], lines[-1]) == ("before = 1", "after = 2")
    assert not "".join(lines[1:-1]).strip()
    assert found.lines == KEYS[how].count("\n") + 1
    with pytest.raises(InvalidRequest, match=r"^line 2 looks like a secret"):
        refuse_secrets(text, MemoryMetadata())


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "IOSFODNN7EXAMPLE", "ghp_" + "x" * 36, "Authorization: Bearer your-token-here-1234",
        "Authorization: Bearer $TOKEN_OF_THE_DEPLOY_1",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "Bearer authentication-and-authorization", "basic authentication1 of users", "https://user:pass@example.org",
        "https://user:password@host", "postgres://postgres:postgres@localhost:5432/app", "http://$USER:$PASS@host", "redis://:{password}@host",
        "http://user:${PASSWORD}@host", "http://<user>:<pw1234>@host", "see https://example.org:8443/a@b and ssh://git@github.com:22/x",
        'if "-----BEGIN RSA PRIVATE KEY-----" in text:', "starts with -----BEGIN PRIVATE KEY----- and ends otherwise",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----\n" + "aB1" * 20,
        '"-----BEGIN RSA PRIVATE KEY-----\\n" + body + "\\n-----END RSA PRIVATE KEY-----"',
        'a = "-----BEGIN PRIVATE KEY-----\\n"\nb = encodeToMemoryAsBlock(theKeyOfTheServer, options)\nc = "-----END PRIVATE KEY-----"',
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCi0tLS0tRU5EIFBSSVZBVEUgS0VZLS0tLS0=", "http://%25DOMAIN:foobar@host.com/",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        "hf_hub_download_to_the_folder_of_models(x)", "npm_config_registry_of_all_the_packages",
        "MASK0123456789abcdef", "skeleton-projects-of-the-week",
        "PuTTY-User-Key-File-3: is the first line",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709", "aws s3 sync da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "secret_key = os.environ['SECRET_KEY']", "ragls_your_token", "1.000000.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ],
)  # fmt: skip
def test_what_stands_for_a_secret_is_none(text: str) -> None:
    assert find_secrets(text) == []


_LINES = st.one_of(
    st.sampled_from([*ALL.values(), "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "größe = 'é😀'"]),
    st.text(st.characters(exclude_categories=()), max_size=30),
)


@settings(max_examples=scale_examples(100))
@given(
    st.lists(_LINES, max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["a.py", "a.json", "deploy.sh"]),
)
def test_lines_keep_their_numbers_their_bytes_and_if_they_hold_none_their_text(
    parts: list[str], end: str, path: str
) -> None:
    text = end.join(parts)
    found = blank_secrets(path, text)
    before, after = (re.split(r"\r\n|\r|\n", each) for each in (text, found.text))
    gone = {number for each in find_secrets(text, path) for number in range(each.first, each.last + 1)}
    assert len(before) == len(after)
    assert found.lines == len(gone)
    for number, (line, kept) in enumerate(zip(before, after, strict=True), 1):
        assert len(kept.encode("utf-8", "surrogatepass")) == len(line.encode("utf-8", "surrogatepass"))
        assert number in gone or kept == line
    assert blank_secrets(path, found.text).text == found.text


def test_a_key_in_base64_goes_with_all_its_lines() -> None:
    encoded = re.sub("(.{76})", r"\1\n    ", TOKENS["private key in base64"][0])
    found = blank_secrets("a.yml", f"tls.crt: no\ntls.key: |\n    {encoded}\ntype: tls\n")
    assert found.text.split() == ["tls.crt:", "no", "tls.key:", "|", "type:", "tls"]


def test_code_after_a_mark_without_a_key_stays() -> None:
    lines = [
        'MARK = "-----BEGIN PRIVATE KEY-----\\n"',
        *(f"def function_{n}(): ..." for n in range(9)),
        *make_key().split("\n"),
    ]
    kept = blank_secrets("a.py", "\n".join(lines)).text.split("\n")
    assert kept[1:10] == lines[1:10]
    assert not "".join(kept[10:]).strip()


def test_a_notebook_stays_one_without_its_key() -> None:
    source = [
        "import jwt\n",
        *(f"{line}\n" for line in f'key = "{make_key(end=chr(10))}"'.split("\n")),
        "jwt.sign(key)\n",
    ]
    text = json.dumps({"cells": [{"cell_type": "code", "source": source}], "nbformat": 4}, indent=1)
    found = blank_secrets("a.ipynb", text)
    cell = json.loads(found.text)
    assert found.lines == 6
    (lines,) = (value for value in next(iter(cell.values()))[0].values() if isinstance(value, list))
    assert (lines[0], lines[-1]) == ("import jwt\n", "jwt.sign(key)\n")
    assert not "".join(lines[1:-1]).strip()


def test_in_a_file_of_variables_only_those_go_that_set_secrets() -> None:
    text = "# of the server\nDB_HOST=db\nDB_PASSWORD=hunter2kx94\nexport API_TOKEN='q8w7e6r5t4y3'\nREGION=eu\n"
    found = blank_secrets("production", text)
    assert [line for line in found.text.splitlines() if line.strip()] == ["# of the server", "DB_HOST=db", "REGION=eu"]
    assert found.lines == 2
    assert blank_secrets("production.example", text).text == text
    assert blank_secrets("settings.py", text).text == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "-----BEGIN PRIVATE KEY-----\n" + "n" * 60_000 + "!\n"),
        ("a.py", "-----BEGIN PRIVATE KEY-----\n" + "A+n" * 20_000 + "r!\n"),
        ("a.py", "PuTTY-User-Key-File-2: ssh-" * 15_000),
        ("a.py", '"-----BEGIN PRIVATE KEY-----\\n" ' * 12_000),
        ("a.txt", "SECRET" * 8_000 + ".x = y\n"),
    ],
)  # fmt: skip
def test_no_text_takes_long(path: str, text: str) -> None:
    """Each of these took minutes, or a second where a file may have few characters, and held up all threads meanwhile."""
    before_s = time.thread_time()
    assert blank_secrets(path, text).text
    assert time.thread_time() - before_s < 0.5

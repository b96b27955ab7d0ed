"""What is worth keeping, and what must not be kept."""

from __future__ import annotations

import json

import pytest

from rag_ls.errors import InvalidRequest
from rag_ls.memory.new_memories import (
    MAX_CONTENT,
    MAX_CUSTOM,
    MAX_CUSTOM_DEPTH,
    MAX_TAG,
    MAX_TAGS,
    check_content,
    check_metadata,
    refuse_secrets,
)
from rag_ls.model import MemoryMetadata
from tests.secret_fakes import TOKENS, make_key

_NOTHING = MemoryMetadata()


@pytest.mark.parametrize(
    "content",
    [
        "ok", "OK!", "Done.", "done", "LGTM", "thanks", "Thank you!", "yes", "todo", "test", "It works now", "All tests pass",
        "The build is green.", "Task completed successfully", "Everything works as expected", "It is what it is",
        "hello", "42", "...", "👍", "foo foo foo", "Größe", "déjà", "k8s", "缓存",
    ],
)  # fmt: skip
def test_what_says_nothing_is_refused_with_what_to_do(content: str) -> None:
    with pytest.raises(InvalidRequest, match=r"worth recalling: name what it is about .* force = true"):
        check_content(content)
    assert check_content(content, force=True) == content


@pytest.mark.parametrize(
    "content",
    [
        "Use tabs", "use tabs", "Prefer composition", "No globals", "Redis 7", "Deploy on Fridays", "Tests need Docker",
        "Nutze Tabs", "Tabs statt Leerzeichen", "Größe prüfen", "Utilisez pnpm", "déjà vu",
        "使用制表符", "部署在周五", "タブを使う", "탭을 사용하세요", "x = 1", "max_retries=3", "make test", "getUserByID",
        "`npm ci` not `npm install`", "src/auth.py", "Use pnpm.", "Use Go", "Use Make.", "Fixed the race in the cache by locking per key",
        "Done is better than perfect: ship behind a flag",
    ],
)  # fmt: skip
def test_what_says_something_is_kept_however_short(content: str) -> None:
    assert check_content(f" {content}\n") == content


@pytest.mark.parametrize("content", ["", " ", "\n\t", "\u3000"])
def test_what_is_empty_is_refused_even_by_force(content: str) -> None:
    for force in (False, True):
        with pytest.raises(InvalidRequest, match="content is empty"):
            check_content(content, force=force)


def test_the_limits_are_named() -> None:
    assert check_content("ab cd " * (MAX_CONTENT // 6))
    with pytest.raises(InvalidRequest, match=f"100,002 characters, at most {MAX_CONTENT:,}"):
        check_content("abc" * 33_334, force=True)


class TestMetadata:
    def test_tags_have_limits(self) -> None:
        metadata = MemoryMetadata(tags=tuple(f"{number:0{MAX_TAG}}" for number in range(MAX_TAGS)))
        assert check_metadata(metadata) == metadata
        with pytest.raises(InvalidRequest, match=f"51 tags are too many; give at most {MAX_TAGS}"):
            check_metadata(MemoryMetadata(tags=(*metadata.tags, "one more")))
        with pytest.raises(InvalidRequest, match=f"has 101 characters; give at most {MAX_TAG}"):
            check_metadata(MemoryMetadata(tags=("x" * 101,)))

    def test_custom_has_limits_of_size_and_depth(self) -> None:
        def nested(depth: int) -> dict[str, object]:
            return {"in": nested(depth - 1)} if depth > 1 else {"in": 1}

        assert check_metadata(MemoryMetadata(custom=nested(MAX_CUSTOM_DEPTH)))
        with pytest.raises(InvalidRequest, match="more than 5 levels deep"):
            check_metadata(MemoryMetadata(custom=nested(MAX_CUSTOM_DEPTH + 1)))
        with pytest.raises(InvalidRequest, match="more than 5 levels deep"):
            check_metadata(MemoryMetadata(custom={"in": [[[[[]]]]]}))
        with pytest.raises(InvalidRequest, match=f"at most {MAX_CUSTOM:,}"):
            check_metadata(MemoryMetadata(custom={"text": "x" * MAX_CUSTOM}))

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), b"bytes"])
    def test_what_json_cannot_hold_is_refused(self, value: object) -> None:
        with pytest.raises(InvalidRequest, match="custom is no JSON object"):
            check_metadata(MemoryMetadata(custom={"value": value}))

    def test_what_is_nested_without_end_is_refused(self) -> None:
        endless: dict[str, object] = {}
        endless["in"] = endless
        with pytest.raises(InvalidRequest, match="custom is no JSON object"):
            check_metadata(MemoryMetadata(custom=endless))
        deep: dict[str, object] = json.loads('{"in":' * 900 + "1" + "}" * 900)
        with pytest.raises(InvalidRequest, match="more than 5 levels deep"):
            check_metadata(MemoryMetadata(custom=deep))


_FAKES = {kind: secrets[0] for kind, secrets in TOKENS.items()} | {"key": make_key().partition("\n")[0]}


class TestSecrets:
    @pytest.mark.parametrize("secret", _FAKES.values(), ids=list(_FAKES))
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\u2028"])
    def test_a_secret_is_refused_with_its_line_and_without_itself(self, secret: str, end: str) -> None:
        content = end.join(("The key for the sandbox", "is this one:", f" {secret} ", "and it never changes."))
        with pytest.raises(InvalidRequest, match=r"^line 3 looks like a secret \(.+\), which was not stored") as caught:
            refuse_secrets(content, _NOTHING)
        assert "force = true" in str(caught.value)
        assert secret not in str(caught.value)

    @pytest.mark.parametrize("secret", [_FAKES["GitHub token"], _FAKES["key"]])
    def test_so_it_is_in_tags_in_all_of_custom_and_in_other_fields(self, secret: str) -> None:
        for metadata in (
            MemoryMetadata(tags=("a", secret)),
            MemoryMetadata(custom={"a": {"b": [1, "x", f"first\n{secret}"]}}),
            MemoryMetadata(custom={"a": {secret: None}}),
            MemoryMetadata(source_file=f"first\n{secret}"),
        ):
            with pytest.raises(InvalidRequest, match=r"^the metadata looks like a secret") as caught:
                refuse_secrets("Nothing to see here\non two lines", metadata)
            assert secret not in str(caught.value)
        with pytest.raises(InvalidRequest, match=r"^the metadata looks like a secret"):
            refuse_secrets("The key is elsewhere", _NOTHING, f"https://x/{secret}")

    @pytest.mark.parametrize(
        "content",
        [
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "550e8400-e29b-41d4-a716-446655440000",
            "see https://example.org:8443/a/b?c=d&e=f#g@h and http://localhost:11434/v1",
            "redis://localhost:6379/0 and postgres://db.example.org/shop and ssh://git@example.org:22/x",
            "git@github.com:owner/name.git",
            "/usr/local/lib/python3.11/site-packages/charset_normalizer/github_token.py:12",
            r"C:\Users\me\AppData\Local\Programs\some_rather_long_folder_name_that_goes_on",
            "The password is kept in 1Password under 'shop, staging'; the token comes from $GITHUB_TOKEN",
            "api_key = os.environ['API_KEY']  # never written down",
            "AKIA keys and ghp_ tokens are refused; eyJ begins a JWT",
            "aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0IG9mIGEgc2VudGVuY2U=",
            "mail to jane.doe@example.org at 12:30, ticket ABC-12345",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
            "Diese Zeile enthält Umlaute: Schlüsselübergabe zwischen 10:00 und 12:00",
        ],
    )
    def test_what_only_looks_long_and_random_is_kept(self, content: str) -> None:
        assert _is_kept(content)


def _is_kept(content: str) -> bool:
    try:
        refuse_secrets(content, _NOTHING)
    except InvalidRequest:
        return False
    return True


@pytest.mark.parametrize(
    "content",
    [
        "pw=hunter2secretpw", "password = hunter2secretpw",
        "The staging password is hunter2secretpw.", 'DB_PASSWORD="Tr0ub4dor&3"', "pwd: qwerty12345",
        "passwd=abc12345!", '{"password": "s3cr3t!"}', "api_key: 9f8e7d6c5b4a39281706", "auth_token := q8w7e6r5t4y3u2i1",
        "client_secret='kJ8-dkfj39'", "Log in to staging with user bob and password: Winter2024!", "spring.datasource.password=p4ssw0rdXY",
        "set the admin password to Zx9!vbnm12", "export SECRET_KEY=d41d8cd98f00b204",
    ],
)  # fmt: skip
def test_a_password_in_plain_text_is_refused_and_not_repeated(content: str) -> None:
    with pytest.raises(InvalidRequest, match="was not stored") as refused:
        refuse_secrets(content, _NOTHING)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        "Passwords are hashed with argon2id and a pepper", "password: str", "The password is hashed with bcrypt12 rounds",
        "password = os.environ['DB_PASSWORD_1']", "token = settings.API_TOKEN_2", "password: ${DB_PASS_2}", "token ttl is 3600s",
        "password_min_length = 12characters", "The access token is base64url-encoded", "secret: vault/prod/db1", "token: <token-123>",
        "api_key=YOUR_KEY_1", "The token is refreshed after 15 minutes", "token = uuid4().hex12345", "tokens: 4096tokens",
        "The session token is sha256hashed", "auth_token = get_token2()", "password == hashed_password2", "pass: 128 tests, 2 skipped",
        "Set the password to at least 12 characters", "token: 30000ms", "secret = SECRET_NAME_2", "api key: see 1password vault",
        "credentials: ~/.aws/credentials2", "the token is a JWT2-style string", "pwd: /home/user1/project", "password is required",
        "The client secret is rotated every 90 days", "Token is opaque; never parse it", "pass: true", "token=12345678",
    ],
)  # fmt: skip
def test_speaking_of_passwords_is_no_secret(content: str) -> None:
    assert _is_kept(content)

"""Which test goes with which file."""

from __future__ import annotations

import pytest

from rag_ls.search.roles import is_named_after, named_after


@pytest.mark.parametrize(
    ("test", "path"),
    [
        ("tests/net/test_client.py", "src/net/client.py"), ("client_test.go", "client.go"), ("src/client_test.py", "src/client.py"),
        ("src/test/java/a/ClientTest.java", "src/main/java/a/Client.java"), ("ui/Button.spec.tsx", "ui/Button.tsx"),
        ("__tests__/button.test.js", "src/Button.js"), ("spec/models/user_spec.rb", "app/models/user.rb"),
        ("tests/test_storage.py", "app/storage/__init__.py"), ("tests/cart.rs", "src/cart.rs"),
        ("Tests/CartTests.swift", "Sources/Cart.swift"), ("tests/test_http_client.py", "lib/HttpClient.py"),
        ("src/addDays/test.ts", "src/addDays/index.ts"), ("src/fsm/tests.rs", "src/fsm/mod.rs"), ("src/fsm/tests.rs", "src/fsm.rs"),
    ],
)  # fmt: skip
def test_a_test_is_named_after_its_file(test: str, path: str) -> None:
    assert is_named_after(test, path)


@pytest.mark.parametrize(
    ("test", "path"),
    [
        ("tests/test_client.py", "src/server.py"),
        ("tests/test_clients.py", "src/client.py"),
        ("tests/conftest.py", "src/a.py"),
    ],
)
def test_other_names_do_not_count(test: str, path: str) -> None:
    assert not is_named_after(test, path)


def test_a_test_belongs_to_the_namesake_that_is_nearest() -> None:
    tests = ["tests/galaxy/test_api.py", "tests/module_utils/test_api.py", "tests/test_api.py", "tests/test_cart.py"]
    files = ["lib/galaxy/api.py", "lib/module_utils/api.py", "lib/module_utils/api.ts", "lib/cart.py"]
    assert named_after("lib/galaxy/api.py", tests, lambda: files) == ["tests/galaxy/test_api.py", "tests/test_api.py"]
    assert named_after("lib/module_utils/api.ts", tests[1:2], lambda: ["lib/galaxy/api.py"]) == tests[1:2]

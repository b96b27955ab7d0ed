"""Which test goes with which file."""

from __future__ import annotations

import pytest

from rag_ls.namesakes import imports, is_named_after


@pytest.mark.parametrize(
    ("test", "path"),
    [
        ("tests/net/test_client.py", "src/net/client.py"), ("client_test.go", "client.go"), ("src/client_test.py", "src/client.py"),
        ("src/test/java/a/ClientTest.java", "src/main/java/a/Client.java"), ("ui/Button.spec.tsx", "ui/Button.tsx"),
        ("__tests__/button.test.js", "src/Button.js"), ("spec/models/user_spec.rb", "app/models/user.rb"),
        ("tests/test_storage.py", "app/storage/__init__.py"), ("tests/cart.rs", "src/cart.rs"),
        ("Tests/CartTests.swift", "Sources/Cart.swift"), ("tests/test_http_client.py", "lib/HttpClient.py"),
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


@pytest.mark.parametrize(
    ("module", "names", "test", "path"),
    [
        ("net.client", (), "tests/a.py", "src/net/client.py"), ("net", ("client",), "tests/a.py", "src/net/client.py"),
        ("proj.net.client", (), "tests/a.py", "net/client.py"), ("..net.client", ("x",), "pkg/tests/a.py", "pkg/net/client.py"),
        ("../src/cart", (), "tests/cart.test.js", "src/cart.ts"), ("./cart.js", (), "src/cart.test.js", "src/cart.js"),
        ("../src/ui", (), "tests/a.test.ts", "src/ui/index.ts"), ("example.com/proj/queue", (), "e2e/a_test.go", "queue/retry.go"),
        ("com.acme.Cart", (), "src/test/java/com/acme/T.java", "src/main/java/com/acme/Cart.java"),
        ("crate::cart", (), "tests/a.rs", "src/cart.rs"), ("storage", (), "tests/a.py", "app/storage/__init__.py"),
    ],
)  # fmt: skip
def test_an_import_is_resolved_by_its_end(module: str, names: tuple[str, ...], test: str, path: str) -> None:
    assert imports(module, names, test, path)


@pytest.mark.parametrize(
    ("module", "test", "path"),
    [("os.path", "tests/a.py", "path.py"), ("./cart", "tests/a.js", "src/cart.js"), ("net", "tests/a.py", "src/net/client.py"),
     ("", "tests/a.py", "src/a.py"), (".", "tests/a.py", "src/a.py")],
)  # fmt: skip
def test_another_module_is_not_taken_for_it(module: str, test: str, path: str) -> None:
    assert not imports(module, (), test, path)

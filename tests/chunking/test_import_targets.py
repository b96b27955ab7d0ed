"""Which document an import means."""

from __future__ import annotations

import pytest

from rag_ls.chunking import means
from rag_ls.model import Import


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
    assert means(Import(module, names, 1), test, path)


@pytest.mark.parametrize(
    ("module", "test", "path"),
    [("os.path", "tests/a.py", "path.py"), ("./cart", "tests/a.js", "src/cart.js"), ("net", "tests/a.py", "src/net/client.py"),
     ("", "tests/a.py", "src/a.py"), (".", "tests/a.py", "src/a.py")],
)  # fmt: skip
def test_another_module_is_not_taken_for_it(module: str, test: str, path: str) -> None:
    assert not means(Import(module, (), 1), test, path)

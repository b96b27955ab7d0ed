"""A name that is declared among others in one chunk is found there, with its own lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_ls.engine.client import Client
from rag_ls.engine.requests import SearchRequest
from rag_ls.engine.session import ProjectSession
from rag_ls.indexing import Depth
from rag_ls.lsp.features.symbols import symbol_of
from rag_ls.model import Chunk
from tests.support import write

_COUNT = 40
_OTHER = 7


def _many(line: Callable[[int], str]) -> str:
    return "\n".join(map(line, range(_COUNT))) + "\n"


# A file of small declarations, the name of the declaration on a line, and a file that uses it.
_KINDS: dict[str, tuple[str, str, Callable[[int], str]]] = {
    "ts": (
        _many("export const width{0} = {0};".format),
        "width{}",
        "import {{ width{0} }} from './names';\nexport function draw{0}() {{\n  return width{0} + width{0};\n}}\n".format,
    ),
    "go": (
        "package names\n\nconst (\n" + _many("\tHeight{0} = {0}".format) + ")\n",
        "Height{}",
        "package draw\n\nfunc Draw{0}() int {{\n\treturn names.Height{0} + names.Height{0}\n}}\n".format,
    ),
    "py": (
        _many("DEPTH_{0} = {0}".format),
        "DEPTH_{}",
        "from names import DEPTH_{0}\n\n\ndef draw_{0}():\n    return DEPTH_{0} + DEPTH_{0}\n".format,
    ),
    "rs": (
        _many("pub const AREA_{0}: u32 = {0};".format),
        "AREA_{}",
        "use crate::names::AREA_{0};\n\npub fn draw_{0}() -> u32 {{\n    AREA_{0} + AREA_{0}\n}}\n".format,
    ),
    "kt": (
        _many("const val VOLUME_{0} = {0}".format),
        "VOLUME_{}",
        "fun draw{0}(): Int {{\n    return VOLUME_{0} + VOLUME_{0}\n}}\n".format,
    ),
    "sql": (
        _many("CREATE TABLE parcel_{0} (id int);".format),
        "parcel_{}",
        "SELECT * FROM parcel_{0} JOIN parcel_{0} other ON other.id = parcel_{0}.id;\n".format,
    ),
}


def _index(client: Client, root: Path, files: dict[str, str]) -> ProjectSession:
    view = client.open(write(root, files))
    view.indexing.index_tree(Depth.WORDS)
    assert view.indexing.wait_until_idle(60, embeddings=False)
    return view


def _first(view: ProjectSession, query: str) -> Chunk:
    return view.search(SearchRequest(query, k=5)).hits[0].item.chunk


@pytest.mark.slow
@pytest.mark.parametrize("kind", _KINDS)
def test_its_declaration_comes_first_with_its_line(client: Client, tmp_path: Path, kind: str) -> None:
    declared, name, use = _KINDS[kind]
    files = {f"src/names.{kind}": declared} | {f"src/use_{at}.{kind}": use(at) for at in range(_COUNT)}
    view = _index(client, tmp_path / "small", files)
    found = {name.format(at): _first(view, name.format(at)) for at in range(_COUNT)}
    lines = declared.split("\n")
    assert {asked: chunk.path for asked, chunk in found.items()} == dict.fromkeys(found, f"src/names.{kind}")
    assert all(name in lines[chunk.start_line - 1] for name, chunk in found.items())
    assert {asked: chunk.symbol.rpartition(".")[2] for asked, chunk in found.items()} == {
        asked: asked for asked in found
    }


def test_an_editor_is_offered_its_line_and_name(client: Client, tmp_path: Path) -> None:
    declared, name, use = _KINDS["ts"]
    view = _index(client, tmp_path / "small", {"src/names.ts": declared, "src/use.ts": use(_OTHER)})
    symbol = symbol_of(_first(view, name.format(_OTHER)), "file:///names.ts")
    assert symbol.name == name.format(_OTHER)
    assert symbol.location.range.start.line == _OTHER


def test_the_comment_above_it_is_shown_and_its_neighbours_are_not(client: Client, tmp_path: Path) -> None:
    text = "#define LOW 1\n// As wide as a page.\n// In points.\n#define WIDE 2\n#define HIGH 3\n"
    view = _index(client, tmp_path / "small", {"names.h": text, "use.c": "int use(void) { return WIDE + WIDE; }\n"})
    found = _first(view, "WIDE")
    assert found.text == "// As wide as a page.\n// In points.\n#define WIDE 2\n"
    assert (found.start_line, found.end_line) == (2, 4)
    assert text.encode()[found.start_byte : found.end_byte].decode() == found.text


def test_a_small_declaration_that_is_like_another_name_is_not_taken_for_a_slip(client: Client, tmp_path: Path) -> None:
    text = "const maxRetries1 = 1;\nconst maxRetries2 = 2;\nconst maxRetries3 = 3;\n"
    large = "".join(f"  console.log('retry number {at}');\n" for at in range(40))
    files = {"src/limits.ts": text, "src/large.ts": f"export function maxRetries21() {{\n{large}}}\n"}
    assert _first(_index(client, tmp_path / "small", files), "maxRetries2").path == "src/limits.ts"


def test_keys_of_data_come_after_code_of_that_name(client: Client, tmp_path: Path) -> None:
    files = {
        "locales.yaml": "first: 1\nwelcome: Hello\nlast: 2\n",
        "src/pages.py": "FIRST = 1\n\n\ndef welcome():\n    return FIRST\n",
    }
    assert _first(_index(client, tmp_path / "small", files), "welcome").path == "src/pages.py"

"""What the marketplace shows of the extension: the checks that `vsce publish` and its readers would make, before that."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
PICTURES = "https://raw.githubusercontent.com/rag-ls/rag-ls/main/"


def _manifest() -> dict[str, Any]:
    return json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))


def test_it_has_what_the_marketplace_asks_for() -> None:
    manifest = _manifest()
    for name in ("publisher", "displayName", "description", "license", "repository", "categories", "keywords", "bugs"):
        assert manifest[name], name
    assert (EXTENSION / "LICENSE").is_file()
    assert len(manifest["keywords"]) <= 30
    icon = (EXTENSION / manifest["icon"]).read_bytes()
    width, height = struct.unpack(">II", icon[16:24])
    assert icon.startswith(b"\x89PNG")
    assert width == height >= 128


def test_its_page_shows_pictures_and_links_that_hold_outside_the_repository() -> None:
    readme = (EXTENSION / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert [link for link in links if not link.startswith("https://")] == []
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme)
    assert pictures
    for picture in pictures:
        assert picture.startswith(PICTURES)
        # The marketplace shows no SVG.
        assert picture.endswith(".png")
        assert (ROOT / picture.removeprefix(PICTURES)).is_file(), picture

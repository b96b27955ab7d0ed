"""Set-up keeps away from what a site generator publishes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.rules.other_tools import find_publisher
from tests.support import write

PAGE, ARCHITECTURE = "docs/patterns/layers.md", "ARCHITECTURE.yml"


@pytest.mark.parametrize(
    ("files", "config"),
    [
        ({"mkdocs.yml": "site_name: x\n"}, "mkdocs.yml"),
        ({"mkdocs.yml": "docs_dir: 'docs'\n"}, "mkdocs.yml"),
        ({"website/docusaurus.config.js": "docs: {path: '../docs'}\n"}, "website/docusaurus.config.js"),
        ({"docusaurus.config.ts": "export default {}\n"}, "docusaurus.config.ts"),
        ({"docs/conf.py": "project = 'x'\nextensions = []\n"}, "docs/conf.py"),
        ({"docs/_config.yml": "theme: minima\n"}, "docs/_config.yml"),
        ({"docs/.vitepress/config.ts": "export default {}\n"}, "docs/.vitepress"),
        ({"docs/book.toml": "[book]\ntitle = 'x'\n"}, "docs/book.toml"),
        ({"docs/antora.yml": "name: x\n"}, "docs/antora.yml"),
        ({"docs/CNAME": "example.org\n"}, "docs/CNAME"),
        ({"config.toml": "baseURL = 'x'\ncontentDir = 'docs'\n"}, "config.toml"),
    ],
)
def test_pages_below_a_published_folder_are_found_with_the_generators_configuration(
    tmp_path: Path, files: dict[str, str], config: str
) -> None:
    write(tmp_path, files)
    assert find_publisher(tmp_path, PAGE) == config
    assert find_publisher(tmp_path, ARCHITECTURE) == ""


@pytest.mark.parametrize(
    "files",
    [
        {"website/docusaurus.config.js": "docs: {path: 'docs'}\n"},
        {"docs/conf.py": "def read():\n    pass\n"},
        {"config.toml": "[database]\nurl = 'x'\n"},
        {"docs/guide.md": "x"},
    ],
)
def test_a_folder_that_no_generator_publishes_is_free(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    assert find_publisher(tmp_path, PAGE) == ""


def test_a_jekyll_site_publishes_its_whole_root(tmp_path: Path) -> None:
    write(tmp_path, {"_config.yml": "theme: minima\n"})
    assert find_publisher(tmp_path, ARCHITECTURE) == "_config.yml"

"""What goes into a release, and what it says of itself."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from rag_ls import __version__
from scripts import release

ROOT = Path(__file__).parents[2]
CHANGES = "# Changes\n\n## Unreleased\n\n- New.\n\n## 0.2.0 (2026-12-01)\n\n- One.\n\n### Two\n\n- Three.\n\n## 0.1.0\n\n- First.\n"


def test_a_version_s_notes_are_its_section_of_the_changelog() -> None:
    assert release.notes(CHANGES, "Unreleased") == "- New."
    assert release.notes(CHANGES, "0.2.0") == "- One.\n\n### Two\n\n- Three."
    assert release.notes(CHANGES, "0.1.0") == "- First."


@pytest.mark.parametrize("changelog", [CHANGES, CHANGES + "\n## 0.3.0\n"])
def test_a_version_without_notes_is_named_with_those_that_have_some(changelog: str) -> None:
    with pytest.raises(release.NotReady, match=r"`## 0\.3\.0`; it has Unreleased, 0\.2\.0, 0\.1\.0"):
        release.notes(changelog, "0.3.0")


def test_beginning_a_version_writes_its_number_and_keeps_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changelog, version = tmp_path / "CHANGELOG.md", tmp_path / "__init__.py"
    changelog.write_text(CHANGES)
    version.write_text('A = 1\n\n__version__ = "0.1.0"\n')
    monkeypatch.setattr(release, "CHANGELOG", changelog)
    monkeypatch.setattr(release, "VERSION_FILE", version)
    release.begin_version("0.3.0")
    assert version.read_text() == 'A = 1\n\n__version__ = "0.3.0"\n'
    assert release.notes(changelog.read_text(), "0.3.0") == "- New."
    assert release.notes(changelog.read_text(), "0.2.0").startswith("- One.")
    for wrong in ("next", "0.4.0"):
        with pytest.raises(release.NotReady):
            release.begin_version(wrong)
    assert release.current_version() == "0.3.0"


def test_the_changelog_tells_of_this_version_and_has_a_place_for_the_next_one() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert release.notes(changelog, __version__)
    headings = re.findall(r"^## (\S+)", changelog, flags=re.MULTILINE)
    assert headings[:2] == [release.UNRELEASED, __version__]


def test_the_model_that_is_released_is_the_one_that_is_asked_for() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"rag-ls-model=={release.model_version()}" in wanted
    assert release.current_version() == __version__


def test_each_python_that_is_promised_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = [found[1] for line in project["classifiers"] if (found := re.search(r"Python :: (3\.\d+)", line))]
    assert tuple(said) == release.PYTHONS
    assert project["requires-python"] == f">={release.PYTHONS[0]}"

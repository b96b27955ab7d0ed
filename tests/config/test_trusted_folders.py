"""The folders that the user trusts."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_ls.config.trust import TrustedFolders
from rag_ls.errors import StoreUnavailable


@pytest.fixture
def trusted(tmp_path: Path) -> TrustedFolders:
    return TrustedFolders(tmp_path / "data" / "trusted.json")


def test_no_folder_is_trusted_until_the_user_says_so(trusted: TrustedFolders, tmp_path: Path) -> None:
    assert not trusted.trusts(tmp_path)
    trusted.add(tmp_path)
    assert trusted.trusts(tmp_path)
    assert TrustedFolders(tmp_path / "data" / "trusted.json").folders() == (str(tmp_path.resolve()),)


def test_trust_counts_below_a_folder_and_not_above_or_beside_it(trusted: TrustedFolders, tmp_path: Path) -> None:
    trusted.add(tmp_path / "work")
    assert trusted.trusts(tmp_path / "work" / "below" / "deep")
    assert not trusted.trusts(tmp_path)
    assert not trusted.trusts(tmp_path / "work-too")


def test_a_link_is_trusted_as_the_folder_that_it_leads_to(trusted: TrustedFolders, tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "bad").mkdir()
    trusted.add(tmp_path / "good")
    (tmp_path / "to-good").symlink_to(tmp_path / "good")
    (tmp_path / "good" / "to-bad").symlink_to(tmp_path / "bad")
    assert trusted.trusts(tmp_path / "to-good")
    assert not trusted.trusts(tmp_path / "good" / "to-bad")


def test_trust_can_be_taken_back(trusted: TrustedFolders, tmp_path: Path) -> None:
    trusted.add(tmp_path)
    trusted.remove(tmp_path)
    assert not trusted.trusts(tmp_path)


def test_a_file_that_cannot_be_read_is_not_called_damaged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "trusted.json"
    file.mkdir()
    assert TrustedFolders(file).folders() == ()
    assert f"no folder is trusted: {file} cannot be read (Is a directory)" in caplog.text


@pytest.mark.parametrize("text", ["{", "[]", '{"trusted": 3}', '{"trusted": [3, "relative", null]}', "[" * 90_000])
def test_a_damaged_file_trusts_nothing_and_is_not_written_anew(
    trusted: TrustedFolders, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "data" / "trusted.json"
    file.parent.mkdir()
    file.write_text(text)
    assert not trusted.trusts(tmp_path)
    for change in (trusted.add, trusted.remove):
        with pytest.raises(StoreUnavailable, match=r"trusted\.json is damaged .*trust your folders again"):
            change(tmp_path)
    assert file.read_text() == text

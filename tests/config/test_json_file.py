"""Small files of the user's that several processes change: what cannot be read is never written anew."""

from __future__ import annotations

import errno
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from rag_ls.config import json_file
from rag_ls.config.json_file import JsonFile
from rag_ls.errors import StoreUnavailable


@pytest.fixture
def numbers(tmp_path: Path) -> JsonFile[tuple[int, ...]]:
    def parse(content: dict[str, Any]) -> tuple[int, ...]:
        return tuple(int(each) for each in content["numbers"])

    return JsonFile(
        tmp_path / "data/numbers.json",
        parse=parse,
        dump=lambda held: {"numbers": held},
        empty=(),
        holds="numbers",
        remedy="then count anew",
    )


def test_a_value_is_read_as_it_was_written(numbers: JsonFile[tuple[int, ...]]) -> None:
    assert numbers.read() == ()
    assert numbers.change(lambda held: (*held, 1)) == numbers.read() == (1,)


def test_keys_of_a_newer_version_stay(numbers: JsonFile[tuple[int, ...]]) -> None:
    numbers.path.parent.mkdir()
    numbers.path.write_text('{"numbers": [1], "letters": ["a"]}')
    numbers.change(lambda held: (*held, 2))
    assert json.loads(numbers.path.read_text()) == {"numbers": [1, 2], "letters": ["a"]}


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_file_holds_nothing_that_could_be_lost(numbers: JsonFile[tuple[int, ...]], text: str) -> None:
    numbers.path.parent.mkdir()
    numbers.path.write_text(text)
    assert numbers.change(lambda held: (*held, 1)) == (1,)


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "Expecting property name"), ("[]", "its content is no JSON object"), ("{}", "'numbers' is missing"),
     ('{"numbers": 3}', "not iterable"), ('{"numbers": ["x"]}', "invalid literal"), ("[" * 90_000, "too deep"),
     ("\xff", "can't decode")],
)  # fmt: skip
def test_a_damaged_file_is_named_with_the_remedy_and_stays(
    numbers: JsonFile[tuple[int, ...]], text: str, why: str
) -> None:
    numbers.path.parent.mkdir()
    numbers.path.write_bytes(text.encode("latin-1"))
    for do in (numbers.read, lambda: numbers.change(lambda held: (*held, 1))):
        with pytest.raises(StoreUnavailable, match=rf"numbers\.json is damaged \(.*{why}.*\): mend it.*count anew"):
            do()
    assert numbers.path.read_bytes() == text.encode("latin-1")


def test_a_file_that_cannot_be_read_now_is_not_written_anew(numbers: JsonFile[tuple[int, ...]]) -> None:
    numbers.path.parent.mkdir()
    # Root may read all files, but no link that leads to itself.
    numbers.path.symlink_to(numbers.path)
    for do in (numbers.read, lambda: numbers.change(lambda held: (*held, 1))):
        with pytest.raises(StoreUnavailable, match=r"numbers\.json cannot be read .*must be yours"):
            do()
    assert numbers.path.is_symlink()


def test_changes_at_the_same_time_are_all_kept(numbers: JsonFile[tuple[int, ...]]) -> None:
    threads = [
        threading.Thread(target=lambda each=each: numbers.change(lambda held: (*held, each))) for each in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers.read()) == list(range(8))


def test_a_lock_that_another_process_holds_is_no_matter_of_permissions(
    numbers: JsonFile[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_file, "_LOCK_S", 0.01)
    numbers.change(lambda held: (*held, 1))
    with (
        FileLock(numbers.path.with_suffix(".lock")),
        pytest.raises(StoreUnavailable, match=r"numbers\.json was not changed: another .*numbers\.lock .*; try again"),
    ):
        numbers.change(lambda held: (*held, 2))
    assert numbers.read() == (1,)


def test_what_stands_in_the_place_of_the_lock_is_named(numbers: JsonFile[tuple[int, ...]]) -> None:
    numbers.path.with_suffix(".lock").mkdir(parents=True)
    with pytest.raises(
        StoreUnavailable, match=r"numbers\.json cannot be changed \(.*numbers\.lock\): it and its folder"
    ):
        numbers.change(lambda held: (*held, 1))


def test_a_full_disk_is_no_matter_of_permissions(numbers: JsonFile[tuple[int, ...]]) -> None:
    def fill_up(_: tuple[int, ...]) -> tuple[int, ...]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(StoreUnavailable, match=r"numbers\.json cannot be changed \(No space .*\): make space"):
        numbers.change(fill_up)

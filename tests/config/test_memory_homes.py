"""The records that say whose memories are in a folder of the user's data."""

from __future__ import annotations

import json
from pathlib import Path

from rag_ls.config.identity import identity_of
from rag_ls.config.memory_homes import MemoryHomes
from rag_ls.config.trust import users_trusted_folders
from tests.support import git_repository


def test_memories_are_found_though_a_newer_version_noted_more_of_their_repository(tmp_path: Path) -> None:
    root = git_repository(tmp_path / "shop", {"a.py": "a = 1\n"})
    homes = MemoryHomes(tmp_path / "projects", users_trusted_folders())
    home = homes.create(identity_of(root))
    file = home.folder / "home.json"
    held = json.loads(file.read_text())
    assert held["places"]
    for place in held["places"].values():
        place["host"] = "example.org"
    file.write_text(json.dumps({**held, "colour": "green"}))
    assert homes.called(home.id) == home
    homes.note_removed(home, "2027-01-31T00:00:00.000Z")
    written = json.loads(file.read_text())
    assert (written["colour"], [place["host"] for place in written["places"].values()]) == ("green", ["example.org"])
    assert written["removed_at"]

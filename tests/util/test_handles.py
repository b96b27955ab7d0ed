"""Where a process has no file handle left, errors say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import finished, python, write

_WITHOUT_HANDLES = """
import os, resource, sys
from pathlib import Path
from rag_ls.config.settings import Settings
from rag_ls.engine.client import local_client
from rag_ls.errors import RagLsError
from rag_ls.indexing.files import read_source
from rag_ls.model import Scope
from rag_ls.project import Project
from rag_ls.storage import open_index, open_memories


root = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
index = open_index(Project(root).create_data_folder(), Settings())
index.let_go()

def told(work):
    taken = []
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    try:
        work()
        return "nothing"
    except RagLsError as error:
        return str(error)
    finally:
        for each in taken:
            os.close(each)

print(told(lambda: index.checkout.counts()))
print(told(lambda: open_memories(Project(root).data_folder, Scope.PROJECT, Settings())))
print(told(Project(root / "inner").create_data_folder))
print(told(lambda: read_source(root, "a.py", limit=1000)))
print(index.checkout.counts().documents)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="other systems count handles in another way")
def test_errors_name_the_limit_and_the_remedy_where_no_handle_is_left(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", {"a.py": "x = 1\n", "inner/b.py": "y = 2\n"})
    *told, documents = finished(python(_WITHOUT_HANDLES, root)).splitlines()
    assert len(told) == 4
    for each in told:
        assert "no file handle left (its limit is 64)" in each, each
        assert "ulimit -n" in each
        assert "writable" not in each
    # What was refused is to be had again.
    assert documents == "0"

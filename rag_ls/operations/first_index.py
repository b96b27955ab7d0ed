"""Looks at a folder before it is indexed for the first time."""

from __future__ import annotations

import itertools
from collections import Counter

from rag_ls.config.settings import Settings
from rag_ls.errors import NotConfirmed
from rag_ls.indexing.listing import Patterns, list_files
from rag_ls.project import Project
from rag_ls.storage import index_summary

MAX_UNASKED_FILES = 100_000
"""A larger tree is indexed only if the user insists: it may be more than one project."""
_MAX_SHOWN_FOLDERS = 5


def check_size(project: Project, settings: Settings) -> None:
    """Raise `NotConfirmed`, which names the largest folders, for a very large tree that has no index yet."""
    held = index_summary(project)
    if held is not None and held.documents:
        return
    files = list_files(project.root, Patterns.of(settings.index))
    first = itertools.islice(files, MAX_UNASKED_FILES + 1)
    # By the first two folders of each path.
    folders = Counter("/".join(path.split("/")[:-1][:2]) or "." for path in first)
    if folders.total() <= MAX_UNASKED_FILES:
        return
    largest = ", ".join(f"{folder} ({count:,})" for folder, count in folders.most_common(_MAX_SHOWN_FOLDERS))
    raise NotConfirmed(
        f"{project.root} holds more than {MAX_UNASKED_FILES:,} files. The largest folders so far are {largest}: "
        "list in .ragignore what is not worth finding, or index all of it with `rag-ls index --force`"
    )

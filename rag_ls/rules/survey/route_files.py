"""Reads the prefixes that Symfony's files of routes put before the controllers of a folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator

from rag_ls.rules.survey.file_facts import FilesPrefix

_FILE = re.compile(r"(^|/)config/routes(?:/[^/]+)?\.ya?ml$")
_ENTRY = re.compile(r"(?m)^[\w.@-]+:[ \t]*\n((?:[ \t]+.*\n|[ \t]*\n)+)")
_RESOURCE = re.compile(r"(?m)^[ \t]+resource:[ \t]*(?:\n[ \t]+path:[ \t]*)?[\"']?([^\s\"'#]+)")
_PREFIX = re.compile(r"(?m)^[ \t]+prefix:[ \t]*[\"']?(/[^\s\"'#]*)")


def folder_prefixes(paths: Iterable[str], read: Callable[[str], str]) -> Iterator[tuple[str, FilesPrefix]]:
    """Each prefix with the file that gives it; a folder within another one comes first."""
    found = list[tuple[str, FilesPrefix]]()
    for path in filter(_FILE.search, paths):
        for entry in _ENTRY.findall(read(path) + "\n"):
            resource, prefix = _RESOURCE.search(entry), _PREFIX.search(entry)
            if resource is not None and resource[1].startswith("."):
                folder = posixpath.normpath(posixpath.join(posixpath.dirname(path), resource[1]))
                text = prefix[1] if prefix is not None else ""
                found.append((path, FilesPrefix(text, (), "", "#[Route", (), folder=folder)))
    yield from sorted(found, key=lambda each: -len(each[1].folder))

"""Which test goes with which file, by the names of both and by what the test imports. Pure functions of paths."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

# Documents that stand for the folder that they are in.
_FOLDERS = frozenset({"__init__", "index", "mod", "lib", "__main__"})
_MARKS = re.compile(r"^(?:tests?[_-])|(?:[._-](?:tests?|specs?|unit|e2e))+$", re.I)
_SUFFIX_MARKS = re.compile(r"(?<=[a-z0-9])(?:Tests?|Spec|TestCase|IT)$")
_ROOTS = frozenset({"crate", "self", "super", "@", "~", ""})


def tested_name(path: str) -> str:
    """What a test's file name says that it tests, in lower case: `test_client.py`, `ClientTest.java` -> `client`."""
    stem = _stem(path)
    return _plain(_SUFFIX_MARKS.sub("", _MARKS.sub("", stem)))


def own_name(path: str) -> str:
    """A file's name in lower case, without suffix; that of its folder for `__init__.py` and the like."""
    return _plain(_parts(path)[-1]) if _parts(path) else ""


def is_named_after(test: str, path: str) -> bool:
    """Whether a test's file name is made of the other's."""
    name = own_name(path)
    return bool(name) and tested_name(test) == name


def imports(module: str, names: Sequence[str], test: str, path: str) -> bool:
    """Whether an import in a test means the document at `path`, as far as the ends of both tell."""
    target = _parts(path)
    if not target:
        return False
    if module.startswith(("./", "../")):
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(test), module))
        return _parts(joined) == target or _parts(joined + "/index") == target
    wanted = _module_parts(module)
    if path.endswith(".go"):
        # A Go import names the folder.
        return len(target) > 1 and (_ends_with(wanted, target[:-1]) or _ends_with(target[:-1], wanted))
    return any(_means(each, target) for each in (wanted, *([*wanted, name] for name in names if name != "*")))


def closeness(test: str, path: str) -> int:
    """How many folders two paths share, apart from the order and from those that hold sources or tests."""
    return len(set(test.split("/")[:-1]) & set(path.split("/")[:-1]))


def _means(wanted: list[str], target: list[str]) -> bool:
    if not wanted:
        return False
    return _ends_with(target, wanted) or (len(target) > 1 and _ends_with(wanted, target))


def _ends_with(parts: list[str], end: list[str]) -> bool:
    return bool(end) and parts[-len(end) :] == end


def _module_parts(module: str) -> list[str]:
    if "/" in module:
        parts = re.sub(r"\.(?:[cm]?[jt]sx?|vue|svelte|h|hpp|rb|php|dart)$", "", module).split("/")
    else:
        parts = re.split(r"::|\.|\\", module)
    return [part for part in parts if part not in _ROOTS and not part.startswith(".")]


def _parts(path: str) -> list[str]:
    """A path's folders and its name without suffix; without the name where it stands for the folder."""
    *folders, _ = path.split("/")
    stem = _stem(path)
    return folders if stem in _FOLDERS and folders else [*folders, stem]


def _stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem else suffix


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()

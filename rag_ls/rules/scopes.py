"""Tells which files a rule is about: those that its text names, and those beside its document."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_ls.chunking import RuleKind, rule_kind
from rag_ls.util.path_globs import glob_matcher

# In quotes or code: any path or glob. In prose: what has a slash, so that no plain word is taken for a folder.
_QUOTED = re.compile(r"[`\"']([\w@.*{}\[\],/-]{2,200})[`\"']")
_BARE = re.compile(r"(?<![\w`\"'/.:@])((?:[\w@.*-]{1,255}+/)++[\w@.*{},-]*)")
_LIKE_PATH = re.compile(r"/|\*|\.[A-Za-z][A-Za-z0-9]{0,5}$")
_MAX_NAMED = 60


@lru_cache(maxsize=4096)
def paths_named(text: str) -> tuple[str, ...]:
    """The paths and globs that a rule's text names, in order."""
    found = [*_QUOTED.findall(text), *_BARE.findall(text)]
    named = (each.strip(",").removeprefix("./") for each in found if _LIKE_PATH.search(each) and "//" not in each)
    return tuple(dict.fromkeys(each for each in named if each.strip("/.*")))[:_MAX_NAMED]


def is_about(text: str, path: str) -> str:
    """The path or glob by which a rule's text names a file or folder; empty if it does not."""
    return next((named for named in paths_named(text) if _covers(named, path)), "")


def governs(rule_path: str, path: str) -> bool:
    """Whether a document of constraints stands in a folder of its own, above a file: a package's own `AGENTS.md`."""
    folder = rule_path.rpartition("/")[0]
    return bool(folder) and rule_kind(rule_path) is RuleKind.CONSTRAINT and path.startswith(folder + "/")


def _covers(named: str, path: str) -> bool:
    if "*" in named or "{" in named:
        matches = glob_matcher(named)
        return matches(path) or ("/" in named and glob_matcher(f"**/{named}")(path))
    plain = named.strip("/")
    if not plain:
        return False
    return f"/{path}/".find(f"/{plain}/") >= 0 if "/" in named else path.rsplit("/", 1)[-1] == plain

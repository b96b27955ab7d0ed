"""Tells which files a rule is about: those that its text names, and those beside its document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rag_ls.chunking import RuleKind, rule_kind
from rag_ls.util.path_globs import glob_matcher, matches_any

# In quotes or code: any path or glob. In prose: only words with a slash, so that no plain word is taken for a folder.
# An import is named as `importing -> imported`.
_QUOTED = re.compile(r"(?:[`\"']|(?<=->) )([\w@.*{}\[\],/-]{2,200})(?:[`\"']|(?= ->))")
_BARE = re.compile(r"(?<![\w`\"'/.:@])((?:[\w@.*-]{1,255}+/)++[\w@.*{},-]*)")
_LIKE_PATH = re.compile(r"/|\*|\.[A-Za-z][A-Za-z0-9]{0,5}$")
_MAX_NAMED = 60
_FOREIGN = re.compile(
    r"(?i)(?:^|/)(?:vendor|third[_-]party|node_modules|bower_components|site-packages|\.[\w-]+/(?:[\w-]+/)?(?:skills|plugins))/"
)
_TOOL_FOLDER = re.compile(
    r"(?i)/(?:\.\w+/(?:rules|steering)|\.clinerules|\.junie|\.claude|\.github(?!/workflows$)|docs?/(?:architecture/)?(?:adrs?|decisions)|adrs?)(?:/.*)?$"
)
# Text between two lines, without a key, is no front matter.
_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?=\s*[\w-]+[ \t]*:\s)(.{0,4000}?)\n---[ \t]*(?:\r?\n|$)", re.DOTALL
)
_GLOBS = re.compile(r"(?m)^(?:globs|applyTo|paths|fileMatchPattern)[ \t]*:[ \t]*([^\n]*)((?:\n[ \t]*-[^\n]*)*)")
_ALWAYS = re.compile(r"(?m)^(?:alwaysApply[ \t]*:[ \t]*true|(?:trigger|inclusion)[ \t]*:[ \t]*always(?:_on)?)\b")
_FILE_NAME = re.compile(r"[^/]\.[a-z][a-z\d]{0,9}$")
"""The end of a path that is no folder's."""
_GLOB_ITEM = re.compile(r"(?m)^[ \t]*-[ \t]*([^\n]+)$")


@lru_cache(maxsize=4096)
def paths_named(text: str) -> tuple[str, ...]:
    """The paths and globs that a rule's text names, in order."""
    found = [*_QUOTED.findall(text), *_BARE.findall(text)]
    named = (each.strip(",").removeprefix("./") for each in found if _LIKE_PATH.search(each) and "//" not in each)
    return tuple(dict.fromkeys(each for each in named if each.strip("/.*")))[:_MAX_NAMED]


def is_about(text: str, path: str) -> str:
    """The path or glob by which a rule's text names a file or folder; empty if it does not."""
    return next((named for named in paths_named(text) if _covers(named, path)), "")


def name_depth(text: str, path: str) -> float:
    """The part of a path that a rule's text names: 1 for the file itself or a glob that matches it, little for a folder far above."""
    return max((_depth(named, path) for named in paths_named(text) if _covers(named, path)), default=0.0)


def is_foreign(rule_path: str) -> bool:
    """Whether a document of rules came with others' code: a vendored package, a plugin, a skill."""
    return _FOREIGN.search(rule_path) is not None


def governs(rule_path: str, path: str) -> bool:
    """Whether a document of constraints stands in a folder of its own, above a file: a package's own `AGENTS.md`."""
    return is_for_folder(rule_path) and path.startswith(home_of(rule_path) + "/")


def is_for_others(rule_path: str, path: str) -> bool:
    """Whether a document of constraints is for a folder that a file or folder neither lies in nor holds."""
    home, place = f"{home_of(rule_path)}/", f"{path.strip('/')}/"
    return is_for_folder(rule_path) and not (place.startswith(home) or home.startswith(place))


def is_for_folder(rule_path: str) -> bool:
    """Whether a document of constraints is for a folder of the project, not for all of it."""
    return bool(home_of(rule_path)) and rule_kind(rule_path) is RuleKind.CONSTRAINT


def home_of(rule_path: str) -> str:
    """The folder that a document of rules is for: the one that holds `.cursor`, `.github` or `docs/adr`, else its own."""
    folder, _, name = f"/{rule_path}".rpartition("/")
    if name.lower() == "contributing.md":
        folder = re.sub(r"/docs?(?:/.*)?$", "", folder)
    return _TOOL_FOLDER.sub("", folder).strip("/")


def may_state_globs(rule_path: str) -> bool:
    """Whether a document is of a tool that lets rules say for which files they are."""
    return "/." in f"/{rule_path}"


def without_head(text: str) -> str:
    """The text of a document without its front matter, which is for tools."""
    return _FRONT_MATTER.sub("", text, count=1) if text.startswith(("---", "\ufeff---")) else text


def stated_globs(text: str) -> str:
    """The globs for which the head of a tool's rules says that they are, such as `globs:` or `applyTo:`; empty for all files."""
    head = _FRONT_MATTER.match(text)
    found = _GLOBS.search(head[1]) if head else None
    if head is None or found is None or _ALWAYS.search(head[1]):
        return ""
    values = _GLOB_ITEM.findall(found[2]) if found[2].strip() else [found[1]]
    globs = [value.strip().strip("[]").strip("\"' ") for value in values]
    return ",".join(each.replace('"', "").replace("'", "") for each in globs if each.strip("*/ "))


def in_scope(globs: str, rule_path: str, path: str) -> bool:
    """Whether the globs of a document of rules, which count from the folder that it is for, match a file."""
    home = home_of(rule_path)
    inner = path.removeprefix(f"{home}/") if home else path
    return (not home or inner != path) and glob_matcher(globs)(inner)


def may_be_for(rule: Mapping[str, Any], place: str) -> bool:
    """Whether a rule may be for a file or folder: its globs do not leave it out."""
    wanted = next(filter(None, (_list_texts(rule.get(key)) for key in ("files", "layers", "independent"))), [])
    if matches_any(_list_texts(rule.get("not_files")), place):
        return False
    return not wanted or matches_any(wanted, place) or any(_may_hold(place, each) for each in wanted)


def _may_hold(place: str, glob: str) -> bool:
    """Whether a path may be that of a folder with files that a glob matches."""
    head = re.split(r"[*?\[{]", glob, maxsplit=1)[0].removeprefix("./")
    is_below = head != glob and f"{place}/".startswith(head) and not _FILE_NAME.search(place)
    return is_below or head.startswith(f"{place}/")


def _list_texts(value: object) -> list[str]:
    """A value of YAML as a list of texts: the items of a list, also of lists in it."""
    if isinstance(value, list):
        return [text for item in value for text in _list_texts(item)]
    return [] if value is None else [str(value)]


def _depth(named: str, path: str) -> float:
    parts, name = path.strip("/").split("/"), named.strip("/").split("/")
    ends = (end for end in range(len(parts), 0, -1) if parts[max(0, end - len(name)) : end] == name)
    # A glob also matches the file itself.
    return next(ends, len(parts)) / len(parts)


def _covers(named: str, path: str) -> bool:
    if "*" in named or "{" in named:
        matches = glob_matcher(named)
        return matches(path) or ("/" in named and glob_matcher(f"**/{named}")(path))
    plain = named.strip("/")
    if not plain:
        return False
    return f"/{path}/".find(f"/{plain}/") >= 0 if "/" in named else path.rsplit("/", 1)[-1] == plain

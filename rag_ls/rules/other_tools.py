"""Recognises an ARCHITECTURE.yml of another tool, which is left alone."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

from rag_ls.rules.checks.architecture import RulesUnreadable, parse_yaml
from rag_ls.util.paths import text_in

SECTIONS = (
    "stacks", "layers", "middleware", "responses", "imports", "naming", "errors", "tests", "endpoints", "events",
)  # fmt: skip
"""The keys of ARCHITECTURE.yml that hold claims; beside them stand `project` and `rules`."""
# People head their own rules with the others.
_OURS = frozenset(
    {*SECTIONS, "project", "rules", "principles", "guidelines", "constraints", "conventions", "policies", "standards"}
)
# A text with such a word was written for people.
_DIRECTIVE = re.compile(
    r"\b(?:must|never|always|shall|should|do not|don't|forbidden|no|not|cannot|only|avoid|use|prefer|keep)\b",
    re.IGNORECASE,
)
_MAX_NAMED = 5


def name_foreign_keys(text: str, path: str) -> str:
    """Some keys of an ARCHITECTURE.yml that has none of ours, and tells nobody what to do; empty for any other."""
    if _DIRECTIVE.search(text):
        return ""
    try:
        content, _ = parse_yaml(text, path)
    except RulesUnreadable:
        return ""
    if not isinstance(content, dict):
        return ""
    keys = sorted(map(str, content))
    return ", ".join(keys[:_MAX_NAMED]) if _OURS.isdisjoint(map(str.casefold, keys)) else ""


def find_publisher(root: Path, path: str) -> str:
    """The configuration of the site generator that publishes the file at a project path; "" where none does.

    It lies in the root or in one of its folders. Which folders it names is hardly looked at: a file that is taken for published
    is written where the user asks for it.
    """
    for folder in ("", *_list_names(root)):
        for name in _list_names(root / folder):
            config = posixpath.join(folder, name)
            if _publishes(root, config, path):
                return config
    return ""


def _publishes(root: Path, config: str, path: str) -> bool:
    """Whether a file or folder is a generator's, and publishes a path: what lies beside it, and `docs`, if it is in the root."""
    folder, name = posixpath.split(config)
    mark = next((mark for pattern, mark in _GENERATORS.items() if re.fullmatch(pattern, name)), None)
    if mark is None:
        return False
    text = text_in(root, config) if (root / config).is_file() else ""
    if not re.search(mark, text):
        return False
    if folder:
        return path.startswith(f"{folder}/") or ("../docs" in text and path.startswith("docs/"))
    return path.startswith("docs/") or re.fullmatch(_WHOLE, name) is not None


def _list_names(folder: Path) -> list[str]:
    try:
        return sorted(
            entry.name for entry in os.scandir(folder) if entry.name not in (".git", ".rag-ls", "node_modules")
        )
    except OSError:
        return []


_WHOLE = r"_config\.ya?ml|conf\.py|CNAME|\.nojekyll"
"""The configurations that publish all of the root."""
_GENERATORS = {
    r"(?:mkdocs|properdocs|antora(?:-playbook)?)\.ya?ml|zensical\.toml|docusaurus\.config\.[cm]?[jt]s|\.(?:vitepress|vuepress)"
    r"|\.eleventy\.js|eleventy\.config\.[cm]?js|\.gitbook\.yaml|mint\.json|_sidebar\.md|_config\.ya?ml|CNAME|\.nojekyll": "",
    r"conf\.py": r"(?m)^(?:extensions|html_theme|master_doc|root_doc|source_suffix|project)\s*=",
    r"(?:hugo|config)\.(?:toml|ya?ml|json)": r"(?i)\b(?:baseURL|languageCode)\b",
    r"book\.toml": r"\[book\]", r"docs\.json": "mintlify", r"index\.html": "docsify",
    r"astro\.config\.[cm]?[jt]s": "starlight", r"source\.config\.ts": "fumadocs",
}  # fmt: skip
"""The names of configurations, each with a pattern of its text, by which it is told from others of its name."""

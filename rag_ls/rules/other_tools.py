"""Recognises an ARCHITECTURE.yml of another tool, which is left alone."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
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
_MAX_FOLDERS = 300
_ANY = ""


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
    """The configuration of the site generator that publishes the file at a project path; "" where none does."""
    for config, folder in _find_published(root):
        if not folder or path.startswith(folder + "/"):
            return config
    return ""


def _find_published(root: Path) -> Iterator[tuple[str, str]]:
    """Configurations in the root and in its folders, each with a folder that it publishes; "" is the root."""
    for folder in ("", *_folders(root), *_folders(root, "docs")):
        try:
            names = sorted(entry.name for entry in os.scandir(root / folder))
        except OSError:
            continue
        for name in names:
            config = posixpath.join(folder, name)
            for source in _sources(root, config):
                place = posixpath.normpath(posixpath.join(folder, source))
                if not place.startswith(".."):
                    yield config, "" if place == "." else place
            # The folder of a site's configuration belongs to the site, even if only a part of it is published.
            if folder and any(_sources(root, config)):
                yield config, folder


def _folders(root: Path, below: str = "") -> list[str]:
    try:
        names = sorted(entry.name for entry in os.scandir(root / below) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    return [posixpath.join(below, name) for name in names if name not in (".git", ".rag-ls", "node_modules")][
        :_MAX_FOLDERS
    ]


def _sources(root: Path, config: str) -> Iterator[str]:
    """The folders that a configuration publishes, relative to its own; nothing for any other file."""
    name = posixpath.basename(config)
    if name in ("CNAME", ".nojekyll", "mint.json", "antora.yml", "_sidebar.md"):
        # GitHub's pages, Mintlify, Antora, docsify.
        yield "."
        return
    for pattern, mark, key, usual in _GENERATORS:
        if not re.fullmatch(pattern, name):
            continue
        text = text_in(root, config) if (root / config).is_file() else ""
        if text and not re.search(mark, text):
            continue
        stated = re.findall(key, text) if key else []
        yield from stated or usual
        return


def _setting(name: str) -> str:
    """A setting of YAML, TOML, JSON or JavaScript, without its quotes."""
    return rf"(?m)^[ \t]*[\"']?{name}[\"']?\s*[:=]\s*[\"']?([^\"'\s#,]+)"


_GENERATORS = (
    # The name, a text in the file, the setting that names the folder, and the default folders.
    (r"(?:mkdocs|properdocs)\.ya?ml", _ANY, _setting("docs_dir"), ("docs",)),
    (r"zensical\.toml", _ANY, _setting("docs_dir"), ("docs",)),
    (r"docusaurus\.config\.[cm]?[jt]s", _ANY, r"\bpath:\s*[\"']([^\"'\n]+)[\"']", ("docs", "blog")),
    (r"conf\.py", r"(?m)^(?:extensions|html_theme|master_doc|root_doc|source_suffix|project)\s*=", "", (".",)),
    (r"_config\.ya?ml", _ANY, _setting("source"), (".",)),
    (r"(?:hugo|config)\.(?:toml|ya?ml|json)", r"(?i)\b(?:baseURL|languageCode)\b", _setting("contentDir"), ("content", "static")),
    (r"\.(?:vitepress|vuepress)", _ANY, "", (".",)),
    (r"book\.toml", r"\[book\]", _setting("src"), ("src",)),
    (r"\.eleventy\.js|eleventy\.config\.[cm]?js", _ANY, r"\binput:\s*[\"']([^\"'\n]+)[\"']", (".",)),
    (r"\.gitbook\.yaml", _ANY, _setting("root"), (".",)),
    (r"docs\.json", r"mintlify", "", (".",)),
    (r"astro\.config\.[cm]?[jt]s", r"starlight", "", ("src/content/docs",)),
    (r"source\.config\.ts", r"fumadocs", r"\bdir:\s*[\"']([^\"'\n]+)[\"']", ("content/docs",)),
    (r"index\.html", r"docsify", "", (".",)),
    (r"antora-playbook\.ya?ml", _ANY, _setting("start_path"), ("docs",)),
)  # fmt: skip

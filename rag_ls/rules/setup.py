"""Writes what a survey found into the project: ARCHITECTURE.yml and docs/patterns, never over existing text unasked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rag_ls.errors import ProjectUnavailable
from rag_ls.rules.survey.documents import architecture_yaml
from rag_ls.rules.survey.patterns import pattern_documents
from rag_ls.rules.survey.survey import Survey
from rag_ls.util import handles
from rag_ls.util.paths import leads_out
from rag_ls.util.regular_files import read_regular
from rag_ls.util.whole_files import whole_file

ARCHITECTURE = "ARCHITECTURE.yml"

_RULES = re.compile(r"^rules:.*?(?=^[^\s#-]|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome for each document; project paths."""

    written: tuple[str, ...]
    left_alone: tuple[str, ...]
    """Existing files that hold another text, and links."""
    kept: tuple[str, ...]
    """The folder with the former texts of replaced files."""


def write_documents(root: Path, found: Survey, name: str, now: datetime, *, force: bool) -> Written:
    """Write the documents of a survey. With `force` existing ones are replaced, and their former text is kept beside.

    The `rules:` of an ARCHITECTURE.yml are people's: they go into the new one. Raises `ProjectUnavailable` for a file
    that cannot be written.
    """
    documents = {ARCHITECTURE: architecture_yaml(found, name), **pattern_documents(found)}
    return _write(root, documents, f"{now:%Y%m%d-%H%M%S}", force=force)


def _write(root: Path, documents: Mapping[str, str], stamp: str, *, force: bool) -> Written:
    written, left_alone, kept = list[str](), list[str](), list[str]()
    for path, text in documents.items():
        target = root / path
        if Path(os.path.realpath(target)) != target:
            # A link may lead anywhere.
            left_alone.append(path)
            continue
        try:
            if leads_out(root, target):
                raise OSError("it leads out of the project")
            former = read_regular(target).decode("utf-8", "surrogateescape") if target.exists() else None
            new = _with_rules(text, former) if path == ARCHITECTURE and former else text
            if former is not None and (former == new or not force):
                left_alone += [path] if former != new else []
                continue
            if former is not None:
                beside = f"{path}.{stamp}.bak"
                target.rename(root / beside)
                kept.append(beside)
            target.parent.mkdir(parents=True, exist_ok=True)
            # Not private, as the data folder is: the documents belong to the repository.
            with whole_file(target, 0o644) as stream:
                stream.write(new)
        except OSError as error:
            done = f"; {', '.join(written)} was written before" if written else ""
            remedy = handles.remedy(error, "make the folder writable for you")
            raise ProjectUnavailable(f"cannot write {target} ({error.strerror or error}); {remedy}{done}") from error
        written.append(path)
    return Written(tuple(written), tuple(left_alone), tuple(kept))


def _with_rules(text: str, former: str) -> str:
    rules = _RULES.search(former)
    return f"{text.rstrip()}\n\n{rules[0].rstrip()}\n" if rules else text

"""Verbs, groups and other names, as `verbs.json` has them, and messages of the operations in the words of the shell.

scripts/dev.py docs makes `verbs.json` of rag_ls/operations/ and `shell.toml`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rag_ls.util.patterns import lazy_pattern

SHELL: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
VERBS: dict[str, dict[str, Any]] = SHELL["verbs"]


_ASKED = ((name, asked) for name, verb in VERBS.items() for asked in (verb["operation"], *verb["shared_by"]))
_VERB_OF = {operation: name for name, operation in _ASKED if operation}
# Only names with an underscore: a one-word name may be an English word.
_NAMES = lazy_pattern(rf"\b(?:{'|'.join(name for name in _VERB_OF if '_' in name)})\b")
_NAME_WITH_FLAG = lazy_pattern(rf"\b({'|'.join(_VERB_OF)}) with ([a-z]+(?:_[a-z]+)*) = true\b")
_FLAG = lazy_pattern(r"\b([a-z]+(?:_[a-z]+)*) = true\b")
_ARGUMENT = lazy_pattern(r"\b(scope|offset|k|kind|language|project|[a-z]+(?:_[a-z]+)+) = ")
_CHUNK = lazy_pattern(r"get_chunk with id = ([^\s`]+)")
# Options that have another name in the shell.
_OPTIONS = {"importance_score": "--importance", "path_glob": "--path", "k": "-k"}
# Remedies that have another form in the shell, or do not exist there.
_SHELL_FORMS = {
    "use scope = global, or session": "use scope = global",
    "check language, path_glob and kind": "check --language and --path",
    "index_status with wait_s waits until they are read": "`rag-ls index` reads them",
    "violations has the gravest": "above are the gravest",
    ": see violations": ", as shown above",
    ": see contradictions": ", as shown above",
    "match = exact counts": "`rag-ls search -F TEXT` counts",
    "; list_symbols shows those that there are": "",
    "ask files_only": "ask with --paths",
    "give file_path, relative to the project's root, or symbol": "give the path of a file, --symbol or --changed",
    "change_description (the change in words), diff, or file_path": "the change in words, --diff or --file",
}


def in_words_of_the_shell(message: str) -> str:
    """A message with its operations and arguments replaced by the shell's verbs and flags."""
    for said, in_shell in _SHELL_FORMS.items():
        message = message.replace(said, in_shell)
    message = _CHUNK.sub(r"`rag-ls show \1`", message)
    message = _NAME_WITH_FLAG.sub(lambda match: f"`rag-ls {_VERB_OF[match[1]]} {_make_flag(match[2])}`", message)
    message = _FLAG.sub(lambda match: _make_flag(match[1]), message)
    message = _NAMES.sub(lambda match: f"`rag-ls {_VERB_OF[match[0]]}`", message).replace("` metadata: ", "`: ")
    return _ARGUMENT.sub(lambda match: f"{_OPTIONS.get(match[1]) or _make_flag(match[1])} ", message)


def _make_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"

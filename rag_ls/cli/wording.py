"""Messages of the operations in the words of the shell."""

from __future__ import annotations

import re

from rag_ls.cli.verbs import VERBS

_VERB_OF = {
    operation: name
    for name, verb in VERBS.items()
    for operation in (verb["operation"], *verb["shared_by"])
    if operation
}
# Only names with an underscore: a one-word name may be an English word.
_NAMES = re.compile(rf"\b(?:{'|'.join(name for name in _VERB_OF if '_' in name)})\b")
_NAME_WITH_FLAG = re.compile(rf"\b({'|'.join(_VERB_OF)}) with ([a-z]+(?:_[a-z]+)*) = true\b")
_FLAG = re.compile(r"\b([a-z]+(?:_[a-z]+)*) = true\b")
_ARGUMENT = re.compile(r"\b(scope|offset|k|kind|language|project|[a-z]+(?:_[a-z]+)+) = ")
# Options that have another name in the shell.
_OPTIONS = {"importance_score": "--importance", "path_glob": "--path", "k": "-k"}
# Remedies that have another form in the shell, or do not exist there.
_SHELL_FORMS = (
    (re.compile("use scope = global, or session"), "use scope = global"),
    (re.compile("check language, path_glob and kind"), "check --language and --path"),
    (re.compile("index_status with wait_s waits until they are read"), "`rag-ls index` reads them"),
    (re.compile("violations has the gravest"), "above are the gravest"),
    (re.compile(": see (?:violations|contradictions)"), ", as shown above"),
    (re.compile("match = exact counts"), "`rag-ls search -F TEXT` counts"),
    (re.compile(r"get_chunk with id = ([^\s`]+)"), r"`rag-ls show \1`"),
    (re.compile("; list_symbols shows those that there are"), ""),
    (re.compile("ask files_only"), "ask with --paths"),
    (
        re.compile("give file_path, relative to the project's root, or symbol"),
        "give the path of a file, --symbol or --changed",
    ),
    (
        re.compile(r"change_description \(the change in words\), diff, or file_path"),
        "the change in words, --diff or --file",
    ),
)


def in_words_of_the_shell(message: str) -> str:
    """A message with its operations and arguments replaced by the shell's verbs and flags."""
    for said, in_shell in _SHELL_FORMS:
        message = said.sub(in_shell, message)
    message = _NAME_WITH_FLAG.sub(
        lambda match: f"`rag-ls {_VERB_OF[match[1]]} --{match[2].replace('_', '-')}`", message
    )
    message = _FLAG.sub(lambda match: f"--{match[1].replace('_', '-')}", message)
    with_verbs = _NAMES.sub(lambda match: f"`rag-ls {_VERB_OF[match[0]]}`", message)
    with_verbs = with_verbs.replace("` metadata: ", "`: ")
    return _ARGUMENT.sub(lambda match: f"{_OPTIONS.get(match[1]) or '--' + match[1].replace('_', '-')} ", with_verbs)

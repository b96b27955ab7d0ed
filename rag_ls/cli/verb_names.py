"""The names of verbs: a tree over the verbs of the parser, other words for them, and a question in place of a verb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rag_ls.cli.verbs import VERBS
from rag_ls.errors import InvalidRequest

GROUPS: Mapping[str, str] = {
    "memory": "what was remembered",
    "rules": "the rules of the project",
    "project": "the projects that can be named",
    "engine": "the engine that editors, agents and the shell share",
    "token": "the tokens of programs that ask over HTTP",
    "store": "the vectors and the code that a team shares",
}
_MEMORY_VERBS = (
    "add", "list", "show", "update", "delete", "undo", "restore", "consolidate", "summarize", "export", "import",
    "stats", "optimize", "vacuum",
)  # fmt: skip
# Actions of a group whose verb has another name, or that run no operation.
_ACTIONS: Mapping[str, Mapping[str, str]] = {
    "memory": {"search": "search --in memory", **{verb: verb for verb in _MEMORY_VERBS}},
    "rules": {"files": "check"},
    "project": {"index": "index", "scan": "scan", "trust": "trust", "status": "status"},
    "engine": {
        "start": "serve --detach", "serve": "serve", "stop": "stop", "status": "status", "open": "open",
        "doctor": "doctor", "config": "config",
    },
    "token": {"add": "token add", "list": "token list", "revoke": "token revoke"},
    "store": {
        "copy": "store copy", "publish": "store publish", "projects": "store projects", "drop": "store drop",
    },
}  # fmt: skip
TREE: Mapping[str, Mapping[str, str]] = {
    group: {**{name.partition(" ")[2]: name for name in VERBS if name.startswith(f"{group} ")}, **actions}
    for group, actions in _ACTIONS.items()
}
"""Group -> action -> the verb of the parser that runs it."""
ALONE = (
    "search", "refs", "check", "index", "status", "connect", "config", "doctor", "trust", "open", "completions", "lsp", "mcp",
    "hook",
)  # fmt: skip
"""Verbs that stand at the top of the tree, in this order; those of no group come after them."""
_ALIASES = {
    "ask": "search",
    "references": "refs",
    "projects": "project",
    "memories": "memory",
    "tokens": "token",
    "rule": "rules",
}
# Words that stand for an action of a group.
_SHORT = {"impact": "rules impact"}
# Words that people try -> the verb that does it.
_MEANT = {
    "callers": "refs", "usages": "refs", "uses": "refs",
    "find": "search", "grep": "search", "query": "search", "where": "search", "look": "search",
    "ls": "list", "rm": "delete", "remove": "delete", "forget": "delete", "remember": "add", "note": "add", "store": "add",
    "recall": "memory search",
    "edit": "update", "change": "update", "get": "show", "cat": "show", "view": "show", "revert": "undo", "merge": "consolidate",
    "init": "index", "reindex": "index", "build": "index", "sync": "index", "start": "engine start", "run": "engine start",
    "restart": "stop", "quit": "stop", "kill": "stop", "info": "status", "health": "doctor", "settings": "config",
    "install": "connect", "setup": "connect", "ui": "open", "web": "open", "page": "open", "version": "--version",
    "lint": "check", "backup": "export",
}  # fmt: skip
# Words for one action; a group has one of those in each line.
_SAME_ACTION = (
    ("add", "create", "new", "make", "remember", "generate"),
    ("delete", "remove", "revoke", "drop", "rm", "forget"),
    ("list", "projects", "ls", "all"),
    ("show", "get", "cat", "view", "status"),
    ("update", "edit", "change"),
)
# A word as similar to a verb as this is a slip of the keys.
_MIN_SLIP_SIMILARITY = 0.8
_MIN_SLIP_LETTERS = 4
# A short word is similar to many words: `rsync backup` asks for rsync, and is no misspelt `sync`.
_MIN_OTHER_SLIP_LETTERS = 6
# A longer line is a question, even if its first word is like a verb.
_MAX_SLIP_WORDS = 2


def group_named(word: str) -> str:
    """The group of verbs with a name, which may be its plural; empty if there is none."""
    name = _ALIASES.get(word, word)
    return name if name in TREE else ""


def resolve(words: Sequence[str], known: Iterable[str]) -> list[str]:
    """The words with the parser's verb in front; `known` are the first words of its verbs.

    Raises `InvalidRequest` where the first word is no verb, and the line no question.
    """
    if words[:1] == ["--"]:
        return ["search", *words]
    at = next((number for number, word in enumerate(words) if not word.startswith("-")), None)
    if at is None:
        return list(words)
    verb = _ALIASES.get(words[at], words[at])
    if verb in TREE:
        return [*words[:at], *_resolve_action(verb, words[at + 1 :])]
    names = set(known)
    if verb in _SHORT:
        return [*words[:at], *_SHORT[verb].split(), *words[at + 1 :]]
    if verb in names:
        return [*words[:at], verb, *words[at + 1 :]]
    if not verb.strip():
        raise InvalidRequest('the question is empty: `rag-ls "where is the token refreshed"` asks one')
    if _is_question(verb, words[at:], names):
        return ["search", *words]
    raise InvalidRequest(_no_verb(verb, names))


def _resolve_action(group: str, rest: Sequence[str]) -> list[str]:
    if not rest or rest[0].startswith("-"):
        raise InvalidRequest(f"{group} needs an action: {', '.join(TREE[group])}; `rag-ls help {group}` explains them")
    if (verb := TREE[group].get(rest[0])) is not None:
        return [*verb.split(), *rest[1:]]
    raise InvalidRequest(
        f"{group} has no action {rest[0]!r}; {_meant_action(group, rest[0])}`rag-ls help {group}` lists "
        "all; `rag-ls ask ...` asks, whatever the first word is"
    )


def _meant_action(group: str, word: str) -> str:
    same = next((words for words in _SAME_ACTION if word in words), ())
    meant = next((each for each in same if each in TREE[group]), "")
    return f"`rag-ls {group} {meant}` is what you look for; " if meant else _nearest(word, TREE[group])


def _is_question(verb: str, words: Sequence[str], known: Iterable[str]) -> bool:
    if any(character.isspace() for character in verb):
        return True
    count = sum(not word.startswith("-") for word in words)
    if count > _MAX_SLIP_WORDS:
        return True
    if count == 1 and not {"-h", "--help"}.isdisjoint(words):
        return False
    # A single word is more likely a name to search for than a misspelt action.
    alike = [*known, *TREE]
    if count > 1 and len(verb) >= _MIN_OTHER_SLIP_LETTERS:
        alike += _MEANT
    return verb not in _MEANT and not _slips(verb, alike)


def _slips(verb: str, known: Iterable[str]) -> list[str]:
    # Imported here, because most command lines name a verb and do not need it.
    import difflib

    return (
        difflib.get_close_matches(verb, list(known), 1, _MIN_SLIP_SIMILARITY) if len(verb) >= _MIN_SLIP_LETTERS else []
    )


def _no_verb(verb: str, known: Iterable[str]) -> str:
    meant = _MEANT.get(verb)
    what = f"`rag-ls {meant}` is what you look for; " if meant else _nearest(verb, [*known, *TREE])
    return f"there is no verb {verb!r}; {what}`rag-ls help --all` lists the verbs, and `rag-ls ask {verb}` asks"


def _nearest(word: str, known: Iterable[str]) -> str:
    from rag_ls.util.nearest import nearest, nearest_text

    return nearest_text(nearest(word, known))

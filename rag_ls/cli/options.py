"""The options of verbs that run an operation: those from the table of operations, and those that the shell adds."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from rag_ls.cli.verb_names import GROUPS

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class OneVerb:
    """Adds a parser for one verb alone."""

    def __init__(self, verbs: Verbs, name: str) -> None:
        self._verbs = verbs
        self._name = name

    def add_parser(self, name: str, **options: Any) -> Any:
        """As that of argparse; of another verb, what takes its options and keeps none."""
        return self._verbs.add_parser(name, **options) if name == self._name else _Unwanted()


class _Unwanted:
    """Takes whatever a verb's parser is told."""

    def __getattr__(self, name: str) -> Callable[..., _Unwanted]:
        return lambda *_, **__: self


_MEMORY_TYPES = ("semantic", "episodic", "procedural")
_NUMBERS = {"int": int, "float": float}
# The defaults of options, as the help shows them; agents read theirs in the schema.
_DEFAULTS = {
    ("add", "scope"): "project; a folder that is in none becomes one",
    ("list", "k"): "50; 1,000 at most",
    ("list", "offset"): "0",
    ("list", "order"): "updated",
    ("summarize", "max_words"): "200 words",
    ("update", "expected_version"): "any",
    ("search", "k"): "5 files and 2 memories; 10 and 5 with --json",
    ("search", "language"): "all",
    ("search", "path_glob"): "all",
    ("search", "offset"): "0",
    ("rules impact", "symbol"): "all",
    ("refs", "depth"): "1",
    ("refs", "k"): "100; 1,000 at most",
    ("refs", "offset"): "0",
}


def add_operations(verbs: Verbs, table: Mapping[str, Mapping[str, Any]]) -> None:
    """Add a verb for each entry of `operations.shell.verbs_of`."""
    groups: dict[str, Verbs] = {}
    for name, data in table.items():
        group, _, action = name.rpartition(" ")
        if group and group not in groups:
            parent = verbs.add_parser(group, help=GROUPS[group])
            groups[group] = parent.add_subparsers(dest="action", required=True, metavar="ACTION")
        verb = add_verb(groups.get(group, verbs), action, data["summary"])
        verb.set_defaults(operation=data["operation"])
        _SHELL_FIRST.get(name, _nothing)(verb)
        for option in data["options"]:
            _add_option(verb, option, _DEFAULTS.get((name, option.get("dest", "")), ""))
        _SHELL_ONLY.get(name, _nothing)(verb)
        (project_option if data["in_project"] and name != "index" else standalone_option)(verb)


def add_verb(verbs: Verbs, name: str, summary: str) -> argparse.ArgumentParser:
    """Add one verb, with the option `--json`."""
    verb: argparse.ArgumentParser = verbs.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + "."
    )
    verb.add_argument("--json", action="store_true", help="print JSON")
    return verb


class _Once(argparse.Action):
    """Takes a value, and refuses a second one, of which argparse would keep the last in silence."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """See `argparse.Action`."""
        if getattr(namespace, "has_" + self.dest, False):
            raise argparse.ArgumentError(self, "is given twice, and a verb works in one project: keep one")
        setattr(namespace, "has_" + self.dest, True)
        setattr(namespace, self.dest, values)


def project_option(verb: argparse.ArgumentParser) -> None:
    """Add the option for the project that a verb works in."""
    verb.add_argument(
        "--project",
        action=_Once,
        default=".",
        metavar="FOLDER",
        help="a folder of the project, or its name (default: this folder)",
    )
    standalone_option(verb)


def standalone_option(verb: argparse.ArgumentParser) -> None:
    """Add the option to work without the shared engine."""
    verb.add_argument("--standalone", action="store_true", help="work in this process, without the shared engine")


def _add_option(verb: argparse.ArgumentParser, option: Mapping[str, Any], default: str) -> None:
    values = {key: value for key, value in option.items() if key != "names"}
    if default:
        values["help"] += f" (default: {default})"
    if option["names"] == ["query"]:
        # `-e` and `-F` stand in its place.
        values |= {"nargs": "?", "default": ""}
    if "type" in values:
        values["type"] = _NUMBERS[values["type"]]
    verb.add_argument(*option["names"], **values)


# --- options that only the shell has, or that have another form there


def _nothing(verb: argparse.ArgumentParser) -> None:
    """Add nothing to the options of the operation."""


def _index(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("path", nargs="?", default=".", help="a folder of the project (default: this one)")
    verb.add_argument(
        "--store",
        default="",
        metavar="URL",
        help="take vectors from a team's store, and send it those that it does not have (for CI)",
    )
    verb.add_argument(
        "--only-missing",
        action="store_true",
        help="with --store: fail if the store cannot be reached, instead of embedding everything here",
    )


def _status(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--watch", action="store_true", help="show it again every second, until Ctrl+C")


def _search(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("words", nargs="*", default=[], help="more words of the question, so that it needs no quotes")
    verb.add_argument(
        "-e",
        "--regexp",
        metavar="REGEX",
        help="show all lines of code that match a regular expression, in RE2's syntax",
    )
    verb.add_argument("-F", "--fixed", metavar="TEXT", help="show all lines of code that contain this text exactly")
    verb.add_argument("-w", "--whole-words", action="store_true", help="with -e or -F: match whole words only")
    verb.add_argument("-i", "--ignore-case", action="store_true", help="with -e or -F: ignore upper and lower case")
    verb.add_argument(
        "--count", action="store_true", help="with -e or -F: count the lines and files that match, and show none"
    )
    verb.add_argument(
        "--files", action="store_true", help="with -e or -F: only the paths of the files, one on each line"
    )
    verb.add_argument("--full", action="store_true", help="show whole texts (default: at most four lines that match)")
    verb.add_argument(
        "-v", "--details", action="store_true", help="show also why each hit was found, its score and its id"
    )
    verb.add_argument(
        "--paths", action="store_true", help="only the paths of the files, one on each line, e.g. for `xargs -d '\\n'`"
    )
    verb.add_argument(
        "-0", "--null", action="store_true", help="as --paths, with a NUL byte after each path instead, for `xargs -0`"
    )
    verb.add_argument("--vimgrep", action="store_true", help="the lines that match, as path:line:column:text")
    verb.add_argument(
        "--published", default="", metavar="NAME", help="search code that the team published, without a checkout of it"
    )


def _refs(verb: argparse.ArgumentParser) -> None:
    shown = verb.add_mutually_exclusive_group()
    shown.add_argument(
        "--callers", action="store_true", help="only its callers; with --depth, the callers of callers too"
    )
    shown.add_argument("--callees", action="store_true", help="only what it calls itself")
    shown.add_argument("--implements", action="store_true", help="only what implements, extends or overrides it")


def _impact(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--changed", nargs="?", const="HEAD", default="", metavar="REV",
        help="all files that differ from where this branch left REV, uncommitted work included (without REV: HEAD)",
    )  # fmt: skip
    verb.add_argument(
        "--format", choices=("text", "json", "markdown", "github"), default="text",
        help="with --changed: the form of the output; github writes annotations (default: text)",
    )  # fmt: skip


def _add(verb: argparse.ArgumentParser) -> None:
    _text(verb)
    _tags(verb)
    verb.add_argument(
        "--type",
        dest="memory_type",
        choices=_MEMORY_TYPES,
        default="semantic",
        help="a fact, an event or a way to do something (default: semantic)",
    )
    _about(verb)
    verb.add_argument(
        "--branch",
        nargs="?",
        const=True,
        help="show the memory on this git branch only; without a name, on the one checked out (default: on all)",
    )
    verb.set_defaults(scope="project")


def _list(verb: argparse.ArgumentParser) -> None:
    _tags(verb)
    verb.add_argument("--type", dest="memory_type", choices=_MEMORY_TYPES, help="only of this kind (default: all)")
    verb.add_argument(
        "--anchor",
        choices=("fresh", "drifted", "orphaned", "unknown", "any"),
        help="only memories about code in this state (default: all)",
    )
    verb.add_argument("--never-recalled", action="store_true", help="only those that no search has ever found")
    verb.add_argument("--branch", help="memories of this git branch instead of the one checked out; * for all branches")


def _update(verb: argparse.ArgumentParser) -> None:
    _text(verb)
    _tags(verb)
    verb.add_argument("--type", dest="memory_type", choices=_MEMORY_TYPES, help="change its kind (default: leave it)")
    _about(verb)
    verb.add_argument("--promote", action="store_true", help="show it on all branches from now on")
    verb.add_argument("--confirm", action="store_true", help="say that it still holds for the code as it is now")


def _memory_id(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("id", help="a memory's id, or its first 4 or more characters")


def _delete(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("ids", nargs="+", metavar="id", help="a memory's id, or its first 4 or more characters")
    verb.add_argument("--purge", action="store_true", help="erase them for good, with their history and in all backups")
    _add_confirmation(verb)


def _restore(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("id", nargs="?", default="", help="id of the memory that was changed or deleted")
    verb.add_argument("--version", type=int, metavar="N", help="which version (default: the one before)")
    _add_confirmation(verb)
    verb.set_defaults(scope="project")


def _consolidate(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--undo", nargs="?", const="", metavar="ID", help="take back the latest consolidation, or the one with this id"
    )
    verb.add_argument("--merge", nargs="+", default=[], metavar="ID", help="merge these, as was proposed")
    _add_confirmation(verb)


def _summarize(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--start", required=True, help="a day, or a moment as 2026-01-01T12:00:00Z")
    verb.add_argument("--end", help="e.g. 2026-01-31 (default: now)")
    _tags(verb)
    _add_confirmation(verb)


def _export(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--output", default="-", metavar="FILE", help="(default: standard output)")
    _tags(verb)
    verb.set_defaults(scope="project")


def _import(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--input", required=True, metavar="PATH", help="a file or folder, or - for standard input")
    _add_confirmation(verb)
    verb.set_defaults(scope="project")


def _add_confirmation(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--yes", action="store_true", help="do not ask")


def _rules_check(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--all", action="store_true", help="show whole sections, and the code of the examples")


def _text(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("text", nargs="?", help="the text, or - to read it from standard input")
    verb.add_argument("--content", help="the text, given as an option")


def _tags(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--tag", dest="tags", action="append", default=[], help="a tag; can be given several times")
    verb.add_argument("--tags", dest="tag_list", default="", metavar="A,B", help="several tags, with commas between")


def _about(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--at", metavar="FILE[:LINE]", default="", help="the place in the code that it is about, lines from 1"
    )
    verb.add_argument(
        "--importance",
        type=float,
        metavar="0..1",
        help="how important it is; important memories rank a little higher (default for a new one: 0.5)",
    )


_SHELL_FIRST: Mapping[str, Callable[[argparse.ArgumentParser], None]] = {
    "index": _index,
    "update": _memory_id,
    "delete": _delete,
}
_SHELL_ONLY: Mapping[str, Callable[[argparse.ArgumentParser], None]] = {
    "search": _search,
    "refs": _refs,
    "rules impact": _impact,
    "status": _status,
    "add": _add,
    "list": _list,
    "update": _update,
    "restore": _restore,
    "consolidate": _consolidate,
    "summarize": _summarize,
    "export": _export,
    "import": _import,
    "rules setup": _add_confirmation,
    "rules check": _rules_check,
    "undo": _add_confirmation,
    "project remove": _add_confirmation,
    "project prune": _add_confirmation,
}

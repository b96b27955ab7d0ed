"""The tree of verbs as click's groups and commands, each made when a command line names it, and the help texts.

A command line without a verb is a question.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import click

from rag_ls import __version__
from rag_ls.cli.verbs import SHELL, VERBS

_HELP = ("-h", "--help")
# A word that is at least this similar to a verb is taken for a typing error.
_MIN_TYPO_SIMILARITY = 0.8
_MIN_TYPO_LETTERS = 4
# A line of more words is a question, even if its first word resembles a verb.
_MAX_TYPO_WORDS = 2
_FIRST_VERBS: Mapping[str, Sequence[str]] = {
    "ask": ("search", "show", "check"),
    "remember": ("add", "list", "delete"),
    "keep in order": ("index", "status", "connect", "doctor"),
}
_USAGE = """\
Usage: rag-ls "a question in words"
       rag-ls VERB ...

One memory of your code for your editor and your agent."""
_MEMORY_HINT = "The verbs of `memory` go without it too: `rag-ls add` is `rag-ls memory add`."
_HELP_HINTS = """\
`rag-ls help --all` lists all verbs, `rag-ls help VERB` explains one.
Options before a verb: --version; --no-pager; -v logs more, to standard error (-vv: everything)."""
_TOP_VERBS = (
    "search refs why inbox check index status connect config doctor trust open completions lsp mcp hook".split()
)
"""Verbs that the full help lists first, in this order. Other verbs without a group follow."""
_NAME_COLUMNS = 13
MAX_COLUMNS = 100


class _Verb(click.Command):
    """A verb, which the function in the context's `obj` runs."""

    def invoke(self, ctx: click.Context) -> Any:
        """See `click.Command`."""
        return ctx.obj(str(ctx.meta["verb"]), ctx.params)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Command`."""
        ctx.meta["verb"] = self.name
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


class _Actions(click.Group):
    """The actions of a group. The parameters of an action are made when a command line names it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See `click.Group`."""
        return list(actions_of(str(self.name)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See `click.Group`."""
        words = actions_of(str(self.name)).get(cmd_name, ())
        verb = next((verb for verb in (" ".join(words), *words[:1]) if verb in VERBS), "")
        return make_verb(verb) if verb else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See `click.Group`."""
        if (command := self.get_command(ctx, args[0])) is None:
            refusal = (
                f"`rag-ls {self.name}` has no action {args[0]!r}; its actions are {', '.join(self.list_commands(ctx))}"
            )
            raise click.UsageError(f"{refusal}; `rag-ls ask ...` asks, whatever the first word is", ctx)
        presets = actions_of(str(self.name))[args[0]][len(str(command.name).split()) :]
        return args[0], command, [*presets, *args[1:]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Group`."""
        return super().parse_args(ctx, args or ["--help"])

    def get_help(self, ctx: click.Context) -> str:
        """See `click.Group`."""
        return group_help(str(self.name))


class _Shell(click.Group):
    """All groups and verbs; a line that begins with none of them is a question."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See `click.Group`."""
        return [*(verb for verb in VERBS if " " not in verb), *SHELL["groups"]]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See `click.Group`."""
        if cmd_name in SHELL["groups"]:
            return _Actions(cmd_name, context_settings={"help_option_names": _HELP})
        return make_verb(cmd_name) if cmd_name in VERBS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See `click.Group`."""
        alias = str(SHELL["aliases"].get(args[0], args[0]))
        word, *rest = [*alias.split(" "), *args[1:]]
        if (command := self.get_command(ctx, word)) is None:
            _check_question(ctx, args, self.list_commands(ctx))
            word, command, rest = "search", make_verb("search"), args
        return word, command, rest

    def get_help(self, ctx: click.Context) -> str:
        """See `click.Group`."""
        return first_help()


def make_shell() -> click.Group:
    """The whole command line."""
    # Unknown options are passed on: they belong to a question, or are misplaced before a verb.
    settings = {"help_option_names": _HELP, "ignore_unknown_options": True}
    shell = _Shell("rag-ls", invoke_without_command=True, context_settings=settings, callback=_show_overview)
    shell.params.append(click.Option(["-v", "--verbose"], count=True, help="log more, to standard error"))
    return click.version_option(__version__, message="%(prog)s %(version)s")(shell)


@click.pass_context
def _show_overview(context: click.Context, verbose: int) -> Any:
    """Raise the log level for `-v`; without a verb or a question, show an overview."""
    if verbose:
        import logging

        # The settings do not undo it (see logs.py); libraries still log only warnings.
        logging.getLogger("rag_ls").setLevel(logging.INFO if verbose == 1 else logging.DEBUG)
        if verbose > 1:
            logging.basicConfig(level=logging.DEBUG)
    if context.invoked_subcommand is None:
        values = make_verb("status").make_context("status", [], parent=context).params
        return context.obj("status", values | {"is_overview": True})
    return None


def make_verb(verb: str) -> click.Command:
    """A verb with its parameters."""
    data = VERBS[verb]
    others = other_names_of(verb)
    also = f"\nalso: {', '.join(others)}" if others else ""
    return _Verb(
        verb,
        params=[make_parameter(**each) for each in data["options"]],
        help=f"{data['summary'][0].upper()}{data['summary'][1:]}.",
        epilog=f"\b\nexample: {data['example']}{also}",
        context_settings={"help_option_names": _HELP, "max_content_width": MAX_COLUMNS},
    )


def make_parameter(names: Sequence[str], type: str = "", choices: Sequence[str] = (), **more: Any) -> click.Parameter:
    """Make an option or an argument from its entry in `verbs.json`."""
    if choices:
        more["type"] = click.Choice(choices)
    if type == "once":
        more |= {"multiple": True, "callback": _take_one}
    elif type:
        more["type"] = {"int": click.INT, "float": click.FLOAT}[type]
    return click.Option(names, **more) if names[0].startswith("-") else click.Argument(names, **more)


def _take_one(context: click.Context, option: click.Parameter, values: Sequence[str]) -> str:
    """The only value of an option that may be given once: click alone would silently take the last one."""
    if len(values) > 1:
        raise click.BadParameter("it is given twice, and a verb works in one project: keep one", context, option)
    return values[0] if values else "."


def describe_misuse(error: click.UsageError) -> str:
    """Describe a usage error in one line, with an example and the command that lists all options."""
    message = " ".join(error.format_message().split()).removesuffix(".")
    if error.ctx is None or "verb" not in error.ctx.meta:
        return message
    path, example = error.ctx.command_path, VERBS[error.ctx.meta["verb"]]["example"]
    more = f", e.g. `{example}`" if isinstance(error, click.MissingParameter) else ""
    more += ", and `rag-ls ask ...` asks a question" if message.startswith("Got unexpected extra") else ""
    return f"`{path}`: {message}; `{path} --help` shows what it takes{more}"


def _check_question(context: click.Context, words: Sequence[str], known: Sequence[str]) -> None:
    """Raise `click.UsageError` for a line that begins with no verb and is no question either."""
    first = next((word for word in words if not word.startswith("-")), None)
    if first is None:
        raise click.NoSuchOption(
            words[0], possibilities=("--version", "--verbose", "--help", "--no-pager"), ctx=context
        )
    if first in known:
        raise click.UsageError(f"{words[0]} belongs behind the verb: `rag-ls {first} ... {words[0]}`", context)
    if not first.strip():
        raise click.UsageError('the question is empty: `rag-ls "where is the token refreshed"` asks one', context)
    count = sum(not word.startswith("-") for word in words)
    if count > _MAX_TYPO_WORDS or any(map(str.isspace, first)):
        return
    intended, is_help = SHELL["meant"].get(first), count == 1 and not set(_HELP).isdisjoint(words)
    if not (intended or is_help or _is_typo(first, known)):
        return
    refusal = click.NoSuchCommand(first, f"there is no verb {first!r}.", known, context).format_message()
    if intended:
        refusal = f"there is no verb {first!r}; `rag-ls {intended}` is what you look for"
    raise click.UsageError(f"{refusal} (`rag-ls help --all` lists the verbs, and `rag-ls ask {first}` asks)", context)


def _is_typo(word: str, known: Sequence[str]) -> bool:
    # Imported here, because most command lines name a verb and do not need it.
    import difflib

    return len(word) >= _MIN_TYPO_LETTERS and bool(difflib.get_close_matches(word, known, 1, _MIN_TYPO_SIMILARITY))


# --- the texts of the help


def first_help() -> str:
    """The verbs that one needs first, each with an example."""
    parts = [_USAGE]
    for title, verbs in _FIRST_VERBS.items():
        lines = [title]
        for verb in verbs:
            summary = VERBS[verb]["summary"].partition(";")[0]
            lines += [_entry(verb, summary), f"{'':{_NAME_COLUMNS + 2}}{VERBS[verb]['example']}"]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, _wrap(_HELP_HINTS)])


def full_help() -> str:
    """All verbs as a tree."""
    in_groups = {" ".join(words) for group in SHELL["groups"] for words in actions_of(group).values()}
    alone = dict.fromkeys([*_TOP_VERBS, *(verb for verb in VERBS if verb not in in_groups)])
    entries = [_entry(verb, VERBS[verb]["summary"]) for verb in alone]
    return "\n\n".join(
        [_USAGE, "\n".join(entries), *map(_list_actions, SHELL["groups"]), _wrap(f"{_MEMORY_HINT}\n{_HELP_HINTS}")]
    )


def group_help(group: str) -> str:
    """The verbs of one group."""
    usage = f"Usage: rag-ls {group} ACTION ..."
    return "\n\n".join([usage, _list_actions(group), f"`rag-ls help {group} ACTION` explains one."])


def actions_of(group: str) -> dict[str, list[str]]:
    """The actions of a group, each with the words that run it."""
    actions: dict[str, list[str]] = SHELL["groups"][group][1]
    return actions


def other_names_of(verb: str) -> list[str]:
    """The other command lines that run the same verb."""
    named = ((f"{group} {action}", words) for group in SHELL["groups"] for action, words in actions_of(group).items())
    return [f"rag-ls {name}" for name, words in named if words == verb.split() and name != verb]


def _list_actions(group: str) -> str:
    """Return a group with its actions, each with its summary or with the verb that it is an alias of."""
    about, actions = SHELL["groups"][group]
    lines = [f"{group}: {about}"]
    for action, words in actions.items():
        verb = " ".join(words)
        lines.append(_entry(action, str(VERBS[verb]["summary"]) if verb in VERBS else f"the same as `rag-ls {verb}`"))
    return "\n".join(lines)


def _entry(name: str, summary: str) -> str:
    width, margin = max(_columns(), _NAME_COLUMNS + 20), " " * (_NAME_COLUMNS + 2)
    return textwrap.fill(summary, width, initial_indent=f"  {name:<{_NAME_COLUMNS}}", subsequent_indent=margin)


def _wrap(text: str) -> str:
    return "\n".join(textwrap.fill(line, _columns()) for line in text.split("\n"))


def _columns() -> int:
    return min(MAX_COLUMNS, shutil.get_terminal_size().columns)


def print_completions(arguments: SimpleNamespace) -> int:
    """Print the completions of one shell."""
    from click.shell_completion import get_completion_class

    made = get_completion_class(arguments.shell)
    assert made is not None
    print(made(make_shell(), {}, "rag-ls", "_RAG_LS_COMPLETE").source())
    return 0

"""Write what comes from the code, pages of docs/ and manifests; with --check, fail where one is stale."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from generate_manifests import manifests
from shell_verbs import shell_of
from surfaces import http_description, tools, typescript

from rag_ls import __version__
from rag_ls.cli.verbs import SHELL, VERBS
from rag_ls.config import entries, values
from rag_ls.config.engine_settings import SetBy, TakesEffect
from rag_ls.config.values import describe_settings
from rag_ls.lsp.handshake import OF_THE_EDITOR
from rag_ls.operations import OPERATIONS
from rag_ls.operations.fields import arguments_of
from rag_ls.search.terms import UNMARKED

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
VSCODE = ROOT / "editors" / "vscode" / "package.json"
_EFFECTS = {
    TakesEffect.AT_ONCE: "",
    TakesEffect.COMPARED: " *Files compared.*",
    TakesEffect.CUT: " *Cut anew.*",
    TakesEffect.OPENED: " *Next opening.*",
    TakesEffect.RESTARTED: " *New engine.*",
}
_CONFIGURATION = """\
# Configuration

Generated from `rag_ls/config/settings.py`. Each layer overrides the one before it: defaults, the user's `config.toml`,
the project's `rag-ls.toml`, environment variables (`RAG_LS_SECTION_KEY`), the editor's `ragLs` settings.
{users} are the user's: no project's file and no editor sets them.

Settings that can cost or destroy something *wait*: set by a project's file or an editor, they count only once the user
trusts the folder (`rag-ls trust`). *More waits*: only a value above the one in force waits; *Less waits*: only one below it.

A changed value counts at once, even while the engine runs. Some changes first do what the last column says: the *Files* are
*compared* with the index, documents are *Cut anew*, the value counts at the project's *Next opening*, or a *New engine*
takes the place of the running one.

`rag-ls config` shows the values in force, and names what is wrong with its file.

| setting | type | default | meaning |
| --- | --- | --- | --- |"""
_PROJECTS = """
## Projects

The user's `config.toml` alone may list projects, each under a `[[projects]]` of its own. Patterns are in .gitignore
syntax, relative to each root.

| key | meaning |
| --- | --- |
{keys}

```toml
[[projects]]
name = "shop"
roots = ["~/work/shop", "/srv/shop-web"]
include = ["src/**"]
exclude = ["**/fixtures/**"]
branch = "main"
```
"""
_OPERATIONS = """\
# Operations

Generated from `rag_ls/operations/`: what editors (`ragLs.*` commands), agents (tools) and the shell (verbs) ask,
each under one name and with one shape. A request is one JSON object, an answer another.
"""
_COMMAND_LINE = """\
# Command line

Generated from `rag_ls/operations/` and `rag_ls/cli/shell.toml`. Exit codes: 0 done, 1 failed (for a search: nothing found), 2 wrong usage.

A line that begins with no verb is a question: `rag-ls "where is the token refreshed"` is `rag-ls search ...`, and
`rag-ls ask ...` asks whatever the first word is. `rag-ls --help` shows the ten verbs that one needs first,
`rag-ls help --all` all, `rag-ls help VERB` one.

| group | | actions |
| --- | --- | --- |
{groups}

Memories' verbs and those of old go without their group: `rag-ls add` is `rag-ls memory add`, `rag-ls stop` is
`rag-ls engine stop`.
"""
_JSON_TYPES = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = [path for path, text in pages() if (path.read_text() if path.exists() else "") != text]
    if check:
        for path in stale:
            print(f"{path} is stale: run scripts/dev.py docs", file=sys.stderr)
        return 1 if stale else 0
    for path, text in pages():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


def pages() -> Iterator[tuple[Path, str]]:
    yield DOCS / "configuration.md", configuration()
    yield DOCS / "cli.md", command_line()
    yield DOCS / "operations.md", operations()
    yield VSCODE, vscode_manifest()
    yield VSCODE.parent / "src" / "server" / "records.ts", records()
    yield ROOT / "rag_ls" / "cli" / "verbs.json", shell_verbs()
    yield ROOT / "rag_ls" / "lsp" / "commands.json", command_names()
    yield ROOT / "rag_ls" / "operations" / "tools.json", tools()
    yield ROOT / "rag_ls" / "http" / "description.json", http_description()
    yield from stop_words()
    yield from manifests()


def configuration() -> str:
    users = [f"`{item.name}`" for item in values.sections() if item.metadata["set_by"] is SetBy.USER]
    lines = [_CONFIGURATION.format(users=f"{', '.join(users[:-1])} and {users[-1]}")]
    for info in describe_settings():
        limits = f" One of {', '.join(info.choices)}." if info.choices else ""
        if info.minimum is not None or info.maximum is not None:
            limits = f" {info.minimum:g} to {'any' if info.maximum is None else format(info.maximum, 'g')}."
        waits = {"": "", "always": " *Waits.*", "above": " *More waits.*", "below": " *Less waits.*"}[info.waits]
        option = f" For one run: `rag-ls {info.option}`." if info.option else ""
        meaning = f"{info.doc}{limits}{option}{waits}{_EFFECTS[info.takes_effect]}"
        lines.append(f"| `{info.key}` | {info.type} | `{json.dumps(info.default)}` | {meaning} |")
    keys = "\n".join(f"| `{key}` | {doc} |" for key, doc in values.read_docs(entries.ProjectEntry).items())
    return "\n".join([*lines, _PROJECTS.format(keys=keys)])


def vscode_manifest() -> str:
    """The extension's manifest, with a setting for each of ours that an editor may set."""
    manifest = json.loads(VSCODE.read_text())
    manifest["version"] = __version__
    settings = manifest["contributes"]["configuration"]["properties"]
    own = {key: settings[key] for key in ("ragLs.path", "ragLs.installFrom")}
    offered = [info for info in describe_settings() if info.set_by is SetBy.ANYONE]
    offered.sort(key=lambda info: info.expert)
    described = {f"ragLs.{info.key}": _property(info) for info in offered}
    # Without an order, VS Code shows them by their names.
    ordered = {key: {**item, "order": order} for order, (key, item) in enumerate({**own, **described}.items())}
    manifest["contributes"]["configuration"]["properties"] = ordered
    waiting = [f"ragLs.{info.key}" for info in describe_settings() if info.waits]
    restricted = [*own, *(key for key in waiting if key in described)]
    manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] = restricted
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _property(info: values.SettingInfo) -> dict[str, object]:
    kind = _JSON_TYPES.get(info.type)
    of: dict[str, object] = {"type": kind} if kind else {"type": "array", "items": {"type": "string"}}
    limits = {"enum": list(info.choices) or None, "minimum": info.minimum, "maximum": info.maximum}
    # Choices and limits are those of a list's items.
    each = of["items"] if isinstance(of.get("items"), dict) else of
    assert isinstance(each, dict)
    each |= {name: value for name, value in limits.items() if value is not None}
    return {**of, "default": info.default, "markdownDescription": info.doc}


def operations() -> str:
    """Each operation with its arguments, and who offers it under which name."""
    lines = [_OPERATIONS]
    for operation in OPERATIONS:
        offered = [
            *([f"tool `{operation.name}`"] if operation.tool else []),
            *([f"command `{operation.command}`"] if operation.command else []),
            *([f"`rag-ls {operation.verb.name}`"] if operation.verb else []),
        ]
        effects = (
            [name for name in ("writes", "destroys", "idempotent") if getattr(operation.effects, name)]
            if operation.effects.writes
            else ["reads"]
        )
        lines += [
            f"## {operation.name}",
            "",
            operation.doc,
            "",
            f"{', '.join(offered) or 'of the shell'}; {', '.join(effects)}.",
            "",
        ]
        known = [(name, declared) for name, (_, declared) in arguments_of(operation.request).items() if declared.doc]
        if known:
            lines += ["| argument | meaning |", "| --- | --- |"]
            lines += [f"| `{name}`{' (required)' if item.required else ''} | {item.doc} |" for name, item in known]
            lines.append("")
    return "\n".join(lines)


def records() -> str:
    """The types of all answers, for the VS Code extension."""
    head = "// Generated from the answers in rag_ls/operations/ by scripts/dev.py docs.\n\n"
    return head + typescript(list(dict.fromkeys(operation.answer for operation in OPERATIONS)))


def shell_verbs() -> str:
    """All that the shell offers as plain data: a command line that starts at once imports no table."""
    return json.dumps(shell_of(), indent=1, ensure_ascii=False) + "\n"


def command_names() -> str:
    """The commands that editors are offered, as plain data: they are told before anything is imported."""
    names = [operation.command for operation in OPERATIONS if operation.command]
    return json.dumps([*names, *OF_THE_EDITOR], indent=1) + "\n"


def stop_words() -> Iterator[tuple[Path, str]]:
    """The scripts that cannot import the stop words, each with its list written into it."""
    for script in (ROOT / "rag_ls/http/page/words.js", ROOT / "editors/vscode/src/search/snippet.ts"):
        literal = f'new Set("{" ".join(sorted(UNMARKED))}".split(" "));\n'
        yield script, replaced(r"(?<=^const EVERYDAY = )new Set\(.*?\n", literal, script)


def replaced(pattern: str, literal: str, file: Path) -> str:
    """The text of a file with the one place that matches replaced."""
    text, count = re.subn(pattern, lambda _: literal, file.read_text(), flags=re.MULTILINE | re.DOTALL)
    if count != 1:
        raise SystemExit(f"{file}: {count} places match {pattern}, not one")
    return text


def command_line() -> str:
    # The shell reads the generated verbs, which this run may be about to change.
    VERBS.clear()
    VERBS.update(shell_of()["verbs"])
    from rag_ls.cli.tree import actions_of, make_verb, other_names_of

    groups = "\n".join(
        f"| `{name}` | {about} | {', '.join(actions_of(name))} |" for name, (about, _) in SHELL["groups"].items()
    )
    lines = [_COMMAND_LINE.format(groups=groups)]
    for name, data in VERBS.items():
        lines += [f"## `rag-ls {name}`", "", data["summary"], "", "```console", f"$ {data['example']}", "```", ""]
        if others := other_names_of(name):
            lines += [f"Also {', '.join(f'`{other}`' for other in others)}.", ""]
        lines += ["| argument | meaning |", "| --- | --- |"]
        for each in make_verb(name).params:
            if not getattr(each, "hidden", False):
                shown = ", ".join(each.opts) if each.param_type_name == "option" else each.name
                lines.append(f"| `{shown}` | {each.help} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

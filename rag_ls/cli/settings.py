"""`rag-ls config`: the settings in force."""

from __future__ import annotations

import json
from types import SimpleNamespace

from rag_ls.cli.terminal import print_notes, show_answer
from rag_ls.config.described import describe_settings
from rag_ls.config.fields import SetBy
from rag_ls.config.loading import load_settings
from rag_ls.errors import InvalidRequest
from rag_ls.project import CONFIG_FILE, find_project, user_config_file
from rag_ls.util.text import mask_secrets


def show(arguments: SimpleNamespace) -> int:
    """Print the settings without passwords, their meaning, and the problems met while loading them."""
    project = find_project(arguments.project)
    loaded = load_settings(project)
    prefix = f"{arguments.key}." if arguments.key else ""
    wanted = [info for info in describe_settings() if f"{info.key}.".startswith(prefix)]
    if not wanted:
        raise InvalidRequest(f"no setting is called {arguments.key!r}; `rag-ls config` lists them all")
    found = {info.key: info.value_in(loaded.settings) for info in wanted}
    values = {key: mask_secrets(value) if isinstance(value, str) else value for key, value in found.items()}
    files = [str(user_config_file()), str(project.root / CONFIG_FILE)]
    problems = [*map(str, loaded.problems)]
    lines = [f"# {' < '.join(files)} < RAG_LS_* variables < editor"]
    for info in wanted:
        changed = "" if values[info.key] == info.default else f" (default: {json.dumps(info.default)})"
        lines += [f"{info.key} = {json.dumps(values[info.key])}{changed}", f"    {info.doc}"]
        if arguments.key:
            whose = "yours alone to set" if info.set_by is SetBy.USER else "a project and an editor may set it"
            lines.append(f"    {whose}; a change counts {info.takes_effect}")
    answer = {"settings": values, "problems": problems, "waiting": loaded.waiting, "files": files}
    show_answer(arguments, answer, "\n".join(lines), paged=False)
    print_notes(*problems, loaded.waiting_note(project.root))
    return 1 if problems else 0

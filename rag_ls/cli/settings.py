"""`rag-ls config`: the settings in force."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

from rag_ls import config
from rag_ls.errors import InvalidRequest
from rag_ls.project import CONFIG_FILE, find_project, user_config_file
from rag_ls.util.masks import mask_secrets


def show(arguments: SimpleNamespace) -> int:
    """Print the settings without passwords, their meaning, and the problems met while loading them."""
    project = find_project(arguments.project)
    loaded = config.load(project)
    prefix = f"{arguments.key}." if arguments.key else ""
    wanted = [info for info in config.describe() if f"{info.key}.".startswith(prefix)]
    if not wanted:
        raise InvalidRequest(f"no setting is called {arguments.key!r}; `rag-ls config` lists them all")
    found = {info.key: info.value_in(loaded.settings) for info in wanted}
    values = {key: mask_secrets(value) if isinstance(value, str) else value for key, value in found.items()}
    if arguments.json:
        problems = [str(problem) for problem in loaded.problems]
        files = [str(user_config_file()), str(project.root / CONFIG_FILE)]
        shown = {"settings": values, "problems": problems, "waiting": loaded.waiting, "files": files}
        print(json.dumps(shown, indent=2))
    else:
        print(f"# {user_config_file()} < {project.root / CONFIG_FILE} < RAG_LS_* variables < editor")
        for info in wanted:
            changed = "" if values[info.key] == info.default else f" (default: {json.dumps(info.default)})"
            print(f"{info.key} = {json.dumps(values[info.key])}{changed}\n    {info.doc}")
            if arguments.key:
                whose = (
                    "yours alone to set" if info.set_by is config.SetBy.USER else "a project and an editor may set it"
                )
                print(f"    {whose}; a change counts {info.takes_effect}")
    for problem in loaded.problems:
        print(f"rag-ls: {problem}", file=sys.stderr)
    if note := loaded.waiting_note(project.root):
        print(f"rag-ls: {note}", file=sys.stderr)
    return 1 if loaded.problems else 0

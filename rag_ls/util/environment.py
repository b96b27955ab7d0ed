"""The environment variables that this process and its children are to have."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_OF_GIT = "GIT_"


def without_git(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables without those that steer git: a hook's name another repository, index and work tree."""
    return {name: value for name, value in variables.items() if not name.upper().startswith(_OF_GIT)}


def forget_git() -> None:
    """Remove the variables that steer git from this process, so that no child inherits them.

    An engine that a git hook starts serves all projects, not the hook's repository.
    """
    for name in os.environ.keys() - without_git(os.environ).keys():
        del os.environ[name]


def command_of(module: str, *arguments: str) -> list[str]:
    """The command that runs one of our modules in a new process, which looks for modules where this one does."""
    # -P: do not import modules from the working folder, which is the user's.
    python = [sys.executable, "-P"]
    if not os.environ.get("PYTHONPATH"):
        return [*python, "-m", module, *arguments]
    # `-m` would import modules from the folders that it names before ours can put them last.
    run = f"import sys; sys.path[:] = {sys.path!r}; import runpy; runpy.run_module({module!r}, None, '__main__', True)"
    return [*python, "-c", run, *arguments]


def speak_utf8() -> None:
    """Start this program anew in UTF-8 where the locale knows ASCII alone, which Python does itself unless told not to."""
    # Only once, because an option of Python may overrule the variable.
    if sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1" and sys.executable:
        line = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, line, {**os.environ, "PYTHONUTF8": "1"})

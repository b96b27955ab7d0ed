"""The environment variables that this process and its children are to have."""

from __future__ import annotations

import os
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

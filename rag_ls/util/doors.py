"""The front door of a room: the stub beside its `__init__` names what others may use, loaded when it is asked for."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


class Door:
    """A package's `__getattr__` (PEP 562). The stub `__init__.pyi` has a line `from MODULE import NAME as NAME` for each name."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._modules: dict[str, str] = {}

    def __call__(self, name: str) -> object:
        """Load one name. Raises `AttributeError` for one that the stub does not have."""
        package = sys.modules[self._package]
        if not self._modules:
            stub = Path(str(package.__file__)).with_name("__init__.pyi").read_text("utf-8")
            rows = [line.split() for line in stub.splitlines() if line.startswith("from ")]
            self._modules = {row[3]: row[1] for row in rows}
        if name not in self._modules:
            raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
        home = importlib.import_module(self._modules[name])
        # The name may be that of a module.
        is_inside = hasattr(home, name)
        value: object = getattr(home, name) if is_inside else importlib.import_module(f"{home.__name__}.{name}")
        # From now on, the name is found without a call.
        setattr(package, name, value)
        return value

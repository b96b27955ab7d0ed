"""Imports onnxruntime, whose official builds report their use unless they are told not to."""

from __future__ import annotations

import contextlib
from typing import Any


def import_onnxruntime() -> Any:
    """The module. Raises `ImportError` where it is not installed.

    The environment has told it to be silent (see the package's `__init__`); builds for Windows' own tracing listen to
    this call alone, and so does one that a host process imported before us.
    """
    import onnxruntime

    with contextlib.suppress(AttributeError):
        onnxruntime.disable_telemetry_events()
    return onnxruntime

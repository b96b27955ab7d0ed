"""What the shell offers, as `verbs.json` has it. scripts/dev.py docs generates that from rag_ls/operations/ and `shell.toml`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SHELL: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
VERBS: dict[str, dict[str, Any]] = SHELL["verbs"]

"""Verbs, groups and other names, as `verbs.json` has them: scripts/dev.py docs makes it of rag_ls/operations/ and `shell.toml`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SHELL: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
VERBS: dict[str, dict[str, Any]] = SHELL["verbs"]

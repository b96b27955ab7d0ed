"""The verbs that ask an operation, as `verbs.json` has them. It is generated from rag_ls/operations/ by scripts/dev.py docs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VERBS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

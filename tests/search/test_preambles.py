"""Chunks that hold only imports or a licence."""

from __future__ import annotations

import pytest

from rag_ls.model import Chunk
from rag_ls.search.chunk_lines import is_preamble


def _chunk(text: str, language: str, symbol: str = "") -> Chunk:
    return Chunk("src/cart", language, 0, 0, len(text), 1, text.count("\n") + 1, text, symbol=symbol)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("typescript", 'import { a } from "./a.ts";\nimport {\n  b,\n  type C,\n  d as e\n} from "../d.ts";\n\n'),
        ("go", '// Copyright 2024 The Authors\n// nor sold\n// nor lent\npackage cart\n\nimport (\n\t"fmt"\n\tx "a/b"\n)\n'),
        ("python", "# Copyright: (c) 2019, Project\n# GNU General Public License v3.0+\n"),
        ("python", "from __future__ import annotations\n\nimport os\nfrom a import (\n    b,\n    c as d,\n)\n"),
        ("javascript", '"use strict";\nconst fs = require("fs");\n'),
        ("c", "/* SPDX-License-Identifier: MIT */\n#include <stdio.h>\n#include \"a.h\"\n"),
    ],
)  # fmt: skip
def test_imports_and_licences_are_a_preamble(language: str, text: str) -> None:
    assert is_preamble(_chunk(text, language))
    # A chunk that declares something is none.
    assert not is_preamble(_chunk(text, language, symbol="total"))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", 'const app = require("express")();\napp.use(cookies());\n'),
        ("javascript", "app.use(cookies)\n"),
        ("python", "import os\n\nTIMEOUT = 3\n"),
        ("python", "import os\n\nos.environ.setdefault(\n    'A', 'b'\n)\n"),
        ("go", "// Package cart keeps prices.\n// It rounds half up,\n// as the tax office insists.\npackage cart\n"),
        ("markdown", "import { a }\n"),
    ],
)
def test_code_settings_and_what_a_file_is_for_are_none(language: str, text: str) -> None:
    assert not is_preamble(_chunk(text, language))

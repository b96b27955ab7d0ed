"""TSX: TypeScript with elements, whose grammar reads JSX too."""

from __future__ import annotations

from rag_ls.languages.scripts import make_script_language

TSX = make_script_language("tsx", "TSX", suffixes=("tsx",), script_types=("tsx", "jsx", "text/babel", "text/jsx"))

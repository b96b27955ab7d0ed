"""Vue."""

from __future__ import annotations

from rag_ls.languages.scripts import make_component_language

VUE = make_component_language("vue", "Vue")

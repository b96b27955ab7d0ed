"""Svelte."""

from __future__ import annotations

from rag_ls.languages.scripts import make_component_language

SVELTE = make_component_language("svelte", "Svelte")

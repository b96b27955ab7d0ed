"""GLSL."""

from __future__ import annotations

from dataclasses import replace

from rag_ls.languages.c import C, c_syntax

GLSL = replace(
    C,
    name="glsl",
    title="GLSL",
    suffixes=("glsl", "vert", "frag", "geom", "comp", "tesc", "tese", "fsh", "vsh", "rgen", "rchit", "rmiss"),
    syntax=c_syntax("glsl"),
    is_matched=False,
)

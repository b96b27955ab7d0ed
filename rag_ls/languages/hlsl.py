"""HLSL."""

from __future__ import annotations

from dataclasses import replace

from rag_ls.languages.c import C, c_syntax

HLSL = replace(
    C,
    name="hlsl",
    title="HLSL",
    suffixes=("hlsl", "hlsli", "fx", "fxh", "shader", "cginc", "compute", "usf", "ush"),
    syntax=c_syntax("hlsl"),
    is_matched=False,
)

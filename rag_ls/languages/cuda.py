"""CUDA."""

from __future__ import annotations

from dataclasses import replace

from rag_ls.languages.c import c_syntax
from rag_ls.languages.cpp import CPP

CUDA = replace(
    CPP,
    name="cuda",
    title="CUDA",
    aliases=(),
    family="cpp",
    suffixes=("cu", "cuh"),
    syntax=c_syntax("cuda"),
    is_matched=False,
)

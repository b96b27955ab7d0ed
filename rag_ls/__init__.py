"""rag-ls: one shared, always-fresh memory of a codebase for the editor and the coding agent."""

import os

# Before NumPy loads: the threads of its OpenBLAS spin for milliseconds after each product, which takes the cores from
# everything else that a question needs, and one thread multiplies our small matrices as fast.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"

"""rag-ls: one shared, always-fresh memory of a codebase for the editor and the coding agent."""

import os
import sys

# Switch off the dependencies' own network requests (telemetry, look-ups) before any of them is imported: Python runs this
# module before our others, and the processes that we start inherit the variables. They replace those of the environment,
# because another value turns a request on. docs/security.md lists the requests; tests/promises/test_nothing_leaves.py watches.
os.environ.update(
    ORT_DISABLE_TELEMETRY="1",
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    DO_NOT_TRACK="1",
)
# OpenVINO reports its use through this package, if it can be imported.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

# Search the folders of PYTHONPATH, of the script and of the working directory last. A project sets PYTHONPATH for its own
# programs: its `logging.py`, or its version of NumPy, must not be imported here. Child processes inherit the order.
if _named := os.environ.get("PYTHONPATH"):
    _first = [] if sys.flags.safe_path else sys.path[:1]
    _last = {os.path.abspath(folder) for folder in [*_named.split(os.pathsep), *_first]}
    # Child processes import our modules from the folder from which this one does.
    _last.discard(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.sort(key=lambda folder: os.path.abspath(folder) in _last)

# If a library crashes a Python process that we started, it writes the place in its code to standard error.
os.environ.setdefault("PYTHONFAULTHANDLER", "1")

# Set before NumPy loads: the threads of its OpenBLAS spin for milliseconds after each product, which takes the cores from the
# rest of a question. One thread multiplies our small matrices as fast.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"

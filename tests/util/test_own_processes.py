from __future__ import annotations

import subprocess
import sys

from rag_ls.util.processes import used_memory_bytes, used_processor_s
from tests.support import until

_BUSY = """import sys, time
while time.process_time() < 0.5: pass
print("used", flush=True)
sys.stdin.read()
"""


def test_the_processor_time_of_children_counts_while_they_run_and_afterwards() -> None:
    before = used_processor_s()
    with subprocess.Popen([sys.executable, "-c", _BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert used_processor_s() - before >= 0.4
        assert used_memory_bytes() > 5_000_000
        child.communicate(b"")
    assert until(lambda: used_processor_s() - before >= 0.4)

"""The streams of a protocol's server."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

_ECHO = (
    "from rag_ls.util.json_rpc import claim_standard_streams, write_all\n"
    "source, output = claim_standard_streams()\n"
    "write_all(output, b'ready\\n')\n"
    "for line in source: write_all(output, line * 20000)\n"
)


@pytest.mark.skipif(os.name != "posix", reason="about pipes of POSIX")
def test_a_client_may_hand_over_pipes_that_never_wait() -> None:
    """They end no server that waits for the next message, and lose nothing of an answer that is longer than a pipe."""
    (source, to_server), (from_server, output) = os.pipe(), os.pipe()
    for end in (source, output):
        os.set_blocking(end, False)
    with subprocess.Popen([sys.executable, "-c", _ECHO], stdin=source, stdout=output):
        os.close(source), os.close(output)
        with open(from_server, "rb") as answers, open(to_server, "wb") as requests:
            assert answers.readline() == b"ready\n"
            time.sleep(0.3)
            requests.write(b"a question\n")
            requests.close()
            assert answers.read() == b"a question\n" * 20000

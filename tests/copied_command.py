"""`copied_command.py SOCKET COMMAND...` runs one command of rag-ls as a copy (`forking.py`), with this process's standard streams.

For programs that start their servers themselves, as clients of LSP and MCP do. Where this process is killed, the copy goes on.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.commands import Copy


def main() -> int:
    """Its exit code, once it has ended."""
    command = Copy(sys.argv[1], sys.argv[2:], str(Path.cwd()), dict(os.environ), (0, 1, 2))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda given, _: os.kill(command.pid, given))
    for stream in (0, 1):
        # Their ends are to be seen by whoever holds the others.
        os.close(stream)
    code = command.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    # There is nothing to flush, and standard output is closed.
    os._exit(main())

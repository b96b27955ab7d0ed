"""The process that `cutters` runs: reads and cuts files, one batch after the other, until its input ends."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import IO

from rag_ls.indexing.cutting import OUTCOMES, Cutting, Job, Outcome, failed, read_and_cut
from rag_ls.util.pipe_frames import read_frame, write_frame


def main() -> None:
    """Answer batches of jobs on standard input; whatever else is printed goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if hasattr(os, "nice"):
        os.nice(5)
    serve(sys.stdin.buffer, answers)


def serve(jobs: IO[bytes], answers: IO[bytes]) -> None:
    """Cut batches until the input ends. Unpickling is safe: only our own process writes to the pipe."""
    while True:
        try:
            _, body = read_frame(jobs)
            root, cutting, limit, batch = pickle.loads(body)
            outcomes = [_outcome(root, job, cutting, limit) for job in batch]
            write_frame(answers, OUTCOMES, pickle.dumps(outcomes, protocol=5))
        except (EOFError, BrokenPipeError):
            return


def _outcome(root: Path, job: Job, cutting: Cutting, limit: int) -> Outcome:
    try:
        return read_and_cut(root, job, cutting, limit)
    except Exception as error:
        # One bad file must not fail its batch.
        print(f"{job.path} cannot be indexed: {error!r}", file=sys.stderr)
        return failed(root, job.path, type(error).__name__)


if __name__ == "__main__":
    main()

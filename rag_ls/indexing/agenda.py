"""What one project's background work is asked to do."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from rag_ls.indexing.comparison import Comparison
from rag_ls.indexing.inbox import Inbox
from rag_ls.indexing.order import ReadingOrder
from rag_ls.indexing.progress import Depth


@dataclass(slots=True)
class Agenda:
    """All that waits to be done, and how far to go with it. It is changed under the lock of `wake`, and read without."""

    comparison: Comparison
    wake: threading.Condition = field(default_factory=threading.Condition)
    """Notified whenever something arrives."""
    inbox: Inbox = field(init=False)
    order: ReadingOrder = field(default_factory=ReadingOrder)
    # A queue that was left to this process is finished without being asked.
    depth: Depth = Depth.EMBEDDINGS
    """How far to go."""
    is_asked: bool = False
    """Whether somebody waits for this project to be indexed."""
    is_cancelled: bool = False
    is_stopping: bool = False
    is_woken: bool = False
    """Whether somebody asked for something between a look for work and the rest after it."""

    def __post_init__(self) -> None:
        self.inbox = Inbox(self.wake)

"""Lines of documents that may hold a text."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class FoundPassages(Protocol):
    """Passages, which are whole lines, of the documents as they were when they were looked for; those of one document side by side."""

    @property
    def documents(self) -> Numbers:
        """The document of each."""
        ...

    @property
    def first_lines(self) -> Numbers:
        """Its first line, from 1."""
        ...

    @property
    def kilobytes(self) -> Numbers:
        """About its size."""
        ...

    def read(self, passages: Numbers) -> list[bytes | None]:
        """The texts of some, in UTF-8, each line ended by LF; None where the document changed meanwhile."""
        ...

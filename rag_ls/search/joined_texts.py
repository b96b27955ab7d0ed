"""Several texts as one, so that a pattern looks into all of them in one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_ls.util.records import dataclass

Positions = NDArray[np.int64]
"""Offsets in bytes, in order, of shape (places,)."""
_LF_BYTE = 10
# These many bytes at once stay in the processor's cache.
_BLOCK_BYTES = 1 << 17
# More probes take longer than what they spare.
_MAX_PROBES = 2
# A literal longer than this is compared place by place: few places hold its rarest bytes.
_MAX_COMPARED_BYTES = 16
# Bytes of code, the commonest first. Others are rarer.
_COMMON = b" etrnsaoilcdupm\t.hfg_yb(),vS=\"TCP/R-xk'AEwI"
_RARITY = {code: at for at, code in enumerate(_COMMON)}
_IS_LETTER = np.array([chr(code).isascii() and chr(code).isalpha() for code in range(256)])
_LOWER_CASE_BYTE = 0x20
MIN_BYTE_BEYOND_ASCII = 0x80


@dataclass(frozen=True, slots=True)
class JoinedTexts:
    """Texts side by side, in UTF-8."""

    data: bytes
    """The texts; each that is not empty ends in LF."""
    starts: Positions
    """The beginning of each."""

    @classmethod
    def join(cls, texts: Sequence[bytes]) -> JoinedTexts:
        """Join texts, whose lines end in LF; none may be after the last line."""
        data = b"".join(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        ends = np.cumsum(lengths)
        if not (np.frombuffer(data, np.uint8)[ends[lengths > 0] - 1] == _LF_BYTE).all():
            return cls.join([text if not text or text.endswith(b"\n") else text + b"\n" for text in texts])
        return cls(data, ends - lengths)

    @property
    def codes(self) -> NDArray[np.uint8]:
        """The bytes as numbers."""
        return np.frombuffer(self.data, np.uint8)

    def find(self, literal: bytes, *, any_case: bool = False) -> Positions:
        """All places of a text, also those that overlap; with `any_case`, in any case of ASCII letters."""
        codes, wanted = self.codes, literal.lower() if any_case else literal
        count = len(codes) - len(wanted) + 1
        offsets = sorted(range(len(wanted)), key=lambda at: -_RARITY.get(wanted[at], len(_COMMON)))
        probes, others = offsets[:_MAX_PROBES], offsets[_MAX_PROBES:]
        found = []
        for block in range(0, count, _BLOCK_BYTES):
            size = min(_BLOCK_BYTES, count - block)
            held = _equals(codes[block + probes[0] : block + probes[0] + size], wanted[probes[0]], any_case)
            for at in probes[1:]:
                held &= _equals(codes[block + at : block + at + size], wanted[at], any_case)
            found.append(np.flatnonzero(held) + block)
        positions = np.concatenate(found) if found else np.zeros(0, np.int64)
        if len(wanted) > _MAX_COMPARED_BYTES:
            ends = ((at, at + len(wanted)) for at in positions.tolist())
            parts = (self.data[at:end].lower() if any_case else self.data[at:end] for at, end in ends)
            return positions[np.fromiter((part == wanted for part in parts), np.bool_, len(positions))]
        for at in others:
            positions = positions[_equals(codes[positions + at], wanted[at], any_case)]
        return positions

    @property
    def line_ends(self) -> Positions:
        """The place of the end of each line."""
        return np.flatnonzero(self.codes == _LF_BYTE)

    def find_holders(self, positions: Positions) -> Positions:
        """The index of the text that holds each place."""
        found: Positions = np.searchsorted(self.starts, positions, side="right") - 1
        return found


def _equals(codes: NDArray[np.uint8], code: int, any_case: bool) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (codes | np.uint8(_LOWER_CASE_BYTE) if any_case and _IS_LETTER[code] else codes) == code
    return found

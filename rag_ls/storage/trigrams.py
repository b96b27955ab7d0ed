"""Bit signatures of texts: they rule out most documents that cannot hold a literal text, without reading them.

A document is divided into blocks of whole lines. Each block's signature has a bit for each hashed trigram (three bytes in
a row) of the block. A line that holds a literal lies in one block, which then has the bits of all trigrams of the literal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

SIGNATURE_BYTES = 256
_BITS = 8 * SIGNATURE_BYTES
# The length of a block's text: some 400 different trigrams set a fifth of the bits.
_BLOCK_BYTES = 1024
_LF_BYTE, _CR_BYTE = 10, 13
LINE_NUMBER = np.dtype("<u4")
_SHIFT = np.uint32(32 - (_BITS - 1).bit_length())
_FACTORS = tuple(map(np.uint32, (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)))
_MIX = np.uint32(0x2C1B3C6D)
# Letters that regular expressions take for an ASCII letter in another case.
OTHER_CASES = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
_NOT_ASCII = lazy_pattern(r"[^\x00-\x7f]+")

BlockBits = NDArray[np.uint8]
"""The signature of each block, of shape (blocks, `SIGNATURE_BYTES`)."""


@dataclass(frozen=True, slots=True)
class Need:
    """The literal texts that a line must hold. A need without any is met by every line."""

    literals: tuple[str, ...] = ()
    """All of them, in any case of ASCII letters."""
    either: tuple[tuple[Need, ...], ...] = ()
    """Of each group, one need must be met."""
    any_case: bool = False
    """Whether other letters may be in another case, too."""

    @property
    def is_empty(self) -> bool:
        """Whether every line may meet it."""
        return not any(map(self._bits, self.literals)) and not any(
            group and not any(need.is_empty for need in group) for group in self.either
        )

    def find_blocks(self, bits: BlockBits, among: NDArray[np.int64]) -> NDArray[np.int64]:
        """The blocks, in order, `among` some that may have a line that meets it."""
        for literal in self.literals:
            for bit in self._bits(literal):
                among = among[(bits[among, bit >> 3] & np.uint8(128 >> (bit & 7))) != 0]
        for group in self.either:
            if group and not any(need.is_empty for need in group):
                among = np.unique(np.concatenate([need.find_blocks(bits, among) for need in group]))
        return among

    def parts_of(self, literal: str) -> list[str]:
        """The texts that a folded document (`fold`) must hold for one of the literals."""
        folded = fold(literal)
        return [part for part in _NOT_ASCII.split(folded) if part] if self.any_case else [folded]

    def _bits(self, literal: str) -> set[int]:
        parts = (part.encode("utf-8", "surrogatepass") for part in self.parts_of(literal))
        return {int(bit) for part in parts for bit in _hash_trigrams(part)}


@dataclass(frozen=True, slots=True)
class Signed:
    """The signatures of a document's blocks."""

    bits: bytes
    """The signatures, `SIGNATURE_BYTES` each; empty for a text without trigrams."""
    first_lines: bytes
    """The first line of each block, from 1, as `LINE_NUMBER`."""


def sign(text: str) -> Signed:
    """Sign a document."""
    data = fold(text).encode("utf-8", "surrogatepass")
    bits = _hash_trigrams(data)
    if not len(bits):
        return Signed(b"", b"")
    codes = np.frombuffer(data, dtype=np.uint8)
    starts = _find_blocks(codes)
    blocks = np.searchsorted(starts, np.arange(len(bits)), side="right") - 1
    signatures = np.zeros(len(starts) * _BITS, dtype=np.bool_)
    signatures[blocks * _BITS + bits] = True
    # Lines end at LF, CRLF or CR; blocks end only at LF.
    followed = np.append(codes[1:], 0)
    ends = np.flatnonzero((codes == _LF_BYTE) | ((codes == _CR_BYTE) & (followed != _LF_BYTE)))
    first_lines = 1 + np.searchsorted(ends, starts)
    return Signed(np.packbits(signatures).tobytes(), first_lines.astype(LINE_NUMBER).tobytes())


def fold(text: str) -> str:
    """A text without the case of ASCII letters, and of letters that are one of them in another case."""
    if text.isascii():
        return text.lower()
    for other, letter in OTHER_CASES.items():
        text = text.replace(other, letter)
    # Only bytes that are ASCII letters are put in lower case.
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _hash_trigrams(data: bytes) -> NDArray[np.int64]:
    """The bit of each trigram, of shape (len(data) - 2,)."""
    if len(data) < 3:
        return np.zeros(0, dtype=np.int64)
    codes = np.frombuffer(data, dtype=np.uint8).astype(np.uint32)
    first, second, third = _FACTORS
    hashes = codes[:-2] * first + codes[1:-1] * second + codes[2:] * third
    hashes = (hashes ^ (hashes >> np.uint32(15))) * _MIX
    bits: NDArray[np.int64] = (hashes >> _SHIFT).astype(np.int64)
    return bits


def _find_blocks(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The starts of the blocks, each at the beginning of a line."""
    line_starts = np.flatnonzero(codes == _LF_BYTE) + 1
    starts = [0]
    while (at := int(np.searchsorted(line_starts, starts[-1] + _BLOCK_BYTES))) < len(line_starts):
        starts.append(int(line_starts[at]))
    return np.array(starts, dtype=np.int64)

"""Text to search terms: identifiers are split at camelCase, snake_case and digits, scripts without spaces into pairs of letters."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.util.paths import FOLDER_STEMS, compose
from rag_ls.util.patterns import lazy_pattern
from rag_ls.util.records import dataclass

# Latin and Greek letters with their accents, and ё. In other scripts a mark makes another letter: が is not か, й is not и.
_ACCENTED = lazy_pattern("[\u00c0-\u024f\u1e00-\u1eff\u0386-\u03ce\u1f00-\u1fffЁёς]")
# Marks that readers may leave out: accents that stand alone, vowel points of Hebrew and Arabic, characters without width.
_LEFT_OUT = lazy_pattern(
    "[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]"
)
# Vowel signs of India and South-East Asia stand inside words, but `\w` does not match them.
_WORD = lazy_pattern(
    "[\\w\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f90-\u0fbc"
    "\u102b-\u103e\u1056-\u109d\u17b4-\u17d3\u17dd]+"
)
_ASCII_PART = lazy_pattern("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# The same patterns on classes of characters (`_class_of`); the last ones are those of scripts without spaces.
_PART = lazy_pattern("A+(?=Aa)|A?a+|A+|0+|h+|i+|k+|g+|t+")
_UNSPACED, _ONE_LETTER_WORDS = frozenset("hikgt"), frozenset("hg")
# Scripts that write words without spaces or with endings attached, by first and last character: Chinese (h), the two of
# Japanese (i, k), Korean (g), Thai, Lao, Burmese and Khmer (t).
_SCRIPTS = (
    (0x0E00, 0x0EFF, "t"), (0x1000, 0x109F, "t"), (0x1100, 0x11FF, "g"), (0x1780, 0x17FF, "t"), (0x3005, 0x3007, "h"),
    (0x3040, 0x309F, "i"), (0x30A0, 0x30FF, "k"), (0x31F0, 0x31FF, "k"), (0x3400, 0x9FFF, "h"), (0xAC00, 0xD7A3, "g"),
    (0xF900, 0xFAFF, "h"), (0x20000, 0x3FFFF, "h"),
)  # fmt: skip
# A letter of South-East Asia with the signs above, below and behind it.
_SIGNS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
_LETTER = lazy_pattern(f"[^{_SIGNS}][{_SIGNS}]*|[{_SIGNS}]+")
# Marks between the parts of an import: `a.b`, `a/b`, `a::b`, `A\\B`, and in file names.
_IMPORT_PARTS = lazy_pattern(r"[/\\.:]+")
_KEY_PARTS = 3
_PARENT = ".."
"""The key of an import of a whole folder: `.`, `..`, `super`."""
# Languages in which a folder is a package.
_FOLDER_SUFFIXES = frozenset({"go", "java", "kt", "scala", "groovy", "cs"})
# A longer part is no word. A long name still has parts of some letters; the parts of a hash or a base64 blob are shorter, and
# indexing them would cost space and find nothing.
_MAX_PART_CHARACTERS, _MIN_MEAN_PART_CHARACTERS = 64, 3
_MAX_WHOLE_CHARACTERS = 512
_MIN_STEMMED_CHARACTERS, _MAX_STEMMED_BYTES = 3, 64
COLUMN_WEIGHTS = (4, 2, 2, 1, 1)
"""The weight of a term in each column of `columns_of`: a name says more than a body (docs/quality.md)."""
SAME_BEGINNING_CHARACTERS, MAX_LIKE = 2, 5000
"""A misspelt word is compared with at most `MAX_LIKE` terms that share its first `SAME_BEGINNING_CHARACTERS` characters."""


def split_identifier(word: str) -> tuple[str, ...]:
    """The parts of one identifier, followed by its parts joined when there are several.

    >>> split_identifier("getUserByID")
    ('get', 'user', 'by', 'id', 'getuserbyid')
    """
    if word.isascii():
        return _split_ascii(word)
    parts = identifier_parts(word)
    return (*parts, "".join(parts)) if len(parts) > 1 and not is_unspaced(word) else parts


def identifier_parts(word: str) -> tuple[str, ...]:
    """The lower-case parts of one identifier: `parseHTTPHeader` is parse, http, header.

    A run of a script without spaces gives the pairs of its letters: 密码过期 is 密码, 码过, 过期.
    """
    if word.isascii():
        return _ascii_parts(word)
    return tuple(part for run, kind in _runs(word) for part in (_pairs(run) if kind in _UNSPACED else (run,)))


def fold_text(text: str) -> str:
    """A text without accents, in the usual width and composed; case is kept.

    >>> fold_text("Gro\u0308ße")
    'Große'
    """
    if text.isascii():
        return text
    return _LEFT_OUT.sub("", _ACCENTED.sub(_base, unicodedata.normalize("NFKC", text)))


def words_in(text: str) -> list[str]:
    """The words and identifiers of a text as they stand there, folded, in order."""
    return _WORD.findall(fold_text(text))


def find_terms(text: str) -> list[str]:
    """All terms of a text in order, repeats included, as a query looks them up."""
    return [term for word in words_in(text) for term in split_identifier(word)]


def index_terms(word: str) -> tuple[str, ...]:
    """The terms of one word in the index, which has single letters of Chinese and Korean too: one may be a query (锁)."""
    if word.isascii():
        return _split_ascii(word)
    letters = (letter for run, kind in _runs(word) if kind in _ONE_LETTER_WORDS and len(run) > 1 for letter in run)
    return (*split_identifier(word), *letters)


def index_text(text: str) -> str:
    """The form of a text in the full-text index."""
    return " ".join([" ".join(index_terms(word)) for word in words_in(text)])


@lru_cache(maxsize=65536)
def _split_ascii(word: str) -> tuple[str, ...]:
    parts = _ascii_parts(word)
    return (*parts, "".join(parts)) if len(parts) > 1 and len(word) <= _MAX_WHOLE_CHARACTERS else parts


@lru_cache(maxsize=65536)
def _ascii_parts(word: str) -> tuple[str, ...]:
    parts = tuple(part.lower() for part in _ASCII_PART.findall(word))
    if len(word) <= _MAX_PART_CHARACTERS:
        return parts
    is_blob = len(word) < _MIN_MEAN_PART_CHARACTERS * len(parts)
    return () if is_blob else tuple(part for part in parts if len(part) <= _MAX_PART_CHARACTERS)


def _runs(word: str) -> list[tuple[str, str]]:
    """The parts of a word with non-ASCII letters, in lower case, each with the class of its first character."""
    word = fold_text(word)
    shape = "".join(map(_class_of, word))
    found = [
        (word[part.start() : part.end()].lower().replace("\u03c2", "\u03c3"), part[0][0])
        for part in _PART.finditer(shape)
    ]
    return [(run, kind) for run, kind in found if kind in _UNSPACED or len(run) <= _MAX_PART_CHARACTERS]


def is_unspaced(word: str) -> bool:
    """Whether a word has letters of a script that puts no spaces between words."""
    return any(_class_of(character) in _UNSPACED for character in word)


def _pairs(run: str) -> list[str]:
    letters = _LETTER.findall(run)
    return [one + other for one, other in itertools.pairwise(letters)] or letters


@cache
def _class_of(character: str) -> str:
    """One letter for the class of a character: a, A and 0 as in ASCII, an underscore for what parts words."""
    code = ord(character)
    script = next((kind for first, last, kind in _SCRIPTS if first <= code <= last), "")
    if character == "_" or script:
        return script or "_"
    return "0" if character.isdigit() else "A" if character.isupper() else "a"


def columns_of(path: str, symbol: str, signature: str, doc: str, text: str) -> tuple[str, ...]:
    """The terms of a chunk, by column of the full-text index: symbol, signature, path, doc, text."""
    return index_text(symbol), index_text(signature), index_text(path), index_text(doc), index_text(text)


def last_name(symbol: str) -> str:
    """The last part of a qualified symbol, lower-case and composed: `Session.refresh` -> `refresh`."""
    return compose(symbol).rsplit(".", 1)[-1].rsplit(" > ", 1)[-1].lower()


def is_called(symbol: str, name: str) -> bool:
    """Whether a symbol has this qualified name, or this name as its last part. Case counts."""
    symbol, name = compose(symbol), compose(name)
    return name in (symbol, symbol.rsplit(".", 1)[-1])


def import_keys(module: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """The lower-case names under which the targets of an import are looked up: the last parts of the module, and the names.

    >>> import_keys("./lib/util.js", ("format",))
    ('lib', 'util', 'js', 'format')
    """
    parts = [part for part in _IMPORT_PARTS.split(module) if part and part not in ("crate", "self", "super")]
    kept = (*parts[-_KEY_PARTS:], *names) if parts else (_PARENT, *names)
    return tuple(dict.fromkeys(name.lower() for name in kept))


def target_keys(path: str) -> tuple[str, ...]:
    """The keys of the imports that may mean the document at a path: its name, and the folder that it may stand for."""
    *folders, name = path.split("/")
    stem, _, suffix = name.partition(".")
    keys = [stem or name, name.rpartition(".")[0] or name]
    if stem in FOLDER_STEMS or suffix in _FOLDER_SUFFIXES:
        # Many imports leave out `src` and `lib`: `packages/shop/src/index.ts`.
        keys += [*folders[-2:], _PARENT]
    return tuple(dict.fromkeys(key.lower() for key in keys))


@lru_cache(maxsize=65536)
def stem(term: str) -> str:
    """The form of a term in the full-text index: folded, and stemmed by Porter's algorithm (1980).

    As FTS5's tokenizer does, it leaves words of one or two letters as they are (`is` is not `i`), and very long ones.
    """
    plain = fold_text(term.lower())
    if len(plain) < _MIN_STEMMED_CHARACTERS or len(plain.encode("utf-8", "surrogatepass")) > _MAX_STEMMED_BYTES:
        return plain
    return str(_stemmer().stemWord(plain))


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("porter")


def _base(letter: re.Match[str]) -> str:
    return "\u03c3" if letter[0] == "\u03c2" else unicodedata.normalize("NFD", letter[0])[0]


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

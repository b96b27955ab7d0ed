"""Files that keep changing: each is left alone for a while after it was read, longer each time."""

from __future__ import annotations

from collections.abc import Iterable

from rag_ls.util.records import dataclass

# A file that is read this many times, each time soon after the last, keeps changing. Fewer times suffice for a file that takes
# long.
_MANY_READS, _FEW_READS = 5, 2
_DEAR_S = 1.0
_SOON_S = 3.0
_MIN_REST_S, _MAX_REST_S = 5.0, 60.0
_COST_FACTOR = 2
# A file that is read faster than this is cheap: a question can wait for it.
_CHEAP_S = 0.25
_MAX_KNOWN = 1000


@dataclass(frozen=True, slots=True)
class _Reads:
    at: float
    """The time of the last one."""
    cost_s: float
    count: int
    """The number of reads, each soon after the one before."""
    rest_s: float = 0.0


class Rests:
    """Tells when files may be read again. All times are of one clock, in seconds."""

    def __init__(self) -> None:
        self._reads: dict[str, _Reads] = {}

    def note_read(self, path: str, cost_s: float, now: float) -> None:
        """Note that a file was read at `now`, which took `cost_s`."""
        former = self._reads.pop(path, None)
        goes_on = former is not None and now - former.at <= _SOON_S + 2 * former.rest_s + cost_s
        count = former.count + 1 if former is not None and goes_on else 1
        doubled = 2 * former.rest_s if former is not None and goes_on else 0.0
        keeps_changing = count >= (_FEW_READS if cost_s >= _DEAR_S else _MANY_READS)
        rest_s = min(max(_MIN_REST_S, _COST_FACTOR * cost_s, doubled), _MAX_REST_S) if keeps_changing else 0.0
        self._reads[path] = _Reads(now, cost_s, count, rest_s)
        while len(self._reads) > _MAX_KNOWN:
            del self._reads[next(iter(self._reads))]

    def due_in_s(self, path: str, now: float) -> float:
        """Seconds until a file may be read again; 0 or less where it may be now."""
        reads = self._reads.get(path)
        return reads.at + reads.rest_s - now if reads is not None else 0.0

    def is_cheap(self, path: str) -> bool:
        """Whether a question may have a file read before its time."""
        reads = self._reads.get(path)
        return reads is None or reads.cost_s <= _CHEAP_S

    def describe(self, paths: Iterable[str], now: float) -> str:
        """The files among `paths` that keep changing, in words; empty for none."""
        resting = sorted(path for path in paths if self.due_in_s(path, now) > 0)
        if not resting:
            return ""
        rest_s = self._reads[resting[0]].rest_s
        who = f"{resting[0]} keeps changing, so it"
        if len(resting) > 1:
            who = f"{resting[0]} and {len(resting) - 1:,} more keep changing, so the first"
        return f"{who} is read every {rest_s:.0f} s at most; index.exclude leaves out what is no code"

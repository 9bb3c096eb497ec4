"""What speaks for a turn as the answer to a query: named numbers, a matrix of them for all candidates. Pure.

Within a query each is either a share of the best candidate's, a cosine, or a plain fact, so that one set of
weights serves subjects of any size. Whatever is the same for every candidate moves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexical.hints import Span

Floats = NDArray[np.float64]

SIGNALS = (
    "words",  # BM25
    "words_around",  # what the turns around it add to that, each lexeme where it counts most
    "answers",  # BM25 of the turn before, if that is a question
    "meaning",  # cosine
    "meaning_around",  # mean cosine of the turns beside it
    "session_words",  # best BM25 in its session
    "session_meaning",  # best cosine in its session
    "speaker",  # it was said by somebody whom the query names
    "length",  # logarithm of its number of lexemes
    "asks",  # it ends as a question
    "date",  # how near it was said to the time that the query names
    "time_told",  # the query asks when, and it holds a word of time
    "recency",  # 1 for what is new, fading with its age
    "entity",  # the query names exactly what it is about
)

# What is lent by the turns around and the session.
BESIDE = ("words_around", "answers", "meaning_around", "session_words", "session_meaning")

K1, B = 1.2, 0.75  # as in lexical.bm25
FADING = 0.5  # of a lexeme's worth with each turn of distance
REACH = 2  # turns to both sides
PATIENCE = 14.0  # days after the time named in which telling of it fades to 1/e; before it, half as many
LONG = 64  # lexemes from which a longer text says no more for itself
_STRIDE = 1 << 32  # more turns than a session has


@dataclass(frozen=True, slots=True)
class Wanted:
    """The query. `idf` (lexemes,) of its lexemes, each once, without stop words and names of speakers."""

    idf: Floats
    mean_length: float
    spans: Sequence[Span] = ()
    asks_when: bool = False


@dataclass(frozen=True, slots=True)
class Turns:
    """Candidates together with the turns around them, (turns,) each; in any order."""

    session: NDArray[np.int64]  # any number that tells sessions apart
    place: NDArray[np.int64]  # in the session
    counts: NDArray[np.float64]  # (turns, lexemes): how often each lexeme of the query stands in it
    lengths: NDArray[np.float64]  # lexemes
    cosines: NDArray[np.float64]
    named: NDArray[np.bool_]  # its speaker stands in the query
    asks: NDArray[np.bool_]
    tells_time: NDArray[np.bool_]
    days: NDArray[np.int64]  # ordinal of the day when it was said
    recency: NDArray[np.float64]
    entity: NDArray[np.bool_]


def signals_of(wanted: Wanted, turns: Turns) -> Floats:
    """(turns, SIGNALS). A turn around which no others were given counts as alone."""
    if not len(turns.session):
        return np.zeros((0, len(SIGNALS)))
    parts = _contributions(wanted, turns)
    words = parts.sum(axis=1)
    at = _Neighbours.of(turns)
    _, sessions = np.unique(turns.session, return_inverse=True)
    best = max(float(words.max(initial=0.0)), 1e-9)
    columns = {
        "words": words / best,
        "words_around": (_around(parts, at) - words) / best,
        "answers": at.beside(np.where(turns.asks, words, 0.0), -1) / best,
        "meaning": turns.cosines,
        "meaning_around": _mean_beside(turns.cosines, at),
        "session_words": _best_of(words, sessions) / best,
        "session_meaning": _best_of(turns.cosines, sessions),
        "speaker": turns.named,
        "length": np.log1p(turns.lengths.clip(max=LONG)),
        "asks": turns.asks,
        "date": _nearness(turns.days, wanted.spans),
        "time_told": turns.tells_time & wanted.asks_when,
        "recency": turns.recency * (not wanted.spans),  # who names a time does not mean the newest
        "entity": turns.entity,
    }
    return np.stack([columns[name].astype(np.float64, copy=False) for name in SIGNALS], axis=1)


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """Where the turns before and after each one are among all; the number of turns where there is none."""

    rows: dict[int, NDArray[np.int64]]

    @classmethod
    def of(cls, turns: Turns) -> "_Neighbours":
        keys = turns.session * _STRIDE + turns.place
        order = np.argsort(keys)
        ascending = keys[order]
        rows = {}
        for offset in range(-REACH, REACH + 1):
            found = np.searchsorted(ascending, keys + offset).clip(max=len(keys) - 1)
            rows[offset] = np.where(ascending[found] == keys + offset, order[found], len(keys))
        return cls(rows)

    def beside(self, values: Floats, offset: int) -> Floats:
        """The values, of one dimension or two, of the turns so far away; 0 where there is none."""
        padded = np.concatenate([values, np.zeros_like(values[:1])])
        return padded[self.rows[offset]]


def _contributions(wanted: Wanted, turns: Turns) -> Floats:
    """What each lexeme adds to the BM25 of each turn: (turns, lexemes)."""
    relative = turns.lengths / max(wanted.mean_length, 1e-9)
    saturation = K1 * (1 - B + B * relative)
    parts: Floats = turns.counts * (K1 + 1) / (turns.counts + saturation[:, np.newaxis]) * wanted.idf
    return parts


def _around(parts: Floats, at: _Neighbours) -> Floats:
    strongest = parts
    for offset in at.rows:
        strongest = np.maximum(strongest, FADING ** abs(offset) * at.beside(parts, offset))
    total: Floats = strongest.sum(axis=1)
    return total


def _mean_beside(values: Floats, at: _Neighbours) -> Floats:
    """Of the turn before and that after; of itself where there is neither."""
    there = np.ones_like(values)
    number = at.beside(there, -1) + at.beside(there, +1)
    total = at.beside(values, -1) + at.beside(values, +1)
    return np.where(number > 0, total / np.maximum(number, 1), values)


def _best_of(values: Floats, groups: NDArray[np.intp]) -> Floats:
    best = np.full(int(groups.max(initial=0)) + 1, -np.inf)
    np.maximum.at(best, groups, values)
    return best[groups]


def _nearness(days: NDArray[np.int64], spans: Sequence[Span]) -> Floats:
    """1 inside the nearest span, less the further outside; 0 for all if there is none."""
    nearest = np.zeros(len(days))
    for span in spans:
        outside = np.maximum(2.0 * (span.first - days), days - span.last).clip(min=0)
        nearest = np.maximum(nearest, np.exp(-outside / PATIENCE))
    return nearest

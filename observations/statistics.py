"""What BM25 weighs words by: counted from the index, and kept for a minute where counting takes time.

Small corpora are counted at every search, so their figures are exact. Those of a large one are up to
`SERVES` seconds old in each process: its size and the frequencies of words change little in that time, and
the weight of a word grows with the logarithm of both. New observations are found at once either way.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from lexical.bm25 import Statistics
from observations import querysets
from observations.lexemes import in_any, mark_of, term

SMALL = 1_000  # observations that are counted each time
SERVES = 60.0  # seconds
CORPORA_KEPT, WORDS_KEPT = 2_000, 5_000

Scope = tuple[UUID, tuple[str, ...], str]  # tenant, corpora, user


@dataclass(slots=True)
class _Counted:
    documents: int
    lexemes: int
    fresh_until: float
    frequencies: dict[str, int] = field(default_factory=dict)

    @property
    def mean_length(self) -> float:
        return self.lexemes / max(self.documents, 1)


_lock = threading.Lock()
_kept: OrderedDict[Scope, _Counted] = OrderedDict()
_vectors = [0.0, 0.0]  # until when the number serves, and the number


def read_statistics(
    *, tenant_id: UUID, corpora: Sequence[str], user_id: str, lexemes: Sequence[str]
) -> Statistics:
    """The figures of the corpora, of one user's share if `user_id` is not empty. In an open scope."""
    scope = (tenant_id, tuple(corpora), user_id)
    counted = _known(scope) or _count(scope)
    known = counted.frequencies
    missing = [lexeme for lexeme in lexemes if lexeme not in known]
    if missing and counted.documents:
        marks = [mark_of(tenant_id, corpus) for corpus in corpora]
        terms = [in_any(term(lexeme, mark) for mark in marks) for lexeme in missing]
        found = querysets.count(terms=terms, corpora=corpora, user_id=user_id)
        if len(known) > WORDS_KEPT:
            known = {lexeme: known[lexeme] for lexeme in lexemes if lexeme in known}
        known |= dict(zip(missing, found, strict=True))
        counted.frequencies = known
    return Statistics(counted.documents, counted.mean_length, known)


def all_vectors() -> int:
    """About how many vectors all tenants have together. In an open scope."""
    if time.monotonic() >= _vectors[0]:
        _vectors[:] = [time.monotonic() + SERVES, querysets.count_vectors()]
    return int(_vectors[1])


def _known(scope: Scope) -> _Counted | None:
    with _lock:
        counted = _kept.get(scope)
        if counted is None or time.monotonic() >= counted.fresh_until:
            return None
        _kept.move_to_end(scope)
        return counted


def _count(scope: Scope) -> _Counted:
    tenant_id, corpora, user_id = scope
    documents, lexemes = querysets.size_of(tenant_id=tenant_id, corpora=corpora, user_id=user_id)
    counted = _Counted(documents, lexemes, time.monotonic() + SERVES)
    with _lock:
        _kept.pop(scope, None)
        if documents > SMALL:
            _kept[scope] = counted
        if len(_kept) > CORPORA_KEPT:
            _kept.popitem(last=False)
    return counted

"""Observations that may be one: pairs for a person to judge. Nothing is merged by itself."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from observations import querysets
from observations.models import Observation
from observations.selecting import condition_of
from observations.types import Selection
from tenants.caller import Caller
from tenants.scope import scope

SCANNED = 1_000  # the newest of the project: each is compared with each
SHOWN = 50  # pairs
ALIKE = 0.9  # cosine of two that say nearly the same
ALIKE_OF_ONE_TITLE = 0.8
Why = Literal["same text", "same title", "alike"]
WHYS: tuple[Why, ...] = ("same text", "same title", "alike")  # the strongest first
STEP = 3.0  # of strength between two reasons: more than two cosines can be apart
Vectors = Mapping[int, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Likely:
    """Two of one project, user and scope, the older first. `cosine`: how alike in meaning; None: unknown."""

    older: Observation
    newer: Observation
    why: Why
    cosine: float | None


@dataclass(frozen=True, slots=True)
class _Scanned:
    """What is compared of an observation: whole ones, with their contents, would take longer to read."""

    id: int
    title: str
    digest: str


@dataclass(frozen=True, slots=True)
class _Pair:
    older: int
    newer: int
    why: int
    cosine: float


def find_likely(*, caller: Caller, project: str = "") -> list[Likely]:
    """The likeliest `SHOWN` pairs among the newest `SCANNED` of the project, or of all: those that say the
    same, those of one title that are alike, those that are very much alike."""
    condition = condition_of(caller, Selection(project=project))
    with scope(caller.tenant_id):
        newest = Observation.objects.filter(condition).order_by("-created_at", "-id")
        together: dict[tuple[str, ...], list[_Scanned]] = defaultdict(list)
        for *place, number, title, digest in newest.values_list(
            "project", "user_id", "scope", "id", "title", "normalized_hash"
        )[:SCANNED]:
            together[tuple(place)].append(_Scanned(number, title, digest))
        groups = [group for group in together.values() if len(group) > 1]
        ids = [one.id for group in groups for one in group]
        vectors = querysets.vectors_of(tenant_id=caller.tenant_id, ids=ids)
        found = [pair for group in groups for pair in _pairs(group, vectors)]
        found.sort(key=lambda pair: (pair.why, -pair.cosine, -pair.newer))
        shown = found[:SHOWN]
        rows = querysets.live_by_id(
            tenant_id=caller.tenant_id, ids=[one for pair in shown for one in (pair.older, pair.newer)]
        )
    return [
        Likely(
            rows[one.older], rows[one.newer], WHYS[one.why],
            one.cosine if one.older in vectors and one.newer in vectors else None,
        )
        for one in shown
        if one.older in rows and one.newer in rows
    ]  # fmt: skip


def _pairs(group: Sequence[_Scanned], vectors: Vectors) -> list[_Pair]:
    """Each with the likeliest of the older ones, so that a crowd of the same makes no crowd of pairs."""
    cosines = _cosines(group, vectors)
    titles = _same([" ".join(one.title.lower().split()) for one in group])
    strengths = np.full(cosines.shape, -np.inf, dtype=np.float32)
    strengths[titles & (cosines >= ALIKE_OF_ONE_TITLE)] = -STEP * WHYS.index("same title")
    strengths[cosines >= ALIKE] = -STEP * WHYS.index("alike")
    strengths[_same([one.digest for one in group])] = -STEP * WHYS.index("same text")
    strengths += cosines
    # Newest first: the older ones stand to the right of each.
    strengths[np.tri(len(group), dtype=bool)] = -np.inf
    best = strengths.argmax(axis=1)
    return [
        _pair(group[older].id, group[newer].id, float(strengths[newer, older]), float(cosines[newer, older]))
        for newer, older in enumerate(best.tolist())
        if strengths[newer, older] > -np.inf
    ]


def _pair(older: int, newer: int, strength: float, cosine: float) -> _Pair:
    return _Pair(older, newer, round((cosine - strength) / STEP), cosine)


def _cosines(group: Sequence[_Scanned], vectors: Vectors) -> NDArray[np.float32]:
    """Of each with each, shape (group, group); 0 where one has no vector."""
    known = [place for place, one in enumerate(group) if one.id in vectors]
    result = np.zeros((len(group), len(group)), dtype=np.float32)
    if known:
        matrix = np.stack([vectors[group[place].id] for place in known])
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
        result[np.ix_(known, known)] = matrix @ matrix.T
    return result


def _same(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which are the same as which, shape (texts, texts)."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    of_each = np.array([numbers[text] for text in texts])
    same: NDArray[np.bool_] = of_each[:, None] == of_each[None, :]
    return same

"""The workbench of recall: a query by one setting, or by two side by side, with every signal of every hit, in
parts that add up to its score, and what each is more or less than the candidates have on average: that is
what tells a hit apart. What is tried out does not count as access."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lexical.averages import Average
from recall.hybrid import weights_of
from recall.kinds import KINDS, Kind, Other, cannot_answer, recall_kinds
from recall.ranking.recency import RecencyWeights
from recall.stages import Stage
from recall.types import Hit, Profile, RecallQuery, Spread
from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy

# Which profiles weigh likeness against recency by the query's alpha, and which let memories fade by decay.
KNOWS_ALPHA: tuple[Profile, ...] = ("fused",)
KNOWS_DECAY: tuple[Profile, ...] = ("fused", "hybrid", "keyword")


@dataclass(frozen=True, slots=True)
class Part:
    """What a signal gave to a score: `added` is `value` times `weight`, which is None for what is added as
    it is; `usual` is what it gives on average to all candidates of the query."""

    name: str
    value: float
    weight: float | None
    added: float
    usual: float = 0.0

    @property
    def more(self) -> float:
        """What sets it apart from the average candidate: above 0 it pushes up, below it pulls down."""
        return self.added - self.usual


@dataclass(frozen=True, slots=True)
class Shown:
    """A recalled memory at its place, from 1, of so many `candidates` of its kind. `is_named`: it is a slot
    whose key stands in the query. `moved`: by how many places it stands higher than by the other setting;
    None where that one does not answer it, or there is none."""

    place: int
    kind: Kind
    id: str
    text: str
    score: float
    parts: tuple[Part, ...]
    session: str
    user_id: str
    agent_id: str
    created_at: datetime
    spread: Spread | None = None
    candidates: int = 1
    is_named: bool = False
    moved: int | None = None

    @property
    def usual(self) -> float:
        """The average score of the candidates."""
        return sum(part.usual for part in self.parts)

    @property
    def more(self) -> float:
        """By how much its score is above that: what the parts are more, added up."""
        return self.score - self.usual

    @property
    def risen(self) -> float:
        """What the parts that push it up add up to."""
        return sum(part.more for part in self.parts if part.more > 0)

    @property
    def lowered(self) -> float:
        """And those that pull it down; not above 0."""
        return sum(part.more for part in self.parts if part.more < 0)


@dataclass(frozen=True, slots=True)
class Tried:
    """An answer and how it was made. `query` names everything that the policy left open; `ms` is what the
    whole recall took; `left_out` are kinds that cannot be asked for with the query's filter, and why."""

    query: RecallQuery
    results: tuple[Shown, ...]
    stages: tuple[Stage, ...]
    query_used: str
    formula: str
    model: str
    ms: float
    left_out: tuple[tuple[Kind, str], ...] = ()


def try_recall(
    *,
    caller: Caller,
    query: RecallQuery,
    kinds: Sequence[Kind] = KINDS,
    now: datetime,
    second: RecallQuery | None = None,
) -> tuple[Tried, ...]:
    """The query's answer, and by a second setting of the same query, if one is given, that one's beside it.
    Kinds that cannot be asked for with its filter are left out, if others can. Raises what `recall_kinds`
    raises."""
    first = _tried(caller, query, kinds, now)
    if second is None:
        return (first,)
    other = _tried(caller, second, kinds, now)
    return _beside(first, other), _beside(other, first)


def settled(*, caller: Caller, query: RecallQuery) -> RecallQuery:
    """The query with what it leaves open named as the policy says: so it is in no trial."""
    policy = _policy(caller, query)
    return replace(
        query,
        top_k=query.top_k or policy.recall.top_k,
        profile=query.profile or policy.recall.profile,
        alpha=policy.recall.alpha if query.alpha is None else query.alpha,
        decay=policy.recall.decay if query.decay is None else query.decay,
    )


def parts_of(hit: Hit, *, query: RecallQuery, policy: Policy) -> tuple[Part, ...]:
    """What the score of an episode is made of, what tells it apart first; without what gives nothing to it,
    and on average. `query` is a settled one."""
    weights = _weights(query, policy)
    if hit.added:
        found = [_divided(name, value, weights.get(name)) for name, value in hit.added.items()]
    else:
        found = [_multiplied(name, value, weights.get(name)) for name, value in hit.signals.items()]
    return _compared([part for part in found if part.added], hit.average, weights)


def shown(place: int, one: Hit | Other, *, query: RecallQuery, policy: Policy) -> Shown:
    """A recalled memory with its parts."""
    if isinstance(one, Other):
        parts = [_multiplied(name, value, one.weights.get(name)) for name, value in one.signals.items()]
        return Shown(
            place, one.kind, one.id, one.text, one.score, _compared(parts, one.average, one.weights),
            one.session_id, one.user_id, one.agent_id, one.created_at,
            candidates=one.average.of if one.average else 1,
            is_named=one.kind == "entity" and "entity" in one.signals,
        )  # fmt: skip
    episode = one.episode
    return Shown(
        place, "episode", str(episode.id), episode.text, one.score,
        parts_of(one, query=query, policy=policy),
        episode.session, episode.user_id, episode.agent_id, episode.created_at, one.spread,
        candidates=one.average.of if one.average else 1,
    )  # fmt: skip


def _tried(caller: Caller, query: RecallQuery, kinds: Sequence[Kind], now: datetime) -> Tried:
    policy, asked = _policy(caller, query), settled(caller=caller, query=query)
    left_out = left_out_of(kinds, query=asked, caller=caller)
    asked_for = [one for one in kinds if one not in left_out]
    began = time.perf_counter()
    found = recall_kinds(caller=caller, query=asked, kinds=asked_for, now=now, counted=False)
    ms = (time.perf_counter() - began) * 1000
    results = tuple(
        shown(place, one, query=asked, policy=policy) for place, one in enumerate(found.results, start=1)
    )
    formula, model = (found.episodes.formula, found.episodes.model) if found.episodes else ("", "")
    return Tried(asked, results, found.stages, found.query_used, formula, model, ms, tuple(left_out.items()))


def left_out_of(kinds: Sequence[Kind], *, query: RecallQuery, caller: Caller) -> dict[Kind, str]:
    """Of these kinds, those that cannot be asked for with the query's filter, and why; none if that would
    leave nothing to ask for."""
    found: dict[Kind, str] = {}
    for kind in kinds:
        if wrong := cannot_answer(kind, query=query, caller=caller):
            found[kind] = str(wrong)
    return found if len(found) < len(set(kinds)) else {}


def _policy(caller: Caller, query: RecallQuery) -> Policy:
    where = query.where
    agent_id = caller.confine_agent(where.agent_id)
    if not (
        caller.confine_user(where.user_id)
        or agent_id
        or where.session_id
        or caller.confine_project(where.project)
        or caller.may("admin")
    ):
        raise Invalid("Say whose memory is asked: a user, agent, project or session.", "user")
    return read_policy(tenant_id=caller.tenant_id, agent_id=agent_id)


def _beside(one: Tried, other: Tried) -> Tried:
    there = {(hit.kind, hit.id): hit.place for hit in other.results}
    moved = (
        (hit, there[hit.kind, hit.id] - hit.place if (hit.kind, hit.id) in there else None)
        for hit in one.results
    )
    return replace(one, results=tuple(replace(hit, moved=places) for hit, places in moved))


def _weights(query: RecallQuery, policy: Policy) -> dict[str, float]:
    if query.profile == "fused":
        alpha = 0.0 if query.alpha is None else query.alpha
        return {"cosine": alpha, "recency": 1 - alpha}
    if query.profile == "recency":
        weights = query.recency_weights or RecencyWeights()
        return {"cosine": weights.semantic, "recency": weights.recency}
    if query.profile in ("hybrid", "keyword"):
        weights_used = weights_of(policy)
        return dict(zip(weights_used.names, weights_used.values.tolist(), strict=True))
    return {}


def _multiplied(name: str, value: float, weight: float | None) -> Part:
    return Part(name, value, weight, value if weight is None else value * weight)


def _divided(name: str, added: float, weight: float | None) -> Part:
    return Part(name, added / weight if weight else added, weight or None, added)


def _compared(
    parts: Iterable[Part], average: Average | None, weights: Mapping[str, float]
) -> tuple[Part, ...]:
    """The parts beside what each gives on average, and those that the memory lacks."""
    usual = {
        name: _multiplied(name, value, weights.get(name)).added
        for name, value in (average.values.items() if average else ())
    }
    own = [replace(part, usual=usual.pop(part.name, 0.0)) for part in parts]
    lacked = [
        replace(_multiplied(name, 0.0, weights.get(name)), usual=value)
        for name, value in usual.items()
        if value
    ]
    return tuple(sorted([*own, *lacked], key=lambda part: (-abs(part.more), -abs(part.added))))

"""Why a memory was not recalled: the place that it has further down, and what it lacks; or what keeps it
out of the answer altogether."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from episodic.episodes import access_episode
from episodic.models import Entity, Episode, SlotStatus
from episodic.slots import slot_text
from episodic.whole import read_whole_slot
from observations.models import Observation
from observations.observations import access_observation
from observations.search import LEAST_COSINE, confine, search_observations
from observations.types import GLOBAL, ObservationFilter
from recall.fused import written_since
from recall.kinds import (
    Kind,
    Other,
    cannot_answer,
    observation_filter,
    of_observation,
    recall_kinds,
    slots_for,
)
from recall.lab import Shown, left_out_of, settled, shown
from recall.recall import recall
from recall.types import Hit, RecallQuery
from tenants.caller import Caller
from tenants.embedding import embed_query
from tenants.errors import NotFound
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy

DEEPEST = 500  # places that are looked at
NUMBER = re.compile(r"[0-9]{1,18}")
NO_VECTOR = "It has no vector yet, so only its words can find it. The sweeper embeds it soon."


@dataclass(frozen=True, slots=True)
class Lack:
    """A signal that the last answered memory has more of, and how much that is in the score."""

    name: str
    here: float
    there: float

    @property
    def short(self) -> float:
        """Above 0."""
        return self.there - self.here


@dataclass(frozen=True, slots=True)
class Sought:
    """The memory that was looked for."""

    kind: Kind
    id: str
    text: str
    session: str
    user_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a memory stands among `looked_at` ranked ones of its kind, of which the answer to the query holds
    `answered`. `found` is None for one that is none of them; `last` is the last of the kind in the answer;
    `lacks` what that has more of, the most first; `reasons` are sentences that tell what keeps it out."""

    memory: Sought
    query: RecallQuery
    looked_at: int
    answered: int
    found: Shown | None
    last: Shown | None
    lacks: tuple[Lack, ...]
    reasons: tuple[str, ...]

    @property
    def is_answered(self) -> bool:
        """Whether the answer holds it after all."""
        return self.found is not None and self.found.place <= self.answered

    @property
    def largest(self) -> float:
        """The most by which a part of the memory's score, or of the last answered one's, is more or less than
        is usual."""
        both = [one for one in (self.found, self.last) if one is not None]
        return max((abs(part.more) for one in both for part in one.parts), default=0.0)


def find_in_ranking(
    *,
    caller: Caller,
    query: RecallQuery,
    memory_id: str,
    kind: Kind = "episode",
    kinds: Sequence[Kind] = ("episode",),
    now: datetime,
) -> Whereabouts:
    """Where a memory is among the `DEEPEST` best of its kind by the query's setting, before near-duplicates
    are thinned out, when these `kinds` are asked for. Raises NotFound for a memory out of reach, else what
    `recall_kinds` raises."""
    asked = settled(caller=caller, query=query)
    search = _Search(caller, asked, kinds, now)
    memory, ranked, reasons = _SEARCHES[kind](search, memory_id)
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=caller.confine_agent(asked.where.agent_id))
    places = {_id_of(one): place for place, one in enumerate(ranked, start=1)}
    answered = min(search.answered(kind), len(ranked))

    def at(place: int) -> Shown:
        return shown(place, ranked[place - 1], query=asked, policy=policy)

    found = at(places[memory.id]) if memory.id in places else None
    last = at(answered) if answered else None
    lacks = _lacks(found, last) if found and last and found.place > answered else ()
    told = () if found else (*reasons, *_beyond(len(ranked)))
    return Whereabouts(memory, asked, len(ranked), answered, found, last, lacks, told)


@dataclass(frozen=True, slots=True)
class _Search:
    """A settled query, and when it is asked."""

    caller: Caller
    query: RecallQuery
    kinds: Sequence[Kind]
    now: datetime

    def answered(self, kind: Kind) -> int:
        """How many of the answer's memories are of that kind."""
        left_out = left_out_of(self.kinds, query=self.query, caller=self.caller)
        asked_for = [one for one in self.kinds if one not in left_out]
        query = replace(self.query, mmr=None)
        answer = recall_kinds(caller=self.caller, query=query, kinds=asked_for, now=self.now, counted=False)
        return sum(_kind_of(one) == kind for one in answer.results)

    def kept_out(self, kind: Kind) -> Iterator[str]:
        """Why no memory of that kind is asked for at all."""
        if kind not in self.kinds:
            yield f"Memories of kind {kind} are not asked for."
        elif wrong := cannot_answer(kind, query=self.query, caller=self.caller):
            yield str(wrong)


_Found = tuple[
    Sought, Sequence[Hit | Other], Sequence[str]
]  # the memory, the best of its kind, what keeps it out


def _episode(search: _Search, memory_id: str) -> _Found:
    caller, asked = search.caller, search.query
    episode = access_episode(caller=caller, episode_id=_uuid(memory_id))
    memory = Sought(
        "episode", str(episode.id), episode.text, episode.session, episode.user_id, episode.created_at
    )
    if kept_out := list(search.kept_out("episode")):
        return memory, (), kept_out
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=caller.confine_agent(asked.where.agent_id))
    deep = replace(asked, top_k=max(DEEPEST, asked.top_k or 0), mmr=None)
    hits = recall(caller=caller, query=deep, now=search.now, counted=False).hits
    return memory, hits, list(_reasons(caller, episode, asked, policy, search.now))


def _observation(search: _Search, memory_id: str) -> _Found:
    caller, where = search.caller, observation_filter(search.query)
    number = int(memory_id) if NUMBER.fullmatch(memory_id) else 0
    one = access_observation(caller=caller, observation_id=number, trashed=True)
    text = f"{one.title}\n{one.content}"
    memory = Sought("observation", str(one.id), text, one.session, one.user_id, one.created_at)
    if kept_out := list(search.kept_out("observation")):
        return memory, (), kept_out
    hits = search_observations(
        caller=caller, text=search.query.text, where=where, limit=DEEPEST, mode="hybrid"
    )
    return memory, [of_observation(hit) for hit in hits], list(_reasons_of_observation(caller, one, where))


def _slot(search: _Search, memory_id: str) -> _Found:
    caller, sought = search.caller, _uuid(memory_id)
    whole = read_whole_slot(caller=caller, entity_id=sought)
    slot = next((one for one in whole.history if one.id == sought), None)
    if slot is None:
        raise NotFound("There is no such slot.")
    text = slot_text(slot.key, slot.value)
    memory = Sought("entity", str(slot.id), text, slot.source_session, slot.user_id, slot.created_at)
    if kept_out := list(search.kept_out("entity")):
        return memory, (), kept_out
    user_id = caller.confine_user(search.query.where.user_id)
    vector = embed_query(search.query.text, tenant_id=caller.tenant_id)
    slots = slots_for(caller=caller, query=search.query, vector=vector, limit=DEEPEST)
    return memory, slots, list(_reasons_of_slot(slot, user_id))


_SEARCHES: dict[Kind, Callable[[_Search, str], _Found]] = {
    "episode": _episode,
    "entity": _slot,
    "observation": _observation,
}


def _kind_of(one: Hit | Other) -> Kind:
    return one.kind if isinstance(one, Other) else "episode"


def _id_of(one: Hit | Other) -> str:
    return one.id if isinstance(one, Other) else str(one.episode.id)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound("There is no such memory.") from error


def _beyond(looked_at: int) -> Iterator[str]:
    if looked_at >= DEEPEST:
        yield f"{DEEPEST} memories stand before it."


def _lacks(found: Shown, last: Shown) -> tuple[Lack, ...]:
    here = {part.name: part.added for part in found.parts}
    there = {part.name: part.added for part in last.parts}
    lacks = (Lack(name, here.get(name, 0.0), there.get(name, 0.0)) for name in here.keys() | there.keys())
    return tuple(sorted((one for one in lacks if one.short > 0), key=lambda one: -one.short))


def _reasons(
    caller: Caller, episode: Episode, query: RecallQuery, policy: Policy, now: datetime
) -> Iterator[str]:
    where = query.where
    for name, asked, own in (
        ("user", caller.confine_user(where.user_id), episode.user_id),
        ("agent", caller.confine_agent(where.agent_id), episode.agent_id),
        ("project", caller.confine_project(where.project), episode.project),
        ("session", where.session_id, episode.session),
    ):
        if asked and asked != own:
            yield _another(name, asked, own)
    yield from _times(episode, query, policy, now)
    if episode.embed_pending:
        yield NO_VECTOR
    if query.profile == "keyword":
        yield "The profile keyword answers only what holds a word of the query."


def _reasons_of_observation(caller: Caller, one: Observation, where: ObservationFilter) -> Iterator[str]:
    asked = confine(caller, where)
    project = None if one.scope == GLOBAL else asked.project
    wanted = (("project", project, one.project), ("user", asked.user_id, one.user_id),
              ("session", asked.session_id, one.session))  # fmt: skip
    others = [_another(name, asks, own) for name, asks, own in wanted if asks and asks != own]
    yield from others
    if one.deleted_at is not None:
        yield "It is in the trash."
    elif not others:
        yield f"No word of the query stands in it, and in meaning it is less alike than {LEAST_COSINE}."
    if one.embed_pending:
        yield NO_VECTOR


def _reasons_of_slot(slot: Entity, user_id: str) -> Iterator[str]:
    if user_id != slot.user_id:
        yield _another("user", user_id, slot.user_id)
    if slot.status != SlotStatus.CURRENT:
        yield f"Only what a slot holds now is recalled; this value is {slot.status}."
    if slot.embed_pending:
        yield "It has no vector yet, and slots are found by their vectors. The sweeper embeds it soon."


def _another(name: str, asked: str, own: str) -> str:
    return f"The query asks for {name} “{asked}”; this memory has {f'“{own}”' if own else 'none'}."


def _times(episode: Episode, query: RecallQuery, policy: Policy, now: datetime) -> Iterator[str]:
    at = query.where.as_of or now
    if (episode.valid_from or episode.created_at) > at:
        yield "It did not hold yet at the moment that is asked about."
    if episode.valid_to is not None and episode.valid_to <= at:
        instead = ": another says what holds instead" if episode.superseded_by else ""
        yield f"It holds no more{instead}."
    oldest = written_since(policy, at)
    if oldest is not None and episode.created_at < oldest:
        days = policy.recall.session_recency_days
        yield f"It is older than {days} days, the policy's recall.session_recency_days."

"""Recall over several kinds of memory: episodes, slots of a user, observations of a project."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Literal, get_args

from episodic.entities import nearest_slots
from episodic.models import Entity
from episodic.slots import slot_text
from observations.search import search_observations
from observations.types import ObservationFilter, SearchHit
from recall.recall import recall
from recall.stages import Stage, timed
from recall.types import Hit, Recalled, RecallQuery
from tenants.caller import Caller
from tenants.embedding import embed_meanwhile
from tenants.errors import Invalid
from tenants.policy.reading import read_policy

Kind = Literal["episode", "entity", "observation"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Other:
    """A recalled memory that is no episode. Scores are its kind's own: a slot's the cosine, an observation's
    that of its search."""

    kind: Kind
    id: str
    text: str
    score: float
    signals: dict[str, float]
    session_id: str
    user_id: str
    agent_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """What was recalled: of each kind the best first, and the kinds in turn. `episodes` tells how these were
    found, if they were asked for."""

    results: tuple[Hit | Other, ...]
    stages: tuple[Stage, ...]
    query_used: str
    episodes: Recalled | None


def recall_kinds(*, caller: Caller, query: RecallQuery, kinds: Sequence[Kind], now: datetime) -> Answer:
    """The best of each kind, at most `top_k` together. Raises what `recall` raises, and Invalid for slots
    without a user, or of a moment, and for observations of a moment."""
    _check(query, kinds, caller)
    top_k = query.top_k or read_policy(tenant_id=caller.tenant_id).recall.top_k
    embedding = embed_meanwhile(query.text, tenant_id=caller.tenant_id)
    stages: list[Stage] = []
    found: list[Sequence[Hit | Other]] = []
    episodes = None
    for kind in dict.fromkeys(kinds):
        if kind == "episode":
            episodes = recall(caller=caller, query=query, embedding=embedding, now=now)
            stages += episodes.stages
            found.append(episodes.hits)
        elif kind == "entity":
            with timed("entities", stages):
                user_id = caller.confine_user(query.where.user_id)
                slots = nearest_slots(caller=caller, user_id=user_id, vector=embedding(), limit=top_k)
            found.append([_of_slot(slot, cosine) for slot, cosine in slots])
        else:
            with timed("observations", stages):
                hits = search_observations(
                    caller=caller, text=query.text, where=_filter(query), limit=top_k, mode="hybrid"
                )
            found.append([_of_observation(hit) for hit in hits])
    return Answer(tuple(_in_turn(found))[:top_k], tuple(stages), query.text, episodes)


def _check(query: RecallQuery, kinds: Sequence[Kind], caller: Caller) -> None:
    if "entity" in kinds and not caller.confine_user(query.where.user_id):
        raise Invalid("Name the user whose slots are meant.", "user_id")
    if query.where.as_of is not None and set(kinds) - {"episode"}:
        raise Invalid("Only episodes are recalled as of a moment.", "as_of")


def _filter(query: RecallQuery) -> ObservationFilter:
    where = query.where
    return ObservationFilter(
        project=where.project,
        user_id=where.user_id,
        session_id=where.session_id,
        since=where.since,
        until=where.until,
    )


def _of_slot(slot: Entity, cosine: float) -> Other:
    return Other(
        "entity", str(slot.id), slot_text(slot.key, slot.value), cosine, {"cosine": cosine},
        slot.source_session, slot.user_id, slot.agent_id, slot.created_at,
    )  # fmt: skip


def _of_observation(hit: SearchHit) -> Other:
    one = hit.observation
    return Other(
        "observation", str(one.id), f"{one.title}\n{one.content}", -hit.rank, {hit.method: -hit.rank},
        one.session, one.user_id, one.agent_id, one.created_at.astimezone(UTC),
    )  # fmt: skip


def _in_turn(found: Iterable[Sequence[Hit | Other]]) -> Iterator[Hit | Other]:
    """The first of each, then the second of each."""
    for rank in zip_longest(*found):
        yield from (one for one in rank if one is not None)

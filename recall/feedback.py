"""Feedback: which memory is meant by a verdict, and how far verdicts move a memory in recall."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

from episodic.episodes import access_episode
from episodic.models import Entity, Episode
from ledger.feedback import Judged, Tally, put_feedback, tallies
from ledger.listing import access_injection
from ledger.models import Feedback
from observations.models import Observation
from observations.observations import access_observation
from recall.trials import variant_judged
from screening.values import masked_text
from tenants.caller import Caller
from tenants.errors import Invalid, NotFound
from tenants.scope import scope

MemoryKind = Literal["episode", "entity", "observation"]
KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
HARM = 2  # verdicts of `not_helpful` that one of `harmful` weighs as much as
DOUBT = 3  # verdicts that are imagined beside the given ones: a single one cannot move a memory far
NUMBER = re.compile(r"[1-9][0-9]{0,17}")  # of an observation; PostgreSQL holds 18 digits


@dataclass(frozen=True, slots=True)
class NewFeedback:
    """A verdict about what an injection told, or about a memory by kind and id."""

    verdict: str
    note: str = ""
    injection_id: UUID | None = None
    kind: MemoryKind | None = None
    memory_id: str | None = None
    session_id: str = ""


def give_feedback(*, caller: Caller, new: NewFeedback, now: datetime) -> Feedback:
    """Keeps the verdict; it takes the place of an earlier one by the same caller about the same memory in the
    same session. The note is kept without what is sensitive in it.

    Raises NotFound for a memory or an injection that there is not within the key's reach, Invalid when the
    injection told something that is no memory, such as a procedure.
    """
    judged, note = _judged(caller, new), masked_text(new.note)
    return put_feedback(caller=caller, judged=judged, verdict=new.verdict, note=note, now=now)


def boosts(*, caller: Caller, memory_ids: Collection[str], weight: float) -> Mapping[str, float]:
    """What verdicts add to the scores of these episodes, each from -weight to weight; those without verdicts
    are missing."""
    found = tallies(caller=caller, kind="episode", memory_ids=memory_ids)
    return {memory_id: boost(tally, weight) for memory_id, tally in found.items()}


def boost(tally: Tally, weight: float) -> float:
    """What verdicts add to a score: the weight times how much more often the memory served than not."""
    verdicts = tally.helpful + tally.not_helpful + tally.harmful
    balance = tally.helpful - tally.not_helpful - HARM * tally.harmful
    return weight * max(-1.0, balance / (verdicts + DOUBT))


def _judged(caller: Caller, new: NewFeedback) -> Judged:
    if new.injection_id is None:
        if new.kind is None or new.memory_id is None:
            raise Invalid("Name an injection_id, or a memory_id and its kind.", "memory_id")
        return _in_trial(caller, _memory(caller, new.kind, new.memory_id, new.session_id, None))
    injection = access_injection(caller=caller, injection_id=new.injection_id)
    kind, _, memory_id = injection.item_key.partition(":")
    for known in KINDS:
        if kind == known:
            judged = _memory(caller, known, memory_id, injection.session, injection.id)
            return replace(judged, variant=injection.variant)
    raise Invalid("What this injection told is no memory.", "injection_id")


def _in_trial(caller: Caller, judged: Judged) -> Judged:
    """With the setting of a trial that recalled it; only episodes are in trials."""
    if judged.kind != "episode":
        return judged
    variant = variant_judged(
        tenant_id=caller.tenant_id,
        user_id=judged.user_id,
        session=judged.session,
        episode_id=judged.memory_id,
    )
    return replace(judged, variant=variant)


def _memory(
    caller: Caller, kind: MemoryKind, memory_id: str, session: str, injection_id: UUID | None
) -> Judged:
    found = _FINDERS[kind](caller, memory_id)
    if found is None:
        raise NotFound("There is no such memory.")
    return Judged(
        kind=kind,
        memory_id=str(found.id),
        user_id=found.user_id,
        agent_id=found.agent_id or "",
        project=getattr(found, "project", ""),  # a slot has none
        session=session,
        injection_id=injection_id,
    )


def _episode(caller: Caller, memory_id: str) -> Episode:
    return access_episode(caller=caller, episode_id=_uuid(memory_id))


def _entity(caller: Caller, memory_id: str) -> Entity | None:
    bound = {"user_id": caller.user_id} if caller.user_id else {}
    with scope(caller.tenant_id):
        return Entity.objects.filter(tenant_id=caller.tenant_id, id=_uuid(memory_id), **bound).first()


def _observation(caller: Caller, memory_id: str) -> Observation:
    if not NUMBER.fullmatch(memory_id):
        raise NotFound("There is no such memory.")
    return access_observation(caller=caller, observation_id=int(memory_id))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound("There is no such memory.") from error


_FINDERS: Mapping[MemoryKind, Callable[[Caller, str], Episode | Entity | Observation | None]] = {
    "episode": _episode,
    "entity": _entity,
    "observation": _observation,
}

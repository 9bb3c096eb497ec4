"""Correcting and deleting single memories of a person, as their right demands."""

import json
from dataclasses import replace
from datetime import datetime

from django.db.models import Model

from episodic.editing import edit_episode
from episodic.entities import NewEntity, SlotWrite, delete_entity, put_entity
from episodic.models import Entity, Episode
from episodic.retraction import delete_episode
from observations.editing import edit_observation
from observations.models import Observation
from observations.trash import delete_observation
from observations.types import Changes
from recall.gate import judge
from recall.subjects.memories import Remembered, Row, access_memory, show
from screening.injection import poses_as_configuration
from screening.values import mask_value
from tenants import audit
from tenants.caller import Caller
from tenants.errors import Conflict, Invalid
from tenants.policy.reading import read_policy
from tenants.scope import restricted_shown, scope
from tenants.subjects import actor_of, pseudonym

RECTIFY, FORGET = "memory.rectify", "memory.forget"
SOURCE = "subject"  # who says so, of a slot


def rectify_memory(
    *, caller: Caller, user_id: str, kind: str, id: str, text: str, now: datetime
) -> Remembered:
    """Puts `text` in the place of what the memory says: of an observation of its content, of a slot of its
    value. What it said before stays in its history. The audit log tells of it, not of what it says; that is a
    commit of its own, before the change, since a provider may be asked in between.

    Raises NotFound for another's memory or one that does not hold, Invalid for what the policy keeps from
    being remembered, Conflict for what is nobody's, and what the kind's own editing raises.
    """
    row = access_memory(caller=caller, user_id=user_id, kind=kind, memory_id=id)
    if not row.user_id:
        raise Conflict("It is nobody's, and kept under this name in the store: put it there anew.")
    if not text.strip():
        raise Invalid("May not be empty.", "text")
    text = _screened(caller, row, text)
    with scope(caller.tenant_id):
        _record(caller, user_id, RECTIFY, kind, id)
    with restricted_shown():
        return remembered(_rectified(caller, row, text, now))


def remembered(done: Model | SlotWrite) -> Remembered:
    """The memory that a change has made, as what keeps answers for `Idempotency-Key` is given it."""
    row = done.entity if isinstance(done, SlotWrite) else done
    if not isinstance(row, Episode | Entity | Observation):
        raise TypeError(f"{type(row).__name__} is no memory.")
    return show(row)


def correctable(row: Row) -> str:
    """What `rectify_memory` puts its text in the place of."""
    if isinstance(row, Episode):
        return row.text
    if isinstance(row, Observation):
        return row.content
    return row.value if isinstance(row.value, str) else json.dumps(row.value, ensure_ascii=False)


def forget_memory(*, caller: Caller, user_id: str, kind: str, id: str, now: datetime) -> None:
    """Deletes the memory for good, with all that it said before; of a slot, every value it ever had. In one
    commit with its entry in the audit log. Raises NotFound as above."""
    row = access_memory(caller=caller, user_id=user_id, kind=kind, memory_id=id)
    with restricted_shown(), scope(caller.tenant_id):
        _delete(caller, row, now)
        _record(caller, user_id, FORGET, kind, id)


def _screened(caller: Caller, row: Row, text: str) -> str:
    """The text, masked if the policy says so. Raises Invalid for what is not to be remembered of anybody."""
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=row.agent_id)
    verdict = judge(text, policy=policy)
    poses = isinstance(row, Entity) and poses_as_configuration(row.key, text)
    if poses or verdict.action in ("hold", "refuse"):
        raise Invalid(f"This is not remembered: {verdict.reason or 'injection'}.", "text")
    return str(mask_value(text)) if verdict.action == "redact" else text


def _rectified(caller: Caller, row: Row, text: str, now: datetime) -> Model | SlotWrite:
    if isinstance(row, Episode):
        return edit_episode(caller=caller, episode_id=row.id, changes={"text": text}, now=now)
    if isinstance(row, Observation):
        changes = Changes(content=text)
        return edit_observation(caller=caller, observation_id=row.id, changes=changes, now=now)
    new = NewEntity(user_id=row.user_id, key=row.key, value=text.strip(), source=SOURCE)
    return put_entity(caller=caller, new=new, now=now)


def _delete(caller: Caller, row: Row, now: datetime) -> None:
    if isinstance(row, Episode):
        # What is kept under the person's name is nobody's: out of reach of who is bound to the person.
        reaching = caller if row.user_id else replace(caller, user_id="")
        delete_episode(caller=reaching, episode_id=row.id, hard=True, now=now)
    elif isinstance(row, Observation):
        delete_observation(caller=caller, observation_id=row.id, hard=True, now=now)
    else:
        delete_entity(caller=caller, user_id=row.user_id, key=row.key, hard=True, now=now)


def _record(caller: Caller, user_id: str, action: str, kind: str, memory_id: str) -> None:
    """In the open scope. The person by the keyed hash."""
    audit.record(
        tenant_id=caller.tenant_id,
        actor=actor_of(caller, user_id),
        action=action,
        target=pseudonym(tenant_id=caller.tenant_id, user_id=user_id),
        kind=kind,
        memory=memory_id,
    )

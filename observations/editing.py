"""Changing an observation by hand, and what it said before."""

from dataclasses import replace
from datetime import datetime

from observations.announcements import tell_observation
from observations.dedup import Identity, find_topic, identity_of, lock_identity, normalized_hash
from observations.indexing import index_observation
from observations.models import Observation, ObservationRevision
from observations.observations import access_observation, reach_of
from observations.revising import keep_revision
from observations.sessions import check_session
from observations.trail import by_hand
from observations.types import Changes
from observations.validation import check
from tenants import idempotency
from tenants.agents.projects import project_of
from tenants.caller import Caller
from tenants.errors import Conflict, NotFound, PreconditionFailed
from tenants.scope import scope
from tenants.telemetry import memory_span
from tenants.tombstones import refuse_erased
from webhooks.models import Event

SAID = ("type", "title", "content", "tags")  # what a revision keeps
PLACED = ("project", "scope", "topic_key")  # under what it stands


def edit_observation(
    *,
    caller: Caller,
    observation_id: int,
    changes: Changes,
    now: datetime,
    expected: datetime | None = None,
) -> Observation:
    """Changes what is given; what it said before is kept as a revision. `expected`: when whoever asks has
    seen it changed last.

    Raises NotFound for one in the trash or out of reach, InvalidObservation as when it is saved and for a
    session that is not there or another person's, Conflict when another one has the topic key that it would
    have, PreconditionFailed when it was changed since.
    """
    with memory_span("update_observation", observation_id=observation_id) as span:
        observation = _edited(caller, observation_id, changes, now, expected)
        span.set(project=observation.project, type=observation.type)
    return observation


def restore_revision(*, caller: Caller, observation_id: int, number: int, now: datetime) -> Observation:
    """Has it say again what it said in that revision; what it says now becomes one. Raises NotFound."""
    reach = reach_of(caller, to_change=True)
    with scope(caller.tenant_id):
        mine = Observation.objects.filter(reach, id=observation_id, deleted_at=None)
        found = ObservationRevision.objects.filter(
            tenant_id=caller.tenant_id, observation_id__in=mine.values("id"), number=number
        ).first()
    if found is None:
        raise NotFound("There is no such revision.")
    said = Changes(type=found.type, title=found.title, content=found.content, tags=tuple(found.tags))
    return edit_observation(caller=caller, observation_id=observation_id, changes=said, now=now)


def list_revisions(
    *, caller: Caller, observation_id: int, limit: int, before: int | None = None
) -> list[ObservationRevision]:
    """What it said before each change, newest first; `before`: only revisions of a lower number. Also of one
    in the trash."""
    reach = reach_of(caller)
    with scope(caller.tenant_id):
        if not Observation.objects.filter(reach, id=observation_id).exists():
            raise NotFound("observation not found")
        found = ObservationRevision.objects.filter(
            tenant_id=caller.tenant_id, observation_id=observation_id
        ).order_by("-number")
        return list((found if before is None else found.filter(number__lt=before))[:limit])


def _edited(
    caller: Caller, observation_id: int, changes: Changes, now: datetime, expected: datetime | None
) -> Observation:
    given = _given(caller, changes)
    check(tags=changes.tags or (), **{name: text for name, text in given.items() if isinstance(text, str)})
    reach = reach_of(caller, to_change=True)
    seen = access_observation(caller=caller, observation_id=observation_id)
    session_id = given.get("session")
    if isinstance(session_id, str) and session_id not in ("", seen.session):
        check_session(caller=caller, session_id=session_id, user_id=seen.user_id)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=seen.user_id, since=now)  # person, then row
        aim = _identity(seen, given)
        if is_moved := aim != identity_of(seen):
            lock_identity(aim)  # and its topic before the row
        mine = Observation.objects.filter(reach, id=observation_id, deleted_at=None)
        observation = mine.select_for_update().first()
        if observation is None:
            raise NotFound("observation not found")
        is_anothers = observation.user_id != seen.user_id  # of whom nothing was asked
        if is_anothers or (expected is not None and observation.updated_at != expected):
            raise PreconditionFailed("It was changed meanwhile: look at what it says now.")
        if is_moved:
            _check_topic(observation, given, aim)
        _change(observation, given, caller, now)
        idempotency.keep(observation, user_id=seen.user_id)
    return observation


def _given(caller: Caller, changes: Changes) -> dict[str, str | list[str]]:
    """What is to be changed, as it is stored."""
    given: dict[str, str | list[str]] = {}
    for name in ("type", "title", "content"):
        if (value := getattr(changes, name)) is not None:
            given[name] = value
    if changes.tags is not None:
        given["tags"] = list(changes.tags)
    if changes.project is not None:
        given["project"] = project_of(caller, changes.project)
    if changes.scope is not None:
        given["scope"] = changes.scope.strip() or "project"
    if changes.topic_key is not None:
        given["topic_key"] = changes.topic_key.strip()
    if changes.session_id is not None:
        given["session"] = changes.session_id
    return given


def _identity(observation: Observation, given: dict[str, str | list[str]]) -> Identity:
    """What it would be the same as, told by topic alone: what it says may be said twice by hand."""
    place = {name: str(given.get(name, getattr(observation, name))) for name in PLACED}
    return replace(
        identity_of(observation), project=place["project"], scope=place["scope"], topic=place["topic_key"]
    )


def _check_topic(observation: Observation, given: dict[str, str | list[str]], aim: Identity) -> None:
    """In the open scope, with the identity locked."""
    now = _identity(observation, given)
    if (now.project, now.scope, now.topic) != (aim.project, aim.scope, aim.topic):
        raise Conflict("It was changed meanwhile: look at what it says now.")
    other = find_topic(now)
    if other is not None and other.id != observation.id:
        raise Conflict("Another observation has this topic key in this project and scope.")


def _change(
    observation: Observation, given: dict[str, str | list[str]], caller: Caller, now: datetime
) -> None:
    changed = [name for name, value in given.items() if getattr(observation, name) != value]
    if not changed:
        return
    if not set(changed).isdisjoint(SAID):
        keep_revision(observation, caller=caller, now=now)
    for name in changed:
        setattr(observation, name, given[name])
    observation.normalized_hash = normalized_hash(observation.content)
    observation.updated_at = now
    # A vector stands among those of its project, or of the global ones.
    embedded_anew = {"title", "content", "project", "scope"}
    observation.embed_pending = observation.embed_pending or not embedded_anew.isdisjoint(changed)
    observation.save(update_fields=[*changed, "normalized_hash", "updated_at", "embed_pending"])
    index_observation(observation, now=now)
    tell_observation(observation, Event.UPDATED)
    by_hand(caller, "edit", observation, fields=sorted(changed))

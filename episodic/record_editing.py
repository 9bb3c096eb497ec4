"""Changing a record by hand."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from episodic.announcements import tell_episode
from episodic.duplicates import content_hash, lock_memories
from episodic.editing import SAID, keep_revision
from episodic.embedding import replace_vector
from episodic.episodes import check_length, lock_episode
from episodic.indexing import index_again
from episodic.item_edits import follow_edit, refuse_move
from episodic.merging import merged_ids
from episodic.models import Episode, MemoryType, Origin
from episodic.placing import move, place_of
from episodic.record_reading import MISSING, access_record, memory_of
from episodic.types import RecordChanges
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Conflict, Invalid, NotFound
from tenants.scope import scope
from tenants.subjects import pseudonym
from tenants.tombstones import Erased, last_erasures
from webhooks.models import Event

COLUMNS = {"session_id": "session"}  # where a change is not named as its column is
PLACED = {"namespace": 255, "user_id": 255, "session_id": 255}  # the columns' lengths


def edit_record(
    *,
    caller: Caller,
    record_id: str,
    changes: RecordChanges,
    now: datetime,
    of_user: str | None = None,
    of_namespace: str | None = None,
) -> Episode:
    """Changes what is given, keeps what it said before as a revision, and embeds a new text; without the
    model, the sweeper does. What changes nothing leaves no trace. A verbatim turn remains one, and nothing
    else becomes one; one of a session stays with its conversation. `of_user`, `of_namespace`: where it stands
    before, as for `access_record`.

    Of another user, neither may be restricted or have been erased since it was saved. Raises NotFound,
    Forbidden for another user than the key is bound to, Conflict when the id is taken there or stands for
    several, Invalid, TooLarge, Erased, Restricted.
    """
    episode = access_record(caller=caller, record_id=record_id, user_id=of_user, namespace=of_namespace)
    _check(episode, changes)
    user_id = caller.confine_user(changes["user_id"]) if "user_id" in changes else episode.user_id
    vector, text = None, changes.get("text", episode.text)
    if text != episode.text:
        check_length(episode, text)
        vectors = try_embed([text], tenant_id=caller.tenant_id)
        vector = None if vectors is None else vectors[0]
    aim = (user_id, episode.agent_id, episode.project, changes.get("namespace", episode.namespace))
    with scope(caller.tenant_id):
        _refuse_erased(episode, user_id)
        lock_memories(caller.tenant_id, [memory_of(episode), aim])
        episode = lock_episode(caller=caller, episode_id=episode.id, now=now)
        if episode.valid_to is not None:
            raise NotFound(MISSING)
        fields = _differing(episode, changes, user_id, now)
        if fields:
            _refuse_taken(episode, fields)
            _change(episode, fields, caller, now)
        if "text" in fields:
            replace_vector(episode, vector)
            episode.embed_pending = vector is None
            episode.save(update_fields=["embed_pending"])
        idempotency.keep(episode, user_id=episode.user_id)
    return episode


def _check(episode: Episode, changes: RecordChanges) -> None:
    given: dict[str, Any] = dict(changes)
    for name, longest in PLACED.items():
        if len(given.get(name, "")) > longest or "\x00" in given.get(name, ""):
            raise Invalid(f"At most {longest} characters, none of them NUL.", name)
    types = {episode.memory_type, given.get("memory_type", episode.memory_type)}
    if not types <= set(MemoryType.values):
        raise Invalid(f"Must be one of {', '.join(MemoryType.values)}.", "memory_type")
    if MemoryType.MESSAGE in types and len(types) > 1:
        raise Invalid("A verbatim turn remains one, and nothing else becomes one.", "memory_type")
    if episode.memory_type == MemoryType.MESSAGE and episode.origin == Origin.SESSION:
        for name in PLACED:
            if given.get(name, "") != getattr(episode, COLUMNS.get(name, name)) and name in given:
                raise Invalid("A turn stands where its conversation does.", name)


def _refuse_erased(episode: Episode, user_id: str) -> None:
    """Nobody's memory escapes an erasure by becoming another's, or comes back after one so."""
    people = {episode.user_id, user_id} - {""}
    if len({episode.user_id, user_id}) == 1 or not people:
        return
    erased = last_erasures(tenant_id=episode.tenant_id, user_ids=people)
    if any(moment >= (episode.persisted_at or episode.created_at) for moment in erased.values()):
        raise Erased("One of the two was erased since this was saved.")


def _differing(episode: Episode, changes: RecordChanges, user_id: str, now: datetime) -> dict[str, Any]:
    """The columns that would change."""
    given: dict[str, Any] = {COLUMNS.get(name, name): value for name, value in changes.items()}
    for name in ("topics", "entities"):
        if name in given:
            given[name] = list(given[name])
    if "pinned" in given:
        given["pinned_at"] = (episode.pinned_at or now) if given.pop("pinned") else None
    given["user_id"] = user_id
    return {name: value for name, value in given.items() if value != getattr(episode, name)}


def _refuse_taken(episode: Episode, fields: dict[str, Any]) -> None:
    """Where it is to stand, its id may be another's."""
    place = {name: fields.get(name, getattr(episode, name)) for name in ("user_id", "namespace")}
    there = Episode.objects.filter(tenant_id=episode.tenant_id, external_id=episode.external_id, **place)
    if episode.external_id and there.exclude(id=episode.id).exists():
        raise Conflict("There is a record of this id already.")


def _change(episode: Episode, fields: dict[str, Any], caller: Caller, now: datetime) -> None:
    """In the open scope, with the record and its memories locked."""
    former, said = episode.user_id, episode.text
    is_moved = "user_id" in fields
    if any(name in SAID for name in fields):
        keep_revision(episode, caller, now)
    if is_moved:
        tell_episode(episode, Event.RETRACTED)
    if is_moved or ("memory_type" in fields and not merged_ids(episode)):
        # It takes the place of nothing where it comes to stand.
        aim = replace(place_of(episode), user_id=fields.get("user_id", former), is_statement=False)
        memory_type = fields.get("memory_type", episode.memory_type)
        move(caller=caller, episode=episode, aim=aim, memory_type=memory_type)
    if "namespace" in fields:
        refuse_move(episode)
    for name, value in fields.items():
        setattr(episode, name, value)
    if "text" in fields:
        follow_edit(episode, former=said, now=now)
    episode.content_hash = content_hash(episode.text)
    episode.updated_at, episode.version = now, episode.version + 1
    episode.save(update_fields=[*fields, "content_hash", "updated_at", "version"])
    index_again(episode)
    tell_episode(episode, Event.CREATED if is_moved else Event.UPDATED)
    if is_moved:
        _tell_log(episode, former, caller)


def _tell_log(episode: Episode, former: str, caller: Caller) -> None:
    people = {"subject": episode.user_id, "former_subject": former}
    audit.record(
        tenant_id=episode.tenant_id,
        actor=caller.principal,
        action="memory.reassign",
        target=str(episode.id),
        kind="episode",
        **{
            name: pseudonym(tenant_id=episode.tenant_id, user_id=user_id)
            for name, user_id in people.items()
            if user_id
        },
    )

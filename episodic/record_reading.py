"""Which record an id stands for, and the list of all."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from episodic import querysets
from episodic.duplicates import Memory, lock_memories
from episodic.episodes import confine, reach
from episodic.merging import says_now
from episodic.models import Episode
from episodic.types import EpisodeFilter
from tenants.caller import Caller
from tenants.errors import Conflict, NotFound
from tenants.scope import scope
from tenants.tombstones import Erased, last_erasures

LONGEST_ID = 255
TOLD = 10  # ids that one refusal names
MISSING = "There is no such record."


def access_record(
    *, caller: Caller, record_id: str, user_id: str | None = None, namespace: str | None = None
) -> Episode:
    """The record that the client's id stands for, or an episode's own id, of any user and namespace or of
    those (empty: of none); of one that was merged, the one that says what it said. Raises NotFound, also for
    one that holds no more, Conflict when the id stands for several, each of another user or namespace, and
    Forbidden for another user than the key is bound to."""
    with scope(caller.tenant_id):
        named = records_named(caller, record_id, user_id=user_id, namespace=namespace)
        said = {one.id for one in map(says_now, named) if one is not None}
        found = list(Episode.objects.filter(reach(caller), id__in=said))
    if not found:
        raise NotFound(MISSING)
    if len(found) > 1:
        raise ambiguous([record_id])
    return found[0]


def list_records(
    *, caller: Caller, where: EpisodeFilter, limit: int, offset: int = 0
) -> tuple[list[Episode], int]:
    """Episodes within the key's reach, newest first, and how many there are in all."""
    with scope(caller.tenant_id):
        found = Episode.objects.filter(
            querysets.matching(tenant_id=caller.tenant_id, where=confine(caller, where).narrowed())
        )
        page = list(found.order_by("-created_at", "-id")[offset : offset + limit])
        if len(page) < limit and (page or not offset):
            return page, offset + len(page)
        return page, found.count()


def records_named(
    caller: Caller, record_id: str, *, user_id: str | None = None, namespace: str | None = None
) -> list[Episode]:
    """All that the id may stand for: what holds, and only if nothing does, what held once. In the open
    scope. Raises Forbidden."""
    named = {"user_id": None if user_id is None else caller.confine_user(user_id), "namespace": namespace}
    if not record_id or "\x00" in record_id or len(record_id) > LONGEST_ID:
        return []
    meant = Q(external_id=record_id)
    with suppress(ValueError):
        meant |= Q(id=UUID(record_id))
    whose = Q(**{name: value for name, value in named.items() if value is not None})
    found = list(Episode.objects.filter(reach(caller), meant, whose).order_by("id"))
    return [one for one in found if one.valid_to is None] or found


def ambiguous(record_ids: Sequence[str]) -> Conflict:
    """That each of these ids stands for several records, and how one of them is meant."""
    return Conflict(
        "Records of several users or namespaces go by the same id: name user_id and namespace (for tools"
        f" of_user and of_namespace), empty for one that has none: {', '.join(record_ids[:TOLD])}"
    )


def lock_people(caller: Caller, episodes: Sequence[Episode], now: datetime) -> None:
    """Locks whose the records are, and then what they remember, until the open scope ends. Raises Erased when
    one of them was erased since `now`, and Restricted."""
    users = {one.user_id for one in episodes} - {""}
    erased = last_erasures(tenant_id=caller.tenant_id, user_ids=users) if users else {}
    if any(moment >= now for moment in erased.values()):
        raise Erased("This person's memory was erased meanwhile.")
    lock_memories(caller.tenant_id, map(memory_of, episodes))


def memory_of(episode: Episode) -> Memory:
    """In which memory it stands."""
    return episode.user_id, episode.agent_id, episode.project, episode.namespace

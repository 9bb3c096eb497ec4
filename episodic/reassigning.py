"""Correcting whose an episode is."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from episodic.announcements import tell_episode
from episodic.episodes import access_episode, reach
from episodic.indexing import index_again
from episodic.models import Entity, Episode, MemoryType, Origin, SlotStatus
from episodic.placing import lock_places, move, place_of
from episodic.whole import WholeEpisode, read_whole_episode
from ledger.models import Injection
from tenants import audit
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound, PreconditionFailed
from tenants.scope import scope
from tenants.subjects import pseudonym
from tenants.tombstones import Erased, last_erasures
from webhooks.models import Event

LONGEST = 255


@dataclass(frozen=True, slots=True)
class Consequences:
    """What stands around an episode that is to be another's. `told`: how often sessions were told it; `slots`
    hold now what was taken from the same session."""

    whole: WholeEpisode
    told: int
    slots: int
    is_turn_of_session: bool


def foresee_reassigning(*, caller: Caller, episode_id: UUID) -> Consequences:
    """Raises NotFound."""
    with scope(caller.tenant_id):
        whole = read_whole_episode(caller=caller, episode_id=episode_id)
        one = whole.episode
        told = Injection.objects.filter(tenant_id=caller.tenant_id, item_key=f"episode:{episode_id}")
        slots = Entity.objects.filter(
            tenant_id=caller.tenant_id,
            user_id=one.user_id,
            source_session=one.session,
            status=SlotStatus.CURRENT,
        )
        return Consequences(whole, told.count(), slots.count() if one.session else 0, is_turn_of_session(one))


def reassign_episode(
    *,
    caller: Caller,
    episode_id: UUID,
    user_id: str,
    match: Collection[int] | None = None,
    now: datetime,
) -> Episode:
    """Has it belong to `user_id`, empty for nobody, with its history, what it is found by, its figures of
    use, what was thought of it and the decision that it came of. For scope admin.

    What it closed of the former person's holds again, unless something later contradicts that; it closes what
    it contradicts of the other's, or is closed by what is later there. Its link to a session is cut: that is
    the former person's. So stay what sessions were told, and slots: they do not say which episode they came
    from. A verbatim turn of a session goes with its conversation alone (Conflict).

    Neither person may be restricted, or have been erased since it was written: nobody's memory escapes an
    erasure so, or comes back after one. Whoever is told of memories is told that the former person's is gone
    and the other's is there. `match`: only one of these versions. Raises Forbidden, NotFound, Invalid,
    Restricted, Erased, PreconditionFailed.
    """
    _check(caller, user_id)
    seen = access_episode(caller=caller, episode_id=episode_id)
    if is_turn_of_session(seen):
        raise Conflict("A turn belongs to its conversation, and that to a person: it cannot be moved alone.")
    with scope(caller.tenant_id):
        _refuse_erased(seen, user_id)  # people, then what they remember, then the row
        former = place_of(seen)
        aim = replace(former, user_id=user_id)
        lock_places(caller.tenant_id, former, aim)
        one = Episode.objects.select_for_update().filter(reach(caller), id=episode_id).first()
        if one is None:
            raise NotFound("There is no such episode.")
        if place_of(one) != former or (match and one.version not in match):
            raise PreconditionFailed("It was changed meanwhile: look at what it says now, and whose it is.")
        if one.user_id != user_id:
            tell_episode(one, Event.RETRACTED)
            one.supersedes = move(caller=caller, episode=one, aim=aim, memory_type=one.memory_type)
            _conclude(one, former.user_id, caller, now)
    return one


def is_turn_of_session(episode: Episode) -> bool:
    """Whether it is a copy of an event of a session's log."""
    return episode.memory_type == MemoryType.MESSAGE and episode.origin == Origin.SESSION


def _check(caller: Caller, user_id: str) -> None:
    if not caller.may("admin"):
        raise Forbidden("Whose an episode is may be corrected with scope admin.")
    if caller.user_id and user_id != caller.user_id:
        raise Forbidden("This key is bound: what it changes stays within its reach.")
    if len(user_id) > LONGEST or "\x00" in user_id:
        raise Invalid(f"At most {LONGEST} characters, none of them NUL.", "user_id")


def _refuse_erased(one: Episode, user_id: str) -> None:
    """As above. Neither can be erased or restricted until the open scope ends."""
    people = {one.user_id, user_id} - {""}
    erased = last_erasures(tenant_id=one.tenant_id, user_ids=people) if people else {}
    if any(moment >= one.created_at for moment in erased.values()):
        raise Erased("One of the two was erased since this was written.")


def _conclude(one: Episode, former: str, caller: Caller, now: datetime) -> None:
    """In the open scope, once it has moved."""
    one.session, one.covers_turns = "", None
    one.updated_at, one.version = now, one.version + 1
    one.save(update_fields=["session", "covers_turns", "updated_at", "version"])
    index_again(one)
    tell_episode(one, Event.CREATED)
    people = {"subject": one.user_id, "former_subject": former}
    audit.record(
        tenant_id=one.tenant_id,
        actor=caller.principal,
        action="memory.reassign",
        target=str(one.id),
        kind="episode",
        **{
            name: pseudonym(tenant_id=one.tenant_id, user_id=user_id)
            for name, user_id in people.items()
            if user_id
        },
    )

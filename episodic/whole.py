"""All that is known of one episode, or of one slot, for whoever looks at it before deciding what becomes of
it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from episodic.access import Access, read_episode
from episodic.editing import list_revisions
from episodic.entity_reading import list_history
from episodic.episodes import reach
from episodic.models import Entity, Episode, EpisodeRevision, SlotStatus
from ledger.feedback import Tally, tallies
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from working.models import Session

MOST_REVISIONS = 50
MOST_RELATED = 20
MOST_VALUES = 100


@dataclass(frozen=True, slots=True)
class WholeEpisode:
    """An episode, its use, what it said before (newest first), what it took the place of and what took its
    place; the row of the session that it came from, if that is still there."""

    episode: Episode
    used: Access
    tally: Tally
    revisions: Sequence[EpisodeRevision]
    supersedes: Sequence[Episode]
    superseded_by: Episode | None
    session: UUID | None


@dataclass(frozen=True, slots=True)
class WholeSlot:
    """A slot: whose and which it is, what it holds, what waits for it, and every value it had, the latest
    first; `sessions` are the rows of those that said them, as far as they are there, by the client's id."""

    user_id: str
    key: str
    current: Entity | None
    pending: Entity | None
    history: Sequence[Entity]
    sessions: dict[str, UUID]


def read_whole_episode(*, caller: Caller, episode_id: UUID) -> WholeEpisode:
    """Raises NotFound, also for one out of the key's reach. What it is related to is left out where the key
    does not reach that."""
    with scope(caller.tenant_id):
        found = read_episode(caller=caller, episode_id=episode_id)
        return WholeEpisode(
            episode=found.episode,
            used=found.used,
            tally=tallies(caller=caller, kind="episode", memory_ids=[str(episode_id)]).get(
                str(episode_id), Tally()
            ),
            revisions=list_revisions(caller=caller, episode_id=episode_id, limit=MOST_REVISIONS),
            supersedes=_supersedes(caller, episode_id),
            superseded_by=_reached(caller, found.episode.superseded_by),
            session=_session(found.episode),
        )


def read_whole_slot(*, caller: Caller, entity_id: UUID) -> WholeSlot:
    """The slot that one of its rows stands for. Raises NotFound, also for one out of the key's reach."""
    with scope(caller.tenant_id):
        row = Entity.objects.filter(tenant_id=caller.tenant_id, id=entity_id).first()
        if row is None or caller.user_id not in ("", row.user_id):
            raise NotFound("There is no such slot.")
        history = list_history(caller=caller, user_id=row.user_id, key=row.key, limit=MOST_VALUES)
        stands = {one.status: one for one in history}
        return WholeSlot(
            user_id=row.user_id,
            key=row.key,
            current=stands.get(SlotStatus.CURRENT),
            pending=stands.get(SlotStatus.PENDING),
            history=history,
            sessions=_sessions(row, {one.source_session for one in history} - {""}),
        )


def _sessions(row: Entity, names: set[str]) -> dict[str, UUID]:
    mine = Session.objects.filter(tenant_id=row.tenant_id, user_id=row.user_id, external_id__in=names)
    return dict(mine.values_list("external_id", "id"))


def _supersedes(caller: Caller, episode_id: UUID) -> list[Episode]:
    mine = Episode.objects.filter(reach(caller), superseded_by=episode_id)
    return list(mine.order_by("-created_at", "-id")[:MOST_RELATED])


def _reached(caller: Caller, episode_id: UUID | None) -> Episode | None:
    if episode_id is None:
        return None
    return Episode.objects.filter(reach(caller), id=episode_id).first()


def _session(episode: Episode) -> UUID | None:
    if not episode.session:
        return None
    mine = Session.objects.filter(
        tenant_id=episode.tenant_id,
        external_id=episode.session,
        namespace=episode.namespace,
        user_id=episode.user_id,
    )
    return mine.values_list("id", flat=True).first()

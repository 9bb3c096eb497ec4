"""Episodes and turns of long ago."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from episodic.embedding import vector_of
from episodic.models import Episode, EpisodeEmbedding, EpisodeRevision
from episodic.retention import RetentionReport, expire_memory
from tenants.scope import scope
from tests.conftest import Member
from tests.recall.vectors import unit_vectors
from working.models import Event, Session


def ago(days: float) -> datetime:
    return timezone.now() - timedelta(days=days)


def remembered(member: Member, text: str, when: float | datetime, **named: Any) -> Episode:
    """What a session left behind then, or so many days ago, with a vector and a revision."""
    moment = when if isinstance(when, datetime) else ago(when)
    episode = Episode(
        tenant_id=member.tenant.id, text=text, created_at=moment, embed_pending=False,
        **{"origin": "session", "user_id": "u1"} | named,
    )  # fmt: skip
    with scope(member.tenant.id):
        episode.save(force_insert=True)
        vector_of(episode, unit_vectors(1)[0]).save(force_insert=True)
        EpisodeRevision.objects.create(
            tenant_id=episode.tenant_id, episode_id=episode.id, number=1, text="before", replaced_at=moment,
            replaced_by="test",
        )  # fmt: skip
    return episode


def told(member: Member, name: str, days: list[float], *, summarised: int, agent_id: str = "") -> Session:
    """A session with a turn on each of the days, of which the first `summarised` are in a summary."""
    with scope(member.tenant.id):
        session = Session.objects.create(
            tenant_id=member.tenant.id, external_id=name, agent_id=agent_id, started_at=ago(days[0]),
            opened_at=ago(days[0]), last_activity_at=ago(days[-1]), last_seq=len(days),
            turn_count=len(days), summarised_seq=summarised,
        )  # fmt: skip
        for seq, one in enumerate(days, 1):
            event = Event.objects.create(
                tenant_id=member.tenant.id, session_id=session.id, seq=seq, event_type="user_message",
                role="user", content=f"turn {seq}", created_at=ago(one),
            )  # fmt: skip
            Event.objects.filter(id=event.id).update(recorded_at=ago(one))
    return session


def expire(member: Member, **named: Any) -> RetentionReport:
    named = {"now": timezone.now()} | named
    return expire_memory(tenant_id=member.tenant.id, tenant=member.tenant.slug, actor="test", **named)


def texts(member: Member) -> list[str]:
    """What is left of the episodes; each has its vector and its revision, and nothing else has one."""
    with scope(member.tenant.id):
        left = dict(Episode.objects.values_list("id", "text"))
        for model in (EpisodeEmbedding, EpisodeRevision):
            assert set(model.objects.values_list("episode_id", flat=True)) == set(left)
    return sorted(left.values())


def turns(session: Session) -> list[int]:
    with scope(session.tenant_id):
        mine = Event.objects.filter(tenant_id=session.tenant_id, session_id=session.id)
        return list(mine.order_by("seq").values_list("seq", flat=True))

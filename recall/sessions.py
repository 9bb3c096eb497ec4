"""The end and the deletion of a session, which touch every kind of memory."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from episodic.embedding import store_vectors, try_embed
from episodic.episodes import build_episode
from episodic.models import Episode, Origin
from episodic.types import NewEpisode
from ledger.injections import forget_items, release_items, suspend_items
from recall.summary import summarise
from tenants.caller import Caller
from tenants.scope import scope
from working import deletion
from working.ending import Span, close_session
from working.models import Session
from working.sessions import access_session, find_session, ref_of
from working.types import SessionAddress


@dataclass(frozen=True, slots=True)
class EndedSession:
    """What ending a session left behind. A session without messages leaves no episode."""

    session_id: str
    summary: str
    episode_id: UUID | None
    message_count: int


def end_session(*, caller: Caller, address: SessionAddress, now: datetime) -> EndedSession:
    """Summarises what is not summarised yet, keeps it as an episode, and clears the ledger.

    Ending an ended session again changes nothing and answers the same. Raises NotFound for an unknown one,
    RedisAway before anything is changed.
    """
    session = access_session(caller=caller, address=address)
    token = suspend_items(caller=caller, ref=ref_of(session), now=now)

    def keep(locked: Session, span: Span, summary: str) -> None:
        new = _episode_of(locked, span, summary)
        build_episode(caller=caller, new=new, now=now).save(force_insert=True)

    def release(locked: Session) -> None:
        release_items(ref=ref_of(locked), now=now)

    close_session(caller=caller, session=session, now=now, summarise=_summary, keep=keep, always=release)
    forget_items(ref=ref_of(session), now=now, token=token)
    episode = _newest_summary(session)
    if episode is None:
        return EndedSession(session.external_id, "", None, 0)
    if episode.embed_pending:
        _embed(episode)
    return EndedSession(session.external_id, episode.text, episode.id, int(episode.metadata["message_count"]))


def delete_session(*, caller: Caller, address: SessionAddress, now: datetime) -> bool:
    """Deletes working state, log and ledger; keeps what became long-term. Whether there was a session."""
    session = find_session(caller=caller, address=address)
    if session is None:
        return False
    ref = ref_of(session)
    token = suspend_items(caller=caller, ref=ref, now=now)
    deletion.delete_session(
        caller=caller, session=session, now=now, also=lambda found: release_items(ref=ref, now=now)
    )
    forget_items(ref=ref, now=now, token=token)
    return True


def _summary(span: Span) -> str:
    return summarise(messages=span.messages, first=span.first, last=span.last)


def _episode_of(session: Session, span: Span, summary: str) -> NewEpisode:
    return NewEpisode(
        text=summary,
        user_id=session.user_id,
        agent_id=session.agent_id,
        project=session.project,
        session_id=session.external_id,
        namespace=session.namespace,
        origin=Origin.SESSION,
        covers_turns=span.covers,
        metadata={"kind": "session_summary", "message_count": span.messages},
    )


def _newest_summary(session: Session) -> Episode | None:
    with scope(session.tenant_id):
        summaries = Episode.objects.filter(
            tenant_id=session.tenant_id,
            session=session.external_id,
            namespace=session.namespace,
            user_id=session.user_id,
            origin=Origin.SESSION,
            metadata__kind="session_summary",
            created_at__gte=session.started_at,  # not one of a deleted session that had the same id
        )
        return summaries.order_by("-created_at").first()


def _embed(episode: Episode) -> None:
    """Embeds the summary now; the sweeper will, if the model does not answer."""
    vectors = try_embed([episode.text])
    if vectors is not None:
        with scope(episode.tenant_id):
            store_vectors([episode], vectors)

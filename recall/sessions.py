"""The end and the deletion of a session, which touch every kind of memory."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from episodic.embedding import store_vectors
from episodic.metrics import count_unembedded
from episodic.models import Episode
from ledger.cases import forget_sampled
from ledger.injections import forget_items, release_items, resume_items, suspend_items
from recall.promotion import StillWaiting, check_none_waits, promote_waiting
from recall.sampling import enqueue_sample
from recall.summarising import keep_summary, tell, wants_summaries
from recall.told import running_summary, summaries_of
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import NotFound, Restricted
from tenants.policy.reading import read_policy
from tenants.scope import scope, undecided
from tenants.subjects import pseudonym
from tenants.telemetry import memory_span
from tenants.tombstones import Erased
from working import deletion
from working.ending import close_session
from working.idle import last_use, learn_activity, moments_of
from working.listing import access_session_row, unused_sessions
from working.models import Session
from working.sessions import access_session, find_exactly, find_session, ref_of
from working.spans import Span
from working.types import SessionAddress

MOST_CLEANED = 500
ATTEMPTS = 5  # to delete a session to which others add records meanwhile
Cause = Literal["end", "idle"]


@dataclass(frozen=True, slots=True)
class EndedSession:
    """What ending a session left behind. Turns in which no user spoke leave no episode."""

    session_id: str
    summary: str
    episode_id: UUID | None
    message_count: int


@dataclass(frozen=True, slots=True)
class DeletedSession:
    """Whether there was one."""

    found: bool


@dataclass(frozen=True, slots=True)
class CleanedUp:
    """How many sessions were deleted."""

    removed: int


def end_session(*, caller: Caller, address: SessionAddress, now: datetime) -> EndedSession:
    """Summarises what is not summarised yet, keeps it as an episode, and clears the ledger.

    Ending an ended session again changes nothing and answers the same. Raises NotFound for an unknown one,
    RedisAway before anything is changed.
    """
    with memory_span("end_session", session_id=address.session_id) as span:
        session = access_session(caller=caller, address=address)
        ended = wind_up(caller=caller, session=session, now=now, cause="end")
        assert ended is not None  # noqa: S101  it had no condition
        span.set(project=session.project, message_count=ended.message_count)
    return ended


def wind_up(
    *,
    caller: Caller,
    session: Session,
    now: datetime,
    cause: Cause,
    only_if: Callable[[Session], bool] = lambda _locked: True,
    retold: Callable[[Span], Span] | None = None,
    answer: Callable[[Session, EndedSession], object] = lambda _locked, ended: ended,
    message_count: int | None = None,
) -> EndedSession | None:
    """Ends the session, whoever wants it, in one commit; None if the locked session fails `only_if`.

    The policy says for each cause whether there is a summary. With `retold` it tells of something else than
    the new turns, and alone; `answer` is kept for a request that is sent again."""
    ref = ref_of(session)
    left: list[tuple[EndedSession, Episode | None]] = []

    def summarise(locked: Session, span: Span) -> str | None:
        if not _wants_summary(locked, cause):
            return None
        if retold is not None:  # a transcript is told in its dialect, whoever spoke
            return tell(caller=caller, session=locked, span=retold(span), now=now, inflected=False)
        return None if span.first is None else tell(caller=caller, session=locked, span=span, now=now)

    def conclude(locked: Session) -> None:
        enqueue_sample(session=locked, now=now)
        release_items(ref=ref, now=now)
        episode = _newest_summary(locked)
        left.append((_ended(locked, episode), episode))
        idempotency.keep(answer(locked, left[-1][0]), user_id=locked.user_id)

    token = suspend_items(caller=caller, ref=ref, now=now)
    try:
        closed = close_session(
            caller=caller,
            session=session,
            now=now,
            summarise=summarise,
            keep=_keeper(caller, now, tells_all=retold is not None),
            always=conclude,
            only_if=only_if,
            message_count=message_count,
        )
    except (NotFound, Erased):  # its ledger is gone, too: nothing of it may stay in Redis
        forget_items(ref=ref, now=now, token=token)
        raise
    except BaseException as error:
        if not undecided(error):  # otherwise the mark stays, as in the ledger's own writes
            resume_items(caller=caller, ref=ref, now=now, token=token)
        raise
    if not closed:
        resume_items(caller=caller, ref=ref, now=now, token=token)
        return None
    forget_items(ref=ref, now=now, token=token)
    ended, episode = left[-1]
    if episode is not None and episode.embed_pending:
        _embed(episode, interactive=cause == "end")
    return ended


def delete_session(*, caller: Caller, address: SessionAddress, now: datetime) -> DeletedSession:
    """Deletes working state, log and ledger; keeps what became long-term, and has what waits in it for that
    remembered before. Raises Restricted where that has to wait for somebody."""
    session = find_session(caller=caller, address=address)
    done = DeletedSession(found=session is not None)
    if session is None:
        with scope(caller.tenant_id):  # sent again, it must not delete one that has come since
            idempotency.keep(done, user_id=caller.confine_user(address.user_id))
    else:
        _delete(caller, session, now, answer=done)
    return done


def delete_exactly(*, caller: Caller, address: SessionAddress, now: datetime) -> bool:
    """Likewise the session of exactly that identity, and no other of the same id; whether there was one."""
    session = find_exactly(caller=caller, address=address)
    if session is not None:
        return _delete(caller, session, now, answer=True)
    with scope(caller.tenant_id):
        idempotency.keep(False, user_id=caller.confine_user(address.user_id))
    return False


def end_session_row(*, caller: Caller, row_id: UUID, now: datetime) -> EndedSession:
    """`end_session` of the session with that id of the server's, which the audit log notes."""
    session = access_session_row(caller=caller, row_id=row_id)

    def noted(locked: Session, ended: EndedSession) -> EndedSession:
        note_deed(caller, "session.end", locked)
        return ended

    ended = wind_up(caller=caller, session=session, now=now, cause="end", answer=noted)
    assert ended is not None  # noqa: S101  it had no condition
    return ended


def delete_session_row(*, caller: Caller, row_id: UUID, now: datetime) -> DeletedSession:
    """`delete_session` likewise."""
    session = access_session_row(caller=caller, row_id=row_id)

    return DeletedSession(found=_delete(caller, session, now, deed="session.delete"))


def note_deed(caller: Caller, action: str, session: Session) -> None:
    """Enters in the audit log what was done to a session, in the open scope: by the server's id of it, since
    the client's own may name somebody."""
    person = {"subject": pseudonym(tenant_id=session.tenant_id, user_id=session.user_id)}
    audit.record(
        tenant_id=session.tenant_id,
        actor=caller.principal,
        action=action,
        target=str(session.id),
        **(person if session.user_id else {}),
    )


def _delete(
    caller: Caller,
    session: Session,
    now: datetime,
    answer: object = None,
    only_if: Callable[[Session], bool] | None = None,
    deed: str = "",
) -> bool:
    """Whether there was one to delete; none that fails `only_if`, asked with the session locked. Raises
    StillWaiting when records come to it all the time."""
    for _time in range(ATTEMPTS - 1):
        with suppress(StillWaiting):
            return _promote_and_delete(caller, session, now, answer, only_if, deed)
    return _promote_and_delete(caller, session, now, answer, only_if, deed)


def _promote_and_delete(
    caller: Caller,
    session: Session,
    now: datetime,
    answer: object,
    only_if: Callable[[Session], bool] | None,
    deed: str,
) -> bool:
    promote_waiting(session=session)
    ref, stays = ref_of(session), True
    token = suspend_items(caller=caller, ref=ref, now=now)

    def also(_locked: Session) -> None:
        nonlocal stays
        check_none_waits(session)
        release_items(ref=ref, now=now)
        forget_sampled(ref=ref)
        if deed:
            note_deed(caller, deed, session)
        idempotency.keep(answer, user_id=session.user_id)
        stays = False

    try:
        deleted = deletion.delete_session(caller=caller, session=session, now=now, also=also, only_if=only_if)
    except BaseException as error:
        if not undecided(error):  # as in `wind_up`
            resume_items(caller=caller, ref=ref, now=now, token=token)
        raise
    if stays:
        resume_items(caller=caller, ref=ref, now=now, token=token)
    else:
        forget_items(ref=ref, now=now, token=token)
    return deleted


def clean_up_sessions(*, caller: Caller, unused_since: datetime, now: datetime) -> CleanedUp:
    """Deletes, as `delete_session` does, up to `MOST_CLEANED` sessions that nobody has used since then, but
    those in which something waits for somebody whose memory is restricted.

    Each is looked at again when its turn has come, and with its row locked. Raises RedisAway.
    """
    found = unused_sessions(caller=caller, before=unused_since, limit=MOST_CLEANED)
    moments = moments_of(found)
    removed = sum(
        _delete_unused(caller, session, now, unused_since)
        for session, moment in zip(found, moments, strict=True)
        if last_use(session, moment) < unused_since
    )
    learn_activity(sessions=found, moments=moments, now=now)  # of those that are left
    done = CleanedUp(removed)
    with scope(caller.tenant_id):
        idempotency.keep(done, user_id="")
    return done


def _delete_unused(caller: Caller, session: Session, now: datetime, unused_since: datetime) -> bool:
    (moment,) = moments_of([session])  # Redis alone sees reading, and cannot be asked under the lock

    def still_unused(one: Session) -> bool:
        return last_use(one, moment) < unused_since

    with suppress(Restricted, StillWaiting):
        return still_unused(session) and _delete(caller, session, now, only_if=still_unused)
    return False


def _keeper(caller: Caller, now: datetime, *, tells_all: bool) -> Callable[[Session, Span, str], str]:
    """Stores a summary, and answers the running one: with what windows no longer show, if it lacks that."""

    def keep(locked: Session, span: Span, summary: str) -> str:
        keep_summary(caller=caller, session=locked, span=span, text=summary, now=now)
        if tells_all or not (locked.compacted_seq or locked.lead):
            return summary
        return running_summary(locked)

    return keep


def _wants_summary(session: Session, cause: Cause) -> bool:
    summary = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id).summary
    return {"end": summary.on_end, "idle": summary.on_idle}[cause] and wants_summaries(session)


def _ended(session: Session, episode: Episode | None) -> EndedSession:
    """Of a session that was compacted, the summary tells of what came before, too."""
    if episode is None:
        return EndedSession(session.external_id, "", None, 0)
    summary = session.summary if session.compacted_seq else episode.text
    return EndedSession(session.external_id, summary, episode.id, int(episode.metadata["message_count"]))


def _newest_summary(session: Session) -> Episode | None:
    return summaries_of(session).order_by("-created_at", "-covers_turns").first()


def _embed(episode: Episode, *, interactive: bool) -> None:
    """Embeds the summary now; the sweeper will, if the model does not answer."""
    vectors = try_embed([episode.text], tenant_id=episode.tenant_id, interactive=interactive)
    if vectors is None:
        return count_unembedded()
    with scope(episode.tenant_id):
        return store_vectors([episode], vectors)

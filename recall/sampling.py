"""Some of the sessions that end leave their queries behind, to measure recall with: those of the user's turns
that episodes were recalled for, labelled by what was thought of them.

The end of a session only records a job, for the share that the policy says; a lot that belongs to the session
decides, which nobody can choose. The job waits for verdicts to come in.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from ledger.cases import LONGEST_TEXT, MOST_RELEVANT, NewQuery, add_sampled
from ledger.feedback import helpful_memories
from ledger.injections import digest_of
from ledger.listing import told_by_query, was_told
from recall.gate import judge
from recall.vague import is_vague
from tenants.drawing import draw
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.policy.reading import read_policy
from working.events import spoken_between
from working.models import Session
from working.sessions import ref_of

SAMPLE = "evaluation.sample"
PATIENCE = timedelta(hours=12)  # for verdicts: they come after the session, too
MOST_QUERIES = 20  # of one session
LOOKED_AT = 2_000  # events, the newest
EPISODE = "episode:"  # before its id: its key in the ledger


def enqueue_sample(*, session: Session, now: datetime) -> None:
    """Records the job in the open scope of the session's end, before its marks are released: if the session
    is among the share, and was told something for a query."""
    share = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id).evaluation.session_share
    if draw("evaluation", tenant_id=session.tenant_id, unit=session.id.hex) >= share:
        return
    if was_told(ref=ref_of(session), prefix=EPISODE):
        key = str(session.id)
        payload = {"session": key, "last_seq": session.last_seq}
        run_at = now + PATIENCE
        enqueue(SAMPLE, payload=payload, now=now, user_id=session.user_id, dedup_key=key, run_at=run_at)


def sample_kind() -> Kind:
    """The job that keeps the queries."""
    return Kind(SAMPLE, _apply, slow=True)  # with a transaction of its own: it locks the session


def _apply(task: Task, prepared: Any = None) -> None:
    """A session that was deleted meanwhile leaves nothing."""
    session = (
        Session.objects.select_for_update()
        .filter(tenant_id=task.tenant_id, id=UUID(task.payload["session"]))
        .first()
    )
    if session is not None:
        queries = list(_queries(session, upto=task.payload["last_seq"]))[-MOST_QUERIES:]
        add_sampled(tenant_id=task.tenant_id, queries=queries, now=task.since)


def _queries(session: Session, *, upto: int) -> Iterator[NewQuery]:
    """What the user asked, each once: what says something by itself, and holds nothing sensitive."""
    told = _told(session)
    helpful = _helpful(session, [one for some in told.values() for one in some])
    policy = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id)
    for turn in spoken_between(session=session, first=max(1, upto - LOOKED_AT), last=upto):
        text = turn.content
        if turn.role != "user" or not isinstance(text, str) or len(text) > LONGEST_TEXT or is_vague(text):
            continue
        found = told.pop(digest_of(tenant_id=session.tenant_id, query=text), None)
        if found is None or judge(text, policy=policy).action != "write":
            continue
        yield NewQuery(
            text=text,
            user_id=session.user_id,
            agent_id=session.agent_id,
            project=session.project,
            session=session.external_id,
            relevant=tuple(one for one in found if one in helpful)[:MOST_RELEVANT],
            turn_id=turn.id,
        )


def _told(session: Session) -> dict[str, list[UUID]]:
    """The ids of the episodes that the session was told, by the digest of the query they were told for."""
    found: dict[str, list[UUID]] = defaultdict(list)
    for asked, item_key in told_by_query(ref=ref_of(session), prefix=EPISODE, since=session.started_at):
        found[asked].append(UUID(item_key.removeprefix(EPISODE)))
    return found


def _helpful(session: Session, episode_ids: Sequence[UUID]) -> set[UUID]:
    found = helpful_memories(
        tenant_id=session.tenant_id,
        user_id=session.user_id,
        session=session.external_id,
        kind="episode",
        memory_ids=list(map(str, episode_ids)),
    )
    return set(map(UUID, found))

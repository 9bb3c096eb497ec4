"""Turns as memories of their own, so that their very words can be found, until a summary tells of them.

A turn is indexed by a job after its commit, and gets its vector from the sweeper, which embeds in batches.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID, uuid5

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from episodic.episodes import build_episode
from episodic.indexing import newest_place
from episodic.inserting import insert_episodes
from episodic.metrics import WRITES
from episodic.models import Episode, MemoryType, Origin
from episodic.querysets import stored_ids
from episodic.superseding import close
from episodic.types import NewEpisode
from ledger.decisions import Refused, note_decision
from recall.gate import judge
from screening.fences import strip_fences
from tenants.caller import Caller
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.system import system_caller
from working.events import Written, spoken_between
from working.idle import find_sessions
from working.models import Event, Session
from working.sessions import ref_of
from working.types import SessionRef

INDEX = "session.index_turns"
KIND = "turn"
PAGE = 500


def enqueue_index(*, written: Written, now: datetime) -> None:
    """Has the new turns indexed if the policy says so, in the scope of the append."""
    session = written.session
    if not any(one.event.role for one in written.stored):
        return
    if read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id).episodes.index_turns:
        numbers = written.appended.numbers
        payload = {"session": str(session.id), "first": numbers[0], "last": numbers[-1]}
        enqueue(INDEX, payload=payload, now=now, user_id=session.user_id)


def index_kind() -> Kind:
    """The job that indexes a batch of turns; doing it again changes nothing."""
    return Kind(INDEX, _index)


def keeps_turns(*, tenant_id: UUID, agent_id: str) -> bool:
    """Whether the policy leaves indexed turns in recall beside the summaries that tell of them."""
    return read_policy(tenant_id=tenant_id, agent_id=agent_id).episodes.keep_turns


def close_told(*, tenant_id: UUID, now: datetime) -> int:
    """Takes the indexed turns that a summary tells of out of recall; how many. The log keeps them, and so
    does what recall says of an earlier moment. Pinned ones stay."""
    return sum(_close_page(tenant_id, page, now) for page in _open_pages(tenant_id))


def close_withdrawn(*, written: Written, now: datetime) -> None:
    """Takes turns that a client has left out, or said otherwise, out of recall, in the open scope."""
    if not written.withdrawn or written.held is not None:
        return
    tenant_id = written.session.tenant_id
    ids = [_id(written.session, seq) for seq in written.withdrawn]
    # Mostly no turns are indexed: that is asked in a tenth of the time that the whole condition takes.
    if indexed := stored_ids(tenant_id=tenant_id, ids=ids):
        close(_open(tenant_id).filter(id__in=indexed), at=now)


def close_told_of(*, session: Session, now: datetime) -> int:
    """The same for one session, in the open scope."""
    if keeps_turns(tenant_id=session.tenant_id, agent_id=session.agent_id):
        return 0
    mine = _open(session.tenant_id).filter(
        session=session.external_id,
        namespace=session.namespace,
        user_id=session.user_id,
        covers_turns__1__lte=session.summarised_seq,
    )
    return close(mine, at=now)


def _index(task: Task, prepared: Any) -> None:
    """In the scope that ends the job."""
    session = Session.objects.filter(tenant_id=task.tenant_id, id=task.payload["session"]).first()
    if session is None:
        return
    policy = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id)
    if not policy.episodes.index_turns:
        return
    turns = _turns(session, first=task.payload["first"], last=task.payload["last"])
    places = {_id(session, event.seq): place for place, event in turns}
    found = (_episode(session, event, policy) for _place, event in turns)
    episodes = [episode for episode in found if episode is not None]
    insert_episodes(episodes, places=places)
    transaction.on_commit(partial(WRITES.inc, len(episodes)))


def _turns(session: Session, *, first: int, last: int) -> list[tuple[int, Event]]:
    """What was said in these events, and its place among all that was said in the session: calls of tools
    and their results lie between turns without parting them. Counted from a turn that was indexed before,
    since the log may have lost its beginning."""
    number, place = newest_place(
        tenant_id=session.tenant_id,
        session=session.external_id,
        namespace=session.namespace,
        user_id=session.user_id,
        before=first,
    )
    since = spoken_between(session=session, first=number + 1, last=last)
    spoken = [one for one in since if isinstance(one.content, str) and one.content.strip()]
    return [(at, one) for at, one in enumerate(spoken, start=place + 1) if one.seq >= first]


def _id(session: Session, seq: int) -> UUID:
    """The same each time that the turn is indexed."""
    return uuid5(session.id, f"turn {seq}")


def _episode(session: Session, event: Event, policy: Policy) -> Episode | None:
    """None for a turn that says nothing or may not become memory."""
    text = strip_fences(str(event.content))[: policy.limits.episode_chars]
    if not text.strip():
        return None
    name = (event.tool or {}).get("name")
    text = f"{name}: {text}" if name else text
    caller, verdict = system_caller(session.tenant_id), judge(text, policy=policy)
    if verdict.action in ("hold", "refuse"):
        _note(caller, session, Refused("episode", verdict.reason, text, findings=verdict.findings))
        return None
    new = NewEpisode(
        text=verdict.text,
        user_id=session.user_id,
        agent_id=session.agent_id,
        project=session.project,
        session_id=session.external_id,
        namespace=session.namespace,
        memory_type=MemoryType.MESSAGE,
        origin=Origin.SESSION,
        covers_turns=(event.seq, event.seq),
        event_date=event.created_at,
        metadata={"kind": KIND, "role": event.role},
    )
    episode = build_episode(caller=caller, new=new, now=timezone.now())
    episode.id = _id(session, event.seq)
    episode.content_hash = ""  # it leaves recall: whoever says the same on purpose says something new
    return episode


def _note(caller: Caller, session: Session, refused: Refused) -> None:
    note_decision(
        caller=caller,
        session_id=session.external_id,
        user_id=session.user_id,
        agent_id=session.agent_id,
        project=session.project,
        refused=refused,
        now=timezone.now(),
    )


def _open(tenant_id: UUID) -> QuerySet[Episode]:
    """The indexed turns that can be recalled."""
    return Episode.objects.filter(
        tenant_id=tenant_id,
        memory_type=MemoryType.MESSAGE,
        origin=Origin.SESSION,
        valid_to__isnull=True,
        pinned_at__isnull=True,
        covers_turns__isnull=False,
    )


def _open_pages(tenant_id: UUID) -> Iterator[list[Episode]]:
    last = UUID(int=0)
    while True:
        with scope(tenant_id):
            page = list(_open(tenant_id).filter(id__gt=last).order_by("id")[:PAGE])
        if page:
            yield page
            last = page[-1].id
        if len(page) < PAGE:
            return


def _close_page(tenant_id: UUID, page: Sequence[Episode], now: datetime) -> int:
    """Those of the page that a summary tells of; how many."""
    agents = {one.agent_id for one in page}
    keeping = {agent for agent in agents if keeps_turns(tenant_id=tenant_id, agent_id=agent)}
    page = [one for one in page if one.agent_id not in keeping]
    sessions = find_sessions(tenant_id=tenant_id, refs=list(set(map(_ref, page))))
    told = {ref_of(session): session.summarised_seq for session in sessions}
    ids = [one.id for one in page if one.covers_turns and one.covers_turns[1] <= told.get(_ref(one), 0)]
    with scope(tenant_id):
        return close(_open(tenant_id).filter(id__in=ids), at=now) if ids else 0


def _ref(episode: Episode) -> SessionRef:
    return SessionRef(episode.tenant_id, episode.namespace, episode.user_id, episode.session)

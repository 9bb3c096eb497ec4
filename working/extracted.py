"""Which messages of a session were looked at for memories, and which are to be."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.functions import Greatest

from working.models import Event, Session, SessionState
from working.workspace import text_of

MARK = {"extracted": True}  # in the metadata of turns that clients have looked at themselves
EARLIER = 6  # turns before the new ones, without which one may not see what they are about


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as somebody who looks for memories sees it. `is_marked`: its client says that that was done."""

    seq: int
    id: str
    role: str
    text: str
    said_at: datetime
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Unextracted:
    """What was said after number `after`, oldest first, and shortly before that; `strategy` as the client
    sent it."""

    session: Session
    strategy: Mapping[str, Any]
    after: int
    messages: tuple[Said, ...]
    earlier: tuple[Said, ...]


def read_unextracted(*, tenant_id: UUID, session_id: UUID, limit: int) -> Unextracted | None:
    """Up to `limit` turns, those included that are marked; None if the session is gone. In the open scope."""
    session = Session.objects.filter(tenant_id=tenant_id, id=session_id).first()
    state = SessionState.objects.filter(tenant_id=tenant_id, session_id=session_id).first()
    if session is None or state is None:
        return None
    after, turns = state.extracted_seq, session.logged_turns()
    new = turns.filter(seq__gt=after).order_by("seq")[:limit]
    before = turns.filter(seq__lte=after).order_by("-seq")[:EARLIER]
    return Unextracted(
        session, state.strategy, after, tuple(map(_said, new)), tuple(map(_said, reversed(before)))
    )


def read_thread(*, session: Session, upto: int, limit: int) -> list[Said]:
    """The newest `limit` turns up to that number, oldest first. In the open scope."""
    newest = session.logged_turns().filter(seq__lte=upto).order_by("-seq")[:limit]
    return list(map(_said, reversed(newest)))


def lock_extraction(*, tenant_id: UUID, session_id: UUID, after: int) -> Session | None:
    """The session, locked until the open scope ends; None if it is gone, or somebody has looked at what was
    said after that number meanwhile."""
    mine = Session.objects.filter(tenant_id=tenant_id, id=session_id).select_for_update().first()
    if mine is None or not _states(mine).filter(extracted_seq=after).exists():
        return None
    return mine


def still_said(*, session: Session, numbers: Collection[int]) -> frozenset[int]:
    """Those of the turns that nobody has left out or erased. Under the session's lock."""
    found = session.logged_turns().filter(seq__in=numbers)
    return frozenset(found.values_list("seq", flat=True))


def note_extracted(*, session: Session, upto: int) -> bool:
    """Notes that all turns up to that number were looked at; whether more is to be. Under the session's lock.
    Clients change nothing of this, so that it is no change of the session."""
    _states(session).update(extracted_seq=Greatest(F("extracted_seq"), upto))
    return session.logged_turns().filter(seq__gt=upto).exclude(metadata__contains=MARK).exists()


def _states(session: Session) -> QuerySet[SessionState]:
    return SessionState.objects.filter(tenant_id=session.tenant_id, session_id=session.id)


def _said(event: Event) -> Said:
    return Said(
        seq=event.seq,
        id=event.external_id or str(event.id),
        role=event.role,
        text=text_of(event),
        said_at=event.created_at,
        is_marked=bool(event.metadata.get("extracted")),
    )

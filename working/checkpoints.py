"""Where an agent's loop stood: one JSON text per session, versioned, so that no writer overwrites another
unawares. PostgreSQL alone holds it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.db import IntegrityError
from psycopg.errors import ForeignKeyViolation

from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import NotFound, PreconditionFailed
from tenants.scope import scope
from tenants.tombstones import refuse_erased
from working import activity, querysets
from working.models import Checkpoint, Session
from working.sessions import ATTEMPTS, access_session, open_session, ref_of
from working.types import SessionAddress

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Precondition:
    """Of which versions a checkpoint must be (`match`; empty: of any), or that there is none (`absent`)."""

    match: frozenset[int] | None = None
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The version that was written; 1 is the first."""

    version: int
    updated_at: datetime


def read_checkpoint(
    *, caller: Caller, address: SessionAddress, now: datetime, known: Callable[[int], bool]
) -> tuple[int, str | None]:
    """Version and text of the session's checkpoint; no text for a version that is `known`, whatever its size.

    Raises NotFound for a session without one.
    """
    session = access_session(caller=caller, address=address)
    with scope(caller.tenant_id):
        mine = Checkpoint.objects.filter(tenant_id=caller.tenant_id, session_id=session.id)
        version = mine.values_list("version", flat=True).first()
        found: tuple[int, str | None] | None = None
        if version is not None:
            found = (version, None) if known(version) else mine.values_list("version", "value").first()
    activity.note(ref=ref_of(session), now=now.timestamp(), agent_id=session.agent_id)
    if found is None:
        raise NotFound("This session has no checkpoint.")
    return found


def write_checkpoint(
    *, caller: Caller, address: SessionAddress, value: str, only_if: Precondition, now: datetime
) -> Written:
    """Stores the text, creating the session if it is new; without a condition the last writer wins.

    `value` is JSON, which the caller has checked. Raises PreconditionFailed when `only_if` does not hold; of
    several writers at once that expect the same version exactly one succeeds.
    """
    for attempt in range(ATTEMPTS):
        session, _created = open_session(caller=caller, address=address, now=now)
        try:
            written = _write(session, value, only_if, now)
        except IntegrityError as error:
            # The session was deleted in this moment: begin another.
            if not isinstance(error.__cause__, ForeignKeyViolation) or attempt == ATTEMPTS - 1:
                raise
        else:
            break
    activity.note(ref=ref_of(session), now=now.timestamp(), agent_id=session.agent_id)
    return written


def _write(session: Session, value: str, only_if: Precondition, now: datetime) -> Written:
    with scope(session.tenant_id):
        refuse_erased(tenant_id=session.tenant_id, user_id=session.user_id, since=now)
        version = querysets.put_checkpoint(
            session=session, value=value, match=only_if.match, absent=only_if.absent, now=now
        )
        if version is None:
            raise PreconditionFailed("The checkpoint is of another version: read it and try again.")
        written = Written(version, now)
        idempotency.keep(written, user_id=session.user_id)
    return written

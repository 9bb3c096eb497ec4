"""The running summary of a session, replaced by a better one of the same turns."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.utils import timezone

from tenants.system import system_caller
from working import store, workspace_queries
from working.models import Session
from working.redis import RedisAway
from working.sessions import ref_of
from working.unlogged import keeps_log


@dataclass(frozen=True, slots=True)
class Announced:
    """The mark in Redis that a commit is to follow."""

    token: str


def announce_summary(*, session: Session) -> Announced:
    """Tells Redis that the summary is about to change; outside of any scope.

    One that Redis does not know, or no longer, is not made known: there is nothing to distrust, and perhaps
    its user was erased meanwhile.
    """
    token, now = secrets.token_hex(8), timezone.now().timestamp()
    with suppress(RedisAway):  # then the next reader asks PostgreSQL anyway
        store.mark(caller=system_caller(session.tenant_id), ref=ref_of(session), now=now, token=token)
    return Announced(token)


def replace_summary(
    *, announced: Announced, session: Session, better: Callable[[Session | None], str | None]
) -> None:
    """Replaces the summary in the open scope by what `better` makes of the locked session; None leaves it.
    Redis hears of it after the commit. `better` is called without a session, too, that is no more."""
    mine = Session.objects.filter(tenant_id=session.tenant_id, id=session.id)
    locked = mine.select_for_update().first()
    summary = better(locked)
    if locked is not None and summary is not None:
        moment = locked.moment_of_change(timezone.now())
        mine.update(summary=summary, summary_at=moment, changed_at=moment)
        workspace_queries.stamp(session=locked, now=moment)
    settle = partial(
        store.settle,
        caller=system_caller(session.tenant_id),
        ref=ref_of(session),
        token=announced.token,
        committed=None if locked is None or summary is None else _committed(locked, summary),
    )
    transaction.on_commit(lambda: settle(now=timezone.now().timestamp()))


def _committed(session: Session, summary: str) -> store.Committed:
    return store.Committed(
        seq=(session.last_seq, session.last_seq),
        agent_id=session.agent_id,
        project=session.project,
        summary=summary,
        turn_count=session.turn_count,
        compacted=session.compacted_seq,
        reload=True,
        unlogged=not keeps_log(tenant_id=session.tenant_id, agent_id=session.agent_id),
    )

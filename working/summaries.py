"""The running summary of a session that has ended, replaced by a better one of the same turns."""

import secrets
from contextlib import suppress
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from tenants.system import system_caller
from working import store
from working.models import Session
from working.redis import RedisAway
from working.sessions import ref_of


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
    with suppress(RedisAway):  # the end has dropped the list: the next reader asks PostgreSQL anyway
        store.mark(caller=system_caller(session.tenant_id), ref=ref_of(session), now=now, token=token)
    return Announced(token)


def replace_summary(*, announced: Announced, session: Session, upto: int, before: str, summary: str) -> None:
    """Replaces the summary in the open scope, unless it is not `before` of the turns up to `upto` any more.
    Redis hears of it after the commit."""
    mine = Session.objects.filter(tenant_id=session.tenant_id, id=session.id)
    replaced = mine.filter(summarised_seq=upto, summary=before).update(summary=summary)
    committed = store.Committed(
        seq=(session.last_seq, session.last_seq),
        agent_id=session.agent_id,
        project=session.project,
        summary=summary,
    )

    def settle() -> None:
        store.settle(
            caller=system_caller(session.tenant_id),
            ref=ref_of(session),
            now=timezone.now().timestamp(),
            token=announced.token,
            committed=committed if replaced else None,
        )

    transaction.on_commit(settle)

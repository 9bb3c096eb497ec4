"""Deleting a session: its log in PostgreSQL, its state in Redis."""

import secrets
from collections.abc import Callable
from datetime import datetime

from tenants.caller import Caller
from tenants.scope import scope
from working import activity, store
from working.events import adopt_marked
from working.models import Session
from working.sessions import ref_of


def delete_session(
    *, caller: Caller, session: Session, now: datetime, also: Callable[[Session], object]
) -> None:
    """Deletes the session and its events; `also` runs in the same transaction.

    Raises RedisAway before anything is deleted.
    """
    ref = ref_of(session)
    store.forget(ref)  # first: when Redis is away, nothing is deleted
    # Should we die after the commit, no reader will have put the turns back in a list that is trusted.
    adopt_marked(caller=caller, session=session, now=now, token=secrets.token_hex(8))
    with scope(caller.tenant_id):
        mine = Session.objects.filter(tenant_id=session.tenant_id, id=session.id)
        mine.select_for_update().first()  # the session before what hangs on it, as an end locks them
        also(session)
        mine.delete()
    store.forget(ref)
    activity.forget([ref])

"""Deleting a session: its log in PostgreSQL, its state in Redis."""

import secrets
from collections.abc import Callable
from datetime import datetime

from tenants.caller import Caller
from tenants.scope import scope, undecided
from working import activity, store
from working.events import adopt_marked
from working.models import Session
from working.sessions import ref_of


def delete_session(
    *,
    caller: Caller,
    session: Session,
    now: datetime,
    also: Callable[[Session], object],
    only_if: Callable[[Session], bool] | None = None,
) -> bool:
    """Deletes the session and its events, in one transaction with `also`; whether there was one to delete.

    One that fails `only_if` when it is locked stays as it is, in Redis, too, and `also` does not run. Raises
    RedisAway before anything is deleted.
    """
    ref, token = ref_of(session), secrets.token_hex(8)
    if only_if is None:
        store.forget(ref)  # also the fields, which no mark hides should we die after the commit
    # Should we die after the commit, no reader will have put the turns back in a list that is trusted.
    adopt_marked(caller=caller, session=session, now=now, token=token)
    try:
        with scope(caller.tenant_id):
            mine = Session.objects.filter(tenant_id=session.tenant_id, id=session.id)
            locked = mine.select_for_update().first()  # before what hangs on it, as an end locks them
            wanted = locked is None or only_if is None or only_if(locked)
            if wanted:
                also(session)
                mine.delete()
    except BaseException as error:
        if not undecided(error):  # as in `append_events`
            store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, committed=None)
        raise
    if not wanted:
        store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, committed=None)
        return False
    store.forget(ref)
    activity.forget([ref])
    return locked is not None

"""Deleting a session: its log in PostgreSQL, its state in Redis."""

from collections.abc import Callable

from tenants.caller import Caller
from tenants.scope import scope
from working import store
from working.models import Session
from working.sessions import find_session, ref_of
from working.types import SessionAddress


def delete_session(
    *, caller: Caller, address: SessionAddress, also: Callable[[Session], object]
) -> Session | None:
    """Deletes the session and its events; `also` runs in the same transaction. None when there was none.

    Raises RedisAway before anything is deleted.
    """
    session = find_session(caller=caller, address=address)
    if session is None:
        return None
    ref = ref_of(session)
    store.forget(ref)  # first: when Redis is away, nothing is deleted
    with scope(caller.tenant_id):
        also(session)
        Session.objects.filter(tenant_id=session.tenant_id, id=session.id).delete()
    store.forget(ref)  # again: a reader may have brought it back meanwhile
    return session

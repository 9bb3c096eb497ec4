"""Sessions: which one is meant, who may reach it, how it begins and is deleted."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, NotFound, Restricted
from tenants.restrictions import has_restricted
from tenants.scope import restricted_shown, scope, shows_restricted
from tenants.tombstones import refuse_erased
from working import querysets, store
from working.metrics import EVICTIONS
from working.models import Session
from working.types import SessionAddress, SessionRef

T = TypeVar("T")
ATTEMPTS = 4  # at a session that others delete at the same time


class Opened(NamedTuple):
    """A session, and whether it is new."""

    session: Session
    created: bool


def exact_ref(caller: Caller, address: SessionAddress) -> SessionRef:
    """The session as the caller names it, with what the key is bound to filled in."""
    return SessionRef(
        tenant_id=caller.tenant_id,
        namespace=address.namespace or "",
        user_id=caller.confine_user(address.user_id),
        session_id=address.session_id,
    )


def ref_of(session: Session) -> SessionRef:
    """The identity of a stored session."""
    return SessionRef(session.tenant_id, session.namespace, session.user_id, session.external_id)


def find_session(*, caller: Caller, address: SessionAddress) -> Session | None:
    """The session that `address` means (DESIGN §1), or None.

    With a user named or bound, that user's only. The one with exactly the identity given, else the only one
    without a user, else the only one of that id. Raises Conflict when there are several, Forbidden when the
    key does not reach it.
    """
    if address.is_exact:
        return find_exactly(caller=caller, address=address)
    ref = exact_ref(caller, address)
    with scope(caller.tenant_id):
        found = querysets.sessions_named(
            tenant_id=ref.tenant_id,
            session_id=ref.session_id,
            namespace=address.namespace,
            user_id=ref.user_id or None,
        )
    if not found:
        return None
    session = the_one_meant(found, ref)
    confine(caller, session)
    return session


def find_exactly(*, caller: Caller, address: SessionAddress) -> Session | None:
    """The session of exactly that user and namespace, or of none where none is named. Raises Forbidden."""
    ref = exact_ref(caller, address)
    with scope(caller.tenant_id):
        session = Session.objects.filter(
            tenant_id=ref.tenant_id,
            external_id=ref.session_id,
            namespace=ref.namespace,
            user_id=ref.user_id,
        ).first()
    if session is not None:
        confine(caller, session)
    return session


def access_session(*, caller: Caller, address: SessionAddress) -> Session:
    """Likewise, but a missing session raises NotFound."""
    session = find_session(caller=caller, address=address)
    if session is None:
        raise NotFound("There is no such session.")
    return session


def open_session(
    *,
    caller: Caller,
    address: SessionAddress,
    now: datetime,
    agent_id: str | None = None,
    project: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Opened:
    """The session that `address` means, created if there is none."""
    agent, named_project = caller.confine_agent(agent_id), caller.confine_project(project)
    found = find_session(caller=caller, address=address)
    ref = ref_of(found) if found else exact_ref(caller, address)
    if found is None and not ref.user_id:
        refuse_hidden(ref, address)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=ref.tenant_id, user_id=ref.user_id, since=now)
        session, created = querysets.open_session(
            ref=ref, agent_id=agent, project=named_project, metadata=metadata or {}, now=now
        )
        confine(caller, session)
        opened = Opened(session, created)
        idempotency.keep(opened, user_id=session.user_id)
    return opened


def with_known_session(
    *,
    caller: Caller,
    address: SessionAddress,
    now: datetime,
    run: Callable[[SessionRef], T | None],
    create: bool,
) -> T | None:
    """What `run` answers on the session in Redis; PostgreSQL is asked only when Redis does not know it.

    `run` answers None for a session unknown to Redis. None is returned when there is no such session and
    `create` is false.
    """
    answer = run(exact_ref(caller, address))
    for _attempt in range(ATTEMPTS):
        if answer is not None:
            break
        if create:
            session, _created = open_session(caller=caller, address=address, now=now)
        else:
            found = find_session(caller=caller, address=address)
            if found is None:
                return None
            session = found
        adopt(session, now)
        answer = run(ref_of(session))
    return answer


def adopt(session: Session, now: datetime) -> None:
    """Makes a stored session known to Redis, and counts one that it has dropped."""
    unknown = store.adopt(
        ref=ref_of(session),
        agent_id=session.agent_id,
        project=session.project,
        last_seq=session.last_seq,
        turn_count=session.turn_count,
        compacted=session.compacted_seq,
        now=now.timestamp(),
    )
    if unknown and session.last_seq and session.ended_at is None:
        EVICTIONS.inc()


def hold(*, caller: Caller, session: Session, now: datetime) -> None:
    """Begins the session's hold in Redis anew. Raises RedisAway."""
    adopt(session, now)
    store.touch(caller=caller, ref=ref_of(session), now=now.timestamp())


def refuse_hidden(ref: SessionRef, address: SessionAddress) -> None:
    """Raises Restricted when the session that is not seen is a restricted person's: what is said there must
    not begin one of nobody's."""
    if shows_restricted() or not has_restricted(ref.tenant_id):
        return
    with restricted_shown(), scope(ref.tenant_id):
        hidden = querysets.sessions_named(
            tenant_id=ref.tenant_id, session_id=ref.session_id, namespace=address.namespace, user_id=None
        )
    if hidden:
        raise Restricted("This session is of a person whose memory is restricted.")


def the_one_meant(found: list[Session], ref: SessionRef) -> Session:
    if exact := [session for session in found if ref_of(session) == ref]:
        return exact[0]
    without_user = [session for session in found if not session.user_id]
    if len(without_user) == 1:
        return without_user[0]
    if len(found) == 1:
        return found[0]
    raise Conflict("Several sessions have this id: name user_id or namespace.")


def confine(caller: Caller, session: Session) -> None:
    """Raises Forbidden when the key is bound to another agent or project than the session's."""
    agent_differs = caller.agent_id and session.agent_id != caller.agent_id
    project_differs = caller.project and session.project != caller.project
    if agent_differs or project_differs:
        raise Forbidden("This key does not reach this session.")

"""People whose memory is kept: who may act on all of one's, and by what name that is remembered."""

import hashlib
from uuid import UUID

from tenants.caller import Caller
from tenants.errors import Forbidden
from tenants.tombstones import subject_of


def confine(caller: Caller, user_id: str | None) -> str:
    """The person meant: the one named, else the one that the caller is bound to; empty when there is neither.
    Raises Forbidden when the caller is bound to another user, or to a part of the person's memory."""
    meant = caller.confine_user(user_id)
    if caller.agent_id or caller.project:
        raise Forbidden("A key bound to an agent or project does not reach all of a person's memory.")
    return meant


def actor_of(caller: Caller, user_id: str) -> str:
    """The caller's name, for what outlives an erasure: one who asks by a token of their own is not named."""
    if caller.principal == token_principal(user_id):
        return pseudonym(tenant_id=caller.tenant_id, user_id=user_id)
    return caller.principal


def pseudonym(*, tenant_id: UUID, user_id: str) -> str:
    """What a person is called in the audit log: `subject:` and 12 digits of the keyed hash."""
    return f"subject:{subject_of(tenant_id=tenant_id, user_id=user_id)[:12]}"


def unnamed(*, tenant_id: UUID, principal: str) -> str:
    """The name of a caller without that of a person: of whoever comes with a token of their own, the
    pseudonym."""
    kind, _, name = principal.partition(":")
    if kind == "jwt":
        return pseudonym(tenant_id=tenant_id, user_id=name)
    if principal.startswith("jwt#"):  # of a name too long for the column
        return pseudonym(tenant_id=tenant_id, user_id=principal)
    return principal


def asked_by(subject: str, actor: str) -> str:
    """Names the work that one caller wants done about a person: two callers get a job each, since neither may
    look at the other's."""
    return hashlib.sha256(f"{subject}/{actor}".encode()).hexdigest()


def token_principal(user_id: str) -> str:
    """What a person's own tokens are called where the name of a caller is kept."""
    token = Caller(tenant_id=UUID(int=0), tenant="", key_id=user_id, scopes=frozenset(), kind="jwt")
    return token.principal

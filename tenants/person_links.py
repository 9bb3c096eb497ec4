"""Links by which people reach their own memory without an account: sealed, so that neither a log nor a
mailbox learns from one whose it is, and good for a while only, or until they are revoked."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Invalid, Unauthenticated
from tenants.link_revocations import next_moment, void_links, void_until
from tenants.models import AuditEntry
from tenants.scope import scope
from tenants.subjects import actor_of, confine, pseudonym
from tenants.tenancy import find_tenant
from tenants.tombstones import subject_of

SCOPES = ("read", "write", "privacy")  # what people may do with their own memory
LONGEST = 90 * 86_400  # seconds
REFUSAL = "This link is not valid, or no longer. Ask for a new one."
LINK, REVOKE = "subject.link", "subject.link.revoke"  # in the audit log
NEVER = datetime.fromtimestamp(0, UTC)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class PersonLink:
    """`path` is below the server's own address."""

    path: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Visit:
    """A person, as a caller bound to their own memory, and until when. `made_at` is when the link was made
    that they came by: it and all visits by it end with the same revocation."""

    caller: Caller
    until: datetime
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Revoked:
    """Every link and visit is void that was made until then."""

    void_until: datetime


@dataclass(frozen=True, slots=True)
class LinksOut:
    """How many links of a person still work, and the last one until when; when they were revoked last."""

    count: int
    until: datetime | None
    void_until: datetime | None


def make_link(*, caller: Caller, user_id: str, seconds: int | None = None, now: datetime) -> PersonLink:
    """A link to the person's own pages, good for `seconds`, by default `PERSON_LINK_SECONDS`. Audited.

    Raises Forbidden when the caller does not reach all of the person's memory, Invalid for a time that is too
    short or too long.
    """
    confine(caller, user_id)
    lasting = settings.PERSON_LINK_SECONDS if seconds is None else seconds
    if not 60 <= lasting <= LONGEST:
        raise Invalid(f"Must be between 60 and {LONGEST}.", "seconds")
    until = now + timedelta(seconds=lasting)
    with scope(caller.tenant_id):
        made_at = next_moment(**_person(caller, user_id))
        token = seal(tenant=caller.tenant, user_id=user_id, scopes=SCOPES, until=until, made_at=made_at)
        link = PersonLink(f"/me/enter/{token}", until)
        audit.record(
            tenant_id=caller.tenant_id,
            actor=actor_of(caller, user_id),
            action=LINK,
            target=pseudonym(tenant_id=caller.tenant_id, user_id=user_id),
            expires_at=until.isoformat(),
        )
        idempotency.keep(link, user_id=user_id)
    return link


def revoke_links(*, caller: Caller, user_id: str) -> Revoked:
    """Makes every link to the person's own pages void that was made until now, with all visits by them, and
    for these pages also tokens that were issued until now. Audited. Raises Forbidden as above."""
    confine(caller, user_id)
    with scope(caller.tenant_id):
        done = Revoked(void_links(**_person(caller, user_id)))
        audit.record(
            tenant_id=caller.tenant_id,
            actor=actor_of(caller, user_id),
            action=REVOKE,
            target=pseudonym(tenant_id=caller.tenant_id, user_id=user_id),
        )
        idempotency.keep(done, user_id="")  # the answer names nobody
    return done


def links_out(*, caller: Caller, user_id: str, now: datetime) -> LinksOut:
    """What a revocation would end: links are stored nowhere, but the audit log counts them. Raises Forbidden
    as above."""
    confine(caller, user_id)
    target = pseudonym(tenant_id=caller.tenant_id, user_id=user_id)
    with scope(caller.tenant_id):
        void = void_until(**_person(caller, user_id))
        since = max(now - timedelta(seconds=LONGEST), void or NEVER)
        made = AuditEntry.objects.filter(tenant_id=caller.tenant_id, action=LINK, target=target, at__gt=since)
        ends = [datetime.fromisoformat(one["expires_at"]) for one in made.values_list("details", flat=True)]
    ends = [one for one in ends if one > now]
    return LinksOut(len(ends), max(ends, default=None), void)


def seal(*, tenant: str, user_id: str, scopes: Collection[str], until: datetime, made_at: datetime) -> str:
    """What a link or a cookie holds of a visit."""
    visit = {
        "tenant": tenant,
        "user": user_id,
        "scopes": sorted(scopes),
        "until": until.timestamp(),
        "made": (made_at - NEVER) // MICROSECOND,
    }
    return _box().encrypt(json.dumps(visit).encode()).decode()


def open_sealed(token: str, *, now: datetime) -> Visit:
    """The visit that a link or a cookie holds. Raises Unauthenticated, also when it was revoked."""
    try:
        visit = json.loads(_box().decrypt(token.encode()))
    except (InvalidToken, UnicodeEncodeError):
        raise Unauthenticated(REFUSAL) from None
    until = datetime.fromtimestamp(visit["until"], tz=now.tzinfo)
    tenant = find_tenant(visit["tenant"]) if until > now else None
    if tenant is None:
        raise Unauthenticated(REFUSAL)
    caller = Caller(
        tenant_id=tenant.id,
        tenant=tenant.slug,
        key_id=visit["user"],
        scopes=frozenset(visit["scopes"]),
        user_id=visit["user"],
        kind="jwt",
    )
    # One of a version that did not date them is older than any revocation.
    return _checked(Visit(caller, until, NEVER + visit.get("made", 0) * MICROSECOND))


def admit(*, caller: Caller, issued_at: datetime | None, until: datetime) -> Visit:
    """The visit of one who comes by a token of the operator's own issuer. Raises Unauthenticated when it is
    nobody's own, is bound to a part of their memory, or was issued before the last revocation; one that does
    not say when it was issued counts as issued now."""
    if not caller.user_id or caller.agent_id or caller.project:
        raise Unauthenticated(REFUSAL)
    if issued_at is not None:
        return _checked(Visit(caller, until, issued_at))
    with scope(caller.tenant_id):
        return Visit(caller, until, next_moment(**_person(caller, caller.user_id)))


def renewed(visit: Visit) -> Visit:
    """The same visit as if it had begun now, for whoever has just voided it on purpose."""
    with scope(visit.caller.tenant_id):
        return replace(visit, made_at=next_moment(**_person(visit.caller, visit.caller.user_id)))


def _checked(visit: Visit) -> Visit:
    with scope(visit.caller.tenant_id):
        void = void_until(**_person(visit.caller, visit.caller.user_id))
    if void is not None and visit.made_at <= void:
        raise Unauthenticated(REFUSAL)
    return visit


def _person(caller: Caller, user_id: str) -> dict[str, Any]:
    subject = subject_of(tenant_id=caller.tenant_id, user_id=user_id)
    return {"tenant_id": caller.tenant_id, "subject": subject}


def _box() -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"strata person links")
    return Fernet(urlsafe_b64encode(derived.derive(settings.SECRET_KEY.encode())))

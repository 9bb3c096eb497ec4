"""JSON Web Tokens: callers that an issuer of the operator's own vouches for.

One family of algorithms is in use, by what is configured: symmetric ones with `JWT_SECRET`, or asymmetric
ones with the keys at `JWT_JWKS_URL`. A published key can therefore never serve as a secret, whatever a
token's header says (RFC 8725, section 3.1).
"""

import base64
import json
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import jwt
from django.conf import settings

from tenants.caller import SCOPES, Caller, Kind
from tenants.errors import Unauthenticated
from tenants.jwks import SUITABLE, key_set
from tenants.tenancy import find_tenant

logger = logging.getLogger(__name__)

# The shortest secret in bytes: no shorter than the hash (RFC 7518, section 3.2).
SYMMETRIC: Mapping[str, int] = {"HS256": 32, "HS384": 48, "HS512": 64}
ASYMMETRIC = frozenset(SUITABLE)
MAX_CHARACTERS = 16_384
REFUSAL = "The token is not valid."
LOGGABLE = re.compile(r"[\w.:/+@-]{1,128}", re.ASCII)  # nothing that could pass for another field or line
REASONS: Mapping[type[jwt.PyJWTError], str] = {
    jwt.ExpiredSignatureError: "expired",
    jwt.ImmatureSignatureError: "not_yet_valid",
    jwt.InvalidAudienceError: "audience",
    jwt.InvalidIssuerError: "issuer",
    jwt.InvalidAlgorithmError: "algorithm",
    jwt.InvalidSignatureError: "signature",
    jwt.exceptions.InvalidSubjectError: "subject",
    jwt.InvalidKeyError: "key",
}
Claims = dict[str, Any]


class Refused(Exception):
    """Why a token is refused, and what the log may tell besides."""

    def __init__(self, reason: str, *, key_id: object = None, tenant: object = None) -> None:
        super().__init__(reason)
        self.reason, self.key_id, self.tenant = reason, key_id, tenant


def authenticate_token(text: str) -> Caller:
    """The caller behind a token. Raises Unauthenticated; why exactly, only the log is told. Raises
    Unavailable when that cannot be said before the issuer's keys have been fetched."""
    return authenticate_dated(text)[0]


def authenticate_dated(text: str) -> tuple[Caller, datetime | None]:
    """Likewise, and when the token was issued, if it says so."""
    try:
        claims = verified_claims(text)
        return caller_of(claims), _issued_at(claims)
    except Refused as refused:
        about = {"kid": _loggable(refused.key_id), "token_tenant": _loggable(refused.tenant)}
        told = {"reason": refused.reason} | {name: value for name, value in about.items() if value}
        logger.warning("token_refused", extra={"fields": told})
    raise Unauthenticated(REFUSAL)


def fault_of_secret(secret: str, algorithm: str) -> str:
    """Why the secret cannot serve a symmetric algorithm; empty if it can."""
    shortest = SYMMETRIC[algorithm]
    if len(secret.encode()) < shortest:
        return f"needs at least {shortest} bytes for {algorithm}"
    try:
        jwt.encode({}, secret, algorithm)
    except jwt.InvalidKeyError:
        return "is a public key or a JWK, not a secret"
    return ""


def verified_claims(text: str) -> Claims:
    """The claims of a token that is signed, in time, and meant for us. Raises Refused."""
    header = _header(text)
    key_id = header.get("kid")
    options: Any = {"require": ["exp"], "enforce_minimum_key_length": True}
    try:
        claims: Claims = jwt.decode(
            text,
            _key(header),
            algorithms=settings.JWT_ALGORITHMS,
            audience=settings.JWT_AUDIENCE,
            issuer=settings.JWT_ISSUER or None,
            leeway=settings.JWT_LEEWAY_SECONDS,
            options=options,
        )
    except jwt.MissingRequiredClaimError as error:
        raise Refused(f"no_{error.claim}", key_id=key_id) from None
    except jwt.PyJWTError as error:
        reason = next((code for kind, code in REASONS.items() if isinstance(error, kind)), "malformed")
        raise Refused(reason, key_id=key_id) from None
    for name in ("exp", "nbf", "iat"):
        if name in claims and type(claims[name]) not in (int, float):
            raise Refused(name, key_id=key_id)  # the library also takes "99" and true
    return claims


def caller_of(claims: Claims) -> Caller:
    """The caller whom verified claims describe. Raises Refused.

    `sub` binds the caller to that user, as a key can be bound. A token with scope admin is a service's: it
    reaches every user, and goes by `sub`, or without one by the client that it was issued to.
    """
    name = claims.get("tenant_id")
    try:
        scopes = _scopes(claims)
        kind, called = _service(claims) if "admin" in scopes else _person(claims)
        agent_id, project = _text(claims, "agent_id", 255), _text(claims, "project", 200)
        tenant = find_tenant(_text(claims, "tenant_id", 63, required=True))
    except Refused as refused:
        raise Refused(refused.reason, tenant=name) from None
    if tenant is None:
        raise Refused("unknown_tenant", tenant=name)
    return Caller(
        tenant_id=tenant.id,
        tenant=tenant.slug,
        key_id=called,
        scopes=scopes,
        user_id=called if kind == "jwt" else "",
        agent_id=agent_id,
        project=project,
        kind=kind,
    )


def _header(text: str) -> Claims:
    """The header, not yet believed: it says which key to look for. The library reads it again, strictly."""
    if not text.isascii() or len(text) > MAX_CHARACTERS:
        raise Refused("malformed")
    segment = text.partition(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    except (ValueError, RecursionError):
        raise Refused("malformed") from None
    if not isinstance(header, dict):
        raise Refused("malformed")
    return header


def _key(header: Claims) -> str | jwt.PyJWK:
    """The key that must have signed the token: of the configured family, whatever the header asks for."""
    algorithm, key_id = header.get("alg"), header.get("kid")
    family = ASYMMETRIC if settings.JWT_JWKS_URL else SYMMETRIC
    if not isinstance(algorithm, str) or algorithm not in settings.JWT_ALGORITHMS or algorithm not in family:
        raise Refused("algorithm", key_id=key_id)
    if not settings.JWT_JWKS_URL:
        return str(settings.JWT_SECRET)
    if not isinstance(key_id, str):
        raise Refused("no_kid")
    key = key_set().find(key_id=key_id, algorithm=algorithm)
    if key is None:
        raise Refused("unknown_key", key_id=key_id)
    return key


def _person(claims: Claims) -> tuple[Kind, str]:
    return "jwt", _text(claims, "sub", 255, required=True)


def _service(claims: Claims) -> tuple[Kind, str]:
    """A service is never taken for the person of that name, nor one without a subject for another: answers
    that are kept for one caller would be another's."""
    if "sub" in claims:
        return "service", _text(claims, "sub", 255)
    return "client", _text(claims, "azp" if "azp" in claims else "client_id", 255, required=True)


def _issued_at(claims: Claims) -> datetime | None:
    if "iat" not in claims:
        return None
    return datetime.fromtimestamp(max(claims["iat"], 0), UTC)  # no later than now: that was verified


def _scopes(claims: Claims) -> frozenset[str]:
    """Ours among the scopes: a string of words or a list (RFC 8693, section 4.2, and what issuers send)."""
    given = claims.get("scope")
    words = given.split() if isinstance(given, str) else given if isinstance(given, list) else []
    scopes = frozenset(scope for scope in SCOPES if scope in words)
    if not scopes:
        raise Refused("scope")
    return scopes


def _text(claims: Claims, name: str, limit: int, *, required: bool = False) -> str:
    """A claim that names something; empty when it is missing. One that is there but names nothing is refused:
    it was meant to confine the caller."""
    if name not in claims:
        if required:
            raise Refused(f"no_{name}")
        return ""
    value = claims[name]
    if not isinstance(value, str) or not 0 < len(value) <= limit or "\0" in value or not _is_unicode(value):
        raise Refused(name)
    return value


def _is_unicode(text: str) -> bool:
    """JSON can escape half a character, which no store takes."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _loggable(value: object) -> str:
    return value if isinstance(value, str) and LOGGABLE.fullmatch(value) else ""

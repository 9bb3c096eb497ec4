"""System checks: a deployment that could leak does not start."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import OperationalError, connections

from tenants.isolation import roles
from tenants.scope import unscoped

DANGEROUS_ROLE = """
WITH RECURSIVE reach (oid) AS (
    SELECT oid FROM pg_roles WHERE rolname = current_user
    UNION SELECT m.roleid FROM pg_auth_members m JOIN reach ON m.member = reach.oid
)
SELECT bool_or(r.rolsuper), bool_or(r.rolbypassrls),
       EXISTS (SELECT 1 FROM pg_class c JOIN reach ON c.relowner = reach.oid
               WHERE c.relnamespace = 'public'::regnamespace),
       bool_or(r.rolname = ANY(%s))
FROM pg_roles r JOIN reach ON r.oid = reach.oid
"""  # what a role can become by SET ROLE, over any number of steps, counts as what it is
REASONS = (
    "is or can become a superuser",
    "has or can get BYPASSRLS",
    "owns tables",
    "is a member of another of Strata's roles",
)


@register(Tags.security)
def secret_is_set(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.SECRET_KEY == "unset":  # noqa: S105  the placeholder, not a secret
        return [
            Error(
                "SECRET_KEY is not set.",
                hint="Start `make run`, or set SECRET_KEY or SECRET_KEY_FILE.",
                id="tenants.E005",
            )
        ]
    return []


@register(Tags.security)
def roles_differ(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    names = roles()
    if len({names.app, names.owner, names.admin, names.definer}) < 4:
        return [
            Error("The app, owner, admin and definer roles must be four different ones.", id="tenants.E001")
        ]
    return []


@register(Tags.security)
def anonymous_access_is_fenced(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Keyless access needs a loopback address to listen on, or a list of networks."""
    try:
        for network in settings.MEMORY_ANONYMOUS_NETWORKS:
            ipaddress.ip_network(network)
    except ValueError as error:
        return [Error(f"MEMORY_ANONYMOUS_NETWORKS: {error}", id="tenants.E003")]
    local = settings.HOST in {"localhost", "127.0.0.1", "::1"}
    if settings.MEMORY_ANONYMOUS_TENANT and not local and not settings.MEMORY_ANONYMOUS_NETWORKS:
        return [
            Error(
                f"MEMORY_ANONYMOUS_TENANT lets callers in without a key, and HOST={settings.HOST} is open.",
                hint="Unset it, listen on 127.0.0.1, or name the allowed MEMORY_ANONYMOUS_NETWORKS.",
                id="tenants.E004",
            )
        ]
    return []


@register(Tags.security)
def tokens_are_verified(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """With `JWT_ALGORITHMS` set, whatever else decides which tokens are believed must fit them."""
    if not settings.JWT_ALGORITHMS:
        return []
    from tenants import tokens  # late: its libraries take 20 MB where no tokens are taken

    wanted = set(settings.JWT_ALGORITHMS)
    if unknown := wanted - set(tokens.SYMMETRIC) - tokens.ASYMMETRIC:
        known = ", ".join([*tokens.SYMMETRIC, *sorted(tokens.ASYMMETRIC)])
        return [
            Error(
                f"JWT_ALGORITHMS: {', '.join(sorted(unknown))} cannot be taken.",
                hint=f"Choose of {known}.",
                id="tenants.E006",
            )
        ]
    found = [*_key_source_fits(wanted & set(tokens.SYMMETRIC), wanted & tokens.ASYMMETRIC)]
    if not settings.JWT_AUDIENCE:
        found.append(
            Error(
                "JWT_AUDIENCE is not set: tokens that were made for other services would be taken.",
                id="tenants.E009",
            )
        )
    return found


def _key_source_fits(symmetric: set[str], asymmetric: set[str]) -> list[CheckMessage]:
    from tenants import tokens

    address = settings.JWT_JWKS_URL
    if symmetric and (asymmetric or address):
        return [
            Error(
                "JWT_ALGORITHMS: HS… signs with a secret, and the others with keys at JWT_JWKS_URL; a server"
                " that took both could be made to take a published key for the secret.",
                hint="Name algorithms of one kind, and set JWT_SECRET or JWT_JWKS_URL accordingly.",
                id="tenants.E007",
            )
        ]
    if asymmetric and not _is_safe_address(address):
        return [
            Error(
                "JWT_JWKS_URL must be the https address of the keys.",
                hint="http is taken for a loopback host only: elsewhere, keys could be changed on their way.",
                id="tenants.E010",
            )
        ]
    if asymmetric and settings.JWKS_MAX_AGE_SECONDS < settings.JWKS_REFRESH_SECONDS:
        return [Error("JWKS_MAX_AGE_SECONDS is less than JWKS_REFRESH_SECONDS.", id="tenants.E011")]
    return [
        Error(f"JWT_SECRET {fault}.", id="tenants.E008")
        for algorithm in sorted(symmetric)
        if (fault := tokens.fault_of_secret(settings.JWT_SECRET, algorithm))
    ]


def _is_safe_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme == "http":
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
    return parts.scheme == "https" and bool(host)


@register(Tags.database)
def app_role_is_confined(app_configs: Any, databases: Any = None, **kwargs: Any) -> list[CheckMessage]:
    """Row-level security binds neither superusers nor owners; the app role may be none of these."""
    if not databases or "default" not in databases:
        return []
    names = roles()
    others = [names.owner, names.admin, names.definer]
    try:
        with unscoped(), connections["default"].cursor() as cursor:
            cursor.execute(DANGEROUS_ROLE, [others])
            row = cursor.fetchone()
    except OperationalError:
        return []  # no database, no danger; /ready tells of it
    found = [reason for reason, is_so in zip(REASONS, row or (), strict=False) if is_so]
    if found:
        return [
            Error(
                f"The app role {names.app!r} {' and '.join(found)}: row-level security would not bind it.",
                hint="`manage.py provision` prints the SQL that sets the roles up.",
                id="tenants.E002",
            )
        ]
    return []

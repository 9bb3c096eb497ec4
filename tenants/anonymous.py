"""Callers without a key: mapped to one tenant, from named networks only.

The original clients of three dialects send no key, so a local server may let loopback in.
"""

import ipaddress
from functools import cache

from django.conf import settings

from tenants.caller import Caller
from tenants.errors import Unauthenticated
from tenants.tenancy import find_tenant

LOOPBACK = ("127.0.0.0/8", "::1/128")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def anonymous_caller(*, address: str, from_other_site: bool) -> Caller:
    """The caller for a request without a key. Raises Unauthenticated where none is allowed.

    `from_other_site` tells that a browser sent the request on behalf of another web page, which must not
    read or write memories by merely being open on the same machine.
    """
    name = settings.MEMORY_ANONYMOUS_TENANT
    if not name or from_other_site or not _allowed(address):
        raise Unauthenticated("Send an API key: Authorization: Bearer mem_… or X-API-Key.")
    tenant = find_tenant(name)
    if tenant is None:
        raise Unauthenticated("Send an API key: Authorization: Bearer mem_… or X-API-Key.")
    return Caller(
        tenant_id=tenant.id,
        tenant=tenant.slug,
        key_id="anonymous",
        scopes=frozenset({"read", "write"}),
        kind="anonymous",
    )


@cache
def _networks(names: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(name) for name in names)


def _allowed(address: str) -> bool:
    networks = _networks(tuple(settings.MEMORY_ANONYMOUS_NETWORKS) or LOOPBACK)
    try:
        client = ipaddress.ip_address(address)
    except ValueError:
        return False
    # A server that listens on "::" sees IPv4 clients in this disguise.
    client = getattr(client, "ipv4_mapped", None) or client
    return any(client.version == network.version and client in network for network in networks)

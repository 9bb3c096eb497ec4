"""Where a webhook may lead: names are resolved here, and what is connected to is the address
that was checked.

A name whose addresses change between check and connection, or an odd spelling of a private address, must not
let a tenant have this server ask its own network.
"""

import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from tenants.errors import Invalid

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
LONGEST = 2_000
PORTS = {"https": 443, "http": 80}
LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# What the standard library takes for public: the metadata servers of Azure and Oracle; addresses that embed
# others for local translation, the deprecated embedding of IPv4, and Teredo.
FURTHER: tuple[Network, ...] = (
    ipaddress.IPv4Network("168.63.129.16/32"),
    ipaddress.IPv4Network("192.0.0.0/24"),
    ipaddress.IPv6Network("64:ff9b:1::/48"),
    ipaddress.IPv6Network("::/96"),
    ipaddress.IPv6Network("2001::/32"),
)


class Refused(Invalid):
    """The URL leads where it may not. The sentence names no address that a resolver answered."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "url")


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart; `path` has the query with it."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """For the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def parse(url: str) -> Target:
    """Takes the URL apart, strictly: what two parsers could read as two things is refused. Raises Refused."""
    if len(url) > LONGEST:
        raise Refused(f"May not be longer than {LONGEST} characters.")
    if re.search(r"[^\x21-\x7e]|\\", url):
        raise Refused("May hold neither spaces, backslashes, control characters nor anything beyond ASCII.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refused("Is not a URL.") from error
    if parts.scheme not in PORTS:
        raise Refused("Must begin with https:// or http://.")
    if "@" in parts.netloc:
        raise Refused("May hold neither user name nor password.")
    if parts.fragment or url.endswith("#"):
        raise Refused("May have no fragment.")
    if port == 0:
        raise Refused("Port 0 cannot be reached.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, _host(parts.hostname or ""), port or PORTS[parts.scheme], path)


def resolve(target: Target, *, allowed: Sequence[str]) -> list[Address]:
    """The addresses of the host, each of them checked. Raises Refused if one may not be asked; OSError when
    the name cannot be looked up."""
    networks = [ipaddress.ip_network(one, strict=False) for one in allowed]
    found = _look_up(target)
    for address in found:
        _check(address, target, networks)
    return found


def _host(host: str) -> str:
    """In lower case. A number in another spelling than an address's usual one is refused."""
    if ":" in host:
        try:
            address = ipaddress.IPv6Address(host)
        except ValueError as error:
            raise Refused("The host is not an address.") from error
        if address.scope_id is not None:
            raise Refused("The host is not an address that others could mean.")
        return str(address)
    labels = host.removesuffix(".").split(".")
    if not all(LABEL.fullmatch(label) for label in labels) or len(host) > 253:
        raise Refused("The host is not a name.")
    if re.fullmatch(r"\d+|0[xX][0-9a-fA-F]*", labels[-1]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError as error:
            raise Refused("An IPv4 address is written as four numbers from 0 to 255.") from error
    return host


def _look_up(target: Target) -> list[Address]:
    try:
        return [ipaddress.ip_address(target.host)]
    except ValueError:
        answers = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    found = dict.fromkeys(str(answer[4][0]) for answer in answers)
    return [ipaddress.ip_address(one.partition("%")[0]) for one in found]


def _check(address: Address, target: Target, allowed: Sequence[Network]) -> None:
    meant = _meant(address)
    if any(one in network for network in allowed for one in (address, meant)):
        return
    if not is_public(address):
        raise Refused("The host is in a private or reserved network, which this server does not call.")
    if target.scheme != "https":
        raise Refused("Must begin with https://.")


def is_public(address: Address) -> bool:
    """Whether it is an ordinary address of the internet, and any that it embeds as well."""
    meant = _meant(address)
    if meant != address:
        return is_public(meant)
    odd = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_link_local
    odd = odd or getattr(address, "is_site_local", False)
    return address.is_global and not odd and not any(address in network for network in FURTHER)


def _meant(address: Address) -> Address:
    """The IPv4 address that packets to an IPv6 one may end at; else itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address

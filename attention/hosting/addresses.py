"""Address of a visitor, past the proxies that the owner names."""

from __future__ import annotations

import functools
import ipaddress
import os
from typing import NamedTuple

from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

PROXIES_VARIABLE = "FORWARDED_ALLOW_IPS"  # of uvicorn
PROXIES = "127.0.0.1,::1"  # uvicorn's own default
ADDRESSES = 10_000
ONE = 0.5  # share of what there is that one address may have, unless the owner says otherwise
# Of IPv6, by the bits of a network: whoever has an address has all with the same first 64, and who
# rents one more may have 256 or 65,536 networks of these.
SHARES = {64: ONE, 56: 0.6, 48: 0.75}


class Network(NamedTuple):
    """Addresses that may be one visitor's, and the share that all of them may have together."""

    name: str
    share: float

    @property
    def times(self) -> float:
        """Factor by which it may have more than one address."""
        return self.share / ONE

    @property
    def of_free(self) -> float:
        """Factor of what it leaves free that it may have."""
        return self.share / (1 - self.share)


@functools.lru_cache(ADDRESSES)
def networks(address: str) -> tuple[Network, ...]:
    """The networks in which an address counts, the smallest first; address: see `network`."""
    try:
        smallest = ipaddress.IPv6Network(address)
    except ValueError:
        return (Network(address, ONE),)
    return tuple(
        Network(str(smallest.supernet(new_prefix=bits)), share) for bits, share in SHARES.items()
    )


def address_of(connection: HTTPConnection) -> str:
    """Origin of a request: an address, or the part of it that all in a house have."""
    return network(connection.client.host) if connection.client else ""


@functools.lru_cache(ADDRESSES)
def network(host: str) -> str:
    """The address of a host; of IPv6 the first 64 bits, as whoever has one has all with these."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


def trusted_proxies() -> Middleware:
    """Middleware that has the owner's proxies say whose a request is, by what uvicorn trusts.

    uvicorn itself knows 127.0.0.1 and not ::ffff:127.0.0.1, which is how a socket of both protocols
    sees it; all servers listen on such a one unless they are told otherwise.
    """
    named = os.environ.get(PROXIES_VARIABLE, PROXIES)
    hosts = [host.strip() for host in named.split(",")]
    mapped = [mapped for host in hosts if (mapped := _mapped(host))]
    return Middleware(ProxyHeadersMiddleware, trusted_hosts=",".join([named, *mapped]))


def _mapped(host: str) -> str:
    """An address or a network of IPv4 as one of IPv6, "" for any other."""
    try:
        network = ipaddress.IPv4Network(host)
    except ValueError:
        return ""
    return f"::ffff:{network.network_address}/{96 + network.prefixlen}"

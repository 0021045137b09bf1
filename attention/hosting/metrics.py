"""Metrics that an operator can read at `/metrics`, in the format of Prometheus."""

from __future__ import annotations

import functools
import ipaddress
import os
import re

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

SCRAPERS_VARIABLE = "ATTENTION_METRICS"
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)  # memory, CPU time, open files, start
PlatformCollector(registry=REGISTRY)  # the version of Python

SESSIONS = Gauge("attention_sessions", "Tabs that are open.", registry=REGISTRY)
WAITING = Gauge("attention_waiting", "Visitors who wait for a place.", registry=REGISTRY)
RERUNS = Histogram(
    "attention_rerun_seconds",
    "From the start of a rerun to its end.",
    ["page"],
    registry=REGISTRY,
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
)
HELD = Counter(
    "attention_held_seconds",
    "For how long reruns were held back since their session used more than its share.",
    registry=REGISTRY,
)
REFUSED = Counter("attention_refused", "Requests that were refused.", ["why"], registry=REGISTRY)
DROPPED = Counter(
    "attention_dropped_messages",
    "Messages of websockets that no page of ours sends.",
    ["kind"],
    registry=REGISTRY,
)
# Headers by which proxies tell whose a request is, where it came in, or that they passed it on.
PROXY = re.compile(
    r"(forwarded|via|cdn-loop|x-(forwarded|real|original|client|cluster|proxy|envoy|azure|amzn|request)\b.*"
    r"|.*-(client|real|connecting|source|user)-ip|cf-.*|x-scheme)$"
)


def are_asked_for(request: Request) -> bool:
    """True if a request reads metrics, these or Streamlit's own."""
    return bool(request.scope["path"].rstrip("/").endswith("/metrics"))


def through_proxy(request: Request) -> bool:
    """True if a request came through a proxy, as visitors' do: they read no metrics."""
    return any(PROXY.match(name) for name in request.headers)


def may_be_read_by(request: Request) -> bool:
    """True if a request comes straight from this machine or a network that the owner names."""
    if through_proxy(request) or not request.client:
        return False
    try:
        address = ipaddress.ip_address(request.client.host)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or any(address in network for network in scrapers())


@functools.cache
def scrapers() -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """Networks from which metrics are read too, as in `ATTENTION_METRICS="10.0.0.0/8"`.

    Raises ValueError, naming the variable, where they cannot be read.
    """
    words = os.environ.get(SCRAPERS_VARIABLE, "").replace(",", " ").split()
    try:
        return tuple(ipaddress.ip_network(word) for word in words)
    except ValueError as error:
        raise ValueError(f"{SCRAPERS_VARIABLE} must name networks, got: {error}") from None


def show(request: Request) -> Response:
    """All of it now."""
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)


ROUTE = Route("/metrics", show)

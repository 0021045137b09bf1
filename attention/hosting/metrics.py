"""Metrics that an operator can read at `/metrics`, in the format of Prometheus."""

from __future__ import annotations

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


def show(request: Request) -> Response:
    """All of it now."""
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)


ROUTE = Route("/metrics", show)

"""Metrics that an operator reads."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request

from attention.hosting import metrics


def test_the_operator_reads_prometheus_format():
    answer = metrics.show(Request({"type": "http", "headers": []}))
    text = bytes(answer.body).decode()
    families = {each.name: each for each in text_string_to_metric_families(text)}
    assert answer.status_code == 200
    assert {"attention_sessions", "attention_waiting", "attention_rerun_seconds"} <= families.keys()
    assert families["process_resident_memory_bytes"].samples[0].value > 1e6


def came_through_proxy(*headers: str) -> bool:
    named = [(name.lower().encode(), b"203.0.113.7") for name in headers]
    return metrics.through_proxy(Request({"type": "http", "headers": named}))


@pytest.mark.parametrize(
    "header",
    [
        *("X-Real-IP", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"),
        *("Via", "X-Client-IP", "True-Client-IP", "Fly-Client-IP", "CF-Connecting-IP", "CF-Ray"),
        *("X-Cluster-Client-IP", "X-Original-URI", "X-Original-Forwarded-For", "X-Scheme"),
        *("X-Envoy-External-Address", "X-Request-ID", "X-AppEngine-User-IP", "CDN-Loop"),
    ],
)
def test_one_header_of_a_proxy_tells_that_a_request_is_a_visitor_s(header):
    assert came_through_proxy("Host", header)


def test_a_scraper_at_the_server_itself_sends_no_header_of_a_proxy():
    scraper = "Host", "User-Agent", "Accept", "Accept-Encoding", "Connection", "Authorization"
    assert not came_through_proxy(*scraper, "X-Prometheus-Scrape-Timeout-Seconds")
    assert not came_through_proxy("X-Requested-With", "Cookie", "Traceparent", "Referer")


@pytest.mark.parametrize(
    ("host", "may"),
    [
        *(("127.0.0.1", True), ("::1", True), ("::ffff:127.0.0.1", True), ("10.1.2.3", True)),
        *(("::ffff:10.1.2.3", True), ("fd00::7", True), ("11.1.2.3", False), ("fe00::7", False)),
        *(("203.0.113.7", False), ("no address", False)),
    ],
)
def test_metrics_are_for_the_machine_itself_and_networks_that_are_named(monkeypatch, host, may):
    monkeypatch.setenv("ATTENTION_METRICS", "10.0.0.0/8, fd00::/16")
    metrics.scrapers.cache_clear()
    scope = {"type": "http", "headers": [], "client": (host, 7)}
    assert metrics.may_be_read_by(Request(scope)) == may
    proxied = scope | {"headers": [(b"via", b"1.1 a")]}
    assert not metrics.may_be_read_by(Request(proxied))
    metrics.scrapers.cache_clear()


def test_networks_that_cannot_be_read_are_told_with_the_variable(monkeypatch):
    monkeypatch.setenv("ATTENTION_METRICS", "10.0.0.0/8 everywhere")
    metrics.scrapers.cache_clear()
    with pytest.raises(ValueError, match="ATTENTION_METRICS must name networks, got: 'everywhere'"):
        metrics.scrapers()

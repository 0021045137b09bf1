"""Metrics that an operator reads."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request

from attention.hosting import metrics


def test_the_operator_reads_prometheus_format() -> None:
    answer = metrics.show(Request({"type": "http", "headers": []}))
    text = bytes(answer.body).decode()
    families = {each.name: each for each in text_string_to_metric_families(text)}
    assert answer.status_code == 200
    assert {"attention_sessions", "attention_waiting", "attention_rerun_seconds"} <= families.keys()
    assert families["process_resident_memory_bytes"].samples[0].value > 1e6

"""What an operator reads."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request

from attention.hosting import metrics


def asked(**headers: str) -> tuple[int, str]:
    """The status and the words of the answer to a request with those headers."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    answer = metrics.show(Request({"type": "http", "headers": raw}))
    return answer.status_code, bytes(answer.body).decode()


def test_the_operator_reads_prometheus_format() -> None:
    status, text = asked()
    families = {each.name: each for each in text_string_to_metric_families(text)}
    assert status == 200
    assert {"attention_sessions", "attention_waiting", "attention_rerun_seconds"} <= families.keys()
    assert families["process_resident_memory_bytes"].samples[0].value > 1e6


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded"])
def test_a_request_through_a_proxy_reads_nothing(header: str) -> None:
    status, text = asked(**{header: "203.0.113.7"})
    assert (status, "attention" in text) == (404, False)

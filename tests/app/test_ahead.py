"""The picture that a browser asks for before its page has been run."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
import torch
from starlette.requests import Request

from attention.app import ahead
from attention.hosting.pace import Pace
from tests.running import Sent, opened, sent_as

Link = dict[str, str | list[str]]
LINKS: list[Link] = [
    {},
    {"s": "cat cat zzxqy", "mask": ["causal", "length"], "valid_len": "2", "query": "2"},
    {"variant": "multihead", "heads": "5", "head": "3", "positions": "alibi", "figure": "lines"},
    {"variant": "talking", "vectors": "random", "d_model": "12", "scale": "factor", "factor": "2"},
    {"model": "minilm", "layer": "2", "head": "7", "special": "set aside"},
    {"variant": "grouped", "heads": "10", "groups": "5", "nobody": "knows", "embed": "true"},
]
REFUSED: list[Link] = [
    {"s": ""},
    {"scale": "<b>"},
    {"mask": ["causal", "no"]},
    {"heads": "0", "variant": "multihead"},
    {"heads": "10", "groups": "4", "variant": "grouped"},
    {"s": "cat " * 2000},
    {"s": "cat " * 129},
    {"model": "minilm", "join": "words"},
    {f"n{number}": "" for number in range(600)},
]


def each(links: list[Link]) -> pytest.MarkDecorator:
    """Runs a test for each of these links."""
    return pytest.mark.parametrize("link", links, ids=[urlencode(link)[:40] for link in links])


def brought(link: Link) -> tuple[int, bytes]:
    """The status and the body of the answer to a link."""
    query = urlencode(link, doseq=True).encode()
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/ahead", "headers": []}
    answer = ahead.answer(Request({**scope, "query_string": query}))
    return answer.status_code, bytes(answer.body)


@pytest.fixture(autouse=True)
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_pace", Pace.full(rate=1.0, burst=100.0, now=0.0))


@each(LINKS)
def test_what_comes_ahead_is_what_the_page_then_shows(link: Link) -> None:
    shown = opened("explore", **link).sent["picture"]
    status, body = brought(link)
    came = sent_as(body)
    assert status == 200
    assert came.header["place"] is None
    assert {**came.header, "place": shown.header["place"]} == shown.header
    assert torch.equal(came.numbers, shown.numbers)
    assert came.rest == shown.rest


@pytest.mark.parametrize(
    "link", REFUSED, ids=[urlencode(link, doseq=True)[:40] for link in REFUSED]
)
def test_nothing_comes_ahead_of_a_page_that_says_something_of_its_link(link: Link) -> None:
    assert brought(link) == (204, b"")


def test_nothing_comes_ahead_once_too_much_time_was_taken_or_another_is_at_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ahead, "_pace", Pace.full(rate=1e-6, burst=1e-6, now=0.0))
    assert brought({})[0] == 200
    assert brought({})[0] == 204, "what the first took has to be made good"
    monkeypatch.setattr(ahead, "_pace", Pace.full(rate=1.0, burst=100.0, now=0.0))
    with ahead._place:
        assert brought({})[0] == 204
    assert brought({})[0] == 200


def test_the_page_names_what_may_be_asked_for_ahead() -> None:
    names = opened("explore", variant="multihead", mask="window").sent["picture"].header["ahead"]
    assert {"s", "scale", "mask", "radius", "heads", "head", "seed", "positions"} <= {*names}
    assert not {"variant", "model", "valid_len", "query"} & {*names}
    assert opened("explore", s="cat " * 129).sent["picture"].header["ahead"] == []
    assert opened("cross").sent["picture"].header["ahead"] == []


def test_a_link_is_read_without_what_a_visitor_has_set() -> None:
    opened("explore", mask="causal")
    came: Sent = sent_as(brought({})[1])
    assert came.header["masks"] == []

"""Links that reach a session that is open already, as by Back: no page shows an error."""

from __future__ import annotations

import random

import pytest

from attention.app.links import every_setting
from attention.app.pages import PAGES, Page
from attention.components.answers import legal_address
from tests.hostile import links
from tests.running import opened

MANY = 3000
TURNS = 12  # settings of a link at most

every_page = pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])


@every_page
def test_no_link_into_an_open_session_brings_an_error(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(page.name)
    app = opened(page.name)
    for _, link in links(draw, MANY // len(PAGES)):
        app.step_to(page.name, link, monkeypatch)
        assert app.heading[0] == page.title, link


@every_page
@pytest.mark.parametrize("text", ["inf", "-inf", "1e999", "nan", "foo", ""])
def test_no_setting_of_a_link_into_an_open_session_brings_an_error(
    page: Page, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(page.name)
    app.step_to(page.name, dict.fromkeys(every_setting(), text), monkeypatch)
    assert app.heading[0] == page.title


def test_infinite_numbers_are_dropped_where_whole_ones_belong_and_nowhere_else() -> None:
    address = "s=inf&row=inf&row=1e999&layer=-Infinity&factor=inf&row=3&inf"
    assert legal_address(address, {"row", "layer"}) == "s=inf&factor=inf&row=3&inf"

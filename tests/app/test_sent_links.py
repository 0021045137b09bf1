"""Links that were sent open the views that they opened."""

from __future__ import annotations

import json

import pytest

from tests.app import sent_links
from tests.trained.packaged import packaged

TABLE = sent_links.table()


@pytest.mark.parametrize("link", TABLE)
def test_a_link_opens_the_view_that_it_opened(link: str) -> None:
    for model in ("minilm", "smollm2", "en-pt"):
        packaged(model)
    app, expected = sent_links.opened_by(link), TABLE[link]
    app.finished().until(lambda: {*expected["figures"]} <= app.sent.keys())
    shown = json.loads(json.dumps(sent_links.seen(app)))
    assert {*expected["figures"]} <= {*shown["figures"]}
    assert shown | {"figures": expected["figures"]} == expected

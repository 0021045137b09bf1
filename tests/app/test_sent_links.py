"""Links that were sent open the views that they opened."""

from __future__ import annotations

import json

import pytest

from tests.app import sent_links
from tests.trained.packaged import packaged

TABLE = sent_links.table()


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("link", TABLE)
def test_a_link_opens_the_view_that_it_opened(link: str) -> None:
    for model in ("minilm", "smollm2", "en-pt"):
        packaged(model)
    app, expected = sent_links.opened_by(link), TABLE[link]

    def seen() -> object:
        shown = json.loads(json.dumps(sent_links.seen(app)))
        more = {*shown["figures"]} - {*expected["figures"]}
        return shown | {"figures": [name for name in shown["figures"] if name not in more]}

    app.until(lambda: seen() == expected or "Stop" not in app.buttons)
    assert seen() == expected

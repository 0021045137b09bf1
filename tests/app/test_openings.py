"""Opening of the bare address."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs

import pytest

from attention.app.cached.runs import result_of
from attention.app.state import openings
from attention.app.state.links import read_link, settings_of_link
from attention.app.state.openings import OPENINGS, Opening
from attention.trained import sources
from attention.trained.sources import NONE

every_opening = pytest.mark.parametrize("shown", OPENINGS.values(), ids=OPENINGS)


@every_opening
def test_its_link_is_taken_whole_and_says_the_sentence_and_the_chosen_word(shown: Opening) -> None:
    link = parse_qs(shown.link)
    assert read_link(link, lambda vectors: 50) == (link, [])
    assert (link["s"], link["numbers"]) == ([shown.sentences[0]], ["hidden"])
    tokens = result_of(settings_of_link(link, shown.sentences[0])).tokens
    assert tokens[int(link["query"][0])] == shown.word


@pytest.mark.parametrize(
    ("names", "reader"), [((NONE, "minilm"), "minilm"), ((NONE, "en-pt"), NONE), ((NONE,), NONE)]
)
def test_it_opens_on_the_trained_model_where_that_is_installed(
    names: tuple[str, ...], reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: Callable[[], tuple[str, ...]] = lambda: names  # noqa: E731
    monkeypatch.setattr(sources, "names", listed)
    assert openings.opening() is OPENINGS[reader]

"""Opening of the bare address, and the sentence that says what one sees there."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs

import pytest

from attention.app.links import read_link, settings_of_link
from attention.app.results import result_of
from attention.lessons import opening
from attention.lessons.opening import OPENINGS, Opening
from attention.pipeline import Result
from attention.trained import sources
from attention.trained.sources import NONE

every_opening = pytest.mark.parametrize("shown", OPENINGS.values(), ids=OPENINGS)


def results_of(shown: Opening) -> list[Result]:
    link = {name: [str(value)] for name, value in shown.chosen.items()}
    return [result_of(settings_of_link(link, sentence)) for sentence in shown.sentences]


@every_opening
def test_its_link_is_taken_whole_and_says_the_sentence_and_the_chosen_word(shown: Opening) -> None:
    link = parse_qs(shown.link)
    assert read_link(link, lambda vectors: 50) == (link, [])
    assert link["s"] == [shown.sentences[0]]
    (result, _) = results_of(shown)
    assert result.tokens[int(link["query"][0])] == shown.word


def test_the_trained_head_is_less_sure_and_does_not_switch() -> None:
    shown = OPENINGS["minilm"]
    assert shown.heading == "Which word does “it” look at?"
    assert shown.words(results_of(shown)) == (
        "“it” looks most at “animal”: 76 %. With “wide” it is less sure: “animal” 46 %, "
        "“street” 24 %."
    )


def test_word_vectors_look_at_the_word_that_tells_the_meaning() -> None:
    shown = OPENINGS[NONE]
    assert shown.words(results_of(shown)) == (
        "Apart from itself, “bass” looks most at “guitar”: 42 %. With “fish”: “fish” 10 %, “a” 9 %."
    )


@pytest.mark.parametrize(
    ("names", "reader"), [((NONE, "minilm"), "minilm"), ((NONE, "en-pt"), NONE), ((NONE,), NONE)]
)
def test_it_opens_on_the_trained_model_where_that_is_installed(
    names: tuple[str, ...], reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: Callable[[], tuple[str, ...]] = lambda: names  # noqa: E731
    monkeypatch.setattr(sources, "names", listed)
    assert opening.opening() is OPENINGS[reader]

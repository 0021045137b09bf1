"""The files that pages offer: nothing until they are asked for, then all numbers that are shown."""

from __future__ import annotations

from typing import Any

import pytest

from attention.app.state.openings import ALL_WORDS
from attention.figures import files
from attention.subjects.model import options
from tests.running import App, opened

HOW = {"fold": "how", "words": ALL_WORDS, "column": 1}
HEADS = {"fold": "all heads", "variant": "multihead"}
Case = tuple[str, dict[str, Any], set[str]]
NUMBERS: list[Case] = [  # a page, a link, and some of its files
    ("explore", {}, {"Weights"}),
    ("explore", {"fold": "how"}, {"Stages of the computation"}),
    ("explore", HOW, {"Q", "K", "Scores", "Working of the chosen cell"}),
    ("explore", HEADS, {"Heads of the layer"}),
    ("explore", HEADS | {"words": ALL_WORDS}, {"Weights of all heads"}),
    ("explore", {"fold": "against"}, {"A and B"}),
    ("explore", {"fold": "against", "words": ALL_WORDS}, {"Weights B − A"}),
    (
        "explore",
        {"fold": "numbers", "query": 1, "map": "shown", "variant": "multihead"},
        {"Masked scores · head 0", "Row 1 term by term · head 0", "What each head adds to token 1"},
    ),
    (
        "model",
        {"model": "minilm", "layer": 3, "more": options.REASONS},
        {"Heads", "The score, term by term", "Weights and lengths · layer 3, head 0, token 0"},
    ),
    ("cross", {}, {"Weights", "Vectors x", "New vectors y"}),
    ("learning", {}, {"Runs side by side"}),
    ("operations", {}, {"A[0]", "C[1]"}),
    (
        "identities",
        {"claim": "scale"},
        {"q·k / √d_k · Four ways to the same scores", "X · given", "Differences of the checks"},
    ),
    ("guide", {"chapter": "scores"}, {"Scores"}),
]


def asked(page: str, link: dict[str, Any]) -> App:
    """The page with its files open, as after a click."""
    app = opened(page, **link)
    assert labels(app) <= {"Save the text"}, "before it is asked for"
    assert "save_figures" not in app.sent
    app.session_state["download"] = True
    app.run()
    return app


def labels(app: App) -> set[str]:
    return {item.proto.label for item in app.get("download_button")}


@pytest.mark.parametrize("case", NUMBERS, ids=lambda case: " ".join([case[0], *map(str, case[1])]))
def test_a_page_offers_the_numbers_it_shows_and_each_label_says_of_what(case, monkeypatch):
    page, link, expected = case
    alike: list[str] = []
    another = files._another

    def watched(text: str, apart: str, taken: set[str]) -> str:
        alike.extend(taken & {text})
        return another(text, apart, taken)

    monkeypatch.setattr(files, "_another", watched)
    app = asked(page, link)
    first, *others = (item.proto.label for item in app.get("download_button"))
    tables = [label.removesuffix(", CSV") for label in others if label.endswith(", CSV")]
    assert {*tables} >= expected
    assert alike == []
    assert "save_figures" in app.sent
    assert first == "All figures, HTML"
    assert others[len(tables) :] in ([], ["PyTorch script"])


@pytest.mark.parametrize("page", ["sources", "write"])
def test_a_page_without_figures_has_no_menu_of_files(page):
    assert asked(page, {}).sent.keys().isdisjoint({"save_figures"})
    assert labels(asked(page, {})) <= {"Save the text"}

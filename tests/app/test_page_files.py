"""The files that pages offer: nothing until they are asked for, then all numbers that are shown."""

from __future__ import annotations

from typing import Any

import pytest

from attention.figures import files
from attention.subjects.model import words as model_words
from tests.running import App, opened

NUMBERS: dict[str, tuple[dict[str, Any], set[str]]] = {  # by page a link, and some of its files
    "explore": ({"query": 1, "map": "shown"}, {"Masked scores", "Row 1 term by term"}),
    "steps": ({"step": "scores"}, {"Q", "K", "Scores", "Working of the chosen cell"}),
    "heads": ({"query": 2}, {"Weights · head 0", "What each head adds to token 2"}),
    "compare": ({}, {"Weights B − A", "Divergence of each row"}),
    "model": (
        {"model": "minilm", "layer": 3, "more": model_words.REASONS},
        {"The score, term by term", "Weights and lengths · layer 3, head 0, token 0"},
    ),
    "cross": ({}, {"Weights", "Vectors x", "New vectors y"}),
    "learning": ({}, {"Runs side by side"}),
    "operations": ({}, {"A[0]", "C[1]"}),
    "identities": (
        {"claim": "scale"},
        {"q·k / √d_k · Four ways to the same scores", "X · given", "Differences of the checks"},
    ),
    "guide": ({"chapter": "scores"}, {"Scores"}),
    "own": ({}, {"Weights · layer 0, head 0", "Measures of all heads"}),
    "write": ({}, set()),
}


def asked(page: str, link: dict[str, Any]) -> App:
    """The page with its files open, as after a click."""
    app = opened(page, **link)
    assert labels(app) <= {"The example as a file", "Save the text"}, "before it is asked for"
    assert "save_figures" not in app.sent
    app.session_state["download"] = True
    app.run()
    return app


def labels(app: App) -> set[str]:
    return {item.proto.label for item in app.get("download_button")}


@pytest.mark.parametrize("page", NUMBERS)
def test_a_page_offers_the_numbers_it_shows_and_each_label_says_of_what(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, expected = NUMBERS[page]
    alike: list[str] = []
    another = files._another

    def watched(text: str, apart: str, taken: set[str]) -> str:
        alike.extend(taken & {text})
        return another(text, apart, taken)

    monkeypatch.setattr(files, "_another", watched)
    app = asked(page, link)
    offered = {label.removesuffix(", CSV") for label in labels(app) if label.endswith(", CSV")}
    assert offered >= expected
    assert alike == []
    assert "save_figures" in app.sent


def test_what_is_to_be_guessed_is_in_no_file() -> None:
    link = {"step": "scores", "predict": "on"}
    assert "Scores, CSV" not in labels(asked("steps", link))
    assert "Q, CSV" in labels(asked("steps", link))

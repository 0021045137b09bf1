"""The files that pages offer: nothing until they are asked for, then all numbers that are shown."""

from __future__ import annotations

from typing import Any

import pytest

from attention.app.pages import PAGES
from tests.running import App, opened

NUMBERS: list[tuple[str, dict[str, Any], set[str]]] = [
    (
        "explore",
        {},
        {"Weights", "Scores", "Scaled", "Masked", "Vectors x", "New vectors y", "Values", "Table"},
    ),
    ("explore", {"variant": "talking"}, {"Weights", "Vectors x", "New vectors y"}),
    ("explore", {"model": "minilm", "join": "words"}, {"Weights"}),
    ("steps", {"step": "scores"}, {"Q", "K", "Scores", "Table"}),
    ("heads", {}, {"Weights", "Q", "K", "Table", "Table 2"}),
    ("trained", {}, {"Weights", "What is added", "The sum", "Table"}),
    ("cross", {}, {"Weights", "Vectors x", "New vectors y"}),
    ("cross", {"cross": "batch"}, {"Weights", "Weights 2", "Output", "Table"}),
    ("compare", {}, {"A", "B", "B − A", "Divergence", "Table"}),
    ("compare", {"compare": "sweep"}, {"Scores"}),
    ("operations", {}, {"A[0]", "B[0]", "C[0]", "Table"}),
    ("identities", {}, {"Table"}),
    ("guide", {"chapter": 2}, {"Weights"}),
]


def asked(page: str, link: dict[str, Any]) -> App:
    """The page with its files open, as after a click."""
    app = opened(page, **link)
    app.session_state["download"] = True
    app.run()
    return app


def labels(app: App) -> set[str]:
    return {item.proto.label for item in app.get("download_button")}


@pytest.mark.parametrize(("page", "link", "expected"), NUMBERS)
def test_a_page_offers_the_numbers_it_shows(
    page: str, link: dict[str, Any], expected: set[str]
) -> None:
    app = asked(page, link)
    offered = {label.removesuffix(", CSV") for label in labels(app) if label.endswith(", CSV")}
    assert offered >= expected
    assert "save_figures" in app.sent


def test_every_page_that_shows_numbers_is_among_these() -> None:
    assert {page.name for page in PAGES} - {page for page, *_ in NUMBERS} == {"own"}


def test_no_file_is_offered_before_it_is_asked_for() -> None:
    for page in PAGES:
        app = opened(page.name)
        assert labels(app) <= {"The example as a file"}
        assert "save_figures" not in app.sent


def test_what_is_to_be_guessed_is_in_no_file() -> None:
    link = {"step": "scores", "predict": "on"}
    assert "Scores, CSV" not in labels(asked("steps", link))
    assert "Q, CSV" in labels(asked("steps", link))

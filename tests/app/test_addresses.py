"""Whoever opens the address of a page sees what stands on the page, whatever was done there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attention.app.state.links import every_setting
from attention.app.state.openings import opening
from tests.app.test_answers import TYPED, each_answer
from tests.cases import over
from tests.running import App, opened
from tests.trained.packaged import packaged

Do = Callable[[App], App]


def shown(app: App) -> dict[str, Any]:
    """All that is on a page: settings, words, and what its components draw."""
    parts = {}
    for key, part in app.sent.items():
        header = dict(part.header)
        header.get("selection", {}).pop("turn", None)  # the choices of a visit
        parts[key] = (header, part.numbers.numpy().tobytes(), part.rest)
    return {"settings": settings(app), "said": app.said, "heading": app.heading} | parts


def settings(app: App) -> dict[str, Any]:
    """Settings that the widgets are set to."""
    return {name: value for name, value in app.values.items() if name in every_setting()}


def expect_the_same(app: App, page: str) -> None:
    """The browser writes into the address what is chosen by widgets and in the pictures."""
    address = dict(app.query_params) | settings(app)
    if "selection" in app.sent:
        address |= app.selection
    there = shown(opened(page, **address))
    for part, seen in shown(app).items():
        assert there[part] == seen, part


@each_answer
def test_after_any_answer_of_a_component_its_address_shows_the_same(
    page, link, key, event, fitting
):
    expect_the_same(opened(page, **link).tell(key, event, fitting), page)


HEADS = {"s": "he said she said", "variant": "talking", "heads": 10, "head": 7, "query": 2}
HEADS |= {"cover": 0.5, "active": "0,7", "sort": "entropy", "mask": "causal", "positions": "alibi"}
AGAINST = {"fold": "against", "query": 3}
CASES: list[tuple[str, dict[str, Any], Do]] = [
    (
        "explore",
        AGAINST | {"mask": "causal"},
        lambda app: app.choose("differs", "mask").choose("b_mask", ["causal", "window"]),
    ),
    (
        "explore",
        AGAINST,
        lambda app: app.choose("differs", "variant").choose("b_variant", "gaussian"),
    ),
    ("explore", AGAINST, lambda app: app.choose("s2", "the dog walks on the road")),
    (
        "cross",
        {"cross": "batch", "batch_lens": "2 3 4"},
        lambda app: app.choose("dropout", 0.5).tell("sequence_1", "cell", [0, 2]),
    ),
    (
        "explore",
        {"fold": "how", "input": "matrices", "column": 2, "scale": "none", "query": 1},
        lambda app: app.tell("typed_matrices", "typed", TYPED).tell(
            "sizes", "resized", {"stack": "own_x", "change": "+ row"}
        ),
    ),
    ("explore", HEADS | {"fold": "all heads"}, lambda app: app),
    ("explore", HEADS | {"fold": "numbers"}, lambda app: app.move(query=1, stage="mixed")),
]


@over("page, link, do", CASES)
def test_after_what_is_set_by_hand_its_address_shows_the_same(page, link, do):
    expect_the_same(do(opened(page, **link)), page)


def test_the_addresses_of_the_opening_and_of_a_head_of_a_model_show_the_same():
    expect_the_same(
        opened("explore", **{"s": opening().sentences[0], **opening().chosen}), "explore"
    )
    packaged("minilm")
    app = opened("model", model="minilm").tell("model_window", "head", 17)
    expect_the_same(app, "model")
    app = opened("explore", model="minilm", layer=2, head=7, cut="3")
    expect_the_same(app, "explore")


def test_a_second_step_in_the_history_holds_before_the_browser_has_received_the_first(monkeypatch):
    app = opened("cross", vectors="random", seed=1)
    for seed in (2, 3):
        app.step_to("cross", {"vectors": "random", "seed": str(seed)}, monkeypatch)
        assert app.values["seed"] == seed


def test_the_address_of_a_message_that_was_sent_before_takes_nothing_back():
    packaged("minilm")
    app = opened("model", model="minilm").tell("model_window", "lens", "looks")
    del app.query_params["lens"]
    app.run()
    assert app.query_params["lens"] == "looks"
    assert app.sent["model_window"].header["lens"] == "looks"

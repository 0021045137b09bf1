"""The page "Compare": two settings, one setting over its range, two sentences."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis import sweeps
from attention.core.variants import VARIANTS
from attention.pipeline import Result
from tests.cases import over
from tests.running import App, opened
from tests.subjects.explore.how.making import result_of

RANDOM = {"vectors": "random", "d_model": 10}
WORDS = "a b c d e"


def sides(app: App) -> list[Tensor]:
    """The weights of A and B as they are sent, nan where hatched."""
    shown = app.sent["comparison"]
    size = shown.header["size"]
    return [*shown.numbers[: 2 * size * size].reshape(2, size, size)]


def hatched(result: Result) -> Tensor:
    """The weights of a result, nan where masked."""
    mask = torch.tensor(True) if result.trace.mask is None else result.trace.mask
    return result.trace.weights.masked_fill(~mask, torch.nan)


# Two settings


def test_the_page_opens_on_a_difference_worth_seeing() -> None:
    app = opened("compare")
    assert "scale: 1/√d_k → none" in app.said
    assert app.sent["comparison"].header["titles"] == ["A", "B", "B − A"]
    a, b = sides(app)
    assert float((a - b).abs().max()) > 0.1


def test_a_link_holds_both_sides() -> None:
    ours: dict[str, Any] = {"mask": ("causal", "length"), "d_model": 10}
    theirs: dict[str, Any] = {"variant": "qkv", "scale": "factor", "factor": 0.35, "seed": 3}
    theirs |= {"positions": "rotary", "mask": ("length", "window"), "valid_len": 2, "d_model": 10}
    b = {f"b_{name}": value for name, value in (RANDOM | theirs | {"d_k": 7}).items()}
    app = opened("compare", s=WORDS, **RANDOM | ours, **b)
    results = result_of(WORDS, **ours), result_of(WORDS, **theirs, config=(("d_k", 7),))
    assert_close(sides(app), [hatched(result) for result in results], equal_nan=True)
    for words in ("variant: dot → qkv", "factor: — → 0.35", "d_k: — → 7", "valid length: 3 → 2"):
        assert words in app.said
    assert "masks: causal, length → length, window" in app.said


@over("unseen", [{}, {"b_sigma": 7, "b_radius": 4}])
def test_swapping_exchanges_all_settings_in_the_address_too_and_twice_is_as_before(
    unseen: dict[str, int],
) -> None:
    """unseen: what the link says of settings that B does not use yet."""
    link = {"variant": "gaussian", "sigma": "2.5", "mask": "window", "radius": "2"}
    app = opened("compare", **link, b_variant="additive", **unseen)
    before = sides(app)
    assert_close(sides(app.press("Swap A and B")), before[::-1], equal_nan=True)
    other_side = {f"b_{name}": value for name, value in link.items()}
    expected = {"variant": "additive", "scale": "none", "b_scale": "1/√d_k"} | other_side
    assert app.query_params == expected
    assert_close(sides(app.press("Swap A and B")), before, equal_nan=True)
    assert app.query_params == link | {"b_variant": "additive"}


def test_a_variant_of_b_brings_its_usual_scale_and_mask_unless_others_were_chosen() -> None:
    app = opened("compare", compare="settings")
    theirs = "b_scale", "b_mask"
    for variant, scale, mask in (
        *(("linear", "none", ["causal"]), ("retention", "1/√d_k", ["causal"])),
        *(("cosine", "factor", []), ("qkv", "1/√d_k", [])),
    ):
        app.choose("b_variant", variant)
        assert [app.values[name] for name in theirs] == [scale, mask], variant
    assert (app.values["scale"], app.values["mask"]) == ("1/√d_k", [])
    app.choose("b_scale", "factor").choose("b_variant", "additive")
    assert app.values["b_scale"] == "factor", "it was chosen on purpose"


def test_only_settings_of_b_that_mean_something_are_drawn() -> None:
    app = opened("compare", b_mask=["window", "cells"], b_variant="gaussian")
    drawn = app.controls.keys() | app.sent.keys()
    assert {"b_radius", "b_sigma", "b_cells", "b_mask_grid"} <= drawn
    assert not drawn & {"b_valid_len", "b_seed", "b_head", "b_factor", "b_d_model", "sigma", "b_s"}


def test_cells_painted_on_the_side_of_b_are_hidden_there_alone() -> None:
    app = opened("compare", s="cat sat here", b_mask="cells", b_scale="1/√d_k", query=2)
    for cells in ([[0, 1]], [[2, 0], [2, 1], [2, 2]]):
        app.tell("b_mask_grid", "paint", {"cells": cells, "allowed": False})
    assert app.query_params["b_cells"] == "0:1 2:*"
    a, b = sides(app)
    assert not a.isnan().any()
    assert b.isnan().nonzero().tolist() == [[0, 1], [2, 0], [2, 1], [2, 2]]
    assert any("may look at nothing in B" in words for words in app.told)


def test_a_click_chooses_the_row_that_the_table_tells_of() -> None:
    app = opened("compare", s=WORDS).move(query=3)
    assert app.selection["query"] == 3
    assert any("“d”" in words for words in app.told)
    (row,) = app.tables
    assert {*row[""]} == {*WORDS.split(), "sum"}
    assert row["weight A"][-1] == row["weight B"][-1] == "1.00"


def test_what_is_not_here_is_answered_with_a_word_and_the_nearest_shown() -> None:
    link = {"b_mask": "cells", "b_cells": "<img src=x>", "query": 77, "s": "cat " * 513}
    app = opened("compare", **link, b_heads=7, b_variant="multihead", b_head=9)
    assert "b_heads must divide b_d_model = 50, got 7; showing 5 instead." in app.notes
    assert "B: There is no head 9 of 5; showing the last, 4." in app.notes
    assert "A: the last token did not fit and is left out." in app.notes
    assert any(note.startswith("B: No single cells are hidden: ") for note in app.notes)
    assert app.selection["query"] == 77
    gone = "That word is gone; the last one is selected."
    assert opened("compare", query=77).notes == [gone]


# Two sentences


def test_a_pair_shows_the_words_that_differ_and_compares_the_rest() -> None:
    link = {"s": "the cat walks on the street", "s2": "the cat sleeps on the street"}
    app = opened("compare", compare="pair", **link, **RANDOM)
    header = app.sent["comparison"].header
    assert header["names"] == ["the (0)", "cat", "walks / sleeps", "on", "the (4)", "street"]
    assert header["changed"] == [False, False, True, False, False, False]
    results = [result_of(sentence, d_model=10) for sentence in link.values()]
    assert_close(sides(app), [result.trace.weights for result in results])
    app = opened("compare", compare="pair", s="a big cat", s2="a cat")  # a word of one alone
    assert app.sent["comparison"].header["both"] == [True, False, True]
    a, b = sides(app)
    assert not a.isnan().any()
    assert b.isnan().tolist() == [[False, True, False], [True] * 3, [False, True, False]]


# Sweeps


@over("variant", VARIANTS)
def test_a_slider_is_there_for_each_variant_with_a_softmax_and_words_for_the_others(
    variant: str,
) -> None:
    short = {"s": "a b c", "vectors": "random", "d_model": 8}
    trace = result_of("a b c", variant=variant, d_model=8).trace
    app = opened("compare", compare="sweep", **short, variant=variant)
    assert ("sweep" in app.controls) == bool(sweeps.sweeps_of(trace))
    assert ("no softmax" in app.said) == ("sweep" not in app.controls)


def test_where_scores_are_mixed_no_scale_can_be_swept() -> None:
    app = opened("compare", compare="sweep", variant="talking")
    assert app.controls["sweep"].options == list(sweeps.SWEEPS[1:])
    assert app.sent["sweep_view"].header["kind"] == "temperature"
    assert any("no scale can be swept here" in note for note in app.notes)


def test_a_sweep_stays_where_it_is_left_and_says_where_there_is_no_such_value() -> None:
    app = opened("compare", compare="sweep", sweep="window", sweep_at=400)
    assert app.sent["sweep_view"].header["at"] == 5.0
    assert "There is no window 400 here; showing 5." in app.said
    app.tell("sweep_view", "at", 2).move(query=1)
    assert (app.values["sweep_at"], app.selection["query"]) == (2, 1)
    assert "There is no window" not in app.said

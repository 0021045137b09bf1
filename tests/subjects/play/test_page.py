"""Play: its sentence, its settings, and what all of its folds have from them."""

from __future__ import annotations

from torch.testing import assert_close

from attention.app.cached import runs
from attention.app.state.openings import AGAINST, ALL_WORDS, HEADS, HOW, ONE_WORD
from attention.core.printing import fixed
from attention.core.variants import VARIANTS
from tests.cases import over
from tests.running import opened


@over(
    "link, present, absent",
    [
        ({}, "", "seed d_model factor valid_len radius cells parameters head"),
        ({"variant": "qkv"}, "seed parameters d_k d_v", "sigma d_hidden head"),
        ({"variant": "grouped"}, "seed parameters heads groups head", "d_k"),
        ({"variant": "gaussian"}, "sigma", "seed parameters"),
        ({"vectors": "random"}, "seed d_model", "parameters"),
        ({"scale": "factor"}, "factor", "radius"),
        ({"mask": "length"}, "valid_len", "radius cells"),
        ({"mask": ["window", "cells"]}, "radius cells mask_grid", "valid_len"),
    ],
)
def test_only_settings_that_mean_something_are_shown(link, present, absent):
    app = opened("explore", **link).unfold()
    drawn = app.controls.keys() | app.sent.keys()
    assert set(present.split()) <= drawn
    assert not drawn & set(absent.split())


@over("variant", VARIANTS)
def test_each_variant_says_in_the_menu_and_below_what_it_does_and_if_it_is_random(variant):
    does = VARIANTS[variant].does
    assert 3 <= len(does.split()) <= 6
    app = opened("explore", s="the cat sat", variant=variant)
    (said,) = (words for words in app.told + app.notes if " on word vectors" in words)
    assert said.startswith(f"{VARIANTS[variant].title} on word vectors: {does}.")
    random = runs.result_of(app.view.settings()).layer.origin == "seeded"
    assert said.endswith(" random here and have learned nothing.") == random
    (listed,) = (each for each in app.controls["reader"].options if each.startswith(f"{variant} "))
    assert listed == f"{variant} · {does}{' · random' if random else ''}"


@over("fold", [HOW, HEADS, AGAINST])
def test_the_switch_of_one_word_and_all_stands_right_below_the_folds(fold):
    for words in (ONE_WORD, ALL_WORDS):
        app = opened("explore", variant="multihead", fold=fold, words=words)
        seen = [item for item in app.main if getattr(item, "key", None) not in (None, "selection")]
        names = [*dict.fromkeys(str(item.key).partition(":")[0] for item in seen)]
        assert names[names.index("fold") + 1] == "words"


def test_cells_of_a_mask_are_clicked_where_the_mask_is_chosen():
    app = opened("explore", s="a b", vectors="random").choose("mask", ["causal", "cells"])
    app.tell("mask_grid", "paint", {"cells": [[1, 0]], "allowed": False})
    assert app.query_params["cells"]
    assert "mask_grid" not in opened("explore", mask="cells", hide="cells").sent


def test_weights_that_are_mixed_across_heads_are_shown_as_the_vector_is_summed_of_them():
    app = opened("explore", s="the cat walks on the street", variant="talking", query=1)
    picture = app.sent["picture"]
    trace = runs.result_of(app.view.settings()).trace
    weights = picture.parts["weights"]
    assert_close(weights @ trace.values, trace.output)
    total = fixed(float(weights[1].sum()), 2)
    assert picture.header["said"][1]["line"] == [
        *("“cat” takes ", "on"),
        f" away, −0.09. Its weights are no shares: they sum to {total}.",
    ]
    assert (picture.header["shares"], picture.header["signed"]) == (False, True)


LAST = ("head 9 of 5; showing the last, 4", "token 77 of 6; showing the last, 5")


def test_what_is_not_here_is_told_until_something_is_changed_and_the_nearest_shown():
    link = {"variant": "multihead", "head": 9, "query": 77, "mask": "cells", "cells": "<img>"}
    app = opened("explore", **link, stage="mixed")
    assert app.selection == {"query": 77, "stage": "mixed"}, "the browser shows the nearest"
    assert "mixed" not in app.sent["picture"].header["stages"]
    told = [f"There is no {one}." for one in LAST]
    for words in (*told, "No single cells are hidden: "):
        assert any(note.startswith(words) for note in app.notes)
    app = opened("explore", s="cat " * 1300, seed=-1)
    assert app.notes == [
        "s must have at most 5000 characters, got 5200; showing its first 5000 instead.",
        "seed must lie between 0 and 9999, got -1; showing 0 instead.",
        "The last 738 did not fit and are left out.",
    ]
    assert app.choose("scale", "none").notes == ["The last 738 did not fit and are left out."]


def test_the_map_is_drawn_only_when_asked_for_and_measures_against_ones_own_words():
    link = {"s": "apple sells computers and software", "probes": "Software, fruit zzxqy fruit"}
    link |= {"fold": "numbers", "query": "0"}
    hidden = opened("explore", **link)
    assert not {"word_map", "probes"} & (hidden.sent.keys() | hidden.controls.keys())
    app = opened("explore", **link, map="shown")
    assert "apple" in app.sent["word_map"].header["label"]
    assert app.table_with("before")[""][:2] == ["software", "fruit"]
    assert "No vector for “zzxqy”: they are not on the map." in app.notes


def test_a_variant_from_the_menu_brings_its_usual_scale_unless_another_was_chosen():
    app = opened("explore")
    for variant, scale in (("cosine", "factor"), ("additive", "none"), ("qkv", "1/√d_k")):
        assert app.choose("reader", variant).values["scale"] == scale
        assert app.values.get("factor", 5.0) == 5.0
    app.choose("scale", "none").choose("reader", "multihead")
    assert app.values["scale"] == "none", "it was chosen on purpose"


def test_a_change_behind_the_row_is_in_force_at_once_and_brings_what_depends_on_it():
    app = opened("explore", variant="grouped", heads="10", groups="5").unfold()
    for name, value in (
        *(("mask", ["causal"]), ("mask", ["causal", "window"]), ("radius", 3)),
        *(("positions", "rotary"), ("groups", 2)),
        ("heads", 25),  # other numbers of groups divide it
        *(("scale", "factor"), ("factor", 2.5)),
    ):
        assert app.choose(name, value).values[name] == value
    assert app.choose("reader", "dot").values["reader"] == "dot"
    assert app.sent["picture"].header["masks"] == ["the causal mask", "the window"]

"""The page "Heads": every head at a glance, what each looks at and what it adds."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import torch
from torch.testing import assert_close

from attention.analysis import additions
from attention.analysis import heads as analysed
from attention.app.cached.runs import layer_result
from attention.app.state.pages import page_named
from attention.core.printing import percent
from attention.figures import captions
from attention.hosting import metrics
from attention.subjects.explore.heads import words as heads_words
from tests.cases import over
from tests.running import opened, viewed
from tests.subjects.explore.how.making import result_of
from tests.trained.packaged import packaged


def test_the_page_looks_at_many_heads_whatever_variant_is_chosen_elsewhere() -> None:
    app = opened("heads", variant="qkv")
    assert app.sent["head_grid"].header["heads"] == 5
    assert app.values["heads_variant"] == "multihead"
    assert {"heads", "head", "seed", "parameters"} <= app.controls.keys()
    assert not app.controls.keys() & {"variant", "sigma", "d_k"}
    assert app.query_params == {"variant": "qkv"}


@over(
    "case",
    [
        ({}, 5, [1, 2, 5, 10, 25, 50]),
        ({"heads": 12, "vectors": "random", "d_model": 48}, 12, [1, 2, 3, 4, 6, 8, 12, 16, 24, 48]),
        ({"heads": 5, "vectors": "random", "d_model": 7}, 1, [1, 7]),
    ],
)
def test_only_heads_that_divide_the_dimensions_are_offered_and_shown(
    case: tuple[dict[str, Any], int, list[int]],
) -> None:
    link, count, offered = case
    app = opened("heads", **link)
    assert list(map(int, app.controls["heads"].options)) == offered
    assert [app.sent[key].header["heads"] for key in ("head_grid", "head_view")] == [count] * 2


def test_heads_that_no_longer_divide_are_fewer_in_the_very_run_of_the_change() -> None:
    def runs() -> float:
        labels = {"page": "heads"}
        return metrics.REGISTRY.get_sample_value("attention_rerun_seconds_count", labels) or 0.0

    app = opened("heads", heads_variant="grouped", vectors="random", d_model=16, heads=8, groups=4)
    before = runs()
    app.choose("d_model", 14)
    assert (app.values["heads"], app.values["groups"]) == (7, 1)
    assert runs() == before + 1, "a browser may miss what is set in a run that another follows"


@over("variant", heads_words.variants_with_heads())
def test_the_figures_are_sent_the_numbers_of_all_heads(variant: str) -> None:
    settings: dict[str, Any] = {"mask": ("causal", "length"), "d_model": 12, "head": 2}
    own = {"heads": 3, "groups": 3} if variant == "grouped" else {"heads": 3}
    link = settings | own | {"vectors": "random", "heads_variant": variant}
    app = opened("heads", s="a b c d e", query=4, cover=0.5, **link)
    result = result_of("a b c d e", variant=variant, config=tuple(own.items()), **settings)
    trace, figures = result.layer_trace, app.sent

    sizes = trace.weights.abs()
    seen = analysed.overview_of(sizes / sizes.sum(-1, keepdim=True).clamp_min(1e-9), None)
    grid = figures["head_grid"]
    assert (grid.header["block"], grid.header["chosen"]) == (seen.block, 2)
    received = torch.frombuffer(bytearray(grid.rest), dtype=torch.uint8)
    assert_close(received.int(), seen.dots.flatten().int(), atol=1, rtol=0)
    edges = heads_words.edges(sizes, 4, [0, 1, 2], 0.5)
    assert_close(figures["head_view"].numbers, edges.weights.flatten())
    assert figures["head_view"].header["query"] == app.selection["query"] == 4
    picture = figures["picture"]
    steps = {"scores", "weights"} | ({"masked", "mixed"} if variant == "talking" else set())
    assert steps <= {*picture.parts} <= {*result.trace.stages}
    assert_close(picture.parts, {name: result.trace.stages[name] for name in picture.parts})
    assert_close(picture.hidden, captions.mask_bits(result.masks, (5, 5)))
    added = additions.additions(result.layer, trace, 4)
    assert_close(figures["added"].matrices, [added.parts, added.output[None]])
    shown = heads_words.neurons(result.layer, result.trace, 4, list("abcde"))
    assert_close(figures["neurons"].matrices, [shown.q, shown.k, shown.terms])


def test_clicks_choose_a_head_the_heads_drawn_a_token_and_a_stage() -> None:
    app = opened("heads").tell("head_grid", "head", 3)
    app.tell("head_view", "active", [4, 0]).move(query=2, stage="scaled")
    assert app.query_params == {"head": "3", "active": "0,4"}
    assert app.selection == {"query": 2, "stage": "scaled"}
    assert app.sent["head_grid"].header["chosen"] == 3
    assert app.sent["head_view"].header["active"] == [0, 4]
    assert app.sent["head_view"].header["query"] == 2


def test_twelve_heads_of_512_tokens_take_less_than_4_megabytes() -> None:
    words = " ".join(f"w{number}" for number in range(512))
    link = {"vectors": "random", "d_model": 48, "heads": 12, "positions": "alibi"}
    app = opened("heads", s=words, query=500, **link)
    lines = app.sent["head_view"]
    assert (len(lines.header["tokens"]), lines.header["whole"]) == (512, False)
    assert len(lines.numbers) == 12 * 512, "of the chosen query alone"
    size = sum(len(item.proto.SerializeToString()) for item in app.get("bidi_component"))
    assert size < 4_000_000


def test_what_is_not_here_is_answered_with_a_word_and_the_nearest_shown() -> None:
    assert opened("heads", head=7, query=77, active="<b>x").notes == [
        "There is no head 7 of 5; showing the last, 4.",
        "That word is gone; the last one is selected.",
        "Heads are written as numbers with commas between, as in 0,2,3, got '<b>x'; "
        "drawing all of them.",
    ]
    assert "There is no head 8 of 5." in opened("heads", active="1,8").notes


# A question on the pictures


def test_heads_asks_on_its_pictures_and_tells_nothing_of_them_until_one_is_guessed() -> None:
    packaged("minilm")
    opens = page_named("heads").opens
    assert opens is not None
    link = dict(parse_qsl(opens()))
    app, result = opened("heads", **link), layer_result(viewed("heads", **link))
    assert result is not None
    assert app.words_of("heading") == ["Which head looks one word back?"]
    grid = app.sent["head_grid"].header
    assert (grid["asks"], grid["marked"], grid["said"]) == (True, -1, [])
    assert app.tables == []
    app.tell("head_grid", "guess", 5)
    shares = analysed.measures(result.layer_trace.weights)["previous"]
    best = int(shares.argmax())
    grid = app.sent["head_grid"].header
    assert (grid["asks"], grid["marked"], grid["chosen"]) == (False, best, 5)
    assert grid["said"][best].endswith("on the token before it")
    (reply,) = (words for words in app.told if words.startswith("No: head 5 has "))
    assert f"head {best} has {percent(float(shares.max()), 1)}" in reply
    app.tell("head_grid", "head", best)
    assert reply in app.told, "the first guess counts"
    assert app.sent["head_grid"].header["chosen"] == best


def test_numbers_come_at_a_click_and_go_at_another_and_links_without_the_name_have_them() -> None:
    app = opened("heads", numbers="hidden")
    assert (app.tables, app.words_of("heading")) == ([], [])
    assert len(app.press("Show the numbers").tables) == 3
    assert "numbers" not in app.query_params
    assert app.press("Hide the numbers").tables == []
    assert app.query_params["numbers"] == "hidden"

"""The fold "All heads": a row for each head of the layer, or its small map."""

from __future__ import annotations

from typing import Any

import torch
from torch.testing import assert_close

from attention.analysis import heads as analysed
from attention.app.cached import overviews
from attention.app.state.openings import ALL_WORDS, OPENINGS
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS
from attention.hosting import metrics
from tests.cases import over
from tests.running import App, opened
from tests.subjects.play.how.making import result_of
from tests.trained.packaged import packaged, run_model

WITH_HEADS = [name for name in VARIANTS if "heads" in settings_of(VARIANTS[name].Config)]
RANDOM: dict[str, Any] = {"s": "a b c d e", "vectors": "random", "d_model": 12}
MINILM = OPENINGS["minilm"]
OF_MINILM = {"s": MINILM.sentences[0], **MINILM.chosen, "query": MINILM.query}


def heads(**link: Any) -> App:
    return opened("explore", fold="all heads", **link)


def rows(app: App) -> torch.Tensor:
    """The rows of the heads as they stand, of all words. (heads, queries, keys)."""
    header = app.sent["rows"].header
    count = len(header["tokens"])
    return app.sent["rows"].numbers.reshape(len(header["rows"]), -1, count)


@over("variant", WITH_HEADS)
def test_a_row_of_each_head_is_its_weights_and_adds_up_to_1(variant):
    own = {"heads": 3, "groups": 3} if variant == "grouped" else {"heads": 3}
    settings: dict[str, Any] = {"mask": ("causal", "length"), "head": 2}
    app = heads(**RANDOM, **settings, **own, variant=variant, query=4)
    whole = result_of(
        "a b c d e", variant=variant, d_model=12, config=tuple(own.items()), **settings
    )
    assert_close(rows(app), whole.layer_trace.weights)
    header = app.sent["rows"].header
    assert [row["name"] for row in header["rows"]] == ["head 0", "head 1", "head 2"]
    assert (header["chosen"], {row["kind"] for row in header["rows"]}) == (
        2,
        {"share" if whole.shares else "signed"},
    )
    if whole.shares:
        assert_close(rows(app).sum(-1)[:, 2:], torch.ones(3, 3))
    seen = overviews.overview_of(whole.settings)
    grid = heads(**RANDOM, **settings, **own, variant=variant, words=ALL_WORDS).sent["head_grid"]
    assert grid.header["chosen"] == 2
    received = torch.frombuffer(bytearray(grid.rest), dtype=torch.uint8)
    assert_close(received.int(), seen.dots.flatten().int(), atol=1, rtol=0)


def test_heads_of_a_model_are_named_by_their_layer_and_keys_lead_through_both():
    packaged("minilm")
    app = heads(**OF_MINILM)
    assert_close(rows(app)[:, 8], _weights(3)[:, 8], atol=1e-5, rtol=1e-4)
    assert [row["name"] for row in app.sent["rows"].header["rows"]][:2] == ["3.0", "3.1"]
    app.tell("rows", "row", 5)
    assert (app.values["head"], app.sent["picture"].header["head"]) == (5, 5)
    app.tell("rows", "turn", 1)
    assert app.sent["rows"].header["rows"][0]["name"] == "4.0"
    assert app.tell("rows", "turn", 1).tell("rows", "turn", 1).query_params["layer"] == "5"


def _weights(layer: int) -> torch.Tensor:
    run = run_model("minilm", MINILM.sentences[0])
    weights = run.inputs[layer].trace().weights[:, 1:-1, 1:-1]
    shares: torch.Tensor = weights / weights.sum(-1, keepdim=True)
    return shares


def test_a_measure_sorts_the_rows_and_stands_beside_them():
    app = heads(**RANDOM, variant="multihead", heads=4, sort="entropy", head=1)
    result = result_of("a b c d e", variant="multihead", d_model=12, config=(("heads", 4),))
    bits = analysed.measures(result.layer_trace.weights)["entropy"]
    order = bits.argsort(descending=True).tolist()
    header = app.sent["rows"].header
    assert [row["name"] for row in header["rows"]] == [f"head {head}" for head in order]
    assert [row["beside"] for row in header["rows"]] == [f"{float(bits[at]):.2f}" for at in order]
    assert header["chosen"] == order.index(1)
    assert any(words.startswith("Sorted by entropy: ") for words in app.told)
    app.tell("rows", "row", 0)
    assert app.values["head"] == order[0], "the row that is clicked, not the head of its number"
    app.tell("rows", "marked", [0, 3])
    assert app.query_params["active"] == ",".join(map(str, sorted({order[0], order[3]})))
    assert {*app.sent["rows"].header["marked"]} == {0, 3}


def test_a_share_of_each_row_can_be_drawn_and_nothing_is_renormalised():
    link: dict[str, Any] = RANDOM | {"variant": "multihead", "heads": 3}
    whole, part = rows(heads(**link)), rows(heads(**link, cover=0.5))
    assert_close(part, whole * analysed.strongest_edges(whole, 0.5))
    assert (part == 0).any()


def test_where_the_layer_has_one_head_the_map_says_so_and_the_fold_comes_back_with_more():
    assert "all heads" not in opened("explore", variant="qkv").controls["fold"].options
    app = heads(variant="multihead", s="a b c").choose("reader", "qkv")
    assert ("map_picture" in app.sent, "rows" in app.sent) == (True, False)
    assert "This layer has one head: the map shows it." in app.notes
    app.choose("reader", "multihead")
    assert (len(app.sent["rows"].header["rows"]), app.notes) == (5, [])


def test_heads_that_no_longer_divide_are_fewer_in_the_very_run_of_the_change():
    def runs() -> float:
        labels = {"page": "explore"}
        return metrics.REGISTRY.get_sample_value("attention_rerun_seconds_count", labels) or 0.0

    app = heads(variant="grouped", vectors="random", d_model=16, heads=8, groups=4).unfold()
    before = runs()
    app.choose("d_model", 14)
    assert (app.values["heads"], app.values["groups"]) == (7, 1)
    assert len(app.sent["rows"].header["rows"]) == 7
    assert runs() == before + 1, "a browser may miss what is set in a run that another follows"


def test_twelve_heads_of_512_tokens_take_less_than_4_megabytes():
    words = " ".join(f"w{number}" for number in range(512))
    link = {"vectors": "random", "d_model": 48, "heads": 12, "positions": "alibi"}
    app = heads(s=words, query=500, variant="multihead", **link)
    assert rows(app).shape == (12, 1, 512), "of the chosen query alone"
    size = sum(len(item.proto.SerializeToString()) for item in app.get("bidi_component"))
    assert size < 4_000_000

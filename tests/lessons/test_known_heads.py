"""Heads that do one thing: on their sentences, and on random pieces said twice."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from attention.analysis import glances
from attention.analysis.heads import MEASURES
from attention.analysis.probes import best_heads, probe, repeated
from attention.lessons import trained
from attention.lessons.known_heads import KNOWN_HEADS, KnownHead, known_heads
from attention.trained.models import Pieces, Transformer
from attention.trained.sampling import next_scores
from tests.trained.built import writer
from tests.trained.packaged import packaged, run_model

NEXT = {"A name is found again": "·Mary", "A verb agrees with a far noun": "·are"}


@pytest.mark.parametrize("known", KNOWN_HEADS, ids=lambda known: known.title)
def test_a_known_head_looks_most_at_the_token_it_is_known_for(known: KnownHead) -> None:
    model = packaged(known.model)
    run = run_model(known.model, known.s)
    assert known.query == len(run.pieces.ids) - 1, "the last token, after which the next one comes"
    layer_input = run.inputs[known.layer]
    weights = layer_input.trace().weights[known.head, known.query]
    assert int(weights.argmax()) == known.key
    assert weights[known.key] > 0.6
    assert isinstance(model, Transformer)
    likeliest = model.shown([int(next_scores(model, run).argmax())])[0]
    assert likeliest == NEXT.get(known.title, run.pieces.texts[known.key])
    assert known in known_heads(known.model)


def test_on_random_pieces_said_twice_heads_of_a_language_model_look_up_what_followed() -> None:
    model = packaged("smollm2")
    assert isinstance(model, Transformer)
    probed = probe(model)
    best = best_heads(probed)
    heads = {name: probed.glance.layer_and_head(head) for name, (head, _) in best.items()}
    assert (heads["induction"], heads["previous"]) == ((18, 6), (16, 0))
    assert min(best["induction"][1], best["previous"][1]) > 0.85
    assert probed.losses[0] > 13
    assert probed.losses[1] < 4
    assert all(MEASURES[name].share for name in best)


def test_the_language_model_says_by_a_piece_that_a_text_is_over() -> None:
    model = packaged("smollm2")
    assert isinstance(model, Transformer)
    assert model.shown(list(model.parts.ends)) == ("<|im_end|>",)


def test_a_probe_is_the_models_own_run_over_pieces_said_twice(tmp_path: Path) -> None:
    model = writer(tmp_path)
    probed = probe(model, 7)
    ids = repeated(model, 7)
    assert torch.equal(ids[:7], ids[7:])
    assert torch.equal(ids, repeated(model, 7))
    run = model.run_pieces(Pieces(ids, model.shown(ids.tolist()), (0,) * 14))
    losses = torch.nn.functional.cross_entropy(
        model.scores(run.hidden[:-1]), ids[1:], reduction="none"
    )
    assert probed.losses == pytest.approx((float(losses[:6].mean()), float(losses[7:].mean())))
    (glance,) = glances.glances(run)
    assert_close(probed.glance.seen.measures, glance.seen.measures)
    assert probe(model, 99).pieces == model.limit // 2
    with pytest.raises(ValueError, match="was not trained to say which piece comes next"):
        repeated(packaged("minilm"), 3)  # type: ignore[arg-type]


def test_the_rows_of_a_token_are_those_of_the_whole_trace_of_each_layer(tmp_path: Path) -> None:
    model = writer(tmp_path)
    run = model.run("the cat sat")
    rows = glances.rows_of(run, 2)
    for row, layer_input in zip(rows, run.inputs, strict=True):
        assert_close(row, layer_input.trace().weights[:, 2])
    mean, _, most = trained.layer_rows(rows, run.pieces.texts, model.title_of)
    assert not isinstance(mean, str)
    assert not isinstance(most, str)
    assert_close(mean.numbers, rows.mean(1))
    assert_close(most.numbers, rows.amax(1))


def test_without_special_pieces_the_first_is_set_aside_and_the_others_share_its_weight(
    tmp_path: Path,
) -> None:
    model = writer(tmp_path)
    run = model.run("the cat sat")
    count = len(run.pieces.ids)
    assert run.pieces.kept(False) == [*range(count)]
    assert run.pieces.kept(True) == [*range(1, count)]
    (whole,), (rest,) = (glances.glances(run, aside) for aside in (False, True))
    assert rest.shape == (count - 1, count - 1)
    assert len(whole.seen.dots) == len(rest.seen.dots)
    layer_input = run.inputs[1]
    weights = layer_input.trace().weights[:, 1:, 1:]
    renormalised = weights / weights.sum(-1, keepdim=True)
    assert_close(glances.rows_of(run, 1, aside=True)[1], renormalised[:, 1])
    alone = Pieces(torch.tensor([3]), ("a",), (0,))
    assert alone.kept(True) == [0]
    marked = Pieces(torch.tensor([3, 5, 3]), ("[", "a", "]"), (None, 0, None))
    assert marked.kept(True) == [1]

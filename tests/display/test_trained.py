"""Trained layers: what they add, what hangs on each, and what a model says next."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close

from attention.analysis import additions, continuing, effects, glances, interventions
from attention.analysis import heads as analysed
from attention.analysis import words as joining
from attention.analysis.continuing import SamplingSettings
from attention.core import analysis
from attention.core.functional import LongTrace, WeightsAlone
from attention.core.printing import percent
from attention.display import heads, trained
from attention.pipeline import Result, Settings, compute, computing
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.layers import Layer
from attention.trained.models import LayerInput, Model, Run, Start, Transformer
from attention.trained.sampling import next_scores
from tests.lessons.making import drawn, no_vectors, shown
from tests.properties import given
from tests.properties import strategies as st
from tests.trained.built import offer, writer
from tests.trained.packaged import each_packaged, packaged, run_model

SENTENCE = "she unhappily sat by the river bank"
CLOSE = {"atol": 1e-5, "rtol": 0}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Transformer:
    """A model that was trained, if not well, to go on writing."""
    return writer(tmp_path_factory.mktemp("writer"))


def computed(name: str, **settings: Any) -> Result:
    """Result of a layer of a model over the sentence."""
    packaged(name)
    return compute(Settings(SENTENCE, model=name, **settings), no_vectors, run_model=run_model)


def run_of(name: str) -> tuple[Model, Run]:
    return packaged(name), run_model(name, SENTENCE)


def moved_by(model: Model, run: Run, result: Result) -> Tensor:
    """Distance by which the layer of a result moves what comes out of the model."""
    return effects.moved(run, trained.changed_states(model, run, result))


def run_with(model: Model, run: Run, position: int, change: Callable[[Layer], Layer]) -> Tensor:
    """Output of the model over the same pieces where one layer is another one."""
    other: Any = copy.copy(model)
    other.layers = [
        change(layer) if at == position else layer for at, layer in enumerate(model.layers)
    ]
    with torch.no_grad():
        hidden: Tensor = other.hidden(run.batch)
    return hidden


def middle_of(layer_input: LayerInput) -> Tensor:
    """Vectors between attention and feed-forward in a run of that layer."""
    with torch.no_grad():
        return layer_input.layer.run(layer_input.entered, layer_input.memory).middle


# What a layer adds


@each_packaged
def test_what_came_in_the_heads_and_the_bias_add_up_in_every_layer(name: str) -> None:
    (_, run), query = run_of(name), 5
    for layer_input in run.inputs:
        layer, made = layer_input.layer, additions.layer_additions(layer_input, query)
        count = layer.attention.heads
        _, bias = layer.attention.projection("output")
        biases = [] if bias is None else ["bias"]
        assert made.names == ["residual", *(f"head {head}" for head in range(count)), *biases]
        assert torch.equal(made.parts[0], layer_input.x[query])
        trace = layer.trace(layer_input.x, layer_input.memory)
        assert_close(made.parts[1 : count + 1], layer.attention.head_outputs(trace)[:, query])
        for part in made.parts[count + 1 :]:
            assert_close(part, bias)
        size = float(made.output.abs().max().clamp_min(1))
        assert_close(made.parts.double().sum(0), made.output.double(), atol=1e-5 * size, rtol=0)
        assert_close(made.output, middle_of(layer_input)[query], atol=1e-5 * size, rtol=1e-5)
        assert made.rounding < 1e-4 * size, "a length over all dimensions"
        _, columns, total = heads.additions_table(made)
        assert list(columns) == ["length", "along Σ", "share of Σ"]
        assert (total[0], total[-1]) == ("Σ", "100.0 %")
        length = float(made.output.norm())
        assert sum(columns["along Σ"]) == pytest.approx(length, rel=1e-4)
        assert shown(total[1]) == pytest.approx(length, abs=1e-4, rel=1e-6)


def test_in_a_layer_that_norms_first_the_residual_is_what_came_in_unnormed(
    written: Transformer,
) -> None:
    run = written.run("the cat sat")
    for layer_input in run.inputs:
        made = additions.layer_additions(layer_input, 1)
        assert torch.equal(made.parts[0], layer_input.x[1])
        middle = middle_of(layer_input)
        assert_close(made.output, middle[1])
        assert_close(made.parts.sum(0), middle[1])
        first = additions.layer_additions(layer_input, 0)
        assert_close(first.parts[1:4].sum(0) + first.parts[4] + layer_input.x[0], middle[0])


# What comes out


@each_packaged
def test_a_changed_layer_moves_what_comes_out_as_a_model_with_that_layer_does(name: str) -> None:
    model, run = run_of(name)

    def without(layer: Layer) -> Layer:
        return replace(layer, attention=layer.attention.without([1, 4]))

    for position in {0, 2, len(model.layers) - 1}:
        moved = moved_by(model, run, computed(name, layer=position, cut="1,4"))
        assert float(moved.min()) < 0.9999
        hidden = run_with(model, run, position, without)
        assert_close(moved, cosine_similarity(hidden, run.hidden, dim=-1), **CLOSE)

    causal = run_with(model, run, 2, lambda layer: replace(layer, causal=True))
    moved = moved_by(model, run, computed(name, layer=2, mask=("causal",)))
    assert_close(moved, cosine_similarity(causal, run.hidden, dim=-1), **CLOSE)


def test_special_tokens_that_are_set_aside_keep_what_the_layer_adds_to_them() -> None:
    model, run = run_of("minilm")
    result = computed("minilm", layer=4, special="ignored")
    layer, x = run.inputs[4].layer, run.inputs[4].x
    attended = layer.attention.output(layer.trace(x))
    attended[1:-1] = result.layer.output(result.layer_trace)
    normed = layer.attention_norms.after(x + attended)
    after = layer.feed_norms.after(normed + layer.feed_forward(normed))
    with torch.no_grad():
        hidden = model.hidden(run.batch, start=Start(5, after))
    expected = cosine_similarity(hidden, run.hidden, dim=-1)
    assert_close(moved_by(model, run, result), expected, **CLOSE)
    assert float(expected.min()) < 0.999

    last = computed("minilm", layer=5, special="ignored")
    cosines = moved_by(model, run, last)
    assert_close(cosines[[0, -1]], torch.ones(2), **CLOSE)
    assert float(cosines[1:-1].min()) < 0.999


def test_a_long_run_moves_as_far_as_a_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model, run = run_of("minilm")
    whole = moved_by(model, run, computed("minilm", layer=1, cut="3", scale="none"))
    monkeypatch.setattr(computing, "MAX_KEPT", 0)
    long = computed("minilm", layer=1, cut="3", scale="none")
    assert isinstance(long.layer_trace, LongTrace)
    assert_close(moved_by(model, run, long), whole, **CLOSE)


@pytest.mark.parametrize(
    ("name", "most"), [("minilm", 768), ("minilm", 0), ("en-pt", 64), ("smollm2", 64)]
)
def test_without_each_head_is_what_cutting_that_one_alone_comes_to(
    monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(interventions, "MAX_PIECES_AT_ONCE", most)
    model, run = run_of(name)
    for position in (0, len(model.layers) - 1):
        cosines = effects.without_each(model, run, position)
        assert cosines.shape == (model.layers[position].attention.heads, len(run.hidden))
        for head, expected in enumerate(cosines):
            result = computed(name, layer=position, cut=str(head))
            assert_close(moved_by(model, run, result), expected, **CLOSE)


def test_the_head_without_which_most_moves_comes_first() -> None:
    cosines = torch.tensor([[1.0, 0.5], [0.25, 0.75], [1.0, 1.0], [0.0, 1.0]])
    names, columns = trained.importance_table(cosines)
    assert names == [f"without head {head}" for head in (1, 3, 0, 2)]
    assert columns == {
        "mean cosine": [0.5, 0.5, 0.75, 1.0],
        "least cosine": [0.25, 0.0, 0.5, 1.0],
    }


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_the_lines_of_a_layer_are_the_fewest_that_hold_a_share_of_its_weight(share: float) -> None:
    rows = drawn(5, 3, 7).mul(2).softmax(-1)
    mean = trained.layer_lines(rows, "mean", share)
    most = trained.layer_lines(rows, "greatest", share)
    assert mean.heads is None
    assert most.heads is not None
    assert_close(mean.weights, rows.mean(1))
    assert_close(most.weights, rows.amax(1))
    assert_close(rows.gather(1, most.heads[:, None])[:, 0], most.weights)
    for lines in (mean, most):
        for weights, kept in zip(lines.weights, lines.drawn, strict=True):
            assert float(weights[kept].sum()) >= share * float(weights.sum()) - 1e-6
            least = float(weights[kept].min())
            assert float(weights[kept].sum()) - least < share * float(weights.sum())
            assert (weights[~kept] <= least).all()
        held = float(lines.weights[lines.drawn].sum() / lines.weights.sum())
        assert f" {int(lines.drawn.sum())} lines hold {percent(held)} of these" in lines.words
    assert "mean weight of all heads" in mean.words
    assert "head that looks hardest" in most.words


@pytest.mark.parametrize("sides", ["A", "B", "AB"])
def test_the_likeliest_pieces_of_all_columns_stand_with_the_share_they_have_in_each(
    written: Transformer, sides: str
) -> None:
    run = written.run("abcab")
    d_model = run.hidden.shape[-1]
    states = {f"with {side}": run.hidden + drawn(d_model, seed=ord(side)) for side in sides}
    names, columns = trained.following(written, run, states)
    assert [*columns] == ["as trained", *states]
    shares = {
        title: next_scores(written, replace(run, hidden=hidden)).softmax(-1)
        for title, hidden in {"as trained": run.hidden, **states}.items()
    }
    likeliest = {int(id_) for share in shares.values() for id_ in share.topk(5).indices}
    assert sorted(names) == sorted(written.shown([*likeliest]))
    assert columns["as trained"] == sorted(columns["as trained"], reverse=True)
    ids = [*likeliest]
    for title, column in columns.items():
        by_name = dict(zip(written.shown(ids), shares[title][ids].tolist(), strict=True))
        assert column == pytest.approx([by_name[name] for name in names], abs=1e-5)


# All heads at a glance


@each_packaged
def test_a_glance_holds_what_the_overview_of_each_of_its_layers_does(name: str) -> None:
    model, run = run_of(name)
    seen = glances.glances(run)
    crossing = [layer.crosses for layer in model.layers]
    assert [glance.layers for glance in seen] == [
        tuple(at for at, crosses in enumerate(crossing) if crosses == kind)
        for kind in dict.fromkeys(crossing)
    ]
    for glance in seen:
        for row, position in enumerate(glance.layers):
            layer_input = run.inputs[position]
            pieces = layer_input.memory_pieces or layer_input.pieces
            known = analysed.Keys(pieces.special, pieces.ids.tolist())
            trace = layer_input.trace()
            mask = None if trace.mask is None else trace.mask[0]
            one = analysed.overview_of(
                trace.weights, mask, known, crosses=layer_input.layer.crosses
            )
            here = slice(row * glance.heads, (row + 1) * glance.heads)
            assert glance.shape == trace.weights.shape[1:]
            assert glance.heads == len(one.dots)
            assert_close(glance.seen.dots[here].int(), one.dots.int(), atol=1, rtol=0)
            assert glance.seen.block == one.block
            assert_close({n: each[here] for n, each in glance.seen.measures.items()}, one.measures)
            assert glance.seen.even_spread == pytest.approx(one.even_spread)
        assert ("special" in glance.seen.measures) == any(pieces.special)
        assert len(glance.seen.dots) == len(glance.layers) * glance.heads


# Pieces as words


@given(st.lists(st.none() | st.integers(0, 3), max_size=20))
def test_places_of_words_are_counted_from_0_without_gaps(groups: list[int | None]) -> None:
    slots = joining.slots(groups)
    assert len(slots) == len(groups)
    before = [-1, *slots]
    for at, (one, next_one) in enumerate(zip(before, slots, strict=False)):
        goes_on = at > 0 and groups[at] is not None and groups[at] == groups[at - 1]
        assert next_one == one + (not goes_on)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (["[CLS]", "un", "##happi", "##ly", "[SEP]"], ("[CLS]", "unhappily", "[SEP]")),
        (["·un", "happi", "ly", "</s>"], ("unhappily", "</s>")),
        (["▁un", "happi", "ly"], ("unhappily",)),
        (["·"], ("·",)),
        (["##"], ("##",)),
        (["a", "##·"], ("a·",)),
        ([], ()),
    ],
)
def test_words_are_their_pieces_without_the_marks_of_how_these_hang_together(
    pieces: list[str], words: tuple[str, ...]
) -> None:
    slots = {5: [0, 1, 1, 1, 2], 4: [0, 0, 0, 1]}.get(len(pieces), [0] * len(pieces))
    assert joining.whole_words(pieces, slots) == words


def test_rows_of_a_word_are_averaged_and_its_columns_summed() -> None:
    weights = torch.tensor(
        [[0.5, 0.25, 0.25, 0.0], [0.125, 0.5, 0.25, 0.125], [0.0, 0.0, 0.5, 0.5]]
    )
    joined = analysis.join(weights, [0, 1, 1], [0, 1, 1, 2])
    assert joined.tolist() == [[0.5, 0.5, 0.0], [0.0625, 0.625, 0.3125]]
    alone = analysis.join(weights, [0, 1, 2], [0, 1, 2, 3])
    assert torch.equal(alone, weights), "where every piece is a word nothing changes"


@each_packaged
def test_a_result_is_shown_in_its_pieces_or_as_weights_of_whole_words(name: str) -> None:
    for position in (0, len(packaged(name).layers) - 1):
        result = computed(name, layer=position, head=2)
        assert trained.words_of(result) is None
        assert trained.shown(result) == (result.tokens, result.key_tokens, result.trace)
        tokens, keys, trace = trained.shown(as_words(result))
        assert list(trace.stages) == ["weights"]
        assert trace.weights.shape == (len(tokens), len(keys))
        assert_close(trace.weights.sum(-1), torch.ones(len(tokens)))
        source = keys if result.memory else tokens
        assert [
            word for word in source if word not in ("[CLS]", "[SEP]", "</s>")
        ] == SENTENCE.split()
        assert len(keys) < len(result.key_tokens)


def as_words(result: Result) -> Result:
    return result.looked_at(replace(result.settings, join="words"))


def test_all_heads_are_joined_into_words_as_each_of_them_is() -> None:
    for settings in ({}, {"mask": ("causal",)}, {"special": "ignored"}):
        result = as_words(computed("minilm", layer=2, **settings))
        words = trained.words_of(result)
        assert words is not None
        weights = words.weights_for(result.layer_trace, 0)
        for head in range(result.layer.heads):
            one = trained.shown(result.looked_at(replace(result.settings, head=head)))[2]
            assert_close(weights[head], one.weights)
        seen = trained.overview(result)
        expected = analysed.measures(
            weights, analysed.Keys([word in ("[CLS]", "[SEP]") for word in words.keys], words.keys)
        )
        assert seen.measures.keys() == expected.keys()
        assert_close(seen.measures, expected)
        assert seen.dots.shape == weights.shape


def test_of_a_long_text_the_chosen_word_is_joined_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = as_words(computed("minilm"))
    monkeypatch.setattr(computing, "MAX_KEPT", 1)
    long = as_words(computed("minilm"))
    assert isinstance(long.layer_trace, LongTrace)
    words = trained.words_of(long)
    assert words is not None
    all_words = words.weights_for(kept.layer_trace, 0)
    for word in range(len(words.tokens)):
        assert_close(words.weights_for(long.layer_trace, word)[:, 0], all_words[:, word])
    assert_close(trained.overview(long).measures, trained.overview(kept).measures)


def test_a_word_is_hidden_where_all_its_pieces_are() -> None:
    pieces = torch.tensor([[True, False, False], [True, True, False], [False, False, True]])
    two = joining.Words(("a", "b"), ("a", "b"), [0, 0, 1], [0, 0, 1])
    weights = pieces / pieces.sum(-1, keepdim=True)
    joined = two.of_words(weights, pieces)
    assert joined.weights.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert joined.mask is not None
    assert joined.mask.tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("query", "words", "piece"),
    [(0, False, 0), (3, False, 3), (77, False, 11), (0, True, 0), (2, True, 2), (3, True, 6)],
)
def test_a_chosen_word_is_looked_at_by_its_first_piece(query: int, words: bool, piece: int) -> None:
    result = computed("minilm")
    assert result.tokens[1:6] == ("she", "un", "##ha", "##pp", "##ily")
    assert trained.piece_at(as_words(result) if words else result, query) == piece
    assert trained.piece_at(as_words(result), 77) == len(result.tokens) - 1


def test_weights_without_a_model_are_at_a_glance_as_a_models_are() -> None:
    weights = drawn(2, 7, 3, 5).softmax(-1)
    glance = glances.glance_of(weights, len(weights))
    assert (glance.layers, glance.heads, glance.shape) == ((0, 1), 7, (3, 5))
    one = analysed.overview(WeightsAlone(weights[1]))
    assert torch.equal(glance.seen.dots[7:], one.dots)
    assert_close({name: each[7:] for name, each in glance.seen.measures.items()}, one.measures)
    assert glance.layer_and_head(12) == (1, 5)
    other = glances.glance_of(weights, len(weights), crosses=True).seen
    across = analysed.measures(weights[0], crosses=True)
    assert list(other.measures) == list(other.even_spread) == list(across)


# What comes next


def narrowed(written: Transformer, **settings: Any) -> continuing.Next:
    run = written.run("the cat sat")
    return continuing.next_pieces(written, run, SamplingSettings(**settings))


def numbers(column: Any) -> list[float]:
    return [cell for cell in column if not isinstance(cell, str)]


def test_each_filter_shows_what_it_leaves_and_what_is_out_stays_out(written: Transformer) -> None:
    _, columns = narrowed(written, sample_temperature=2.0, top_k=5, top_p=0.7).table()
    scores = next_scores(written, written.run("the cat sat")).double()
    best = scores.sort(descending=True).values
    expected = {
        "as trained": best.softmax(-1)[:12],
        "temperature": (best / 2).softmax(-1)[:12],
        "top k": (best[:5] / 2).softmax(-1),
    }
    for title, shares in expected.items():
        assert numbers(columns[title]) == pytest.approx(shares.tolist(), abs=1e-6)
    kept = int((expected["top k"].cumsum(-1) < 0.7).sum()) + 1
    last = (best[:kept] / 2).softmax(-1)
    assert 1 < kept < 5
    assert numbers(columns["top p"]) == pytest.approx(last.tolist(), abs=1e-6)
    assert columns["top k"][5:] == ["out"] * 7
    assert columns["top p"][kept:] == ["out"] * (12 - kept)
    for title in ("top k", "top p"):
        assert sum(numbers(columns[title])) == pytest.approx(1)


def test_going_on_with_the_likeliest_is_the_greatest_score_again_and_again(
    written: Transformer,
) -> None:
    text, steps = "the cat sat", []
    for _ in range(5):
        run = written.run(text)
        piece = int(next_scores(written, run).argmax())
        text += written.text_of([piece], run.pieces.ids.tolist()) or ""
        steps.append(text)
    assert len({*steps}) == 5
    for count, expected in enumerate(steps, 1):
        gone_on = continuing.go_on(
            written, "the cat sat", count, SamplingSettings(), likeliest=True
        )
        assert gone_on == expected
    assert continuing.go_on(written, "the cat sat", 0, SamplingSettings(), likeliest=True) == (
        "the cat sat"
    )


def test_what_is_drawn_is_drawn_again_with_the_same_seed_alone(written: Transformer) -> None:
    def gone_on(seed: int) -> str:
        settings = SamplingSettings(sample_seed=seed, sample_temperature=0.3)
        return continuing.go_on(written, "the cat", 3, settings, likeliest=False)

    assert [gone_on(seed) for seed in range(7)] == [gone_on(seed) for seed in range(7)]
    assert len({gone_on(seed) for seed in range(7)}) > 1


def test_a_sentence_grows_no_longer_than_the_model_takes(tmp_path: Path) -> None:
    small = writer(tmp_path, limit=5)
    lengths = set()
    for seed in range(11):
        settings = SamplingSettings(sample_seed=seed)
        longer = continuing.go_on(small, "the cat", 99, settings, likeliest=False)
        pieces = small.pieces(longer)
        assert longer.startswith("the cat")
        assert pieces.left_out == 0
        lengths.add(len(pieces.ids))
        if len(pieces.ids) == small.limit:
            assert continuing.go_on(small, longer, 1, settings, likeliest=False) == longer
    assert max(lengths) == small.limit == 5


def test_where_nothing_is_added_the_reason_is_said(written: Transformer, tmp_path: Path) -> None:
    def why(text: str, longer: str | None, model: Transformer = written) -> str:
        return trained.why_nothing_added(model, text, longer)

    text = "the cat sat"
    settings = [SamplingSettings(sample_seed=seed) for seed in range(99)]
    drawn_once = [continuing.go_on(written, text, 1, some, likeliest=False) for some in settings]
    assert text in drawn_once, "a piece that is only a part of a character"
    for longer in drawn_once:
        assert ("only a part of a character" in why(text, longer)) == (longer == text)
    assert "only a part of a character" in why(text, None)
    small = writer(tmp_path, limit=2)
    full = "Nothing was added: no more than 2 pieces fit."
    for longer in ("the cat", "the cats", None):
        assert why("the cat", longer, small) == full
    assert why("the", "the cat", small) == ""
    assert "more characters than fit" in why("the", "the " * 2000)


# What is said of a layer


def test_of_a_layer_that_norms_first_it_is_said_where_x_is(
    written: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(written, monkeypatch)
    settings = Settings(SENTENCE, model="writer", layer=1)
    result = compute(settings, no_vectors, run_model=lambda name, text: written.run(text))
    layer_input = written.run(SENTENCE).inputs[1]
    added = additions.layer_additions(layer_input, 3)
    assert_close(result.x, layer_input.layer.attention_input(layer_input.x))
    words = trained.layer_words(result)
    assert "the second of two layers (number 1), as learned." in words
    assert "X is what comes in, after a layer norm." in words
    assert torch.equal(added.parts[0], layer_input.x[3])
    assert trained.added_words(layer_input, added).startswith(
        "Residual: the vector as it came into the layer, before the layer norm; X on Explore and "
        "Step by step is what comes out of that. The sum Σ then goes on. Along Σ: "
    )


# The translation


@pytest.mark.parametrize("name", ["en-pt"])
def test_the_table_of_a_translation_has_a_row_for_each_step(name: str) -> None:
    model = packaged(name)
    assert isinstance(model, EncoderDecoder)
    made = model.write("the red house and the red car")
    names, columns = trained.translation_table(made)
    assert len(names) == len({*names}) == len(made.steps) == len(made.output.texts)
    for at, step in enumerate(made.steps):
        position = names[at].removeprefix(step.text)
        assert position in ("", f" ({at})")
        assert columns["probability"][at] == step.probability == step.alternatives[0][1]
        key = int(step.alignment.argmax())
        assert str(columns["drawn most from"][at]).startswith(made.source.texts[key])
        assert columns["with weight"][at] == pytest.approx(float(step.alignment.max()))
        text, share = step.alternatives[1]
        assert columns["next likeliest"][at] == f"{text} {share:.4f}"
        assert step.probability >= share
    where = [f"{text} ({at})" for at, text in enumerate(made.source.texts)]
    assert {*columns["drawn most from"]} <= {*where, *made.source.texts}
    assert_close(made.alignment.sum(-1), torch.ones(len(names)))

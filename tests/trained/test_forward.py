"""One forward pass: over batches, from any layer, with edits, with gradients, piece by piece."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.core import functional
from attention.core.functional import Trace
from attention.trained import layers, models, sources
from attention.trained.checkpoints import load_folder
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.hooks import HOOKS, ROTARY_HOOKS
from attention.trained.layers import LayerRun
from attention.trained.models import About, Edit, Embedding, Model, Padded, Start
from attention.trained.parts import through
from tests.trained.making import FAMILIES, GOING_ON, Checkpoint, doubled, of_trace
from tests.trained.packaged import packaged

ROOT = Path(__file__).parents[2]
CLOSE = {"atol": 1e-5, "rtol": 1e-5}
TEXT = "the cat sat on the mat and looked at the other cat on the other mat"
WORDS = TEXT.split()
TINY = [*FAMILIES]
PACKAGED = ["en-pt"]
PARTS = ("queries", "keys", "values", "scores", "scaled", "weights", "output")


class Case(NamedTuple):
    """A model, and sentences of different lengths, with their translations where it translates."""

    model: Model
    sentences: list[models.Pieces]
    outputs: list[models.Pieces]

    @property
    def batch(self) -> Padded:
        return Padded.of(self.sentences, self.outputs)

    def alone(self, index: int) -> Padded:
        output = Padded(self.outputs[index].ids) if self.outputs else None
        return Padded(self.sentences[index].ids, output=output)


@pytest.fixture(scope="module")
def cases(checkpoint: Callable[[str], Checkpoint]) -> Callable[[str], Case]:
    """Each model by the name of its family or package, read once."""

    @functools.cache
    def made(name: str) -> Case:
        if name in FAMILIES:
            model: Model = load_folder(checkpoint(name).folder, About(name, name, "nobody"))
        else:
            model = packaged(name)
        sentences = [model.pieces(" ".join(WORDS[:count])) for count in (3, 1, 7, 5)]
        assert len({len(pieces.ids) for pieces in sentences}) == len(sentences)
        # what untrained ones write repeats itself
        outputs = sentences[::-1] if isinstance(model, EncoderDecoder) else []
        return Case(model, sentences, outputs)

    return made


@pytest.fixture
def case(request: pytest.FixtureRequest, cases: Callable[[str], Case]) -> Case:
    return cases(request.param)


def each_of(*names: str) -> Any:
    return pytest.mark.parametrize("case", names, indirect=True)


each_model = each_of(*TINY, *PACKAGED)


def ends(model: Model) -> list[int]:
    """The first two layers and the last two."""
    count = len(model.layers)
    return sorted({0, 1, count - 2, count - 1})


def changed(name: str, change: Callable[[Any], Any]) -> Edit:
    """An edit of one part."""
    if name in layers.PATH:
        return lambda layer, run: run.edited(**{name: change(getattr(run, name))})
    return of_trace(lambda _, trace: replace(trace, **{name: change(getattr(trace, name))}))


@of_trace
def keep(layer: int, trace: Trace) -> Trace:
    """The edit that changes nothing."""
    return trace


# Positions


def test_each_piece_of_each_sentence_of_a_batch_has_its_own_position() -> None:
    generator = torch.Generator().manual_seed(0)
    embedding = Embedding(*(torch.randn(11, 5, generator=generator) for _ in range(2)))
    ids = torch.tensor([[3, 3, 7], [1, 3, 3]])
    for row, made in zip(ids, embedding(ids), strict=True):
        assert torch.equal(made, embedding(row))
    assert not torch.equal(embedding(ids[:1])[0, 0], embedding(ids[:1])[0, 1])
    assert torch.equal(embedding(ids[:, 1:], first=1), embedding(ids)[:, 1:])


def test_more_pieces_than_positions_are_refused() -> None:
    embedding = Embedding(torch.zeros(7, 5), torch.zeros(3, 5))
    with pytest.raises(ValueError, match="a sentence may have 3 pieces, got 4"):
        embedding(torch.zeros(2, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="a sentence may have 3 pieces, got 4"):
        embedding(torch.zeros(1, dtype=torch.int64), first=3)


# Batches


@each_model
@torch.no_grad()
def test_sentences_side_by_side_are_each_by_itself(case: Case) -> None:
    """Layer by layer; rows of padding have no weights, and get none."""
    together = [*case.model.forward(case.batch)]
    hidden = case.model.final(together[-1].output)
    for index in range(len(case.sentences)):
        for whole, alone in zip(together, case.model.forward(case.alone(index)), strict=True):
            n_queries, n_keys = alone.trace.weights.shape[-2:]
            for name in ("x", "attended", "output"):
                assert_near(getattr(whole, name)[index, :n_queries], getattr(alone, name))
            trace = whole.trace.sequence(index)
            assert_close(trace.weights[:, :n_queries, :n_keys], alone.trace.weights, **CLOSE)
            assert_near(trace.output[:, :n_queries], alone.trace.output)
            assert not trace.weights[:, n_queries:].any()
            assert not trace.weights[..., n_keys:].any()
            assert not trace.output[:, n_queries:].any()
        last = case.model.final(alone.output)
        assert_near(hidden[index, : len(last)], last)


def assert_near(ours: Tensor, theirs: Tensor) -> None:
    """Equal to 5e-5 of the greatest number, or of 1 where all are smaller."""
    most = max(1.0, float(theirs.abs().max()))
    assert_close(ours / most, theirs / most, atol=5e-5, rtol=0)


@each_model
@torch.no_grad()
def test_a_sentence_that_is_padding_throughout_attends_to_nothing(case: Case) -> None:
    batch = case.batch
    nothing = torch.zeros_like(batch.ids[:1], dtype=torch.bool)
    assert batch.mask is not None
    source = replace(batch, mask=torch.cat([nothing, batch.mask[1:]]))
    runs = [*case.model.forward(source)]
    for run in runs:
        if run.layer.decodes and not run.layer.crosses:
            continue  # over the output, which is no padding
        assert not run.trace.weights[0].any()
        assert not run.trace.output[0].any()
        assert run.output.isfinite().all()
    last = case.model.final(runs[-1].output)
    assert_close(last[1], case.model.hidden(batch)[1], **CLOSE)


def test_what_pads_stands_behind_the_pieces() -> None:
    ids = torch.zeros(2, 3, dtype=torch.int64)
    before = torch.tensor([[True, True, False], [False, True, True]])
    with pytest.raises(ValueError, match="padding must stand behind all pieces of a sentence"):
        Padded(ids, before)
    with pytest.raises(ValueError, match=r"mask must be bool .* of shape \(2, 3\), got .*\(3, 2\)"):
        Padded(ids, before.T)
    with pytest.raises(ValueError, match=r"mask must be bool .*, got torch.float32 of shape"):
        Padded(ids, before.float())


# From any layer on


@each_model
@torch.no_grad()
def test_a_pass_from_any_layer_on_ends_as_the_whole_one(case: Case) -> None:
    run = case.model.run_pieces(case.sentences[0], *case.outputs[:1])
    assert torch.equal(case.model.hidden(run.batch), run.hidden)
    for position in range(len(case.model.layers)):
        assert torch.equal(case.model.hidden(run.batch, start=run.start(position)), run.hidden)
        here = next(case.model.forward(run.batch, start=run.start(position)))
        assert torch.equal(here.x, run.inputs[position].x)
        onwards = Start(position + 1, here.output, run.start(position).memory)
        assert torch.equal(case.model.hidden(run.batch, start=onwards), run.hidden)


# Edits


@each_model
@torch.no_grad()
def test_where_nothing_is_edited_every_bit_is_the_same(case: Case) -> None:
    for batch in (case.batch, case.alone(0)):
        plain, kept = case.model.forward(batch), case.model.forward(batch, edit=keep)
        for ours, theirs in zip(plain, kept, strict=True):
            for name in ("entered", "x", "attended", "middle", "fed", "output"):
                assert torch.equal(getattr(ours, name), getattr(theirs, name))
        copied = changed("queries", Tensor.clone)
        assert torch.equal(
            case.model.hidden(batch, edit=copied), case.model.hidden(batch, edit=keep)
        )


@of_trace
def biased(layer: int, trace: Trace) -> Trace:
    """An edit that adds more to the scores of later keys."""
    return replace(trace, bias=torch.arange(trace.scores.shape[-1]) / 7)


@of_trace
def hiding_key_1(layer: int, trace: Trace) -> Trace:
    """An edit after which key 1 alone is hidden."""
    return replace(trace, mask=torch.arange(trace.scores.shape[-1]) != 1)


EDITS: dict[str, Edit] = {
    **{name: changed(name, lambda part: part.roll(1, -1)) for name in (*PARTS, *layers.PATH)},
    "scale": changed("scale", lambda scale: 2 * scale),
    "bias": biased,
    "mask": hiding_key_1,
}


@each_model
@torch.no_grad()
def test_every_edit_changes_what_comes_out_in_every_layer(case: Case) -> None:
    batch = Padded.of(case.sentences[:2], case.outputs[:2])
    plain = case.model.hidden(batch)
    for name, edit in EDITS.items():
        for position in ends(case.model):
            if name == "fed" and case.model.layers[position].feed_forward is None:
                continue
            hidden = case.model.hidden(batch, edit=edit, layers=[position])
            assert float((hidden - plain).abs().max()) > 1e-3, f"{name} in layer {position}"


@each_model
@torch.no_grad()
def test_an_edit_is_called_for_every_layer_or_for_those_named(case: Case) -> None:
    called: list[int] = []

    def note(layer: int, run: LayerRun) -> LayerRun:
        called.append(layer)
        return run

    every = [*range(len(case.model.layers))]
    case.model.hidden(case.batch, edit=note)
    assert called == every
    called.clear()
    case.model.hidden(case.batch, edit=note, layers=[1, 0])
    assert called == [0, 1]
    run = case.model.run_pieces(case.sentences[0], *case.outputs[:1])
    called.clear()
    case.model.hidden(run.batch, edit=note, start=run.start(1))
    assert called == every[1:]


@each_model
@torch.no_grad()
def test_the_path_is_edited_as_a_layer_that_adds_nothing_or_gets_something_else(case: Case) -> None:
    """By hand: no feed-forward, no attention, and the input of the next layer in this one."""
    run = case.model.run_pieces(case.sentences[0], *case.outputs[:1])
    batch, norms = run.batch, case.model.layers[1].feed_norms
    for name, residual in (("attended", "x"), ("fed", "middle")):
        edit = changed(name, torch.zeros_like)
        _, edited, *_ = case.model.forward(batch, edit=edit, layers=[1])
        assert_close(edited.middle, edited.x + edited.attended, **CLOSE)
        if name == "fed":
            after = through(case.model.layers[1].attention_norms.after, edited.middle)
            assert_close(edited.output, through(norms.after, after), **CLOSE)
        else:
            assert torch.equal(edited.middle, getattr(edited, residual))
    moved = changed("output", lambda output: output.roll(1, -2))
    from_there = changed("x", lambda x: x.roll(1, -2))
    if case.model.layers[1].recurrence is None and not case.model.layers[1].crosses:
        expected = case.model.hidden(batch, edit=moved, layers=[0])
        assert_close(case.model.hidden(batch, edit=from_there, layers=[1]), expected, **CLOSE)


@each_of("llama")
@torch.no_grad()
def test_what_goes_on_is_edited_over_all_keys_before(case: Case) -> None:
    """The residual path of the last piece alone, after the others have run."""
    whole, last = case.sentences[2].ids, -1
    before = [*case.model.forward(Padded(whole[:last]))]
    doubled_last = changed("x", lambda x: torch.cat([x[:last], 2 * x[last:]]))
    expected = case.model.hidden(Padded(whole), edit=doubled_last)[last:]
    runs = case.model.forward(
        Padded(whole[last:]), after=before, edit=changed("x", lambda x: 2 * x)
    )
    assert_close(case.model.final([*runs][-1].output), expected, **CLOSE)


@each_of("bert")
@torch.no_grad()
def test_runs_and_models_print_no_numbers(case: Case) -> None:
    run = case.model.run_pieces(case.sentences[0])
    ran = next(case.model.forward(run.batch))
    for shown in (run, run.inputs[0], ran, ran.layer, ran.kept, case.model):
        assert type(shown).__name__ in repr(shown)
        assert len(repr(shown)) < 500
        assert "tensor" not in repr(shown)


@each_model
@torch.no_grad()
def test_an_edit_does_what_a_model_with_another_layer_does(case: Case) -> None:
    """Heads cut out, another scale, another mask: two ways to the same numbers."""

    def rescaled(layer: layers.Layer) -> layers.Layer:
        attention = copy.copy(layer.attention)
        attention.config = replace(attention.config, scale=0.7)
        return replace(layer, attention=attention)

    @of_trace
    def narrowed(layer: int, trace: Trace) -> Trace:
        mask = one_to_each_side(*trace.scores.shape[-2:])
        return replace(trace, mask=mask if trace.mask is None else trace.mask & mask)

    @of_trace
    def cut(layer: int, trace: Trace) -> Trace:
        output = trace.output.clone()
        output[..., [0, 2], :, :] = 0
        return replace(trace, output=output)

    ways: list[tuple[Edit, Callable[[layers.Layer], layers.Layer]]] = [
        (cut, lambda layer: replace(layer, attention=layer.attention.without([0, 2]))),
        (changed("scale", lambda scale: 0.7), rescaled),
        (narrowed, lambda layer: replace(layer, window=1)),
    ]
    for edit, change in ways:
        for position in ends(case.model):
            other = copy.copy(case.model)
            kept = [*case.model.layers]
            kept[position] = change(kept[position])
            other.layers = kept
            hidden = case.model.hidden(case.batch, edit=edit, layers=[position])
            assert_close(hidden, other.hidden(case.batch), atol=1e-4, rtol=1e-4)


def one_to_each_side(n_queries: int, n_keys: int) -> Tensor:
    """A mask by which a query sees its neighbours and itself."""
    return torch.ones(n_queries, n_keys, dtype=torch.bool).triu(-1).tril(1)


@each_model
@torch.no_grad()
def test_several_edits_at_once_are_each_by_itself(case: Case) -> None:
    run = case.model.run_pieces(case.sentences[0], *case.outputs[:1])
    factors = torch.tensor([0.0, 0.5, 2.0])
    for name in ("queries", "values", "weights", "x", "attended", "middle", "fed"):
        several = factors.view(3, *(1,) * (2 if name in layers.PATH else 3))
        for position in ends(case.model):
            more: dict[str, Any] = {"layers": [position], "start": run.start(position)}
            together = case.model.hidden(
                run.batch,
                edit=changed(name, lambda part, several=several: part * several),
                **more,
            )
            assert together.shape == (3, *run.hidden.shape)
            for factor, found in zip(factors, together, strict=True):
                alone = changed(name, lambda part, factor=factor: part * factor)
                expected = case.model.hidden(run.batch, edit=alone, **more)
                assert_close(found, expected, atol=1e-4, rtol=1e-4)


def zeroed(name: str) -> Edit:
    """Edit that does not work: a part changed where it stands."""

    def edit(layer: int, run: LayerRun) -> LayerRun:
        getattr(run if name in layers.PATH else run.trace, name)[..., 0] = 0
        return run

    return edit


@each_of("bert", "llama", "en-pt")
@torch.no_grad()
def test_an_edit_that_nothing_would_follow_from_is_refused(case: Case) -> None:
    for name in (*PARTS, *layers.PATH):
        with pytest.raises(ValueError, match=f"must return a copy with other {name}, not change"):
            case.model.hidden(case.batch, edit=zeroed(name))
        shorter = changed(name, lambda part: part[..., 1:])
        with pytest.raises(ValueError, match=rf"{name} of an edited \w+ must be \(…, \d+, \d+"):
            case.model.hidden(case.batch, edit=shorter)
    with pytest.raises(TypeError, match="an edit must return a LayerRun, got NoneType"):
        case.model.hidden(case.batch, edit=lambda layer, run: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="trace of an edited run must be a Trace, got LayerRun"):
        case.model.hidden(case.batch, edit=lambda layer, run: run.edited(trace=run))
    with pytest.raises(ValueError, match=r"edited in trace, x, .*, got 'weights'"):
        case.model.hidden(case.batch, edit=lambda layer, run: run.edited(weights=0))
    count = len(case.model.layers)
    for position in (-1, count):
        with pytest.raises(ValueError, match=rf"range\(0, {count}\), got {position}"):
            case.model.hidden(case.batch, edit=keep, layers=[position])
    run = case.model.run_pieces(case.sentences[0], *case.outputs[:1])
    with pytest.raises(ValueError, match=rf"range\(1, {count}\), got 0"):
        case.model.hidden(run.batch, edit=keep, layers=[0], start=run.start(1))


# Gradients


@each_model
def test_gradients_of_what_comes_out_agree_with_finite_differences(case: Case) -> None:
    model, batch = doubled(case.model), case.batch
    x = model.embed(batch.ids).double().requires_grad_()

    def hidden(x: Tensor) -> Tensor:
        made: Tensor = model.hidden(batch, start=Start(0, x))
        return made

    assert hidden(x).dtype == torch.float64
    assert torch.autograd.gradcheck(hidden, x, fast_mode=True)


@each_model
def test_gradients_of_weights_agree_with_finite_differences(case: Case) -> None:
    """Of every layer, through all layers after it, along one direction."""
    model, batch = doubled(case.model), case.batch
    start = Start(0, model.embed(batch.ids).double().requires_grad_())
    if isinstance(model, EncoderDecoder) and isinstance(model.decoder.embedding.pieces, Tensor):
        model.decoder.embedding.pieces.requires_grad_()
    runs: list[LayerRun] = [*model.forward(batch, start=start)]
    last = model.final(runs[-1].output)
    probe = normal(last)

    def moved(position: int, step: Tensor) -> Tensor:
        """Value of the probe where the weights of a layer are moved by a step."""
        added = changed("weights", lambda weights: weights + step)
        hidden: Tensor = model.hidden(batch, edit=added, layers=[position], start=start)
        return (hidden * probe).sum()

    gradients = torch.autograd.grad((last * probe).sum(), [run.trace.weights for run in runs])
    for position, gradient in enumerate(gradients):
        along, small = normal(gradient), 1e-7  # so small that no ReLU turns on the way
        with torch.no_grad():
            difference = moved(position, small * along) - moved(position, -small * along)
        assert_close((gradient * along).sum(), difference / (2 * small), atol=1e-4, rtol=1e-4)
        assert gradient.any()


def normal(like: Tensor) -> Tensor:
    """Random numbers in the shape of a tensor, the same each time."""
    generator = torch.Generator().manual_seed(like.numel())
    return torch.randn(like.shape, generator=generator, dtype=like.dtype)


# Memory


@each_of("bert", "llama", "en-pt")
def test_a_large_trace_is_of_some_heads_at_a_time_until_someone_asks_for_it(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = case.model.layers[0].attention.heads
    made: list[int] = []
    attend = functional.attend

    def counted(*parts: Any, **more: Any) -> Trace:
        trace = attend(*parts, **more)
        made.append(trace.weights.shape[-3])
        return trace

    monkeypatch.setattr(functional, "attend", counted)
    with torch.no_grad():
        whole = [*case.model.forward(case.batch)]
        assert made == [heads] * len(whole)
        assert whole[0].trace is whole[0].trace
        assert len(made) == len(whole), "a small one is there already"

    made.clear()
    monkeypatch.setattr(layers, "MAX_AT_ONCE", 1)
    with torch.no_grad():
        parts = [*case.model.forward(case.batch)]
        assert made == [1] * heads * len(parts)
        for ours, theirs in zip(parts, whole, strict=True):
            assert_near(ours.output, theirs.output)
            assert_close(ours.trace.weights, theirs.trace.weights, **CLOSE)
            assert ours.trace is ours.trace
        assert made[heads * len(parts) :] == [heads] * len(parts)

    made.clear()
    with torch.no_grad():
        case.model.hidden(case.batch, edit=keep, layers=[1])
    assert made == [1] * heads + [heads] + [1] * heads * (len(whole) - 2)

    made.clear()
    start = Start(0, case.model.embed(case.batch.ids).requires_grad_())
    run = next(case.model.forward(case.batch, start=start))
    assert made == [heads], "what gradients need is kept in any case"
    attended = run.attended.sum()
    assert torch.autograd.grad(attended, run.trace.weights)[0].any()


@each_of("gpt2")
def test_what_nobody_asks_for_does_not_run(case: Case) -> None:
    class Stopped(Exception):
        """Raised by a layer that should not run."""

    def stop(*parts: Any, **more: Any) -> LayerRun:
        raise Stopped

    model = copy.copy(case.model)
    second = copy.copy(case.model.layers[1])
    object.__setattr__(second, "run", stop)
    model.layers = [model.layers[0], second, *model.layers[2:]]
    passes = model.forward(case.batch)
    assert torch.equal(next(passes).x, model.embed(case.batch.ids))
    with pytest.raises(Stopped):
        next(passes)


# Piece by piece


def windowed(model: Model) -> Model:
    """Copy the model with a window on its second layer alone, as some models have it."""
    made = copy.copy(model)
    first, second, *others = model.layers
    made.layers = [first, replace(second, window=1), *others]
    return made


@each_of(*GOING_ON)
@pytest.mark.parametrize("change", [lambda model: model, windowed], ids=["", "window"])
@torch.no_grad()
def test_piece_after_piece_comes_to_what_all_at_once_do(
    case: Case, change: Callable[[Model], Model]
) -> None:
    model, ids = change(case.model), case.model.pieces("the cat sat on the mat").ids
    whole = [*model.forward(Padded(ids))]
    before: list[LayerRun] = []
    end = 0
    for count in (3, 1, 1, len(ids) - 5):
        begin, end = end, end + count
        before = [*model.forward(Padded(ids[begin:end]), after=before)]
        for run, expected in zip(before, whole, strict=True):
            assert_close(run.output, expected.output[begin:end], **CLOSE)
            weights = expected.trace.weights[:, begin:end, :end]
            assert_close(run.trace.weights, weights, **CLOSE)
            assert_close(run.trace.queries, expected.trace.queries[:, begin:end], **CLOSE)
            assert_close(run.trace.keys, expected.trace.keys[:, :end], **CLOSE)
    assert end == len(ids)


@each_of("gpt2", "bert", "en-pt")
@torch.no_grad()
def test_what_cannot_go_on_says_why(case: Case) -> None:
    before = [*case.model.forward(case.alone(0))]
    if all(layer.causal for layer in case.model.layers):
        with pytest.raises(ValueError, match="sentences that go on must have no padding"):
            next(case.model.forward(case.batch, after=before))
        with pytest.raises(ValueError, match="runs of 2 layers go on, got 1"):
            next(case.model.forward(case.alone(0), after=before[:1]))
    else:
        first = case.model.title_of(0)
        with pytest.raises(ValueError, match=f"{first} sees what comes behind"):
            next(case.model.forward(case.alone(0), after=before))
    if case.outputs:
        with pytest.raises(ValueError, match="decoder 0 needs an output, see Padded"):
            [*case.model.forward(Padded(case.sentences[0].ids))]


# Masks


@each_of(*TINY)
@torch.no_grad()
def test_a_window_the_mask_of_a_layer_and_padding_hide_what_each_of_them_does(case: Case) -> None:
    plain, narrow = ([*model.forward(case.batch)] for model in (case.model, windowed(case.model)))
    near = one_to_each_side(*plain[1].trace.weights.shape[-2:])
    batch = case.batch
    assert batch.mask is not None
    pieces = batch.mask[:, :, None] & batch.mask[:, None, :]
    first = case.model.layers[0].window
    wide = torch.ones_like(near)
    wide = wide if first is None else wide.tril(first).triu(-first)
    for run, own in zip(narrow[:2], (wide, near), strict=True):
        causal = own.tril() if case.model.layers[0].causal else own
        expected = (pieces & causal)[:, None].expand(run.trace.weights.shape)
        assert run.trace.mask is not None
        assert torch.equal(run.trace.mask, expected)
        assert torch.equal(run.trace.weights > 0, expected)
    assert torch.equal(narrow[0].output, plain[0].output)
    assert list(windowed(case.model).layers[1].masks(3, 3))[-1:] == ["window"]


# Names


@each_of("gpt2", "llama", "bert")
@torch.no_grad()
def test_each_name_beside_one_of_transformerlens_is_there(case: Case) -> None:
    run = next(case.model.forward(case.batch))
    for name in HOOKS:
        assert isinstance(attrgetter(name)(run), Tensor), name
    assert ROTARY_HOOKS.keys() < HOOKS.keys()
    assert run.trace.logits is run.trace.scaled
    names = [*HOOKS.values(), *ROTARY_HOOKS.values()]
    assert len({*names}) == len(names)
    assert all(re.fullmatch(r"blocks\.\{layer\}\.(attn\.)?hook_\w+", hook) for hook in names)


def test_the_docs_have_the_same_table() -> None:
    text = (ROOT / "docs" / "models.md").read_text("utf-8")
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \|$", text, flags=re.MULTILINE)
    told = {
        name: f"`{hook}`"
        + (f", with rotary positions `{ROTARY_HOOKS[name]}`" if name in ROTARY_HOOKS else "")
        for name, hook in HOOKS.items()
    }
    assert dict(rows) == told


def test_what_the_docs_show_for_a_notebook_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Further sections with the small model that the first of them reads."""
    models_read = {name: packaged(name) for name in ("minilm", "smollm2", "en-pt")}
    monkeypatch.setattr(sources, "load", models_read.__getitem__)
    text = (ROOT / "docs" / "models.md").read_text("utf-8")
    here: dict[str, Any] = {}
    for shown in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(shown, here)
        here["model"] = models_read["minilm"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[:7] == [*["torch.Size([2, 12, 8, 8])"] * 6, "('·Paris',)"]
    for other in ("edited", "zeroed", "unfed"):
        assert (here["plain"] - here[other]).abs().max() > 1e-3
    assert (here["moved"] - here["whole"].hidden).abs().max() > 1e-3

"""One forward pass: over batches, from any layer, with edits, with gradients, piece by piece."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.core.functional import Trace
from attention.trained import layers, models, sources
from attention.trained.checkpoints import load_folder
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.layers import PATH, Layer, LayerRun
from attention.trained.models import About, Edit, Embedding, Model, Padded, Start
from tests.trained.making import FAMILIES, GOING_ON, Checkpoint, doubled, of_trace, transformers
from tests.trained.packaged import packaged

DOCS = Path(__file__).parents[2] / "docs" / "models.md"
PARTS = ("queries", "keys", "values", "scores", "scaled", "weights", "output")
close = functools.partial(assert_close, atol=1e-5, rtol=1e-5)
nearly = functools.partial(assert_close, atol=1e-4, rtol=1e-4)


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

    def run(self) -> models.Run:
        return self.model.run_pieces(self.sentences[0], *self.outputs[:1])

    @property
    def ends(self) -> list[int]:
        """The first two layers and the last two."""
        count = len(self.model.layers)
        return sorted({0, 1, count - 2, count - 1})


@pytest.fixture(scope="module")
def cases(checkpoint: Callable[[str], Checkpoint]) -> Callable[[str], Case]:
    """Each model by the name of its family or package, read once."""

    @functools.cache
    def made(name: str) -> Case:
        about, known = About(name, name, "nobody"), name in FAMILIES
        model = load_folder(checkpoint(name).folder, about) if known else packaged(name)
        words = ("the cat sat", "the", "the cat sat on the mat and", "the cat sat on the")
        sentences = [*map(model.pieces, words)]
        # what untrained ones write repeats itself
        return Case(model, sentences, sentences[::-1] if isinstance(model, EncoderDecoder) else [])

    return made


@pytest.fixture
def case(request: pytest.FixtureRequest, cases: Callable[[str], Case]) -> Case:
    return cases(request.param)


@pytest.fixture(autouse=True)
def _no_gradients_unless_asked_for() -> Iterator[None]:
    with torch.no_grad():
        yield


def each_of(*names: str) -> Any:
    return pytest.mark.parametrize("case", names, indirect=True)


# those whose layers are built as those of another one
ALIKE = {"bert with a head", "gpt2 untied", "llama tied", "qwen2"}
each_model = each_of(*(name for name in FAMILIES if name not in ALIKE), "en-pt")


def changed(name: str, change: Callable[[Any], Any]) -> Edit:
    """An edit of one part."""

    def edit(layer: int, run: LayerRun) -> LayerRun:
        assert run.output is not None  # all that follows is there, and must be worked out anew
        if name in PATH:
            return run.edited(**{name: change(getattr(run, name))})
        return run.edited(trace=replace(run.trace, **{name: change(getattr(run.trace, name))}))

    return edit


keep = of_trace(lambda _, trace: trace)  # changes nothing


def assert_near(ours: Tensor, theirs: Tensor) -> None:
    """Equal to 5e-5 of the greatest number, or of 1 where all are smaller."""
    most = max(1.0, float(theirs.abs().max()))
    assert_close(ours / most, theirs / most, atol=5e-5, rtol=0)


# Batches


@each_model
def test_sentences_side_by_side_are_each_by_itself(case):
    """Layer by layer; rows of padding have no weights, and get none."""
    together = [*case.model.forward(case.batch)]
    hidden = case.model.final(together[-1].output)
    for index in range(len(case.sentences)):
        for whole, alone in zip(together, case.model.forward(case.alone(index)), strict=True):
            n_queries, n_keys = alone.trace.weights.shape[-2:]
            for name in ("x", "attended", "output"):
                assert_near(getattr(whole, name)[index, :n_queries], getattr(alone, name))
            trace = whole.trace.sequence(index)
            assert_near(trace.weights[:, :n_queries, :n_keys], alone.trace.weights)
            assert_near(trace.output[:, :n_queries], alone.trace.output)
            assert not trace.weights[:, n_queries:].any()
            assert not trace.weights[..., n_keys:].any()
            assert not trace.output[:, n_queries:].any()
        last = case.model.final(alone.output)
        assert_near(hidden[index, : len(last)], last)


@each_of(*FAMILIES)
def test_a_window_the_mask_of_a_layer_and_padding_hide_what_each_of_them_does(case):
    model = windowed(case.model)
    narrow = [*model.forward(case.batch)]
    near = one_to_each_side(*narrow[0].trace.weights.shape[-2:])
    pieces = case.batch.mask[:, :, None] & case.batch.mask[:, None, :]
    first, wide = case.model.layers[0].window, torch.ones_like(near)
    wide = wide if first is None else wide.tril(first).triu(-first)
    for run, own in zip(narrow[:2], (wide, near), strict=True):
        causal = own.tril() if case.model.layers[0].causal else own
        expected = (pieces & causal)[:, None].expand(run.trace.weights.shape)
        assert torch.equal(run.trace.mask, expected)
        assert torch.equal(run.trace.weights > 0, expected)
    assert torch.equal(narrow[0].output, next(case.model.forward(case.batch)).output)
    assert list(model.layers[1].masks(3, 3))[-1:] == ["window"]


def windowed(model: Model) -> Model:
    """Copy the model with a window on its second layer alone, as some models have it."""
    return with_layer(model, 1, lambda layer: replace(layer, window=1))


def with_layer(model: Model, position: int, change: Callable[[Layer], Layer]) -> Model:
    """Copy the model with another layer at a position."""
    made = copy.copy(model)
    made.layers = [*model.layers]
    made.layers[position] = change(made.layers[position])
    return made


def one_to_each_side(n_queries: int, n_keys: int) -> Tensor:
    """A mask by which a query sees its neighbours and itself."""
    return torch.ones(n_queries, n_keys, dtype=torch.bool).triu(-1).tril(1)


# From any layer on, and edits


@each_model
def test_a_pass_from_any_layer_on_ends_as_the_whole_one(case):
    run = case.run()
    assert torch.equal(case.model.hidden(run.batch), run.hidden)
    for position in range(len(case.model.layers)):
        start = run.start(position)
        assert torch.equal(case.model.hidden(run.batch, start=start), run.hidden)
        here = next(case.model.forward(run.batch, start=start))
        assert torch.equal(here.x, run.inputs[position].x)
        onwards = Start(position + 1, here.output, start.memory)
        assert torch.equal(case.model.hidden(run.batch, start=onwards), run.hidden)


@each_model
def test_an_edit_is_called_for_the_layers_named_and_where_it_changes_nothing_nor_does_a_bit(case):
    called: list[int] = []

    def noted(layer: int, run: LayerRun) -> LayerRun:
        called.append(layer)
        return keep(layer, run)

    every, run = [*range(len(case.model.layers))], case.run()
    for batch in (case.batch, run.batch):
        kept = case.model.forward(batch, edit=noted)
        for ours, theirs in zip(case.model.forward(batch), kept, strict=True):
            for name in ("entered", *PATH):
                assert torch.equal(getattr(ours, name), getattr(theirs, name))
        assert torch.equal(
            case.model.hidden(batch, edit=changed("queries", Tensor.clone)),
            case.model.hidden(batch, edit=keep),
        )
    case.model.hidden(run.batch, edit=noted, layers=[1, 0])
    case.model.hidden(run.batch, edit=noted, start=run.start(1))
    assert called == [*every, *every, 0, 1, *every[1:]]


EDITS: dict[str, Edit] = {
    **{name: changed(name, lambda part: part.roll(1, -1)) for name in (*PARTS, *PATH)},
    "scale": changed("scale", lambda scale: 2 * scale),
    "bias": of_trace(lambda _, made: replace(made, bias=torch.arange(made.scores.shape[-1]) / 7)),
    "mask": of_trace(lambda _, made: replace(made, mask=torch.arange(made.scores.shape[-1]) != 1)),
}


@each_model
def test_every_edit_changes_what_comes_out_in_every_layer(case):
    run = case.run()
    for position in case.ends:
        start = run.start(position)
        for name, edit in EDITS.items():
            hidden = case.model.hidden(run.batch, edit=edit, layers=[position], start=start)
            assert (hidden - run.hidden).abs().max() > 1e-3, f"{name} in layer {position}"


@each_model
def test_an_edit_does_what_a_model_with_another_layer_does(case):
    """Heads cut out, another scale, another mask: two ways to the same numbers."""

    def rescaled(layer: Layer) -> Layer:
        attention = copy.copy(layer.attention)
        attention.config = replace(attention.config, scale=0.7)
        return replace(layer, attention=attention)

    def narrowed(_: int, trace: Trace) -> Trace:
        mask = one_to_each_side(*trace.scores.shape[-2:])
        return replace(trace, mask=mask if trace.mask is None else trace.mask & mask)

    def cut(_: int, trace: Trace) -> Trace:
        heads = torch.arange(trace.output.shape[-3])[:, None, None]
        return replace(trace, output=trace.output * ((heads != 0) & (heads != 2)))

    for edit, change in (
        (of_trace(cut), lambda layer: replace(layer, attention=layer.attention.without([0, 2]))),
        (changed("scale", lambda scale: 0.7), rescaled),
        (of_trace(narrowed), lambda layer: replace(layer, window=1)),
    ):
        for position in case.ends:
            hidden = case.model.hidden(case.batch, edit=edit, layers=[position])
            nearly(hidden, with_layer(case.model, position, change).hidden(case.batch))


@each_model
def test_several_edits_at_once_are_each_by_itself(case):
    run, factors = case.run(), torch.tensor([0.0, 0.5, 2.0])

    def scaled(name: str, by: Tensor, position: int) -> Tensor:
        """Output of the model where a part of a layer is multiplied."""
        edit = changed(name, lambda part: part * by)
        return case.model.hidden(run.batch, edit=edit, layers=[position], start=run.start(position))

    for name in ("queries", "values", "weights", "x", "attended", "middle", "fed"):
        several = factors.view(3, *(1,) * (2 if name in PATH else 3))
        for position in case.ends:
            alone = [scaled(name, factor, position) for factor in factors]
            nearly(scaled(name, several, position), torch.stack(alone))


def in_place(name: str) -> Edit:
    """Edit that does not work: a part changed where it stands."""

    def edit(layer: int, run: LayerRun) -> LayerRun:
        getattr(run if name in PATH else run.trace, name)[..., 0] = 0
        return run

    return edit


WRONG_EDITS: dict[str, Any] = {
    "an edit must return a LayerRun, got NoneType": lambda layer, run: None,
    "must be a Trace, got LayerRun": lambda layer, run: run.edited(trace=run),
    "edited in trace, x, .*, got 'weights'": lambda layer, run: run.edited(weights=0),
}
for name in (*PARTS, *PATH):
    WRONG_EDITS[f"must return a copy with other {name}, not change"] = in_place(name)
    shorter = changed(name, lambda part: part[..., 1:])
    WRONG_EDITS[rf"{name} of an edited \w+ must be \(…, \d+, \d+"] = shorter


@each_of("bert", "llama", "en-pt")
def test_an_edit_that_nothing_would_follow_from_is_refused(case):
    for words, edit in WRONG_EDITS.items():
        with pytest.raises((TypeError, ValueError), match=words):
            case.model.hidden(case.batch, edit=edit)
    count, run = len(case.model.layers), case.run()
    for position, start in ((-1, 0), (count, 0), (0, 1)):
        with pytest.raises(ValueError, match=rf"range\({start}, {count}\), got {position}"):
            case.model.hidden(run.batch, edit=keep, layers=[position], start=run.start(start))


# Gradients, and what is worked out


@each_model
@torch.enable_grad()
def test_gradients_of_vectors_and_weights_agree_with_finite_differences(case):
    """Of every layer, through all layers after it, along one direction."""
    model, batch = doubled(case.model), case.batch
    x = model.embed(batch.ids).double().requires_grad_()
    runs: list[LayerRun] = [*model.forward(batch, start=Start(0, x))]
    last = model.final(runs[-1].output)
    probe = normal(last)

    def moved(position: int, step: Tensor) -> Tensor:
        """Value of the probe where x, or the weights of a layer, are moved by a step."""
        start, more = Start(0, x + step if position < 0 else x), {}
        if position >= 0:
            more = {"edit": changed("weights", lambda weights: weights + step)}
        hidden: Tensor = model.hidden(batch, layers=[max(0, position)], start=start, **more)
        return (hidden * probe).sum()

    leaves = [x, *(run.trace.weights for run in runs)]
    gradients = torch.autograd.grad((last * probe).sum(), leaves)
    for position, gradient in enumerate(gradients, -1):
        along, small = normal(gradient), 1e-7  # so small that no ReLU turns on the way
        with torch.no_grad():
            difference = moved(position, small * along) - moved(position, -small * along)
        nearly((gradient * along).sum(), difference / (2 * small))
        assert gradient.any()


def normal(like: Tensor) -> Tensor:
    """Random numbers in the shape of a tensor, the same each time."""
    generator = torch.Generator().manual_seed(like.numel())
    return torch.randn(like.shape, generator=generator, dtype=like.dtype)


@each_of("bert", "llama", "en-pt")
def test_a_large_trace_is_of_some_heads_at_a_time_until_someone_asks_for_it(case, monkeypatch):
    whole = [*case.model.forward(case.batch)]
    monkeypatch.setattr(layers, "MAX_AT_ONCE", 1)
    for ours, theirs in zip(case.model.forward(case.batch), whole, strict=True):
        assert_near(ours.output, theirs.output)
        assert "trace" not in vars(ours)
        close(ours.trace.weights, theirs.trace.weights)
        assert ours.trace is ours.trace
    with torch.enable_grad():
        start = Start(0, case.model.embed(case.batch.ids).requires_grad_())
        run = next(case.model.forward(case.batch, start=start))
        (gradient,) = torch.autograd.grad(run.attended.sum(), run.trace.weights)
        assert gradient.any(), "what gradients need is kept in any case"


# Piece by piece


@each_of(*GOING_ON)
@pytest.mark.parametrize("change", [lambda model: model, windowed], ids=["", "window"])
def test_piece_after_piece_comes_to_what_all_at_once_do(case, change):
    model, ids = change(case.model), case.model.pieces("the cat sat on the mat").ids
    whole, before = [*model.forward(Padded(ids))], list[LayerRun]()
    for begin, end in ((0, 3), (3, 4), (4, 5), (5, len(ids))):
        before = [*model.forward(Padded(ids[begin:end]), after=before)]
        for run, expected in zip(before, whole, strict=True):
            close(run.output, expected.output[begin:end])
            close(run.trace.weights, expected.trace.weights[:, begin:end, :end])
            close(run.trace.queries, expected.trace.queries[:, begin:end])
            close(run.trace.keys, expected.trace.keys[:, :end])


IDS, MASK = torch.zeros(2, 3, dtype=torch.int64), torch.tensor([[True, True, False]] * 2)
FEW = Embedding(torch.zeros(7, 5), torch.zeros(3, 5))
REFUSED: dict[tuple[str, str], Callable[[Case], object]] = {
    ("bert", "may have 3 pieces, got 4"): lambda case: FEW(torch.zeros(2, 4, dtype=torch.int64)),
    ("gpt2", "may have 3 pieces, got 4"): lambda case: FEW(IDS[0, :1], first=3),
    ("bert", "padding must stand behind all pieces"): lambda case: Padded(IDS, MASK.roll(1, 1)),
    ("bert", "must be bool .*, got torch.float32 of"): lambda case: Padded(IDS, MASK.float()),
    ("gpt2", "that go on must have no padding"): lambda case: goes_on(case, case.batch),
    ("gpt2", "runs of 2 layers go on, got 1"): lambda case: goes_on(case, case.alone(0), 1),
    ("bert", "layer 0 sees what comes behind"): lambda case: goes_on(case, case.alone(0)),
    ("en-pt", "encoder 0 sees what comes behind"): lambda case: goes_on(case, case.alone(0)),
    ("en-pt", "decoder 0 needs an output, see Padded"): lambda case: case.model.hidden(
        Padded(case.sentences[0].ids)
    ),
}


def goes_on(case: Case, batch: Padded, runs: int | None = None) -> object:
    before = [*case.model.forward(case.alone(0))]
    return next(case.model.forward(batch, after=before[:runs]))


@pytest.mark.parametrize(("name", "words"), REFUSED)
def test_what_does_not_fit_or_cannot_go_on_says_why(cases, name, words):
    with pytest.raises(ValueError, match=words):
        REFUSED[name, words](cases(name))


# What the docs show


@each_of("gpt2", "llama", "bert")
def test_each_name_in_the_docs_is_one_of_a_run_and_no_run_prints_numbers(case):
    ran = next(case.model.forward(case.batch))
    rows = re.findall(
        r"^\| `(.+?)` \| `blocks\..+ \|$", DOCS.read_text("utf-8"), flags=re.MULTILINE
    )
    assert len(rows) == 11
    assert all(isinstance(attrgetter(name)(ran), Tensor) for name in rows)
    assert ran.trace.logits is ran.trace.scaled
    for shown in (case.run(), case.run().inputs[0], ran, ran.layer, ran.kept, case.model):
        assert type(shown).__name__ in repr(shown)
        assert len(repr(shown)) < 500
        assert "tensor" not in repr(shown)


def test_what_the_docs_show_for_a_notebook_runs(monkeypatch, capsys):
    """Further sections with the small model that the first of them reads."""
    transformers()
    models_read = {name: packaged(name) for name in ("minilm", "smollm2", "en-pt")}
    monkeypatch.setattr(sources, "load", models_read.__getitem__)
    here: dict[str, Any] = {}
    for shown in re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), flags=re.DOTALL):
        with torch.enable_grad():
            exec(shown, here)
        here["model"] = models_read["minilm"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[:7] == [*["torch.Size([2, 12, 8, 8])"] * 6, "('·Paris',)"]
    for other in ("edited", "zeroed", "unfed"):
        assert (here["plain"] - here[other]).abs().max() > 1e-3
    assert (here["moved"] - here["whole"].hidden).abs().max() > 1e-3

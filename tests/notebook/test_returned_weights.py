"""Attentions that transformers returns are shown as they are: layers, batches, steps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis.returned_weights import one_sequence
from attention.core.functional import WeightsAlone
from attention.figures import plots
from attention.notebook.show import show
from tests.capture.families import FAMILIES, writer
from tests.cases import over
from tests.subjects.play.how.making import drawn
from tests.trained.making import write_checkpoint

LAYERS, HEADS, PIECES, BATCH, WRITTEN = 2, 7, 5, 3, 4
TOKENS, MADE = ["the", "cat", "sat", "<b>", "it"], ["der", "Hund", "schläft"]
SEQUENCE = [*TOKENS, "and", "then", "it", "slept"]
IDS = torch.arange(3, 3 + BATCH * PIECES).view(BATCH, PIECES)
WRITING: dict[str, Any] = {"max_new_tokens": WRITTEN, "min_new_tokens": WRITTEN, "num_beams": 1}
WRITING |= {"do_sample": False, "pad_token_id": 0, "return_dict_in_generate": True}
WRITING |= {"output_attentions": True}


def weights_of(*leading: int) -> Tensor:
    """Weights of each token over all."""
    return drawn(*leading, PIECES, PIECES).softmax(-1)


RETURNED = tuple(weights_of(1, HEADS) for _ in range(LAYERS))
ALONE = torch.stack([weights[0] for weights in RETURNED])


def stacked(attentions: Any, entry: int = 0) -> Tensor:
    """One entry of what each layer returned."""
    return torch.stack([weights[entry].detach().float() for weights in attentions])


def test_what_bert_returns_is_shown_with_its_gradients():
    model = FAMILIES["BERT"].build("eager")
    for kind in (torch.float32, torch.bfloat16):
        attentions = model.to(kind)(IDS[:1], output_attentions=True).attentions
        assert all(weights.requires_grad for weights in attentions)
        numbers = one_sequence(attentions, TOKENS).numbers
        assert torch.equal(numbers.float(), stacked(attentions))
        assert numbers.shape == (LAYERS, 6, PIECES, PIECES)
    assert show(attentions, TOKENS, layer=1, head=5) == show(numbers[1, 5], TOKENS)
    with pytest.raises(ValueError, match=r"each row must sum to 1, .*; after dropout, as in train"):
        show(model.train()(IDS[:1], output_attentions=True).attentions, TOKENS)


def test_layers_may_come_in_any_kind_of_sequence_and_heads_picked_from_them_are_heads():
    for kind in (
        torch.stack(RETURNED),
        [one.numpy() for one in RETURNED],
        torch.stack(RETURNED).numpy(),
        [one[0] for one in RETURNED],
        torch.stack(RETURNED).tolist(),
        [one.double().requires_grad_() for one in RETURNED],
    ):
        assert torch.equal(one_sequence(kind, TOKENS).numbers.float(), ALONE)
    picked = [weights[0, 3].requires_grad_() for weights in map(Tensor.clone, RETURNED)]
    assert torch.equal(one_sequence(picked, TOKENS).numbers, ALONE[:, 3])
    rows = [*ALONE[0, 0].numpy()]
    assert show(rows, TOKENS) == show(ALONE[0, 0], TOKENS), "a list of rows is one head"


ON_ANY_DEVICE = ("detach", "__getitem__", "__get__", "dim", "__len__", "is_complex")


class Elsewhere(Tensor):
    """Numbers that can be reached after `cpu()` alone, as those on a device of their own."""

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            result = function(*arguments, **options or {})
            if function is Tensor.cpu:
                return result.as_subclass(Tensor)
            done = function.__name__
            assert done in ON_ANY_DEVICE, done
            return result.as_subclass(cls) if isinstance(result, Tensor) else result


def test_weights_are_brought_from_their_device_before_they_are_worked_on():
    there, whole = [one.as_subclass(Elsewhere) for one in RETURNED], ALONE.as_subclass(Elsewhere)
    with pytest.raises(AssertionError, match="sum"):
        there[0].sum()
    assert show(tuple(there), TOKENS, layer=1, head=3) == show(ALONE[1, 3], TOKENS)
    for weights, more, expected in (
        (tuple(there), {}, ALONE),
        (there[0][0], {}, ALONE[0]),
        (whole, {"layer": 1}, ALONE),
        (whole, {"entry": 1}, ALONE[1]),
    ):
        assert torch.equal(one_sequence(weights, TOKENS, **more).numbers, expected)


def test_padding_is_left_out_and_the_rest_is_what_the_sentence_alone_gives():
    model = FAMILIES["BERT"].build("eager")
    mask = torch.ones_like(IDS)
    mask[1, 3:] = 0
    attentions = model(IDS, attention_mask=mask, output_attentions=True).attentions
    alone = model(IDS[1:2, :3], output_attentions=True).attentions
    for given in (mask, mask.tolist(), mask.numpy(), mask[1], mask.bool()):
        found = one_sequence(attentions, TOKENS, entry=1, attention_mask=given)
        assert (found.tokens, found.keys) == (TOKENS[:3], None)
        assert_close(found.numbers, one_sequence(alone, TOKENS[:3]).numbers)
    translator, mask = FAMILIES["BART"].build("eager"), torch.tensor([[1, 1, 1, 0, 0]])
    given = {"input_ids": IDS[:1], "attention_mask": mask, "decoder_input_ids": IDS[1:2, :2]}
    across = translator(**given, output_attentions=True).cross_attentions
    found = one_sequence(across, MADE[:2], TOKENS, entry=0, attention_mask=mask)
    assert (found.tokens, found.keys) == (MADE[:2], TOKENS[:3])
    assert_close(found.numbers.sum(-1), torch.ones(LAYERS, 3, 2))


@pytest.mark.parametrize("name", ["BART", "T5"])
def test_of_an_encoder_and_a_decoder_each_kind_is_shown_over_its_own_tokens(name):
    outputs = FAMILIES[name].build("eager")(
        input_ids=IDS[:1], decoder_input_ids=IDS[1:2, :3], output_attentions=True
    )
    kinds = {"encoder": (TOKENS, None), "decoder": (MADE, None), "cross": (MADE, TOKENS)}
    for kind, (tokens, keys) in kinds.items():
        weights = outputs[f"{kind}_attentions"]
        cells = show(weights, tokens, keys=keys, layer=1, head=2).data[0]
        assert numpy.array_equal(cells.z, weights[1][0, 2].detach().numpy())
        assert cells.z.shape == (len(tokens), len(keys or tokens))
    with pytest.raises(ValueError, match=r"must be \(…, 3, 3\), .*, got \(2, 3, 3, 5\)"):
        show(outputs.cross_attentions, MADE)
    named = ", ".join(f"outputs.{kind}_attentions" for kind in kinds)
    with pytest.raises(ValueError, match=f"several attentions: show {named}"):
        show(outputs, TOKENS)


@pytest.mark.parametrize("use_cache", [True, False])
def test_each_row_of_generate_is_that_of_the_query_a_token_was_written_after(use_cache):
    model = writer("GPT-2", "eager")
    made = model.generate(IDS, **WRITING, use_cache=use_cache)
    for entry in range(BATCH):
        found = one_sequence(made.attentions, SEQUENCE, entry=entry)
        passed = model(made.sequences[entry : entry + 1, :-1], output_attentions=True)
        assert_close(found.numbers, stacked(passed.attentions)[..., PIECES - 1 :, :])
        assert found.tokens == ["→ and", "→ then", "→ it", "→ slept"]
        assert found.keys == SEQUENCE[:-1]
    assert not found.numbers[..., 0, PIECES:].any(), "no key is seen before it is written"
    cells = show(made.attentions, SEQUENCE, entry=2, layer=1, head=2).data[0]
    assert numpy.array_equal(cells.z, found.numbers[1, 2].numpy())
    first = show(made.attentions[0], TOKENS, entry=2, layer=1, head=2).data[0]
    assert numpy.array_equal(first.z, made.attentions[0][1][2, 2].numpy()), "what it was given"


@pytest.mark.parametrize(("name", "given"), [("Mistral", 3), ("Gemma 3", PIECES)])
def test_with_a_sliding_window_each_row_has_the_last_keys(name, given):
    model = writer(name, "eager")
    made = model.generate(IDS[:1, :given], **WRITING)
    found = one_sequence(made.attentions, SEQUENCE[: given + WRITTEN])
    passed = model(made.sequences[:, :-1], output_attentions=True)
    assert_close(found.numbers, stacked(passed.attentions)[..., given - 1 :, :])
    assert found.numbers.shape[-1] > 5
    assert not found.numbers[0, :, -1, :-5].any(), "outside the window"


def test_what_a_model_returns_is_shown_by_its_attentions_but_beams_are_refused():
    model = writer("GPT-2", "eager")
    outputs = model(IDS[:1], output_attentions=True)
    assert torch.equal(one_sequence(outputs, TOKENS).numbers, stacked(outputs.attentions))
    made = model.generate(IDS[:1], **WRITING)
    assert show(made, SEQUENCE, head=2) == show(made.attentions, SEQUENCE, head=2)
    made = model.generate(IDS[:1], **WRITING | {"num_beams": 3})
    with pytest.raises(ValueError, match=r"weights of beams cannot be shown: .* num_beams=1"):
        show(made, SEQUENCE)


def test_a_model_that_keeps_no_weights_is_told_to_be_eager():
    model = writer("GPT-2", "sdpa")
    returned = model(IDS, output_attentions=True), model(IDS), model.generate(IDS, **WRITING)
    for nothing in (*returned, *(outputs.attentions for outputs in returned)):
        with pytest.raises(ValueError, match='attn_implementation="eager"') as raised:
            show(nothing, TOKENS)
        assert "output_attentions=True" in str(raised.value)


NOTHING: tuple[Any, ...] = (
    *((None, "None"), ((), "an empty tuple"), ([], "an empty tuple"), ((None, None), "None")),
    *(((RETURNED[0], None), "None for some of them"), (((), ()), "an empty tuple")),
    *((((None,), (None,)), "None"), ((RETURNED, ()), "an empty tuple")),
    ((RETURNED, (RETURNED[0], None)), "None for some of them"),
)


@over("case", NOTHING)
def test_whatever_lacks_weights_is_told_where_they_come_from(case):
    with pytest.raises(ValueError, match=f"a tensor for each layer, got {case[1]}: .*eager"):
        show(case[0], TOKENS)


@over("kind", [Tensor, Tensor.numpy, Tensor.tolist])
def test_of_four_axes_the_first_is_a_batch_or_layers_by_name(kind):
    whole = weights_of(BATCH, HEADS)
    either = (
        r"weights \(3, 7, 5, 5\) may be those of 3 layers or of a batch of 3: give layer .* "
        r"if they are layers, or entry .* if they are a batch; got "
    )
    with pytest.raises(ValueError, match=f"{either}neither"):
        show(kind(whole), TOKENS, head=3)
    with pytest.raises(ValueError, match=f"{either}both"):
        show(kind(whole), TOKENS, layer=0, entry=0)
    assert torch.equal(one_sequence(kind(whole), TOKENS, layer="all").numbers, whole)
    assert show(kind(whole), TOKENS, layer=2, head=3) == show(whole[2, 3], TOKENS)
    assert show(kind(whole), TOKENS, entry=2, head=3) == show(whole[2, 3], TOKENS)
    assert torch.equal(one_sequence(kind(whole[:1]), TOKENS).numbers, whole[:1]), "either"


BEAMS = tuple((weights_of(BATCH, HEADS)[..., :2, :2],) * LAYERS for _ in range(2))
STEPS = tuple((weights_of(1, HEADS)[..., -1:, : 2 + step],) for step in range(3))
WHOLE, TWO = weights_of(BATCH, HEADS), (weights_of(1, 7), weights_of(1, 11))
REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (WHOLE, {"entry": 3}, "entry must lie below 3, got 3"),
    (RETURNED, {"entry": 1}, "entry must lie below 1, got 1"),
    ((WHOLE,) * 2, {}, r"\(3, 7, 5, 5\) are those of a batch of 3: give entry, from 0 to 2"),
    (weights_of(HEADS), {"entry": 0}, r"with entry, weights must be \(batch, .*\(7, 5, 5\)"),
    ([*ALONE], {"entry": 0}, r"must be \(batch, .* without entry, got \(7, 5, 5\)"),
    ((weights_of(1, 1, 1),), {}, r"layer must be \(batch, .*, got \(1, 1, 1, 5, 5\)"),
    (TWO, {}, r"as many heads, .* got \(7, 5, 5\) and \(11, 5, 5\)"),
    (ALONE[0].to("meta"), {}, "must be numbers, got a tensor on the meta device"),
    ({"attentions": RETURNED}, {}, "must be numbers, got dict"),
    (((RETURNED,),), {}, "tuples of tuples of tensors, got them 3 deep"),
    (RETURNED, {"attention_mask": [1, 1]}, "a number for each of 5 keys, got 2"),
    (RETURNED, {"attention_mask": [[[1]]]}, r"\(batch, keys\) or \(keys,\), got \(1, 1, 1\)"),
    (RETURNED, {"attention_mask": [[1] * 5] * 2}, r"mask \(2, 5\) are those of a batch"),
    (RETURNED, {"attention_mask": [1, 1, 1, 0, 0]}, "mask must be 0 only at keys that have no w"),
    (BEAMS, {}, r"\(3, 7, 2, 2\) are those of a batch of 3: .*; beams of generate cannot"),
    (STEPS, {}, "whole sequence, 1 given and 3 written, got 5"),
    (STEPS, {"tokens": [*"abcd"], "keys": [*"xyz"]}, "step 0 must be those of 3 keys"),
    (RETURNED, {"tokens": "the cat sat on it"}, "list of texts, got one text: 'the cat sat"),
    (RETURNED, {"layer": "all", "head": 3}, r"must lie below 2, 7 and 5, got all, 3 and 0"),
]


@over("weights, more, message", REFUSED)
def test_what_does_not_fit_is_refused_with_what_came(weights, more, message):
    with pytest.raises(ValueError, match=message):
        show(weights, **{"tokens": TOKENS} | more)


def test_what_the_docs_show_for_transformers_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    section = (Path(__file__).parents[2] / "docs" / "notebook.md").read_text("utf-8")
    (shown,) = (code for code in section.split("```python\n")[1:] if "AutoModel" in code)
    write_checkpoint(tmp_path, "bert")
    code = shown.split("```")[0].replace("bert-base-uncased", str(tmp_path))
    exec(compile(code, "notebook.md", "exec"), {})


THREE, KEYS = ["the", "cat", "sat"], ["<b>", "cat", "", "sat", "😀"]
MUST_BE_WEIGHTS = "weights must be 0 or more, and each row must sum to 1"


def crossed(*leading: int) -> Tensor:
    """Weights of three queries over five keys."""
    return drawn(*leading, 3, 5).softmax(-1)


@over("leading", [(), (1,), (1, 1)])
def test_one_head_is_shown_as_its_heatmap_whatever_holds_it(leading):
    weights = crossed(*leading)
    alone = WeightsAlone(weights.reshape(3, 5))
    expected = plots.heatmap(alone, "weights", THREE, 0, KEYS)
    for kind in (Tensor, numpy.asarray, Tensor.tolist, Tensor.double):
        assert show(kind(weights), THREE, keys=KEYS) == expected
    shown = expected.to_json()
    assert "&lt;b" in shown
    assert "<b>cat" not in shown


EYE = torch.eye(3)
NO_WEIGHTS: list[tuple[Any, list[str], list[str] | None, str]] = [
    (torch.ones(3), THREE, None, r"weights must be \(layers, heads, .*, got \(3,\)"),
    (EYE, THREE[:2], None, r"\(…, 2, 2\), a row for each token, got .*3, 3\)"),
    (EYE, THREE, KEYS, r"\(…, 3, 5\), a row for each token, got .*3, 3\)"),
    (EYE, [], None, r"\(…, 0, 0\)"),
    (torch.ones(0, 3, 3), THREE, None, r"a row for each token, got .*0, 3, 3\)"),
    (EYE * math.nan, THREE, None, MUST_BE_WEIGHTS),
    (EYE * 2 - 1 / 3, THREE, None, MUST_BE_WEIGHTS),
    (EYE * 1.02, THREE, None, MUST_BE_WEIGHTS),
    (EYE + 0j, THREE, None, "weights must be numbers, got torch.complex64"),
    (numpy.eye(3) > 0, THREE, None, "weights must be numbers, got bool"),
    ([["1", "0"], ["0", "1"]], THREE[:2], None, "weights must be numbers, got <U1"),
    ([[1], [1, 0]], THREE[:2], None, "inhomogeneous"),
]


@over("weights, tokens, keys, message", NO_WEIGHTS)
def test_what_are_no_weights_of_these_tokens_is_refused(weights, tokens, keys, message):
    with pytest.raises(ValueError, match=message):
        show(weights, tokens, keys=keys)


def test_rows_may_sum_to_1_as_far_as_half_precision_goes_and_with_a_sink_it_is_said():
    for whole in (EYE * 0.995, EYE * 1.005, torch.zeros(3, 3)):
        assert not show(whole, THREE).layout.annotations
    for leading in [(), (7,)]:
        weights = torch.full((*leading, 3, 5), 0.05)
        weights[..., 1, :] = torch.tensor([0.5, 0.25, 0.25, 0.0, 0.0])
        shown = show(weights, THREE, keys=KEYS)
        sums = "The sums of the rows go from 0.2500 to 1.0000: the rest goes"
        assert sums in (
            shown.layout.annotations[0].text if not leading else [*shown.scene][1].words
        )


def test_of_many_heads_one_is_checked_and_shown_alone():
    weights = torch.full((40, 40, 3, 5), torch.nan)
    weights[37, 38] = crossed()
    shown = show(weights, THREE, layer=37, head=38, keys=KEYS)
    assert shown == show(weights[37, 38], THREE, keys=KEYS)
    with pytest.raises(ValueError, match=MUST_BE_WEIGHTS):
        show(weights, THREE, layer="all", keys=KEYS)
    words = "layer, head and query must lie below 2, 7 and 3, got "
    wrong = ({"layer": 2}, {"head": 7}, {"layer": -1}, {"head": -1}, {"head": 0, "query": 3})
    for asked in wrong:
        with pytest.raises(ValueError, match=words):
            show([*crossed(2, 7)], THREE, keys=KEYS, **asked)


def test_all_heads_and_a_head_of_too_many_cells_are_squares_by_their_greatest():
    patches = [f"patch {at}" for at in range(577)]
    assert show(torch.eye(577), patches).data[0].z.shape == (577, 577)
    for weights, tokens, heads, words in (
        (crossed(2, 7), THREE, 14, "3 queries down, 5 keys across. Each square is a weight;"),
        (torch.eye(601), patches + patches[:24], 1, "Each square is the greatest of 10 × 10"),
    ):
        keys = KEYS if heads > 1 else None
        whole = "all" if heads > 1 else None
        grid, below = show(weights, tokens, keys=keys, layer=whole).scene
        squares = (-(-size // grid.block) for size in weights.shape[-2:])  # the last one smaller
        assert grid.dots.shape == (heads, *squares)
        assert words in below.words

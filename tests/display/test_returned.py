"""Attentions that transformers returns are shown as they are: layers, batches, steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.display.returned import one_sequence
from attention.display.showing import show
from tests.lessons.making import drawn
from tests.trained.making import transformers, write_checkpoint

LAYERS, HEADS, PIECES, BATCH = 2, 7, 5, 3
WRITTEN = 4
TOKENS = ["the", "cat", "sat", "<b>", "it"]
SEQUENCE = [*TOKENS, "and", "then", "it", "slept"]
IDS = torch.arange(3, 3 + BATCH * PIECES).view(BATCH, PIECES)
WIDTH, VOCABULARY = 28, 31
BERTS = {
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 11,
    "vocab_size": VOCABULARY,
}
GPTS = {
    "n_embd": WIDTH,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_positions": 13,
    "vocab_size": VOCABULARY,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
BARTS = {
    "d_model": WIDTH,
    "encoder_layers": LAYERS,
    "decoder_layers": LAYERS,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 11,
    "decoder_ffn_dim": 11,
    "max_position_embeddings": 13,
    "vocab_size": VOCABULARY,
    "decoder_start_token_id": 1,
    "bos_token_id": 1,
    "pad_token_id": 0,
    "eos_token_id": 2,
}
T5S = {
    "d_model": WIDTH,
    "d_kv": 4,
    "d_ff": 11,
    "num_layers": LAYERS,
    "num_heads": HEADS,
    "vocab_size": VOCABULARY,
    "decoder_start_token_id": 1,
    "pad_token_id": 0,
    "eos_token_id": 2,
}
WRITING = {
    "max_new_tokens": WRITTEN,
    "min_new_tokens": WRITTEN,
    "do_sample": False,
    "num_beams": 1,
    "pad_token_id": 0,
    "output_attentions": True,
    "return_dict_in_generate": True,
}


def built(name: str, sizes: dict[str, Any], attention: str = "eager") -> Any:
    """A model of transformers with random weights, large enough for all of them to matter."""
    kind = getattr(transformers(), name)
    config = kind.config_class(**sizes)
    config._attn_implementation = attention
    model = kind(config).eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += torch.randn(parameter.shape, generator=generator) * 0.2
    return model


def weights_of(*leading: int) -> Tensor:
    """Weights of each token over all."""
    return drawn(*leading, PIECES, PIECES).softmax(-1)


RETURNED = tuple(weights_of(1, HEADS) for _ in range(LAYERS))
ALONE = torch.stack([weights[0] for weights in RETURNED])


# Of one forward pass


def test_what_bert_returns_is_shown_with_its_gradients() -> None:
    model = built("BertModel", BERTS)
    attentions = model(IDS[:1], output_attentions=True).attentions
    assert all(weights.requires_grad for weights in attentions)
    numbers = one_sequence(attentions, TOKENS).numbers
    assert torch.equal(numbers, torch.stack([weights[0].detach() for weights in attentions]))
    assert numbers.shape == (LAYERS, HEADS, PIECES, PIECES)
    assert show(attentions, TOKENS) == show(numbers, TOKENS, layer="all")
    assert show(attentions, TOKENS, layer=1, head=5) == show(numbers[1, 5], TOKENS)
    assert show(numbers[1], numpy.array(TOKENS)) == show(numbers[1], TOKENS)
    attentions = model.bfloat16()(IDS[:1], output_attentions=True).attentions
    shown = torch.stack([weights[0].detach().float() for weights in attentions])
    assert show(attentions, TOKENS) == show(shown, TOKENS, layer="all")
    with pytest.raises(ValueError, match=r"each row must sum to 1, .*; after dropout, as in train"):
        show(model.train()(IDS[:1], output_attentions=True).attentions, TOKENS)


@pytest.mark.parametrize(
    "kind",
    [
        torch.stack,
        lambda all_: [one.numpy() for one in all_],
        lambda all_: torch.stack(all_).numpy(),
        lambda all_: [one[0] for one in all_],
        lambda all_: torch.stack(all_).tolist(),
        lambda all_: [one.double().requires_grad_() for one in all_],
    ],
)
def test_layers_may_come_in_any_kind_of_sequence(kind: Callable[[Any], Any]) -> None:
    assert show(kind(RETURNED), TOKENS) == show(ALONE, TOKENS, layer="all")


def test_heads_that_were_picked_from_layers_are_heads() -> None:
    picked = [weights[0, 3].requires_grad_() for weights in map(Tensor.clone, RETURNED)]
    assert show(picked, TOKENS) == show(ALONE[:, 3], TOKENS)
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


@pytest.mark.parametrize("more", [{}, {"layer": 1, "head": 3}])
def test_weights_are_brought_from_their_device_before_they_are_worked_on(
    more: dict[str, int],
) -> None:
    there = [weights.as_subclass(Elsewhere) for weights in RETURNED]
    with pytest.raises(AssertionError, match="sum"):
        there[0].sum()
    assert show(tuple(there), TOKENS, **more) == show(RETURNED, TOKENS, **more)
    assert show(there[0][0], TOKENS) == show(ALONE[0], TOKENS)
    whole = ALONE.as_subclass(Elsewhere)
    assert show(whole, TOKENS, layer=1) == show(ALONE, TOKENS, layer=1)
    assert show(whole, TOKENS, entry=1) == show(ALONE, TOKENS, entry=1)


# Batches


def test_padding_is_left_out_and_the_rest_is_what_the_sentence_alone_gives() -> None:
    model = built("BertModel", BERTS)
    mask = torch.ones_like(IDS)
    mask[1, 3:] = 0
    attentions = model(IDS, attention_mask=mask, output_attentions=True).attentions
    alone = model(IDS[1:2, :3], output_attentions=True).attentions
    for given in (mask, mask.tolist(), mask.numpy(), mask[1], mask.bool()):
        found = one_sequence(attentions, TOKENS, entry=1, attention_mask=given)
        assert found.tokens == TOKENS[:3]
        assert found.keys is None
        assert_close(found.numbers, one_sequence(alone, TOKENS[:3]).numbers)


def test_padding_among_the_keys_of_another_sequence_is_left_out() -> None:
    model = built("BartModel", BARTS)
    mask = torch.tensor([[1, 1, 1, 0, 0]])
    outputs = model(
        IDS[:1], attention_mask=mask, decoder_input_ids=IDS[1:2, :2], output_attentions=True
    )
    found = one_sequence(
        outputs.cross_attentions, ["der", "Hund"], TOKENS, entry=0, attention_mask=mask
    )
    assert (found.tokens, found.keys) == (["der", "Hund"], TOKENS[:3])
    assert_close(found.numbers.sum(-1), torch.ones(LAYERS, HEADS, 2))


# Encoder and decoder


@pytest.mark.parametrize(("name", "sizes"), [("BartModel", BARTS), ("T5Model", T5S)])
def test_of_an_encoder_and_a_decoder_each_kind_is_shown_over_its_own_tokens(
    name: str, sizes: dict[str, Any]
) -> None:
    made = ["der", "Hund", "schläft"]
    outputs = built(name, sizes)(
        input_ids=IDS[:1], decoder_input_ids=IDS[1:2, :3], output_attentions=True
    )
    kinds = {
        "encoder_attentions": (TOKENS, None),
        "decoder_attentions": (made, None),
        "cross_attentions": (made, TOKENS),
    }
    for kind, (tokens, keys) in kinds.items():
        cells = show(outputs[kind], tokens, keys=keys, layer=1, head=6).data[0]
        assert numpy.array_equal(cells.z, outputs[kind][1][0, 6].detach().numpy())
        assert cells.z.shape == (len(tokens), len(keys or tokens))
    with pytest.raises(ValueError, match=r"must be \(…, 3, 3\), .*, got \(2, 7, 3, 5\)"):
        show(outputs.cross_attentions, made)


# What `generate` returns


@pytest.mark.parametrize("use_cache", [True, False])
def test_each_row_of_generate_is_that_of_the_query_a_token_was_written_after(
    use_cache: bool,
) -> None:
    model = built("GPT2LMHeadModel", GPTS)
    made = model.generate(IDS, **WRITING, use_cache=use_cache)
    for entry in range(BATCH):
        found = one_sequence(made.attentions, SEQUENCE, entry=entry)
        passed = model(made.sequences[entry : entry + 1, :-1], output_attentions=True)
        whole = one_sequence(passed.attentions, SEQUENCE[:-1]).numbers
        assert_close(found.numbers, whole[..., PIECES - 1 :, :])
        assert found.tokens == ["→ and", "→ then", "→ it", "→ slept"]
        assert found.keys == SEQUENCE[:-1]
    assert not found.numbers[..., 0, PIECES:].any(), "no key is seen before it is written"
    cells = show(made.attentions, SEQUENCE, entry=2, layer=1, head=3).data[0]
    assert numpy.array_equal(cells.z, found.numbers[1, 3].numpy())
    first = show(made.attentions[0], TOKENS, entry=2, layer=1, head=3).data[0]
    assert numpy.array_equal(first.z, made.attentions[0][1][2, 3].numpy()), "what it was given"


def test_padding_in_front_of_what_is_gone_on_from_is_left_out() -> None:
    model = built("GPT2LMHeadModel", GPTS)
    mask = torch.ones_like(IDS)
    mask[1, :2] = 0
    made = model.generate(IDS, attention_mask=mask, **WRITING)
    found = one_sequence(made.attentions, SEQUENCE, entry=1, attention_mask=mask)
    alone = model.generate(IDS[1:2, 2:], **WRITING)
    assert torch.equal(made.sequences[1, 2:], alone.sequences[0])
    assert_close(found.numbers, one_sequence(alone.attentions, SEQUENCE[2:]).numbers)
    assert found.keys == SEQUENCE[2:-1]


def test_a_translation_has_one_row_for_each_written_token_over_its_source() -> None:
    model = built("BartForConditionalGeneration", BARTS)
    made = model.generate(IDS[:1], **WRITING)
    target = ["</s>", "der", "Hund", "schläft", "."]
    found = one_sequence(made.cross_attentions, target, TOKENS)
    passed = model(IDS[:1], decoder_input_ids=made.sequences[:, :-1], output_attentions=True)
    assert_close(found.numbers, torch.stack(passed.cross_attentions).detach()[:, 0])
    assert (found.tokens, found.keys) == (["→ der", "→ Hund", "→ schläft", "→ ."], TOKENS)
    itself = one_sequence(made.decoder_attentions, target)
    assert_close(itself.numbers, torch.stack(passed.decoder_attentions).detach()[:, 0])
    assert itself.keys == target[:-1]


LLAMAS = {
    "hidden_size": WIDTH,
    "head_dim": 4,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": 1,
    "intermediate_size": 11,
    "vocab_size": VOCABULARY,
    "sliding_window": 3,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


@pytest.mark.parametrize(
    ("name", "more", "given"),
    [("Mistral", {}, 2), ("Gemma3", {"sliding_window_pattern": 2}, PIECES)],
)
def test_with_a_sliding_window_each_row_has_the_last_keys(
    name: str, more: dict[str, Any], given: int
) -> None:
    model = built(f"{name}ForCausalLM", LLAMAS | more)
    made = model.generate(IDS[:1, :given], **WRITING)
    tokens = SEQUENCE[: given + WRITTEN]
    found = one_sequence(made.attentions, tokens)
    passed = model(made.sequences[:, :-1], output_attentions=True)
    assert_close(found.numbers, torch.stack(passed.attentions).detach()[:, 0, :, given - 1 :])
    assert not found.numbers[0, :, -1, :-3].any(), "outside the window"


# What has attentions


def test_what_a_model_returns_is_shown_by_its_attentions() -> None:
    model = built("GPT2LMHeadModel", GPTS)
    outputs = model(IDS[:1], output_attentions=True)
    assert show(outputs, TOKENS) == show(outputs.attentions, TOKENS)
    made = model.generate(IDS[:1], **WRITING)
    assert show(made, SEQUENCE, head=3) == show(made.attentions, SEQUENCE, head=3)
    with pytest.raises(ValueError, match="eager"):
        show(model(IDS[:1]), TOKENS)


def test_beams_are_refused_in_words() -> None:
    made = built("GPT2LMHeadModel", GPTS).generate(IDS[:1], **WRITING | {"num_beams": 3})
    with pytest.raises(ValueError, match=r"weights of beams cannot be shown: .* num_beams=1"):
        show(made, SEQUENCE)


def test_of_an_encoder_and_a_decoder_the_kinds_are_named() -> None:
    outputs = built("BartModel", BARTS)(IDS[:1], output_attentions=True)
    kinds = "outputs.encoder_attentions, outputs.decoder_attentions, outputs.cross_attentions"
    with pytest.raises(ValueError, match=f"several attentions: show {kinds}"):
        show(outputs, TOKENS)


# What cannot be shown


def test_a_model_that_keeps_no_weights_is_told_to_be_eager() -> None:
    model = built("GPT2LMHeadModel", GPTS, "sdpa")
    returned = model(IDS, output_attentions=True), model(IDS), model.generate(IDS, **WRITING)
    for nothing in (outputs.attentions for outputs in returned):
        with pytest.raises(ValueError, match="eager") as raised:
            show(nothing, TOKENS)
        assert 'attn_implementation="eager"' in str(raised.value)
        assert "output_attentions=True" in str(raised.value)


@pytest.mark.parametrize(
    ("nothing", "got"),
    [
        (None, "got None"),
        ((), "got an empty tuple"),
        ([], "got an empty tuple"),
        ((None, None), "got None"),
        ((RETURNED[0], None), "got None for some of them"),
        (((), ()), "got an empty tuple"),
        (((None,), (None,)), "got None"),
        ((RETURNED, ()), "got an empty tuple"),
        ((RETURNED, (RETURNED[0], None)), "got None for some of them"),
    ],
)
def test_whatever_lacks_weights_is_told_where_they_come_from(nothing: Any, got: str) -> None:
    with pytest.raises(ValueError, match=f"a tensor for each layer, {got}: .*eager"):
        show(nothing, TOKENS)


def test_of_four_axes_the_first_is_a_batch_or_layers_by_name() -> None:
    whole = weights_of(BATCH, HEADS)
    either = (
        r"weights \(3, 7, 5, 5\) may be those of 3 layers or of a batch of 3: give layer .* "
        r"if they are layers, or entry .* if they are a batch; got "
    )
    for kind in (Tensor, Tensor.numpy, Tensor.tolist):
        with pytest.raises(ValueError, match=f"{either}neither"):
            show(kind(whole), TOKENS, head=3)
        with pytest.raises(ValueError, match=f"{either}both"):
            show(kind(whole), TOKENS, layer=0, entry=0)
        assert show(kind(whole), TOKENS, layer="all") == show([*whole], TOKENS)
        assert show(kind(whole), TOKENS, layer=2, head=3) == show(whole[2, 3], TOKENS)
        assert show(kind(whole), TOKENS, entry=2, head=3) == show(whole[2, 3], TOKENS)
    assert show(whole[:1], TOKENS) == show(whole[0], TOKENS), "one is the same as either"


GPTS_BEAMS = tuple((weights_of(BATCH, HEADS)[..., :2, :2],) * LAYERS for _ in range(2))
STEPS = tuple((weights_of(1, HEADS)[..., -1:, : 2 + step],) for step in range(3))


@pytest.mark.parametrize(
    ("weights", "more", "message"),
    [
        (weights_of(BATCH, HEADS), {"entry": 3}, "entry must lie below 3, got 3"),
        (weights_of(BATCH, HEADS), {"entry": -1}, "entry must lie below 3, got -1"),
        (RETURNED, {"entry": 1}, "entry must lie below 1, got 1"),
        (
            (weights_of(BATCH, HEADS),) * 2,
            {},
            r"weights \(3, 7, 5, 5\) are those of a batch of 3: give entry, from 0 to 2",
        ),
        (weights_of(HEADS), {"entry": 0}, r"with entry, weights must be \(batch, .*\(7, 5, 5\)"),
        ([*ALONE], {"entry": 0}, r"must be \(batch, .* without entry, got \(7, 5, 5\)"),
        ((weights_of(1, 1, 1),), {}, r"layer must be \(batch, .*, got \(1, 1, 1, 5, 5\)"),
        (
            (weights_of(1, 7), weights_of(1, 11)),
            {},
            r"as many heads, .* got \(7, 5, 5\) and \(11, 5, 5\)",
        ),
        (weights_of(1, 1, 1, 1), {}, r"weights must be \(layers, .*, got \(1, 1, 1, 1, 5, 5\)"),
        (ALONE[0].to("meta"), {}, "must be numbers, got a tensor on the meta device"),
        ({"attentions": RETURNED}, {}, "must be numbers, got dict"),
        (((RETURNED,),), {}, "tuples of tuples of tensors, got them 3 deep"),
        ((ALONE[0] + 0j,), {}, "must be numbers, got torch.complex64"),
        ((ALONE[0].numpy() > 0,), {}, "must be numbers, got bool"),
        (RETURNED, {"attention_mask": [1, 1]}, "a number for each of 5 keys, got 2"),
        (RETURNED, {"attention_mask": [1] * 6}, "a number for each of 5 keys, got 6"),
        (RETURNED, {"attention_mask": [[[1]]]}, r"\(batch, keys\) or \(keys,\), got \(1, 1, 1\)"),
        (
            RETURNED,
            {"attention_mask": [[1] * 5] * 2},
            r"attention_mask \(2, 5\) are those of a batch",
        ),
        (RETURNED, {"attention_mask": [0] * 5}, r"must be \(…, 0, 0\)"),
        (GPTS_BEAMS, {}, r"\(3, 7, 2, 2\) are those of a batch of 3: .*; beams of generate cannot"),
        (
            RETURNED,
            {"attention_mask": [1, 1, 1, 0, 0]},
            "attention_mask must be 0 only at keys that have no weight",
        ),
        (STEPS, {}, "whole sequence, 1 given and 3 written, got 5"),
        (STEPS, {"tokens": [*"abcd"]}, r"step 0 must be those of 1 keys, .*\(7, 1, 2\)"),
        (STEPS, {"tokens": [*"abcd"], "keys": [*"xyz"]}, "step 0 must be those of 3 keys"),
        (RETURNED, {"tokens": "the cat sat on it"}, "list of texts, got one text: 'the cat sat"),
        (RETURNED, {"keys": "the cat"}, "keys must be a list of texts, got one text: 'the cat'"),
        (RETURNED, {"layer": "all", "head": 3}, r"must lie below 2, 7 and 5, got all, 3 and 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_came(
    weights: Any, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        show(weights, **{"tokens": TOKENS} | more)


# As the readme has it


def test_what_the_readme_shows_for_transformers_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    section = readme.split("## From a notebook")[1].split("\n## ")[0]
    (shown,) = (code for code in section.split("```python\n")[1:] if "AutoModel" in code)
    write_checkpoint(tmp_path, "bert")
    code = shown.split("```")[0].replace("bert-base-uncased", str(tmp_path))
    exec(compile(code, "README.md", "exec"), {})

"""Models of transformers: weights from what is kept are those of eager attention."""

from __future__ import annotations

import pytest
import torch

import attention
from attention.capture import Recording
from tests.capture.families import FAMILIES, KEPT, TEXT


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


def greatest_difference(run: Recording, expected: list[torch.Tensor]) -> float:
    """Between all the weights of a run, and (entries, heads, queries, keys) of each attention."""
    assert len(run.attentions) == len(expected)
    found = 0.0
    for kept, weights in zip(run.attentions, expected, strict=True):
        assert kept.shape == weights.shape
        for entry in range(len(weights)):
            for head in kept.heads:
                made = run.weights(kept.number, head, entry=entry)
                found = max(found, float((made - weights[entry, head]).abs().max()))
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_kept_weights_are_the_eager_ones_and_the_output_is_the_same(name):
    family = FAMILIES[name]
    plain = family.build()(**family.inputs())
    with family.told(), attention.capture() as run:
        output = family.build()(**family.inputs())
    assert torch.equal(output[0], plain[0])
    assert tuple(run.left_out) == family.mixes
    assert [row.module for row in run.report().left_out] == [*family.mixes]
    assert all(why.startswith("convolves 3 positions") for why in run.left_out.values())
    assert greatest_difference(run, family.eager_weights()) < 1e-5
    numbers = family.settings
    if "num_key_value_heads" in numbers:
        assert {kept.keys.shape[1] for kept in run.attentions} == {numbers["num_key_value_heads"]}


@pytest.mark.parametrize("name", ["Llama", "Gemma 3", "T5"])
def test_eager_attention_is_seen_too_where_whole_rows_are_padding(name):
    family = FAMILIES[name]
    model = family.build("eager")
    inputs = family.inputs()
    inputs["attention_mask"] = inputs["attention_mask"].flip(1)  # padding on the left
    with attention.capture() as run:
        model(**inputs)
    output = model(**inputs, output_attentions=True)
    weights = output.encoder_attentions if "encoder_attentions" in output else output.attentions
    run.runs[0]._attentions = run.attentions[: len(weights)]
    assert greatest_difference(run.runs[0], list(weights)) < 1e-5


def test_flash_attention_says_its_rules_in_other_words(monkeypatch):
    family = FAMILIES["Mistral"]
    model = family.build()

    def stand_in(module, query, key, value, attention_mask, scaling=None, **further):
        """Stand in for a kernel for other machines, by the words it is called with."""
        seen.append((attention_mask, further["sliding_window"]))
        queries, keys = query.shape[2], key.shape[2]
        at = torch.arange(queries)[:, None] - torch.arange(keys)
        allowed = (at >= 0) & (at < further["sliding_window"])
        allowed = allowed & attention_mask.bool()[:, None, None]
        keys, values = (part.repeat_interleave(3, 1) for part in (key, value))
        output = torch.nn.functional.scaled_dot_product_attention(
            query, keys, values, allowed, scale=scaling
        )
        return output.transpose(1, 2), None

    seen = []
    from transformers.modeling_utils import AttentionInterface

    monkeypatch.setitem(AttentionInterface._global_mapping, "flash_attention_2", stand_in)
    model.config._attn_implementation_internal = "flash_attention_2"
    with attention.capture() as run:
        model(input_ids=TEXT, attention_mask=KEPT)
    assert seen[0][0].shape == (2, 9)
    assert seen[0][1] == 5
    eager = family.eager_weights()
    for entry, length in ((0, 9), (1, 5)):
        made = run.weights(1, 4, rows=slice(length), entry=entry)
        torch.testing.assert_close(made, eager[1][entry, 4, :length], atol=1e-5, rtol=0)


def test_masks_that_are_functions_are_told_by_the_name_of_the_module(monkeypatch):
    from transformers.modeling_utils import AttentionInterface

    class Attends(torch.nn.Module):
        def forward(self, x):
            function = AttentionInterface().get_interface("flex_attention", None)
            return function(self, x, x, x, lambda *place: True)

    monkeypatch.setitem(AttentionInterface._global_mapping, "flex_attention", lambda *given: "ran")
    model = torch.nn.Sequential(Attends())
    with pytest.warns(UserWarning, match="not kept: 0 flex"), attention.capture() as run:
        assert model(torch.ones(1, 1, 2, 3)) == "ran"
    assert run.left_out["0"].startswith("flex_attention takes masks as functions")

"""Residual patching by layer and position, as by a hook on the blocks of transformers."""

import pytest
import torch

import attention
from tests.capture.families import FAMILIES, TEXT, writer
from tests.capture.making import Block, OwnAttention, inputs

CLEAN, CORRUPTED = TEXT[:1], TEXT[:1].clone()
CORRUPTED[0, 3] = 47


@pytest.mark.parametrize("name", ["Llama", "GPT-2", "Gemma 2"])
def test_a_patched_position_is_as_by_a_hook_on_its_block(name):
    model = writer(name)
    found = attention.patch_path(
        model, {"input_ids": CORRUPTED}, {"input_ids": CLEAN}, answer=(5, 7)
    )
    assert found.shape == (2, 9)
    blocks = model.transformer.h if name == "GPT-2" else model.model.layers
    with torch.no_grad():
        states = model(input_ids=CLEAN, output_hidden_states=True).hidden_states
        for layer, position in ((0, 3), (1, 3), (1, 8)):

            def write(module, given, kwargs, layer=layer, position=position):
                x = (given[0] if given else kwargs["hidden_states"]).clone()
                x[:, position] = states[layer][:, position]
                return (
                    ((x, *given[1:]), kwargs) if given else (given, kwargs | {"hidden_states": x})
                )

            hook = blocks[layer].register_forward_pre_hook(write, with_kwargs=True)
            logits = model(input_ids=CORRUPTED).logits[0, -1]
            hook.remove()
            expected = logits[5] - logits[7]
            torch.testing.assert_close(found[layer, position], expected, atol=1e-5, rtol=1e-5)
        clean, corrupted = (model(input_ids=ids).logits[0, -1] for ids in (CLEAN, CORRUPTED))
    torch.testing.assert_close(found[0, 3], clean[5] - clean[7], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[0, 2], corrupted[5] - corrupted[7], atol=1e-5, rtol=1e-5)


def test_a_path_around_a_block_stays_as_it_was():
    net = Block(torch.nn.Sequential(OwnAttention())).eval()
    corrupted, clean = inputs(1), inputs(1, seed=3)
    (found,) = attention.patch_path(net, corrupted, clean, lambda outputs: outputs.sum((1, 2)))
    for position, answer in enumerate(found):
        entering = corrupted.clone()
        entering[:, position] = clean[:, position]
        expected = (corrupted + net.mix(entering)).sum()
        torch.testing.assert_close(answer, expected, atol=1e-4, rtol=1e-4)


def test_other_lengths_and_models_without_blocks_are_refused():
    model = writer("Llama")
    with pytest.raises(ValueError, match=r"same length, got \(\(1, 9\), \(1, 8\)\)"):
        attention.patch_path(model, {"input_ids": CLEAN[:, :8]}, {"input_ids": CLEAN}, 5)
    alone = torch.nn.MultiheadAttention(12, 3, batch_first=True).eval()
    given = (torch.ones(1, 3, 12),) * 3
    with pytest.raises(ValueError, match="must have a list of blocks, got none"):
        attention.patch_path(alone, given, given, lambda outputs: outputs[0].sum((1, 2)))
    with pytest.raises(ValueError, match="both inputs must be"):
        attention.patch_path(FAMILIES["Llama"].build(), {"input_ids": TEXT}, {"input_ids": TEXT}, 5)

"""Heads as their model's own output projection gets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

import attention
from attention.capture import Recording
from tests.capture.families import HANDED, TEXT, text
from tests.cases import over


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def captured(model: Any, **given: Any) -> tuple[Recording, list[tuple[Any, ...]]]:
    """A run, and what entered and left each module that is an output projection or JetMoe's."""
    told: list[tuple[Any, ...]] = []
    hooks = [
        part.register_forward_hook(lambda part, entered, left: told.append((part, entered, left)))
        for name, part in model.named_modules()
        if name.endswith(("self_attn.o_proj", "self_attention"))
    ]
    with attention.capture(values=True, strict=True, **given) as run:
        model(**text())
    for hook in hooks:
        hook.remove()
    return run.one(), told


def outputs(run: Recording, layer: int) -> Tensor:
    """(entries, heads, queries, d_v)."""
    entries, heads = run.attention(layer).shape[:2]
    every = [[run.output(layer, h, entry=e) for h in range(heads)] for e in range(entries)]
    return torch.stack([torch.stack(of_heads) for of_heads in every])


@over("name", ["DiffLlama", "Qwen3-Next", "Qwen 3.5"])
def test_effective_outputs_are_what_enters_the_output_projection(name):
    run, told = captured(HANDED[name].build())
    handed = run.effective()
    layers = [one.number for one in handed.attentions if "self_attn" in one.name]
    assert len(layers) == len(told)
    for layer, (_, (entered,), _) in zip(layers, told, strict=True):
        made = outputs(handed, layer).transpose(1, 2).flatten(2)
        for entry, length in ((0, 9), (1, 5)):
            torch.testing.assert_close(made[entry, :length], entered[entry, :length])
        before = outputs(run, layer).transpose(1, 2).flatten(2)
        assert abs(float(before.norm() - entered.norm())) > 0.1
        assert "run.effective() has it" in run.attention(layer).words


def test_a_row_of_a_difference_is_that_of_both_maps_with_its_sign(tmp_path):
    model = HANDED["DiffLlama"].build()
    run, _ = captured(model)
    handed, layer = run.effective(), model.layers[1].self_attn
    q1, k1, q2, k2 = layer.lambda_q1, layer.lambda_k1, layer.lambda_q2, layer.lambda_k2
    weight = (q1 @ k1).exp() - (q2 @ k2).exp() + layer.lambda_init
    assert [one.name for one in handed.attentions] == ["layers.0.self_attn", "layers.1.self_attn"]
    number = handed.attentions[1].number
    row, signed = handed.weights(number, 2, 8)[0], run.weights(number, 2, 8)[0]
    signed = signed - weight * run.weights(number, 5, 8)[0]
    torch.testing.assert_close(row / row.norm(), signed / signed.norm())
    assert not handed.attention(number).weights_are_a_distribution
    handed.save(tmp_path / "run.safetensors")
    again = Recording.open(tmp_path / "run.safetensors")
    torch.testing.assert_close(again.weights(number, 2, 8)[0], row)
    refused = pytest.raises(ValueError, match="to must be a run itself, got its effective heads")
    with refused, attention.change(model, off={(number, 2)}, to=handed):
        model(**text())
    alone, _ = captured(model, heads=[0, 1])
    with pytest.raises(ValueError, match=r"hands on together, as \[0, 3\], got \[0, 1\]"):
        alone.effective()


def test_heads_of_experts_have_the_rows_of_their_tokens_and_add_up_to_the_layer():
    run, told = captured(HANDED["JetMoe"].build())
    handed = run.effective()
    for layer, (module, _, (y, *_)) in enumerate(told):
        made = outputs(handed, layer).unflatten(1, (4, 3)).permute(1, 0, 3, 2, 4).flatten(3)
        parts = [x @ W.T for x, W in zip(made, module.experts.output_linear.weight, strict=True)]
        torch.testing.assert_close(sum(parts)[0] + module.experts.bias, y[0])
        asked = torch.stack([handed.weights(layer, 3 * expert).sum(1) > 0 for expert in range(4)])
        assert asked.sum(0).tolist() == 9 * [2]  # experts of each query
        assert len({tuple(which) for which in asked.T.tolist()}) > 1


@pytest.mark.filterwarnings("ignore:not kept")
def test_keys_of_several_tokens_are_shown_behind_those_of_the_tokens():
    model, ids = HANDED["DeepSeek-V4"].build(), torch.cat([TEXT[:1], TEXT[:1, :3]], 1)
    with attention.capture() as run:
        model(input_ids=ids)
    assert [one.shape[2:] for one in run.attentions] == [(12, 14), (12, 15)]
    run.show([*"abcdefghijkl"])
    run.show([*"abcdefghijkl"], layer=1, head=2)
    seen: list[bool] = []
    hook = model.layers[1].self_attn.o_a_proj.register_forward_pre_hook(
        lambda module, x: seen.extend(
            (x[0].flatten(2).unflatten(-1, (6, -1))[0, :, 2] == 0).all(-1)
        )
    )
    with attention.change(model, off={(1, 2)}, positions=[1, 3]):
        model(input_ids=ids)
    hook.remove()
    assert [at for at, zero in enumerate(seen) if zero] == [1, 3]

"""Changed heads of models of transformers, as by a hook on the output projection."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import attention
from attention.capture import Attention, Recording
from tests.capture.families import (
    DECODER,
    ENCODER,
    FAMILIES,
    HANDED,
    LLAVA,
    TEXT,
    Family,
    writer,
)
from tests.cases import over

PLAIN = {name: to for name, to in DECODER.items() if name != "head_dim"}
MORE = {
    "LLaVA": LLAVA,
    "Qwen2": Family("Qwen2Config", PLAIN),
    "Gemma": Family("GemmaConfig", DECODER),
    "Granite": Family("GraniteConfig", PLAIN),
    "Cohere": Family("CohereConfig", PLAIN),
    "StableLM": Family("StableLmConfig", PLAIN),
    "Phi": Family("PhiConfig", PLAIN),
    "OLMo": Family("OlmoConfig", PLAIN),
    "StarCoder 2": Family("Starcoder2Config", PLAIN),
    "RoBERTa": Family("RobertaConfig", ENCODER),
    "ELECTRA": Family("ElectraConfig", ENCODER | {"embedding_size": 24}),
    "Qwen3 eager": replace(FAMILIES["Qwen3"], runs="eager"),
}
ALL = FAMILIES | MORE
PROJECTION = re.compile(
    r"(attn|attention|Attention)\.(.*\.)?(o_proj|out_proj|c_proj|dense|o|wo|out_lin|projection)$"
)


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


@contextmanager
def written(projection: Any, heads: int, head: int, output: Tensor | float):
    """While it lasts, a hook by hand writes the output of a head before its projection."""

    def write(module: Any, given: Any) -> Any:
        x = given[0].clone()
        of_heads = x.view(*x.shape[:-1], heads, -1)
        of_heads[..., head, :] = output
        return (x, *given[1:])

    hook = projection.register_forward_pre_hook(write)
    try:
        yield
    finally:
        hook.remove()


def projection_of(model: Any, attention_name: str) -> Any:
    """The output projection of an attention, in its module or, as BERT has it, beside it."""
    inside, beside = [], []
    around = attention_name.rpartition(".")[0]
    for name, module in model.named_modules():
        if PROJECTION.search(name):
            (inside if name.startswith(f"{attention_name}.") else beside).append((name, module))
    found = inside or [each for each in beside if each[0].startswith(f"{around}.")]
    assert found, (attention_name, [name for name, _ in beside])
    return found[-1][1]


def last_of(model: Any, inputs: dict[str, Tensor]) -> tuple[Recording, Attention]:
    with attention.capture(values=True) as run:
        model(**inputs)
    return run.one(), run.attentions[-1]


def other(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Inputs of the same shape, with other tokens or numbers."""
    made = dict(inputs)
    for name in ("input_ids", "decoder_input_ids", "pixel_values", "input_features"):
        if name in made:
            made[name] = made[name].flip(1) if made[name].is_floating_point() else made[name]
            if not made[name].is_floating_point():
                special = (made[name] == 0) | (made[name] == 52)
                made[name] = torch.where(special, made[name], (made[name] * 3 + 1) % 51 + 1)
            else:
                made[name] = made[name] * 0.5
    return made


@pytest.mark.filterwarnings("ignore:not kept")
@pytest.mark.parametrize("name", ALL)
def test_a_changed_head_is_as_by_a_hook_on_the_output_projection(name):
    family = ALL[name]
    model, inputs = family.build(), family.inputs()
    plain = model(**inputs)[0]
    _, kept = last_of(model, inputs)
    number, head, heads = kept.number, 1, len(kept.heads)
    projection = projection_of(model, kept.name)
    mean = torch.arange(kept.values.shape[-1]) * 0.1
    there, of_other = last_of(model, other(inputs))
    outputs = torch.stack([there.output(number, head, entry=at) for at in range(kept.shape[0])])
    for to, value in (("zero", 0.0), (mean, mean), (there, outputs)):
        with attention.change(model, off={(number, head)}, to=to):
            changed = model(**inputs)[0]
        with written(projection, heads, head, value):
            expected = model(**inputs)[0]
        torch.testing.assert_close(changed, expected, atol=1e-6, rtol=1e-6)
        assert not torch.equal(changed, plain)
    for part in ("queries", "keys", "values"):
        same = replace(kept, **{part: getattr(of_other, part)})
        mixed = Recording([same])
        value = torch.stack([mixed.output(number, head, entry=at) for at in range(kept.shape[0])])
        with attention.change(model, off={(number, head)}, part=part, to=there):
            changed = model(**inputs)[0]
        with written(projection, heads, head, value):
            expected = model(**inputs)[0]
        torch.testing.assert_close(changed, expected, atol=1e-5, rtol=1e-6)
    assert torch.equal(model(**inputs)[0], plain)
    with attention.change(model, off=[]):
        assert torch.equal(model(**inputs)[0], plain)


@pytest.mark.parametrize("name", ["Llama", "Gemma 3", "Mistral", "gpt-oss", "GPT-2"])
@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_a_head_is_off_in_all_that_is_written_with_any_cache(name, cache):
    model = writer(name)
    static = {} if cache == "dynamic" else {"cache_implementation": "static"}
    options = {"max_new_tokens": 9, "min_new_tokens": 9, "do_sample": False, **static}
    given = {"input_ids": TEXT[:1], "attention_mask": torch.ones_like(TEXT[:1])}
    _, kept = last_of(model, given)
    with written(projection_of(model, kept.name), len(kept.heads), 2, 0.0):
        expected = model.generate(**given, **options)
    with attention.change(model, off={(kept.number, 2)}):
        assert torch.equal(model.generate(**given, **options), expected)
    seen = []
    with attention.change(model, off={(kept.name, 2)}, positions=[10, 12], to=0.5):
        hook = projection_of(model, kept.name).register_forward_pre_hook(
            lambda module, x: seen.append(x[0][0].unflatten(-1, (len(kept.heads), -1))[:, 2])
        )
        model.generate(**given, **options)
        hook.remove()
    halves = (torch.cat(seen) == 0.5).all(-1).nonzero().flatten()
    assert halves.tolist() == [10, 12]
    with attention.change(model, off={(kept.name, 2)}, part="keys", positions=[11], to=0.0):
        model.generate(**given, **options)


def test_forwards_of_generate_are_counted_from_the_prompt_on():
    model = writer("Llama")
    seen = []
    with attention.change(model, off={(0, 3)}, forwards=[0, 2]):
        hook = model.model.layers[0].self_attn.o_proj.register_forward_pre_hook(
            lambda module, x: seen.append(bool(x[0][..., 12:16].abs().max() == 0))
        )
        model.generate(input_ids=TEXT[:1], max_new_tokens=4, min_new_tokens=4, do_sample=False)
        hook.remove()
    assert seen == [True, False, True, False]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_keeps_its_type_and_is_as_by_hand(dtype):
    model, inputs = FAMILIES["Llama"].build().to(dtype), FAMILIES["Llama"].inputs()
    with attention.change(model, off={(0, 4)}):
        changed = model(**inputs)[0]
    with written(model.layers[0].self_attn.o_proj, 6, 4, 0.0):
        expected = model(**inputs)[0]
    assert changed.dtype is dtype
    assert torch.equal(changed, expected)
    with attention.capture(values=True) as run:
        plain = model(**inputs)[0]
    for part in ("queries", "keys", "values", "weights"):
        with attention.change(model, off={(1, 4)}, part=part, to=run):
            again = model(**inputs)[0]
        error = (again - plain).float().norm() / plain.float().norm()
        assert error < 4 * torch.finfo(dtype).eps


def test_padding_counts_for_no_mean_and_the_first_position_stays():
    model, inputs = FAMILIES["Llama"].build(), FAMILIES["Llama"].inputs()
    run, _ = last_of(model, inputs)
    rows = [run.output(0, 4, slice(1, length), entry=at) for at, length in enumerate((9, 5))]
    mean = torch.cat(rows).mean(0)
    found = attention.means(model, [inputs])
    torch.testing.assert_close(found[0][4, 0], mean)
    with attention.change(model, off={(0, 4)}, to="text"):
        by_word = model(**inputs)[0]
    with attention.change(model, off={(0, 4)}, to=found):
        by_means = model(**inputs)[0]
    with attention.change(model, off={(0, 4)}, to=mean, positions=slice(1, None)):
        expected = model(**inputs)[0]
    torch.testing.assert_close(by_word, expected)
    torch.testing.assert_close(by_means, expected)


@torch.no_grad()
def test_behind_padding_the_first_token_stays_as_it_does_without_any():
    model, ids = writer("Llama"), TEXT[:1, :6]
    mask = torch.tensor([[0, 0, 0] + [1] * 6])
    padded = {"input_ids": torch.cat([torch.zeros(1, 3, dtype=torch.int64), ids], 1)}
    padded |= {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp_min(0)}
    ends = []
    for inputs in ({"input_ids": ids}, padded):
        with attention.change(model, off={(0, 4), (1, 2)}, to="text"):
            ends.append(model(**inputs).logits[:, -6:])
    torch.testing.assert_close(*ends, atol=1e-5, rtol=1e-5)


AFMOE = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
AFMOE |= {"num_dense_layers": 2, "layer_types": 2 * ["full_attention"]}
BEHIND = {  # a gate or a norm, by which a layer's heads enter its output projection
    "Qwen3-Next": (HANDED["Qwen3-Next"], 1, 4),
    "AFMoE": (Family("AfmoeConfig", DECODER | AFMOE), 1, 4),
    "BitNet": (Family("BitNetConfig", DECODER), 1, 4),
    "Llama": (FAMILIES["Llama"], 1, 4),
}


@over("name, to", [(name, to) for name in BEHIND for to in ("zero", "text", "means", "run")])
@torch.no_grad()
def test_a_head_is_changed_as_it_is_handed_on_and_no_other_one(name, to):
    family, layer, head = BEHIND[name]
    model = family.build()
    projection = model.layers[layer].self_attn.o_proj
    entered: list[torch.Tensor] = []
    projection.register_forward_pre_hook(lambda module, args: entered.append(args[0].clone()))
    ids = [TEXT[:1], TEXT[:1].flip(1)]
    with attention.capture(values=True) as run:
        model(ids[1])
    model(ids[0])
    there, now = entered
    some = slice(4 * head, 4 * head + 4)
    put: Any = {"run": run.one(), "means": attention.means(model, [ids[1]]) if to == "means" else 0}
    entered.clear()
    with attention.change(model, off={(layer, head)}, to=put.get(to, to)):
        model(ids[0])
    expected = now.clone()
    mean = (now if to == "text" else there)[:, 1:, some].mean(1, keepdim=True)
    if to in ("text", "means"):
        expected[:, 1:, some] = mean
    else:
        expected[..., some] = there[..., some] if to == "run" else 0
    torch.testing.assert_close(entered[0], expected, atol=1e-5, rtol=1e-5)
    others = torch.ones(now.shape[-1], dtype=torch.bool)
    others[some] = False
    assert torch.equal(entered[0][..., others], now[..., others])

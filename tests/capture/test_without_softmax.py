"""Layers without a softmax of transformers: Σ w v is what their kernels returned."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import attention
from attention.capture import Recording
from attention.capture.kernels import KERNELS
from attention.capture.recurrences import Recurrence
from tests.capture.families import TEXT, WITHOUT_SOFTMAX, Family
from tests.cases import over

RULES = {"Qwen3-Next": "gated delta rule", "Qwen 3.5": "gated delta rule"}
RULES |= {"OLMo Hybrid": "gated delta rule"}
OF_EXPERTS = ("Qwen3-Next", "GraniteMoeHybrid")  # which take widths of 16 bytes alone
LONG = torch.arange(1, 2 * 131 + 1).reshape(2, 131) * 7 % 51 + 1


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


@contextmanager
def kernels_told(model: Any) -> Iterator[list[tuple[Tensor, dict[str, Any]]]]:
    """While it lasts, the list gets what each kernel of a model returned, and what it was given."""
    told: list[tuple[Tensor, dict[str, Any]]] = []

    def telling(kernel: Any) -> Any:
        @functools.wraps(kernel)
        def called(*args: Any, **kwargs: Any) -> Any:
            returned = kernel(*args, **kwargs)
            made = returned[0] if isinstance(returned, tuple) else returned
            given = [part for part in args if isinstance(part, Tensor)]
            told.append((made, {**kwargs, "given": given}))
            return returned

        return called

    with pytest.MonkeyPatch.context() as patch:
        for module in {type(part).__module__ for part in model.modules()}:
            for name in KERNELS.keys() & vars(sys.modules[module]).keys():
                patch.setattr(sys.modules[module], name, telling(vars(sys.modules[module])[name]))
        yield told


def recurrences(run: Recording) -> list[Recurrence]:
    return [one for one in run.attentions if isinstance(one, Recurrence)]


def expected_of(layer: Recurrence, made: Tensor, said: dict[str, Any]) -> Tensor:
    """All of a kernel's output but D · x, (entries, heads, tokens, d_v)."""
    made = made.transpose(1, 2)
    if said.get("D") is None:
        return made
    return made - said["D"][:, None, None].float() * layer.values.float()


def outputs_of(run: Recording, layer: Recurrence) -> Tensor:
    entries, heads = layer.shape[:2]
    made = [
        torch.stack([run.output(layer.number, head, entry=entry) for head in range(heads)])
        for entry in range(entries)
    ]
    return torch.stack(made)


@over("name", WITHOUT_SOFTMAX)
def test_weights_times_values_are_what_the_kernel_returned_and_the_report_says_what_is_beside(name):
    model, ids = WITHOUT_SOFTMAX[name].build(), LONG if name == "Bamba" else TEXT
    given = {"input_ids": ids, "attention_mask": (ids != 0).long()}
    plain = model(**given)
    with kernels_told(model) as told, attention.capture(values=True, strict=True) as run:
        output = model(**given)
    assert torch.equal(output[0], plain[0])
    layers = recurrences(run)
    assert {layer.rule for layer in layers} == {RULES.get(name, "state space")}
    for layer, (made, said) in zip(layers, told, strict=True):
        assert layer.shape == (2, 6, ids.shape[1], ids.shape[1])
        expected = expected_of(layer, made, said)
        torch.testing.assert_close(outputs_of(run, layer), expected, atol=1e-5, rtol=0)
        assert float(expected.abs().max()) > 0.01
    words = {row.module: row.words for row in run.report().rows}
    assert {row.state for row in run.report().rows} == {"kept"}
    for each in run.attentions:
        rule = each.rule if isinstance(each, Recurrence) else ""
        beside = "no softmax; not in its matrix: a convolution of 3 positions before it, "
        assert (beside in words[each.name]) == bool(rule)
        assert ("what D adds" in words[each.name]) == (rule == "state space")


@over("name", [name for name in WITHOUT_SOFTMAX if name not in OF_EXPERTS])
@over("dtype", [torch.float32, torch.bfloat16])
def test_no_more_is_kept_than_the_kernel_was_given(name, dtype):
    model = WITHOUT_SOFTMAX[name].build().to(dtype)
    with kernels_told(model) as told, attention.capture(values=True) as run:
        model(input_ids=LONG)
    for layer, (_, said) in zip(recurrences(run), told, strict=True):
        named = [part for key, part in said.items() if key not in ("D", "dt_bias")]
        given = [*said["given"], *(part for part in named if isinstance(part, Tensor))]
        parts = [part for part in vars(layer).values() if isinstance(part, Tensor)]
        assert sum(part.untyped_storage().nbytes() for part in parts) <= sum(
            part.nbytes for part in given
        )


@over("name", ["Qwen3-Next", "Mamba-2", "Zamba-2"])
def test_a_text_that_is_written_is_one_run_with_a_row_for_each_token(name):
    family = replace(WITHOUT_SOFTMAX[name], model="AutoModelForCausalLM")
    model, prompt = family.build(), TEXT[:1]
    asked = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False}
    with attention.capture(values=True, strict=True) as run:
        written = model.generate(prompt, **asked)
    with attention.capture(values=True, strict=True) as whole:
        model(input_ids=written[:, :-1], use_cache=False)
    assert len(run.runs) == 1
    for layer, other in zip(recurrences(run), recurrences(whole), strict=True):
        assert layer.shape == (1, 6, 13, 13)
        for head in range(6):
            made, expected = (one.weights(layer.number, head) for one in (run, whole))
            torch.testing.assert_close(made, expected, atol=1e-5, rtol=1e-5)
        assert outputs_of(run, layer).shape == outputs_of(whole, other).shape


def test_a_state_of_tokens_that_were_not_seen_is_told():
    model = WITHOUT_SOFTMAX["Qwen 3.5"].build()
    cache = model(input_ids=TEXT[:1], use_cache=True).past_key_values
    with (
        pytest.warns(UserWarning, match="goes on from a state of tokens that were not seen"),
        attention.capture() as run,
    ):
        model(input_ids=TEXT[:1, :3], cache=cache)
    assert [*run.left_out] == ["layers.0.linear_attn", "layers.2.linear_attn"]
    assert [one.name for one in run.attentions] == ["layers.1.self_attn"]


def test_heads_layers_tiles_and_rows_are_those_of_the_whole():
    model = WITHOUT_SOFTMAX["Qwen3-Next"].build()
    with attention.capture(values=True) as run:
        model(input_ids=LONG)
    with attention.capture(layers=[2], heads=[5, 1], values=True) as some:
        model(input_ids=LONG)
    assert [(one.number, one.heads) for one in some.attentions] == [(2, (5, 1))]
    whole = run.weights(2, 1, entry=1)
    assert torch.equal(some.weights(2, 1, entry=1), whole)
    assert bool((whole < 0).any())
    assert not bool(whole.triu(1).any())
    rows, columns = [130, 3, 67], slice(60, 129, 2)
    tile = some.weights(2, 1, rows, columns, entry=1)
    torch.testing.assert_close(tile, whole[rows][:, columns], atol=1e-7, rtol=0)
    torch.testing.assert_close(
        some.output(2, 1, rows, entry=1), run.output(2, 1, entry=1)[rows], atol=1e-6, rtol=0
    )
    sums = run.pooled(2, 1, 131, how="sum", entry=1)
    torch.testing.assert_close(sums, whole, atol=1e-7, rtol=0)


def test_the_greatest_of_a_block_is_that_of_the_greatest_size_with_its_sign():
    model = WITHOUT_SOFTMAX["Qwen 3.5"].build()
    with attention.capture() as run:
        model(input_ids=LONG)
    whole = torch.zeros(132, 132)
    whole[:131, :131] = run.weights(0, 4)
    blocks = whole.unfold(0, 12, 12).unfold(1, 12, 12).flatten(2)
    at = blocks.abs().argmax(-1, keepdim=True)
    pooled = run.pooled(0, 4, 11)
    assert bool((pooled < 0).any())
    torch.testing.assert_close(pooled, blocks.gather(-1, at)[..., 0], atol=1e-7, rtol=0)


@over("name", ["OLMo Hybrid", "Bamba"])
def test_a_file_gives_the_weights_of_a_run_without_softmax(name, tmp_path):
    with attention.capture(heads=[4, 2], values=True) as run:
        WITHOUT_SOFTMAX[name].build()(input_ids=TEXT)
    run.save(tmp_path / "run.safetensors")
    opened = Recording.open(tmp_path / "run.safetensors")
    assert str(opened.report()) == str(run.one().report())
    for kept in run.attentions:
        for entry in (0, 1):
            for made in (Recording.weights, Recording.output):
                assert torch.equal(
                    made(opened, kept.number, 2, entry=entry),
                    made(run.one(), kept.number, 2, entry=entry),
                )


def test_a_layer_of_another_kind_stays_left_out_and_says_why():
    settings = {"vocab_size": 53, "hidden_size": 24, "num_hidden_layers": 1, "state_size": 4}
    model = Family("MambaConfig", settings, runs="eager").build()
    with pytest.warns(UserWarning, match="not kept"), attention.capture() as run:
        model(input_ids=TEXT)
    assert run.runs == []
    assert [row.state for row in run.report().rows] == ["left out"]

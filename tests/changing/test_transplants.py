"""Transplants of heads between two models, and the changes of weights and maps beside them."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import torch
from scipy.spatial.distance import jensenshannon
from torch import Tensor
from torch.testing import assert_close

from attention.capture.capturing import capture
from attention.changing.change import Change
from attention.changing.head_matrices import matrices_of_heads
from attention.changing.known import hidden
from attention.changing.transplants import map_changes, pair, transplants, weight_changes
from attention.core.functional import share_heads
from attention.trained.checkpoints import load_folder
from tests.capture.families import TEXT, writer
from tests.cases import over
from tests.changing.kinds import TINY
from tests.changing.pairs import known, tuned
from tests.trained.making import write_checkpoint

__all__ = ["known"]
NEAR = {"atol": 1e-5, "rtol": 0.0}
SENTENCE = "the cat sat on the mat"
PROJECTIONS = {  # of a family, the matrix that its heads go through
    "Llama": r"\.o_proj$",
    "GPT-2": r"\.attn\.c_proj$",
    "Qwen3": r"\.o_proj$",
    "Gemma 2": r"\.o_proj$",
    "GPT-NeoX": r"\.attention\.dense$",
}


@torch.no_grad()
def by_hand(
    model: Any, matrix: str, word: int, heads: list[tuple[int, int]], other: list[Tensor], n: int
) -> tuple[float, list[Tensor]]:
    """The answer with heads as others were, by hooks before the output projections, and what
    entered these. other: what entered those of the other model, (1, tokens, n heads side by side)
    """
    entered: list[Tensor] = []

    def hook(module: Any, given: Any) -> Any:
        layer, x = len(entered), given[0].clone()
        entered.append(given[0])
        for at, head in heads:
            if at == layer:
                part = slice(*(x.shape[-1] // n * end for end in (head, head + 1)))
                x[..., part] = other[layer][..., part]
        return (x, *given[1:])

    parts = [part for name, part in model.named_modules() if re.search(matrix, name)]
    hooks = [part.register_forward_pre_hook(hook) for part in parts]
    logits = model(input_ids=TEXT[:1], use_cache=False).logits
    for each in hooks:
        each.remove()
    return float(logits[0, -1].softmax(-1)[word]), entered


@over("name", PROJECTIONS)
def test_transplants_in_families_of_transformers_are_those_of_hooks_by_hand(name):
    base, matrix, word = writer(name), PROJECTIONS[name], 11
    other = tuned(writer(name))
    found = transplants(base, other, {"input_ids": TEXT[:1]}, word)
    n = found.put_back.shape[1]
    every = [(layer, head) for layer in range(2) for head in range(n)]
    (first, of_base), (second, of_tuned) = (
        by_hand(model, matrix, word, [], [], n) for model in (base, other)
    )
    assert_close([float(found.base), float(found.tuned)], [first, second], **NEAR)
    for head in every:
        back = by_hand(other, matrix, word, [head], of_base, n)[0] - second
        into = by_hand(base, matrix, word, [head], of_tuned, n)[0] - first
        assert_close(float(found.put_back[head]), back, **NEAR)
        assert_close(float(found.put_in[head]), into, **NEAR)
    assert_close(float(found.all_put_back), by_hand(other, matrix, word, every, of_base, n)[0])
    assert float(found.put_back.abs().max()) > 1e-4


def test_transplants_of_a_known_model_are_those_of_its_heads_written_by_hand(known):
    base, other = known
    runs: Any = [model.run(SENTENCE) for model in known]  # type: ignore[attr-defined]
    told: list[tuple[int, int]] = []
    found = transplants(base, other, SENTENCE, 5, progress=lambda *done: told.append(done))
    layers, heads = found.put_back.shape
    for layer in range(layers):
        for head in range(heads):
            for model, own, its, moved, before in (
                (other, runs[1], runs[0], found.put_back, found.tuned),
                (base, runs[0], runs[1], found.put_in, found.base),
            ):
                part = its.inputs[layer].trace().output[head]
                states = hidden(model, own, [[Change(layer, to=part, heads=[head])]])[0]
                answer = model.scores(states[-1]).softmax(-1)[5]  # type: ignore[attr-defined]
                assert_close(moved[layer, head], answer - before, **NEAR)
    assert told[-1] == (2 * layers * heads, 2 * layers * heads)
    assert [one for one, _ in told] == sorted(one for one, _ in told)
    strongest = found.put_back[found.strongest[0]].abs()
    assert strongest == found.put_back.abs().max() > 1e-4


def test_a_model_beside_itself_moves_nothing(known):
    base, _ = known
    found, run = transplants(base, base, SENTENCE, 5), base.run(SENTENCE)
    for moved in (found.put_back, found.put_in, found.all_put_back - found.tuned):
        assert_close(moved, torch.zeros_like(moved), **NEAR)
    assert float(map_changes(run, run).abs().max()) == 0
    assert all(float(each.abs().max()) == 0 for each in weight_changes(base, base))


def test_changes_of_weights_are_those_of_the_whole_matrices(known):
    found = weight_changes(*known)
    for layer, both in enumerate(zip(*(model.layers for model in known), strict=True)):
        wholes = []
        for one in both:
            attention = one.attention
            parts = []
            for role in ("queries", "keys", "values"):
                matrix, _ = attention.projection(role)
                count = attention.heads if role == "queries" else attention.groups
                of_groups = matrix.double().unflatten(1, (count, -1)).transpose(0, 1)
                parts.append(share_heads(of_groups, attention.heads))
            output, _ = attention.projection("output")
            of_heads = output.double().unflatten(0, (attention.heads, -1))
            wholes.append((parts[0] @ parts[1].mT, parts[2] @ of_heads))
        for at, change in enumerate(found):
            base, other = (whole[at] for whole in wholes)
            expected = (other - base).norm(dim=(1, 2)) / base.norm(dim=(1, 2))
            assert_close(change[layer], expected)
            assert float(expected.min()) > 1e-3


@over("name", ("Llama", "GPT-2", "Gemma 2", "GPT-NeoX", "Phi-3"))
@torch.no_grad()
def test_matrices_of_heads_of_transformers_make_their_queries_keys_and_values(name):
    model, ran = writer(name), []
    entered: list[Tensor] = []
    attending = [
        part
        for part in model.modules()
        if {"q_proj", "c_attn", "qkv_proj", "query_key_value"} & {*dict(part.named_children())}
    ]
    for part in attending:
        part.register_forward_pre_hook(
            lambda module, args, kwargs: entered.append((*args, *kwargs.values())[0]),
            with_kwargs=True,
        )
    for token in (3, 5):  # at the first position, where no rotation turns anything
        with capture(values=True) as run:
            model(input_ids=torch.tensor([[token]]))
        ran.append(run.one())
    for layer, matrices in enumerate(matrices_of_heads(model)):
        moved = (entered[len(attending) + layer] - entered[layer])[0].double()
        for role in ("queries", "keys", "values"):
            first, second = (getattr(run.attention(layer), role)[0].double() for run in ran)
            made = (moved @ matrices[role])[:: len(matrices[role]) // len(first)]
            assert_close(made, second - first, atol=1e-5, rtol=1e-4)
        assert matrices["output"].shape == matrices["queries"].shape


def test_changes_of_maps_are_those_of_scipy(known):
    base, other = (model.run(SENTENCE) for model in known)
    found = map_changes(base, other)
    maps = [[one.trace().weights for one in run.inputs] for run in (base, other)]
    for layer, (first, second) in enumerate(zip(*maps, strict=True)):
        bits = jensenshannon(first.double(), second.double(), axis=-1, base=2) ** 2
        assert_close(found[layer], torch.as_tensor(bits.mean(-1)), atol=1e-6, rtol=0.0)
    family = writer("Llama")
    recordings = []
    for model in (family, tuned(writer("Llama"))):
        with torch.no_grad(), capture() as run:
            model(input_ids=TEXT[:1])
        recordings.append(run.one())
    first, second = (run.weights(1, 2).double() for run in recordings)
    bits = jensenshannon(first, second, axis=-1, base=2) ** 2
    assert_close(map_changes(*recordings)[1, 2], torch.as_tensor(bits.mean()), atol=1e-6, rtol=0.0)


def test_models_of_another_shape_are_refused_in_a_sentence(known, tmp_path):
    base, other = known
    write_checkpoint(tmp_path / "gpt2", "gpt2")
    gpt2, ids = load_folder(tmp_path / "gpt2", TINY), {"input_ids": TEXT[:1]}
    short = copy.copy(other)
    short.layers = short.layers[:-1]
    refused: list[tuple[Any, Any, Any, str]] = [
        (base, short, SENTENCE, r"the same layers, .* got layers of \[6, 6\] heads and of \[6\]"),
        (base, gpt2, SENTENCE, "base and tuned must"),
        (base, writer("Llama"), SENTENCE, "both be models of this project, .* got Transformer and"),
        (writer("Llama"), writer("GPT-2"), ids, r"got layers of \[6, 6\] heads and of \[3, 3\]"),
        (base, "tuned", SENTENCE, "tuned must be"),
    ]
    for first, second, inputs, words in refused:
        with pytest.raises(ValueError, match=words):
            pair(first, second, inputs, 5)
    with pytest.raises(ValueError, match="same layers"):
        weight_changes(base, short)

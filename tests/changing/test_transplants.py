"""Transplants of heads between two models, and the changes of weights and maps beside them."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from scipy.spatial.distance import jensenshannon
from torch import Tensor
from torch.testing import assert_close

import attention
from attention.capture.capturing import capture
from attention.changing.change import Change
from attention.changing.head_matrices import matrices_of_heads
from attention.changing.known import hidden
from attention.changing.transplants import map_changes, pair, transplants, weight_changes
from attention.trained.checkpoints import load_folder
from tests.capture.families import (
    DECODER,
    ENCODER,
    FAMILIES,
    GPT_2,
    TEXT,
    WITHOUT_SOFTMAX,
    Family,
    writer,
)
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
    runs: Any = [model.run(SENTENCE) for model in known]
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
                answer = model.scores(states[-1]).softmax(-1)[5]
                assert_close(moved[layer, head], answer - before, **NEAR)
    assert told == sorted(told)
    assert told[-1] == (2 * layers * heads, 2 * layers * heads)


def test_changes_of_weights_are_those_of_the_whole_matrices(known):
    found, matrices = weight_changes(*known), [matrices_of_heads(model) for model in known]
    for at, (left, right) in enumerate((("queries", "keys"), ("values", "output"))):
        for layer, both in enumerate(zip(*matrices, strict=True)):
            base, other = (one[left] @ one[right].mT for one in both)
            expected = (other - base).norm(dim=(1, 2)) / base.norm(dim=(1, 2))
            assert_close(found[at][layer], expected)
            assert float(expected.min()) > 1e-3


def test_a_known_layout_has_the_matrices_that_transformers_has(tmp_path):
    theirs = write_checkpoint(tmp_path, "llama").theirs
    for one, other in zip(
        *map(matrices_of_heads, (theirs, load_folder(tmp_path, TINY))), strict=True
    ):
        assert_close(one, other)


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
    recordings = []
    for model in (writer("Llama"), tuned(writer("Llama"))):
        with torch.no_grad(), capture() as run:
            model(input_ids=TEXT[:1])
        recordings.append(run.one())
    runs = [model.run(SENTENCE) for model in known]
    of_runs = [run.inputs[1].trace().weights[2] for run in runs]
    of_recordings = [run.weights(1, 2) for run in recordings]
    for both, maps in ((runs, of_runs), (recordings, of_recordings)):
        bits = jensenshannon(*(each.double() for each in maps), axis=-1, base=2) ** 2
        found = float(map_changes(*both)[1, 2])
        assert found == pytest.approx(bits.mean(), abs=1e-6)
        assert found > 1e-5


SIZES = {name: size for name, size in ENCODER.items() if name != "head_dim"}
NOT_KNOWN = {
    "Falcon": Family("FalconConfig", SIZES | {"new_decoder_architecture": True}),
    "CodeGen": Family("CodeGenConfig", GPT_2 | {"rotary_dim": 4, "n_ctx": 64}),
    "GPT-BigCode": Family("GPTBigCodeConfig", GPT_2 | {"multi_query": False}),
    "Cohere": Family("CohereConfig", DECODER | {"use_qk_norm": True}),
    "Phi": Family("PhiConfig", DECODER | {"qk_layernorm": True}),
    "Qwen3-Next": WITHOUT_SOFTMAX["Qwen3-Next"],
}


@over("name", NOT_KNOWN)
def test_a_layout_that_is_not_known_for_certain_has_no_change_of_its_own(name):
    family = replace(NOT_KNOWN[name], model="AutoModelForCausalLM")
    base, other = family.build(), tuned(family.build())
    found = attention.compare(base, other, [{"input_ids": TEXT[:1]}], 11, most=2, draws=2)
    assert found.heads["qk_change"].isna().all()
    assert found.heads["put_back"].abs().max() > 0
    assert found.heads["ov_change"].isna().all() == (name in ("Falcon", "CodeGen", "GPT-BigCode"))


def test_matrices_of_t5_are_read():
    model = FAMILIES["T5"].build()
    first = matrices_of_heads(model)[0]
    theirs = model.encoder.block[0].layer[0].SelfAttention
    for role, projection in (("queries", theirs.q), ("keys", theirs.k), ("values", theirs.v)):
        made = first[role].movedim(0, 1).flatten(1)
        assert_close(made, projection.weight.T.double())
    assert_close(first["output"].mT.flatten(0, 1), theirs.o.weight.T.double())


@over("side, kernel", [(s, k) for s in ("left", "right") for k in ("sdpa", "eager")])
@torch.no_grad()
def test_rows_of_padding_count_for_no_change_of_maps(side, kernel):
    models = writer("Llama"), tuned(writer("Llama"))
    ids, none = TEXT[:1, :6], torch.zeros(1, 3, dtype=torch.int64)
    order = (none, ids) if side == "left" else (ids, none)
    mask = torch.cat([torch.full_like(part, int(part is ids)) for part in order], 1)
    padded = {"input_ids": torch.cat(order, 1), "attention_mask": mask}
    padded["position_ids"] = (mask.cumsum(-1) - 1).clamp_min(0)
    found = []
    for inputs in ({"input_ids": ids}, padded):
        runs = []
        for model in models:
            model.set_attn_implementation(kernel)
            with capture() as run:
                model(**inputs)
            runs.append(run.one())
        found.append(map_changes(*runs))
    assert_close(found[1], found[0], atol=1e-6, rtol=1e-4)
    assert float(found[0].min()) > 1e-6


def test_models_of_another_shape_are_refused_in_a_sentence(known):
    base, other = known
    ids = {"input_ids": TEXT[:1]}
    short = copy.copy(other)
    short.layers = short.layers[:-1]
    refused: list[tuple[Any, Any, Any, str]] = [
        (base, short, SENTENCE, r"the same layers, .* got layers of \[6, 6\] heads and of \[6\]"),
        (base, writer("Llama"), SENTENCE, "both be models of this project, .* got Transformer and"),
        (writer("Llama"), writer("GPT-2"), ids, r"got layers of \[6, 6\] heads and of \[3, 3\]"),
        (base, "tuned", SENTENCE, "tuned must be"),
    ]
    for first, second, inputs, words in refused:
        with pytest.raises(ValueError, match=words):
            pair(first, second, inputs, 5)
    with pytest.raises(ValueError, match="same layers"):
        weight_changes(base, short)

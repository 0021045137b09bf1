"""Claims about every variant, about the registry itself, and about each variant alone."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attention.core import masks
from attention.core.variants import VARIANTS, GroupedQuery, MultiHead, ParameterMaker, TalkingHeads
from tests.cases import over
from tests.core.variant_claims import CLAIMS, added, built, docs_variants, vectors

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
TOKENS, MEMORY, WIDTH = 7, 11, 21


@over("name", VARIANTS)
@each_claim
def test_of_every_variant(claim, name):
    claim(VARIANTS[name])


@each_claim
def test_of_the_variants_that_the_docs_add(claim, tmp_path):
    for source in docs_variants():
        with added(source, tmp_path) as variant:
            claim(variant)


PUBLISHED = {
    "multihead": "section 3.2.2. Published with scale 1/√d_k.",
    "grouped": "section 3, which folds 1/√d_k into W_q or W_k. Published without a scale.",
    "talking": "section 4. Published without a scale.",
    "cosine": "of the scale. Published with scale factor.",
}


@over("name", PUBLISHED)
def test_a_variant_says_with_which_scale_it_was_published(name):
    assert VARIANTS[name].published().endswith(PUBLISHED[name])


@pytest.mark.parametrize("name", ["grouped", "talking"])
def test_a_scale_can_be_folded_into_the_queries_matrix(name):
    layer, x = built(VARIANTS[name]), vectors()
    scaled = layer(x, scale=0.3)
    layer.W_q.data *= 0.3
    assert_close(layer(x, scale=1.0).weights, scaled.weights)


@pytest.mark.parametrize("name", ["qkv", "additive", "bilinear"])
def test_seeded_parameters_lie_within_glorots_bound(name):
    for parameter in built(VARIANTS[name]).parameters():
        rows, columns = parameter.shape if parameter.dim() == 2 else (parameter.shape[0], 1)
        bound = math.sqrt(6 / (rows + columns))
        assert bound * 0.5 < parameter.abs().max() <= bound


@pytest.mark.parametrize(
    ("name", "more"),
    [("qkv", {"d_k": 15, "d_v": 15}), ("bilinear", {}), ("multihead", {"heads": 1})],
)
def test_with_identity_parameters_and_one_head_it_is_dot_product_attention(name, more):
    plain = built(VARIANTS["dot"])
    layer = built(VARIANTS[name], parameters="identity", **more)
    trace, expected = (one(vectors(), scale=0.25) for one in (layer, plain))
    assert_close(trace.scores, expected.scores)
    assert_close(layer.output(trace), plain.output(expected))


# Many heads


class Biased(MultiHead):
    """Multi-head attention whose projections have biases."""

    def add_parameters(self, make: ParameterMaker) -> None:
        super().add_parameters(make)
        for name in ("b_q", "b_k", "b_v", "b_o"):
            setattr(self, name, make(self.config.d_model))


def sequences(tokens: int = TOKENS, width: int = WIDTH) -> Tensor:
    return torch.randn(2, tokens, width, generator=torch.Generator().manual_seed(tokens))


def with_torchs(kind: type[MultiHead], heads: int) -> tuple[MultiHead, Any]:
    """A layer, and torch's own with the same parameters."""
    layer = kind(kind.Config(WIDTH, heads=heads))
    W = layer.state_dict()
    theirs = nn.MultiheadAttention(WIDTH, heads, bias="b_q" in W, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([W["W_q"].T, W["W_k"].T, W["W_v"].T]))
        theirs.out_proj.weight.copy_(W["W_o"].T)
        if "b_q" in W:
            theirs.in_proj_bias.copy_(torch.cat([W["b_q"], W["b_k"], W["b_v"]]))
            theirs.out_proj.bias.copy_(W["b_o"])
    return layer, theirs


@pytest.mark.parametrize(
    ("kind", "heads"), [(MultiHead, 1), (MultiHead, 3), (MultiHead, 21), (Biased, 7)]
)
def test_many_heads_give_what_torch_gives_for_the_same_parameters(kind, heads):
    (layer, theirs), x, memory = with_torchs(kind, heads), sequences(), sequences(MEMORY)
    lengths, cells = torch.tensor([3, MEMORY]), masks.parse_cells("0:1,3-5 6:2", TOKENS, MEMORY)
    allowed = masks.lengths(lengths, MEMORY)
    for mask, their_masks in (
        (None, {}),
        (allowed & cells, {"key_padding_mask": ~allowed[:, 0], "attn_mask": ~cells}),
    ):
        trace = layer(x, mask, memory=memory)
        output, weights = theirs(x, memory, memory, average_attn_weights=False, **their_masks)
        assert_close(trace.weights, weights)
        assert_close(layer.output(trace), output)
        bias = layer.projection("output")[1]
        added = layer.head_outputs(trace).sum(-3)
        assert_close(added if bias is None else added + bias, output)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_groups_of_heads_agree_with_torch(groups):
    layer = GroupedQuery(GroupedQuery.Config(30, heads=6, groups=groups))
    x, memory = sequences(width=30), sequences(MEMORY, width=30)
    W, mask = layer.state_dict(), masks.window(TOKENS, MEMORY, 2)

    def heads(sequence: Tensor, name: str, count: int) -> Tensor:
        return torch.matmul(sequence, W[name]).reshape(2, -1, count, 5).transpose(1, 2)

    keys, values = (heads(memory, name, groups) for name in ("W_k", "W_v"))
    expected = scaled_dot_product_attention(
        heads(x, "W_q", 6), keys, values, attn_mask=mask, scale=1.0, enable_gqa=True
    )
    trace = layer(x, mask, memory=memory)
    assert W["W_k"].shape == W["W_v"].shape == (30, 5 * groups)
    assert_close(trace.output, expected)
    assert_close(layer.output(trace), expected.transpose(1, 2).flatten(-2) @ W["W_o"])


def test_talking_by_hand():
    """Scores ln 1, ln 3 and ln 9, ln 4: all is numbers that a hand can check."""
    layer = TalkingHeads(TalkingHeads.Config(2, heads=2, parameters="identity"))
    P_l, P_w = torch.tensor([[1.0, 2], [0, 1]]), torch.tensor([[0.5, 1], [0.5, -1]])
    layer.load_state_dict(layer.state_dict() | {"P_l": P_l, "P_w": P_w})
    memory = torch.tensor([[1.0, 9], [3, 4]]).log()
    trace = layer(torch.ones(1, 2), memory=memory, scale=1.0)
    assert_close(trace.scaled[:, 0], torch.tensor([[1.0, 3], [9, 4]]).log())
    assert_close(trace.logits[:, 0], torch.tensor([[1.0, 3], [1 * 1 * 9, 3 * 3 * 4]]).log())
    assert_close(trace.weights[:, 0], torch.tensor([[1 / 4, 3 / 4], [1 / 5, 4 / 5]]))
    assert_close(trace.applied[:, 0], torch.tensor([[0.225, 0.775], [0.05, -0.05]]))
    expected = [0.775 * math.log(3), 0.05 * math.log(9 / 4)]
    assert_close(layer.output(trace), torch.tensor([expected]))

    cell = trace.scaled[:, 0, 1]
    terms = layer.mixed_score_terms(cell, 1)
    assert list(terms) == ["scaled", "P_l, column 1", "product"]
    assert_close(terms["product"], torch.tensor([3.0 * 3, 4]).log())
    terms = layer.mixed_weight_terms(trace.weights[:, 0, 1], 1)
    assert list(terms) == ["weight", "P_w, column 1", "product"]
    assert_close(terms["product"], torch.tensor([0.75, -0.8]))

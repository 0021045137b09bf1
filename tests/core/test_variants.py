"""What holds for every variant in the registry, and for the registry itself."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from attention.core import functional, masks
from attention.core.functional import masked_softmax
from attention.core.positions import alibi, rotary
from attention.core.settings import Config, setting, settings_of
from attention.core.variants import (
    VARIANTS,
    MultiHeadAttention,
    ParametersConfig,
    Variant,
    register,
)
from attention.inputs.vectors import random_vectors
from attention.pipeline import Settings, compute, variant_names

TOKENS, MEMORY, D_MODEL = 7, 11, 5
each_variant = pytest.mark.parametrize("name", VARIANTS)


def built(name: str, **settings: Any) -> Variant:
    return VARIANTS[name](VARIANTS[name].Config(D_MODEL, **settings))


def vectors(*leading: int) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(*leading, TOKENS, D_MODEL, generator=generator)


def memories(*leading: int) -> Tensor:
    generator = torch.Generator().manual_seed(4)
    return torch.randn(*leading, MEMORY, D_MODEL, generator=generator)


def bounds() -> Iterator[tuple[str, str, Any]]:
    """Every variant with each of its settings at the ends, or at each option."""
    for name, variant in VARIANTS.items():
        for field, (default, about) in settings_of(variant.Config).items():
            ends = [end for end in (about.minimum, about.maximum) if end is not None]
            if about.divides:
                ends = [1, D_MODEL]
            for value in about.choices() or map(type(default), ends):
                yield name, field, value


@each_variant
def test_a_variant_says_what_it_is_and_where_it_is_from(name: str) -> None:
    variant = VARIANTS[name]
    assert variant.name == name
    assert variant.title
    assert "y_i" in variant.formula
    assert variant.source
    assert variant.published_scale in ("1/√d_k", "none", "factor")
    assert variant.__doc__


@each_variant
@torch.no_grad()
def test_a_trace_has_queries_down_and_keys_across(name: str) -> None:
    trace = built(name)(vectors())
    for square in (trace.scores, trace.scaled, trace.weights):
        assert square.shape[-2:] == (TOKENS, TOKENS)
    assert trace.queries.shape[-2] == trace.keys.shape[-2] == TOKENS
    assert trace.output.shape == trace.values.shape


@each_variant
@torch.no_grad()
def test_every_step_recomputes_from_the_one_before(name: str) -> None:
    variant, mask = built(name), masks.parse_cells("0:1,3-5 2:*", TOKENS, TOKENS)
    trace = variant(vectors(), mask)
    assert torch.equal(trace.scores, variant.scores(trace.queries, trace.keys))
    torch.testing.assert_close(trace.scaled, trace.scores / math.sqrt(trace.queries.shape[-1]))
    assert torch.equal(trace.weights, masked_softmax(trace.scaled, mask))
    assert torch.equal(trace.output, trace.weights @ trace.values)
    for part, expected in zip(
        (trace.queries, trace.keys, trace.values), variant.project(vectors()), strict=True
    ):
        assert torch.equal(part, expected)


@each_variant
@torch.no_grad()
def test_rows_sum_to_one_or_to_zero_where_all_is_hidden(name: str) -> None:
    sums = built(name)(vectors(), masks.parse_cells("2:*", TOKENS, TOKENS)).weights.sum(-1)
    expected = torch.tensor([0.0 if query == 2 else 1.0 for query in range(TOKENS)])
    torch.testing.assert_close(sums, expected.expand(sums.shape))


@each_variant
@torch.no_grad()
def test_the_scale_is_a_factor_on_the_scores(name: str) -> None:
    trace = built(name)(vectors(), scale=0.3)
    assert torch.equal(trace.scaled, trace.scores * 0.3)
    assert torch.equal(trace.scores, built(name)(vectors()).scores)


@each_variant
@torch.no_grad()
def test_a_batch_is_its_sentences(name: str) -> None:
    variant, batch = built(name), vectors(2, 3)
    whole = variant(batch).output
    torch.testing.assert_close(whole[1, 2], variant(batch[1, 2]).output, atol=1e-5, rtol=1e-5)


@each_variant
@torch.no_grad()
def test_the_same_config_gives_the_same_numbers(name: str) -> None:
    torch.rand(1)  # whatever else has drawn from the global generator
    first, second = built(name)(vectors()), built(name)(vectors())
    assert torch.equal(first.scores, second.scores)
    assert torch.equal(first.output, second.output)


@pytest.mark.parametrize(
    "name", [name for name, v in VARIANTS.items() if "seed" in settings_of(v.Config)]
)
@torch.no_grad()
def test_another_seed_gives_other_numbers(name: str) -> None:
    assert not torch.equal(
        built(name, seed=0)(vectors()).scores, built(name, seed=1)(vectors()).scores
    )


@each_variant
def test_building_a_variant_leaves_the_global_generator_alone(name: str) -> None:
    before = torch.get_rng_state()
    built(name)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("name", "field", "value"), list(bounds()))
@torch.no_grad()
def test_every_bound_and_option_of_a_config_works(name: str, field: str, value: Any) -> None:
    trace = built(name, **{field: value})(vectors())
    assert getattr(built(name, **{field: value}).config, field) == value
    assert trace.output.isfinite().all()


@each_variant
def test_what_lies_beyond_the_bounds_is_refused(name: str) -> None:
    for field, (_, about) in settings_of(VARIANTS[name].Config).items():
        if about.maximum is not None:
            with pytest.raises(ValueError, match=f"{field} must lie between"):
                built(name, **{field: about.maximum + 1})


@each_variant
def test_configs_are_frozen_and_compare_by_value(name: str) -> None:
    config = built(name).config
    assert config == built(name).config
    assert hash(config) == hash(built(name).config)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.d_model = 3


@each_variant
def test_vectors_of_another_width_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="x must have d_model = 5 dimensions, got 3"):
        built(name)(torch.zeros(TOKENS, 3))


@each_variant
def test_vectors_and_parameters_get_finite_gradients(name: str) -> None:
    variant, x = built(name), vectors().requires_grad_()
    output = variant.merge(variant(x, masks.parse_cells("2:*", TOKENS, TOKENS)))
    output.square().sum().backward()
    for leaf in (x, *variant.parameters()):
        assert leaf.grad is not None
        assert leaf.grad.isfinite().all()


@each_variant
@torch.no_grad()
def test_dropout_is_passed_on_and_repeats(name: str) -> None:
    def dropped() -> Tensor | None:
        generator = torch.Generator().manual_seed(1)
        return built(name)(vectors(), dropout=0.5, generator=generator).dropped

    first, second = dropped(), dropped()
    assert first is not None
    assert second is not None
    assert torch.equal(first, second)
    assert (first == 0).any()


# From one sequence over another


@each_variant
@torch.no_grad()
def test_queries_come_from_x_and_keys_and_values_from_memory(name: str) -> None:
    variant, x, memory = built(name), vectors(), memories()
    mask = masks.parse_cells("0:1,3-5 2:*", TOKENS, MEMORY)
    trace = variant(x, mask, memory=memory)
    queries, (_, keys, values) = variant.project(x)[0], variant.project(memory)
    for part, expected in ((trace.queries, queries), (trace.keys, keys), (trace.values, values)):
        assert torch.equal(part, expected)
    assert torch.equal(trace.scores, variant.scores(queries, keys))
    assert trace.weights.shape[-2:] == (TOKENS, MEMORY)
    assert torch.equal(trace.weights, masked_softmax(trace.scaled, mask))
    torch.testing.assert_close(trace.output, trace.weights @ values)
    assert variant.merge(trace).shape[-2] == TOKENS


@each_variant
@torch.no_grad()
def test_a_sequence_is_its_own_memory_where_none_is_given(name: str) -> None:
    alone, told = built(name)(vectors()), built(name)(vectors(), memory=vectors())
    assert torch.equal(alone.weights, told.weights)
    assert torch.equal(alone.output, told.output)


@each_variant
@torch.no_grad()
def test_each_sequence_is_turned_by_its_own_positions(name: str) -> None:
    variant, x, memory = built(name), vectors(), memories()
    trace = variant(x, memory=memory, rotate=True)
    assert torch.equal(trace.queries, rotary(variant.project(x)[0]))
    assert torch.equal(trace.keys, rotary(variant.project(memory)[1]))
    assert torch.equal(trace.values, variant.project(memory)[2])


@each_variant
@torch.no_grad()
def test_a_batch_of_memories_is_its_memories(name: str) -> None:
    variant, batch, many = built(name), vectors(3), memories(3)
    whole = variant(batch, memory=many).output
    alone = variant(batch[2], memory=many[2]).output
    torch.testing.assert_close(whole[2], alone, atol=1e-5, rtol=1e-5)


@each_variant
def test_both_sequences_get_finite_gradients(name: str) -> None:
    variant, x, memory = built(name), vectors().requires_grad_(), memories().requires_grad_()
    variant.merge(variant(x, memory=memory)).square().sum().backward()
    for leaf in (x, memory):
        assert leaf.grad is not None
        assert leaf.grad.isfinite().all()
        assert leaf.grad.abs().sum() > 0


@each_variant
def test_a_memory_of_another_width_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="memory must have d_model = 5 dimensions, got 3"):
        built(name)(vectors(), memory=torch.zeros(MEMORY, 3))


@pytest.mark.parametrize(
    ("name", "settings"),
    [("dot", {}), ("qkv", {"d_k": 3, "d_v": 13}), ("multihead", {"heads": 5})],
)
@pytest.mark.parametrize("cells", ["", "0:1,3-5 6:2"])
@torch.no_grad()
def test_non_square_attention_agrees_with_torch(
    name: str, settings: dict[str, Any], cells: str
) -> None:
    variant, x, memory = built(name, **settings), vectors(2), memories(2)
    mask = masks.parse_cells(cells, TOKENS, MEMORY)
    trace = variant(x, mask, memory=memory)
    queries, (_, keys, values) = variant.project(x)[0], variant.project(memory)
    expected = scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    torch.testing.assert_close(trace.output, expected)


@torch.no_grad()
def test_multi_head_attention_over_a_memory_agrees_with_torchs_own_layer() -> None:
    variant, x, memory = built("multihead", heads=5), vectors(2), memories(2)
    W = variant.state_dict()
    layer = nn.MultiheadAttention(D_MODEL, 5, bias=False, batch_first=True)
    layer.in_proj_weight.copy_(torch.cat([W[part].T for part in ("W_q", "W_k", "W_v")]))
    layer.out_proj.weight.copy_(W["W_o"].T)
    trace = variant(x, memory=memory)
    output, weights = layer(x, memory, memory, average_attn_weights=False)
    torch.testing.assert_close(variant.merge(trace), output)
    torch.testing.assert_close(trace.weights, weights)


# Each variant by itself


@pytest.mark.parametrize(
    ("name", "more"), [("qkv", {"d_k": D_MODEL, "d_v": D_MODEL}), ("bilinear", {})]
)
@torch.no_grad()
def test_identity_parameters_change_nothing(name: str, more: dict[str, int]) -> None:
    plain = built("dot")(vectors())
    same = built(name, parameters="identity", **more)(vectors())
    torch.testing.assert_close(same.scores, plain.scores, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(same.output, plain.output, atol=1e-6, rtol=1e-6)


@torch.no_grad()
def test_dot_product_self_attention_is_softmax_of_x_xt_times_x() -> None:
    x = vectors()
    torch.testing.assert_close(built("dot")(x, scale=1.0).output, (x @ x.T).softmax(-1) @ x)


@torch.no_grad()
def test_queries_keys_and_values_are_projections() -> None:
    x, variant = vectors(), built("qkv", d_k=3, d_v=11)
    trace = variant(x)
    assert trace.queries.shape == trace.keys.shape == (TOKENS, 3)
    assert trace.output.shape == (TOKENS, 11)
    W = variant.state_dict()
    assert not torch.equal(W["W_q"], W["W_k"])
    expected = ((x @ W["W_q"]) @ (x @ W["W_k"]).T / math.sqrt(3)).softmax(-1) @ (x @ W["W_v"])
    torch.testing.assert_close(trace.output, expected)


@torch.no_grad()
def test_additive_and_bilinear_use_their_own_parameters() -> None:
    x = vectors()
    variant = built("additive", d_hidden=3)
    W = variant.state_dict()
    pairs = (x @ W["W_q"])[:, None] + (x @ W["W_k"])[None]
    torch.testing.assert_close(variant(x).scores, pairs.tanh() @ W["v"])
    variant = built("bilinear")
    torch.testing.assert_close(variant(x).scores, x @ variant.state_dict()["W"] @ x.T)


@torch.no_grad()
def test_cosine_ignores_lengths_and_gaussian_follows_sigma() -> None:
    x = vectors()
    torch.testing.assert_close(built("cosine")(x).scores, built("cosine")(x * 7).scores)
    narrow, wide = built("gaussian", sigma=0.5)(x).scores, built("gaussian", sigma=1.0)(x).scores
    torch.testing.assert_close(narrow, wide * 4)
    assert wide.diagonal().tolist() == [0] * TOKENS
    torch.testing.assert_close(wide[0, 1], -(x[0] - x[1]).square().sum() / 2)


@pytest.mark.parametrize("name", ["qkv", "additive", "bilinear"])
def test_seeded_parameters_lie_within_glorots_bound(name: str) -> None:
    for parameter in built(name).parameters():
        rows, columns = parameter.shape if parameter.dim() == 2 else (parameter.shape[0], 1)
        bound = math.sqrt(6 / (rows + columns))
        assert bound * 0.5 < parameter.abs().max() <= bound


# The registry


@pytest.fixture
def throwaway() -> Iterator[type[Variant]]:
    """A variant with one setting, registered for the length of one test."""

    @dataclass(frozen=True)
    class OneSetting(Config):
        tilt: float = setting(0.5, "Tilt", minimum=-1.0, maximum=1.0)

    class Throwaway(Variant):
        """Dot product, tilted."""

        name = "throwaway"
        title = "Thrown away"
        formula = "y_i"
        source = "this test"
        Config = OneSetting

        def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
            return functional.dot_scores(queries, keys) * self.config.tilt

    try:
        yield register(Throwaway)
    finally:
        del VARIANTS["throwaway"]


def test_a_registered_variant_is_found_everywhere(throwaway: type[Variant]) -> None:
    assert VARIANTS["throwaway"] is throwaway
    assert variant_names()[-1] == "throwaway"
    settings = Settings(
        variant="throwaway",
        vectors="random",
        d_model=3,
        scale="none",
        config=(("tilt", -0.25),),
    )
    assert settings_of(type(settings.variant_config(3))).keys() == {"tilt"}
    assert settings.variant_config(3) == throwaway.Config(3, tilt=-0.25)  # type: ignore[call-arg]
    view = compute(settings, lambda name: pytest.fail(f"asked for {name}"))
    x = random_vectors(view.tokens, 3, 0).x
    torch.testing.assert_close(view.trace.scaled, x @ x.T * -0.25)


def test_a_variant_that_is_gone_is_not_offered() -> None:
    assert "throwaway" not in variant_names()
    with pytest.raises(ValueError, match=r"variant must be one of dot, .*, got 'throwaway'"):
        Settings(variant="throwaway")


@each_variant
def test_no_name_is_registered_twice(name: str) -> None:
    with pytest.raises(ValueError, match=f"variant '{name}' is registered already"):
        register(VARIANTS[name])


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="parameters must be one of seeded, identity, got 'zero'"):
        ParametersConfig(3, parameters="zero")


# Many heads


HEADS, WIDTH = 3, 21


def layered(heads: int = HEADS, **settings: Any) -> tuple[MultiHeadAttention, Any, Tensor]:
    """Multi-head attention, torch's own carrying the same weights, and vectors for both."""
    layer = MultiHeadAttention(MultiHeadAttention.Config(WIDTH, heads=heads, **settings))
    theirs = torch.nn.MultiheadAttention(WIDTH, heads, bias=False, batch_first=True)
    W = layer.state_dict()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([W["W_q"].T, W["W_k"].T, W["W_v"].T]))
        theirs.out_proj.weight.copy_(W["W_o"].T)
    x = torch.randn(2, TOKENS, WIDTH, generator=torch.Generator().manual_seed(11))
    return layer, theirs, x


def assert_parity(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)


@pytest.mark.parametrize("heads", [1, 3, 7, 21])
@torch.no_grad()
def test_many_heads_give_what_torch_gives_for_the_same_weights(heads: int) -> None:
    layer, theirs, x = layered(heads)
    output, weights = theirs(x, x, x, average_attn_weights=False)
    trace = layer(x)
    assert trace.weights.shape == (2, heads, TOKENS, TOKENS)
    assert_parity(trace.weights, weights)
    assert_parity(layer.merge(trace), output)
    assert_parity(trace.weights.mean(-3), theirs(x, x, x)[1])


@torch.no_grad()
def test_padding_and_causal_masks_of_many_heads_agree_with_torch() -> None:
    layer, theirs, x = layered()
    allowed = masks.lengths(torch.tensor([3, TOKENS]), TOKENS)
    causal = masks.causal(TOKENS, TOKENS)
    trace = layer(x, (allowed & causal)[:, None])
    output, weights = theirs(
        x,
        x,
        x,
        key_padding_mask=~allowed[:, 0],
        attn_mask=~causal,
        average_attn_weights=False,
    )
    assert_parity(trace.weights, weights)
    assert_parity(layer.merge(trace), output)
    assert (trace.weights[0, :, :, 3:] == 0).all()


@torch.no_grad()
def test_a_mask_is_shared_by_the_heads_or_one_a_head() -> None:
    layer, theirs, x = layered()
    shared = masks.window(TOKENS, TOKENS, 1)
    each = torch.stack([shared, masks.causal(TOKENS, TOKENS), torch.ones_like(shared)])
    for mask in (shared, each):
        trace = layer(x, mask)
        their_mask = ~mask.expand(2, HEADS, TOKENS, TOKENS).flatten(0, 1)
        output, weights = theirs(x, x, x, attn_mask=their_mask, average_attn_weights=False)
        assert_parity(trace.weights, weights)
        assert_parity(layer.merge(trace), output)
        assert trace.mask is not None
        assert trace.mask.shape == trace.weights.shape
    assert_parity(layer(x, each).weights[:, 0], layer(x, shared).weights[:, 0])


@torch.no_grad()
def test_a_head_alone_has_its_heads_weights_and_adds_its_part() -> None:
    layer, _, x = layered()
    mask, bias = masks.causal(TOKENS, TOKENS), alibi(HEADS, TOKENS, TOKENS)
    trace = layer(x[0], mask, rotate=True, bias=bias)
    parts = []
    for index in range(HEADS):
        alone = layer.head(index)(x[0], mask, rotate=True, bias=bias[index])
        torch.testing.assert_close(alone.weights, trace.weights[index])
        torch.testing.assert_close(alone.queries, trace.queries[index])
        assert alone.values.shape == alone.output.shape == (TOKENS, WIDTH)
        parts.append(alone.output)
    assert_parity(torch.stack(parts).sum(0), layer.merge(trace))


@pytest.mark.parametrize("index", [-1, 3, 50])
def test_there_is_no_head_beyond_the_last(index: int) -> None:
    with pytest.raises(IndexError, match=f"there are 3 heads, got {index}"):
        layered()[0].head(index)


@pytest.mark.parametrize("heads", [2, 4, 20])
def test_heads_that_do_not_divide_the_width_are_refused(heads: int) -> None:
    with pytest.raises(ValueError, match=f"heads must divide d_model = 21, got {heads}"):
        MultiHeadAttention.Config(WIDTH, heads=heads)


@torch.no_grad()
def test_one_head_with_identity_parameters_is_dot_product_attention() -> None:
    layer, _, x = layered(1, parameters="identity")
    plain = VARIANTS["dot"](VARIANTS["dot"].Config(WIDTH))(x)
    torch.testing.assert_close(layer.merge(layer(x)), plain.output)
    torch.testing.assert_close(layer(x).weights[:, 0], plain.weights)


def test_split_heads_are_slices_side_by_side_and_merge_undoes_it() -> None:
    x = torch.arange(2 * 3 * 6.0).reshape(2, 3, 6)
    split = functional.split_heads(x, 3)
    assert split.shape == (2, 3, 3, 2)
    assert torch.equal(split[1, 2], x[1, :, 4:6])
    assert torch.equal(functional.merge_heads(split), x)
    with pytest.raises(ValueError, match="heads must divide d_model = 6, got 4"):
        functional.split_heads(x, 4)

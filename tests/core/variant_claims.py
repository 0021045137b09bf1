"""Claims about any attention variant: functions that take its class, listed in `CLAIMS`."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attention.core import functional, masks, variants
from attention.core.functional import FOLLOWS, Trace, share_heads
from attention.core.positions import alibi, rotary
from attention.core.recurrence import decayed, erased
from attention.core.registry import import_modules
from attention.core.scales import SCALES
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS, Variant
from attention.core.weighing import Weighing

DOCS = Path(__file__).parents[2] / "docs" / "variants.md"
TOKENS, MEMORY, D_MODEL, SCALE = 7, 11, 15, 0.3
EMPTY_ROW, HIDDEN_KEY = 2, 3
REPLACED = ("queries", "keys", "values", "scores", "bias", "scaled", "weights", "output")
MASK = masks.parse_cells(f"0:1,4-6 {EMPTY_ROW}:* *:{HIDDEN_KEY}", TOKENS, MEMORY)
MASKS = torch.stack([masks.window(TOKENS, MEMORY, 2), MASK])


def built(variant: type[Variant], **settings: Any) -> Variant:
    """The variant with its defaults but for these settings."""
    return variant(variant.Config(D_MODEL, **settings))


def vectors(*leading: int, tokens: int = TOKENS) -> Tensor:
    """Random vectors, the same each time. (…, tokens, d_model)."""
    generator = torch.Generator().manual_seed(tokens)
    return torch.randn(*leading, tokens, D_MODEL, generator=generator)


def everything(variant: type[Variant]) -> tuple[Variant, Trace]:
    """A layer, and two sequences over two memories with all that `forward` can be asked for."""
    layer = built(variant)
    bias, memory = alibi(layer.heads, TOKENS, MEMORY), vectors(2, tokens=MEMORY)
    more: dict[str, Any] = {"memory": memory, "scale": SCALE, "rotate": True, "bias": bias}
    return layer, layer(vectors(2), MASKS, **more)


def check_it_says_what_it_is_and_where_it_is_from(variant: type[Variant]) -> None:
    assert VARIANTS[variant.name] is variant
    assert all((variant.title, variant.source, variant.__doc__))
    assert "y_i" in variant.formula
    assert variant.published_scale in (*SCALES, "factor")
    assert "w_{ij} =" in variant.weighing.formula
    assert variant.weighing.name or variant.weighing.hides_by_zero


def check_a_trace_has_an_axis_of_heads_and_every_step_follows_from_the_one_before(
    variant: type[Variant],
) -> None:
    layer, trace = everything(variant)
    for square in (trace.mask, trace.bias, *trace.stages.values()):
        assert square is not None
        assert square.shape == (2, layer.heads, TOKENS, MEMORY)
    assert trace.unrotated is not None
    (queries, keys), memory = trace.unrotated, vectors(2, tokens=MEMORY)
    assert queries.shape[:-1] == (2, layer.heads, TOKENS)
    assert_close(queries, layer.project(vectors(2), "queries"))
    for found, role in ((keys, "keys"), (trace.values, "values")):
        assert found.shape[:-1] == (2, layer.heads, MEMORY)
        assert_close(found, share_heads(layer.project(memory, role), layer.heads))
    assert_close((trace.queries, trace.keys), (rotary(queries), rotary(keys)))
    assert_close(trace.scores, layer.scores(trace.queries, trace.keys))
    assert_close(trace.scaled, trace.scores * SCALE + alibi(layer.heads, TOKENS, MEMORY))
    assert_logits_and_weights_follow(layer, trace, MASKS[:, None])
    assert_close(trace.applied, layer.after_softmax(trace.weights))
    assert_close(trace.output, trace.applied @ trace.values)
    _, b = layer.projection("output")
    parts, output = layer.head_outputs(trace), layer.output(trace)
    assert parts.shape == (2, layer.heads, *output.shape[1:])
    assert output.shape[1] == TOKENS
    assert_close(parts.sum(-3) if b is None else parts.sum(-3) + b, output)
    plain = layer(vectors())
    d_k, factor = plain.queries.shape[-1], variant.usual_scale.get("factor")
    published = {"1/√d_k": d_k**-0.5, "none": 1.0, "factor": factor}[variant.published_scale]
    assert_close(plain.scaled, plain.scores * published)


def check_a_part_that_is_replaced_counts_in_all_that_follows_and_nothing_else_changes(
    variant: type[Variant],
) -> None:
    layer, trace = everything(variant)
    others: dict[str, Any] = {name: getattr(trace, name).roll(1, -1) for name in REPLACED}
    others |= {"mask": ~MASKS[:, None], "scale": 3.0}
    for name, part in others.items():
        after = layer.follow(trace, replace(trace, **{name: part}))
        bias = after.bias
        assert bias is not None
        made = {
            "scores": layer.scores(after.queries, after.keys),
            "scaled": after.scores * after.scale + bias,
            "output": after.applied @ after.values,
        }
        for step, numbers in made.items():
            if step != name:
                assert_close(getattr(after, step), numbers)
        assert_logits_and_weights_follow(layer, after, after.mask, weighs=name != "weights")
        assert_close(after.applied, layer.after_softmax(after.weights))
        for role in ("queries", "keys", "values"):
            assert getattr(after, role) is (part if role == name else getattr(trace, role))
        assert_equal(getattr(after, name), part)
        assert not torch.equal(after.output, trace.output)
    same = layer.follow(trace, replace(trace))
    assert all(getattr(same, step) is getattr(trace, step) for step in FOLLOWS)
    with pytest.raises(ValueError, match="replaced as they are after rotation"):
        layer.follow(trace, replace(trace, unrotated=(trace.queries, trace.keys)))


def check_tokens_one_after_the_other_attend_as_all_at_once(variant: type[Variant]) -> None:
    layer, x, memory = built(variant), vectors(2), vectors(2, tokens=MEMORY)
    whole = layer(x, masks.causal(TOKENS, TOKENS), rotate=True)
    before = layer.projected(x[:, :3])
    for first, end in ((3, 4), (4, TOKENS)):
        before = layer.projected(x[:, first:end], before=before)
        mask = masks.causal(end - first, end, first)
        trace = layer.sliced(before, mask, rotate=True)(slice(None), slice(None))
        assert_close(trace.queries, whole.queries[..., first:end, :])
        assert_close(trace.keys, whole.keys[..., :end, :])
        assert_close(trace.output, whole.output[..., first:end, :], atol=1e-5, rtol=1e-5)

    across, begun = layer(x, memory=memory), layer.projected(x[:, :3], memory)
    rest = layer.projected(x[:, 3:], memory, begun)
    assert rest.keys is begun.keys
    trace = layer.sliced(rest)(slice(None), slice(None))
    assert_close(trace.output, across.output[..., 3:, :], atol=1e-5, rtol=1e-5)


def check_hidden_keys_have_no_weight_and_change_nothing(variant: type[Variant]) -> None:
    layer, trace = everything(variant)
    if trace.weights_are_a_distribution:
        seen = MASKS.any(-1).float()[:, None].expand(2, layer.heads, -1)
        assert_close(trace.weights.sum(-1), seen)
    assert trace.weighing is layer.weighing
    assert trace.weighing.signed or (trace.weights >= 0).all()
    hidden = ~MASKS[:, None].expand(trace.weights.shape)
    assert not trace.weights[hidden].any()
    assert not trace.applied[hidden].any()
    assert not trace.output[1, :, EMPTY_ROW].any()
    memory = vectors(tokens=MEMORY)
    before = layer.output(layer(vectors(), MASK, memory=memory))
    memory[HIDDEN_KEY] += 7
    assert_close(layer.output(layer(vectors(), MASK, memory=memory)), before)


class OneDevice(TorchDispatchMode):
    """While no operation may take tensors of two devices, but numbers; a GPU would refuse it."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        given = [part for part in tree_leaves((args, kwargs)) if isinstance(part, Tensor)]
        devices = {part.device.type for part in given if part.dim()}
        assert len(devices) <= 1, f"{function} of tensors on {devices}"
        return function(*args, **kwargs or {})


def check_all_is_made_on_the_device_and_in_the_dtype_of_the_inputs(variant: type[Variant]) -> None:
    for where, kind in (("meta", torch.float32), ("meta", torch.bfloat16), ("cpu", torch.float64)):
        layer = built(variant).to(where, kind)
        x, memory = (torch.ones(2, n, D_MODEL, dtype=kind, device=where) for n in (TOKENS, MEMORY))
        mask = masks.causal(TOKENS, MEMORY, device=where)
        bias = alibi(layer.heads, TOKENS, MEMORY, dtype=kind, device=where)
        one_device: Any = OneDevice
        with one_device():
            trace = layer(x, mask, memory=memory, rotate=True, bias=bias)
            trace = functional.drop(trace, 0.5)
            outputs = layer.output(trace), layer.head_outputs(trace)
        assert trace.mask is not None
        assert trace.mask.device.type == where
        parts = [*vars(trace).values(), *trace.stages.values(), *(trace.unrotated or ()), *outputs]
        made = [part for part in parts if isinstance(part, Tensor) and part is not trace.mask]
        assert {(part.device.type, part.dtype) for part in made} == {(where, kind)}


def check_a_batch_is_its_sequences_and_a_sequence_is_its_own_memory(variant: type[Variant]) -> None:
    layer, x, memory = built(variant), vectors(2, 3), vectors(2, 3, tokens=MEMORY)
    whole = layer(x, MASKS[:, None], memory=memory)
    alone = layer(x[1, 2], MASKS[1], memory=memory[1, 2])
    assert_same_numbers(whole.sequence(1).sequence(2), alone)
    assert_close(layer.output(whole)[1, 2], layer.output(alone))
    assert_same_numbers(layer(x), layer(x, memory=x.clone()))


def check_a_head_is_what_it_is_by_itself(variant: type[Variant]) -> None:
    layer, trace = everything(variant)
    mixed = trace.logits_name in ("mixed", "capped") or trace.applied is not trace.weights
    for head, bias in enumerate(alibi(layer.heads, TOKENS, MEMORY)):
        part = trace.head(head)
        more: dict[str, Any] = {"scores": layer.scores, "scale": SCALE, "bias": bias}
        more |= {"weigh": layer.weigh, "features": layer.features}
        more |= {"erases": layer.erases, "decay": part.decay, "strength": part.strength}
        alone = functional.attend(part.queries, part.keys, part.values, mask=MASKS, **more)
        for step in ("scores", "scaled") if mixed else ("scores", "scaled", "weights", "output"):
            assert_close(getattr(part, step), getattr(alone, step))


def check_the_scores_of_a_query_follow_from_its_vector_alone(variant: type[Variant]) -> None:
    layer, trace = everything(variant)
    for query in range(TOKENS):
        alone = layer.scores(trace.queries[..., query : query + 1, :], trace.keys)
        assert_close(alone, trace.scores[..., query : query + 1, :])


def check_terms_add_up_to_their_cells(variant: type[Variant]) -> None:
    layer, batch = everything(variant)
    trace = batch.sequence(1)
    for query, key in ((0, 2), (0, 1), (6, 10)):
        scaled, weights = trace.scaled[:, query, key], trace.weights[:, query, key]
        for head in range(layer.heads):
            part = trace.head(head)
            terms = layer.score_terms(part.queries[query], part.keys[key])
            assert_adds_up(terms, part.scores[query, key])
            assert_adds_up(layer.mixed_score_terms(scaled, head), part.logits[query, key])
            assert_adds_up(layer.mixed_weight_terms(weights, head), part.applied[query, key])


def check_a_layer_keeps_its_parameters_alone_and_they_come_from_the_seed(
    variant: type[Variant],
) -> None:
    torch.rand(1)  # whatever else draws from the global generator
    before = torch.get_rng_state()
    (layer, _), second = everything(variant), built(variant).state_dict()
    first = layer.state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    assert not any(isinstance(kept, Tensor | Trace) for kept in vars(layer).values())
    assert not first.keys() - dict(layer.named_parameters()).keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    if "seed" in settings_of(variant.Config):
        other = built(variant, seed=1).state_dict()
        assert other
        assert not any(torch.equal(first[name], other[name]) for name in first)


def check_every_bound_and_option_works_and_nothing_beyond(variant: type[Variant]) -> None:
    for name, about in settings_of(variant.Config).items():
        ends = [end for end in (about.minimum, about.maximum) if end is not None]
        if about.divides:
            ends = [1, getattr(built(variant).config, about.divides)]
        for value in about.choices or map(type(about.default), ends):
            layer = built(variant, **{name: value})
            assert getattr(layer.config, name) == value
            assert layer.output(layer(vectors())).isfinite().all()
        if about.maximum is not None:
            with pytest.raises(ValueError, match=f"{name} must lie between"):
                built(variant, **{name: about.maximum + 1})


def check_configs_are_frozen_and_vectors_of_another_width_are_refused(
    variant: type[Variant],
) -> None:
    config, again, narrow = built(variant).config, built(variant).config, torch.zeros(TOKENS, 3)
    assert (config, hash(config)) == (again, hash(again))
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.d_model = 3
    for name, given in (("x", (narrow, narrow)), ("memory", (vectors(), narrow))):
        words = f"{name} must have d_model = {D_MODEL} dimensions, got 3"
        with pytest.raises(ValueError, match=words):
            built(variant)(given[0], memory=given[1])


def check_gradients_are_finite_with_an_empty_row_too(variant: type[Variant]) -> None:
    layer, x, memory = built(variant), vectors(), vectors(tokens=MEMORY)
    leaves = [memory.requires_grad_(), x.requires_grad_(), *layer.parameters()]
    length = layer.output(layer(x, MASK, memory=memory)).square().sum()
    for gradient in torch.autograd.grad(length, leaves, materialize_grads=True):
        assert gradient.isfinite().all()
    (along,) = torch.autograd.grad(layer.output(layer(x, MASK[:, :TOKENS])).sum(), x)
    assert along.isfinite().all()
    assert along.any()


def assert_equal(found: Any, expected: Any) -> None:
    """Assert equal numbers, where one is written for all heads."""
    if isinstance(expected, Tensor):
        assert torch.equal(found, expected.expand(found.shape))
    else:
        assert found == expected


def assert_logits_and_weights_follow(
    layer: Variant, trace: Trace, mask: Tensor | None, weighs: bool = True
) -> None:
    """Assert that the steps from scaled scores to weights follow from each other.

    weighs: whether the weights do too.
    """
    compared = layer.features(trace.queries), layer.features(trace.keys)
    logits, left = layer.before_softmax(trace.scaled), trace.logits
    if trace.decay is not None:
        logits = decayed(trace.scaled, *compared, trace.scale, trace.decay, mask)
    assert_close(trace.logits, logits)
    assert (trace.erased is None) != layer.erases
    if trace.erased is not None:
        assert trace.strength is not None
        taken = erased(trace.logits, compared[1], trace.strength, trace.decay, mask)
        assert_close(trace.erased, taken)
        left = left + taken
    if trace.strength is not None:
        left = left * trace.strength.mT
    if weighs:
        assert_close(trace.weights, layer.weigh(left, mask))


def assert_same_numbers(ours: Trace, theirs: Trace) -> None:
    """Every step of two traces alike, but for the last digits."""
    for name, part in vars(ours).items():
        other = getattr(theirs, name)
        assert (part is None) == (other is None)
        if isinstance(part, Weighing):
            assert part == other
        elif part is not None:
            assert_close(part, other, atol=1e-5, rtol=1e-5)


def assert_adds_up(terms: Mapping[str, Tensor], cell: Tensor) -> None:
    """Columns of one length of which the last adds up to the cell, or no columns."""
    columns = list(terms.values())
    assert len({len(column) for column in columns}) <= 1
    if columns:
        assert_close(columns[-1].sum(), cell, atol=1e-5, rtol=1e-5)


CLAIMS: list[Callable[[type[Variant]], None]] = [
    claim for name, claim in list(globals().items()) if name.startswith("check_")
]


def docs_variants() -> list[str]:
    """The files of the variants that the docs add: other scores, and other weights."""
    return re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), flags=re.DOTALL)


@contextmanager
def added(source: str, folder: Path) -> Iterator[type[Variant]]:
    """The variant of a file, which stands beside those of the others meanwhile."""
    (name,) = re.findall(r'^    name = "(\w+)"$', source, flags=re.MULTILINE)
    file, before = folder / f"{name}.py", dict(VARIANTS)
    file.write_text(source, "utf-8")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(variants, "__path__", [*variants.__path__, str(folder)])
            import_modules(variants.__name__, variants.__path__)
        yield VARIANTS[name]
    finally:
        VARIANTS.clear()
        VARIANTS.update(before)
        file.unlink()
        del sys.modules[f"{variants.__name__}.{name}"]

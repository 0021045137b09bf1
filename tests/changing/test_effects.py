"""Effects, means, patches and teams: the same claims over models of every kind."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.testing import assert_close

import attention
from attention.changing import team
from attention.changing.change import Change, Head, changes
from attention.changing.effects import losses_after
from attention.changing.experiment import experiment
from attention.changing.known import Known
from attention.changing.transplants import transplants
from tests.capture.families import TEXT, writer
from tests.capture.making import OwnAttention, inputs, model
from tests.cases import over
from tests.changing.kinds import Kind, kind, kinds, summed
from tests.properties import given
from tests.properties import strategies as st

__all__ = ["kind", "kinds"]
NEAR = {"atol": 1e-5, "rtol": 1e-4}
PARTS = ("output", "queries", "keys", "values", "weights")


def asked(kind: Kind) -> Any:
    return experiment(kind.model, kind.inputs, kind.answer)


def every_head(kind: Kind) -> list[Head]:
    counts = asked(kind).counts
    return [(layer, head) for layer in sorted(counts) for head in range(counts[layer])]


@over("part", PARTS)
def test_an_effect_is_that_of_a_run_of_its_own(part, kind):
    means = [] if part == "weights" else [attention.means(kind.model, [kind.inputs], part)]
    for to in ("zero", 0.25, kind.recorded, *means):
        found = attention.effects(kind.model, kind.inputs, kind.answer, to=to, part=part)
        assert_close(found.before, kind.without([]), **NEAR)
        for head in every_head(kind)[::2]:
            assert_close(found.after[head], kind.without([head], to, part=part), **NEAR)
        assert float(found.change.abs().max()) > 1e-5, (part, to)
    if means:
        by_word = attention.effects(kind.model, kind.inputs, kind.answer, to="text", part=part)
        assert_close(by_word.after, found.after)


def test_effects_beside_heads_that_are_off_are_those_of_all_of_these(kind):
    first, *_, last = every_head(kind)
    found = attention.effects(kind.model, kind.inputs, kind.answer, off=[first, last], to="zero")
    assert_close(found.before, kind.without([first, last]), **NEAR)
    for head in every_head(kind):
        assert_close(found.after[head], kind.without({first, last, head}), **NEAR)
    one = attention.effects(
        kind.model, kind.inputs, kind.answer, off=[first, last], layers=[1], to="zero"
    )
    assert_close(one.after[0], found.after[1], **NEAR)


def test_a_part_of_all_heads_as_in_the_other_run_reaches_its_positions_alone(kind):
    heads = [head for head in every_head(kind) if head[0] == 0]
    whole = kind.without(heads, kind.recorded, part="values")
    second = kind.without(heads, kind.recorded, part="values", positions=[1])
    third = kind.without(heads, kind.recorded, part="values", positions=[-1])
    assert len({round(float(each), 6) for each in (whole, second, third, kind.without([]))}) == 4


def test_the_strongest_heads_come_in_the_order_of_their_effects(kind):
    found = attention.effects(kind.model, kind.inputs, kind.answer, to="zero")
    order = found.change.abs().flatten().sort(descending=True).values
    strongest = found.strongest(3)
    assert [abs(float(found.change[head])) for head in strongest] == order[:3].tolist()
    assert f"change={tuple(found.change.shape)}" in repr(found)


def test_a_path_carries_an_answer_where_the_tokens_differ(kind):
    if isinstance(kind.inputs, torch.Tensor):  # of two entries
        return
    found = attention.patch_path(kind.model, kind.inputs, kind.other, kind.answer)
    assert found.shape[1] == (len(kind.inputs.pieces.ids) if kind.known else 9)
    same = attention.patch_path(kind.model, kind.inputs, kind.inputs, kind.answer)
    assert_close(same, kind.without([]).expand(same.shape), **NEAR)
    if kind.known:
        for layer, at in ((0, 1), (1, -1)):
            change = [Change(layer, "x", kind.other, positions=[at])]
            assert_close(found[layer, at], asked(kind).after([change])[0], **NEAR)


# Teams


def test_a_team_is_found_step_by_step_and_doubted(kind):
    found = attention.team(
        kind.model, kind.inputs, kind.answer, most=2, elsewhere=kind.texts, draws=3, to="zero"
    )
    off: list[Head] = []
    for step in range(2):
        others = [each for each in every_head(kind) if each not in off]
        tried = {each: float(kind.without([*off, each])) for each in others}
        least = min(tried.values())
        if step == len(found.off):  # no further head lowers the answer
            assert least >= float(kind.without(off)) - 1e-5
            break
        assert float(found.after[step]) == pytest.approx(least, rel=1e-5)
        assert tried[found.off[step]] == pytest.approx(least, rel=1e-5)
        off.append(found.off[step])
    assert [*found.off] == off
    assert found.before == pytest.approx(float(kind.without([])), abs=1e-5)
    others = team.other_teams(off, asked(kind).counts, 3)
    expected = torch.stack([kind.without(each) for each in others])
    assert_close(found.chance, expected, **NEAR)
    if not kind.texts:
        assert (found.elsewhere, found.error) == (None, None)
        return
    costs = losses_after(kind.model, kind.texts, [changes(off)])[:, 0]
    assert found.elsewhere == pytest.approx(float(costs.mean()), abs=1e-5)
    assert found.error == pytest.approx(float(costs.std()) / len(costs) ** 0.5, abs=1e-5)


@pytest.mark.parametrize("padded", [False, True])
def test_a_loss_elsewhere_is_that_of_transformers(padded):
    one, ids, mask = writer("Llama"), TEXT[:2], torch.ones_like(TEXT[:2])
    mask[1, 6:] = 0 if padded else 1
    text = {"input_ids": ids, "attention_mask": mask}
    labels = torch.where(mask != 0, ids, -100)
    off = [[(0, 1)], [(1, 2), (0, 3)]]
    with torch.no_grad():
        losses = [one(**text, labels=labels).loss]
        for each in off:
            with attention.change(one, off=each):
                losses.append(one(**text, labels=labels).loss)
    (found,) = losses_after(one, [text], [changes(each) for each in off])
    assert_close(found, torch.stack(losses[1:]) - losses[0], atol=1e-5, rtol=1e-4)


def test_the_estimate_of_an_effect_is_its_slope_for_a_small_step(kind):
    """A replacement a hundredth of the way off: the estimate is the effect, but for its square."""
    if not kind.known:
        return
    outputs = [layer_input.trace().output for layer_input in kind.inputs.inputs]
    nearly = {(layer, head): outputs[layer][head] * 0.99 for layer, head in every_head(kind)}
    one = asked(kind)
    estimates = team.estimated_effects(one, to=nearly)
    effects = attention.effects(kind.model, kind.inputs, one.metric, to=nearly).change
    scale = float(effects.abs().max())
    assert scale > 0
    assert_close(estimates, effects, atol=0.1 * scale, rtol=0.1)


def test_a_search_by_candidates_takes_the_worst_of_those_it_tries(kind):
    if not kind.known:
        return
    one = Known(kind.model, kind.inputs, lambda states: -asked(kind).metric(states))
    alone = attention.effects(kind.model, kind.inputs, one.metric, to="zero").change
    first = team.next_head(one, effects=alone, sign=-1)
    assert float(alone[first.head]) == float(alone.max())
    assert first.metric == pytest.approx(-float(kind.without([first.head])), abs=1e-5)
    second = team.next_head(one, [first.head], effects=alone, sign=-1)
    whole = team.next_head(one, [first.head], sign=-1)
    assert (second.head, second.tried) == (whole.head, whole.tried)
    assert second.metric == pytest.approx(whole.metric, rel=1e-5)


@given(st.integers(0, 99), st.integers(1, 14), st.sampled_from([1, -1]))
def test_candidates_come_from_both_orders_in_turn_and_none_is_off(seed, most, sign):
    effects, estimates = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(seed))
    off = [(0, 1), (2, 4)]
    found = team.candidates(effects, estimates, off, sign, most)
    assert len({*found}) == len(found) == min(most, 13)
    assert not {*found} & {*off}
    heads = [(layer, head) for layer in range(3) for head in range(5)]
    for numbers in (effects, estimates):
        worst = min(heads, key=lambda head: float(sign * numbers[head]))
        assert worst in found or worst in off or most == 1


teams = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=6, unique=True
)


@given(teams, st.integers(0, 99))
def test_other_teams_are_of_the_same_layers_and_have_no_head_of_the_team(heads, seed):
    found = team.other_teams(heads, 7, seed=seed)
    layers = sorted(layer for layer, _ in heads)
    there = math.prod(
        math.comb(7 - layers.count(layer), layers.count(layer)) for layer in {*layers}
    )
    assert len({frozenset(other) for other in found}) == len(found) == min(there, team.DRAWS)
    for other in found:
        assert sorted(layer for layer, _ in other) == layers
        assert not {*other} & {*heads}
        assert len({*other}) == len(other)
    assert found == team.other_teams(heads, 7, seed=seed)


def test_a_text_is_read_by_its_tokenizer():
    one, several = writer("Llama"), {"a": TEXT[:1], "b": TEXT[:1].flip(-1), " word": [5]}
    ask = {"answer": " word", "tokenizer": lambda text, **_: {"input_ids": several[text]}}
    a, b = ({"input_ids": several[text]} for text in "ab")
    for call, texts, ids in (
        (lambda x: attention.effects(one, x, to="text", **ask).change, ["a"], [a]),
        (lambda x: attention.votes(one, x, **ask).heads, ["a"], [a]),
        (lambda *two: attention.patch_path(one, *two, **ask), ["a", "b"], [a, b]),
        (
            lambda *two: attention.team(one, two[0], elsewhere=two, to="zero", **ask).elsewhere,
            "ab",
            [a, b],
        ),
        (lambda x: transplants(one, one, x, **ask).base, ["a"], [a]),
    ):
        assert_close(call(*texts), call(*ids))


# Batches, and what is in no batch


def test_effects_of_some_layers_run_no_block_before_them_again():
    net, x = model(OwnAttention(), OwnAttention(), OwnAttention()), inputs()
    lengths: list[list[int]] = [[], [], []]
    hooks = [
        block.mix.register_forward_hook(lambda module, given, y, at=at: lengths[at].append(len(y)))
        for at, block in enumerate(net)
    ]
    attention.effects(net, x, summed, layers=[1], to="zero")
    for hook in hooks:
        hook.remove()
    assert lengths == [[2], [2, 6], [2, 6]]


def test_patching_all_of_a_run_gives_that_run():
    net, x, there = model(OwnAttention(), OwnAttention()), inputs(), inputs(seed=5)
    with torch.no_grad(), attention.capture(values=True) as run:
        clean = net(there)
    patched = attention.patch(net, x, from_=run)
    assert_close(patched - x, clean - there, atol=1e-5, rtol=1e-5)
    some = attention.patch(net, x, from_=run, heads=[(1, 0)], positions=[3])
    assert (some != net(x)).any(-1).nonzero()[:, 1].unique().tolist() == [3]


class Pooled(OwnAttention):
    """Self-attention with keys and values of every second token."""

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None = None) -> torch.Tensor:
        return super().forward(x, x[:, ::2])


def test_heads_whose_keys_are_pooled_are_changed_at_every_query():
    net, x = model(Pooled(), OwnAttention()), inputs()
    with torch.no_grad(), attention.change(net[0], off=[(0, head) for head in range(3)]):
        assert torch.equal(net[0](x), x)
    with torch.no_grad(), attention.change(net[0], off=[(0, 1)], positions=[0, -1]):
        changed = (net[0](x) - x).unflatten(-1, (3, 4))[:, :, 1]
    assert (changed == 0).all(-1).any(0).nonzero().flatten().tolist() == [0, 6]
    mean = attention.means(net, [x])[0][1, 0]
    with torch.no_grad(), attention.change(net[0], off=[(0, 1)], to="text"):
        changed = (net[0](x) - x).unflatten(-1, (3, 4))[:, :, 1]
    assert_close(changed[:, 1:], mean.expand(2, 6, 4))
    assert float(attention.effects(net, x, summed, to="zero").change[0].abs().min()) > 1e-3


def test_several_texts_have_the_numbers_of_each_alone_and_a_frame(kind):
    if isinstance(kind.inputs, torch.Tensor):  # of two entries
        return
    inputs, zero = [kind.inputs, kind.other, kind.inputs], {"to": "zero"}
    found = attention.effects(kind.model, inputs, [kind.answer] * 3, **zero, layers=[1])
    assert_close(found.before[0], kind.without([]), **NEAR)
    for at, one in enumerate(inputs):
        alone = attention.effects(kind.model, one, kind.answer, **zero, layers=[1])
        assert_close(found.after[:, :, at], alone.after, **NEAR)
        by_text = attention.effects(kind.model, [one], kind.answer, to="text", layers=[1]).after
        own = attention.effects(kind.model, one, kind.answer, to="text", layers=[1])
        assert_close(by_text[:, :, 0], own.after, **NEAR)
    frame = found.frame()
    assert [*frame] == ["text", "layer", "head", "before", "after", "change", "to"]
    (row,) = frame[(frame.text == 1) & (frame["head"] == 2)].to_dict("records")
    assert (row["layer"], row["to"]) == (1, "zero")
    assert row["change"] == pytest.approx(float(found.change[0, 2, 1]), abs=1e-6)
    mean = frame.groupby("head").change.mean().abs()
    assert found.strongest(1) == [(0, int(mean.idxmax()))]
    with pytest.raises(ValueError, match="one answer for each text, got 2 answers"):
        attention.effects(kind.model, inputs, [kind.answer] * 2, **zero)

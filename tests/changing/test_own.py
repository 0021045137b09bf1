"""Changed heads of own modules and of torch's, what is refused, and what is left behind."""

from __future__ import annotations

import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import _get_current_function_mode_stack

import attention
from attention.trained import sources
from tests.capture.making import ByHand, OwnAttention, inputs, model
from tests.cases import over
from tests.changing.kinds import summed

MEANS = [torch.zeros(3, 1, 4), torch.zeros(3, 1, 4)]


def by_hand(layer: nn.MultiheadAttention, x: torch.Tensor, head: int, output: torch.Tensor):
    """Attention of torch's module step by step, with the output of a head written."""
    parts = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, -1)
    heads = [part.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) for part in parts]
    y = F.scaled_dot_product_attention(*heads)
    y[:, head] = output
    return layer.out_proj(y.transpose(1, 2).flatten(2))


@over("mode", ["plain", "with weights", "fused"])
@over("value", [0.0, 0.7])
def test_a_head_of_torchs_own_attention_is_changed_behind_its_projection(mode, value):
    torch.manual_seed(2)
    layer, x = nn.MultiheadAttention(12, 3, batch_first=True).eval(), inputs()
    layer.requires_grad_(mode != "fused")
    needs = {"need_weights": mode == "with weights", "average_attn_weights": False}
    plain, weights = layer(x, x, x, **needs)
    with attention.change(layer, off={(0, 1)}, to=value):
        changed, same = layer(x, x, x, **needs)
    torch.testing.assert_close(changed, by_hand(layer, x, 1, value), atol=1e-6, rtol=1e-6)
    assert not torch.equal(changed, plain)
    if mode == "with weights":
        assert torch.equal(same, weights)
        with attention.change(layer, off={(0, 1)}, part="weights", to=1 / 7):
            changed, same = layer(x, x, x, **needs)
        torch.testing.assert_close(same[:, 1], torch.full((2, 7, 7), 1 / 7))
        assert torch.equal(same[:, [0, 2]], weights[:, [0, 2]])
        values = F.linear(x, layer.in_proj_weight, layer.in_proj_bias)[..., 28:32]
        expected = by_hand(layer, x, 1, values.mean(1, keepdim=True).expand(-1, 7, -1))
        torch.testing.assert_close(changed, expected, atol=1e-6, rtol=1e-6)


@over("norm_first", [False, True])
def test_a_fused_encoder_layer_is_as_the_one_step_by_step(norm_first):
    torch.manual_seed(3)
    made = nn.TransformerEncoderLayer(12, 3, 20, batch_first=True, norm_first=norm_first).eval()
    x = inputs()
    with attention.change(made, off={("self_attn", 2)}):
        expected = made(x)  # with gradients nothing is fused
    with torch.no_grad(), attention.change(made, off={("self_attn", 2)}):
        changed = made(x)
    torch.testing.assert_close(changed, expected, atol=1e-6, rtol=1e-6)
    with torch.no_grad():
        assert not torch.equal(changed, made(x))
        plain = made(x)
        with attention.change(made, off=[]):
            assert torch.equal(made(x), plain)


def test_an_own_module_is_changed_with_gradients_through_the_others():
    net, x = model(OwnAttention(key_heads=1, enable_gqa=True), OwnAttention()), inputs()
    with attention.change(net, off={("0.mix", 1)}, part="keys", positions=[2]):
        changed = net(x)
    changed.sum().backward()
    assert net[0].mix.keys.weight.grad is not None
    with torch.no_grad(), attention.capture(values=True) as run:
        plain = net(x)
    kept = run.attentions[0]
    keys = kept.keys[:, 0].clone()
    keys[:, 2] = 0
    own = (kept.queries[:, 1] @ keys.mT / 2).softmax(-1) @ kept.values[:, 0]
    with torch.no_grad(), attention.change(net, off={(0, 1)}, to={(0, 1): own}):
        torch.testing.assert_close(net(x), changed.detach(), atol=1e-6, rtol=1e-6)
    assert torch.equal(net(x).detach(), plain)


def test_changes_within_each_other_are_one():
    net, x = model(OwnAttention(), OwnAttention()), inputs()
    with attention.change(net, off={(0, 1), (1, 2)}):
        together = net(x)
    with attention.change(net, off={(0, 1)}), attention.change(net, off={(1, 2)}):
        assert torch.equal(net(x), together)


def test_another_model_in_the_block_runs_as_it_is():
    net, another, x = model(OwnAttention()), model(OwnAttention()), inputs()
    plain = another(x)
    with attention.change(net, off={(0, 1)}):
        assert torch.equal(another(x), plain)
        net(x)


def test_nothing_is_left_behind_after_an_exception():
    net, x = model(OwnAttention()), inputs()
    plain, call, asks = net(x), nn.Module.__call__, torch.overrides.has_torch_function

    def fails(outputs):
        raise KeyError("of the answer")

    for _ in range(2):
        with pytest.raises(KeyError, match="answer"):
            attention.effects(net, x, fails, to="zero")
        with pytest.raises(KeyError, match="user"), attention.change(net, off={(0, 1)}):
            raise KeyError("of the user")
    assert nn.Module.__call__ is call
    assert torch.overrides.has_torch_function is asks
    assert not _get_current_function_mode_stack()
    assert "forward" not in net[0].__dict__
    assert torch.equal(net(x), plain)


def net():
    return model(OwnAttention(), OwnAttention())


def recorded(tokens=7, **options):
    with torch.no_grad(), attention.capture(**options) as run:
        net()(inputs(tokens=tokens))
    return run


def changes(**said):
    def runs():
        made = net()
        with attention.change(made, **{"off": {(0, 1)}} | said):
            made(inputs())

    return runs


def effects(**said):
    given = {"model": net(), "inputs": inputs(), "answer": summed, "to": "zero"} | said
    return lambda: attention.effects(**given)


def compiled():
    made = torch.compile(net(), backend="eager")
    with attention.change(made, off={(0, 1)}):
        made(inputs())


def dropping():
    layer, x = nn.MultiheadAttention(12, 3, dropout=0.5).train(), inputs()
    with attention.change(layer, off={(0, 1)}):
        layer(x, x, x)


WRONG = {
    "no model": (lambda: attention.change("gpt2", off=[]).__enter__(), "model must be a Module"),
    "a layer that is not there": (changes(off={(5, 0)}), r"0 \(0.mix\), 1 \(1.mix\), got \[5\]"),
    "a name that is not there": (changes(off={("2.mix", 0)}), r"got \['2.mix'\]"),
    "a layer from the end": (changes(off={(-1, 0)}), "counted from 0 or named, got -1"),
    "a head that is not there": (changes(off={(0, 3)}), r"0 \(0.mix\) has 3 heads.*got 3"),
    "a number for pairs": (changes(off=[3]), r"off must be a list, each a tuple, as \[\(layer"),
    "a triple": (changes(off=[(0, 1, 2)]), r"pairs \(layer, head\), got \(0, 1, 2\)"),
    "an unknown part": (changes(part="scores"), "output, queries, keys, values, .*got 'sc"),
    "an unknown word": (changes(to="nothing"), 'to must be "zero", "text".*got \'nothing\''),
    "means of fewer heads": (changes(to=[MEANS[0][:1]]), "means must have head 1 of layer 0"),
    "another width": (changes(to=torch.zeros(5)), r"\(2, 7, 4\) of the output.*got \(5,\)"),
    "a mean of weights": (
        changes(part="weights", to="text"),
        "for weights, which have no mean, got .text.",
    ),
    "positions behind the end": (
        changes(positions=[9]),
        r"among the 7 at which head 1 of layer 0 ran, got \[9\]",
    ),
    "a forward that never came": (
        changes(forwards=[1]),
        r"among the 1 of head 1 of layer 0.*got \[1\]",
    ),
    "no values": (changes(to=recorded()), r"values: capture\(values=True\) keeps them, got none"),
    "a shorter run": (changes(to=recorded(5, values=True)), "has 5 positions, got position 6"),
    "heads not kept": (changes(to=recorded(heads=[0], values=True)), r"one of \[0\].*got 1"),
    "a compiled model": (compiled, "cannot be changed: .*runs compiled"),
    "attention by hand": (
        lambda: attention.effects(model(ByHand()), inputs(), summed, to="zero"),
        r"got \[0\]; cannot be changed: 0.mix computes a softmax .* attention.mark",
    ),
    "dropout within": (dropping, r"no dropout within its function, got 0.5: call model.eval\(\)"),
    "a training model": (effects(model=net().train()), r"call model.eval\(\)"),
    "a word without tokenizer": (effects(answer=" Paris"), "needs its tokenizer.*' Paris'"),
    "three words": (effects(answer=(1, 2, 3)), "one word or two, or a function, got 3"),
    "an id beyond": (effects(answer=99), r"ids must lie below 12, got \[99\]"),
    "an answer of all": (effects(answer=lambda y: y), r"must give \(entries,\).*got \(2, 7, 12\)"),
    "no inputs": (effects(inputs={"the cat"}), r"inputs must be .*{'the cat'}"),
    "a text without tokenizer": (effects(inputs="the cat"), "text needs its tokenizer.*'the cat'"),
    "layers not there": (effects(layers=[7]), r"among 2 that ran, got \[7\]"),
    "votes without logits": (
        lambda: attention.votes(net(), inputs(), 5),
        "must have an unembedding.*got Sequential",
    ),
    "votes by a function": (
        lambda: attention.votes(sources.load("constructed"), "the dog", summed),
        "a word must be a whole number or a str, got <function",
    ),
    "votes of three words": (
        lambda: attention.votes(sources.load("constructed"), "the dog", (1, 2, 3)),
        "one word or two, or a function, got 3",
    ),
    "a set for a text": (
        lambda: attention.effects(sources.load("constructed"), {"the dog"}, 5),
        r"inputs must be a str or a Run \(a text, or model.run\(text\)\), got {'the dog'}",
    ),
    "layers not in an own model": (
        lambda: attention.effects(sources.load("constructed"), "the dog", 5, layers=[9], to="zero"),
        r"layers must be among \d that ran, got \[9\]",
    ),
    "a tensor for a recording": (
        lambda: attention.patch(net(), inputs(), from_=torch.zeros(3)),
        r"from_ must be a Recording \(capture\(values=True\) makes one\), got tensor",
    ),
    "one text elsewhere": (
        lambda: attention.team(net(), inputs(), summed, elsewhere=[inputs()], to="zero"),
        "elsewhere must be two inputs or more, for a standard error, got 1",
    ),
    "a path while training": (
        lambda: attention.patch_path(net().train(), inputs(), inputs(), summed),
        r"got one in training: call model.eval\(\)",
    ),
    "means of text": (
        lambda: attention.means(net(), [inputs(tokens=1)]),
        "a token behind the first one, got none in 1 inputs",
    ),
}


@over("in_place", [False, True])
def test_a_compiled_model_is_changed_where_it_is_forced_to_run_eagerly(in_place):
    plain = net()
    with torch.no_grad(), attention.change(plain, off={("1.mix", 2)}):
        expected = plain(inputs())
    made = net()
    made.compile(backend="eager") if in_place else None
    made = made if in_place else torch.compile(made, backend="eager")
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        with attention.change(made, off={("1.mix", 2)}):
            assert torch.equal(made(inputs()), expected)
        with attention.capture(strict=True) as run:
            made(inputs())
    assert [row.module for row in run.report().rows] == ["0.mix", "1.mix"]


@over("name", WRONG)
def test_wrong_calls_say_what_was_expected_and_what_came(name):
    call, words = WRONG[name]
    with pytest.raises(ValueError, match=words) as raised:
        call()
    assert re.search(r"\bgot\b", str(raised.value))

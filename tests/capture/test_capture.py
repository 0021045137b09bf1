"""Recordings of any module that attends, and what is told of the others."""

import threading

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import attention
from attention.capture.masking import split
from tests.capture.making import D_K, ByHand, OwnAttention, inputs, model
from tests.cases import over

CAUSAL = torch.ones(7, 7, dtype=torch.bool).tril()
GAPS = torch.tensor([[True, False, True, True, False, False, True]]).expand(7, 7)
ALL = torch.arange(49.0).view(7, 7).cos()
BARRED = ALL.index_fill(0, torch.tensor([2, 5]), -torch.inf).index_fill(
    1, torch.tensor(3), -torch.inf
)
SAID = {
    "nothing": {},
    "causal": {"is_causal": True},
    "a scale": {"scale": 0.9},
    "bool mask": {"attn_mask": CAUSAL.flip(0)},
    "mask with gaps": {"attn_mask": GAPS & CAUSAL.T},
    "mask of each entry": {"attn_mask": torch.stack([CAUSAL, GAPS])[:, None]},
    "numbers to add": {"attn_mask": torch.arange(49.0).view(7, 7).sin()},
    "-inf": {"attn_mask": torch.zeros(7, 7).masked_fill(~CAUSAL, -torch.inf)},
    "a bias by distance": {"attn_mask": -0.3 * (torch.arange(7) - torch.arange(7)[:, None]).abs()},
    "a row of -inf": {"attn_mask": BARRED},
    "two rows of -inf in one head": {"attn_mask": torch.stack([BARRED, BARRED.flip(0), ALL])[None]},
    "a row with nothing": {"attn_mask": CAUSAL.roll(1, 0) & CAUSAL},
}


def weights_of(queries, keys, **said):
    """The weights as the output on values that tell each key: independent of what is kept."""
    told = torch.eye(keys.shape[-2]).expand(*queries.shape[:-2], -1, -1)
    keys = keys.repeat_interleave(queries.shape[1] // keys.shape[1], 1)
    return F.scaled_dot_product_attention(queries, keys, told, **said)


def recorded(*attends, x=None, **options):
    """Recording of a model of these attentions."""
    with attention.capture(**options) as run:
        model(*attends)(inputs() if x is None else x)
    return run


@over("name", SAID)
@over("key_heads", [1, 3])
def test_the_weights_of_an_own_module_are_kept(name, key_heads):
    said = SAID[name] | {"enable_gqa": key_heads == 1}
    net, x = model(OwnAttention(key_heads, **said), OwnAttention(key_heads, **said)), inputs()
    plain = net(x)
    with attention.capture() as run:
        output = net(x)
    assert torch.equal(output, plain)
    assert [kept.name for kept in run.attentions] == ["0.mix", "1.mix"]
    for kept in run.attentions:
        expected = weights_of(kept.queries, kept.keys, **SAID[name])
        for entry, head in ((0, 0), (1, 2)):
            made = run.weights(kept.number, head, entry=entry)
            torch.testing.assert_close(made, expected[entry, head], atol=1e-6, rtol=0)
    every = [run.weights(1, head) for head in range(3)]
    assert torch.equal(run.weights(1), torch.stack(every))


def multi_head(**said):
    torch.manual_seed(2)
    return nn.MultiheadAttention(12, 4, **said)


MODULES = {
    "self, fused": (multi_head(batch_first=True), {}),
    "tokens first": (multi_head(), {}),
    "no bias": (multi_head(bias=False, batch_first=True), {}),
    "key bias and a zero key": (multi_head(add_bias_kv=True, add_zero_attn=True), {}),
    "other widths": (multi_head(kdim=5, vdim=3, batch_first=True), {"memory": True}),
    "mask": (multi_head(batch_first=True), {"attn_mask": ~CAUSAL}),
    "mask of heads": (multi_head(batch_first=True), {"attn_mask": (~CAUSAL).expand(8, 7, 7)}),
    "padding": (
        multi_head(batch_first=True),
        {"key_padding_mask": torch.arange(7) >= torch.tensor([[7], [4]])},
    ),
}


@over("name", MODULES)
def test_the_weights_of_multihead_attention_are_kept(name):
    module, said = MODULES[name][0].eval(), dict(MODULES[name][1])
    x = inputs() if module.batch_first else inputs().transpose(0, 1)
    given = (x, x, x)
    if said.pop("memory", False):
        given = (x, inputs(tokens=5)[..., :5], inputs(tokens=5)[..., :3])
    with torch.no_grad():
        plain = module(*given, need_weights=False, **said)
        with attention.capture() as run:
            output = module(*given, need_weights=False, **said)
        assert torch.equal(output[0], plain[0])
        expected = module(*given, average_attn_weights=False, **said)[1]
    kept = run.attentions[0]
    assert kept.kind == ("cross" if given[1] is not x else "self")
    made = torch.stack(
        [torch.stack([run.weights(0, h, entry=e) for h in range(4)]) for e in (0, 1)]
    )
    torch.testing.assert_close(made, expected, atol=1e-6, rtol=0)


def test_any_part_is_that_part_of_the_whole_and_one_that_is_not_there_is_refused():
    run = recorded(OwnAttention(is_causal=True))
    whole = run.weights("0.mix", 1)
    assert whole.shape == (7, 7)
    torch.testing.assert_close(run.weights(0, 1, 6), whole[[6]])
    torch.testing.assert_close(run.weights(0, 1, [5, -7], slice(1, 6, 2)), whole[[5, 0], 1:6:2])
    for asked, words in (
        ({"entry": 2}, "entry must lie below 2, got 2"),
        ({"rows": 7}, "rows must lie below 7, got 7"),
        ({"columns": [0, -8]}, r"columns must lie below 7, got \[0, -8\]"),
    ):
        with pytest.raises(ValueError, match=words):
            run.weights(0, 0, **asked)


def test_two_masks_together_allow_what_each_allows():
    rows = torch.arange(7)
    short = (rows < 3).expand(7, 7)
    for one in (CAUSAL, CAUSAL.mT, GAPS, short):
        for other in (CAUSAL, CAUSAL.mT, GAPS, short):
            first, second = (split(mask[None, None])[0] for mask in (one, other))
            both = first.within(second)
            assert torch.equal(both.allowed(0, 0, rows, rows), one & other)
            assert (both.first <= both.stop).all(), "a file that says otherwise is refused"


@pytest.mark.parametrize("cells", [1, 3, (2, 5), 7, 100])
def test_pooled_maps_have_the_greatest_or_the_sum_of_each_block(cells, monkeypatch):
    monkeypatch.setattr("attention.capture.attentions.CELLS", 20)  # two rows at a time
    run = recorded(OwnAttention())
    whole = run.weights(0, 2)
    rows, columns = (cells, cells) if isinstance(cells, int) else cells
    blocks = [part.split(-(-7 // columns), 1) for part in whole.split(-(-7 // rows), 0)]
    greatest = torch.tensor([[float(block.max()) for block in row] for row in blocks])
    sums = torch.tensor([[float(block.sum(1).mean()) for block in row] for row in blocks])
    torch.testing.assert_close(run.pooled(0, 2, cells), greatest)
    torch.testing.assert_close(run.pooled(0, 2, cells, how="sum"), sums)
    torch.testing.assert_close(run.pooled(0, 2, cells, how="sum").sum(1), torch.ones(len(sums)))


def test_layers_heads_and_values_are_kept_as_asked():
    net = model(OwnAttention(), OwnAttention(), OwnAttention(1, enable_gqa=True))
    with attention.capture() as whole:
        net(inputs())
    with attention.capture(layers=[0, "2.mix"], heads=[2, 1], values=True) as run:
        net(inputs())
    assert [kept.number for kept in run.attentions] == [0, 2]
    assert torch.equal(run.weights(2, 1), whole.weights(2, 1))
    assert torch.equal(run.weights(0, 2), whole.weights(0, 2))
    first, last = run.attentions
    assert first.values.shape == (2, 2, 7, D_K)
    assert last.keys.shape == (2, 1, 7, D_K)
    torch.testing.assert_close(
        first.values[:, first.groups[0]], net[0].mix.values(inputs()).unflatten(-1, (3, 4))[:, :, 2]
    )
    with pytest.raises(ValueError, match=r"layer must be one of those kept, 0 \(0.mix\), 2"):
        run.weights(1, 2)
    with pytest.raises(ValueError, match=r"head must be one of \[2, 1\] that are kept, got 0"):
        run.weights(0, 0)
    beyond = pytest.raises(ValueError, match=r"heads must lie below 3 in 0.mix, got \[3\]")
    with beyond, attention.capture(heads=[3]):
        net(inputs())


def test_several_forward_passes_are_several_runs_but_a_module_in_one_is_two_attentions():
    net = model(OwnAttention(is_causal=True))
    with attention.capture() as run:
        net(inputs())
        net(inputs(tokens=5))
    assert [one.attentions[0].shape[2] for one in run.runs] == [7, 5]
    with pytest.raises(ValueError, match=r"there must be one run, got 2: choose one"):
        run.weights(0, 0)
    shared = OwnAttention()
    twice = recorded(shared, shared)
    assert [kept.name for kept in twice.attentions] == ["0.mix", "0.mix#2"]


def told(net, x):
    with pytest.warns(UserWarning, match="not kept: "), attention.capture() as run:
        output = net(x)
    return run, output


def test_attention_by_hand_and_compiled_models_are_told_and_run_as_they_are():
    run, _ = told(model(OwnAttention(), ByHand()), inputs())
    assert [kept.name for kept in run.attentions] == ["0.mix"]
    assert run.left_out == run.runs[0].left_out
    assert run.left_out["1.mix"].startswith("computes a softmax of its own scores")
    compiled = torch.compile(model(OwnAttention()), backend="eager")
    plain = compiled(inputs())
    run, output = told(compiled, inputs())
    assert torch.equal(output, plain)
    assert run.left_out["OptimizedModule"].startswith("runs compiled")
    for asked in (run.show, run.measures, lambda: run.weights(0, 0), lambda: run.save("run")):
        with pytest.raises(ValueError, match="one run, got 0: not kept: OptimizedModule runs comp"):
            asked()
    part = model(OwnAttention(), OwnAttention())
    part[1].compile(backend="eager")
    run, _ = told(part, inputs())
    assert list(run.left_out) == ["1"]
    assert [kept.name for kept in run.attentions] == ["0.mix"]
    early = pytest.raises(ValueError, match="got 0: it is there after the `with` block has ended")
    nothing = pytest.warns(UserWarning, match="no attention was seen")
    with nothing, attention.capture() as run, early:
        run.weights(0, 0)
    with pytest.raises(ValueError, match="got 0: no attention was seen"):
        run.weights(0, 0)


def test_gradients_are_the_same_and_a_second_pass_for_them_is_no_run():
    def gradient(net):
        x = inputs().requires_grad_()
        checkpoint(net, x, use_reentrant=False).square().sum().backward()
        return x.grad

    net = model(OwnAttention(is_causal=True))
    plain = gradient(net)
    with attention.capture() as run:
        assert torch.equal(gradient(net), plain)
    assert not run.one().attentions[0].queries.requires_grad


def test_other_threads_are_not_kept_and_all_is_put_back():
    net, before = model(OwnAttention()), nn.Module.__call__
    with attention.capture() as run:
        other = threading.Thread(target=net, args=(inputs(5),))
        other.start()
        other.join()
        net(inputs())
    assert run.attentions[0].shape[0] == 2
    assert nn.Module.__call__ is before
    with pytest.raises(RuntimeError, match="stop"), attention.capture():
        raise RuntimeError("stop")
    assert nn.Module.__call__ is before


def test_what_is_kept_is_queries_and_keys_and_nothing_that_the_model_changes_later():
    class Reused(nn.Module):
        def forward(self, x):
            F.scaled_dot_product_attention(x, x, x, is_causal=True)
            return x.zero_()

    x = torch.randn(1, 1, 512, 3)
    with attention.capture() as run:
        Reused()(x.clone())
    kept = run.attentions[0]
    assert torch.equal(kept.queries, x)
    assert kept.queries.untyped_storage().nbytes() == x.nbytes
    parts = (kept.queries, kept.keys, kept.rules.mask.first, kept.rules.mask.stop)
    assert sum(part.nbytes for part in parts) == 2 * x.nbytes + 2 * 4 * 512


A_LIST = r"must be a list, each a whole number, as \[0, 3\]"
WRONG = {
    rf"heads {A_LIST}, got 1 \(int\)": lambda run: recorded(OwnAttention(), heads=1),
    r"layers must be a list, .*, got '0\.mix' \(str\)": lambda run: recorded(
        OwnAttention(), layers="0.mix"
    ),
    rf"rows {A_LIST}, a position or a slice, got 'a'": lambda run: run.weights(0, 0, "a"),
    r"entry must be a whole number, got 'a'": lambda run: run.weights(0, 0, entry="a"),
    r"cells must be one or two numbers from 1 on, got 2\.5": lambda run: run.pooled(0, 0, 2.5),
}


@over("words", WRONG)
def test_arguments_of_a_wrong_kind_are_answered_in_a_sentence(words):
    run = recorded(OwnAttention())
    with pytest.raises(ValueError, match=words):
        WRONG[words](run)


def test_a_run_is_saved_in_a_folder_that_is_there_and_leading_axes_are_entries(tmp_path):
    for lead in ((), (5,), (2, 3, 5)):
        entries = torch.Size(lead).numel()
        run = recorded(OwnAttention(), x=inputs(entries, 7).reshape(*lead, 7, -1))
        assert run.attentions[0].shape == (entries, 3, 7, 7)
    with pytest.raises(FileNotFoundError, match="none must be a folder, there is none"):
        recorded(OwnAttention()).save(tmp_path / "none" / "run.safetensors")


def test_outputs_are_weights_times_values_and_a_layer_has_a_mean():
    with torch.no_grad(), attention.capture(values=True) as run:
        model(OwnAttention(), OwnAttention(key_heads=1, enable_gqa=True))(inputs())
    kept = run.attentions[-1]
    assert run.attention(-1) is kept
    weights = torch.stack([run.weights(-1, head, entry=1) for head in range(3)])
    torch.testing.assert_close(run.mean(-1, entry=1), weights.mean(0))
    torch.testing.assert_close(run.mean("1.mix", 2, entry=1), weights[:, 2:3].mean(0))
    expected = weights[2] @ kept.values[1, 0]
    torch.testing.assert_close(run.output(-1, 2, entry=1), expected)
    with pytest.raises(ValueError, match=r"layer must be one of those kept.*got -3"):
        run.mean(-3)
    with torch.no_grad(), attention.capture() as without:
        model(OwnAttention())(inputs())
    with pytest.raises(ValueError, match="must have values"):
        without.output(0, 0)

"""A softmax by hand that is marked is kept and changed as torch's own function is."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import attention
from attention.capture import Recording
from tests.capture.making import D_K, HEADS, OwnAttention, inputs, model
from tests.cases import over


class Marks(OwnAttention):
    """Causal attention by hand, or by torch where `way` is "torch".

    cached: keys and values of earlier calls.
    """

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.cached = way, []

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        past = zip(*self.cached, (self.keys(x), self.values(x)), strict=True)
        parts = (self.queries(x), *(torch.cat(part, 1) for part in past))
        queries, keys, values = (part.unflatten(-1, (-1, D_K)).transpose(1, 2) for part in parts)
        asking, asked = x.shape[1], keys.shape[2]
        barred = torch.ones(asking, asked).triu(1 + asked - asking)
        if self.way == "torch":
            y = F.scaled_dot_product_attention(queries, keys, values, barred == 0)
        else:
            scores = (queries @ keys.mT * D_K**-0.5).masked_fill(barred == 1, -torch.inf)
            weights = scores.softmax(-1)
            if self.way == "bmm":
                flat = weights.flatten(0, 1), values.flatten(0, 1)
                y = attention.mark(*flat, heads=HEADS).unflatten(0, (-1, HEADS))
            else:
                y = attention.mark(weights=weights, values=values)
        return y.transpose(1, 2).flatten(2)


def summed(y: Tensor) -> Tensor:
    return y.sum((1, 2))


@over("way", ["four axes", "bmm"])
def test_a_marked_softmax_is_kept_and_changed_as_torchs_own_function(way, tmp_path):
    found, x = [], inputs()
    for net in (model(Marks("torch"), Marks("torch")), model(Marks(way), Marks(way))):
        plain = net(x)
        with torch.no_grad(), attention.capture(values=True, strict=True) as run:
            assert torch.equal(net(x), plain)
        changed = [attention.effects(net, x, summed, to="text").change]
        for part in ("output", "values", "weights"):
            with torch.no_grad(), attention.change(net, off={(1, 2)}, part=part, to=0.5):
                changed.append(net(x))
        found.append([run.weights(1, 2, entry=1), run.output(1, 2, entry=1), *changed])
    for by_torch, by_hand in zip(*found, strict=True):
        torch.testing.assert_close(by_hand, by_torch, atol=2e-5, rtol=1e-5)
    run.save(tmp_path / "run.safetensors")
    again = Recording.open(tmp_path / "run.safetensors")
    assert torch.equal(again.weights(1, 2), run.weights(1, 2))
    assert again.report() == run.report()
    assert "queries and keys are not known" in str(run.report())
    refused = pytest.raises(ValueError, match=r"of layer 1 \(1.mix\), whose queries .* got keys")
    with refused, attention.change(net, off={(1, 2)}, part="keys"):
        net(x)


def test_a_marked_run_grows_by_its_values_and_one_mark_covers_one_softmax():
    net, x = Marks("four axes"), inputs()
    with torch.no_grad(), attention.capture() as run:
        net(x[:, :5])
        net.cached.append((net.keys(x[:, :5]), net.values(x[:, :5])))
        net(x[:, 5:])
    whole = Marks("four axes")
    whole.load_state_dict(net.state_dict())
    with torch.no_grad(), attention.capture() as at_once:
        whole(x)
    torch.testing.assert_close(run.weights(0, 2), at_once.weights(0, 2))

    class Twice(Marks):
        def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
            heads = x[:, None]
            return super().forward(x) + ((heads @ heads.mT).softmax(-1) @ heads)[:, 0]

    told = pytest.warns(UserWarning, match="not kept: 0 computes a softmax .* attention.mark")
    with told, attention.capture():
        nn.Sequential(Twice("four axes"))(x)


def test_weights_of_other_shapes_are_refused_and_signed_ones_are_no_distribution():
    w, v = torch.tensor([[[[0.5, -2.0]]]]), torch.tensor([[[[3.0], [1.0]]]])
    with attention.capture() as run:
        assert float(attention.mark(w, v)) == -0.5
    assert run.weights(0, 0).tolist() == [[0.5, -2.0]]
    assert not run.attention(0).weights_are_a_distribution
    for args, heads, words in (
        ((w[0], v[0]), None, r"four axes.*got \(\(1, 1, 2\), \(1, 2, 1\)\)"),
        ((w, v), 1, r"with heads=1 both must be"),
        (
            (w[0].expand(3, 1, 2), v[0].expand(3, 2, 1)),
            2,
            r"a multiple of heads=2, got \(3, 1, 2\)",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            attention.mark(*args, heads=heads)

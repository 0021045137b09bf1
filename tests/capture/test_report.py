"""Every module that mixes tokens is told: kept, or left out and why; and nothing else is."""

from __future__ import annotations

from collections.abc import Callable

import pandas
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import flex_attention

import attention
from attention.capture import Recording
from tests.capture.making import D_MODEL, ByHand, OwnAttention, inputs, model
from tests.cases import over

TOKENS = 7


class Reads(nn.Module):
    """A module by a function of its parts, with a class that says nothing."""

    def __init__(self, does: Callable[[Reads, Tensor], Tensor]) -> None:
        super().__init__()
        self.does = does
        self.inner = OwnAttention()
        self.weight = nn.Parameter(torch.eye(D_MODEL))
        self.experts = nn.Parameter(torch.ones(3, D_MODEL, D_MODEL))
        self.register_buffer("packed", torch.ones(D_MODEL, D_MODEL, dtype=torch.int8))
        self.patches = nn.Conv2d(1, 5, 3, stride=3)

    def forward(self, x: Tensor) -> Tensor:
        return self.does(self, x)


def powers(scores: Tensor) -> Tensor:
    made = (scores - scores.amax(-1, keepdim=True)).exp()
    return made / made.sum(-1, keepdim=True)


def beside_flex(m: Reads, x: Tensor) -> Tensor:
    y = m.inner(x)
    heads = x.unflatten(-1, (3, 4)).transpose(1, 2)
    made: Tensor = flex_attention(heads, heads, heads)
    return y + made.transpose(1, 2).flatten(-2)


MIXES: dict[str, Callable[[Reads, Tensor], Tensor]] = {
    "a softmax over three axes": lambda m, x: torch.softmax(x @ x.mT, -1) @ x,
    "a softmax of one sequence": lambda m, x: torch.softmax(x[0] @ x[0].T, -1) @ x[0],
    "exp by hand": lambda m, x: powers(x @ x.mT) @ x,
    "exp by hand of one sequence": lambda m, x: powers(x[0] @ x[0].T) @ x[0],
    "no softmax at all": lambda m, x: F.elu(x) @ (F.elu(x).mT @ x),
    "einsum": lambda m, x: torch.einsum("bij,bjd->bid", x @ m.weight[:, :TOKENS], x),
    "a softmax over the positions": lambda m, x: (x.softmax(1) * x).sum(1, keepdim=True),
    "its own beside one that is kept": lambda m, x: m.inner(x) + (x @ x.mT).softmax(-1) @ x,
    "a running sum": lambda m, x: x.cumsum(1),
    "Fourier": lambda m, x: torch.fft.fft(x, dim=1).real,
    "a shift": lambda m, x: F.pad(x, (0, 0, 1, -1)),
    "a roll": lambda m, x: x.roll(1, 1),
    "a norm over positions": lambda m, x: F.group_norm(x.mT, 3).mT,
    "a layer norm over two axes": lambda m, x: F.layer_norm(x, x.shape[1:]),
    "a kernel": lambda m, x: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        *(3 * [x[None]])
    )[0],
    "flex attention beside sdpa": beside_flex,
}
MIXES_NOT: dict[str, Callable[[Reads, Tensor], Tensor]] = {
    "patches": lambda m, x: m.patches(x[:, None, :6]).flatten(2).mT,
    "a gate": lambda m, x: F.silu(x @ m.weight) * (x @ m.weight.T),
    "experts": lambda m, x: x @ m.experts[(x @ m.weight).softmax(-1).argmax(-1)[:, 0] % 3],
    "a packed weight": lambda m, x: x @ m.packed.float() * 0.5,
    "angles": lambda m, x: (
        x * (torch.ones(1, 2, 1) @ torch.arange(7.0)[None, None]).cos().mT.repeat(1, 1, 6)
    ),
    "positions of a mask": lambda m, x: x * (x > 0).long().cumsum(1),
    "norms": lambda m, x: F.layer_norm(x, (D_MODEL,)) * x.pow(2).mean(-1, keepdim=True).rsqrt(),
    "words to choose from": lambda m, x: (x @ m.weight).softmax(-1),
    "room around": lambda m, x: F.pad(x, (0, 0, 1, 1)),
    "likeness by a temperature": lambda m, x: x[:, 0] @ x[:, 1].T * torch.tensor(0.5).exp(),
    "likeness of whole texts": lambda m, x: x[:, 0] @ x[:, 1].T,
}


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@over("name", MIXES)
def test_what_moves_numbers_between_positions_is_told_by_its_module(name):
    net, x = nn.Sequential(OwnAttention(), Reads(MIXES[name])).eval(), inputs()
    with torch.no_grad():
        torch.manual_seed(0)
        plain = net(x)
        with pytest.warns(UserWarning, match="not kept: 1 "), attention.capture() as run:
            output = net(x)
    assert torch.equal(output, plain)
    assert list(run.left_out) == ["1"]
    beside = ["1.inner"] if "beside" in name else []
    rows = run.report().rows
    assert [row.module for row in rows if row.state == "kept"] == ["0", *beside]
    assert [row.module for row in run.report().left_out] == ["1"]
    refused = pytest.raises(ValueError, match="not kept: 1 ")
    with torch.no_grad(), refused, attention.capture(strict=True):
        net(x)


@over("name", MIXES_NOT)
def test_what_leaves_positions_apart_is_no_false_alarm(name):
    net = nn.Sequential(OwnAttention(), Reads(MIXES_NOT[name]))
    with attention.capture(strict=True) as run:
        net(inputs())
    assert run.report().left_out == ()


@torch.no_grad()
def test_a_compiled_function_is_told_and_its_module_named():
    twice = torch.compile(lambda x: 2 * x, backend="eager")
    net = nn.Sequential(OwnAttention(), Reads(lambda m, x: twice(x)))
    net(inputs())
    with pytest.warns(UserWarning, match="compiled, which is not seen"), attention.capture() as run:
        net(inputs())
    assert list(run.left_out) == ["1"]
    with torch.compiler.set_stance("force_eager"), attention.capture(strict=True):
        net(inputs())


@torch.no_grad()
@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_flex_attention_that_is_not_compiled_is_not_called_so():
    net = nn.Sequential(Reads(beside_flex))
    told = pytest.warns(UserWarning, match="0 calls flex_attention, whose scores and masks are")
    with told, attention.capture() as run:
        net(inputs())
    assert "compiled" not in run.left_out["0"]


class RecurrentGemmaMlp(nn.Linear):
    """Feed-forward step that is named after its model."""


def test_a_feed_forward_step_of_a_model_named_recurrent_mixes_nothing():
    with attention.capture(strict=True) as run:
        nn.Sequential(OwnAttention(), RecurrentGemmaMlp(12, 12))(inputs())
    assert [row.module for row in run.report().rows] == ["0"]


class OwnLayer(nn.TransformerEncoderLayer):
    """A subclass that changes nothing, as many are."""

    def forward(self, *given, **named):
        return super().forward(*given, **named)


PADDING = torch.arange(TOKENS) >= torch.tensor([[7], [4]])


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@over("kind", [nn.TransformerEncoderLayer, OwnLayer])
@over("norm_first", [False, True])
@over("with_mask", [False, True])
def test_torchs_layers_and_their_subclasses_keep_their_fused_step(kind, norm_first, with_mask):
    torch.manual_seed(3)
    said = {"batch_first": True, "norm_first": norm_first}
    net = nn.TransformerEncoder(kind(12, 4, 20, 0, **said), 2, enable_nested_tensor=not with_mask)
    x, mask = inputs(), nn.Transformer.generate_square_subsequent_mask(TOKENS).isinf()
    given = {"src_key_padding_mask": PADDING} | ({"mask": mask} if with_mask else {})
    net.eval()
    with torch.no_grad():
        plain = net(x, **given)
        with attention.capture(strict=True) as run:
            output = net(x, **given)
    assert output.equal(plain)
    names = ["layers.0.self_attn", "layers.1.self_attn"]
    assert [kept.name for kept in run.attentions] == names
    first = net.layers[0]
    asked = first.norm1(x) if norm_first else x
    barred = {"key_padding_mask": PADDING, "attn_mask": mask if with_mask else None}
    with torch.no_grad():
        expected = first.self_attn(asked, asked, asked, average_attn_weights=False, **barred)[1]
    made = run.weights(0, 3, rows=slice(4), entry=1)
    torch.testing.assert_close(made, expected[1, 3, :4], atol=1e-6, rtol=0)


def test_layers_that_are_not_there_are_named_with_those_that_are():
    net = model(OwnAttention(), OwnAttention())
    expected = r"those that ran, 0 \(0.mix\), 1 \(1.mix\), got \['nope', 5\]"
    with pytest.raises(ValueError, match=expected), attention.capture(layers=["nope", 1, 5]):
        net(inputs())
    with attention.capture(layers=["1.mix"], strict=True) as run:
        net(inputs())
    assert [(row.module, row.state) for row in run.report().rows] == [
        ("1.mix", "kept"),
        ("0.mix", "not asked for"),
    ]


def test_an_error_of_the_model_is_not_covered_by_one_of_the_capture():
    def stops(m: Reads, x: Tensor) -> Tensor:
        raise RuntimeError("stop")

    net = nn.Sequential(OwnAttention(), Reads(stops))
    stopped = pytest.raises(RuntimeError, match="stop")
    with stopped, attention.capture(layers=["nope"], strict=True):
        net(inputs())
    with pytest.raises(ValueError, match="no attention was seen"), attention.capture(strict=True):
        pass


def test_texts_that_do_not_fit_are_refused_before_they_are_saved(tmp_path):
    with attention.capture(layers=[0]) as run:
        model(OwnAttention(), OwnAttention())(inputs(tokens=5))
    path = tmp_path / "run.safetensors"
    with pytest.raises(ValueError, match="expected 5 tokens, got 1"):
        run.save(path, tokens=["a"])
    with pytest.raises(ValueError, match="expected 5 keys, got 6"):
        run.save(path, keys=[*"abcdef"])
    assert [*tmp_path.iterdir()] == []
    run.save(path, tokens=[*"abcde"])
    again = Recording.open(path)
    assert again.report() == run.report()


def test_a_report_is_text_a_table_and_a_frame():
    net = nn.Sequential(model(OwnAttention(), ByHand()))
    with pytest.warns(UserWarning, match="not kept: "), attention.capture() as run:
        net(inputs())
    report = run.report()
    assert str(report).splitlines()[:2] == [
        "module   state     words",
        "0.0.mix  kept      self, 3 heads, 7 queries, 7 keys, 2 entries",
    ]
    assert "compiled graphs" in str(report).splitlines()[-1]
    frame = pandas.DataFrame(report.rows)
    assert frame.columns.tolist() == ["module", "state", "words"]
    assert frame["state"].tolist() == ["kept", "left out"]
    assert frame["words"][1].startswith("computes a softmax of its own scores")
    hostile = attention.capture.Recording([], {"<b>": "is <i>"}).report()
    assert "<td>&lt;b&gt;</td>" in hostile._repr_html_()
    assert run.runs[0].report().rows == report.rows

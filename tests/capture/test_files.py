"""Files of recordings: what is written is read again, and a file that lies is refused."""

from __future__ import annotations

import json
import struct

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import attention
from attention.capture import Recording
from tests.capture.families import FAMILIES, TEXT, WITHOUT_SOFTMAX
from tests.capture.making import OwnAttention, inputs, model
from tests.cases import over

FORMAT = "attention-recording-1"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.safetensors"


def recorded(**said) -> Recording:
    with attention.capture(values=True) as run:
        model(OwnAttention(**said), OwnAttention(**said))(inputs())
    return run.one()


@torch.no_grad()
def without_softmax() -> Recording:
    with attention.capture() as run:
        WITHOUT_SOFTMAX["Qwen 3.5"].build()(input_ids=TEXT)
    return run.one()


@pytest.mark.parametrize("name", ["Gemma 3", "gpt-oss", "T5", "Gemma 2"])
def test_a_file_gives_the_weights_of_the_run(name, path):
    with torch.no_grad(), attention.capture() as run:
        FAMILIES[name].build()(**FAMILIES[name].inputs())
    run.save(path, tokens=["<s>", *"abcdefgh"])
    opened = Recording.open(path)
    assert opened.tokens == ["<s>", *"abcdefgh"]
    assert (opened.model, opened.step) == (run.model, 0)
    for kept, read in zip(run.attentions, opened.attentions, strict=True):
        assert (read.name, read.kind, read.cap) == (kept.name, kept.kind, kept.cap)
        assert torch.equal(opened.weights(kept.number, 2), run.weights(kept.number, 2))
    assert [*path.parent.iterdir()] == [path]


@over("dtype", [torch.bfloat16, torch.float64])
def test_a_file_has_the_numbers_of_the_model_and_each_mask_once(dtype, path):
    mask = torch.tensor([[True, False, True, True, False, False, True]]).expand(7, 7)
    with attention.capture() as run:
        net = model(OwnAttention(attn_mask=mask), OwnAttention(attn_mask=mask))
        net.to(dtype)(inputs().to(dtype))
    run.save(path)
    with safe_open(path, framework="pt") as file:
        parts = "0.cells 0.first 0.keys 0.queries 0.stop 1.keys 1.queries"
        assert sorted(file.keys()) == parts.split()
    opened = Recording.open(path)
    assert torch.equal(opened.attentions[1].keys, run.attentions[1].keys)
    assert opened.attentions[1].keys.dtype is dtype
    assert torch.equal(opened.weights(1, 0), run.weights(1, 0))


def without(part):
    return lambda said, tensors: said["attentions"][0]["parts"].pop(part)


def put(part, tensor):
    def change(said, tensors):
        tensors[f"0.{part}"] = tensor
        said["attentions"][0]["parts"][part] = f"0.{part}"

    return change


def say(name, value):
    return lambda said, tensors: said["attentions"][0].update({name: value})


def say_of_run(name, value):
    return lambda said, tensors: said.update({name: value})


def poison(said, tensors):
    tensors["1.keys"][1, 2, 3, 1] = torch.nan


NUMBERS = torch.ones(2, 3, 7, 4)
BEYOND = r"numbers and scores of 0\.mix must stay within ±3\.4e\+38, got 'up to "
LIES = {
    "no queries": (without("queries"), "there must be queries and keys"),
    "other entries": (put("keys", NUMBERS[:1]), "keys must have the entries and the d_k"),
    "no numbers": (put("queries", NUMBERS[..., :0]), "queries must be .* each from 1 to"),
    "10^9 tokens": (put("queries", torch.empty(1, 1, 10**9, 0)), "queries must be .* each from 1"),
    "fewer values": (put("values", NUMBERS[:, :, :5]), "values must be as many as the keys"),
    "sinks": (put("sinks", torch.ones(4)), r"sinks must be \(3,\), got '\(4,\)'"),
    "rows of a mask": (put("first", torch.zeros(1, 1, 6).int()), r"first must be \(1 or 2, 1 or 3"),
    "a mask beyond": (put("stop", torch.full((1, 1, 7), 8).int()), "a mask must stay within 7"),
    "bits": (put("cells", torch.zeros(1, 1, 7, 2).byte()), r"cells must be .*, 1\), got"),
    "a bias": (put("bias", torch.zeros(1, 3, 13)), r"bias must be \(1 or 2, 1 or 3, 1 or 7, 7\)"),
    "NaN": (poison, "keys must be finite numbers, got '1.mix'"),
    "infinite sinks": (put("sinks", torch.tensor([1, torch.inf, 2])), "sinks must be finite"),
    "scores beyond float32": (put("queries", 3e38 * NUMBERS), BEYOND),
    "a scale of 1e308": (say("scale", 1e308), BEYOND),
    "a bias of 1e300": (
        put("bias", 1e300 * NUMBERS[:, :, :, :1].double().expand(2, 3, 7, 7)),
        BEYOND,
    ),
    "sinks of 1e300": (put("sinks", 1e300 * torch.ones(3).double()), BEYOND + "1.0e.300'"),
    "a cap of 1e-300": (say("cap", 1e-300), "cap must be from 1.2e-38 on, got '1e-300'"),
    "an unknown part": (put("pickle", NUMBERS), "parts must be among queries"),
    "no tensor": (say("parts", {"queries": "9.queries", "keys": "0.keys"}), "a tensor of the file"),
    "a scale": (say("scale", float("nan")), "scale must be a finite number, got 'nan'"),
    "a cap": (say("cap", -1.0), "cap must be greater than 0"),
    "a kind": (say("kind", "<b>"), "kind must be self or cross"),
    "a name with HTML": (say("name", "<img src=x onerror=alert(1)>"), "a name must be letters"),
    "a model with HTML": (say_of_run("model", "<script>"), "a name must be letters"),
    "a reason with HTML": (say_of_run("left_out", {"a": "<i>"}), "a reason must be plain"),
    "a head too few": (say("heads", [0, 1]), "each head has its number"),
    "a key head beyond": (say("groups", [0, 1, 3]), "group must be a whole number .* below 3"),
    "numbers that fall": (say("number", 2), "attentions must have numbers that rise"),
    "an origin": (say("origin", -3), "origin must be a whole number from 0 on"),
    "tokens": (say_of_run("tokens", [3, 4]), "each must be described"),
    "tokens for nobody": (say_of_run("tokens", ["a"]), "tokens must be as many as queries"),
}


def put_at(part, number):
    return lambda said, tensors: tensors[f"0.{part}"].__setitem__((0, 0, 3), number)


def say_of_recurrence(name, value):
    return lambda said, tensors: said["attentions"][0]["recurs"].update({name: value})


def cut(part):
    return lambda said, tensors: tensors.update({f"0.{part}": tensors[f"0.{part}"][:, :, :5]})


LIES_WITHOUT_SOFTMAX = {
    "a decay that grows": (put_at("decay", 0.5), "decay must be up to 0 and strength from 0 on"),
    "a strength below 0": (put_at("strength", -0.5), "decay must be up to 0 and strength from 0"),
    "a strength of 9": (put_at("strength", 9.0), "what erases must have a strength up to 2.0"),
    "no number": (put_at("strength", torch.nan), "strength must be finite"),
    "a strength too short": (cut("strength"), r"strength must be \(2, 6, 9\)"),
    "fewer keys": (cut("keys"), "keys must be as the queries"),
    "an unknown rule": (say_of_recurrence("rule", "<b>"), "rule must be one of"),
    "words with HTML": (
        say_of_recurrence("beside", "<img src=x>"),
        "words on what is beside it must be plain",
    ),
    "long keys": (
        lambda said, tensors: (
            tensors["0.keys"].mul_(5),
            said["attentions"][0]["recurs"].update(is_normed=False),
        ),
        "keys that erase must be of length 1",
    ),
    "no strength": (without("strength"), "there must be a strength of each head"),
    "another sequence": (say("kind", "cross"), "reads its own sequence"),
    "a softmax with gates": (
        lambda said, tensors: said["attentions"][0].update(
            recurs=None, heads=[0, 1], groups=[0, 1]
        ),
        "a softmax has no such parts",
    ),
}


@over("name", {**LIES, **LIES_WITHOUT_SOFTMAX})
def test_a_file_that_lies_is_refused_in_one_sentence(name, path):
    change, words = (LIES | LIES_WITHOUT_SOFTMAX)[name]
    run = recorded(is_causal=True) if name in LIES else without_softmax()
    run.save(path)
    with safe_open(path, framework="pt") as file:
        said = json.loads(file.metadata()["recording"])
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    change(said, tensors)
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    path.unlink()  # it is still mapped into memory
    save_file(tensors, path, {"format": FORMAT, "recording": json.dumps(said)})
    with pytest.raises(ValueError, match=words) as refused:
        Recording.open(path)
    assert len(str(refused.value)) < 300


@over("largest", [1e18, -1e18])
def test_numbers_as_large_as_their_scores_allow_give_weights(largest, path):
    run = recorded()
    run.attentions[0].queries.mul_(0).add_(largest)
    run.attentions[0].keys[:, :, 1:] *= 1e18
    run.save(path)
    weights = Recording.open(path).weights(0, 2)
    assert weights.isfinite().all()
    assert torch.equal(weights, run.weights(0, 2))


def header(said, data=b"", length=None):
    text = said if isinstance(said, bytes) else json.dumps(said).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def one_tensor(shape, offsets):
    return {"a": {"dtype": "F32", "shape": shape, "data_offsets": offsets}}


def described(**said):
    return header({"__metadata__": {"format": FORMAT, **said}})


SHORT, BROKEN_TENSORS = "must begin with the length of its header", "a whole .safetensors"
BROKEN = {
    **{"nothing": (b"", SHORT), "a few bytes": (b"\x00\x01", SHORT)},
    "a long header": (header({}, length=1 << 40), SHORT),
    "no JSON": (header(b"{nonsense"), "must be a whole .safetensors"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(99), SHORT),
    "offsets beyond": (header(one_tensor([2, 2], [0, 16]), bytes(8)), BROKEN_TENSORS),
    "10^9 numbers": (header(one_tensor([10**9], [0, 4 * 10**9]), b""), BROKEN_TENSORS),
    "another format": (header(one_tensor([4], [0, 16]), bytes(16)), "must be a recording"),
    "no description": (described(), "as JSON"),
    "a list": (described(recording="[]"), "must have"),
}


@over("name", BROKEN)
def test_a_broken_file_is_refused_in_one_sentence(name, path):
    content, words = BROKEN[name]
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as refused:
        Recording.open(path)
    assert len(str(refused.value)) < 300


def test_what_was_left_out_is_in_the_file_and_tokens_may_say_anything_and_are_cut(path):
    run, said = recorded(), ["<b>", "\ud800", "x" * 1000, "", "\u202e", "'", "🐈"]
    run.left_out["layers.3.<b>"] = "computes attention otherwise"
    run.save(path, tokens=said)
    opened = Recording.open(path)
    assert opened.left_out == {"layers.3._b_": "computes attention otherwise"}
    assert opened.tokens == ["<b>", "?", "x" * 200, "", "\u202e", "'", "🐈"]

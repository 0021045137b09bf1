"""Files that are not what they should be are refused, with a word on what came instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from attention.trained.checkpoints import check_folder, load_folder
from attention.trained.layouts import LAYOUTS
from attention.trained.models import About
from tests.trained.making import LLAMA3, bytelevel, change_json

ABOUT = About("tiny", "Tiny", "nobody")
Copy = Callable[[str], Path]
Change = Callable[[Path], object]


def refused(folder: Path, words: str) -> None:
    """The folder is neither loaded nor found well without reading its weights."""
    for read in (lambda: load_folder(folder, ABOUT), lambda: check_folder(folder)):
        with pytest.raises(ValueError, match=words):
            read()


def test_every_layout_is_found_well_without_reading_its_weights(each_checkpoint, monkeypatch):
    monkeypatch.setattr(Tensor, "to", lambda *_, **__: pytest.fail("a tensor was read"))
    check_folder(each_checkpoint.folder)


def without(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def writing(name: str, content: bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content)


def cut(kept: int) -> Change:
    file = "model.safetensors"
    return lambda folder: (folder / file).write_bytes((folder / file).read_bytes()[:kept])


def weights(name: str, tensor: Tensor | None) -> Change:
    """Write another tensor, or none, into the file of weights."""

    def change(folder: Path) -> None:
        kept = load_file(folder / "model.safetensors") | {name: tensor}
        named = {name: tensor for name, tensor in kept.items() if tensor is not None}
        save_file(named, folder / "model.safetensors")

    return change


def index(**said: Any) -> Change:
    """Write an index of weights in the place of the weights."""

    def change(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors.index.json").write_text(json.dumps(said), "utf-8")

    return change


BROKEN: list[tuple[str, Change, str]] = [
    *(
        ("bert", without(name), f"a file {name} is needed, there is none")
        for name in ("config.json", "tokenizer.json", "model.safetensors")
    ),
    *(
        ("gpt2", cut(kept), "model.safetensors must be a whole safetensors file")
        for kept in (0, -1)
    ),
    *(
        ("bert", writing("tokenizer.json", text), "tokenizer.json must be a tokenizer of Hugging")
        for text in (b"", b'{"a": 1}')
    ),
    *(
        ("bert", writing("config.json", text), "config.json must be JSON")
        for text in (b"{", b"\xff\xfe", b"[" * 100_000)
    ),
    ("bert", writing("config.json", b"[1]"), "config.json must be a JSON object, got list"),
    *(
        ("bert", writing("config.json", text), rf"its layout must be one of .*bert, .*, got {came}")
        for text, came in (
            (b"{}", "None"),
            (b'{"model_type": "nobodys"}', "'nobodys'"),
            (b'{"model_type": ["bert"]}', r"\['bert'\]"),
        )
    ),
    ("gpt2", weights("transformer.h.1.mlp.c_fc.bias", None), "a tensor 'h.1.mlp.c_fc.bias', it"),
    (
        "bert",
        weights("encoder.layer.0.intermediate.dense.bias", torch.zeros(7)),
        r"encoder\.layer\.0\.intermediate\.dense\.bias must be \(40,\), got \(7,\)",
    ),
    (
        "gpt2",
        weights("transformer.ln_f.bias", torch.zeros(24, dtype=torch.int8)),
        r"ln_f\.bias must be of floats, got I8",
    ),
    ("bert", index(), "must have a weight_map from tensors to files"),
    ("bert", index(weight_map={"a": "../b.safetensors"}), "beside itself, it has '../b.safe"),
    ("bert", index(weight_map={"a": "one.safetensors"}), "a file one.safetensors is needed"),
    (
        "bert",
        lambda folder: bytelevel([]).save(str(folder / "tokenizer.json")),
        r"the tokenizer must have ids below 75, one for each vector, it has \d\d\d",
    ),
]


def turning(**said: Any) -> dict[str, Any]:
    return {"rope_parameters": said}


SETTINGS: list[tuple[str, dict[str, Any], str]] = [
    ("bert", {"hidden_size": None}, "config.json must have 'hidden_size', it has not"),
    ("bert", {"num_hidden_layers": 3}, "must have a tensor 'encoder.layer.2.*', it has none"),
    ("bert", {"num_attention_heads": 5}, "heads must divide d_model = 24, got 5"),
    ("bert", {"hidden_act": "sine"}, "its activation must be one of gelu, .*, got 'sine'"),
    ("bert", {"layer_norm_eps": "small"}, "layer_norm_eps in config.json must be a number"),
    ("bert", {"is_decoder": True}, "must have is_decoder = False, .*, got True"),
    ("gpt2", {"scale_attn_weights": False}, "must have scale_attn_weights = True"),
    ("llama", {"mlp_bias": True}, "must have a tensor 'layers.0.mlp.gate_proj.bias'"),
    ("llama", {"attention_bias": True}, "must have a tensor 'layers.0.self_attn.q_proj.bias'"),
    ("llama", {"num_key_value_heads": 4}, "num_key_value_heads must divide 6 heads, got 4"),
    ("llama", {"head_dim": 5}, r"q_proj.weight must be \(30, 24\), got \(24, 24\)"),
    ("llama", {"rope_parameters": [1]}, "rope_parameters in config.json must be an object"),
    ("llama", turning(rope_theta="large"), "rope_theta .* a number of at least 1, got 'large'"),
    ("llama", turning(rope_type="yarn"), "one of 'default', 'linear', 'llama3', got 'yarn'"),
    ("llama", turning(partial_rotary_factor=0.5), "partial_rotary_factor .* must be 1, got 0.5"),
    (
        "llama",
        {"rope_parameters": None, "rope_scaling": {"type": "linear"}},
        "factor in config.json must be a number of at least 1e-06, got None",
    ),
    (
        "llama stretched",
        turning(**LLAMA3 | {"low_freq_factor": 3.0}),
        "low_freq_factor in config.json must be below high_freq_factor = 3.0, got 3.0",
    ),
    ("qwen3", {"layer_types": ["full_attention"]}, "2 times full_attention or sliding_att.*, got"),
    ("mistral", {"sliding_window": 0}, "sliding_window in config.json must be a whole number"),
    ("qwen3", {"head_dim": 4}, r"self_attn\.q_proj\.weight must be \(24, 24\), got \(36, 24\)"),
]


@pytest.mark.parametrize(("name", "change", "words"), [*BROKEN, *SETTINGS])
def test_what_is_missing_broken_or_cannot_be_done_is_named(copy, name, change, words):
    folder = copy(name)
    if isinstance(change, dict):
        change_json(folder / "config.json", **change)
    else:
        change(folder)
    refused(folder, words)


OLDER: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("bert", dict.fromkeys(["layer_norm_eps", "position_embedding_type", "is_decoder"]), {}),
    ("gpt2", dict.fromkeys(["n_inner", "activation_function", "layer_norm_epsilon"]), {}),
    ("gpt2", {"scale_attn_weights": None}, {}),
    ("llama", dict.fromkeys(["head_dim", "hidden_act", "rms_norm_eps", "rope_parameters"]), {}),
    ("llama", {"attention_bias": None}, {}),
    ("llama tied", {"rope_parameters": None, "rope_theta": 700.0}, {"rope_theta": 70.0}),
]


@pytest.mark.parametrize(("name", "older", "other"), OLDER)
def test_what_a_config_need_not_say_is_as_the_library_has_it_and_what_older_ones_say_counts(
    copy, name, older, other
):
    folder = copy(name)

    def hidden(**changes: Any) -> Tensor:
        change_json(folder / "config.json", **changes)
        return load_folder(folder, ABOUT).run("the cat sat").hidden

    before = hidden()
    assert torch.equal(hidden(**older), before)
    assert not other or not torch.allclose(hidden(**other), before)


def test_a_window_that_is_null_is_none_and_one_that_is_missing_is_the_librarys():
    said = {"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2}
    assert LAYOUTS["mistral"](said).config["sliding_window"] == 4096
    assert "sliding_window" not in LAYOUTS["mistral"]({**said, "sliding_window": None}).config

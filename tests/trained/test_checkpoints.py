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
from attention.trained.sources import check_hash
from tests.trained.making import Checkpoint, change_json

ABOUT = About("tiny", "Tiny", "nobody")
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 5.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 23,
}
Copy = Callable[[str], Path]


def refused(folder: Path, words: str) -> None:
    """The folder is neither loaded nor found well without reading its weights."""
    for read in (lambda: load_folder(folder, ABOUT), lambda: check_folder(folder)):
        with pytest.raises(ValueError, match=words):
            read()


def change_weights(folder: Path, change: Callable[[dict[str, Tensor]], Any]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")


def test_every_layout_is_found_well_without_reading_its_weights(
    each_checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tensor, "to", lambda *_, **__: pytest.fail("a tensor was read"))
    check_folder(each_checkpoint.folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(copy: Copy, name: str) -> None:
    folder = copy("bert")
    (folder / name).unlink()
    refused(folder, f"a file {name} is needed, there is none")


@pytest.mark.parametrize("kept", [0, 7, 100, -1])
def test_a_truncated_file_of_weights_is_refused(copy: Copy, kept: int) -> None:
    folder = copy("gpt2")
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:kept])
    refused(folder, "model.safetensors must be a whole safetensors file")


@pytest.mark.parametrize("text", ["", "{", "\x00", "[" * 100_000, '{"a": 1}'])
def test_a_broken_tokenizer_is_refused(copy: Copy, text: str) -> None:
    folder = copy("bert")
    (folder / "tokenizer.json").write_text(text, "utf-8")
    refused(folder, "tokenizer.json must be a tokenizer of Hugging Face")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "config.json must be JSON"),
        (b"{", "config.json must be JSON"),
        (b"\xff\xfe", "config.json must be JSON"),
        (b"[" * 100_000, "config.json must be JSON"),
        (b"[1]", "config.json must be a JSON object, got list"),
        (b"{}", "its layout must be one of .*bert, .*, got None"),
        (b'{"model_type": "mamba"}', "its layout must be one of .*bert, .*, got 'mamba'"),
        (b'{"model_type": ["bert"]}', "its layout must be one of .*bert"),
    ],
)
def test_a_broken_config_is_refused(copy: Copy, content: bytes, words: str) -> None:
    folder = copy("bert")
    (folder / "config.json").write_bytes(content)
    refused(folder, words)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("bert", {"hidden_size": None}, "config.json must have 'hidden_size', it has not"),
        ("bert", {"hidden_size": "24"}, "hidden_size in config.json must be a whole number"),
        ("bert", {"num_hidden_layers": -1}, "num_hidden_layers in config.json must be a whole"),
        ("bert", {"num_hidden_layers": 3}, "must have a tensor 'encoder.layer.2.*', it has none"),
        ("bert", {"num_attention_heads": 5}, "heads must divide d_model = 24, got 5"),
        ("bert", {"num_attention_heads": True}, "num_attention_heads in config.json must be a"),
        ("bert", {"hidden_act": "sine"}, "its activation must be one of gelu, .*, got 'sine'"),
        ("bert", {"hidden_act": ["gelu"]}, r"its activation must be one of .*, got \['gelu'\]"),
        ("bert", {"layer_norm_eps": "small"}, "layer_norm_eps in config.json must be a number"),
        ("bert", {"hidden_size": 48}, r"must be \(40, 48\)|must be \(.*\), got \(.*\)"),
        ("bert", {"is_decoder": True}, "must have is_decoder = False, .*, got True"),
        (
            "bert",
            {"position_embedding_type": "relative_key"},
            "must have position_embedding_type = 'absolute', .*, got 'relative_key'",
        ),
        ("roberta", {"pad_token_id": 41}, "pad_token_id in config.json must be one of 41"),
        ("distilbert", {"n_layers": None}, "config.json must have 'n_layers', it has not"),
        ("gpt2", {"scale_attn_weights": False}, "must have scale_attn_weights = True"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx = F"),
        ("gpt2", {"reorder_and_upcast_attn": True}, "must have reorder_and_upcast_attn = False"),
        ("t5", {"is_encoder_decoder": False}, "must have is_encoder_decoder = True, .*, got False"),
        ("t5", {"feed_forward_proj": "gated-sine"}, "its activation must be one of .*, got 'sine'"),
        (
            "t5",
            {"relative_attention_num_buckets": 3},
            "num_buckets .* must be at least 4, .* got 3",
        ),
        ("t5", {"decoder_start_token_id": []}, r"must be one of \d+ pieces, .*, got \[\]"),
        ("t5", {"num_decoder_layers": 2}, "must have a tensor 'decoder.block.1.layer.0.*', it has"),
        ("bart", {"decoder_attention_heads": 4}, "must be 3, as the encoder has, got 4"),
        ("bart", {"forced_bos_token_id": 9999}, r"must be one of \d+ pieces, .*, got 9999"),
        ("bart", {"normalize_before": True}, "must have normalize_before = False, .*, got True"),
        (
            "bart",
            {"tie_word_embeddings": False},
            "must have a tensor 'lm_head.weight', it has none",
        ),
        ("llama", {"mlp_bias": True}, "must have a tensor 'layers.0.mlp.gate_proj.bias'"),
        ("llama", {"attention_bias": True}, "must have a tensor 'layers.0.self_attn.q_proj.bias'"),
        ("llama", {"num_key_value_heads": 4}, "num_key_value_heads must divide 6 heads, got 4"),
        ("llama", {"num_key_value_heads": 0}, "num_key_value_heads in config.json must be a whole"),
        ("llama", {"head_dim": 5}, r"q_proj.weight must be \(30, 24\), got \(24, 24\)"),
        ("llama", {"max_position_embeddings": None}, "must have 'max_position_embeddings'"),
        (
            "llama",
            {"rope_parameters": {"rope_type": "yarn", "factor": 8.0}},
            "rope_type in config.json must be one of 'default', 'linear', 'llama3', got 'yarn'",
        ),
        (
            "llama",
            {"rope_parameters": None, "rope_scaling": {"type": "linear"}},
            "factor in config.json must be a number of at least 1e-06, got None",
        ),
        (
            "llama stretched",
            {"rope_parameters": LLAMA3 | {"low_freq_factor": 4.0}},
            "low_freq_factor in config.json must be below high_freq_factor = 4.0, got 4.0",
        ),
        (
            "llama",
            {"rope_parameters": {"partial_rotary_factor": 0.5}},
            "partial_rotary_factor in config.json must be 1, got 0.5",
        ),
        (
            "gemma2",
            {"layer_types": ["full_attention"]},
            "layer_types in config.json must be 2 times full_attention or sliding_attention, got",
        ),
        ("gemma2", {"attn_logit_softcapping": "x"}, "attn_logit_softcapping in config.json must"),
        ("gemma3", {"use_bidirectional_attention": True}, "use_bidirectional_attention = False"),
        ("mistral", {"sliding_window": 0}, "sliding_window in config.json must be a whole number"),
        ("qwen3", {"head_dim": 4}, r"self_attn\.q_proj\.weight must be \(24, 24\), got \(36, 24\)"),
        ("llama", {"rope_parameters": [1]}, "rope_parameters in config.json must be an object"),
        (
            "llama",
            {"rope_parameters": {"rope_theta": "large"}},
            "rope_theta in config.json must be a number of at least 1, got 'large'",
        ),
    ],
)
def test_a_setting_that_is_missing_or_cannot_be_done_is_named(
    copy: Copy, name: str, settings: dict[str, Any], words: str
) -> None:
    folder = copy(name)
    change_json(folder / "config.json", **settings)
    refused(folder, words)


def test_what_a_config_need_not_say_is_assumed_as_the_library_assumes_it(copy: Copy) -> None:
    for name, silent in (
        ("bert", ["layer_norm_eps", "position_embedding_type", "is_decoder"]),
        ("roberta", ["pad_token_id"]),
        ("gpt2", ["n_inner", "activation_function", "layer_norm_epsilon", "scale_attn_weights"]),
        ("llama", ["head_dim", "hidden_act", "rms_norm_eps", "rope_parameters", "attention_bias"]),
        ("gemma2", ["layer_types", "hidden_activation", "tie_word_embeddings"]),
    ):
        folder = copy(name)
        before = load_folder(folder, ABOUT).run("the cat").hidden
        change_json(folder / "config.json", **dict.fromkeys(silent))
        assert torch.equal(load_folder(folder, ABOUT).run("the cat").hidden, before)
        folder.rename(folder.with_name(name))


def test_a_window_or_a_cap_that_is_null_is_none_and_one_that_is_missing_is_the_librarys() -> None:
    said = {"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2}
    for name, setting, usual in (
        ("mistral", "sliding_window", 4096),
        ("gemma2", "attn_logit_softcapping", 50.0),
        ("gemma2", "final_logit_softcapping", 30.0),
    ):
        assert LAYOUTS[name](said).config[setting] == usual
        assert setting not in LAYOUTS[name]({**said, setting: None}).config


def test_older_files_of_gemma_3_say_both_bases_beside_their_other_settings(copy: Copy) -> None:
    folder = copy("gemma3")
    before = load_folder(folder, ABOUT).run("the cat sat").hidden
    older = {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "sliding_window_pattern": 2}
    change_json(folder / "config.json", rope_parameters=None, layer_types=None, **older)
    assert torch.equal(load_folder(folder, ABOUT).run("the cat sat").hidden, before)
    change_json(folder / "config.json", rope_local_base_freq=10.0)
    assert not torch.allclose(load_folder(folder, ABOUT).run("the cat sat").hidden, before)


def test_older_files_say_the_base_of_the_rotation_beside_their_other_settings(copy: Copy) -> None:
    folder = copy("llama tied")
    before = load_folder(folder, ABOUT).run("the cat sat").hidden
    change_json(folder / "config.json", rope_parameters=None, rope_theta=700.0)
    assert torch.equal(load_folder(folder, ABOUT).run("the cat sat").hidden, before)
    change_json(folder / "config.json", rope_theta=70.0)
    assert not torch.allclose(load_folder(folder, ABOUT).run("the cat sat").hidden, before)


def test_a_missing_tensor_is_named(copy: Copy) -> None:
    folder = copy("gpt2")
    change_weights(folder, lambda weights: weights.pop("transformer.h.1.mlp.c_fc.bias"))
    refused(folder, r"must have a tensor 'h\.1\.mlp\.c_fc\.bias', it has none")


def test_a_tensor_of_another_shape_is_named(copy: Copy) -> None:
    folder = copy("distilbert")
    name = "transformer.layer.0.ffn.lin1.bias"
    change_weights(folder, lambda weights: weights.update({name: torch.zeros(7)}))
    refused(folder, r"transformer\.layer\.0\.ffn\.lin1\.bias must be \(40,\), got \(7,\)")


def test_weights_that_are_no_floats_are_refused(copy: Copy) -> None:
    folder = copy("gpt2")
    name = "transformer.ln_f.bias"
    whole = torch.zeros(24, dtype=torch.int8)
    change_weights(folder, lambda weights: weights.update({name: whole}))
    refused(folder, r"ln_f\.bias must be of floats, got I8")


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ({}, "must have a weight_map from tensors to files"),
        ({"weight_map": {}}, "must have a weight_map from tensors to files"),
        ({"weight_map": {"a": "../other.safetensors"}}, "beside itself, it has '../other.safe"),
        ({"weight_map": {"a": "pytorch_model.bin"}}, "it has 'pytorch_model.bin'"),
        ({"weight_map": {"a": "one.safetensors"}}, "a file one.safetensors is needed"),
    ],
)
def test_an_index_of_weights_names_safetensors_files_beside_itself(
    copy: Copy, index: dict[str, Any], words: str
) -> None:
    folder = copy("bert")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    refused(folder, words)


def test_a_tokenizer_of_another_model_is_refused(copy: Copy, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    folder = copy("bert").rename(tmp_path / "other" / "bert")
    (copy("gpt2") / "tokenizer.json").replace(folder / "tokenizer.json")
    refused(folder, "the tokenizer must have ids below 75, one for each vector, it has 299")


def test_a_model_too_short_for_a_word_is_refused(copy: Copy) -> None:
    folder = copy("roberta")
    change_json(folder / "config.json", pad_token_id=39)
    refused(folder, "a model must take more than 2 pieces, it takes 2")


def test_a_file_with_another_hash_than_it_was_pinned_with_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    with pytest.raises(ValueError, match=r"config.json cannot be read: No such file"):
        check_hash(file, "0" * 64)
    file.write_bytes(b"{}")
    known = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    check_hash(file, known)
    with pytest.raises(ValueError, match=r"SHA-256 it was pinned with, 0{12}…, got 44136fa355b3…"):
        check_hash(file, "0" * 64)


def test_each_layout_says_who_described_it() -> None:
    assert set(LAYOUTS) >= {"bert", "gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2"}
    for layout in LAYOUTS.values():
        assert layout.source
        assert layout.__doc__
        assert layout.source.split("]")[0].removeprefix("[") in layout.__doc__

"""Networks that have learned, as files in the layout of GPT-2, which other programs open too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from attention.core.variants import MultiHead
from attention.training.networks import FeedForward, Writer

FOLDER = Path(__file__).parent / "models"
PREFIX = "transformer."


def export(network: Writer, words: Sequence[str], folder: Path, **about: str) -> None:
    """Write config.json, tokenizer.json and model.safetensors of a network over words.

    words: by id, the first one begins each text, the second stands for all that are unknown;
    about: texts that the safetensors file carries.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {PREFIX * (name != "lm_head.weight") + name: each for name, each in _named(network)}
    whole = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    save_file(whole, folder / "model.safetensors", {"format": "pt", **about})
    for name, said in (("config", _config(network)), ("tokenizer", tokenizer(words))):
        text = json.dumps(said, indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(f"{text}\n", "utf-8")


def _config(network: Writer) -> dict[str, object]:
    """Settings of GPT-2 (Radford et al. 2019)."""
    assert network.positions is not None
    vocabulary, width = network.symbols.shape
    layers = network.layers
    first, after = layers.attention[0], layers.after[0]
    assert isinstance(first, MultiHead)
    assert isinstance(after, FeedForward)
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": vocabulary,
        "n_positions": len(network.positions),
        "n_embd": width,
        "n_layer": len(layers.attention),
        "n_head": first.heads,
        "n_inner": after.W_in.shape[1],
        "activation_function": "relu",
        "layer_norm_epsilon": network.norm.eps,
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": None,
    }


def _named(network: Writer) -> list[tuple[str, Tensor]]:
    """Parameters of a network by their names in GPT-2, which has biases: they are 0."""
    assert network.positions is not None
    found: dict[str, Tensor] = {
        "wte.weight": network.symbols,
        "wpe.weight": network.positions,
        "ln_f.weight": network.norm.weight,
        "ln_f.bias": network.norm.bias,
        "lm_head.weight": network.answers.T,
    }
    layers = network.layers
    parts = zip(layers.norms, layers.attention, layers.after, strict=True)
    for at, (norm, layer, after) in enumerate(parts):
        assert isinstance(layer, MultiHead)
        assert isinstance(after, FeedForward)
        joint = torch.cat([layer.W_q, layer.W_k, layer.W_v], 1)
        matrices = {
            "attn.c_attn": joint,
            "attn.c_proj": layer.W_o,
            "mlp.c_fc": after.W_in,
            "mlp.c_proj": after.W_out,
        }
        for name, matrix in matrices.items():
            found[f"h.{at}.{name}.weight"] = matrix
            found[f"h.{at}.{name}.bias"] = torch.zeros(matrix.shape[1])
        for name, each in (("ln_1", norm), ("ln_2", after.norm)):
            assert isinstance(each, nn.LayerNorm)
            found[f"h.{at}.{name}.weight"], found[f"h.{at}.{name}.bias"] = each.weight, each.bias
    return [*found.items()]


def tokenizer(words: Sequence[str]) -> dict[str, object]:
    """A tokenizer.json whose pieces are words in lower case; the first one begins each text."""
    start, unknown = words[:2]
    special = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    one = [{"SpecialToken": {"id": start, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": at, "content": word, **special} for at, word in ((0, start),)],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": one,
            "pair": [*one, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {start: {"id": start, "ids": [0], "tokens": [start]}},
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: at for at, word in enumerate(words)},
            "unk_token": unknown,
        },
    }

"""Models that transformers runs: packaged ones as if their layout were not known, and tiny ones."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from attention.trained import by_transformers, sources
from attention.trained.gguf_files import GgufFile
from attention.trained.hooked import ByTransformers
from tests.trained.making import gpts, robertas, transformers, wordpiece
from tests.trained.packaged import packaged

PAIRS = ("minilm", "smollm2")
POSITIONS = 53
TINY = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": POSITIONS,
}
GROUPED = TINY | {"num_key_value_heads": 2}
CONVOLVED = {"layer_types": ["conv", "full_attention", "conv"], "block_auto_adjust_ff_dim": False}
MODERN = {"local_attention": 6, "global_attn_every_n_layers": 2, "pad_token_id": 1}
GEMMA = GROUPED | {"head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 11}
DISTILLED = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 40}
DISTILLED |= {"max_position_embeddings": POSITIONS}
# no layout here: rotary beside a parallel feed-forward, learned positions, experts, a factor of
# scores, convolutions between, windows without a mask, an encoder's norms behind sums; norms before
# and behind with caps, or with two rotations, norms behind alone, one matrix for several, positions
# from behind the padding's
FAMILIES: dict[str, tuple[str, Callable[[], Tokenizer], dict[str, Any]]] = {
    "gpt_neox": ("GPTNeoXForCausalLM", gpts, TINY),
    "opt": ("OPTForCausalLM", gpts, TINY | {"ffn_dim": 40, "word_embed_proj_dim": 32}),
    "mixtral": ("MixtralForCausalLM", gpts, GROUPED | {"sliding_window": 5}),
    "granite": ("GraniteForCausalLM", gpts, GROUPED | {"logits_scaling": 3.0}),
    "lfm2": ("Lfm2ForCausalLM", gpts, GROUPED | CONVOLVED),
    "modernbert": ("ModernBertModel", robertas, TINY | MODERN),
    "electra": ("ElectraModel", wordpiece, TINY | {"embedding_size": 16}),
    "gemma2": ("Gemma2ForCausalLM", gpts, GEMMA | {"attn_logit_softcapping": 1.5}),
    "gemma3_text": ("Gemma3ForCausalLM", gpts, GEMMA),
    "olmo2": ("Olmo2ForCausalLM", gpts, GROUPED),
    "phi3": ("Phi3ForCausalLM", gpts, GROUPED | {"sliding_window": 5, "pad_token_id": 0}),
    "roberta": ("RobertaModel", robertas, TINY | {"pad_token_id": 1}),
    "distilbert": ("DistilBertModel", wordpiece, DISTILLED),
}


def write(folder: Path, name: str, **more: Any) -> Any:
    """A tiny model of one of `FAMILIES` with random weights, saved into a folder. Returns it."""
    kind_name, tokenizer_of, settings = FAMILIES[name]
    kind, tokenizer = getattr(transformers(), kind_name), tokenizer_of()
    ends = {"bos_token_id": 0, "eos_token_id": 0} if tokenizer_of is gpts else {}
    settings = {"vocab_size": tokenizer.get_vocab_size(), **ends, **settings, **more}
    config = kind.config_class(**settings)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = kind(config).eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter += torch.randn(parameter.shape, generator=generator) * 0.2
    theirs.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return theirs


@functools.lru_cache(1)  # one takes as much memory as its weights
def by_hook(name: str) -> ByTransformers:
    """A packaged model as transformers runs it, with the same weights and tokenizer."""
    transformers()
    known = packaged(name)
    settings, weights = _bert() if name == "minilm" else _llama()
    parts, network = by_transformers.load(by_transformers.family_of(settings, ()), weights)
    about = replace(known.about, name=f"{name}-by-transformers")
    return ByTransformers(about, known._read, parts, network)


def _bert() -> tuple[Mapping[str, Any], dict[str, Tensor]]:
    folder = sources.MINILM.path
    assert folder is not None
    settings = json.loads((folder / "config.json").read_text("utf-8"))
    return settings, by_transformers.read_weights([folder / "model.safetensors"])


def _llama() -> tuple[Mapping[str, Any], dict[str, Tensor]]:
    """SmolLM2 as safetensors files would have it."""
    folder = sources.SMOLLM2.path
    assert folder is not None
    file = GgufFile(folder / sources.SMOLLM2_FILE)
    file.map()
    settings = {**file.layout.config, "model_type": "llama", "architectures": ["LlamaForCausalLM"]}
    kind = transformers().LlamaForCausalLM
    with torch.device("meta"):
        shapes = kind(kind.config_class.from_dict(settings)).state_dict()
    wanted = {name: tuple(each.shape) for name, each in shapes.items() if "lm_head" not in name}
    weights = {name: file.take(name.removeprefix("model."), *wanted[name]) for name in wanted}
    return settings, weights

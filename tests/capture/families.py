"""Tiny random models of the families that transformers has, and what to run them on."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor

transformers: Any = pytest.importorskip(
    "transformers", reason="needs transformers (requirements-dev.txt)"
)

TEXT = torch.tensor([[3, 5, 7, 11, 13, 17, 19, 23, 29], [2, 31, 37, 41, 43, 0, 0, 0, 0]])
SOURCE = torch.tensor([[3, 5, 7, 11, 13, 17, 19], [2, 31, 37, 41, 43, 0, 0]])
KEPT = (TEXT != 0).long()
ENCODER: dict[str, Any] = {
    "vocab_size": 53,
    "hidden_size": 24,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
}
ENCODER |= {"num_attention_heads": 6, "head_dim": 4, "max_position_embeddings": 64}
ENCODER |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 52}
DECODER = ENCODER | {"num_key_value_heads": 2}
PLAIN_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
WINDOWS = {"sliding_window": 5, "layer_types": ["sliding_attention", "full_attention"]}
PICTURE = {"image_size": 12, "patch_size": 4, "num_hidden_layers": 2, "hidden_size": 12}
PICTURE |= {"num_attention_heads": 3, "intermediate_size": 20}


def text(**further: Tensor) -> dict[str, Tensor]:
    return {"input_ids": TEXT, "attention_mask": KEPT, **further}


def pair() -> dict[str, Tensor]:
    mask = (SOURCE != 0).long()
    return {"input_ids": SOURCE, "attention_mask": mask, "decoder_input_ids": TEXT}


def picture() -> dict[str, Tensor]:
    return {"pixel_values": torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(7))}


def sound() -> dict[str, Tensor]:
    made = torch.randn(2, 8, 22, generator=torch.Generator().manual_seed(7))
    return {"input_features": made, "decoder_input_ids": TEXT}


@dataclass(frozen=True)
class Family:
    """A family: its configuration, what a model of it takes, and how it runs where not as usual.

    mixes: its modules that mix tokens otherwise than by attention.
    """

    config: str
    settings: dict[str, Any]
    inputs: Callable[[], dict[str, Tensor]] = text
    runs: str = "sdpa"
    model: str = "AutoModel"
    mixes: tuple[str, ...] = ()

    def build(self, runs: str | None = None) -> Any:
        """A model of it with the same weights each time, biases and sinks among them."""
        torch.manual_seed(3)
        config = getattr(transformers, self.config)(**self.settings)
        made = getattr(transformers, self.model).from_config(
            config, attn_implementation=runs or self.runs
        )
        for parameter in made.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        return made.eval()

    def told(self) -> AbstractContextManager[Any]:
        """The warning that a capture of it gives, where it mixes tokens otherwise."""
        if not self.mixes:
            return nullcontext()
        return pytest.warns(UserWarning, match=f"not kept: {re.escape(self.mixes[0])} ")

    def eager_weights(self) -> list[Tensor]:
        """The weights that eager attention gives, in the order in which they are made."""
        outputs = self.build("eager")(**self.inputs(), output_attentions=True)
        if "encoder_attentions" not in outputs:
            return list(outputs.attentions)
        both = zip(outputs.decoder_attentions, outputs.cross_attentions, strict=True)
        return [*outputs.encoder_attentions, *(weights for layer in both for weights in layer)]


T5 = {"d_model": 24, "d_kv": 4, "d_ff": 20, "num_layers": 2, "num_heads": 3, "vocab_size": 53}
T5 |= {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 6}
T5 |= {"decoder_start_token_id": 0}
BART = {"d_model": 12, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 3}
BART |= {"decoder_attention_heads": 3, "encoder_ffn_dim": 20, "decoder_ffn_dim": 20}
BART |= {"pad_token_id": 0, "vocab_size": 53, "decoder_start_token_id": 1}
BART |= {"bos_token_id": 1, "eos_token_id": 52}
GPT_OSS = {"num_local_experts": 2, "num_experts_per_tok": 1, "rope_parameters": PLAIN_ROPE}
GPT_2 = {"n_embd": 12, "n_layer": 2, "n_head": 3, "vocab_size": 53, "n_positions": 64}
SOUND = {"num_mel_bins": 8, "max_source_positions": 11, "max_target_positions": 16}
DEEPSEEK: dict[str, Any] = {name: DECODER[name] for name in DECODER if name != "head_dim"}
DEEPSEEK |= {"num_key_value_heads": 6, "q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4}
DEEPSEEK |= {"qk_nope_head_dim": 4, "v_head_dim": 4, "n_routed_experts": 4, "n_group": 2}
DEEPSEEK |= {"topk_group": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1}
DEEPSEEK |= {"moe_intermediate_size": 8}
LFM2 = DECODER | {"layer_types": ["conv", "full_attention"], "block_ff_dim": 20}
CAPPED = {"attn_logit_softcapping": 1.5, "query_pre_attn_scalar": 7}
FAMILIES = {
    "Llama": Family("LlamaConfig", DECODER),
    "Qwen3": Family("Qwen3Config", DECODER),
    "Gemma 2": Family("Gemma2Config", DECODER | WINDOWS | CAPPED, runs="eager"),
    "Gemma 3": Family("Gemma3TextConfig", DECODER | WINDOWS),
    "Mistral": Family("MistralConfig", DECODER | {"sliding_window": 5}),
    "OLMo 2": Family("Olmo2Config", DECODER),
    "Phi-3": Family("Phi3Config", DECODER),
    "gpt-oss": Family("GptOssConfig", DECODER | WINDOWS | GPT_OSS, runs="eager"),
    "BERT": Family("BertConfig", ENCODER),
    "GPT-2": Family("GPT2Config", GPT_2 | {"bos_token_id": 1, "eos_token_id": 52}),
    "GPT-NeoX": Family("GPTNeoXConfig", ENCODER),
    "T5": Family("T5Config", T5, pair),
    "BART": Family("BartConfig", BART, pair),
    "ViT": Family("ViTConfig", PICTURE, picture),
    "DINOv2": Family("Dinov2Config", PICTURE, picture),
    "Whisper": Family(
        "WhisperConfig", BART | SOUND, sound, mixes=("encoder.conv1", "encoder.conv2")
    ),
    "DeepSeek-V3": Family("DeepseekV3Config", DEEPSEEK),
    "LFM2": Family("Lfm2Config", LFM2, mixes=("layers.0.conv",)),
}
DELTA = DECODER | {"layer_types": ["linear_attention", "full_attention", "linear_attention"]}
DELTA |= {"num_hidden_layers": 3, "linear_num_key_heads": 2, "linear_num_value_heads": 6}
DELTA |= {"linear_key_head_dim": 5, "linear_value_head_dim": 7, "linear_conv_kernel_dim": 3}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
EXPERTS |= {"shared_expert_intermediate_size": 8}
SCAN = DECODER | {"mamba_n_heads": 6, "mamba_d_head": 8, "mamba_n_groups": 2, "mamba_d_state": 5}
SCAN |= {"mamba_d_conv": 3, "mamba_chunk_size": 4}
MAMBA_2 = {name: ENCODER[name] for name in ("vocab_size", "hidden_size", "num_hidden_layers")}
MAMBA_2 |= {"num_heads": 6, "head_dim": 8, "n_groups": 2, "state_size": 5, "conv_kernel": 3}
MAMBA_2 |= {"chunk_size": 4, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 52}
GRANITE = {"layer_types": ["linear_attention", "full_attention"], "num_local_experts": 2}
GRANITE |= {"num_experts_per_tok": 1, "shared_intermediate_size": 8}
ZAMBA_2 = ENCODER | {"num_hidden_layers": 3}
ZAMBA_2 |= {"layers_block_type": ["linear_attention", "hybrid", "linear_attention"]}
ZAMBA_2 |= {"mamba_d_state": 5, "mamba_d_conv": 3, "mamba_ngroups": 2, "n_mamba_heads": 6}
ZAMBA_2 |= {"chunk_size": 4, "num_key_value_heads": 6}
NEMOTRON_H = DECODER | {"layers_block_type": ["linear_attention", "full_attention", "mlp"]}
NEMOTRON_H |= {"num_hidden_layers": 3, "mamba_num_heads": 6, "mamba_head_dim": 8, "n_groups": 2}
NEMOTRON_H |= {"ssm_state_size": 5, "conv_kernel": 3, "chunk_size": 4}
OLMO_HYBRID = DELTA | {"linear_num_key_heads": 6, "num_key_value_heads": 6}
WITHOUT_SOFTMAX = {
    "Qwen3-Next": Family("Qwen3NextConfig", DELTA | EXPERTS),
    "Qwen 3.5": Family("Qwen3_5TextConfig", DELTA),
    "OLMo Hybrid": Family("OlmoHybridConfig", OLMO_HYBRID),
    "Mamba-2": Family("Mamba2Config", MAMBA_2, runs="eager"),
    "Bamba": Family("BambaConfig", SCAN | {"attn_layer_indices": [1]}),
    "FalconH1": Family("FalconH1Config", SCAN | {"mamba_d_ssm": 48}),
    "GraniteMoeHybrid": Family("GraniteMoeHybridConfig", SCAN | GRANITE),
    "Zamba-2": Family("Zamba2Config", ZAMBA_2),
    "NemotronH": Family("NemotronHConfig", NEMOTRON_H),
}
JETMOE = {name: to for name, to in ENCODER.items() if name[-5:] != "heads" and name != "head_dim"}
JETMOE |= {"kv_channels": 4, "num_key_value_heads": 3, "num_experts_per_tok": 2}
JETMOE |= {"num_local_experts": 4}
COMPRESSED = {name: to for name, to in DEEPSEEK.items() if name not in ("n_group", "topk_group")}
COMPRESSED |= {"num_key_value_heads": 1, "head_dim": 8, "mlp_layer_types": ["moe", "moe"]}
COMPRESSED |= {"layer_types": ["heavily_compressed_attention", "compressed_sparse_attention"]}
COMPRESSED |= {"compress_rates": {"heavily_compressed_attention": 6}, "hc_mult": 2, "o_groups": 2}
COMPRESSED["compress_rates"]["compressed_sparse_attention"] = 4
COMPRESSED |= {"sliding_window": 8, "o_lora_rank": 8, "index_n_heads": 2, "index_head_dim": 8}
COMPRESSED |= {"index_topk": 2, "n_shared_experts": 1}
COMPRESSED["rope_parameters"] = {
    name: {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
    for name in ("main", "compress")
}
HANDED = {
    "DiffLlama": Family("DiffLlamaConfig", DECODER),
    **{name: WITHOUT_SOFTMAX[name] for name in ("Qwen3-Next", "Qwen 3.5")},
    "JetMoe": Family("JetMoeConfig", JETMOE),
    "DeepSeek-V4": Family("DeepseekV4Config", COMPRESSED, runs="eager"),
}
LLAVA = Family(
    "LlavaConfig",
    {
        **{"vision_config": PICTURE | {"model_type": "clip_vision_model"}},
        **{"image_token_id": 52, "vision_feature_layer": -1},
        "text_config": {**DECODER, "model_type": "llama"},
    },
    lambda: {"input_ids": torch.tensor(2 * [[3, 5, 7, *9 * [52], 11, 13]]), **picture()},
)


def writer(name: str, runs: str | None = None) -> Any:
    """A family's model that writes."""
    kind = {"T5": "Seq2SeqLM", "BART": "Seq2SeqLM"}.get(name, "CausalLM")
    return replace(FAMILIES[name], model=f"AutoModelFor{kind}").build(runs)

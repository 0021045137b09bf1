"""A GGUF file -> a model: weights dequantised, pieces from its own vocabulary. Data, never code."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from attention.trained.checkpoints import Checkpoint, Outline, fitting, outline_of
from attention.trained.layouts import Layout, Llama
from attention.trained.models import About, Parts, Transformer
from attention.trained.pieces import Reader
from attention.trained.shared_weights import map_shared

# What config.json calls each setting -> what a GGUF file calls it, behind the architecture's name.
SETTINGS = {
    "hidden_size": "embedding_length",
    "num_attention_heads": "attention.head_count",
    "num_hidden_layers": "block_count",
    "intermediate_size": "feed_forward_length",
    "max_position_embeddings": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
}
OPTIONAL = {
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "rope_theta": "rope.freq_base",
}
# The same for tensors, `blk.{layer}.` before those of a layer.
TENSORS = {
    "embed_tokens": "token_embd",
    "norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
# How a text is split before its bytes are merged: as GPT-2's (Radford et al. 2019).
SPLITS = ("gpt-2", "smollm")
ROWS = 1024  # of a tensor that are dequantised at a time, so that what is between stays small
WORTH_MAPPING = 1 << 24  # bytes of a file
CONTROL, USER_DEFINED = int(gguf.TokenType.CONTROL), int(gguf.TokenType.USER_DEFINED)


class _Opened(gguf.GGUFReader):
    """The parts of a file, as plain arrays that it must have whole.

    With the library's own views, of a memory map each, opening a file of 49,152 pieces takes five
    times as long, and one that ends too early is read as if its last parts were shorter.
    """

    def _get(
        self, offset: int, dtype: Any, count: int = 1, override_order: str | None = None
    ) -> NDArray[Any]:
        return np.frombuffer(self.data, dtype, int(count), int(offset))


class GgufFile:
    """The tensors of a GGUF file, by the names that safetensors files have for them.

    Where only the `outline` is wanted, tensors have their shapes, and zeros.
    Raises ValueError where the file is not whole, or its architecture is not known.
    """

    def __init__(self, file: Path, outline: bool = False) -> None:
        self._file, self._outline = file, outline
        self._mapped: Checkpoint | None = None
        try:
            opened = _Opened(file)
            self._said = opened.fields
            self._tensors = {tensor.name: tensor for tensor in opened.tensors}
            architecture = self.said("general.architecture")
        except Exception as error:  # the library raises many kinds
            raise ValueError(f"{file.name} must be a whole GGUF file: {error}") from error
        if architecture != Llama.model_type:
            raise ValueError(f"its architecture must be {Llama.model_type!r}, got {architecture!r}")

    def said(self, name: str) -> Any:
        """Return the file's value of that name, None where it has none."""
        field = self._said.get(name)
        return None if field is None else field.contents()

    @functools.cached_property
    def layout(self) -> Layout:
        """Layout of the model. Raises ValueError where the file does not say it, or says what
        cannot be done."""
        config: dict[str, Any] = {
            name: self.said(f"{Llama.model_type}.{key}")
            for name, key in (SETTINGS | OPTIONAL).items()
        }
        for name, key in SETTINGS.items():
            if config[name] is None:
                raise ValueError(f"the file must say {Llama.model_type}.{key}, it does not")
        scaling = self.said(f"{Llama.model_type}.rope.scaling.type") or "none"
        if scaling != "none" or "rope_freqs.weight" in self._tensors:
            raise ValueError(f"rotary positions must not be stretched, they are ({scaling})")
        config["vocab_size"] = len(self.tokens)
        config["tie_word_embeddings"] = "lm_head.weight" not in self
        layout = Llama(config)
        rotated = self.said(f"{Llama.model_type}.rope.dimension_count")
        if rotated not in (None, layout.d_head):
            raise ValueError(f"all {layout.d_head} dimensions must be rotated, {rotated} are")
        return layout

    @functools.cached_property
    def tokens(self) -> list[str]:
        """The pieces, in the order of their ids. Raises ValueError where there are none."""
        return self._list("tokens")

    def _list(self, name: str) -> list[Any]:
        found = self.said(f"tokenizer.ggml.{name}")
        if not isinstance(found, list) or not found:
            raise ValueError(f"its vocabulary must have {name}, it has none")
        return found

    def tokenizer(self) -> Tokenizer:
        """Tokenizer of the file: bytes, merged in pairs (Sennrich et al. 2016).

        Raises ValueError where the file does not say how, or it is not known here.
        """
        kind, split = (self.said(f"tokenizer.ggml.{name}") for name in ("model", "pre"))
        if kind != "gpt2" or split not in SPLITS:
            raise ValueError(
                "its vocabulary must be of the kind 'gpt2', split as one of "
                f"{', '.join(SPLITS)}, got {kind!r}, {split!r}"
            )
        if self.said("tokenizer.ggml.add_bos_token"):
            raise ValueError("no piece must be put before a sentence, add_bos_token says one is")
        tokens, kinds = self.tokens, self._list("token_type")
        merges = [tuple(merge.split(" ")) for merge in self._list("merges")]
        try:
            made = Tokenizer(models.BPE({token: at for at, token in enumerate(tokens)}, merges))
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(f"its vocabulary must have pieces for its merges: {error}") from error
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        for token, kind in zip(tokens, kinds, strict=False):
            if kind in (CONTROL, USER_DEFINED):
                added = AddedToken(token, normalized=False, special=kind == CONTROL)
                made.add_special_tokens([added])
        return made

    def __contains__(self, name: str) -> bool:
        return _stored(name) in self._tensors

    def take(self, name: str, *shape: int) -> Tensor:
        """The tensor of that name, as float32. Raises ValueError unless it is there, in the shape
        expected, and quantised in a way that is known."""
        tensor = self._tensors.get(_stored(name))
        if tensor is None:
            raise ValueError(f"the file must have a tensor {_stored(name)!r}, it has none")
        found = tuple(map(int, reversed(tensor.shape)))
        if found != shape:
            raise ValueError(f"{tensor.name} must be {shape}, got {found}")
        if self._mapped is not None:
            return self._mapped.take(tensor.name, *shape)
        values = self._whole(tensor, 1 if self._outline else shape[0])
        return torch.zeros(()).expand(shape) if self._outline else values  # one number, everywhere

    def _whole(self, tensor: gguf.ReaderTensor, count: int | None = None) -> Tensor:
        """A tensor, dequantised. count: of its first rows alone, others are not set; None: all."""
        values = np.empty([*reversed(tensor.shape)], np.float32)  # no memory until it is written
        try:
            for first in range(0, len(values) if count is None else count, ROWS):
                rows = slice(first, first + ROWS)
                values[rows] = gguf.dequantize(tensor.data[rows], tensor.tensor_type)
        except NotImplementedError as error:
            kind = tensor.tensor_type.name
            raise ValueError(f"{tensor.name} is quantised in an unknown way, {kind}") from error
        whole = torch.from_numpy(values)
        return self._apart(whole) if tensor.name.endswith(("_q.weight", "_k.weight")) else whole

    def map(self) -> None:
        """Take tensors from now on from a file that has them as float32, mapped into memory, where
        there can be one: later starts dequantise nothing, and processes share them."""
        with self._file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        self._mapped = map_shared(
            f"{digest}-gguf-{version('gguf')}.safetensors",
            sum(4 * int(tensor.n_elements) for tensor in self._tensors.values()),
            lambda: {name: self._whole(each) for name, each in self._tensors.items()},
        )

    def _apart(self, rows: Tensor) -> Tensor:
        """Rows of W_q or W_k in the order of safetensors: GGUF has the two that are rotated
        together side by side, there they are half a head apart. (heads · d_head, d_model)."""
        width = self.layout.d_head
        pairs: Tensor = rows.unflatten(0, (-1, width // 2, 2))
        return pairs.transpose(1, 2).flatten(0, 2)


def _stored(name: str) -> str:
    """Name in GGUF files of the tensor that has this name in safetensors files."""
    part, _, kind = name.rpartition(".")
    layers, _, rest = part.partition(".")
    if layers == "layers":
        index, _, part = rest.partition(".")
        return f"blk.{index}.{TENSORS.get(part, part)}.{kind}"
    return f"{TENSORS.get(part, part)}.{kind}"


def load_gguf(file: Path, about: About) -> Transformer:
    """The model in a GGUF file. Raises ValueError, saying what was expected and what came, where it
    cannot be read."""
    opened = GgufFile(file)
    if file.stat().st_size >= WORTH_MAPPING:
        opened.map()
    parts, reader = _read(opened)
    return Transformer(about, reader, parts)


def check_gguf(file: Path) -> Outline:
    """Return the outline of the model in a GGUF file. Raises ValueError where `load_gguf` would; no
    weights are read."""
    opened = GgufFile(file, outline=True)
    return outline_of(opened.layout, *_read(opened))


def _read(opened: GgufFile) -> tuple[Parts, Reader]:
    parts, reader = fitting(opened.layout.keep(opened), opened.tokenizer())
    end = opened.said("tokenizer.ggml.eos_token_id")
    return (replace(parts, ends=(end,)) if isinstance(end, int) else parts), reader

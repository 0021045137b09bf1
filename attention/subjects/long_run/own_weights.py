"""Weights from anywhere, without a model: read from a file, and shown in a notebook."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, cast

import numpy
import plotly.graph_objects as go
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_safetensors
from torch import Tensor

from attention.analysis.heads import Keys, Rows, in_blocks
from attention.capture import Recording
from attention.capture.files import is_recording, read_recording
from attention.core.functional import Trace, WeightsAlone
from attention.figures import plots
from attention.figures.captions import sums_words
from attention.figures.glance import MAX_CELLS, glance, glance_of_blocks
from attention.subjects.long_run.hf_outputs import Layer, OneSequence, one_sequence, tensor_of
from attention.subjects.long_run.opened_run import OpenedRun, opened_run

MAX_BYTES = 16 << 20  # of a file, packed and unpacked
MAX_TEXT = 1 << 20  # bytes of a header and characters of tokens: 512 long ones take 0.6 MB
MAX_ENTRIES, ENTRY = 1000, b"PK\x01\x02"  # of an .npz, and what each of them begins with
MAX_PROBLEM = 240  # characters
MAX_TOKENS, MAX_HEADS = 512, 1024  # of a file, in all layers
MAX_KEPT = 4 * MAX_HEADS  # of a run, which may have attentions beside those that are shown
MAX_TOKEN_LENGTH = 200
TOLERANCE = 1e-2  # weights in half precision sum to 1 no better than that
PARTS = ("weights", "tokens", "keys")
SINK = "the rest goes to none of these keys, as to an attention sink."


@dataclass(frozen=True, eq=False)
class OpenedWeights:
    """Weights from a file. numbers (layers, heads, queries, keys), of the file's own type where
    that is no larger than float32; tokens: one for each query; keys: one for each key, None where
    they are those of the queries."""

    numbers: Tensor
    tokens: list[str]
    keys: list[str] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Layers, heads, queries and keys."""
        return tuple(self.numbers.shape)

    @property
    def head_numbers(self) -> range:
        """The number of each head."""
        return range(self.numbers.shape[1])

    @property
    def layer_titles(self) -> list[str]:
        """A title of each layer."""
        return [f"layer {position}" for position in range(self.numbers.shape[0])]

    @property
    def modules(self) -> list[str]:
        """The name of the module of each layer: none is known."""
        return []

    @property
    def crosses(self) -> bool:
        """True if the keys are those of another sequence than the queries."""
        return self.keys is not None

    @property
    def known(self) -> Keys:
        """The keys, as far as they are known: equal tokens by their texts, within one sequence."""
        return Keys(ids=() if self.crosses else self.tokens)

    @property
    def problems(self) -> list[str]:
        """Tell what of the file is not shown: nothing."""
        return []

    @property
    def absent(self) -> list[int]:
        """Heads that a layer has not: none."""
        return []

    @property
    def shares(self) -> list[bool]:
        """For each layer whether its weights are shares of 1: all are."""
        return [True] * len(self.numbers)

    def has(self, layer: int, head: int) -> bool:
        """True: each layer has all heads."""
        return True

    def each(self) -> Iterator[Rows]:
        """The rows of one layer after the other, in blocks."""
        return map(in_blocks, self.numbers)

    def trace(self, layer: int, head: int) -> Trace:
        """One head, as float32; keeps nothing of the others."""
        return WeightsAlone(self.numbers[layer, head].to(torch.float32, copy=True))


def show(
    weights: Any,
    tokens: Sequence[str] | None = None,
    *,
    layer: Layer | str = None,
    head: int | None = None,
    query: int = 0,
    keys: Sequence[str] | None = None,
    entry: int | None = None,
    attention_mask: Any = None,
) -> go.Figure:
    """Any weights as the app shows them: all heads at a glance, or one of them.

    weights: a recording of `attention.capture`, of which those layers are shown whose queries and
    keys are as many as the tokens; or what transformers returns, from a call or from `generate`, or
    its `attentions` or `cross_attentions`, or a tensor or an array of (layers, heads, queries,
    keys), (heads, queries, keys) or (queries, keys); tokens: one for each query, None = those of
    the recording; keys: the tokens across, None = those of the queries; entry: which of a batch;
    attention_mask: as a tokenizer gives it, its padding is left out. With `layer`, counted from 0
    or a module's name in a recording, or `head`, one head's heatmap, with the row of `query`
    outlined; layer "all" says of an array of four axes that the first counts layers. See
    `returned.one_sequence`. Raises ValueError where shapes or numbers do not fit.
    """
    if isinstance(weights, Recording):
        return _show_recording(weights, tokens, layer, head, query, keys, entry or 0)
    if tokens is None:
        raise ValueError("there must be a token for each query, as `show(weights, tokens)`")
    if isinstance(layer, str) and layer != "all":
        raise ValueError(f'layer must be a number or "all", got {layer!r}')
    of = cast(Layer, layer)
    shown = one_sequence(
        weights, tokens, keys, layer=of, entry=entry, attention_mask=attention_mask
    )
    return _show_weights(shown, of, head, query)


def _show_weights(shown: OneSequence, layer: Layer, head: int | None, query: int) -> go.Figure:
    fitting = fit_weights(shown.numbers, shown.tokens, shown.keys)
    layers, heads, n_queries, n_keys = fitting.shape
    if one := (layers, heads) == (1, 1) or layer not in (None, "all") or head is not None:
        at, head = 0 if layer is None else layer, head or 0
        if at == "all" or not (0 <= at < layers and 0 <= head < heads and 0 <= query < n_queries):
            raise ValueError(
                f"layer, head and query must lie below {layers}, {heads} and {n_queries}, "
                f"got {at}, {head} and {query}"
            )
        fitting = fitting[at : at + 1, head : head + 1]
    check_numbers(fitting)
    numbers = fitting.float()
    if not one or n_queries * n_keys > MAX_CELLS:
        figure = glance(numbers, shown.tokens, shown.keys or shown.tokens)
    else:
        alone = WeightsAlone(numbers[0, 0])
        figure = plots.heatmap(alone, "weights", shown.tokens, query, shown.keys)
    if bool(_sums_to_less(numbers).any()):
        plots.write_below(figure, f"{sums_words(numbers).capitalize()}: {SINK}")
    return figure


def _show_recording(
    run: Recording,
    tokens: Sequence[str] | None,
    layer: Layer | str,
    head: int | None,
    query: int,
    keys: Sequence[str] | None,
    entry: int,
) -> go.Figure:
    """All heads of a run that fit the tokens at a glance, made block by block; or one head."""
    one = layer not in (None, "all") or head is not None
    opened = fitting_run(run, tokens, keys, layer if one else None, query)
    texts, of_keys = opened.texts, opened.key_texts or opened.texts
    fitting = opened.shown[:1] if one else opened.shown
    heads = opened.head_numbers
    if one:
        heads = (heads[0] if head is None else head,)
    if one and len(texts) * len(of_keys) <= MAX_CELLS:
        weights = run.weights(fitting[0].number, heads[0], entry=entry)
        of_shares = fitting[0].weights_are_a_distribution
        alone = WeightsAlone(weights.float().cpu(), normed_by="softmax" if of_shares else "")
        return plots.heatmap(alone, "weights", texts, query, opened.key_texts)

    def blocks(down: int, across: int) -> Tensor:
        each = [
            [run.blocks(kept.number, head, down, across, entry=entry) for head in heads]
            for kept in fitting
        ]
        return torch.stack([torch.stack(of_layer) for of_layer in each]).abs().float().cpu()

    numbers, sizes = [kept.number for kept in fitting], not all(opened.shares)
    return glance_of_blocks(blocks, numbers, heads, texts, of_keys, sizes)


def fitting_run(
    run: Recording,
    tokens: Sequence[str] | None,
    keys: Sequence[str] | None,
    layer: Layer | str,
    query: int,
) -> OpenedRun:
    """The attentions of a run that fit the tokens and have the same heads, that layer first.

    layer: a number or a module's name, None = any. Raises ValueError where there is none.
    """
    tokens, keys = tokens or run.tokens, keys or run.keys
    if tokens is None:
        raise ValueError("there must be a token for each query, as `show(run, tokens)`")
    expected = len(tokens), len(tokens if keys is None else keys)
    fitting = [kept for kept in run.attentions if kept.shape[2:] == expected]
    chosen = [kept for kept in fitting if layer in (None, "all", kept.number, kept.name)]
    if not chosen or not 0 <= query < len(tokens):
        there = ", ".join(
            f"{one.number} ({one.shape[2]}, {one.shape[3]})" for one in run.attentions
        )
        raise ValueError(
            f"tokens and keys must be as many as queries and keys of a layer, {there}, and query "
            f"one of them, got {expected[0]}, {expected[1]} and {query}"
        )
    first = chosen[0]
    others = [kept for kept in fitting if kept is not first and kept.heads == first.heads]
    return OpenedRun(run, (first, *others), list(tokens), None if keys is None else list(keys))


def fit_weights(weights: Tensor, tokens: Sequence[str], keys: Sequence[str] | None) -> Tensor:
    """The weights as (layers, heads, queries, keys). Raises ValueError, saying what was expected
    and what came, where they do not fit the tokens."""
    if not 2 <= weights.dim() <= 4:
        raise ValueError(
            f"weights must be (layers, heads, queries, keys), got {tuple(weights.shape)}"
        )
    weights = weights[(None,) * (4 - weights.dim())].detach()
    expected = len(tokens), len(tokens if keys is None else keys)
    if weights.shape[2:] != expected or not weights.numel():
        raise ValueError(
            f"weights must be (…, {expected[0]}, {expected[1]}), a row for each token, "
            f"got {tuple(weights.shape)}"
        )
    return weights


def check_numbers(weights: Tensor) -> None:
    """Raise ValueError where numbers (layers, heads, queries, keys) are no weights."""
    if not all(_are_weights(head) for head in weights.flatten(0, 1)):
        raise ValueError(
            "weights must be 0 or more, and each row must sum to 1, or to less where a sink takes "
            "the rest; after dropout, as in training, rows sum to more"
        )


def _are_weights(head: Tensor) -> bool:
    numbers = head.float()  # one head at a time: together they may take four times their room
    fits = numbers.isfinite().all() and (numbers >= 0).all()
    return bool(fits and (numbers.sum(-1) <= 1 + TOLERANCE).all())


def _sums_to_less(weights: Tensor) -> Tensor:
    """True for rows that sum to less than 1, but not to 0. (…, queries), bool."""
    sums = weights.sum(-1)
    return (sums < 1 - TOLERANCE) & (sums > 0)


def unpacked_bytes(content: bytes) -> int:
    """Number of bytes a file takes once it is read; its own headers tell, nothing is unpacked.

    Raises ValueError, saying what was expected and what came, where those cannot be read, or where
    that is more than a file may have.
    """
    if len(content) > MAX_BYTES:
        raise ValueError(f"the file may have up to {MAX_BYTES >> 20} MB")
    if not _is_npz(content):
        return len(content)
    if content.count(ENTRY) > MAX_ENTRIES:
        raise ValueError(f"the file must have up to {MAX_ENTRIES:,} arrays, it has more")
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except Exception as error:  # what it may raise is listed nowhere
        raise _unreadable_npz(error) from error
    if unpacked > MAX_BYTES:
        raise ValueError(
            f"the file must have up to {MAX_BYTES >> 20} MB unpacked, it would take "
            f"{unpacked / (1 << 20):.1f}"
        )
    return unpacked


def read_own(content: bytes) -> OpenedWeights | OpenedRun:
    """Read a small file of a run, as `Recording.save` writes it, or else one of weights.

    Raises ValueError, saying shortly what was expected and what came.
    """
    if not is_recording(content):
        return read_file(content)
    unpacked_bytes(content)
    return opened_run(read_recording(content, MAX_KEPT))


def read_file(content: bytes) -> OpenedWeights:
    """Read a small file of weights.

    content: of an .npz with the arrays `weights`, `tokens` and, if they are others, `keys`, the
    latter two as arrays of texts or as one JSON text each; or of a .safetensors with the tensor
    `weights` and the others as JSON in its metadata. No pickle is read. Raises ValueError, saying
    shortly what was expected and what came.
    """
    try:
        unpacked_bytes(content)
        parts = _read_npz(content) if _is_npz(content) else _read_safetensors(content)
        if "weights" not in parts or "tokens" not in parts:
            raise ValueError(f"the file must have weights and tokens, it has {_listed(parts)}")
        tokens = _read_tokens("tokens", parts["tokens"])
        keys = _read_tokens("keys", parts["keys"]) if "keys" in parts else None
        weights = fit_weights(_small(parts["weights"]), tokens, keys)
        if max(weights.shape[2:]) > MAX_TOKENS or weights.shape[:2].numel() > MAX_HEADS:
            raise ValueError(
                f"there may be up to {MAX_TOKENS} tokens and {MAX_HEADS} heads in all, "
                f"got {max(weights.shape[2:])} and {weights.shape[:2].numel()}"
            )
        check_numbers(weights)
        return OpenedWeights(weights, tokens, keys)
    except ValueError as error:
        words = str(error)
        if len(words) <= MAX_PROBLEM:
            raise
        raise ValueError(f"{words[:MAX_PROBLEM]} …") from error


def _is_npz(content: bytes) -> bool:
    return content[:2] == b"PK"


def _unreadable_npz(error: Exception) -> ValueError:
    return ValueError(f"the file must be an .npz of numbers and texts: {error}")


def _read_npz(content: bytes) -> dict[str, Any]:
    try:
        with numpy.load(BytesIO(content), allow_pickle=False) as arrays:
            found = {name: numpy.asarray(arrays[name]) for name in PARTS if name in arrays}
    except Exception as error:  # what the two libraries may raise is listed nowhere
        raise _unreadable_npz(error) from error
    named = {name: found[name] for name in PARTS[1:] if name in found}
    texts = {name: array for name, array in named.items() if array.dtype.kind == "U"}
    if any(array.size > MAX_TOKENS for array in texts.values()):
        raise ValueError(f"there must be up to {MAX_TOKENS} tokens, got more")
    return found | {name: array.tolist() for name, array in texts.items()}


def _read_safetensors(content: bytes) -> dict[str, Any]:
    size = int.from_bytes(content[:8], "little")
    try:
        if size > MAX_TEXT:
            raise ValueError(f"its header must have up to {MAX_TEXT:,} bytes, got {size:,}")
        found: dict[str, Any] = dict(load_safetensors(content))
        metadata = json.loads(content[8 : 8 + size]).get("__metadata__") or {}
    except (SafetensorError, ValueError, KeyError) as error:
        raise ValueError(f"the file must be .npz or .safetensors: {error}") from error
    return found | {name: metadata[name] for name in PARTS[1:] if name in metadata}


def _read_tokens(name: str, given: object) -> list[str]:
    """Tokens, cut to a length: given as they are, or as a JSON list in one text."""
    try:
        read = json.loads(given[: MAX_TEXT + 1]) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, list) or not all(isinstance(token, str) for token in read):
        raise ValueError(
            f'{name} must be texts, one for each token, as in ["the", "cat"], or that list as JSON'
        )
    return [token[:MAX_TOKEN_LENGTH].encode("utf-8", "replace").decode() for token in read]


def _small(weights: Any) -> Tensor:
    """The weights of a file in no more room than they take there, and at most that of float32.

    Of whole numbers only 0 and 1 are weights, which every type has.
    """
    if isinstance(weights, Tensor):
        numbers = tensor_of(weights)
        if numbers.is_floating_point():
            return numbers.float() if numbers.itemsize > 4 else numbers
        return numbers if numbers.itemsize == 1 else numbers.half()
    if weights.dtype.kind == "f":
        kept = numpy.dtype(f"f{min(weights.itemsize, 4)}")
    elif weights.dtype.kind in "iu":
        kept = weights.dtype if weights.itemsize == 1 else numpy.dtype("f2")
    else:
        raise ValueError(f"weights must be numbers, got {weights.dtype}")
    with numpy.errstate(over="ignore"):  # what is too large becomes ∞, which is no weight
        return torch.from_numpy(weights.astype(kept, copy=False))


def _listed(parts: dict[str, Any]) -> str:
    return ", ".join(name[:40] for name in parts) or "neither"

"""Attention weights as models return them -> those of one sequence, with its tokens.

Transformers gives `attentions`, `encoder_attentions`, `decoder_attentions` and `cross_attentions`
as one tensor (batch, heads, queries, keys) for each layer; `generate` gives that for each step.
Nothing here needs the library itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy
import torch
from torch import Tensor
from torch.nn.functional import pad

Layer = int | Literal["all"] | None
LOST = 1e-2  # of a row, at keys that are left out
TOLERANCE = 1e-2  # weights in half precision sum to 1 no better than that
KINDS = ("encoder_attentions", "decoder_attentions", "cross_attentions")

EAGER = (
    "weights must hold a tensor for each layer, got {}: transformers returns them if the model is "
    'loaded with attn_implementation="eager" (or set by model.set_attn_implementation("eager")) '
    "and called with output_attentions=True"
)


@dataclass(frozen=True, eq=False)
class OneSequence:
    """The weights of one sequence. numbers: (layers, heads, queries, keys), without the leading
    ones where there were none; tokens: one for each query; keys: one for each key, None where they
    are those of the queries."""

    numbers: Tensor
    tokens: list[str]
    keys: list[str] | None

    def without(self, padding: Tensor) -> OneSequence:
        """Without the keys that are padding, and without those queries where they are the same.

        padding: (keys,) bool. Raises ValueError where it does not fit, or has weights of the rest.
        """
        n_keys = self.numbers.shape[-1]
        if len(padding) != n_keys:
            raise ValueError(
                f"attention_mask must have a number for each of {n_keys} keys, got {len(padding)}"
            )
        kept = (~padding).nonzero().flatten().tolist()
        rows = self.numbers if self.keys is not None else self.numbers[..., kept, :]
        lost = rows[..., padding.nonzero().flatten().tolist()].sum(-1)
        if lost.numel() and not lost.amax() <= LOST:
            raise ValueError(
                "attention_mask must be 0 only at keys that have no weight, those it leaves out "
                f"have up to {float(lost.amax()):.4f}"
            )
        if self.keys is None:
            return OneSequence(rows[..., kept], [self.tokens[at] for at in kept], None)
        return OneSequence(rows[..., kept], self.tokens, [self.keys[at] for at in kept])


def one_sequence(
    weights: Any,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    layer: Layer = None,
    entry: int | None = None,
    attention_mask: Any = None,
) -> OneSequence:
    """The weights of one sequence, on the CPU and without gradients.

    weights: a tensor or an array (queries, keys), (heads, queries, keys), (layers, heads, queries,
    keys), (batch, heads, queries, keys) or (layers, batch, heads, queries, keys); or a tuple, with
    (batch, heads, queries, keys) or (heads, queries, keys) for each layer, or with (queries, keys)
    for each head; or a tuple of such ones, one for each step of `generate`; or an output that has
    any of these as `attentions`. Of an array of four
    axes `layer` says that the first counts layers, `entry` that it counts a batch. entry: which of
    a batch, from 0; needed where there are several. attention_mask: as a tokenizer gives it,
    (batch, keys) or (keys,); what is 0 there is padding, and left out.

    Of `generate` there is one row for each written token: the weights of the query that it was
    written after. `tokens` are those of the whole sequence, as in `sequences`; `keys` only where
    they are of another one. A layer with a sliding window gives the weights of the last keys alone.

    Raises ValueError, saying what was expected and what came.
    """
    tokens, keys = _texts(tokens, "tokens"), None if keys is None else _texts(keys, "keys")
    weights = _attentions(weights)
    depth = _depth(weights)
    if depth > 2:
        raise ValueError(f"weights may be tuples of tuples of tensors, got them {depth} deep")
    if depth == 2:
        found = _written(weights, tokens, keys, entry)
    elif depth:
        found = OneSequence(_stacked(weights, entry), tokens, keys)
    else:
        found = OneSequence(_of_array(tensor_of(weights), layer, entry), tokens, keys)
    if attention_mask is None:
        return found
    mask = torch.as_tensor(attention_mask)
    if mask.dim() == 2:
        mask = _of_batch(mask, entry, "attention_mask")
    if mask.dim() != 1:
        raise ValueError(f"attention_mask must be (batch, keys) or (keys,), got {_shape(mask)}")
    written = len(weights) - 1 if depth == 2 and keys is None else 0  # seen since, by the model
    return found.without(pad(mask.cpu() == 0, (0, written)))


def tensor_of(weights: Any) -> Tensor:
    """Numbers as a tensor without gradients, where they are; ValueError where they are none."""
    if isinstance(weights, Tensor):
        if weights.is_complex() or weights.is_meta:
            got = "a tensor on the meta device" if weights.is_meta else str(weights.dtype)
            raise ValueError(f"weights must be numbers, got {got}")
        return weights.detach()
    array = numpy.asarray(weights)
    if array.dtype.kind not in "fiu":
        got = type(weights).__name__ if array.dtype.kind == "O" else str(array.dtype)
        raise ValueError(f"weights must be numbers, got {got}")
    with numpy.errstate(over="ignore"):  # what is too large becomes ∞, which is no weight
        return torch.from_numpy(array.astype(numpy.float32))


def _texts(tokens: Sequence[str], name: str) -> list[str]:
    if isinstance(tokens, str):
        raise ValueError(f"{name} must be a list of texts, got one text: {tokens[:40]!r}")
    return [str(token) for token in tokens]


def _attentions(weights: Any) -> Any:
    """The `attentions` of what a model or `generate` returns; anything else as it is."""
    if hasattr(weights, "beam_indices"):
        raise ValueError(
            "weights of beams cannot be shown: a beam goes on from another one at each step; call "
            "generate with num_beams=1"
        )
    if hasattr(weights, "attentions"):
        return weights.attentions
    if found := [f"outputs.{kind}" for kind in KINDS if hasattr(weights, kind)]:
        raise ValueError(
            f"outputs of an encoder and a decoder have several attentions: show {', '.join(found)}"
        )
    return weights


def _depth(weights: Any) -> int:
    """Number of tuples around the weights of a layer; 0 around an array or numbers."""
    if weights is None:
        raise ValueError(EAGER.format("None"))
    if not isinstance(weights, tuple | list):
        return 0
    if not weights:
        raise ValueError(EAGER.format("an empty tuple"))
    if isinstance(weights[0], Tensor | numpy.ndarray) and weights[0].ndim > 1:
        return 1
    inner = _depth(weights[0])
    return inner + 1 if inner else 0


def _of_layers(layers: Sequence[Any], entry: int | None) -> list[Tensor]:
    """The weights of each layer, (heads, queries, keys) or (queries, keys)."""
    if not len(layers) or any(weights is None for weights in layers):
        got = "None for some of them" if len(layers) else "an empty tuple"
        raise ValueError(EAGER.format(got))
    found = []
    for weights in map(tensor_of, layers):
        if weights.dim() == 4:
            found.append(_of_batch(weights, entry, "weights").cpu())
        elif weights.dim() in (2, 3) and entry is None:
            found.append(weights.cpu())
        else:
            raise ValueError(
                "weights of a layer must be (batch, heads, queries, keys), or (heads, queries, "
                f"keys) without entry, got {_shape(weights)}"
            )
    return found


def _stacked(layers: Sequence[Any], entry: int | None) -> Tensor:
    """The weights of all layers in one, (layers, heads, queries, keys)."""
    found = _of_layers(layers, entry)
    shapes = sorted({_shape(weights) for weights in found})
    if len(shapes) > 1:
        raise ValueError(
            "all layers must have as many heads, queries and keys as each other, "
            f"got {shapes[0]} and {shapes[-1]}"
        )
    return torch.stack(found)


def _of_array(weights: Tensor, layer: Layer, entry: int | None) -> Tensor:
    if weights.dim() == 5:
        return _stacked(list(weights), entry)
    if weights.dim() == 4 and len(weights) > 1 and (layer is None) == (entry is None):
        count = len(weights)
        raise ValueError(
            f"weights {_shape(weights)} may be those of {count} layers or of a batch of {count}: "
            'give layer (0 or "all") if they are layers, or entry (0) if they are a batch; '
            f"got {'neither' if layer is None else 'both'}"
        )
    if entry is None:
        return weights.cpu()
    if weights.dim() != 4:
        raise ValueError(
            f"with entry, weights must be (batch, heads, queries, keys), got {_shape(weights)}"
        )
    return _of_batch(weights, entry, "weights").cpu()


def _of_batch(batch: Tensor, entry: int | None, name: str) -> Tensor:
    count = len(batch)
    if entry is None and count > 1:
        raise ValueError(
            f"{name} {_shape(batch)} are those of a batch of {count}: give entry, "
            f"from 0 to {count - 1}; beams of generate cannot be shown"
        )
    at = entry or 0
    if not 0 <= at < count:
        raise ValueError(f"entry must lie below {count}, got {at}")
    return batch[at]


def _written(
    steps: Sequence[Any], tokens: list[str], keys: list[str] | None, entry: int | None
) -> OneSequence:
    """One row for each step of `generate`: that of its last query, after which a token was written.

    A key that was not yet there at a step, or is outside a layer's window, has weight 0.
    """
    weights = [_of_layers(step, entry) for step in steps]
    given = weights[0][0].shape[-2]
    length = given + len(steps)
    if len(tokens) != length:
        raise ValueError(
            f"tokens must be those of the whole sequence, {given} given and {len(steps)} written, "
            f"got {len(tokens)}"
        )
    seen = [given + step if keys is None else len(keys) for step in range(len(steps))]
    rows = []
    for step, (layers, n_keys) in enumerate(zip(weights, seen, strict=True)):
        for layer in layers:
            heads, left_out = layer.shape[:-2], n_keys - layer.shape[-1]  # before a window
            if left_out < 0 or (left_out and keys is not None) or heads != weights[0][0].shape[:-2]:
                raise ValueError(
                    f"weights of step {step} must be those of {n_keys} keys, as many as there were "
                    f"tokens, got {_shape(layer)}; keys names those of another sequence"
                )
            rows.append(pad(layer[..., -1:, :], (left_out, seen[-1] - n_keys)))
    whole = torch.stack(rows).unflatten(0, (len(steps), -1))
    numbers = whole.squeeze(-2).movedim(0, -2)
    written = [f"→ {token}" for token in tokens[given:]]
    return OneSequence(numbers, written, tokens[:-1] if keys is None else keys)


def _shape(weights: Tensor) -> tuple[int, ...]:
    return tuple(weights.shape)


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


def sums_to_less(weights: Tensor) -> Tensor:
    """True for rows that sum to less than 1, but not to 0. (…, queries), bool."""
    sums = weights.sum(-1)
    return (sums < 1 - TOLERANCE) & (sums > 0)

"""One call of an attention function, in the words that all of them have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from attention.capture.masking import Bias, Mask, Rules, split, stretch

Causal = Literal["no", "from the first", "to the last"]


@dataclass(frozen=True, eq=False)
class Call:
    """Queries (entries, heads, queries, d_k), keys and values as they come to the function; the
    latter are made when asked for.

    mask: bool, True = may attend, or numbers to add, broadcast to (entries, heads, queries, keys);
    bias: a further one of numbers; causal: query i may attend to the keys up to i, both counted
    "from the first", or from the end, so that the last query sees "the last"; window: so many keys
    back at most, its own included; lengths: bool (entries, keys), True = no padding; cross: the
    keys are of another sequence, None = as the module's name says; given: the weights themselves,
    (entries, heads, queries, keys), where nothing of how they are made is known.
    """

    queries: Tensor
    keys: Tensor
    values: Callable[[], Tensor]
    scale: float
    cap: float | None = None
    sinks: Tensor | None = None
    mask: Tensor | None = None
    bias: Tensor | None = None
    causal: Causal = "no"
    window: int | None = None
    lengths: Tensor | None = None
    cross: bool | None = None
    given: Tensor | None = None

    @property
    def n_queries(self) -> int:
        return self.queries.shape[2]

    @property
    def n_keys(self) -> int:
        return self.keys.shape[2]


@dataclass(frozen=True, eq=False)
class Function:
    """An attention function and its arguments, which runs when it is called.

    kind: torch's own function, None for those that models of transformers look up.
    """

    kind: Any
    run: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self) -> Any:
        return self.run(*self.args, **self.kwargs)


def scale_of(queries: Tensor, scale: float | None) -> float:
    """The factor before the softmax: one over the root of d_k where none is given."""
    return float(scale) if scale is not None else queries.shape[-1] ** -0.5


def four_axes(tensor: Tensor) -> Tensor:
    """(…, heads, tokens, d) as (entries, heads, tokens, d)."""
    return tensor[(None,) * (4 - tensor.dim())] if tensor.dim() < 4 else tensor.flatten(0, -4)


class Masks:
    """The rules of calls, those of the same mask worked out once.

    Models make one mask and hand it to all layers. What came is held on to until `clear`, at the
    end of a forward pass, so that no other tensor can be taken for it.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], tuple[object, Rules]] = {}

    def clear(self) -> None:
        self._known.clear()

    @torch.no_grad()
    def rules(self, call: Call) -> Rules:
        """Bars and additions of a call. Tensors changed in place in between are told by a count."""
        given = call.mask, call.bias, call.lengths
        shapes = call.n_queries, call.n_keys, call.causal, call.window
        key = (*shapes, call.queries.device, *map(_identity, given))
        if key not in self._known:
            self._known[key] = given, _made(call)
        return self._known[key][1]


def _identity(tensor: Tensor | None) -> object:
    if tensor is None:
        return None
    version = -1 if tensor.is_inference() else tensor._version
    return tensor.data_ptr(), version, tuple(tensor.shape), tensor.stride(), tensor.dtype


def _made(call: Call) -> Rules:
    mask: Mask | None = None
    bias: Bias | None = None
    if call.mask is not None:
        mask, bias = split(_broadcast(call.mask, call))
    if call.bias is not None:
        barred, added = split(_broadcast(call.bias, call))
        if barred is None and bias is None:
            bias = added
        else:  # rare: both as one
            mask, bias = split(_broadcast(call.bias, call) + _broadcast(_as_numbers(call), call))
    for also in stretches(call):
        mask = also if mask is None else mask.within(also)
    return Rules(mask, bias, call.n_queries, call.n_keys)


def _as_numbers(call: Call) -> Tensor:
    none = torch.zeros((), dtype=call.queries.dtype, device=call.queries.device)
    if call.mask is None:
        return none
    return torch.where(call.mask, none, -torch.inf) if call.mask.dtype is torch.bool else call.mask


def _broadcast(tensor: Tensor, call: Call) -> Tensor:
    """A mask of all keys with four axes, as a view."""
    tensor = tensor[(None,) * (4 - tensor.dim())]
    return tensor.expand(-1, -1, -1, call.n_keys)


def stretches(call: Call) -> list[Mask]:
    """The masks of causal attention with a window, and of lengths."""
    n_queries, n_keys, device = call.n_queries, call.n_keys, call.queries.device
    found = []
    if call.causal != "no" or call.window is not None:
        shift = 0 if call.causal == "from the first" else n_keys - n_queries
        lowest, highest = -n_queries, n_keys
        if call.window is not None:
            lowest, highest = shift - call.window + 1, shift + call.window - 1
        if call.causal != "no":
            highest = shift
        found.append(stretch(n_queries, n_keys, lowest, highest, device))
    if call.lengths is not None:
        whole, _ = split(call.lengths.bool()[:, None, None])
        found += [] if whole is None else [whole]
    return found

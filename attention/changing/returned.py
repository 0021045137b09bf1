"""Results of attention functions, in which the outputs of single heads are changed."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.capture.calls import Call, Function, four_axes
from attention.capture.functions import ATTENTIONS
from attention.capture.marks import mark
from attention.changing.explicit import keys_of, weights_of


class CannotChange(ValueError):
    """A function whose heads cannot be changed, and why."""


class Returned(ABC):
    """Results of one call. Raises CannotChange where heads cannot be told apart in them."""

    def __init__(self, call: Call, function: Function) -> None:
        self.call, self.function = call, function

    @abstractmethod
    def output(self, head: int) -> Tensor:
        """Output of a head, (entries, queries, d_v)."""

    @abstractmethod
    def set(self, head: int, output: Tensor, weights: Tensor | None) -> None:
        """Changes the output of a head, and its weights where they are returned and given."""

    @abstractmethod
    def whole(self) -> Any:
        """All of it, as the function would have returned it."""


class OfDotProduct(Returned):
    """Result of `F.scaled_dot_product_attention`, (…, heads, queries, d_v)."""

    def __init__(self, call: Call, function: Function) -> None:
        super().__init__(call, function)
        self.made = function().clone()
        if self.made.dim() > 4:
            self.made = self.made.contiguous()
        self.heads = self.of_heads(self.made)

    def output(self, head: int) -> Tensor:
        return self.heads[:, head]

    def set(self, head: int, output: Tensor, weights: Tensor | None) -> None:
        self.heads[:, head] = output

    def of_heads(self, made: Tensor) -> Tensor:
        """Numbers of the shape of `made`, (entries, heads, queries, d_v)."""
        if self.function.kwargs.get("heads"):  # as `mark` takes them
            made = made.unflatten(0, tuple(self.call.queries.shape[:2]))
        return four_axes(made)

    def whole(self) -> Any:
        return self.made


class OfTransformers(Returned):
    """Result of a function of transformers: (entries, queries, heads, d_v), and weights or None."""

    def __init__(self, call: Call, function: Function) -> None:
        super().__init__(call, function)
        returned = function()
        if not (isinstance(returned, tuple) and isinstance(returned[0], Tensor)):
            raise CannotChange(
                f"must return its heads' outputs first, got {type(returned).__name__}"
            )
        self.made, self.rest = returned[0].clone(), [*returned[1:]]
        entries, heads, queries = call.queries.shape[:3]
        if self.made.shape[:3] != (entries, queries, heads):
            raise CannotChange(
                f"must return {(entries, queries, heads)} and a width, got {tuple(self.made.shape)}"
            )

    def output(self, head: int) -> Tensor:
        return self.made[:, :, head]

    def set(self, head: int, output: Tensor, weights: Tensor | None) -> None:
        self.made[:, :, head] = output
        given = self.rest[0] if self.rest else None
        if weights is not None and isinstance(given, Tensor) and given.dim() == 4:
            self.rest[0] = given.clone()
            self.rest[0][:, head] = weights

    def of_heads(self, made: Tensor) -> Tensor:
        """Numbers of the shape of `made`, (entries, heads, queries, d_v)."""
        return made.transpose(1, 2)

    def whole(self) -> Any:
        return (self.made, *self.rest)


class Entering(OfTransformers):
    """Heads as they enter an output projection, (…, heads · d_v): behind a gate or a norm."""

    def __init__(self, call: Call, x: Tensor) -> None:
        entries, heads, queries = call.queries.shape[:3]
        width = heads * call.values().shape[-1]
        if x.shape[-1] != width or x.numel() != entries * queries * width:
            shape = entries, queries, width
            raise CannotChange(f"must hand on {shape} to its projection, got {tuple(x.shape)}")
        self.call, self.entered, self.rest = call, x.shape, []
        self.made = x.reshape(entries, queries, heads, -1).clone()

    def whole(self) -> Any:
        return self.made.view(self.entered)


class OfMultiHead(Returned):
    """Result of `nn.MultiheadAttention`, behind its projection: what a change of heads adds to it.

    Heads are linear in it: `y + (new − old) W_o` of each that is changed.
    """

    PROJECTION = "out_proj_weight"

    def __init__(self, call: Call, function: Function) -> None:
        super().__init__(call, function)
        self.old: dict[int, tuple[Tensor, Tensor]] = {}
        self.new: dict[int, tuple[Tensor, Tensor]] = {}
        read = inspect.signature(ATTENTIONS[function.kind])
        self.given = read.bind(*function.args, **function.kwargs).arguments
        dropout = self.given.get("dropout_p", 0.0) if self.given.get("training", True) else 0.0
        if dropout:
            raise CannotChange(
                f"must draw no dropout within its function, got {dropout}: call model.eval()"
            )
        if any(isinstance(one, Tensor) and one.is_nested for one in function.args[:3]):
            raise CannotChange(
                "must not take nested tensors, got one: build the encoder with "
                "enable_nested_tensor=False"
            )

    def output(self, head: int) -> Tensor:
        if head not in self.new:
            call, every = self.call, slice(None)
            weights = weights_of(
                call, head, call.queries[:, head], keys_of(call, call.keys, head), every
            )
            output = weights.to(call.queries.dtype) @ keys_of(call, call.values(), head)
            self.old[head] = self.new[head] = output, weights
        return self.new[head][0]

    def set(self, head: int, output: Tensor, weights: Tensor | None) -> None:
        self.output(head)
        self.new[head] = output, self.new[head][1] if weights is None else weights

    def added(self) -> Tensor:
        """The difference of changed heads behind the projection. (entries, queries, d_model)."""
        weight = self.given[self.PROJECTION]
        d_v = weight.shape[1] // self.call.queries.shape[1]
        parts = [
            F.linear(self.new[head][0] - old, weight[:, head * d_v : (head + 1) * d_v])
            for head, (old, _) in self.old.items()
        ]
        return torch.stack(parts).sum(0)

    def whole(self) -> Any:
        if not self.old:
            return self.function()
        y, weights = self.function()
        added = self.added().transpose(0, 1)
        return y + (added if y.dim() == 3 else added[:, 0]), self._weights(weights)

    def _weights(self, returned: Tensor | None) -> Tensor | None:
        """Weights as they are returned, of each head or their mean."""
        if returned is None or not returned.numel():
            return returned
        entries, heads, queries, keys = (*self.call.queries.shape[:3], self.call.n_keys)
        made = returned.clone()
        of_each = made.shape[-3:] == (heads, queries, keys)
        view = made.view(entries, heads if of_each else 1, queries, keys)
        for head, (_, before) in self.old.items():
            moved = (self.new[head][1] - before).to(made.dtype)
            view[:, head if of_each else 0] += moved if of_each else moved / heads
        return made


class OfNativeMultiHead(OfMultiHead):
    """Result of the fused step of `nn.MultiheadAttention`, (entries, queries, d_model)."""

    PROJECTION = "proj_weight"

    def whole(self) -> Any:
        if not self.old:
            return self.function()
        y, weights = self.function()
        return y + self.added(), self._weights(weights)


class OfEncoderLayer(OfMultiHead):
    """Result of the fused step of `nn.TransformerEncoderLayer`, worked out step by step."""

    PROJECTION = "proj_weight"

    def whole(self) -> Any:
        if not self.old:
            return self.function()
        src, d_model, _, _, _, weight, bias, use_gelu, norm_first, eps = self.function.args[:10]
        w1, b1, w2, b2, up, up_bias, down, down_bias = self.function.args[10:18]
        outputs = [self.output(head) for head in range(self.call.queries.shape[1])]
        attended = F.linear(torch.cat(outputs, -1), weight, bias)

        def fed(x: Tensor) -> Tensor:
            middle = F.linear(x, up, up_bias)
            return F.linear(F.gelu(middle) if use_gelu else F.relu(middle), down, down_bias)

        def first(x: Tensor) -> Tensor:
            return F.layer_norm(x, (d_model,), w1, b1, eps)

        def second(x: Tensor) -> Tensor:
            return F.layer_norm(x, (d_model,), w2, b2, eps)

        if norm_first:
            x = src + attended
            return x + fed(second(x))
        x = first(src + attended)
        return second(x + fed(x))


FORMS: dict[Any, type[Returned]] = {
    None: OfTransformers,
    F.scaled_dot_product_attention: OfDotProduct,
    F.multi_head_attention_forward: OfMultiHead,
    torch._native_multi_head_attention: OfNativeMultiHead,
    torch._transformer_encoder_layer_fwd: OfEncoderLayer,
    mark: OfDotProduct,
}

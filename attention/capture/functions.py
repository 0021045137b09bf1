"""Torch's own attention: `scaled_dot_product_attention` and `nn.MultiheadAttention`, as called.

The functions are seen by a `TorchFunctionMode`, whoever calls them. Torch's modules leave their
fused step where any such mode is on: they are told of no mode (`unnoticed`), and the queries and
keys of a fused step are worked out a second time. `marks.mark` is seen as these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from attention.capture.calls import Call, Function, four_axes, scale_of
from attention.capture.marks import mark, marked
from attention.capture.mixing import Mixing, Signs


class FunctionMode(TorchFunctionMode):
    """Hands on each call of an attention function, which has not run yet, and tells of mixing.

    meets: gets the call and the function, and returns what is to be returned; signs: those of the
    module that runs, None where nothing is to be told; None instead: of no module.
    """

    def __init__(
        self, meets: Callable[[Call, Function], Any], signs: Callable[[], Signs | None] | None
    ) -> None:
        super().__init__()
        self.meets, self.signs, self.mixing = meets, signs, Mixing()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        read = ATTENTIONS.get(func)
        if (read is None and self.signs is None) or torch.compiler.is_compiling():
            return func(*args, **kwargs)
        if read is not None:
            return self.meets(read(*args, **kwargs), Function(func, func, args, kwargs))
        sign, derives = self.mixing.sign_of(func)
        if sign is not None and self.signs and (signs := self.signs()) is not None:
            sign(signs, args, kwargs)
        made = func(*args, **kwargs)
        if derives:
            self.mixing.derive(args, made)
        return made

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While it lasts, this mode is off, if it is the last one of this thread."""
        stack = _get_current_function_mode_stack()
        ours: Any = self if stack and stack[-1] is self else None
        if ours:
            ours.__exit__(None, None, None)
        try:
            yield
        finally:
            if ours:
                ours.__enter__()

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """While it lasts, torch's modules choose their fused steps as without this mode."""
        original = torch.overrides.has_torch_function

        def has_torch_function(args: Iterable[Any]) -> bool:
            with self.aside():
                return original(args)

        torch.overrides.has_torch_function = has_torch_function
        try:
            yield
        finally:
            torch.overrides.has_torch_function = original


def dot_product(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Call:
    """Call of `F.scaled_dot_product_attention`. query: (…, heads, queries, d_k)."""
    mask = attn_mask
    if mask is not None and mask.dim() > 4:
        mask = mask.expand(*query.shape[:-3], *mask.shape[-3:]).flatten(0, -4)
    return Call(
        four_axes(query),
        four_axes(key),
        lambda: four_axes(value),
        scale_of(query, scale),
        mask=mask,
        causal="from the first" if is_causal else "no",
    )


@torch.no_grad()
def multi_head(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None = None,
    bias_v: Tensor | None = None,
    add_zero_attn: bool = False,
    dropout_p: float = 0.0,
    out_proj_weight: Tensor | None = None,
    out_proj_bias: Tensor | None = None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Call:
    """Call that `F.multi_head_attention_forward` works out. query: (queries, entries, d_model)."""
    cross = query is not key
    if query.dim() == 2:
        query, key, value = query[:, None], key[:, None], value[:, None]
        key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
    if use_separate_proj_weight:
        weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    else:
        assert in_proj_weight is not None
        weights = list(in_proj_weight.chunk(3))
    biases = [None] * 3 if in_proj_bias is None else list(in_proj_bias.chunk(3))
    entries = query.shape[1]

    def projected(place: int, further: Tensor | None, static: Tensor | None) -> Tensor:
        if static is not None:
            made = static.unflatten(0, (entries, num_heads))
        else:
            weight = weights[place]
            assert weight is not None
            made = F.linear((query, key, value)[place], weight, biases[place])
            if further is not None:
                made = torch.cat([made, further.expand(-1, entries, -1)])
            made = made.unflatten(-1, (num_heads, -1)).permute(1, 2, 0, 3)
        return F.pad(made, (0, 0, 0, 1)) if add_zero_attn and place else made

    queries, keys = projected(0, None, None), projected(1, bias_k, static_k)
    mask = _one_mask(attn_mask, key_padding_mask, entries, num_heads, keys.shape[2])
    return Call(
        queries,
        keys,
        lambda: projected(2, bias_v, static_v),
        scale_of(queries, None),
        mask=mask,
        cross=cross,
    )


def _one_mask(
    attn_mask: Tensor | None, padding: Tensor | None, entries: int, heads: int, keys: int
) -> Tensor | None:
    """Masks as `nn.MultiheadAttention` takes them, bool True = barred, as numbers to add."""
    parts = []
    if attn_mask is not None:
        if attn_mask.dim() == 3:
            attn_mask = attn_mask.unflatten(0, (-1, heads))
            attn_mask = attn_mask if attn_mask.shape[0] == entries else attn_mask[:1]
        parts.append(attn_mask)
    if padding is not None:
        parts.append(padding[:, None, None])
    whole = None
    for part in parts:
        added = part
        if part.dtype is torch.bool:
            added = torch.zeros(part.shape, device=part.device).masked_fill(part, -torch.inf)
        added = F.pad(added, (0, keys - added.shape[-1]))  # of a bias or a zero key
        whole = added if whole is None else whole + added
    return whole


def native_multi_head(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> Call:
    """Call of the fused step of `nn.MultiheadAttention`. query: (entries, tokens, d_model).

    mask_type: 0 = (queries, keys), 1 = (entries, keys) of padding, 2 = (entries, heads, …).
    """
    same, padding = query is key, mask if mask_type == 1 else None
    if query.is_nested:
        sizes = torch.tensor([len(one) for one in query.unbind()], device=query.device)
        query = key = value = query.to_padded_tensor(0.0)
        padding = torch.arange(query.shape[1], device=query.device) >= sizes[:, None]
    query, key, value = (part.transpose(0, 1) for part in (query, key, value))
    whole = None if mask is None or mask_type == 1 else mask
    return multi_head(
        query,
        query if same else key,
        value,
        embed_dim,
        num_head,
        qkv_weight,
        qkv_bias,
        key_padding_mask=padding,
        attn_mask=whole if whole is None or whole.dim() < 4 else whole.flatten(0, 1),
    )


@torch.no_grad()
def encoder_layer(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    *rest: Any,
) -> Call:
    """Call of the attention in the fused step of `nn.TransformerEncoderLayer`."""
    mask, mask_type = rest[6:8] if len(rest) > 7 else (None, None)
    x = src
    if norm_first:
        x = F.layer_norm(src, (embed_dim,), norm_weight_1, norm_bias_1, eps)
    ours = (qkv_weight, qkv_bias, proj_weight, proj_bias)
    return native_multi_head(x, x, x, embed_dim, num_heads, *ours, mask, mask_type=mask_type)


ATTENTIONS: dict[Any, Callable[..., Call]] = {
    F.scaled_dot_product_attention: dot_product,
    F.multi_head_attention_forward: multi_head,
    torch._native_multi_head_attention: native_multi_head,
    torch._transformer_encoder_layer_fwd: encoder_layer,
    mark: marked,
}

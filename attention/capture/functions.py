"""Torch's own attention: `scaled_dot_product_attention` and `nn.MultiheadAttention`, as called.

The function is seen by a `TorchFunctionMode`, whoever calls it. The modules may run in one fused
step, which such a mode would switch off: they run without it, and their queries and keys are
worked out a second time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention.capture.calls import Call, four_axes, scale_of

SOFTMAXES = (F.softmax, torch.softmax, Tensor.softmax)


class FunctionMode(TorchFunctionMode):
    """Tells of each call of an attention function, before it runs, and of softmaxes of scores."""

    def __init__(self, call: Callable[[Call], None], softmax: Callable[[], None]) -> None:
        super().__init__()
        self.call, self.softmax = call, softmax

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not torch.compiler.is_compiling():
            if func is F.scaled_dot_product_attention:
                self.call(dot_product(*args, **kwargs))
            elif func is F.multi_head_attention_forward:
                self.call(multi_head(*args, **kwargs))
            elif func in SOFTMAXES and args and args[0].dim() >= 4:
                self.softmax()
        return func(*args, **kwargs)


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


MULTI_HEAD = inspect.signature(nn.MultiheadAttention.forward)
ENCODER_LAYER = inspect.signature(nn.TransformerEncoderLayer.forward)


def of_module(module: nn.MultiheadAttention, *args: Any, **kwargs: Any) -> Call:
    """The call that an `nn.MultiheadAttention` makes when called with these arguments."""
    given = MULTI_HEAD.bind(module, *args, **kwargs).arguments
    query, key, value = (given[name] for name in ("query", "key", "value"))
    same = query is key
    padding = given.get("key_padding_mask")
    if query.is_nested:
        sizes = torch.tensor([len(one) for one in query.unbind()], device=query.device)
        query = key = value = query.to_padded_tensor(0.0)
        padding = torch.arange(query.shape[1], device=query.device) >= sizes[:, None]
    if module.batch_first and query.dim() == 3:
        turned = {id(part): part.transpose(0, 1) for part in (query, key, value)}
        query, key, value = (turned[id(part)] for part in (query, key, value))
    return multi_head(
        query,
        query if same else key,
        value,
        module.embed_dim,
        module.num_heads,
        module.in_proj_weight,
        module.in_proj_bias,
        module.bias_k,
        module.bias_v,
        module.add_zero_attn,
        key_padding_mask=padding,
        attn_mask=given.get("attn_mask"),
        use_separate_proj_weight=not module._qkv_same_embed_dim,
        q_proj_weight=module.q_proj_weight,
        k_proj_weight=module.k_proj_weight,
        v_proj_weight=module.v_proj_weight,
    )


@torch.no_grad()
def of_encoder_layer(layer: nn.TransformerEncoderLayer, *args: Any, **kwargs: Any) -> Call:
    """The call of the attention within a layer that runs in one fused step."""
    given = ENCODER_LAYER.bind(layer, *args, **kwargs).arguments
    x = given["src"]
    if layer.norm_first:
        x = layer.norm1(x)
    masks = {
        "attn_mask": given.get("src_mask"),
        "key_padding_mask": given.get("src_key_padding_mask"),
    }
    return of_module(layer.self_attn, x, x, x, **masks)

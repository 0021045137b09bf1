"""A result as a few lines of PyTorch: the shown output, made once more, and nothing else."""

from __future__ import annotations

import math

from torch import Tensor

from attention.core import masks
from attention.core.papers import plain
from attention.core.positions import slopes
from attention.core.variants import ParametersConfig, Variant
from attention.pipeline import Result


def is_short(result: Result) -> bool:
    """True if a few lines suffice.

    They do not for variants without `short`, rotated queries and keys, and trained parameters.
    """
    return bool(result.layer.short) and result.trained is None and not result.settings.rotate


def short_script(result: Result) -> str:
    """A script, needing torch alone, whose `weights` and `output` are those of the shown head.

    To be asked for where `is_short`.
    """
    layer = result.layer
    head, heads = result.head, layer.heads
    shown = f", head {head} of {heads}," if heads > 1 else ""
    values = {**vars(layer.config), "heads": heads, "groups": layer.groups, "head": head}
    values["group"] = head * layer.groups // heads
    added, hidden = _bias(result), _mask(result)
    lines = [
        f'"""{layer.title}{shown} in a few lines. Source: {plain(layer.source)}."""',
        "",
        "import torch",
        "",
        f"x = torch.tensor({result.x.tolist()})",
        "memory = x" if result.memory is None else _memory(result.memory.x),
        *_parameters(layer),
        *layer.short.format(**values).split("\n"),
        f"scaled = scores * {result.trace.scale!r}{added}",
        f"weights = scaled{hidden}.softmax(-1)" + (".nan_to_num()" if hidden else ""),
        "output = weights @ values",
        "print(output)",
    ]
    return "\n".join(lines) + "\n"


def _memory(x: Tensor) -> str:
    return f"memory = torch.tensor({x.tolist()})"


def _parameters(layer: Variant) -> list[str]:
    """Code that makes the parameters anew, in the order of `parameter_maker`, which draws them."""
    config = layer.config
    if not isinstance(config, ParametersConfig):
        return []
    seeded = config.parameters == "seeded"
    lines = [f"drawn = torch.Generator().manual_seed({config.seed})"] if seeded else []
    for name, value in layer.state_dict().items():
        shape = ", ".join(map(str, value.shape))
        if not seeded:
            lines.append(f"{name} = torch.{'eye' if value.dim() == 2 else 'ones'}({shape})")
            continue
        bound = math.sqrt(6 / (sum(value.shape) if value.dim() == 2 else value.shape[0] + 1))
        lines.append(f"{name} = (torch.rand({shape}, generator=drawn) * 2 - 1) * {bound!r}")
    return lines


def _bias(result: Result) -> str:
    """Code of ALiBi's bias on the scaled scores of the head."""
    if result.trace.bias is None:
        return ""
    slope = float(slopes(result.layer.heads)[result.head])
    n_queries, n_keys = result.trace.scores.shape
    distance = f"(torch.arange({n_queries})[:, None] - torch.arange({n_keys})).abs()"
    return f" - {slope!r} * {distance}"


def _mask(result: Result) -> str:
    """Code of the mask that hides cells of the scaled scores."""
    mask = masks.combine(result.masks.values())
    if mask is None:
        return ""
    if [*result.masks] == ["causal"]:
        n_queries, n_keys = mask.shape
        hidden = f"torch.ones({n_queries}, {n_keys}).tril() == 0"
    else:
        hidden = f"torch.tensor({mask.int().tolist()}) == 0"
    return f".masked_fill({hidden}, -torch.inf)"

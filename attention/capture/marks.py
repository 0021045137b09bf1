"""`mark`: one line by which attention of one's own code is kept and changed as torch's own is."""

from __future__ import annotations

from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function

from attention.capture.calls import Call
from attention.core.arguments import must_be


def mark(weights: Tensor, values: Tensor, *, heads: int | None = None) -> Tensor:
    """The product `weights @ values`, which `capture` keeps and `change` changes.

    In place of that product in one's own code. weights: (entries, heads, queries, keys), behind the
    softmax; values: (entries, heads, keys, d_v), or one head of them for all; heads: how many there
    are where both are as `torch.bmm` takes them, (entries · heads, …). Where nothing is kept or
    changed it is the product alone. Raises ValueError for other shapes.
    """
    must_be("weights", weights, Tensor)
    must_be("values", values, Tensor)
    shapes = tuple(weights.shape), tuple(values.shape)
    if heads is None and not len(shapes[0]) == len(shapes[1]) == 4:
        raise ValueError(
            "weights and values must have four axes, (entries, heads, queries, keys) and (entries, "
            f"heads, keys, d_v), or be (entries · heads, …) with heads=…, got {shapes}"
        )
    if heads is not None and not (len(shapes[0]) == len(shapes[1]) == 3 and heads >= 1):
        raise ValueError(f"with heads={heads} both must be (entries · heads, …), got {shapes}")
    if heads is not None and shapes[0][0] % heads:
        raise ValueError(f"the first axis must be a multiple of heads={heads}, got {shapes[0]}")
    if has_torch_function((weights, values)):
        made: Tensor = handle_torch_function(mark, (weights, values), weights, values, heads=heads)
        return made
    return weights @ values


def marked(weights: Tensor, values: Tensor, *, heads: int | None = None) -> Call:
    """The call of `mark`. Its keys are the values, by which a run that goes on is known."""
    if heads is not None:
        weights, values = (part.unflatten(0, (-1, heads)) for part in (weights, values))
    queries = values.new_zeros(()).expand(*weights.shape[:3], 1)
    return Call(queries, values, lambda: values, 1.0, mask=weights != 0, given=weights)

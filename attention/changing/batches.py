"""Batches of changed runs, which share the layers before the first change.

A block whose input is that of the plain run in all of a batch gives what it gave there, and is not
run again; where a model has no such blocks, all of it runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from attention.capture.calls import Call
from attention.changing.changer import Met, changed
from attention.changing.edits import Edit
from attention.changing.returned import Returned
from attention.core.arguments import must_be

TOKENS_AT_ONCE = 768  # of all changed runs that are worked out together
USUAL = {"use_cache": False, "return_dict": True}


Metric = Callable[[Any], Tensor]


def given_to(
    model: nn.Module, inputs: Any, last: bool = False
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a model: of a mapping its items, of a tensor or a tuple itself.

    last: of the last token alone, where the model can keep to it.
    """
    if isinstance(inputs, Mapping):
        named = {name: inputs[name] for name in inputs}
        knows = inspect.signature(model.forward).parameters
        usual = USUAL | ({"logits_to_keep": 1} if last else {})
        return (), named | {name: to for name, to in usual.items() if name in knows}
    must_be("inputs", inputs, Mapping, tuple, Tensor, how="as a tokenizer gives them")
    return (inputs if isinstance(inputs, tuple) else (inputs,)), {}


def must_be_at_rest(model: nn.Module) -> None:
    """Raise ValueError where two runs of a model would differ by the dropout that they draw."""
    if model.training:
        raise ValueError(
            "the model must not draw dropout at random, got one in training: call model.eval()"
        )


def repeated(inputs: Any, times: int) -> Any:
    """Inputs so many times along the batch, their first axis."""
    if isinstance(inputs, Tensor):
        return inputs.repeat(times, *(1 for _ in inputs.shape[1:])) if inputs.dim() > 1 else inputs
    if isinstance(inputs, tuple):
        return tuple(repeated(each, times) for each in inputs)
    if isinstance(inputs, Mapping):
        return {name: repeated(each, times) for name, each in inputs.items()}
    if inputs is None or isinstance(inputs, bool | int | float | str):
        return inputs
    raise ValueError(f"inputs must be tensors, got {type(inputs).__name__}, which is in no batch")


@dataclass
class Plain:
    """A run of a model as it is: its attentions, and what went in and out of its blocks.

    heads, entries: of each attention by name; tokens: of all entries; blocks: by the id of a
    module, what went into it and came out, None where it ran more than once; before: the metric.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    heads: dict[str, int] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)
    tokens: int = 1
    blocks: dict[int, tuple[Tensor, Any]] = field(default_factory=dict)
    before: float = 0.0


def blocks_of(model: nn.Module) -> dict[int, str]:
    """Outermost modules that stand in a list, by id: their names."""
    found: dict[int, str] = {}
    for name, part in model.named_modules():
        if isinstance(part, nn.ModuleList | nn.Sequential):
            inside = any(name.startswith(f"{block}.") for block in found.values())
            if not inside:
                prefix = f"{name}." if name else ""
                found |= {id(block): f"{prefix}{key}" for key, block in part.named_children()}
    return found


@contextmanager
def told_of_blocks(
    model: nn.Module, told: Callable[[nn.Module, Callable[..., Any], Any, Any], Any]
) -> Iterator[None]:
    """While it lasts, `told` gets each call of a block and returns what it gives."""
    parts = dict(model.named_modules())
    blocks = [parts[name] for name in blocks_of(model).values()]
    before = [block.__dict__.get("forward") for block in blocks]
    try:
        for block in blocks:
            block.forward = _around(block, block.forward, told)
        yield
    finally:
        for block, forward in zip(blocks, before, strict=True):
            if forward is None:
                block.__dict__.pop("forward", None)
            else:
                block.forward = forward


def _around(block: nn.Module, forward: Any, told: Callable[..., Any]) -> Callable[..., Any]:
    def runs(*args: Any, **kwargs: Any) -> Any:
        return told(block, forward, args, kwargs)

    return runs


def plain_run(model: nn.Module, inputs: Any, metric: Metric, last: bool = False) -> Plain:
    """The model once as it is, with what batches of changed runs need of it."""
    must_be_at_rest(model)
    found = Plain()

    def told(met: Met, call: Call, returned: Returned) -> None:
        found.heads[met.name], found.entries[met.name] = call.queries.shape[1], len(call.queries)
        found.tokens = max(found.tokens, call.n_queries * len(call.queries))

    def block(module: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        made = forward(*args, **kwargs)
        x = args[0] if args else kwargs.get("hidden_states")
        first = made[0] if isinstance(made, tuple) and made else made
        plain = isinstance(made, Tensor) or (
            isinstance(made, tuple) and all(each is None for each in made[1:])
        )
        if plain and isinstance(x, Tensor) and isinstance(first, Tensor) and x.shape == first.shape:
            again = id(module) in found.blocks
            found.blocks[id(module)] = (x.new_full((0,), 0), None) if again else (x, made)
        return made

    args, kwargs = given_to(model, inputs, last)
    with told_of_blocks(model, block), changed(model, []) as changer, changer.telling(told):
        outputs = model(*args, **kwargs)
    found.numbers = dict(changer.numbers)
    if not found.heads:
        changer.check([Edit(0, 0, "output", 0.0)])
    found.before = float(metric(outputs).mean())
    return found


def changed_metrics(
    model: nn.Module,
    inputs: Any,
    metric: Metric,
    plain: Plain,
    several: Sequence[Sequence[Edit]],
    last: bool = False,
) -> Tensor:
    """The metric of each of some changed runs, the mean over the entries of the inputs. (several,).

    several: the edits of each, without lanes. Raises ValueError where they cannot go as one batch.
    """
    at_once = max(1, TOKENS_AT_ONCE // plain.tokens)
    found = []
    for begin in range(0, len(several), at_once):
        some = several[begin : begin + at_once]
        lanes = [
            replace(one, lane=(lane, len(some)), came=set())
            for lane, of_one in enumerate(some)
            for one in of_one
        ]
        args = given_to(model, repeated(inputs, len(some)), last)
        outputs = _batch(model, args, plain, lanes, len(some))
        found.append(metric(outputs).unflatten(0, (len(some), -1)).mean(-1))
    return torch.cat(found)


def _batch(
    model: nn.Module, given: tuple[Any, Any], plain: Plain, lanes: Sequence[Edit], count: int
) -> Any:
    """Outputs of a batch of so many runs."""
    first = min(
        plain.numbers.get(one.layer, 0) if isinstance(one.layer, str) else one.layer
        for one in lanes
    )
    later = [name for name, number in plain.numbers.items() if number >= first]
    parts = {id(part): name for name, part in model.named_modules()}
    same = [True]  # all runs are still the plain one

    def block(module: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        before, within = plain.blocks.get(id(module)), f"{parts[id(module)]}."
        now = args[0] if args else kwargs.get("hidden_states")
        same[0] &= not any(name.startswith(within) for name in later)
        if before is None or before[1] is None or not isinstance(now, Tensor):
            same[0] = False
        elif same[0] and len(now) == count * len(before[0]):
            x, made = before
            if torch.equal(now[: len(x)], x):
                tensor = made[0] if isinstance(made, tuple) else made
                whole = tensor.repeat(count, *(1 for _ in tensor.shape[1:]))
                return (whole, *made[1:]) if isinstance(made, tuple) else whole
        return forward(*args, **kwargs)

    def told(met: Met, call: Call, returned: Returned) -> None:
        before = plain.entries.get(met.name, 0)
        if len(call.queries) != count * before:
            raise ValueError(
                f"the batch must be the first axis of the inputs: {met.name} had {before} entries, "
                f"and {len(call.queries)} with {count} runs"
            )

    with told_of_blocks(model, block), changed(model, lanes) as changer:
        changer.numbers |= plain.numbers
        with changer.telling(told):
            outputs = model(*given[0], **given[1])
        changer.conclude(lanes)
    return outputs

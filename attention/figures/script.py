"""A result as a PyTorch script that runs on its own and prints the same numbers."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from attention.core import functional, norms, positions, recurrence, scales
from attention.core.papers import plain
from attention.core.variants import Variant
from attention.core.weighing import SOFTMAX, Weighing
from attention.pipeline import Result, Settings

HEADER = '''\
"""{title} over {n} tokens, every step. Source: {source}."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
{of_torch}from torch.utils.checkpoint import checkpoint

ScoreFunction = Callable[[Tensor, Tensor], Tensor]
STAGES = {stages!r}
OF_KEYS = {of_keys!r}
'''
PRINT = """\
if __name__ == "__main__":
    torch.set_printoptions(precision=4, sci_mode=False, linewidth=140)
    print(tokens)
    print("scores, queries down, keys across:", trace.scores, sep="\\n")
    print("weights, queries down, keys across:", trace.weights, sep="\\n")
    print("output:", trace.output, sep="\\n")"""


def pytorch_script(result: Result) -> str:
    """A script, needing torch alone, whose `trace` equals the result's.

    To the last bit where torch works with as many threads. It is put together from the very
    functions and methods that made the result (their source), and its data: the vectors, the
    parameters, the masks.
    """
    layer, other, heads = result.layer, result.memory, result.layer.heads
    functions, methods, of_torch = _used(type(layer))
    title = layer.title + (f", head {result.head} of {heads}," if heads > 1 else "")
    n_queries, n_keys = result.trace.scores.shape
    penalised = result.settings.positions == "alibi"
    bias = f"alibi({heads}, {n_queries}, {n_keys})" if penalised else "None"
    parts = [
        HEADER.format(
            title=title,
            n=n_queries,
            source=plain(layer.source),
            stages=functional.STAGES,
            of_keys=functional.OF_KEYS,
            of_torch=f"from torch.nn.functional import {', '.join(of_torch)}\n" if of_torch else "",
        ),
        _source(Weighing),
        f"SOFTMAX = {SOFTMAX!r}",
        *map(_source, functions),
        _layer(layer, methods),
        f"tokens = {list(result.tokens)!r}\nx = {_literal(result.x)}",
        "memory = None"
        if other is None
        else f"memory_tokens = {list(other.tokens)!r}\nmemory = {_literal(other.x)}",
        _masks(result.masks),
        "layer = Layer()\nlayer_trace = layer.forward(\n"
        f"    x, mask, memory=memory, scale={result.trace.scale!r},\n"
        f"    rotate={result.settings.rotate!r}, bias={bias},\n)\n"
        f"trace = layer_trace.head({result.head})\n"
        "layer_output = layer.output(layer_trace)",
        PRINT,
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def call_of(settings: Settings) -> str:
    """The call of `attention.pipeline` that computes a result, with all settings but defaults."""
    given = [
        f"{field.name}={value!r}"
        for field in fields(settings)
        if (value := getattr(settings, field.name)) != field.default or field.name == "s"
    ]
    return f"compute(Settings({', '.join(given)}))"


def _layer(layer: Variant, methods: list[Any]) -> str:
    """The variant as a class of its own: its parameters, and the methods that are used."""
    config = ", ".join(f"{name}={value!r}" for name, value in vars(layer.config).items())
    data = [
        f"config = SimpleNamespace({config})",
        f"projections = {dict(layer.projections)!r}",
        f"weighing, erases = {layer.weighing!r}, {layer.erases!r}",
        *(f"{name} = {_literal(value.detach())}" for name, value in layer.state_dict().items()),
    ]
    body = "\n".join(data) + "\n\n" + "\n\n".join(map(_source, methods))
    return "class Layer:\n" + textwrap.indent(body, "    ")


def _used(variant: type[Variant]) -> tuple[list[Any], list[Any], list[str]]:
    """The functions of the core and of a variant's own file, and the methods of a variant, that its
    run uses, in their order; and names of torch.nn.functional that stand in them."""
    own = [sys.modules[each.__module__] for each in variant.__mro__ if issubclass(each, Variant)]
    modules = [norms, scales, positions, recurrence, functional, *own]
    functions = {
        name: item
        for module in modules
        for name, item in vars(module).items()
        if getattr(item, "__module__", "") == module.__name__
        and (module not in own or inspect.isfunction(item))
    }
    methods = {
        name: item
        for name in dir(variant)
        if inspect.isfunction(_function(item := inspect.getattr_static(variant, name)))
        and not _function(item).__module__.startswith("torch")
    }
    used: set[str] = set()

    def visit(names: Iterable[str]) -> None:
        for name in set(names) - used:
            used.add(name)
            for item in (methods.get(name), functions.get(name)):
                visit(_names(item))

    visit(["forward", "output", "alibi"])
    theirs = dict(inspect.getmembers(torch.nn.functional, inspect.isroutine))
    of_torch = [
        name
        for name in sorted(used & theirs.keys())
        if any(vars(module).get(name) is theirs[name] for module in modules)
    ]
    return (
        [functions[name] for name in functions if name in used],
        [methods[name] for name in methods if name in used],
        of_torch,
    )


def _function(item: Any) -> Any:
    function: Any = item.fget if isinstance(item, property) else item
    return inspect.unwrap(function)


def _names(item: Any) -> Iterator[str]:
    """The global and attribute names that a function's code uses, its inner functions' too; or
    that those of a class do."""
    for method in vars(item).values() if inspect.isclass(item) else ():
        if inspect.isfunction(_function(method)):
            yield from _names(method)
    function = _function(item)
    for default in (getattr(function, "__kwdefaults__", None) or {}).values():
        if inspect.isfunction(default):
            yield default.__name__
    pending = [function.__code__] if hasattr(function, "__code__") else []
    while pending:
        code = pending.pop()
        yield from code.co_names
        pending += [constant for constant in code.co_consts if inspect.iscode(constant)]


def _source(item: Any) -> str:
    """The source of a function, a class or a property, without the names of our modules, and as
    a Trace prints by itself."""
    source = textwrap.dedent(inspect.getsource(_function(item)))
    return source.replace("functional.", "").replace("    __repr__ = shapes\n", "").rstrip()


def _literal(tensor: Tensor) -> str:
    """A float32 tensor as code; Python's shortest digits of each number give it back exactly."""
    return f"torch.tensor({tensor.tolist()!r})"


def _masks(masks: dict[str, Tensor]) -> str:
    """The masks by name, and what all of them allow."""
    if not masks:
        return "mask = None"
    rows = {
        name: ["".join("01"[allowed] for allowed in row) for row in mask.tolist()]
        for name, mask in masks.items()
    }
    lines = "".join(f"    {name!r}: {row!r},\n" for name, row in rows.items())
    combined = " & ".join(f"masks[{name!r}]" for name in masks)
    return (
        f"masks = {{\n{lines}}}\n"
        "masks = {\n"
        "    name: torch.tensor([[cell == '1' for cell in row] for row in rows])\n"
        "    for name, rows in masks.items()\n}\n"
        f"mask = {combined}"
    )

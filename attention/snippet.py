"""A view as a PyTorch script that runs on its own and prints the same numbers."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from attention import functional, positions
from attention.view import View

HEADER = '''\
"""{title} over {n} tokens, every step. Source: {source}."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import Tensor
from torch.nn.functional import normalize
from torch.utils.checkpoint import checkpoint

ScoreFunction = Callable[[Tensor, Tensor], Tensor]
'''


def pytorch_snippet(view: View) -> str:
    """A script, needing torch alone, whose `trace` equals the view's to the last bit.

    It is put together from the very functions that made the view (their source), and its data:
    the vectors, the parameters, the mask.
    """
    variant = view.variant
    methods: list[Callable[..., Any]] = [type(variant).project, type(variant).scores]
    helpers = _needed([functional.attend, *methods])
    parameters = {name: value.detach() for name, value in variant.state_dict().items()}
    turn, bias, other = "", "", ""
    memory: list[str] = []
    if view.memory is not None:
        names = list(view.memory.tokens)
        memory = [f"memory_tokens = {names!r}\nmemory = {_literal(view.memory.x)}"]
        other = "_, keys, values = project(variant, memory)\n"
    if view.rotate:
        helpers += [positions.turns, positions.rotary]
        turn = "queries, keys = rotary(queries), rotary(keys)\n"
    if view.bias is not None:
        helpers += [positions.slopes, positions.alibi]
        n, n_keys = view.trace.scores.shape
        bias = f"bias=alibi({view.layer.heads}, {n}, {n_keys})[{view.head}], "
    title = view.layer.title + (f", head {view.head}," if view.layer.heads > 1 else "")
    parts = [
        HEADER.format(title=title, n=len(view.tokens), source=view.layer.source),
        *(inspect.getsource(helper) for helper in helpers),
        *(
            textwrap.dedent(inspect.getsource(method)).replace("functional.", "")
            for method in methods
        ),
        f"tokens = {list(view.tokens)!r}",
        f"x = {_literal(view.x)}",
        *memory,
        "variant = SimpleNamespace(\n"
        + "".join(f"    {name}={_literal(value)},\n" for name, value in parameters.items())
        + f"    config=SimpleNamespace(**{vars(view.variant.config)!r}),\n)",
        f"mask = {_mask_literal(view.trace.mask)}",
        "queries, keys, values = project(variant, x)\n" + other + turn + "trace = attend(\n"
        "    queries, keys, values, mask=mask, "
        f"{bias}scale={view.scale!r},\n"
        "    scores=lambda queries, keys: scores(variant, queries, keys),\n)",
        'if __name__ == "__main__":\n'
        "    torch.set_printoptions(precision=4, sci_mode=False, linewidth=140)\n"
        "    print(tokens)\n"
        '    print("weights, queries down, keys across:", trace.weights, sep="\\n")\n'
        '    print("output:", trace.output, sep="\\n")',
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _needed(functions: list[Callable[..., Any]]) -> list[Any]:
    """What of `attention.functional` these functions use, directly or not, in its own order."""
    wanted: set[str] = set()

    def visit(names: Iterator[str]) -> None:
        for name in names:
            item = getattr(functional, name, None)
            if name not in wanted and getattr(item, "__module__", None) == functional.__name__:
                wanted.add(name)
                visit(_names(item))

    for function in functions:
        visit(iter([function.__name__]))
        visit(_names(function))
    return [item for name, item in vars(functional).items() if name in wanted]


def _names(item: Any) -> Iterator[str]:
    """The global and attribute names a function's code uses, its inner functions' too."""
    for default in (getattr(item, "__kwdefaults__", None) or {}).values():
        if inspect.isfunction(default):
            yield default.__name__
    pending = [item.__code__] if hasattr(item, "__code__") else []
    while pending:
        code = pending.pop()
        yield from code.co_names
        pending += [constant for constant in code.co_consts if inspect.iscode(constant)]


def _literal(tensor: Tensor) -> str:
    """A float32 tensor as code; Python's shortest digits of each number give it back exactly."""
    return f"torch.tensor({tensor.tolist()!r})"


def _mask_literal(mask: Tensor | None) -> str:
    if mask is None:
        return "None"
    rows = ["".join("01"[allowed] for allowed in row) for row in mask.tolist()]
    lines = "".join(f"    {row!r},\n" for row in rows)
    return f"torch.tensor([[cell == '1' for cell in row] for row in (\n{lines})])"

"""Layers without a softmax in files: what one says of them, held against shapes and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from torch import Tensor

from attention.capture.checks import REASON, must, told
from attention.capture.recurrences import Recurrence, Rule

MOST_STRENGTH, LENGTH_1 = 2.0, 1.001  # of what erases: more would grow without bounds


def check_shapes(shapes: Mapping[str, tuple[int, ...]], heads: int) -> None:
    """Raises ValueError where parts of a layer without a softmax do not fit."""
    entries, _, tokens, _ = shapes["queries"]
    must(shapes["keys"][:3] == shapes["queries"][:3], "keys must be as the queries", shapes)
    whole, barred = (entries, heads, tokens), {"sinks", "first", "bias"} & shapes.keys()
    must(not barred, "a layer without a softmax has no mask", sorted(barred))
    must(shapes["strength"] == whole, f"strength must be {whole}", shapes["strength"])
    must(shapes.get("decay", whole) == whole, f"decay must be {whole}", shapes.get("decay"))
    must(shapes.get("rate", (heads,)) == (heads,), f"rate must be ({heads},)", shapes.get("rate"))


def recurrence_of(shared: tuple[Any, ...], recurs: Any, get: Mapping[str, Tensor]) -> Recurrence:
    rule, is_normed, beside = (told(recurs, name) for name in ("rule", "is_normed", "beside"))
    must(rule in get_args(Rule), f"rule must be one of {get_args(Rule)}", rule)
    must(isinstance(is_normed, bool), "is_normed must be true or false", is_normed)
    plain = isinstance(beside, str) and REASON.fullmatch(beside)
    must(plain, "words on what is beside it must be plain text", beside)
    return Recurrence(
        *shared,
        rule=rule,
        strength=get["strength"],
        decay=get.get("decay"),
        rate=get.get("rate"),
        is_normed=is_normed,
        beside=beside,
    )


def check_numbers(layer: Recurrence) -> None:
    """Raises ValueError where a state could grow with each token that is read."""
    must(layer.kind == "self", "a layer without a softmax reads its own sequence", layer.name)
    fades = all(part is None or bool((part <= 0).all()) for part in (layer.decay, layer.rate))
    least, most = map(float, layer.strength.aminmax())
    must(fades and least >= 0, "decay must be up to 0 and strength from 0 on", layer.name)
    if layer.erases:
        must(most <= MOST_STRENGTH, f"what erases must have a strength up to {MOST_STRENGTH}", most)
        longest = 1.0 if layer.is_normed else float(layer.keys.float().norm(dim=-1).amax())
        must(longest <= LENGTH_1, "keys that erase must be of length 1", longest)

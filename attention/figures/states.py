"""The state of a layer without a softmax after each token, beside the keys that a softmax keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor

from attention.core.recurrence import states
from attention.figures.scene import Figure
from attention.pipeline import Result

MOST_SHOWN = 12  # tokens whose state is drawn
MOST_NUMBERS = 1 << 18  # of all these states


class StatesHeader(TypedDict):
    """Header of the states, before the numbers of these, then all keys and all values.

    positions: of the tokens that are shown; keys, values: how many numbers one of each has; count:
    how many of these there are.
    """

    tokens: list[str]
    positions: list[int]
    keys: int
    values: int
    count: int


@dataclass(frozen=True, eq=False)
class States(Figure, kind="states", header=StatesHeader, light=True):
    """A state after each token, and the keys and values that a softmax would have to keep by then.

    kept: (shown tokens, d_k, d_v); keys: (tokens, d_k); values: (tokens, d_v); tokens, positions:
    those of the shown ones.
    """

    kept: Tensor
    keys: Tensor
    values: Tensor
    tokens: Sequence[str]
    positions: Sequence[int]

    def content(self) -> bytes:
        count, d_k = self.keys.shape
        numbers = self.kept, self.keys, self.values
        return self.sent(*numbers, keys=d_k, values=self.values.shape[1], count=count)


@torch.no_grad()
def states_of(result: Result) -> States | None:
    """The states of the head that a result shows, None where its layer keeps none.

    Of many tokens some are shown, spread evenly, the last among them.
    """
    layer = result.layer
    if not layer.keeps_state or result.trained is not None or result.memory is not None:
        return None
    trace = result.trace
    keys, values = layer.features(trace.keys), trace.values
    count, each = len(keys), keys.shape[1] * values.shape[1]
    most = max(1, min(MOST_SHOWN, MOST_NUMBERS // each, count))
    positions = [count * at // most - 1 for at in range(1, most + 1)]
    seen = None if trace.mask is None else trace.mask[-1]
    made = states(keys, values, trace.decay, trace.strength, layer.erases, seen)
    kept = torch.stack([state for at, state in enumerate(made) if at in positions])
    return States(
        kept,
        keys,
        values,
        [result.tokens[at] for at in positions],
        positions,
        key="states",
    )


def states_words(shown: States, tokens: Sequence[str], sums: bool = False) -> str:
    """Count the numbers of a state, and those that a softmax keeps.

    tokens: all of them; sums: whether the sum of the keys is kept too, by which rows are divided.
    """
    count, d_k = shown.keys.shape
    d_v = shown.values.shape[1]
    size, each = d_k * (d_v + sums), d_k + d_v
    of = f"{d_k} × {d_v} numbers" + (f" and the sum of the keys, {d_k} more" if sums else "")
    more = size // each + 1
    when = f"from {more:,} tokens on that is more" if count < more else "and it grows on"
    return (
        f"The state has {of}, whatever the length: each new token changes them. With a softmax "
        f"the keys and values of all tokens stay: {count * each:,} numbers at “{tokens[-1]}”, "
        f"{each} for each token; {when}."
    )

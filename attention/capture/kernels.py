"""Layers without a softmax of transformers: each hands what it uses to one function of its module.

That function is named alike in the modules of all families, whichever kernel it goes to in the end;
it is watched there, and runs as it would have.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from attention.capture.calls import Function
from attention.capture.recurrences import Rule

GATE = "a gate and any norm after it"
OF_D = "what D adds of each token's own value"
PACKED = ("cu_seqlens", "seq_idx")


@dataclass(frozen=True, eq=False)
class Recurrent:
    """Call of a layer without a softmax, see `Recurrence`; values are made when asked for.

    before: the state that it goes on from, None = none; beside: in words, what the layer does
    beside its matrix.
    """

    rule: Rule
    queries: Tensor
    keys: Tensor
    values: Callable[[], Tensor]
    scale: float
    strength: Tensor
    decay: Tensor | None
    rate: Tensor | None
    before: Tensor | None
    is_normed: bool = False
    beside: str = ""

    @property
    def n_queries(self) -> int:
        return self.queries.shape[2]

    def after(self, returned: Any) -> Tensor | None:
        """The state that a call left, None where it was not asked for."""
        if isinstance(returned, tuple):
            return returned[1] if isinstance(returned[1], Tensor) else None
        return self.before if self.n_queries == 1 else None  # changed in place


Read = Callable[[], Recurrent | str]
Told = Callable[[Read, Function], Any]


def gated_delta_rule(given: Mapping[str, Any]) -> Recurrent:
    """Call of `torch_chunk_gated_delta_rule` or `torch_recurrent_gated_delta_rule`.

    query, key: (entries, tokens, key heads, d_k), value: likewise with the heads and d_v; g, beta:
    (entries, tokens, heads).
    """
    queries, keys, values = (given[name].transpose(1, 2) for name in ("query", "key", "value"))
    return Recurrent(
        "gated delta rule",
        queries,
        keys,
        lambda: values,
        queries.shape[-1] ** -0.5,
        given["beta"].mT,
        given["g"].mT,
        None,
        given.get("initial_state"),
        bool(given.get("use_qk_l2norm_in_kernel")),
        GATE,
    )


def chunk_scan(given: Mapping[str, Any]) -> Recurrent:
    """Call of `mamba2_chunk_scan`: hidden_states (entries, tokens, heads, d_v), dt (entries,
    tokens, heads), A (heads,), B and C (entries, tokens, key heads, d_k)."""
    step = _steps(given, given["dt"], given.get("dt_bias"))
    if "dt_limit" in given:
        step = step.clamp(*given["dt_limit"])
    values = given["hidden_states"].transpose(1, 2)
    c, b = (given[name].transpose(1, 2) for name in ("C", "B"))
    return _state_space(given, c, b, values, step.mT, given["A"], given.get("initial_states"))


def state_update(given: Mapping[str, Any]) -> Recurrent:
    """Call of `mamba2_selective_state_update`, of one token: hidden_states and dt (entries, heads,
    d_v), A (heads, d_v, d_k), B and C (entries, key heads, d_k)."""
    bias = given.get("dt_bias")
    step = _steps(given, given["dt"][..., 0], None if bias is None else bias[:, 0])
    values, b, c = (given[name].unsqueeze(2) for name in ("hidden_states", "B", "C"))
    return _state_space(given, c, b, values, step[..., None], given["A"][:, 0, 0], given["state"])


def _steps(given: Mapping[str, Any], dt: Tensor, bias: Tensor | None) -> Tensor:
    """Δ as the kernel makes it of what it gets."""
    step = dt if bias is None else dt + bias.to(dt.dtype)
    return F.softplus(step) if given.get("dt_softplus") else step


def _state_space(
    given: Mapping[str, Any],
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    step: Tensor,
    rate: Tensor,
    before: Tensor | None,
) -> Recurrent:
    beside = GATE if given.get("D") is None else f"{OF_D}, {GATE}"
    return Recurrent(
        "state space",
        queries,
        keys,
        lambda: values,
        1.0,
        step,
        None,
        rate,
        before,
        beside=beside,
    )


KERNELS: dict[str, Callable[[Mapping[str, Any]], Recurrent]] = {
    "torch_chunk_gated_delta_rule": gated_delta_rule,
    "torch_recurrent_gated_delta_rule": gated_delta_rule,
    "mamba2_chunk_scan": chunk_scan,
    "mamba2_selective_state_update": state_update,
}
_watched: dict[str, tuple[dict[str, Any], list[Told]]] = {}  # as they were, and who is told
_lock = Lock()


def has_kernels(module: str) -> bool:
    """True if a module that is loaded has such functions."""
    return not KERNELS.keys().isdisjoint(getattr(sys.modules.get(module), "__dict__", ()))


@contextmanager
def watched(module: str, told: Told) -> Iterator[None]:
    """While it lasts, `told` gets each call of a module's kernels, and runs what is to run."""
    names = vars(sys.modules[module])
    with _lock:
        if module not in _watched:
            originals = {name: names[name] for name in KERNELS if name in names}
            _watched[module] = originals, []
            names.update({name: _telling(module, name) for name in originals})
        _watched[module][1].append(told)
    try:
        yield
    finally:
        with _lock:
            originals, all_told = _watched[module]
            all_told.remove(told)
            if not all_told:
                names.update(originals)
                del _watched[module]


def _telling(module: str, name: str) -> Callable[..., Any]:
    originals, all_told = _watched[module]

    @functools.wraps(originals[name])
    def kernel(*args: Any, **kwargs: Any) -> Any:
        function = Function(None, originals[name], args, kwargs)
        read = functools.partial(_read, KERNELS[name], function)
        for told in (*all_told,):
            function = Function(None, told, (read, function), {})
        return function()

    return kernel


def _read(kernel: Callable[[Mapping[str, Any]], Recurrent], function: Function) -> Recurrent | str:
    """A call of a kernel, or why it cannot be kept."""
    bound = inspect.signature(function.run).bind(*function.args, **function.kwargs).arguments
    given = bound | bound.pop("kwargs", {})
    if any(given.get(name) is not None for name in PACKED):
        return "runs packed sequences, which are not told apart"
    return kernel(given)

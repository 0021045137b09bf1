"""Models of transformers: each hands queries, keys and what else there is to one function.

That function is looked up by `AttentionInterface.get_interface` (transformers 5), which is watched
here; the function itself runs as it would have. transformers is not imported: there is nothing to
watch unless somebody else has done so. Of earlier releases torch's own function is seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from attention.capture.calls import Call, Causal, Function, scale_of

Attends = Callable[..., Any]
Told = Callable[[nn.Module, Call | str, Function], Any]


def interface() -> Any:
    """The class that looks up attention functions, None where it is not loaded."""
    loaded = sys.modules.get("transformers.modeling_utils")
    found = getattr(loaded, "AttentionInterface", None)
    return found if hasattr(found, "get_interface") else None


@contextmanager
def watched(told: Told) -> Iterator[None]:
    """While it lasts, `told` gets the module and the call of each, and runs what is to run."""
    watched_class = interface()
    original = watched_class.get_interface

    def get_interface(self: Any, implementation: str, default: Attends) -> Attends:
        function = original(self, implementation, default)

        def attend(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            said = read(implementation, module, *args, **kwargs)
            return told(module, said, Function(None, function, (module, *args), kwargs))

        return attend

    watched_class.get_interface = get_interface
    try:
        yield
    finally:
        watched_class.get_interface = original


def read(
    implementation: str | None,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Any = None,
    scaling: float | None = None,
    dropout: float = 0.0,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
    **further: Any,
) -> Call | str:
    """Read a call of an attention function of this name, or why that cannot be said.

    query: (entries, heads, queries, d_k); the mask is in the form that the implementation takes.
    """
    name = implementation or "eager"
    if attention_mask is not None and not isinstance(attention_mask, Tensor):
        return f"{name} takes masks as functions, which are not read; sdpa and eager are"
    if "paged" in name:
        return f"{name} keeps the keys of several requests as pages, which are not read"
    causal: Causal = "no"
    lengths = window = None
    asked = bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
    if "flash" in name:
        causal = "to the last" if asked else "no"
        lengths, attention_mask = attention_mask, None
        window = sliding_window
        if lengths is not None and lengths.dim() != 2:
            lengths, attention_mask = None, lengths
    elif name != "eager" and attention_mask is None and asked and query.shape[2] > 1:
        causal = "from the first"
    cross = True if getattr(module, "is_cross_attention", False) else None
    return Call(
        query,
        key,
        lambda: value,
        scale_of(query, scaling),
        cap=softcap,
        sinks=s_aux,
        mask=attention_mask,
        bias=position_bias,
        causal=causal,
        window=window,
        lengths=lengths,
        cross=cross,
    )

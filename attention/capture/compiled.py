"""Compiled functions, whose calls are seen though nothing of what they do is.

`torch.compile` asks before each call which stance holds (`torch._dynamo.eval_frame`, from 2.6 on);
that question is watched. torch._dynamo is not imported: without it nothing is compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ASKS = "_callback_from_stance"


def frames() -> Any:
    """The module that runs what is compiled, None where it is not loaded or asks for no stance."""
    loaded = sys.modules.get("torch._dynamo.eval_frame")
    return loaded if hasattr(loaded, ASKS) else None


@contextmanager
def watched(told: Callable[[str], None]) -> Iterator[None]:
    """While it lasts, `told` gets the name of each compiled function that is called."""
    module = frames()
    original = getattr(module, ASKS)

    def asks(callback: Any) -> Any:
        answer = original(callback)
        caller = sys._getframe(1)
        if callable(answer) and caller.f_code.co_name == "compile_wrapper":
            told(_name(caller))
        return answer

    setattr(module, ASKS, asks)
    try:
        yield
    finally:
        setattr(module, ASKS, original)


def _name(caller: Any) -> str:
    """The name of a function; flex_attention compiles a wrapper of its own where it is not."""
    around = caller.f_back
    if around is not None and around.f_code.co_name == "flex_attention":
        return "flex_attention"
    return str(getattr(caller.f_locals.get("fn"), "__name__", "a function"))

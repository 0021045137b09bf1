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


def runs_eagerly() -> bool:
    """True within `torch.compiler.set_stance("force_eager")`, which runs what is compiled as it is
    written."""
    module = frames()
    return module is not None and getattr(module, ASKS)(_name) is None


def path_of(name: str) -> str:
    """The name of a part, without the wrappers that `torch.compile` puts around modules."""
    return ".".join(part for part in name.split(".") if part != "_orig_mod")


@contextmanager
def watched(told: Callable[[str], None]) -> Iterator[None]:
    """While it lasts, `told` gets a reason for each compiled function that is called."""
    module = frames()
    original = getattr(module, ASKS)

    def asks(callback: Any) -> Any:
        answer = original(callback)
        caller = sys._getframe(1)
        if answer is not None and caller.f_code.co_name == "compile_wrapper":
            told(_reason(caller))
        return answer

    setattr(module, ASKS, asks)
    try:
        yield
    finally:
        setattr(module, ASKS, original)


def _reason(caller: Any) -> str:
    """Why a call is not seen into; flex_attention compiles a wrapper of its own where it is not."""
    around = caller.f_back
    if around is not None and around.f_code.co_name == "flex_attention":
        return "calls flex_attention, whose scores and masks are functions, which are not read"
    return f"calls {_name(caller.f_locals.get('fn'))} compiled, which is not seen into"


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", "a function"))

"""A model of transformers, its blocks run one by one, seen and changed by the hook that captures.

Each block runs with the arguments that the model's own forward pass gives it, which is asked for
them while no block runs.
"""

from __future__ import annotations

import functools
import itertools
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from attention.capture.calls import Call, Function
from attention.capture.kernels import Recurrent
from attention.capture.watching import Frame, Watch

HOOKED = threading.Lock()  # the hook stands in for functions that all threads share
KEPT = 8  # shapes of a batch whose arguments are kept
TRIED = 11  # pieces of the run that a model is tried with as it is opened
BLOCK = re.compile(r"^(?:(.*?)\.)?(\d+)\.")  # the outermost list that a module stands in

Takes = Callable[[str, Call, Function], Any]


class _Reached(Exception):
    """An attention function has been reached: no more is asked of the run."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call


class _Hook(Watch):
    """Calls of attention functions, given to `takes` with the name of their module."""

    reads_signs = False

    def __init__(self, takes: Takes) -> None:
        super().__init__()
        self.takes = takes

    def begins(self, root: nn.Module) -> bool:
        return True

    def ends(self, frame: Frame) -> None:
        pass

    def attends(self, name: str, call: Call | Recurrent, function: Function) -> Any:
        if isinstance(call, Recurrent):
            return self.quietly(function)
        return self.quietly(lambda: self.takes(name, call, function))


@dataclass
class _Arguments:
    """Arguments of one block beside its input, which is the first one or `hidden_states`."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    named: bool

    @classmethod
    def of(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor, _Arguments]:
        """A block's input, and its other arguments."""
        if args:
            return args[0], cls(args[1:], kwargs, False)
        rest = {name: value for name, value in kwargs.items() if name != "hidden_states"}
        return kwargs["hidden_states"], cls((), rest, True)

    def call(self, block: nn.Module, x: Tensor) -> Tensor:
        """Output of the block over another input."""
        named = {"hidden_states": x} if self.named else {}
        return _first(block(*([] if named else [x]), *self.args, **named, **self.kwargs))


def heads_of(made: Any, function: Function) -> Tensor:
    """Outputs of all heads, (entries, heads, queries, d_v), in what an attention function gave."""
    found: Tensor = made[0].transpose(1, 2) if function.kind is None else made
    return found


def _first(made: Any) -> Tensor:
    found: Tensor = made[0] if isinstance(made, tuple) else made
    return found


class _Instead(threading.local):
    """Stand-ins of one thread for a run of the model's own.

    stub: the input of each block and its arguments, noted where none is to run; leaves: the last
    block's output then; given: what the base gives instead of running.
    """

    stub: list[tuple[Tensor, _Arguments]] | None = None
    leaves: Tensor | None = None
    given: Tensor | None = None


class Network:
    """Blocks of a model of transformers, to be run one by one.

    whole: the model; filler: a piece that stands where any will do. Raises ValueError where its
    attention is not seen, or it is no chain of blocks with at most one attention each.
    """

    def __init__(self, whole: nn.Module, filler: int) -> None:
        self.whole, self.filler = whole.eval().requires_grad_(False), filler
        model: Any = whole
        self.base: nn.Module = whole if model.base_model is whole else model.get_decoder()
        self.instead = _Instead()
        self.kept = functools.lru_cache(KEPT)(self._arguments)
        ids = torch.full((1, TRIED), filler)
        seen: list[str] = []

        def takes(name: str, call: Call, function: Function) -> Any:
            queries = call.queries.shape[:3:2]
            if function.kind not in (None, scaled_dot_product_attention) or queries != (1, TRIED):
                raise ValueError(f"its attention {name} is called in a way that is not read")
            seen.append(name)
            return function()

        with HOOKED, torch.no_grad(), _Hook(takes).watching():
            self.plain = self.run_whole(ids)
        found = [BLOCK.match(name) for name in seen]
        lists = {one[1] or "" if one else None for one in found}
        places = [int(one[2]) for one in found if one]
        if len(lists) != 1 or None in lists or places != sorted({*places}):
            named = ", ".join(seen[:3]) or "none that is seen"
            raise ValueError(
                "it must be one list of blocks with at most one attention each, that runs once; "
                f"its attentions are {named}"
            )
        (name,) = lists
        blocks = self.base.get_submodule(name or "")
        assert isinstance(blocks, nn.ModuleList | nn.Sequential)
        self.blocks = [*blocks]
        # of each layer its blocks: one with attention, and those behind it that have none
        ends = [0, *places[1:], len(self.blocks)]
        self.parts, self.attending = [range(*pair) for pair in itertools.pairwise(ends)], places
        self.tuples = [False] * len(self.blocks)
        for at, block in enumerate(self.blocks):
            block.forward = functools.partial(self._block, at, block.forward)
        self.base.forward = functools.partial(self._base, self.base.forward)
        with torch.no_grad():
            self.run_whole(ids)  # tells in which form each block gives its output

    def run_whole(self, ids: Tensor, padding: Tensor | None = None) -> Any:
        """Outputs of the base over ids (batch, tokens) or (tokens,); padding: see `run`."""
        ids = ids if ids.dim() > 1 else ids[None]
        mask = {} if padding is None else {"attention_mask": padding.long()}
        return self.base(input_ids=ids, use_cache=False, return_dict=True, **mask)

    def _block(self, at: int, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """One block, as the model or we call it."""
        stub, leaves = self.instead.stub, self.instead.leaves
        if stub is None:
            made = forward(*args, **kwargs)
            self.tuples[at] = isinstance(made, tuple)
            return made
        x, others = _Arguments.of(args, kwargs)
        stub.append((x, others))
        if at == len(self.blocks) - 1 and leaves is not None:
            x = leaves
        return (x, None) if self.tuples[at] else x

    def _base(self, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        given = self.instead.given
        if given is None:
            return forward(*args, **kwargs)
        return replace(self.plain, last_hidden_state=given)

    @contextmanager
    def _set(self, **values: Any) -> Iterator[None]:
        vars(self.instead).update(values)
        try:
            yield
        finally:
            vars(self.instead).clear()

    def _entered(self, ids: Tensor, padding: Tensor | None = None) -> list[tuple[Tensor, Any]]:
        """Input of each block and its arguments, none of which runs."""
        stub: list[tuple[Tensor, Any]] = []
        with self._set(stub=stub), torch.no_grad():
            self.run_whole(ids, padding)
        return stub

    def _arguments(
        self, batch: int, tokens: int, padding: Tensor | None = None
    ) -> list[_Arguments]:
        """Arguments of each block for a batch of that shape. padding: bool (batch, tokens), True =
        a piece, None: there is none."""
        filler = torch.full((batch, tokens), self.filler)
        return [arguments for _, arguments in self._entered(filler, padding)]

    def embed(self, ids: Tensor) -> Tensor:
        """Input of the first block. ids (batch, tokens)."""
        return self._entered(ids)[0][0]

    def run(
        self,
        layer: int,
        x: Tensor,
        padding: Tensor | None = None,
        takes: Takes | None = None,
    ) -> Tensor:
        """Output of a layer over x (batch, tokens, d_model).

        takes: gets each call of an attention function, with its name, and returns what it does.
        """
        shape = x.shape[0], x.shape[1]
        arguments = self.kept(*shape) if padding is None else self._arguments(*shape, padding)
        for at in self.parts[layer]:
            if takes is not None and at == self.attending[layer]:
                with HOOKED, _Hook(takes).watching():
                    x = arguments[at].call(self.blocks[at], x)
            else:
                x = arguments[at].call(self.blocks[at], x)
        return x

    def call(self, layer: int, x: Tensor, padding: Tensor | None = None) -> Call:
        """Call of a layer's attention function over x (batch, tokens, d_model)."""

        def takes(name: str, call: Call, function: Function) -> NoReturn:
            raise _Reached(call)

        try:
            self.run(layer, x, padding, takes)
        except _Reached as reached:
            return reached.call
        raise ValueError("its attention function is not called")

    def final(self, x: Tensor) -> Tensor:
        """Output of the model, given that of its last block. (…, d_model)."""
        rows = x.reshape(-1, 1, x.shape[-1])
        with self._set(stub=[], leaves=rows):
            made = self.run_whole(torch.full(rows.shape[:2], self.filler)).last_hidden_state
        return made.reshape(x.shape)  # type: ignore[no-any-return]

    def scores(self, hidden: Tensor) -> Tensor:
        """Scores of the next piece, (…, d_model) -> (…, vocabulary)."""
        rows = hidden.reshape(-1, 1, hidden.shape[-1])
        with self._set(given=rows):
            filler = torch.full(rows.shape[:2], self.filler)
            made = self.whole(input_ids=filler, use_cache=False, return_dict=True).logits
        return made.reshape(*hidden.shape[:-1], -1)  # type: ignore[no-any-return]

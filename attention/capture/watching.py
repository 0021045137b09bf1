"""Modules as they run, and every call of an attention function within them, in one thread.

Both who keeps what such a call brings (`capturing`) and who changes what it gives are told of it by
a `Watch`: the function has not run yet, and runs when they say so.
"""

from __future__ import annotations

import functools
import re
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from attention.capture import compiled, functions, kernels, transformers_models
from attention.capture.calls import Call, Function
from attention.capture.kernels import Recurrent
from attention.capture.mixing import Signs

# classes of modules that mix tokens, but for parts of such: where nothing was seen, that is told
MIXES = re.compile(r"(?i:attention|attn|mamba|mixer|rwkv|retention|deltanet|hyena|recurrent)|SSM")
PART = re.compile(r"norm|embedding|rotary|dropout|mlp$", re.IGNORECASE)
OF_ANOTHER = ("key_value_states", "encoder_hidden_states", "cross_attention_states")
OTHERWISE = "computes attention otherwise than by a function that is seen, or none"
COMPILED = (
    "runs compiled; run the module itself, or within torch.compiler.set_stance('force_eager')"
)


@dataclass(slots=True)
class Frame:
    """A module that is running."""

    module: nn.Module
    arguments: dict[str, Any]
    seen: bool = False  # a call of an attention function, in it or in a module within
    near: bool = False  # such a call in it or in a module next within
    signs: Signs = field(default_factory=Signs)  # that it mixes, in it alone
    told: bool = False  # of a module within, but for plain layers of torch's
    left_out: dict[str, str] = field(default_factory=dict)  # in it or in a module within
    guessed: set[str] = field(default_factory=set)  # those of them that are told by their class
    calls: dict[str, tuple[Call, Tensor]] = field(default_factory=dict)  # and their outputs
    brought: dict[str, Any] = field(default_factory=dict)  # by modules next within


class Watch(ABC):
    """Modules as they run, and the calls of attention functions within them.

    reads_signs: if each function that runs is read for signs that its module mixes tokens.
    """

    reads_signs = True

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.stack: list[Frame] = []
        self.names: dict[int, tuple[nn.Module, dict[int, str]]] = {}
        self.roots: dict[int, nn.Module] = {}  # those that have run
        self.counts: Counter[str] = Counter()  # calls of each module in this forward pass
        self.silent = 0  # how many functions deep nothing is to be taken
        self.mode = functions.FunctionMode(self.meets, self.signs if self.reads_signs else None)
        self.patches = ExitStack()
        self.watched: set[str] = set()
        self.unwatched: Any = None  # `Module.__call__` as it was

    @abstractmethod
    def attends(self, name: str, call: Call | Recurrent, function: Function) -> Any:
        """Takes a call of the attention `name`, and returns what its function does."""

    @abstractmethod
    def begins(self, root: nn.Module) -> bool:
        """Takes the beginning of a forward pass; returns if it is to be watched."""

    @abstractmethod
    def ends(self, frame: Frame) -> None:
        """Takes the end of a forward pass that was watched."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        with self.patches, self.modules_watched(), self.mode.unnoticed(), self.mode:
            yield

    @contextmanager
    def modules_watched(self) -> Iterator[None]:
        """Each call of a module goes by `called`, as torch.fx has it when it traces."""
        original = self.unwatched = nn.Module.__call__

        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or threading.get_ident() != self.thread:
                return original(module, *args, **kwargs)
            return self.called(original, module, args, kwargs)

        nn.Module.__call__ = call  # type: ignore[method-assign]
        try:
            yield
        finally:
            nn.Module.__call__ = original  # type: ignore[method-assign]

    def called(
        self, original: Callable[..., Any], module: nn.Module, args: Any, kwargs: dict[str, Any]
    ) -> Any:
        if self.silent:
            return original(module, *args, **kwargs)
        if not self.stack and not self.enters(module):
            return self.aside(lambda: original(module, *args, **kwargs))
        frame = Frame(module, kwargs)
        self.stack.append(frame)
        try:
            if _compiled(module):
                frame.left_out[self.name_of(module)] = COMPILED
                return self.aside(lambda: original(module, *args, **kwargs))
            return original(module, *args, **kwargs)
        finally:
            self.leaves(frame)
            self.stack.pop()
            if not self.stack:
                self.ends(frame)

    def enters(self, root: nn.Module) -> bool:
        """A forward pass begins; if it is one that is watched."""
        if torch._C._current_graph_task_id() != -1:
            return False  # worked out again for a backward pass
        self.watch_loaded()
        self.watch_kernels(root)
        if id(root) not in self.names:
            self.names[id(root)] = root, paths_of(root)
        self.counts.clear()
        return self.begins(root)

    def watch_loaded(self) -> None:
        """Watches what may have been loaded by now."""
        if "transformers" not in self.watched and transformers_models.interface() is not None:
            self.patches.enter_context(transformers_models.watched(self.meets_module))
            self.watched.add("transformers")
        if "compiled" not in self.watched and compiled.frames() is not None:
            self.patches.enter_context(compiled.watched(self.runs_compiled))
            self.watched.add("compiled")

    def watch_kernels(self, root: nn.Module) -> None:
        """Watches the kernels of the modules in which parts of a model are written."""
        if id(root) in self.roots:
            return
        self.roots[id(root)] = root
        for module in {type(part).__module__ for part in root.modules()} - self.watched:
            if kernels.has_kernels(module):
                self.patches.enter_context(kernels.watched(module, self.meets_kernel))
                self.watched.add(module)

    def runs_compiled(self, reason: str) -> None:
        if (signs := self.signs()) is not None:
            signs.sure(reason)

    def leaves(self, frame: Frame) -> None:
        """A module has run: tells of it if it mixes tokens and nothing of it was kept."""
        kind = type(frame.module)
        mixes, is_part = _named(kind.__name__)
        if why := frame.signs.words:
            frame.left_out[self.name_of(frame.module)] = why
            frame.told |= not kind.__module__.startswith("torch.nn.")
        if frame.near and mixes:  # parts of what was kept
            for name in frame.guessed:
                del frame.left_out[name]
            frame.guessed.clear()
        elif mixes and not (frame.seen or frame.told or why or is_part):
            frame.left_out[self.name_of(frame.module)] = OTHERWISE
            frame.guessed.add(self.name_of(frame.module))
            frame.told = True
        if len(self.stack) > 1:
            around = self.stack[-2]
            around.seen |= frame.seen
            around.told |= frame.told
            around.left_out |= frame.left_out
            around.guessed |= frame.guessed

    def aside(self, function: Callable[[], Any]) -> Any:
        """Runs a function as if nothing were watched."""
        self.silent += 1
        watched, nn.Module.__call__ = nn.Module.__call__, self.unwatched  # type: ignore[method-assign]
        try:
            with self.mode.aside():
                return function()
        finally:
            nn.Module.__call__ = watched  # type: ignore[method-assign]
            self.silent -= 1

    def signs(self) -> Signs | None:
        """The signs of the module that runs; a softmax that is a module is one of that around."""
        if not self.stack or self.silent or threading.get_ident() != self.thread:
            return None
        alone = len(self.stack) > 1 and isinstance(self.stack[-1].module, nn.Softmax)
        return self.stack[-2 if alone else -1].signs

    def meets_module(self, module: nn.Module, said: Call | str, function: Function) -> Any:
        """A call that a model of transformers makes, and the function that it goes to."""
        if self.silent or threading.get_ident() != self.thread or torch.compiler.is_compiling():
            return function()
        if isinstance(said, str):
            for frame in self.stack[-1:]:
                frame.left_out[self.name_of(module)] = said
            return self.quietly(function)
        return self.meets(said, function, module)

    def meets_kernel(self, read: kernels.Read, function: Function) -> Any:
        """A call of a layer without a softmax. Convolutions of that layer are told beside it."""
        other = self.silent or threading.get_ident() != self.thread or not self.stack
        if other or torch.compiler.is_compiling():
            return function()
        said, frame = read(), self.stack[-1]
        if isinstance(said, str):
            frame.left_out[self.name_of(frame.module)] = said
            return self.quietly(function)
        if told := frame.signs.take_convolutions():
            said = replace(said, beside=f"{told}, {said.beside}")
        return self.meets(said, function)

    def meets(
        self, call: Call | Recurrent, function: Function, module: nn.Module | None = None
    ) -> Any:
        """A call of an attention function, by this module or by the one that is running."""
        if self.silent or threading.get_ident() != self.thread:
            return function()
        for frame in self.stack[-2:]:
            frame.near = True
        for frame in self.stack[-1:]:
            frame.seen = frame.signs.attends = True
            if isinstance(call, Call) and call.given is not None:
                frame.signs.take_mark()
            ran = frame.module
            module = module or (
                ran.self_attn if isinstance(ran, nn.TransformerEncoderLayer) else ran
            )
            other = any(frame.arguments.get(name) is not None for name in OF_ANOTHER)
            if other and isinstance(call, Call) and call.cross is None:
                call = replace(call, cross=True)
        name = self.name_of(module)
        self.counts[name] += 1
        if self.counts[name] > 1:
            name = f"{name}#{self.counts[name]}"
        return self.attends(name, call, function)

    def quietly(self, function: Callable[[], Any]) -> Any:
        """Runs an attention function: those that it calls are a part of it."""
        self.silent += 1
        try:
            return function()
        finally:
            self.silent -= 1

    def name_of(self, module: nn.Module | None) -> str:
        """The path of a module from the outermost one that is running, or its class."""
        if module is None:
            return "scaled_dot_product_attention"
        if self.stack:
            names = self.names[id(self.stack[0].module)][1]
            if names.get(id(module)):
                return names[id(module)]
        return type(module).__name__


@functools.cache
def _named(kind: str) -> tuple[bool, bool]:
    """True if a class is named as one that mixes tokens, and as a part of one."""
    return bool(MIXES.search(kind)), bool(PART.search(kind))


def paths_of(root: nn.Module) -> dict[int, str]:
    """The names of a model's modules, by their ids."""
    return {id(part): compiled.path_of(name) for name, part in root.named_modules()}


def _compiled(module: nn.Module) -> bool:
    is_wrapper = type(module).__name__ == "OptimizedModule"
    if not is_wrapper and getattr(module, "_compiled_call_impl", None) is None:
        return False
    return not compiled.runs_eagerly()

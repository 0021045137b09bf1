"""`capture`: keeps queries and keys of all that runs within it, and leaves the runs as they are."""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attention.capture import compiled, functions, transformers_models
from attention.capture.calls import Call, Masks
from attention.capture.mixing import UNSEEN, Signs
from attention.capture.recording import Recording
from attention.capture.report import Report, Row, report_of
from attention.capture.runs import Choice, NoContinuation, Run

# classes of modules that mix tokens, but for parts of such: where nothing was kept, that is told
MIXES = re.compile(r"(?i:attention|attn|mamba|mixer|rwkv|retention|deltanet|hyena|recurrent)|SSM")
PART = re.compile(r"norm|embedding|rotary|dropout", re.IGNORECASE)
OF_ANOTHER = ("key_value_states", "encoder_hidden_states", "cross_attention_states")
OTHERWISE = "computes attention otherwise than by a function that is seen, or none"
COMPILED = (
    "runs compiled; run the module itself, or within torch.compiler.set_stance('force_eager')"
)


class Captured(Recording):
    """Recording of what ran within `capture`: of the run, or of each of several in `runs`.

    left_out: modules of all runs that could not be kept, and why; files: those written `into`;
    several: sentences on why forward passes that belong together are several runs.
    """

    def __init__(self) -> None:
        self.runs: list[Recording] = []
        self.files: list[Path] = []
        self.left_out: dict[str, str] = {}
        self.several: list[str] = []
        self.rows: dict[tuple[str, str], Row] = {}

    def report(self) -> Report:
        """A table of every module that mixes tokens in all runs: kept, or left out and why."""
        unkept = report_of([Recording([], self.left_out)]).rows
        rows = self.rows | {(row.module, row.state): row for row in unkept}
        return Report(tuple(rows.values()), (*self.several, UNSEEN))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.one(), name)

    def one(self) -> Recording:
        """The only run. Raises ValueError where there are others or none."""
        if len(self.runs) != 1:
            raise ValueError(
                f"there must be one run, got {len(self.runs)}: choose one, as `run.runs[0]`, "
                "after the `with` block has ended"
            )
        return self.runs[0]


@dataclass
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


@contextmanager
def capture(
    *,
    layers: Collection[int | str] | None = None,
    heads: Sequence[int] | None = None,
    values: bool = False,
    every: int | None = None,
    into: str | Path | None = None,
    strict: bool = False,
) -> Iterator[Captured]:
    """Keeps the attention of every model that runs within the block, in this thread.

    layers: which attentions are kept, by their number in the order in which they run or by the name
    of their module; heads: which heads of each; None = all. values: if values are kept too. A run
    is a forward pass, with those that go on from its keys, as `generate` makes them. into: a folder
    in which each run is written as it ends, and let go of; every: only every so many forward
    passes of a model are kept, each as a run of its own, the first one among them. The models run
    as without, on their own kernels; modules of which nothing could be kept are in `left_out`, and
    a warning names them; `report()` is a table of all. strict: an error instead of the warning.
    Raises ValueError where heads or layers are asked for that are not there, of layers at the end.
    """
    if every is not None and every < 1:
        raise ValueError(f"every must be 1 or more, got {every}")
    watch = Watch(Choice(layers, heads, values), every, None if into is None else Path(into))
    with watch.watching():
        yield watch.captured
    watch.conclude(strict)


class Watch:
    """Modules as they run, and the calls of attention functions within them."""

    def __init__(self, choice: Choice, every: int | None, into: Path | None) -> None:
        self.choice, self.every, self.into = choice, every, into
        self.captured = Captured()
        self.thread = threading.get_ident()
        self.stack: list[Frame] = []
        self.run: Run | None = None
        self.root: nn.Module | None = None  # of the run
        self.names: dict[int, tuple[nn.Module, dict[int, str]]] = {}
        self.passes: Counter[int] = Counter()
        self.counts: Counter[str] = Counter()  # calls of each module in this forward pass
        self.decided = False  # which run this forward pass is of
        self.silent = 0  # how many functions deep nothing is to be taken
        self.seen = False  # any call at all
        self.masks = Masks()
        self.mode = functions.FunctionMode(self.take, self.signs)
        self.patches = ExitStack()
        self.watched: set[str] = set()
        self.there: dict[tuple[int, str], None] = {}  # attentions that ran
        self.unwatched: Any = None  # `Module.__call__` as it was

    @contextmanager
    def watching(self) -> Iterator[None]:
        with self.patches, self.modules_watched(), self.mode.unnoticed(), self.mode:
            try:
                yield
            finally:
                self.close()

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
        if not self.stack and not self.begins(module):
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

    def begins(self, root: nn.Module) -> bool:
        """A forward pass begins; if it is one that is kept."""
        if torch._C._current_graph_task_id() != -1:
            return False  # worked out again for a backward pass
        self.watch_loaded()
        number = self.passes[id(root)]
        self.passes[id(root)] += 1
        if id(root) not in self.names:
            self.names[id(root)] = root, {id(part): name for name, part in root.named_modules()}
        self.decided = False
        self.counts.clear()
        return self.every is None or number % self.every == 0

    def watch_loaded(self) -> None:
        """Watches what may have been loaded by now."""
        if "transformers" not in self.watched and transformers_models.interface() is not None:
            self.patches.enter_context(transformers_models.watched(self.take_and_run))
            self.watched.add("transformers")
        if "compiled" not in self.watched and compiled.frames() is not None:
            self.patches.enter_context(compiled.watched(self.runs_compiled))
            self.watched.add("compiled")

    def runs_compiled(self, function: str) -> None:
        if (signs := self.signs()) is not None:
            signs.sure(f"calls {function} compiled, which is not seen into")

    def leaves(self, frame: Frame) -> None:
        """A module has run: tells of it if it mixes tokens and nothing of it was kept."""
        kind = type(frame.module)
        mixes = MIXES.search(kind.__name__)
        if why := frame.signs.words:
            frame.left_out[self.name_of(frame.module)] = why
            frame.told |= not kind.__module__.startswith("torch.nn.")
        if frame.near and mixes:  # parts of what was kept
            for name in frame.guessed:
                del frame.left_out[name]
            frame.guessed.clear()
        elif mixes and not (frame.seen or frame.told or why or PART.search(kind.__name__)):
            frame.left_out[self.name_of(frame.module)] = OTHERWISE
            frame.guessed.add(self.name_of(frame.module))
            frame.told = True
        if len(self.stack) > 1:
            around = self.stack[-2]
            around.seen |= frame.seen
            around.told |= frame.told
            around.left_out |= frame.left_out
            around.guessed |= frame.guessed

    def ends(self, frame: Frame) -> None:
        """A forward pass has ended."""
        self.masks.clear()
        if self.run is not None and self.decided:
            self.run.left_out |= frame.left_out
        self.captured.left_out |= frame.left_out
        self.decided = False
        if self.every is not None:
            self.close()

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

    def take_and_run(self, module: nn.Module, said: Call | str, function: Callable[[], Any]) -> Any:
        """A call that a model of transformers makes, and the function that it goes to."""
        if self.silent or threading.get_ident() != self.thread or torch.compiler.is_compiling():
            return function()
        if isinstance(said, str):
            for frame in self.stack[-1:]:
                frame.left_out[self.name_of(module)] = said
        else:
            self.take(said, module)
        self.silent += 1
        try:
            return function()
        finally:
            self.silent -= 1

    def take(self, call: Call, module: nn.Module | None = None) -> None:
        """A call of an attention function, by this module or by the one that is running."""
        if self.silent or threading.get_ident() != self.thread:
            return
        self.seen = True
        for frame in self.stack[-2:]:
            frame.near = True
        for frame in self.stack[-1:]:
            frame.seen = frame.signs.attends = True
            ran = frame.module
            module = module or (
                ran.self_attn if isinstance(ran, nn.TransformerEncoderLayer) else ran
            )
            other = any(frame.arguments.get(name) is not None for name in OF_ANOTHER)
            if other and call.cross is None:
                call = replace(call, cross=True)
        name = self.name_of(module)
        self.counts[name] += 1
        if self.counts[name] > 1:
            name = f"{name}#{self.counts[name]}"
        run = self.run_of(name, call)
        try:
            run.add(name, call)
        except NoContinuation:
            del run.growing[name]
            for frame in self.stack[-1:]:
                frame.left_out[name] = "has other keys than in the calls before"

    def run_of(self, name: str, call: Call) -> Run:
        """The run that this forward pass is of: a new one, or the one before which it goes on."""
        if self.run is not None and self.decided:
            return self.run
        root = self.stack[0].module if self.stack else None
        if self.run is not None and self.every is None:
            if root is self.root:
                if root is None or self.run.goes_on(name, call):
                    self.decided = True
                    return self.run
            elif root is not None and self.root is not None:
                prefix = self.names[id(root)][1].get(id(self.root))
                if prefix and not name.startswith(f"{prefix}."):
                    self.run.within(prefix)
                    self.root, self.decided = root, True
                    self.run.model = type(root).__name__
                    return self.run
            why = self.run.begun_anew(name, call) if root is self.root else None
            if why and why not in self.captured.several:
                self.captured.several.append(why)
        self.close()
        step = max(0, self.passes[id(root)] - 1)
        self.run = Run(self.choice, self.masks, type(root).__name__ if root else "", step)
        self.root, self.decided = root, True
        return self.run

    def name_of(self, module: nn.Module | None) -> str:
        """The path of a module from the outermost one that is running, or its class."""
        if module is None:
            return "scaled_dot_product_attention"
        if self.stack:
            names = self.names[id(self.stack[0].module)][1]
            if names.get(id(module)):
                return names[id(module)]
        return type(module).__name__

    def close(self) -> None:
        """The run under way has ended."""
        run, self.run = self.run, None
        self.masks.clear()
        if run is None:
            return
        self.there |= dict.fromkeys((number, name) for name, number in run.numbers.items())
        recording = run.recording()
        rows = report_of([recording]).rows
        self.captured.rows |= {
            (row.module, row.state): row for row in rows if row.state != "left out"
        }
        if not recording.attentions:
            return
        if self.into is None:
            self.captured.runs.append(recording)
            return
        self.into.mkdir(parents=True, exist_ok=True)
        name = f"{run.step:08d}-{run.model or 'run'}"
        same = sum(path.name.startswith(f"{name}.") for path in self.captured.files)
        path = self.into / f"{name}{f'.{same + 1}' if same else ''}.safetensors"
        recording.save(path)
        self.captured.files.append(path)

    def conclude(self, strict: bool) -> None:
        """Tells what was not kept, and why there are several runs, once all has run."""
        missing = self.choice.missing(self.there)
        if missing and self.there:
            there = ", ".join(f"{number} ({name})" for number, name in sorted(self.there))
            raise ValueError(f"layers must be among those that ran, {there}, got {missing}")
        left_out = self.captured.left_out
        words = "" if self.seen else "no attention was seen: did a model run in this block?"
        if left_out:
            told = "; ".join(f"{name} {why}" for name, why in [*left_out.items()][:5])
            more = f"; and {len(left_out) - 5} more" if len(left_out) > 5 else ""
            words = f"not kept: {told}{more}"
        if strict and words:
            raise ValueError(words)
        for told in (*filter(None, [words]), *self.captured.several):
            warnings.warn(told, stacklevel=4)


def _compiled(module: nn.Module) -> bool:
    return type(module).__name__ == "OptimizedModule" or (
        getattr(module, "_compiled_call_impl", None) is not None
    )

"""`capture`: keeps queries and keys of all that runs within it, and leaves the runs as they are."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import nn

from attention.capture import handing
from attention.capture.calls import Call, Function, Masks
from attention.capture.growing import GrowingRecurrence, NoContinuation
from attention.capture.kernels import Recurrent
from attention.capture.mixing import UNSEEN
from attention.capture.recording import Recording, report_of
from attention.capture.report import Report, Row
from attention.capture.runs import OTHER_KEYS, Choice, Run
from attention.capture.watching import Frame, Watch


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
        self.is_open, self.has_seen = True, False

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
        """The only run. Raises ValueError where there are others or none, and says why."""
        if len(self.runs) == 1:
            return self.runs[0]
        how = "choose one, as `run.runs[0]`"
        if not self.runs:
            how = "it is there after the `with` block has ended" if self.is_open else self.why()
        if self.files:
            how = "`run.files` has what was written, for Recording.open"
        raise ValueError(f"there must be one run, got {len(self.runs)}: {how}")

    def why(self) -> str:
        """Words on what was left out and why, or on nothing having run; "" where all was kept."""
        told = "; ".join(f"{name} {why}" for name, why in [*self.left_out.items()][:5])
        more = f"; and {len(self.left_out) - 5} more" if len(self.left_out) > 5 else ""
        nothing = "" if self.has_seen else "no attention was seen: did a model run in this block?"
        return f"not kept: {told}{more}" if told else nothing


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
    watch = Recorder(Choice(layers, heads, values), every, None if into is None else Path(into))
    with watch.watching():
        yield watch.captured
    watch.conclude(strict)


class Recorder(Watch):
    """Calls of attention functions, kept as runs."""

    def __init__(self, choice: Choice, every: int | None, into: Path | None) -> None:
        super().__init__()
        self.choice, self.every, self.into = choice, every, into
        self.captured = Captured()
        self.run: Run | None = None
        self.root: nn.Module | None = None  # of the run
        self.passes: Counter[int] = Counter()
        self.decided = False  # which run this forward pass is of
        self.masks = Masks()
        self.there: dict[tuple[int, str], None] = {}  # attentions that ran

    @contextmanager
    def watching(self) -> Iterator[None]:
        with super().watching():
            try:
                yield
            finally:
                self.close()

    def begins(self, root: nn.Module) -> bool:
        """A forward pass begins; if it is one that is kept."""
        number = self.passes[id(root)]
        self.passes[id(root)] += 1
        self.decided = False
        return self.every is None or number % self.every == 0

    def ends(self, frame: Frame) -> None:
        """A forward pass has ended."""
        self.masks.clear()
        if self.run is not None and self.decided:
            self.run.left_out |= frame.left_out
        self.captured.left_out |= frame.left_out
        self.decided = False
        if self.every is not None:
            self.close()

    def called(self, original: Any, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> Any:
        """A call of a module, of which one that attends may tell how its heads are handed on."""
        made = super().called(original, module, args, kwargs)
        if self.stack and not self.silent:
            frame, name = self.stack[-1], self.name_of(module).rpartition(".")[2]
            brought = handing.brings(frame.module, name, args, made)
            if brought is not None:
                frame.brought.setdefault(name, brought)
        return made

    def leaves(self, frame: Frame) -> None:
        """A module has run: keeps how its heads were handed on."""
        super().leaves(frame)
        handed = handing.read(frame.module, [*frame.calls.values()], frame.brought)
        if handed is not None and self.run is not None:
            self.run.hand(next(iter(frame.calls)), handed)

    def attends(self, name: str, call: Call | Recurrent, function: Function) -> Any:
        """Keeps a call, which runs as it would have."""
        self.captured.has_seen = True
        run = self.run_of(name, call)
        try:
            run.add(name, call)
        except NoContinuation as error:
            del run.growing[name]
            for frame in self.stack[-1:]:
                frame.left_out[name] = str(error)
        returned = self.quietly(function)
        known = run.growing.get(name)
        if isinstance(call, Recurrent) and isinstance(known, GrowingRecurrence):
            known.leaves(call.after(returned))
        output = handing.output_of(function, returned)
        if isinstance(call, Call) and self.stack and output is not None:
            self.stack[-1].calls[name] = call, output.detach()
        return returned

    def run_of(self, name: str, call: Call | Recurrent) -> Run:
        """The run that this forward pass is of: a new one, or the one before which it goes on."""
        if self.run is not None and self.decided:
            return self.run
        root = self.stack[0].module if self.stack else None
        if self.run is not None and self.every is None:
            if root is self.root:
                if root is None or self.run.goes_on(name, call):
                    return self._of_the_same_run()
                if self.run.is_within(name, call):
                    self.run.again()
                    return self._of_the_same_run()
            elif root is not None and self.root is not None:
                prefix = self.names[id(root)][1].get(id(self.root))
                if prefix and not name.startswith(f"{prefix}."):
                    self.run.within(prefix)
                    self.root, self.run.model = root, type(root).__name__
                    return self._of_the_same_run()
            if root is self.root and self.run.has_other_keys(name, call):
                self.captured.several = [OTHER_KEYS]
        self.close()
        step = max(0, self.passes[id(root)] - 1)
        self.run = Run(self.choice, self.masks, type(root).__name__ if root else "", step)
        self.root, self.decided = root, True
        return self.run

    def _of_the_same_run(self) -> Run:
        """This forward pass is of the run under way."""
        assert self.run is not None
        self.decided = True
        self.run.passes += 1
        return self.run

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
        self.captured.is_open = False
        missing = self.choice.missing(self.there)
        if missing and self.there:
            there = ", ".join(f"{number} ({name})" for number, name in sorted(self.there))
            raise ValueError(f"layers must be among those that ran, {there}, got {missing}")
        words = self.captured.why()
        if strict and words:
            raise ValueError(words)
        for told in (*filter(None, [words]), *self.captured.several):
            warnings.warn(told, stacklevel=4)

"""Any model with an input and an answer, changed in batches that share what is before the change.

A block whose input is that of the plain run in all of a batch gives what it gave there, and is not
run again; where a model has no such blocks, all of it runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attention.capture.calls import Call
from attention.changing.answers import Answer, metric_of
from attention.changing.change import Change
from attention.changing.hooked import Edit, Met, changed
from attention.changing.known import MAX_PIECES_AT_ONCE, Progress
from attention.changing.returned import Returned
from attention.core.arguments import must_be
from attention.trained.models import Model

USUAL = {"use_cache": False, "return_dict": True}


def read(model: nn.Module | Model, inputs: Any, tokenizer: Any) -> Any:
    """Inputs as a model takes them: of one of PyTorch a text as its tokenizer reads it. Raises
    ValueError for a text without one."""
    if isinstance(model, Model) or not isinstance(inputs, str):
        return inputs
    if tokenizer is None:
        raise ValueError(f"a text needs its tokenizer (tokenizer=…), got {inputs!r:.60}")
    return tokenizer(inputs, return_tensors="pt")


def given_to(
    model: nn.Module, inputs: Any, last: bool = False
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a model: of a mapping its items, of a tensor or a tuple itself.

    last: of the last token alone, where the model can keep to it.
    """
    if isinstance(inputs, Mapping):
        named = {name: inputs[name] for name in inputs}
        knows = inspect.signature(model.forward).parameters
        usual = USUAL | ({"logits_to_keep": 1} if last else {})
        return (), named | {name: to for name, to in usual.items() if name in knows}
    must_be("inputs", inputs, Mapping, tuple, Tensor, how="as a tokenizer gives them")
    return (inputs if isinstance(inputs, tuple) else (inputs,)), {}


def must_be_at_rest(model: nn.Module) -> None:
    """Raise ValueError where two runs of a model would differ by the dropout that they draw."""
    if model.training:
        raise ValueError(
            "the model must not draw dropout at random, got one in training: call model.eval()"
        )


def repeated(inputs: Any, times: int) -> Any:
    """Inputs so many times along the batch, their first axis."""
    if isinstance(inputs, Tensor):
        return inputs.repeat(times, *(1 for _ in inputs.shape[1:])) if inputs.dim() > 1 else inputs
    if isinstance(inputs, tuple):
        return tuple(repeated(each, times) for each in inputs)
    if isinstance(inputs, Mapping):
        return {name: repeated(each, times) for name, each in inputs.items()}
    if inputs is None or isinstance(inputs, bool | int | float | str):
        return inputs
    raise ValueError(f"inputs must be tensors, got {type(inputs).__name__}, which is in no batch")


def blocks_of(model: nn.Module) -> dict[int, str]:
    """Outermost modules that stand in a list, by id: their names."""
    found: dict[int, str] = {}
    for name, part in model.named_modules():
        if isinstance(part, nn.ModuleList | nn.Sequential):
            inside = any(name.startswith(f"{block}.") for block in found.values())
            if not inside:
                prefix = f"{name}." if name else ""
                found |= {id(block): f"{prefix}{key}" for key, block in part.named_children()}
    return found


@contextmanager
def told_of_blocks(
    model: nn.Module, told: Callable[[nn.Module, Callable[..., Any], Any, Any], Any]
) -> Iterator[None]:
    """While it lasts, `told` gets each call of a block and returns what it gives."""
    parts = dict(model.named_modules())
    blocks = [parts[name] for name in blocks_of(model).values()]
    before = [block.__dict__.get("forward") for block in blocks]
    try:
        for block in blocks:
            block.forward = _around(block, block.forward, told)
        yield
    finally:
        for block, forward in zip(blocks, before, strict=True):
            if forward is None:
                block.__dict__.pop("forward", None)
            else:
                block.forward = forward


def _around(block: nn.Module, forward: Any, told: Callable[..., Any]) -> Callable[..., Any]:
    def runs(*args: Any, **kwargs: Any) -> Any:
        return told(block, forward, args, kwargs)

    return runs


class Hooked:
    """A model of PyTorch with an input and an answer, see `experiment.Experiment`.

    inputs, answer, tokenizer: see `effects`; beside: changes that are made in all runs. Raises
    ValueError where the model is training, or no attention of it is seen.
    """

    @torch.no_grad()
    def __init__(
        self,
        model: nn.Module,
        inputs: Any,
        answer: Answer,
        tokenizer: Any = None,
        beside: Sequence[Change] = (),
    ) -> None:
        must_be_at_rest(model)
        self.model, self.inputs, self.answer, self.tokenizer = model, inputs, answer, tokenizer
        self._beside = beside
        self._metric, self._last = (
            metric_of(answer, inputs, tokenizer),
            ends_together(inputs, answer),
        )
        self._heads: dict[str, int] = {}  # of each attention by name
        self._entries: dict[str, int] = {}
        self._tokens = 1  # of all entries
        # by the id of a block, what went into it and came out, None where it ran more than once
        self._blocks: dict[int, tuple[Tensor, Any]] = {}
        args, kwargs = given_to(model, inputs, self._last)
        with (
            told_of_blocks(model, self._keep),
            changed(model, [*map(Edit, beside)]) as changer,
            changer.telling(self._meets),
        ):
            outputs = model(*args, **kwargs)
        self._numbers = dict(changer.numbers)
        if not self._heads:
            changer.check([Edit(Change(0))])
        self.before = self._metric(outputs).float().mean().cpu()
        self.counts = {self._numbers[name]: heads for name, heads in self._heads.items()}

    def _meets(self, met: Met, call: Call, returned: Returned) -> None:
        self._heads[met.name], self._entries[met.name] = call.queries.shape[1], len(call.queries)
        self._tokens = max(self._tokens, call.n_queries * len(call.queries))

    def _keep(self, module: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        """Runs a block, and keeps what went in and came out."""
        output = forward(*args, **kwargs)
        x = args[0] if args else kwargs.get("hidden_states")
        first = output[0] if isinstance(output, tuple) and output else output
        plain = isinstance(output, Tensor) or (
            isinstance(output, tuple) and all(each is None for each in output[1:])
        )
        if plain and isinstance(x, Tensor) and isinstance(first, Tensor) and x.shape == first.shape:
            again = id(module) in self._blocks
            self._blocks[id(module)] = (x.new_full((0,), 0), None) if again else (x, output)
        return output

    def beside(self, some: Sequence[Change]) -> Hooked:
        """This experiment with these changes in all runs."""
        several = [*self._beside, *some]
        if not some:
            return self
        return Hooked(self.model, self.inputs, self.answer, self.tokenizer, several)

    @torch.no_grad()
    def after(
        self, several: Sequence[Sequence[Change]], progress: Progress | None = None
    ) -> Tensor:
        """The answer of each of some changed runs, the mean over the entries. (several,).

        Raises ValueError where they cannot go as one batch.
        """
        at_once = max(1, MAX_PIECES_AT_ONCE // self._tokens)
        answers = []
        for begin in range(0, len(several), at_once):
            some = several[begin : begin + at_once]
            lanes = [
                Edit(change, (lane, len(some)))
                for lane, of_lane in enumerate(some)
                for change in of_lane
            ]
            outputs = self._batch(lanes, len(some))
            answers.append(self._metric(outputs).unflatten(0, (len(some), -1)).mean(-1))
            if progress is not None:
                progress(begin + len(some), len(several))
        return torch.cat(answers)

    def _batch(self, lanes: Sequence[Edit], count: int) -> Any:
        """Outputs of a batch of so many runs."""
        first = min(self._number_of(edit.change) for edit in lanes)
        later = [name for name, number in self._numbers.items() if number >= first]
        parts = {id(part): name for name, part in self.model.named_modules()}
        same = [True]  # all runs are still the plain one

        def block(module: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
            before, within = self._blocks.get(id(module)), f"{parts[id(module)]}."
            now = args[0] if args else kwargs.get("hidden_states")
            same[0] &= not any(name.startswith(within) for name in later)
            if before is None or before[1] is None or not isinstance(now, Tensor):
                same[0] = False
            elif same[0] and len(now) == count * len(before[0]):
                x, output = before
                if torch.equal(now[: len(x)], x):
                    tensor = output[0] if isinstance(output, tuple) else output
                    whole = tensor.repeat(count, *(1 for _ in tensor.shape[1:]))
                    return (whole, *output[1:]) if isinstance(output, tuple) else whole
            return forward(*args, **kwargs)

        def meets(met: Met, call: Call, returned: Returned) -> None:
            before = self._entries.get(met.name, 0)
            if len(call.queries) != count * before:
                raise ValueError(
                    f"the batch must be the first axis of the inputs: {met.name} had {before} "
                    f"entries, and {len(call.queries)} with {count} runs"
                )

        args, kwargs = given_to(self.model, repeated(self.inputs, count), self._last)
        beside = [change for change in self._beside if self._number_of(change) >= first]
        edits = [*map(Edit, beside), *lanes]
        with told_of_blocks(self.model, block), changed(self.model, edits) as changer:
            changer.numbers |= self._numbers
            with changer.telling(meets):
                outputs = self.model(*args, **kwargs)
            changer.conclude(lanes)
        return outputs

    def _number_of(self, change: Change) -> int:
        """The number of the layer that is changed; the first where none has its name."""
        return self._numbers.get(change.layer, 0) if isinstance(change.layer, str) else change.layer


def ends_together(inputs: Any, answer: Answer) -> bool:
    """True where an answer is that of the last position, at which all entries end."""
    mask = inputs.get("attention_mask") if hasattr(inputs, "get") else None
    at_end = not isinstance(mask, Tensor) or bool((mask[..., -1] != 0).all())
    return at_end and not callable(answer)

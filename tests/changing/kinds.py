"""Models of every kind whose heads can be changed, each with two inputs and an answer."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from attention.capture.capturing import capture
from attention.changing.change import changes
from attention.changing.hooked import change
from attention.changing.known import hidden
from attention.trained.checkpoints import load_folder
from attention.trained.models import About, Model
from tests.capture.families import TEXT, writer
from tests.capture.making import OwnAttention, inputs, model
from tests.trained.making import write_checkpoint
from tests.trained.run_by_transformers import write

TINY = About("tiny", "Tiny", "nobody")


class Kind(NamedTuple):
    """A model with two inputs of as many tokens.

    answer: as it is asked; number: the same of the model's outputs; recorded: the other run, as
    heads are set to it; texts: further inputs, where they have a loss.
    """

    model: Any
    inputs: Any
    other: Any
    answer: Any
    number: Callable[[Any], Tensor]
    recorded: Any
    texts: Any = ()

    @property
    def known(self) -> bool:
        return isinstance(self.model, Model)

    @torch.no_grad()
    def without(self, off: Collection[Any], to: Any = "zero", **how: Any) -> Any:
        """The answer with heads changed, of a run of its own."""
        given = self.inputs
        if self.known:
            return self.number(hidden(self.model, given, [changes(off, to, **how)])[0])
        with change(self.model, off=off, to=to, **how):
            return self.number(
                self.model(**given) if isinstance(given, dict) else self.model(given)
            )


def summed(outputs: Tensor) -> Tensor:
    return outputs.sum((1, 2))


def known(folder: Path, made: bool) -> Kind:
    """A tiny model whose layers are known, or one that transformers runs."""
    if made:
        write_checkpoint(folder, "gpt2")
    else:
        write(folder, "gpt_neox")
    one: Any = load_folder(folder, TINY)
    run, other = one.run("the cat sat on the mat"), one.run("the mat sat on the cat")
    word = int(one.scores(run.hidden[-1]).argmax())
    return Kind(
        *(one, run, other, word),
        lambda states: one.scores(states[-1]).softmax(-1)[word],
        other,
        ("the cat sat", "a mat on the cat"),
    )


def of_transformers() -> Kind:
    one, ids = writer("Llama"), TEXT[:1]
    given, other = {"input_ids": ids}, {"input_ids": ids.flip(1)}
    with torch.no_grad():
        word = int(one(**given).logits[0, -1].argmax())
    with torch.no_grad(), capture(values=True) as recorded:
        one(**other)
    texts = [{"input_ids": ids[:, at : at + 5]} for at in range(3)]
    return Kind(
        *(one, given, other, word),
        lambda outputs: outputs.logits[0, -1].softmax(-1)[word],
        recorded.one(),
        texts,
    )


def own_module() -> Kind:
    one = model(OwnAttention(is_causal=True), OwnAttention(), OwnAttention())
    given, other = inputs(), inputs(seed=5)
    with torch.no_grad(), capture(values=True) as recorded:
        one(other)
    return Kind(one, given, other, summed, lambda y: summed(y).mean(), recorded.one())


KINDS: dict[str, Callable[[Path], Kind]] = {
    "known layers": functools.partial(known, made=True),
    "blocks that transformers runs": functools.partial(known, made=False),
    "a model of transformers": lambda folder: of_transformers(),
    "an own module": lambda folder: own_module(),
}


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Kind]:
    """A kind by its name; each is made once."""
    return functools.cache(lambda name: KINDS[name](tmp_path_factory.mktemp("kind")))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, kinds: Callable[[str], Kind]) -> Kind:
    return kinds(request.param)

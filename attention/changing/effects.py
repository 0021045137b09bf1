"""Effects of each head on a model's answer, means of heads, and runs with heads of another one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from attention.capture.calls import Call
from attention.capture.recording import Recording
from attention.changing.answers import Answer, loss_of, loss_of_tokens
from attention.changing.batches import given_to, read
from attention.changing.change import (
    CORPUS,
    PARTS,
    PATH,
    TEXT,
    ZERO,
    Change,
    Chosen,
    Head,
    changes,
    check_part,
    part_of,
)
from attention.changing.corpus import measured_models, on_corpus
from attention.changing.experiment import Experiment, experiment
from attention.changing.explicit import keys_of
from attention.changing.hooked import Met, change, changed
from attention.changing.known import Known, Progress, run_of
from attention.changing.returned import Returned
from attention.core.arguments import must_be, must_be_several
from attention.core.printing import listed, shapes
from attention.trained.models import Model, Run

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Effects:
    """An answer as it is, and the same for each head of each layer with that head changed.

    before: of the run as it is, (…); after (layers, heads, …); of several texts both have an axis
    more for these, before all others of an answer; to: the way, see `way_of`; layers: their
    numbers.
    """

    before: Tensor
    after: Tensor
    to: str
    layers: Sequence[int]

    @property
    def change(self) -> Tensor:
        """By how much the change moves the answer. (layers, heads, …)."""
        return self.after - self.before

    def __repr__(self) -> str:
        return f"{shapes(self)[:-1]}, change={tuple(self.change.shape)})"

    def strongest(self, count: int) -> list[Head]:
        """So many (layer, head) whose change moves an answer of one number most, in order; of
        several texts the mean change."""
        change = self.change if self.change.dim() == 2 else self.change.flatten(2).mean(2)
        order = change.flatten().abs().argsort(descending=True, stable=True)
        return [divmod(at, self.after.shape[1]) for at in order[:count].tolist()]

    def frame(self) -> DataFrame:
        """A row for each text, layer and head of an answer of one number: `text`, `layer`, `head`,
        `before`, `after`, `change`, and the way, `to`. Raises ValueError for other answers."""
        import pandas

        if self.before.dim() > 1:
            raise ValueError(f"a frame is of one number a text, got {tuple(self.before.shape)}")
        layers, heads = self.after.shape[:2]
        before = self.before.reshape(-1).repeat_interleave(layers * heads)
        after = self.after.reshape(layers, heads, -1).permute(2, 0, 1).flatten()
        columns = {"before": before, "after": after, "change": after - before}
        every = range(self.before.numel()), self.layers, range(heads)
        index = pandas.MultiIndex.from_product(every, names=["text", "layer", "head"])
        numbers = {name: each.cpu().numpy() for name, each in columns.items()}
        return pandas.DataFrame(numbers, index).reset_index().assign(to=self.to)


@torch.no_grad()
def effects(
    model: nn.Module | Model,
    inputs: Any,
    answer: Answer | list[Answer],
    *,
    to: Any = None,
    part: str = "output",
    positions: Chosen = None,
    layers: Sequence[int] | None = None,
    off: Collection[Head] = (),
    tokenizer: Any = None,
    progress: Progress | None = None,
) -> Effects:
    """The effect of every head on an answer: `before`, and `after` with each one changed alone.

    inputs: what the model takes, batch first, or a text for its `tokenizer`; of this project's
    models a text or a run; or a list of these; answer: an id or a word, its probability at the last
    token; two of them, the difference of their logits; or a function of the outputs that gives
    (entries,), of this project's models one of the last hidden states. Of others both are means
    over the entries. Of a list of inputs one answer, or a list of one for each. to: see `Change`,
    or "corpus", the mean over packaged sentences: usual of packaged models, of others `to` must be
    named; "text" is the mean of each text by itself; part, positions: see `Change`; layers: which,
    None = all; off: heads changed in `before` already, and in all runs. Returns `before` (…),
    `after` and `change` (layers, heads, …), of a list (texts, …) and (layers, heads, texts, …).
    Runs go as batches, from the first changed layer on where the model allows it. With heads set to
    zero or a mean it is ablation (Michel et al. 2019), to another run activation patching (Vig et
    al. 2020). Raises ValueError where layers have different numbers of heads, `to` is not named,
    there are not as many answers as texts, or the model is training.
    """
    if isinstance(inputs, list):
        answers = answer if isinstance(answer, list) else [answer] * len(inputs)
        if not inputs or len(answers) != len(inputs):
            raise ValueError(f"there must be one answer for each text, got {len(answers)} answers")
        how: Any = {"to": to, "part": part, "positions": positions, "layers": layers, "off": off}
        every = []
        for each, its in zip(inputs, answers, strict=True):
            every.append(effects(model, each, its, tokenizer=tokenizer, **how))
            if progress is not None:
                progress(len(every), len(inputs))
        whole = torch.stack([one.before for one in every])
        of_heads = torch.stack([one.after for one in every], 2)
        return replace(every[0], before=whole, after=of_heads)
    if isinstance(answer, list):
        raise ValueError("several answers are of a list of inputs, got one input")
    inputs = read(model, inputs, tokenizer)
    asked = experiment(model, inputs, answer, tokenizer)
    chosen = sorted(asked.counts) if layers is None else [*layers]
    if missing := [layer for layer in chosen if layer not in asked.counts]:
        raise ValueError(f"layers must be among {len(asked.counts)} that ran, got {missing}")
    if len({asked.counts[layer] for layer in chosen}) != 1:
        counts = {layer: asked.counts[layer] for layer in chosen}
        raise ValueError(f"layers must have as many heads, or be chosen by layers=…, got {counts}")
    way, to = way_of(to), replacement(model, inputs, to, part)
    if off:
        asked = asked.beside(changes(off, to, part, positions))
    several = [
        changes([(layer, head)], to, part, positions)
        for layer in chosen
        for head in range(asked.counts[layer])
    ]
    after = asked.after(several, progress)
    return Effects(asked.before, after.unflatten(0, (len(chosen), -1)), way, chosen)


def replacement(model: nn.Module | Model, inputs: Any, to: Any, part: str = "output") -> Any:
    """Replacement of heads: "corpus" and None become the packaged means of a model, "text" those
    over these inputs. Raises ValueError where there are none."""
    check_part(part)
    if not (to is None or isinstance(to, str)) or to == ZERO:
        return to
    if to == TEXT:
        return means(model, [inputs], part)
    there = isinstance(model, Model) and part == "output" and on_corpus(model.about.name)
    if not there or to not in (None, CORPUS):
        of = listed(measured_models())
        raise ValueError(
            f'to must be "{ZERO}", "{TEXT}", means of attention.means(model, texts), a number, a '
            f'tensor, another run, or "{CORPUS}" of heads of {of}, got {to!r}'
        )
    return there.means


def way_of(to: Any) -> str:
    """The way to set heads in a word: "corpus", "text", "zero", "means", "another run", a number or
    "a tensor"."""
    if isinstance(to, str):
        return to
    if to is None:
        return CORPUS
    if isinstance(to, Run | Recording):
        return "another run"
    if isinstance(to, Sequence):
        return "means"
    return "a tensor" if isinstance(to, Tensor | Mapping) else f"{to:g}"


@torch.no_grad()
def losses_after(
    model: nn.Module | Model,
    several: Sequence[Any],
    runs: Sequence[Sequence[Change]],
    progress: Progress | None = None,
) -> Tensor:
    """By how much the loss grows in each changed run, on each of some inputs. (several, runs).

    several: texts, or inputs as the model takes them; the loss: see `answers.loss_of`. Texts of one
    piece are passed over. Raises ValueError without longer ones.
    """
    growths = []
    for done, inputs in enumerate(several, 1):
        asked: Experiment | None
        if isinstance(model, Model):
            run = run_of(model, inputs)
            long = len(run.inputs[-1].pieces.ids) > 1
            asked = Known(model, run, loss_of(model, run)) if long else None
        else:
            asked = experiment(model, inputs, loss_of_tokens(inputs))
        if asked is not None:
            growths.append(asked.after(runs) - asked.before)
        if progress is not None:
            progress(done, len(several))
    if not growths:
        raise ValueError("a loss needs sentences of more than one piece")
    return torch.stack(growths)


@torch.no_grad()
def means(model: nn.Module | Model, several: Sequence[Any], part: str = "output") -> list[Tensor]:
    """The mean of a part over the tokens of some inputs. Of each layer (heads, 1, width), float32,
    of the residual path of this project's models (1, d_model).

    several: inputs as the model takes them, of this project's models texts or runs; padding and the
    first token of each text, which often takes a role of its own (Xiao et al. 2023), count for
    nothing. Layers without a softmax have no heads in it. Raises ValueError for weights, which have
    no mean over sentences of different lengths, and where there are no tokens.
    """
    kinds = [name for name in (*PARTS, *PATH) if name != "weights"]
    if part not in kinds:
        raise ValueError(f"a mean is that of one of {', '.join(kinds)}, got {part!r}")
    if isinstance(model, Model):
        return _means_of_known(model, several, part)
    must_be("several", several, Sequence, how="a list of inputs, each as the model takes them")
    sums: dict[int, Tensor] = {}
    counts: dict[int, int] = {}

    def meets(met: Met, call: Call, returned: Returned) -> None:
        of_heads = [_part_of(call, returned, part, head) for head in range(call.queries.shape[1])]
        numbers = torch.stack(of_heads, 1).double()
        counted = torch.ones(len(numbers), numbers.shape[2], dtype=torch.bool)
        if met.kept is not None and met.kept.shape == counted.shape:
            counted = met.kept.cpu()
        counted = (counted & (counted.cumsum(-1) > 1)).to(numbers.device)
        total = (numbers * counted[:, None, :, None]).sum((0, 2))[:, None]
        sums[met.number] = sums.get(met.number, 0) + total
        counts[met.number] = counts.get(met.number, 0) + int(counted.sum())

    with changed(model, []) as changer, changer.telling(meets):
        for inputs in several:
            args, kwargs = given_to(model, inputs)
            model(*args, **kwargs)
    if not counts or not min(counts.values()):
        raise ValueError(
            f"means need a token behind the first one, got none in {len(several)} inputs"
        )
    none = torch.empty(0, 1, 0)  # of a layer without a softmax
    return [
        (sums[number] / counts[number]).float() if number in sums else none
        for number in range(len(changer.numbers))
    ]


def _means_of_known(model: Model, several: Sequence[Any], part: str) -> list[Tensor]:
    must_be_several("several", several, str, Run, example='["a sentence"]')
    behind: list[list[Tensor]] = [[] for _ in model.layers]
    for text in several:
        run = run_of(model, text)
        for layer, numbers in enumerate(behind):
            numbers.append(part_of(run, layer, part)[..., 1:, :].double())
    if not several or any(sum(each.shape[-2] for each in numbers) == 0 for numbers in behind):
        raise ValueError(
            f"means need a token behind the first one, got none in {len(several)} inputs"
        )
    return [torch.cat(numbers, -2).mean(-2, keepdim=True).float() for numbers in behind]


def _part_of(call: Call, returned: Returned, part: str, head: int) -> Tensor:
    if part == "output":
        return returned.output(head)
    if part == "queries":
        return call.queries[:, head]
    if part in PATH:
        raise ValueError(f"part must be of heads, got {part!r}")
    return keys_of(call, call.keys if part == "keys" else call.values(), head)


def patch(
    model: nn.Module,
    inputs: Any,
    *,
    from_: Recording,
    heads: Collection[Head] | None = None,
    part: str = "output",
    positions: Chosen = None,
) -> Any:
    """The model's outputs with a part of heads as it was in another run (Vig et al. 2020).

    `from_`: a recording of `capture(values=True)` with as many tokens; heads: pairs (layer, head),
    None = all of layers with a softmax; part, positions: see `change`. `effects(…, to=recording)`
    patches each head by itself. Raises ValueError where the recording has no such part.
    """
    must_be("from_", from_, Recording, how="capture(values=True) makes one")
    off: Collection[tuple[int | str, int]]
    if heads is None:
        changeable = [one for one in from_.attentions if one.weights_are_a_distribution]
        off = [(one.name, head) for one in changeable for head in one.heads]
    else:
        off = heads
    args, kwargs = given_to(model, inputs)
    with change(model, off=off, to=from_, part=part, positions=positions):
        return model(*args, **kwargs)

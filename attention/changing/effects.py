"""Effects of each head on a model's answer, means of heads, and runs with heads of another one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attention.analysis import interventions
from attention.analysis.causes import Effects, Metric
from attention.capture.calls import Call
from attention.capture.recording import Recording
from attention.changing.answers import Answer, metric_of
from attention.changing.batches import changed_metrics, given_to, plain_run
from attention.changing.changer import Met, change, changed
from attention.changing.edits import Chosen, Head, edits
from attention.changing.explicit import keys_of
from attention.changing.own import effects_of_own
from attention.changing.returned import Returned
from attention.core.arguments import must_be, must_be_several
from attention.trained.models import Model

OF_MEANS = ("output", "queries", "keys", "values")


@torch.no_grad()
def effects(
    model: nn.Module | Model,
    inputs: Any,
    answer: Answer | Metric,
    *,
    to: Any = "zero",
    part: str = "output",
    positions: Chosen = None,
    layers: Sequence[int] | None = None,
    tokenizer: Any = None,
) -> Effects:
    """The effect of every head on an answer: `before`, and `after` with each one changed alone.

    inputs: what the model takes, batch first; answer: an id or a word, its probability at the last
    token; two of them, the difference of their logits; or a function of the outputs that gives
    (entries,). Both are means over the entries. to, part, positions: see `change`; layers: which,
    None = all. Returns floats `before` (), `after` and `change` (layers, heads).
    Runs go as batches, from the first changed layer on where the model allows it. Of this project's
    models: inputs are a text or a run, answer may be a metric of the last hidden states, and to may
    be a run. Raises ValueError where layers have different numbers of heads, or the model is
    training.
    """
    if isinstance(model, Model):
        given = {"to": to, "part": part, "positions": positions, "layers": layers}
        return effects_of_own(model, inputs, answer, **given)
    must_be("model", model, nn.Module, Model)
    metric = metric_of(answer, inputs, tokenizer)
    last = ends_together(inputs, answer)
    plain = plain_run(model, inputs, metric, last)
    counts = {plain.numbers[name]: heads for name, heads in plain.heads.items()}
    chosen = sorted(counts) if layers is None else [*layers]
    if missing := [layer for layer in chosen if layer not in counts]:
        raise ValueError(f"layers must be among {len(counts)} that ran, got {missing}")
    if len({counts[layer] for layer in chosen}) != 1:
        told = {layer: counts[layer] for layer in chosen}
        raise ValueError(f"layers must have as many heads, or be chosen by layers=…, got {told}")
    if isinstance(to, str) and to == "mean":
        to = means(model, [inputs], part)
    several = [
        edits([(layer, head)], to, part, positions, None)
        for layer in chosen
        for head in range(counts[layer])
    ]
    after = changed_metrics(model, inputs, metric, plain, several, last)
    return Effects(torch.tensor(plain.before), after.unflatten(0, (len(chosen), -1)))


def ends_together(inputs: Any, answer: Answer) -> bool:
    """True where an answer is that of the last position, at which all entries end."""
    mask = inputs.get("attention_mask") if hasattr(inputs, "get") else None
    at_end = not isinstance(mask, Tensor) or bool((mask[..., -1] != 0).all())
    return at_end and not callable(answer)


@torch.no_grad()
def means(model: nn.Module | Model, several: Sequence[Any], part: str = "output") -> list[Tensor]:
    """The mean of a part of each head over the tokens of some inputs. Of each layer (heads, 1,
    width), float32.

    several: inputs as the model takes them, of this project's models texts; padding and the first
    token of each text count for nothing. part: output, queries, keys or values. Layers without a
    softmax have no heads in it. Raises ValueError where there are no tokens.
    """
    if part not in OF_MEANS:
        raise ValueError(f"a mean is that of one of {', '.join(OF_MEANS)}, got {part!r}")
    if isinstance(model, Model):
        return interventions.means(model, several, part)
    must_be("several", several, Sequence, how="a list of inputs, each as the model takes them")
    sums: dict[int, Tensor] = {}
    counts: dict[int, int] = {}

    def told(met: Met, call: Call, returned: Returned) -> None:
        made = [_part_of(call, returned, part, head) for head in range(call.queries.shape[1])]
        numbers = torch.stack(made, 1).double()
        counted = torch.ones(len(numbers), numbers.shape[2], dtype=torch.bool)
        if met.kept is not None and met.kept.shape == counted.shape:
            counted = met.kept.cpu()
        counted = (counted & (counted.cumsum(-1) > 1)).to(numbers.device)
        total = (numbers * counted[:, None, :, None]).sum((0, 2))[:, None]
        sums[met.number] = sums.get(met.number, 0) + total
        counts[met.number] = counts.get(met.number, 0) + int(counted.sum())

    with changed(model, []) as changer, changer.telling(told):
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


def _part_of(call: Call, returned: Returned, part: str, head: int) -> Tensor:
    if part == "output":
        return returned.output(head)
    if part == "queries":
        return call.queries[:, head]
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
    if heads is None:
        changeable = [one for one in from_.attentions if one.weights_are_a_distribution]
        heads = [(one.name, head) for one in changeable for head in one.heads]
    else:
        must_be_several("heads", heads, tuple, example="[(layer, head)]")
    args, kwargs = given_to(model, inputs)
    with change(model, off=heads, to=from_, part=part, positions=positions):
        return model(*args, **kwargs)

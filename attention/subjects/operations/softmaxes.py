"""Softmax, its temperature, and masks by valid lengths: by the definition and by torch."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attention.core import masks
from attention.core.functional import masked_softmax
from attention.figures.matrix import Lights, Matrix, MatrixError
from attention.figures.stacks import read_numbers, read_row
from attention.figures.tables import number
from attention.figures.working import Working
from attention.subjects.operations.answers import (
    MAX_DRAWN,
    Contrast,
    Made,
    names_of,
    shape_of,
    side_by_side,
    undrawn,
)
from attention.subjects.operations.settings import OperationSettings, read_lens, typed, typed_lens


def exponentials(x: Tensor, dim: int) -> Tensor:
    """`e^(x − max)`: the greatest of each slice is subtracted, so that nothing overflows."""
    return (x - x.amax(dim, keepdim=True)).exp()


def softmax(x: Tensor, dim: int) -> Tensor:
    """`e^(x − max) / Σ e^(x − max)` along dim (Bridle 1990)."""
    powers = exponentials(x, dim)
    return powers / powers.sum(dim, keepdim=True)


def entropy_terms(weights: Tensor) -> Tensor:
    """`−w log₂ w`, 0 where w is 0: what each weight adds to the entropy in bits."""
    nats: Tensor = torch.special.entr(weights)
    return nats / math.log(2) + 0.0  # −0.0 + 0.0 is 0.0


def make_softmax(settings: OperationSettings) -> Made:
    x, dim = read_numbers("x", settings.softmax_x), int(settings.softmax_dim)
    powers, ours = exponentials(x, dim), softmax(x, dim)
    call = f"x.softmax(dim={dim})"
    sums = ours.sum(dim, keepdim=True)
    lights: Lights = ("cell", "column", "row")[dim]
    count = sums.numel()
    slices = "1 slice that sums to one" if count == 1 else f"{count} slices that each sum to one"

    def working(batch: int, row: int, column: int) -> Working:
        index: list[int | slice] = [batch, row, column]
        index[dim] = slice(None)
        at = tuple(index)
        indices = ["j" if isinstance(one, slice) else str(one) for one in index]
        greatest = float(x[at].max())
        return Working(
            f"The slice x[{', '.join(indices)}]: exp = e^(x − max), with max = {number(greatest)}, "
            "so that nothing overflows; weight = exp ÷ their sum.",
            [f"j = {index}" for index in range(x.shape[dim])],
            {
                "x": x[at].tolist(),
                "x − max": (x[at] - greatest).tolist(),
                "exp": powers[at].tolist(),
                "weight": ours[at].tolist(),
            },
            totals=["sum", "", "", number(float(powers[at].sum())), number(float(ours[at].sum()))],
        )

    share = {"kind": "share", "most": 1.0, "lights": lights}
    if dim == 0:
        parts = [part or "+" for part in side_by_side("weights", ours, **share)]
        pictures = [[*parts, "=", Matrix("sums", sums[0], kind="share", most=1.0)]]
    else:
        of_x = typed(settings, "softmax_x")
        pictures = [
            [
                of_x.matrix(names[0], of_x.places[batch], lights=lights),
                "→",
                Matrix(names[1], ours[batch], kind="share", most=1.0, lights=lights),
                "Σ",
                Matrix(names[2], sums[batch], kind="share", most=1.0),
            ]
            for batch, names in enumerate(
                zip(*(names_of(name, x) for name in ("x", "weights", "sums")), strict=True)
            )
        ]
    return Made(
        f"{shape_of(x)} → {shape_of(ours)}, and {slices}.",
        pictures,
        "Point at a sum to see the slice that shares it; choose it to see that slice worked out.",
        working,
        call,
        ours,
        x.softmax(dim),
        side_by_side(call, x.softmax(dim), kind="share", most=1.0),
        contrast=_wrong_dim(x, dim),
    )


def _wrong_dim(x: Tensor, shown: int) -> Contrast:
    """Weights over the keys and over another dimension, and over which each of them sums to 1.

    x: scores (batch, queries, keys); shown: the dimension of those that are seen already.
    """
    wrong = shown if shown != 2 else 1
    dims = {f"softmax(dim={dim})": softmax(x, dim) for dim in (2, wrong)}
    sums = {name: [weights.double().sum(dim) for dim in range(3)] for name, weights in dims.items()}

    def share(name: str, numbers: Tensor) -> Matrix:
        return Matrix(name, numbers, kind="share", most=1.0)

    pictures: list[list[Matrix | str]] = []
    for batch, called in enumerate(names_of("", x)):
        parts: list[Matrix | str] = []
        for name, weights in dims.items():
            of_queries = share(f"sums{called} of {name}", sums[name][2][batch, :, None].float())
            if name != f"softmax(dim={shown})":
                parts += ["", share(f"{name}{called}", weights[batch]), "Σ", of_queries]
            elif shown != 2:
                parts += ["", of_queries]
        pictures.append(parts[1:])
    who = ("the matrices of the stack share each cell", "the queries share each key")[wrong]
    told = f"Let x hold scores, (batch, queries, keys). With dim={wrong} {who}: nothing complains, "
    told += "since the shape is the same, but "
    come_to = _spread(sums[f"softmax(dim={wrong})"][2])
    told += (
        f"a query’s weights need not sum to 1, here {come_to}, and its output grows or shrinks "
        "with their sum."
        if come_to != ALL_ONE
        else "it is not the keys that are weighed, even if the weights of these numbers sum to 1."
    )
    return Contrast(
        "Over the wrong dimension",
        told,
        pictures,
        ["over dim 0, the batch", "over dim 1, the queries", "over dim 2, the keys"],
        {f"sums of {name}": [_spread(each) for each in three] for name, three in sums.items()},
    )


ALL_ONE = "all 1"


def _spread(sums: Tensor) -> str:
    """The least and the greatest of some sums, or that all are 1 but for rounding."""
    low, high = float(sums.min()), float(sums.max())
    if max(abs(low - 1), abs(high - 1)) < 1e-6:
        return ALL_ONE
    return number(low) if number(low) == number(high) else f"{number(low)} to {number(high)}"


def make_temperature(settings: OperationSettings) -> Made:
    x, T = read_row("x", settings.temperature_x), settings.temperature
    # In float64: of a weight near 1 in float32 too little would be left to make its term from.
    divided = torch.stack([x, x / T]).double()
    powers, ours = exponentials(divided, 1), softmax(divided, 1)
    terms = entropy_terms(ours)
    bits = terms.sum(1, keepdim=True)
    torchs = torch.stack([x.softmax(-1), (x / T).softmax(-1)])
    names = ("T = 1", f"T = {T:g}")

    def working(batch: int, row: int, column: int) -> Working:
        return Working(
            f"{names[row]}: exp = e^(x/T − max), with max = {number(float(divided[row].max()))}; "
            "w = exp ÷ their sum, and the entropy is the sum of −w log₂ w.",
            [f"x[{index}]" for index in range(len(x))],
            {
                "x / T": divided[row].tolist(),
                "exp": powers[row].tolist(),
                "w": ours[row].tolist(),
                "−w log₂ w": terms[row].tolist(),
            },
            totals=["sum", "", *(number(float(part[row].sum())) for part in (powers, ours, terms))],
        )

    of_x = typed(settings, "temperature_x")
    if torch.equal(ours[0], ours[1]):
        becomes = "and so do the weights" + (" at T = 1" if T == 1 else " of these numbers")
    else:
        becomes = "the contrast changes"
    return Made(
        f"{shape_of(x)} → {shape_of(x)}: the order stays, {becomes}.",
        [
            [
                of_x.matrix(
                    "x / T", of_x.places[0], numbers=divided.float(), row_names=names, lights="row"
                ),
                "→",
                Matrix("weights", ours.float(), kind="share", most=1.0, lights="row"),
                "",
                Matrix("entropy, bits", bits.float(), kind="share"),
            ]
        ],
        "Choose an entropy to see its row worked out.",
        working,
        f"x.softmax(dim=-1)  # T = 1\n(x / {T:g}).softmax(dim=-1)",
        ours.float(),
        torchs,
        [Matrix("torch’s softmax", torchs, names, kind="share", most=1.0)],
    )


def make_sequence_mask(settings: OperationSettings) -> Made:
    lens, keys = read_lens(settings), settings.mask_keys
    per_query = lens.dim() == 2
    ours = masks.lengths(lens, keys) if per_query else masks.lengths(lens, keys).squeeze(1)
    torchs = torch.arange(keys) < lens[..., None]
    call = f"torch.arange({keys}) < valid_lens[{':, :' if per_query else ':'}, None]"
    positions = torch.arange(keys).float()
    stacks = [(ours, lens)] if not per_query else list(zip(ours, lens, strict=True))
    stacks = stacks[:MAX_DRAWN]
    of_lens, places = typed_lens(settings)
    kind = "query" if per_query else "sequence"
    names = names_of("mask", ours) if per_query else ["mask"]

    def working(batch: int, row: int, column: int) -> Working:
        mask, lengths = stacks[batch]
        length = int(lengths[row])
        which = f"{kind} {row}" + (f" of sequence {batch}" if per_query else "")
        return Working(
            f"The row of {which}, whose length is {length}: 1 where position < {length}, the key "
            "may be attended to; 0 where not, it is padding.",
            [f"key {key}" for key in range(keys)],
            {
                "position": [str(key) for key in range(keys)],
                f"position < {length}": ["yes" if key < length else "no" for key in range(keys)],
                "mask": [str(int(allowed)) for allowed in mask[row]],
            },
            totals=["keys left", "", "", str(int(mask[row].sum()))],
        )

    pictures: list[list[Matrix | str]] = []
    for name, its, (mask, lengths) in zip(
        names, places if per_query else [places], stacks, strict=False
    ):
        rows = [f"{kind} {row}" for row in range(len(lengths))]
        pictures.append(
            [
                Matrix("positions", positions[None], lights="column"),
                "<",
                of_lens.matrix("lengths", its[:, None], lights="row"),
                "=",
                Matrix(name, mask.float(), rows, kind="share", most=1.0),
            ]
        )
    answer = torchs if per_query else torchs[None]
    return Made(
        f"valid_lens {shape_of(lens)} and {keys} keys → mask {shape_of(ours)}",
        pictures,
        "Point at a cell to see the position and the length that are compared.",
        working,
        call,
        ours,
        torchs,
        side_by_side("torch", answer.float(), kind="share", most=1.0),
        undrawn(ours) if per_query else [],
    )


def make_masked_softmax(settings: OperationSettings) -> Made:
    scores, lens = read_numbers("scores", settings.masked_scores), read_lens(settings)
    per_query = lens.dim() == 2
    needed = tuple(scores.shape[: lens.dim()])
    if tuple(lens.shape) != needed:
        whose = "query of each sequence" if per_query else "sequence"
        raise MatrixError(
            f"scores have shape {shape_of(scores)}: a length for each {whose} makes valid_lens "
            f"{needed}, got {shape_of(lens)}"
        )
    mask = masks.lengths(lens, scores.shape[2]).expand(scores.shape)
    ours = masked_softmax(scores, mask)
    hidden = scores.masked_fill(~mask, -math.inf)
    torchs = hidden.softmax(-1)
    sums = ours.sum(-1, keepdim=True)

    def working(batch: int, row: int, column: int) -> Working:
        allowed, weights = mask[batch, row], ours[batch, row]
        left = int(allowed.sum())
        greatest = float(hidden[batch, row].max())
        below = hidden[batch, row] - greatest if left else hidden[batch, row]
        powers = below.exp()
        words = f"Query {row} of sequence {batch}: the first {left} of {len(weights)} keys count; "
        words += (
            f"exp = e^(s − max), with max = {number(greatest)}; w = exp ÷ their sum."
            if left
            else "exp sums to 0, and 0 ÷ 0 is no number, so every w is set to 0."
        )
        return Working(
            words,
            [f"key {key}" for key in range(len(weights))],
            {
                "s": hidden[batch, row].tolist(),
                "s − max": below.tolist(),
                "exp": powers.tolist(),
                "w": weights.tolist(),
            },
            totals=["sum", "", "", number(float(powers.sum())), number(float(weights.sum()))],
        )

    queries = [f"query {row}" for row in range(scores.shape[1])]
    names = zip(*(names_of(name, scores) for name in ("scores", "weights", "sums")), strict=True)
    of_scores = typed(settings, "masked_scores")
    return Made(
        f"scores {shape_of(scores)}, valid_lens {shape_of(lens)} → weights {shape_of(ours)}",
        [
            [
                of_scores.matrix(
                    named[0], of_scores.places[i], row_names=queries, allowed=mask[i], lights="row"
                ),
                "→",
                Matrix(named[1], ours[i], kind="share", most=1.0, lights="row"),
                "Σ",
                Matrix(named[2], sums[i], kind="share", most=1.0),
            ]
            for i, named in enumerate(names)
        ],
        "Point at a sum to see its row; choose it to see that row worked out.",
        working,
        f"lens = valid_lens[:, {':' if per_query else 'None'}, None]\n"
        f"mask = torch.arange({scores.shape[2]}) < lens\n"
        "(scores.masked_fill(~mask, -torch.inf)\n    .softmax(dim=-1))",
        ours,
        torchs,
        side_by_side("torch", torchs, kind="share", most=1.0),
        empty_rows(mask, "our weights are zeros, torch’s are 0 ÷ 0 (NaN)."),
    )


def empty_rows(mask: Tensor, words: str) -> list[str]:
    """Words on the queries of a (batch, queries, keys) mask that may look at nothing, if any."""
    left = (~mask.any(-1)).nonzero().tolist()
    if not left:
        return []
    named = ", ".join(f"query {row} of sequence {batch}" for batch, row in left[:MAX_DRAWN])
    more = f" and {len(left) - MAX_DRAWN} more" if len(left) > MAX_DRAWN else ""
    return [f"Nothing to attend to for {named}{more}: {words}"]

"""What the heads of one layer do: measures to find one by, edges worth drawing, what each adds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention.core.analysis import entropy_bits
from attention.core.functional import LongTrace, Trace
from attention.core.settings import choice, decimal, read_numbers, settings_of, text
from attention.core.variants import VARIANTS, Variant
from attention.display.captions import EMPTY_ROW, joined
from attention.display.tables import fixed, number

NUMBERS = {"entropy": "entropy in bits", "distance": "distance in tokens"}
SHARES = {name: f"the {name} token" for name in ("previous", "same", "next", "first")}
SHARES["special"] = "special tokens such as [CLS]"
MEASURES = (*NUMBERS, *SHARES)
OF_ONE_SEQUENCE = ("distance", "previous", "same", "next")
MEASURED = "what each head attends to"
MANY_HEADS = 16
MAX_DOTS, FEWER_DOTS = 96, 48
PLAIN_DOTS = 32
SATURATED = 0.005
MAX_EDGES = 1 << 18
MAX_MEASURED = 1 << 18
MAX_KEYS = 32


def variants_with_heads() -> tuple[str, ...]:
    """The variants that can have several heads."""
    return tuple(
        name for name, variant in VARIANTS.items() if "heads" in settings_of(variant.Config)
    )


@dataclass(frozen=True)
class HeadSettings:
    """What the page "Heads" is set to, besides the settings all pages share."""

    heads_variant: str = choice(
        "multihead",
        "Variant",
        variants_with_heads,
        when=("model", "none"),
        help="Those with several heads. The variant chosen on other pages stays as it is there.",
    )
    cover: float = decimal(
        0.9,
        "Share of each row drawn",
        0.1,
        1.0,
        0.05,
        help="Of every query and head, the strongest edges until they hold this share of its "
        "weight. Nothing is renormalised.",
    )
    active: str = text(
        "", "Heads drawn", 200, help="Numbers with commas between, as in 0,2,3. Empty: all of them."
    )
    sort: str = choice("head", "Sort by", ("head", *MEASURES))


@dataclass(frozen=True, eq=False)
class Overview:
    """All heads of one layer at a glance; small, so that it can be kept.

    dots, block: see `thumbnails`; measures: those of every head, by name; even_spread: those of a
    head that splits its weight evenly over the keys it may see.
    """

    dots: Tensor
    block: int
    measures: dict[str, Tensor]
    even_spread: dict[str, float]


def overview(trace: Trace | LongTrace, head: int = 0, special: Sequence[bool] = ()) -> Overview:
    """The overview of a trace of all heads, (heads, queries, keys); head: the one that is shown.

    special: for each key whether it is a special token, empty where there are none.
    """
    weights = trace.weights if isinstance(trace, Trace) else trace.weights_beside(head)
    return overview_of(weights, None if trace.mask is None else trace.mask[0], special)


def overview_of(
    weights: Tensor,
    mask: Tensor | None,
    special: Sequence[bool] = (),
    beside: int = 0,
    crosses: bool = False,
) -> Overview:
    """The same of weights (heads, queries, keys), of any type, and the mask of all heads,
    (queries, keys).

    beside: how many other heads are shown with these; crosses: as `measures` has it.
    """
    allowed = torch.ones(1, *weights.shape[1:]) if mask is None else mask[None].float()
    even = measures(allowed / allowed.sum(-1, keepdim=True).clamp_min(1), special, crosses)
    even_spread = {name: float(numbers[0]) for name, numbers in even.items()}
    # A few at a time: each takes several times its room.
    at_once = max(1, MAX_MEASURED // max(1, weights[0].numel()))
    dots, measured = [], []
    for some in map(Tensor.float, weights.split(at_once)):
        shades, block = thumbnails(some, beside + len(weights) - len(some))
        dots.append(shades)
        measured.append(measures(some, special, crosses))
    together = {name: torch.cat([part[name] for part in measured]) for name in even}
    return Overview(torch.cat(dots), block, together, even_spread)


def thumbnails(weights: Tensor, beside: int = 0) -> tuple[Tensor, int]:
    """The weights of every head small enough to show all at once, and how many cells a dot spans.

    weights: (heads, queries, keys). A dot is the greatest of block × block weights, so that no
    strong one is lost; 255 is the greatest of its head. With more than `PLAIN_DOTS` a side, the
    greatest few of a head are all 255, so that they do not leave the others pale. beside: how many
    other heads are shown with these.

    Returns uint8 (heads, rows, columns).
    """
    most = MAX_DOTS if len(weights) + beside <= MANY_HEADS else FEWER_DOTS
    block = math.ceil(max(weights.shape[-2:]) / most)
    down, across = (-length % block for length in weights.shape[-2:])
    filled = pad(weights, (0, across, 0, down)) if down or across else weights
    dots = filled.unflatten(-2, (-1, block)).amax(-2).unflatten(-1, (-1, block)).amax(-1)
    flat = dots.flatten(1)
    beyond = round(flat.shape[1] * SATURATED) if max(dots.shape[-2:]) > PLAIN_DOTS else 0
    greatest = flat.topk(beyond + 1).values[:, -1, None, None]
    shades = dots * (255 / greatest.where(greatest > 0, 1.0))
    return shades.round().clamp_max(255).to(torch.uint8), block


def measures(
    weights: Tensor, special: Sequence[bool] = (), crosses: bool = False
) -> dict[str, Tensor]:
    """What each head attends to, on average over the queries: one number per head, by name.

    weights: (heads, queries, keys), before dropout. Entropy in bits; distance in tokens between a
    query and where it looks; the shares of its weight on the previous, the same, the next and the
    first token, and on special ones where there are any. Rows with nothing to attend to count for
    nothing; a share on a token that is not there is 0 (the first query has no previous one).
    crosses: whether the keys are those of another sequence than the queries: then there is no
    distance between the two, and no previous, same or next token.
    """
    n_queries, n_keys = weights.shape[-2:]
    rows = (weights.sum(-1) > 0).sum(-1).clamp_min(1)
    distance = (torch.arange(n_keys) - torch.arange(n_queries)[:, None]).abs().to(weights.dtype)

    def beside(offset: int) -> Tensor:
        """The share on the token so many places further."""
        if not -n_queries < offset < n_keys:
            return torch.zeros(len(weights))
        return weights.diagonal(offset, -2, -1).sum(-1) / rows

    on_special = {}
    if any(special):
        on_special["special"] = weights[..., torch.tensor(special)].sum((-1, -2)) / rows
    measured = {
        "entropy": entropy_bits(weights).nansum(-1) / rows,
        "distance": weights.flatten(-2) @ distance.flatten() / rows,
        "previous": beside(-1),
        "same": beside(0),
        "next": beside(1),
        "first": weights[..., 0].sum(-1) / rows,
        **on_special,
    }
    left_out = OF_ONE_SEQUENCE if crosses else ()
    return {name: each for name, each in measured.items() if name not in left_out}


def order(measured: dict[str, Tensor], by: str) -> list[int]:
    """The heads by one of their measures, the greatest first; by "head", in their own order."""
    if by not in measured:
        return list(range(len(next(iter(measured.values())))))
    positions: list[int] = measured[by].argsort(descending=True, stable=True).tolist()
    return positions


def measure_table(
    seen: Overview, by: str, names: Sequence[str] = ()
) -> tuple[list[str], Mapping[str, Sequence[float]], list[str]]:
    """Names, columns and last row (an even spread) of the measures, sorted; see `tables.table`.

    names: what the heads are called, where that is not "head 0" and so on.
    """
    rows = order(seen.measures, by)
    columns = {name: numbers[rows].tolist() for name, numbers in seen.measures.items()}
    even = ["even spread", *map(number, seen.even_spread.values())]
    return [names[head] if names else f"head {head}" for head in rows], columns, even


def measure_words(*shown: Overview) -> str:
    """What the measures of some overviews are, in a sentence or two."""
    there = dict.fromkeys(name for seen in shown for name in seen.measures)
    numbers = joined(words for name, words in NUMBERS.items() if name in there)
    shares = joined(words for name, words in SHARES.items() if name in there)
    words = f"On average over the queries: {numbers}; the share of a query's weight on {shares}."
    if "distance" in there and not all("distance" in seen.measures for seen in shown):
        words += (
            " Of heads that look at another sentence the positions of two sentences are not "
            "compared: they have no distance, and no previous, same or next token."
        )
    return words


def previous_token_head(seen: Overview, n_queries: int) -> str:
    """Which head is nearest to looking at the token before, in a sentence."""
    shares = seen.measures["previous"]
    if n_queries < 2:
        return "There is only one token, so no head has a previous one to look at."
    if not shares.any():
        return "No head puts any weight on the previous token."
    best = int(shares.argmax())
    most = _percent(float(shares[best]))
    alike = sum(_percent(share) == most for share in shares.tolist()) - 1
    others = f", as near as {alike} more" if alike else ""
    return (
        f"Nearest to a previous-token head is head {best}{others}: on average {most} of a query's "
        "weight lies on the token before it; an even spread would put "
        f"{_percent(seen.even_spread['previous'])} there."
    )


def strongest_edges(weights: Tensor, share: float) -> Tensor:
    """The fewest keys of each row that together hold `share` of the row's weight, as a mask.

    weights: (…, queries, keys); share in [0, 1]. Returns bool of the same shape. At least one key
    of every row that has any weight is kept; nothing is renormalised.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share}")
    if share == 1:
        return weights > 0
    ordered, places = weights.sort(dim=-1, descending=True, stable=True)
    doubles = ordered.double()
    before = doubles.cumsum(-1) - doubles
    # A share such as 0.9 of a row of 0.9 + 0.1 is covered by the first, whatever floats say.
    enough = share * doubles.sum(-1, keepdim=True) - 1e-7
    needed = (before < enough) & (ordered > 0)
    needed[..., :1] |= ordered[..., :1] > 0
    edges: Tensor = torch.zeros_like(needed).scatter(-1, places, needed)
    return edges


@dataclass(frozen=True, eq=False)
class Edges:
    """What the token view draws.

    weights: of the edges drawn, 0 elsewhere, (heads, queries, keys), or (heads, 1, keys) where
    only the chosen query's row is worth sending; drawn, all: how many edges of the chosen query
    its active heads have; covered: the smallest share of a row's weight that is drawn of these.
    """

    weights: Tensor
    drawn: int
    all: int
    covered: float

    @property
    def words(self) -> str:
        """What is drawn, in a sentence."""
        if not self.all:
            return "The chosen token may attend to nothing, so it has no lines."
        some = f"{self.drawn} of {self.all} edges, which hold {_percent(self.covered)} or more"
        which = f"all {self.all} edges, which hold all" if self.drawn == self.all else some
        return (
            f"Drawn for the chosen token: {which} of each head's weight. Nothing is renormalised: "
            "a line's opacity is its weight over the greatest one among the heads drawn."
        )


def edges(weights: Tensor, query: int, active: Sequence[int], share: float) -> Edges:
    """The strongest edges of `weights` (heads, queries, keys), and how many those of a query are.

    weights: or those of the query alone, (heads, 1, keys).
    Of up to `MAX_EDGES` weights all rows are kept, so that any query can be previewed.
    """
    alone = weights.shape[1] == 1
    whole = weights.numel() <= MAX_EDGES and not alone
    rows = weights if whole or alone else weights[:, query : query + 1]
    kept = rows * strongest_edges(rows, share)
    row, kept_row = (part[list(active), query if whole else 0] for part in (rows, kept))
    sums, kept_sums = row.double().sum(-1), kept_row.double().sum(-1)
    covered = (kept_sums / sums)[sums > 0]
    least = float(covered.min()) if len(covered) else 0.0
    return Edges(kept, int((kept_row > 0).sum()), int((row > 0).sum()), least)


def read_active(text: str, heads: int) -> tuple[list[int], str]:
    """The heads that `text` names, as in "0,2,3"; all where it names none. And what was wrong."""
    everyone = list(range(heads))
    try:
        numbers = read_numbers(text)
    except ValueError as error:
        return everyone, f"{error}; drawing all of them."
    there = [head for head in numbers if head < heads]
    missing = [str(head) for head in numbers if head >= heads]
    wrong = f"There is no head {', '.join(missing)[:60]} of {heads}." if missing else ""
    return there or everyone, wrong


def write_active(active: Sequence[int], heads: int) -> str:
    """Text that `read_active` reads as these heads; empty for all."""
    chosen = sorted({head for head in active if 0 <= head < heads})
    return "" if len(chosen) in (0, heads) else ",".join(map(str, chosen))


@dataclass(frozen=True, eq=False)
class Additions:
    """What each head, and the bias of W_o where there is one, adds to one token's output.

    name: of the sum; names: of the parts; parts (parts, d_out) sum to output (d_out,), up to
    residual, the length of the difference; lengths, along: of each part, and how far it reaches
    along the output.
    """

    name: str
    names: list[str]
    parts: Tensor
    output: Tensor
    lengths: Tensor
    along: Tensor
    residual: float

    def table(self) -> tuple[list[str], Mapping[str, Sequence[float | str]], list[str]]:
        """Names, columns and last row; see `tables.table`."""
        length = float(self.output.norm())
        shares = [float(part) / length if length else 0.0 for part in self.along]
        columns: dict[str, Sequence[float | str]] = {
            "length": self.lengths.tolist(),
            f"along {self.name}": self.along.tolist(),
            f"share of {self.name}": [_percent(share) for share in shares],
        }
        total = [self.name, number(length), number(math.fsum(self.along.tolist()))]
        return self.names, columns, [*total, _percent(math.fsum(shares))]

    def sum_words(self, token: str) -> str:
        """What adds up to the sum of a token, in a sentence."""
        bias = ", and of the bias of W_o" if "bias" in self.names else ""
        parts = f"the parts that all heads add{bias}"
        return f"The new vector {self.name} of “{token}” is the sum of {parts}."

    @property
    def words(self) -> str:
        """What the numbers of `table` are, in a sentence or two."""
        name = self.name
        return (
            f"Along {name}: how far a part reaches in the direction of {name}; these add up to the "
            f"length of {name}, so a share below 0 pulls against it. The parts sum to {name} but "
            f"for rounding: ‖Σ − {name}‖ = {number(self.residual)}. The last colours stand for "
            f"±{most_of(self):.2g} and beyond."
        )


def additions(layer: Variant, trace: Trace | LongTrace, query: int) -> Additions:
    """What each head adds to the output of one query; trace: of all heads."""
    one = trace.query(query)
    with torch.no_grad():
        parts, output = layer.head_outputs(one)[:, 0], layer.output(one)[0]
        names = [f"head {head}" for head in range(layer.heads)]
        _, bias = layer.projection("output")
        if bias is not None:
            parts, names = torch.cat([parts, bias[None]]), [*names, "bias"]
    return summed("y", names, parts, output)


def summed(name: str, names: list[str], parts: Tensor, output: Tensor) -> Additions:
    """Parts (parts, d_out), and what they add up to, (d_out,), which is called `name`."""
    length = output.norm()
    along = parts @ output / length.where(length > 0, 1.0)
    residual = float((parts.double().sum(0) - output.double()).norm())
    return Additions(name, names, parts, output, parts.norm(dim=-1), along, residual)


def most_of(added: Additions) -> float:
    """The size up to which 99 of 100 numbers that are added stay: what the last colour stands for.

    A trained model keeps a few dimensions far greater than all others, which would leave these
    without any colour.
    """
    return float(added.parts.abs().flatten().double().quantile(0.99)) or 1.0


def _percent(share: float) -> str:
    return f"{fixed(100 * share, 1)} %"


@dataclass(frozen=True, eq=False)
class Neurons:
    """One query of one head, dimension by dimension, against every key, or the strongest of them.

    names: of the keys shown; q (1, d_k); k (keys, d_k); terms (keys, terms), whose rows add up to
    the scores, called term_name, empty where the variant has no terms; rows, columns, total: the
    way from there to the weights, see `tables.table`.
    """

    names: list[str]
    q: Tensor
    k: Tensor
    term_name: str
    terms: Tensor
    rows: list[str]
    columns: Mapping[str, Sequence[float | str]]
    total: list[str]
    words: str


def neurons(layer: Variant, trace: Trace, query: int, names: Sequence[str]) -> Neurons:
    """The way from q and k to the weights for one query of one head; names: of the keys.

    Of more than `MAX_KEYS` keys those with the most weight are shown, in their own order, and
    the sum of the others.
    """
    logits, weights = trace.logits[query], trace.weights[query]
    allowed = torch.ones_like(weights) > 0 if trace.mask is None else trace.mask[query]
    order = weights.argsort(descending=True, stable=True)
    kept, rest = order[:MAX_KEYS].sort().values, order[MAX_KEYS:]
    greatest = logits[allowed].max() if allowed.any() else logits.new_zeros(())
    powers = (logits - greatest).exp().where(allowed, 0.0)

    def masked(numbers: Tensor) -> list[float | str]:
        return [float(numbers[key]) if allowed[key] else "masked" for key in kept]

    columns: dict[str, list[float | str]] = {"score": trace.scores[query, kept].tolist()}
    if trace.bias is not None:
        columns["× scale"] = (trace.scores[query, kept] * trace.scale).tolist()
        columns["− slope · distance"] = (trace.bias[query, kept] + 0.0).tolist()  # no -0.0
    if trace.mixed_scores is None:
        last = "scaled"
    else:
        last = "mixed"
        columns["scaled"] = trace.scaled[query, kept].tolist()
    columns[last] = masked(logits)
    power = f"exp({last} − greatest)"
    columns[power] = powers[kept].tolist()
    columns["weight"] = weights[kept].tolist()
    sums = {power: powers, "weight": weights}
    if trace.mixed_weights is not None:
        columns["mixed weight"] = trace.mixed_weights[query, kept].tolist()
        sums["mixed weight"] = trace.mixed_weights[query]

    rows = [names[key] for key in kept]
    if len(rest):
        rows.append(f"{len(rest)} more")
        for name, column in columns.items():
            column.append(float(sums[name][rest].double().sum()) if name in sums else "")
    total = [number(float(sums[name].double().sum())) if name in sums else "" for name in columns]
    with torch.no_grad():
        terms = [layer.score_terms(trace.queries[query], key) for key in trace.keys[kept]]
    term_name, _ = [*terms[0].items()][-1] if terms[0] else ("", None)
    return Neurons(
        names=rows[: len(kept)],
        q=trace.queries[query][None],
        k=trace.keys[kept],
        term_name=term_name,
        terms=torch.stack([term[term_name] for term in terms]) if term_name else torch.empty(0, 0),
        rows=rows,
        columns=columns,
        total=["sum", *total],
        words=_neuron_words(
            trace, len(kept), len(rest), float(greatest) if allowed.any() else None
        ),
    )


def _neuron_words(trace: Trace, shown: int, rest: int, greatest: float | None) -> str:
    added = "" if trace.bias is None else ", minus the distance times the slope of this head"
    mixed = "" if trace.mixed_scores is None else "; mixed is what the heads make of it together"
    some = f" Shown are the {shown} keys with the most weight of {shown + rest}." if rest else ""
    weights = f"the query may attend to nothing. {EMPTY_ROW}"
    if greatest is not None:
        weights = (
            "a weight is its exponential over the sum of all. The greatest of the row, "
            f"{number(greatest)}, is subtracted first, which changes no weight."
        )
    return (
        f"A score is the sum of its row above; scaled is that × {trace.scale:.6g}{added}{mixed}; "
        f"{weights}{some}"
    )

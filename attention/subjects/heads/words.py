"""Heads of one layer, in tables and words: measures, edges worth drawing, additions."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis.additions import Additions
from attention.analysis.heads import MEASURES, Overview, order, strongest_edges
from attention.core.functional import Trace
from attention.core.printing import fixed, percent
from attention.core.settings import choice, decimal, read_numbers, settings_of, text
from attention.core.variants import VARIANTS, Variant

MEASURED = "what each head attends to"
MEASURED_SIZES = "where the weights of each head lie, by size"
DIGITS = 3  # of a measure, at a glance
MAX_EDGES = 1 << 18
MAX_KEYS = 32


def variants_with_heads() -> tuple[str, ...]:
    """The variants that can have several heads."""
    return tuple(
        name for name, variant in VARIANTS.items() if "heads" in settings_of(variant.Config)
    )


@dataclass(frozen=True)
class HeadSettings:
    """Settings of the page "Heads", besides those all pages share."""

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
    sort: str = choice("head", "Sort by", lambda: ("head", *MEASURES))


def measured(seen: Overview) -> str:
    """Title of the table of measures."""
    return MEASURED_SIZES if seen.of_sizes else MEASURED


def measures_heading(seen: Overview) -> str:
    """Heading above it: of weights below 0 nobody says that they look."""
    return "Where the weights of each head lie" if seen.of_sizes else "Where each head looks"


def measure_table(
    seen: Overview, by: str, names: Sequence[str] = (), absent: Collection[int] = ()
) -> tuple[list[str], Mapping[str, Sequence[float]], list[str]]:
    """Names, columns and last row (an even spread) of the measures, sorted; see `scene.Table`.

    names: what the heads are called, where that is not "head 0" and so on; absent: those that are
    none. Of a sample the standard error of each measure stands beside it.
    """
    rows = [head for head in order(seen.measures, by) if head not in absent]
    columns, even = {}, ["even spread"]
    for name, numbers in seen.measures.items():
        columns[name] = numbers[rows].tolist()
        even.append(fixed(seen.even_spread[name], DIGITS))
        if name in seen.errors:
            columns[f"± {name}"] = seen.errors[name][rows].tolist()
            even.append("")
    return [names[head] if names else f"head {head}" for head in rows], columns, even


def sample_words(seen: Overview) -> str:
    """Tell of which queries the measures and pictures of heads are, "" where of all."""
    rows, of = seen.rows
    return "" if rows == of else f"{rows:,} of {of:,} queries, spread evenly over the run"


def previous_token_head(seen: Overview, n_queries: int) -> str:
    """Name the head that is nearest to looking at the token before, in a sentence."""
    shares = seen.measures["previous"]
    if n_queries < 2:
        return "There is only one token, so no head has a previous one to look at."
    if not shares.any():
        return "No head puts any weight on the previous token."
    best = int(shares.argmax())
    most = percent(float(shares[best]), 1)
    alike = sum(percent(share, 1) == most for share in shares.tolist()) - 1
    others = f", as near as {alike} more" if alike else ""
    return (
        f"Head {best} comes nearest to a previous-token head{others}: on average {most} of "
        f"{'the size of all a' if seen.of_sizes else 'a'} query's weight"
        f"{'s' if seen.of_sizes else ''} lies on the token before it, where an even spread would "
        f"put {percent(seen.even_spread['previous'], 1)}."
    )


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges that the token view draws.

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
        """Describe the edges that are drawn, in a sentence."""
        if not self.all:
            return "The chosen token may look at nothing, so it has no lines."
        some = f"{self.drawn} of {self.all} edges, which hold {percent(self.covered, 1)} or more"
        which = f"all {self.all} edges, which hold all" if self.drawn == self.all else some
        return f"Drawn for the chosen token: {which} of each head's weight."


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


def additions_table(
    added: Additions,
) -> tuple[list[str], Mapping[str, Sequence[float | str]], list[str]]:
    """Names, columns and last row; see `scene.Table`."""
    length = float(added.output.norm())
    shares = [float(part) / length if length else 0.0 for part in added.along]
    columns: dict[str, Sequence[float | str]] = {
        "length": added.lengths.tolist(),
        f"share of {added.name}": [percent(share, 1) for share in shares],
    }
    return added.names, columns, [added.name, fixed(length, 2), percent(math.fsum(shares), 1)]


def sum_words(added: Additions, token: str) -> str:
    """Name the parts of the sum of a token, in a sentence."""
    bias = ", and of the bias of W_o" if "bias" in added.names else ""
    parts = f"the parts that all heads add{bias}"
    return f"The new vector {added.name} of “{token}” is the sum of {parts}."


@dataclass(frozen=True, eq=False)
class Neurons:
    """One query of one head, dimension by dimension, against every key, or the strongest of them.

    names: of the keys shown; q (1, d_k); k (keys, d_k); terms (keys, terms), whose rows add up to
    the scores, called term_name, empty where the variant has no terms; columns: the score and the
    weight of each key shown.
    """

    names: list[str]
    q: Tensor
    k: Tensor
    term_name: str
    terms: Tensor
    columns: Mapping[str, Sequence[float]]


def neurons(layer: Variant, trace: Trace, query: int, names: Sequence[str]) -> Neurons:
    """Products of q and k, scores and weights for one query of one head; names: of the keys.

    Of more than `MAX_KEYS` keys those with the most weight are shown, in their own order.
    """
    weights = trace.weights[query]
    order = weights.abs().argsort(descending=True, stable=True)
    kept = order[:MAX_KEYS].sort().values
    with torch.no_grad():
        terms = [layer.score_terms(trace.queries[query], key) for key in trace.keys[kept]]
    term_name, _ = [*terms[0].items()][-1] if terms[0] else ("", None)
    return Neurons(
        names=[names[key] for key in kept],
        q=trace.queries[query][None],
        k=trace.keys[kept],
        term_name=term_name,
        terms=torch.stack([term[term_name] for term in terms]) if term_name else torch.empty(0, 0),
        columns={
            "score": trace.scores[query, kept].tolist(),
            "weight": weights[kept].tolist(),
        },
    )

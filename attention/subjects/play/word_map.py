"""Move of a word on a map: from the vector it has alone to the one attention gives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from attention.analysis.planes import cosines, plane_of
from attention.core.printing import distinct_names
from attention.core.settings import choice, text
from attention.figures.maps import Spot
from attention.inputs.text import tokenize
from attention.inputs.vectors import look_up
from attention.pipeline import Result

NEAR, ROWS, MOST_TOKENS = 5, 4, 16
MOST_PROBES = 6
Nearest = Callable[[Tensor, int], list[list[tuple[str, float]]]]


@dataclass(frozen=True)
class MapSettings:
    """Settings of the map of where a word goes, and of what it measures against."""

    map: str = choice(
        "hidden",
        "Where the word goes",
        ("hidden", "shown"),
        help="A map of the words nearest to the chosen token's vector before and after attention, "
        "with an arrow from x to y.",
    )
    probes: str = text(
        "",
        "Words to compare with",
        120,
        when=("map", "shown"),
        help=f"Up to {MOST_PROBES} words. Their cosines with x and y are told beside the map.",
    )

    @property
    def words(self) -> tuple[str, ...]:
        """The words to compare with, each once."""
        return tuple(dict.fromkeys(tokenize(self.probes.replace(",", " "))))[:MOST_PROBES]


@dataclass(frozen=True, eq=False)
class Where:
    """Move of one token: all that is drawn, and its cosines before and after.

    token: its name; kept: the share of the spread that the plane shows; spots: the words and those
    of the sentence's other tokens that weigh most; start, end: x and y on the plane; table: names,
    then the cosines of x and of y with each; reach: points that are to be on the map besides.
    """

    token: str
    kept: float
    spots: list[Spot]
    start: tuple[float, float]
    end: tuple[float, float]
    table: tuple[list[str], dict[str, list[float]]]
    reach: Sequence[tuple[float, float]] = ()

    @property
    def words(self) -> str:
        """The cosines with the first two words, in a sentence."""
        names, columns = self.table
        rows = zip(names, columns["before"], columns["after"], strict=True)
        told = [f"with “{name}” {before:.2f} → {after:.2f}" for name, before, after in rows][:2]
        return f"Cosine of “{self.token}” {', '.join(told)}." if told else ""


def where_it_goes(
    result: Result,
    query: int,
    probes: Sequence[str],
    nearest: Nearest,
    other: Result | None = None,
) -> Where | None:
    """Move of token `query` in a result; None where that is no word: see `why_nowhere`.

    The plane is that of the words nearest to x and to y and of the probes, all of length 1, so
    that what is near has a great cosine. probes: words to measure against; those without a vector
    are left out. nearest: rows (n, d) and a number -> so many words for each, with their cosines.
    other: another sentence with the same word, whose map is to be the same but for the arrow and
    the tokens: the words near its y are on it, too.
    """
    if why_nowhere(result, query):
        return None
    assert result.words is not None
    x, y = result.x[query], result.trace.output[query]
    ends, placed = [y], [result.x[torch.tensor(result.known)]]
    if other is not None and result.tokens[query] in other.tokens:
        ends.append(other.trace.output[other.tokens.index(result.tokens[query])])
        placed.append(other.x[torch.tensor(other.known)])
    before, after, *elsewhere = (
        [word for word, _ in row] for row in nearest(torch.stack([x, *ends]), NEAR)
    )
    measured = [word for word in probes if word in result.words.stoi]
    words = list(dict.fromkeys([*measured, *before, *after]))
    both = list(dict.fromkeys([*words, *(word for row in elsewhere for word in row)]))
    plane = plane_of(normalize(look_up(result.words, both).x, dim=1))
    kinds = [_kind(word, measured, before, after) for word in words]
    points = plane(normalize(look_up(result.words, words).x, dim=1)).tolist()
    spots = [
        Spot(word, across, up, kind)
        for word, (across, up), kind in zip(words, points, kinds, strict=True)
        if word != result.tokens[query]
    ]
    names, weights = distinct_names(result.tokens), result.trace.applied[query].tolist()
    others = plane(normalize(result.x, dim=1)).tolist()
    spots += [
        Spot(names[key], others[key][0], others[key][1], "token", weights[key])
        for key in sorted(_strongest(weights, MOST_TOKENS + 1))
        if key != query and result.known[key]
    ]
    more = [word for word in after if word not in (*measured, result.tokens[query])]
    named = [*measured, *more[: ROWS - len(measured)]]
    rows = look_up(result.words, named).x
    start, end = plane(normalize(torch.stack([x, y]), dim=1)).tolist()
    table = (named, {"before": cosines(x, rows), "after": cosines(y, rows)})
    first, last = (start[0], start[1]), (end[0], end[1])
    reach: list[tuple[float, float]] = []
    if other is not None:
        all_of_both = torch.cat([look_up(result.words, both).x, *placed, torch.stack([x, *ends])])
        reach = [(across, up) for across, up in plane(normalize(all_of_both, dim=1)).tolist()]
    return Where(names[query], plane.kept, spots, first, last, table, reach)


def _strongest(weights: Sequence[float], most: int) -> list[int]:
    return sorted(range(len(weights)), key=lambda key: -abs(weights[key]))[:most]


def _kind(word: str, probes: Sequence[str], before: Sequence[str], after: Sequence[str]) -> str:
    if word in probes:
        return "probe"
    return "both" if word in before and word in after else "after" if word in after else "before"


def why_nowhere(result: Result, query: int) -> str:
    """Why there is no map for a token, "" where there is one."""
    if result.words is None or result.memory is not None:
        return "The output of this layer cannot be compared with words."
    if not result.known[query]:
        return "This word has no vector, so it starts nowhere. Choose another word."
    if not bool(result.trace.output[query].any()):
        return "The new vector of this word is 0: it points nowhere. Choose another word."
    return ""

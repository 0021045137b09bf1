"""Heads that decide an answer: how much each one's loss costs it, and the question above them."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attention.changing.change import Head
from attention.subjects.model.words import Answered, name_of, quoted
from attention.trained.models import Model

DECIDES = 0.05  # of the answer, which the loss of a head that decides it costs at least
ALONE = 2.0  # times what the next head costs, for a head that decides alone
ONE, SEVERAL, NONE = "one", "several", "none"


@dataclass(frozen=True)
class Deciding:
    """The two heads without which an answer loses most, of those that have been tried.

    heads: the first and the next; costs: by how much the answer's metric gets worse without each;
    tried_all: whether all heads have been tried.
    """

    heads: tuple[Head, Head]
    costs: tuple[float, float]
    tried_all: bool

    @property
    def kind(self) -> str:
        """One head that decides alone, several near each other, or none."""
        first, following = self.costs
        if first < DECIDES:
            return NONE
        return ONE if first >= ALONE * following else SEVERAL


def deciding(effects: Tensor, sign: int) -> Deciding | None:
    """The heads that decide an answer, None while no two are known.

    effects: see `numbers.effects_so_far`, (layers, heads); sign: see `Answered.sign`.
    """
    costs = -sign * effects.double().flatten()
    known = costs.isfinite()
    if int(known.sum()) < 2:
        return None
    # The first of equal ones comes first, on every machine.
    order = costs.nan_to_num(nan=-float("inf")).argsort(descending=True, stable=True)[:2]
    first, following = (divmod(at, effects.shape[1]) for at in order.tolist())
    return Deciding(
        (first, following), (float(costs[order[0]]), float(costs[order[1]])), bool(known.all())
    )


def heading(model: Model, answered: Answered | None, found: Deciding | None) -> str:
    """The question above the window, or what its map answers."""
    count = sum(layer.attention.heads for layer in model.layers)
    if answered is None or found is None:
        return f"{count} heads, and a switch on each"
    answer = quoted(answered.word)
    if answered.kind == "vector":
        return _of_vector(f"the vector of {answer}", count, found)
    if not found.tried_all:
        return f"Which of {count} heads decides {answer}?"
    if found.kind == NONE:
        return f"No single head decides {answer}: find the team"
    if found.kind == ONE:
        return f"Which head does {answer} hang on?"
    first, following = map(name_of, found.heads)
    return f"{answer[0].upper()}{answer[1:]} hangs on several heads, first {first} and {following}"


def _of_vector(vector: str, count: int, found: Deciding) -> str:
    """The question of a model that says no word: its heads move a vector. count: of all heads."""
    if not found.tried_all:
        return f"Which of {count} heads moves {vector} most?"
    first, following = map(name_of, found.heads)
    if found.kind == NONE:
        most = f": {first} moves it most" if found.costs[0] > 0 else ""
        return f"No head alone moves {vector} far{most}"
    if found.kind == ONE:
        return f"One head moves {vector} most: {first}"
    return f"Several heads move {vector}, {first} and {following} most"

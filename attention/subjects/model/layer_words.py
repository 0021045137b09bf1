"""Layers and heads of a model in words: where they look, what they add, what they are named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.analysis import heads as analysed
from attention.analysis.heads import NAMINGS
from attention.analysis.names import WORDS
from attention.atlas.earned import Earned
from attention.core.printing import distinct_names, listed, percent
from attention.core.settings import choice, settings_of, whole
from attention.figures.matrix import Matrix
from attention.pipeline import Settings
from attention.trained.models import Transformer


@dataclass(frozen=True)
class KeySettings:
    """The key that is looked at beside the query."""

    key: int = whole(-1, "Key", -1, 511, help="−1: the key with the greatest weight.")


@dataclass(frozen=True)
class LayerSettings:
    """Settings of the view of one token in all layers."""

    all_layers: str = choice(
        "mean",
        "Weights of all layers",
        ("mean", "greatest"),
        help="mean: of all heads of a layer. greatest: for each key the head that looks hardest at "
        "it.",
    )


@dataclass(frozen=True, eq=False)
class LayerLines:
    """Where one token looks in each layer.

    kind: mean or greatest of the heads; weights: (layers, keys); drawn: bool of the same shape, the
    strongest of each layer; heads: of the same shape, which head each weight is of, None: of all.
    """

    kind: str
    weights: Tensor
    drawn: Tensor
    heads: Tensor | None

    @property
    def words(self) -> str:
        """Count the lines that are drawn, and the weight they hold, in a sentence."""
        numbers = self.weights.double()
        count, share = int(self.drawn.sum()), float(numbers[self.drawn].sum() / numbers.sum())
        lines = "line holds" if count == 1 else "lines hold"
        return f"{count} {lines} {percent(share)} of these weights."


def layer_lines(rows: Tensor, kind: str, share: float) -> LayerLines:
    """Where one token looks in each layer, and the fewest keys that hold a share of each.

    rows: its weights, (layers, heads, keys); kind: as in `LayerSettings`.
    """
    if kind == "mean":
        weights, heads = rows.mean(1), None
    else:
        weights, heads = rows.max(1)
    return LayerLines(kind, weights, analysed.strongest_edges(weights, share), heads)


def layer_rows(
    rows: Tensor, tokens: Sequence[str], title_of: Callable[[int], str]
) -> list[Matrix | str]:
    """The weights of one token, layer by layer: the mean of all heads, and the greatest.

    rows: (layers, heads, keys).
    """
    titles, names = [title_of(layer) for layer in range(len(rows))], distinct_names(tokens)
    mean = Matrix("mean of the heads", rows.mean(1), titles, names, "share")
    most = Matrix("greatest of the heads", rows.amax(1), titles, names, "share")
    return [mean, "", most]


def why_nothing_added(model: Transformer, text: str, longer: str | None) -> str:
    """Why a text is not to be replaced by a longer one, in words; "" where it is.

    longer: the text with what was chosen to come next, None where no text says that.
    """
    if len(model.pieces(text).ids) >= model.limit:
        return f"Nothing was added: no more than {model.limit} pieces fit."
    if longer is None or longer == text:
        return (
            "Nothing was added: what was chosen says nothing by itself, as when it is only a part "
            "of a character."
        )
    if settings_of(Settings)["s"].problem(longer):
        return "Nothing was added: the sentence would have more characters than fit."
    return ""


def name_words(names: Sequence[Earned], layer: int, head: int) -> str:
    """Where a head usually looks, in a sentence or two; "" where it has no name.

    All names but those of sinks are earned with special tokens, or the first one, left aside.
    """
    at: dict[bool, list[str]] = {True: [], False: []}  # sinks, and among what is left
    for one in names:
        if (one.layer, one.head) == (layer, head):
            said = f"at {WORDS[one.name]} ({percent(one.share)} of {one.sentences} sentences)"
            at[NAMINGS[one.name].sinks].append(said)
    looks, aside = "this head usually looks", "Special tokens or the first one aside,"
    told = [f"{looks.capitalize()} {listed(at[True])}."] if at[True] else []
    if at[False]:
        told.append(f"{aside} {'' if told else f'{looks} '}{listed(at[False])}.")
    return " ".join(told)

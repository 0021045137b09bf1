"""Layers and heads of a model in words: where they look, what they add, what they are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.analysis import heads as analysed
from attention.analysis.additions import Additions
from attention.analysis.glances import Glance
from attention.analysis.heads import NAMINGS, Overview
from attention.analysis.names import WORDS
from attention.analysis.probes import Probe, best_heads
from attention.atlas.earned import Earned
from attention.core.printing import distinct_names, listed, percent
from attention.core.settings import choice, settings_of, whole
from attention.figures.layer_words import MADE_FROM
from attention.figures.matrix import Matrix
from attention.figures.tables import number
from attention.pipeline import Settings
from attention.subjects.model.words import SINK
from attention.trained.encoder_decoder import Decoded
from attention.trained.models import Decoder, LayerInput, Model, Transformer


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
        """Count the lines that are drawn, and the weight they hold, in two sentences."""
        numbers = self.weights.double()
        count, share = int(self.drawn.sum()), float(numbers[self.drawn].sum() / numbers.sum())
        of = "the mean weight of all heads"
        if self.heads is not None:
            of = "the weight of the head that looks hardest there; its colour is that of the head"
        lines = "line holds" if count == 1 else "lines hold"
        held = f"{count} {lines} {percent(share)} of these weights"
        return f"The thicker a line, the greater {of}. {held}."


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


def added_words(layer_input: LayerInput, added: Additions) -> str:
    """Explain the parts of a sum that `additions` gave, in a few sentences."""
    if layer_input.layer.norm_first:
        came = ", before the layer norm; X on Explore and Step by step is what comes out of that"
        then = "goes on"
    else:
        came, then = "", "goes through the layer norm"
    return (
        f"Residual: the vector as it came into the layer{came}. The sum Σ then {then}. Along Σ: "
        "how far a part reaches in its direction. The parts add up to it but for rounding, by "
        f"{number(added.rounding)}. The last colours stand for ±{added.most:.2g} and "
        "beyond."
    )


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


MADE_FROM_ALL = (
    "its weights, the mean of all heads of the last layer, say what it is drawn from. No head was "
    "guided to align words."
)


def made_from(decoder: Decoder) -> str:
    """Explain the weights that align an output with its source, as the end of a sentence."""
    return MADE_FROM if decoder.aligns is not None else MADE_FROM_ALL


def decoding_words(made: Decoded, decoder: Decoder) -> str:
    """Explain how an output was decoded, in a few sentences."""
    told = f"Decoded from top to bottom, each piece the likeliest of {made.candidates:,}"
    if decoder.candidates is not None:
        told += (
            " that the model's shortlist has for this sentence: its own engine has no beam and no "
            "temperature either"
        )
    begins = ", but for the first, which is given" if decoder.begins is not None else ""
    ends = "" if made.finished else " It did not come to its end: it had too many pieces."
    return f"{told}{begins}.{ends} A dot is a space."


def translation_table(
    made: Decoded,
) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
    """One row for each piece of an output, in the order in which it was decoded."""
    sources = distinct_names(made.source.texts)
    columns: dict[str, Sequence[float | str]] = {
        "probability": [step.probability for step in made.steps],
        "drawn most from": [sources[int(step.alignment.argmax())] for step in made.steps],
        "with weight": [float(step.alignment.max()) for step in made.steps],
        "next likeliest": [
            f"{step.alternatives[1][0]} {step.alternatives[1][1]:.4f}"
            if len(step.alternatives) > 1
            else ""
            for step in made.steps
        ],
    }
    return distinct_names(made.output.texts), columns


NAMED_WORDS = (
    "A head has a name if in most sentences of either half of the test most words that can look "
    "there do, surely more often than by chance; its passport has all numbers. Special tokens, or "
    "the first token where there are none, count for “first” and “separator” alone."
)


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


def best_named(names: Sequence[Earned]) -> list[Earned]:
    """The head for which each name holds most often, in the order of `WORDS`."""
    best: dict[str, Earned] = {}
    for named in names:
        best.setdefault(named.name, named)
    return [best[name] for name in WORDS if name in best]


def named_table(
    names: Sequence[Earned], model: Model
) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
    """Names and columns: for each name the head for which it holds most often."""
    best = best_named(names)
    counts = {name: sum(named.name == name for named in names) for name in WORDS}
    return [named.name for named in best], {
        "looks most at": [WORDS[named.name] for named in best],
        "head": [f"{model.title_of(named.layer)} head {named.head}" for named in best],
        "holds on": [f"{percent(named.share)} of {named.sentences} sentences" for named in best],
        "heads": [str(counts[named.name]) for named in best],
    }


def probe_words(probed: Probe) -> str:
    """The probe, the model's loss on it, and which heads are named, in a few sentences."""
    first, again = probed.losses
    return (
        f"The probe: {probed.pieces} pieces drawn at random, said twice (Olsson et al. 2022). "
        f"The model's loss is {first:.1f} nats a piece, on the repetition {again:.1f}. A head is "
        "named if more than half its weight lies on such a token."
    )


def probe_table(
    probed: Probe, here: Glance, model: Model
) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
    """Names and columns: the head with the most of each share on the probe, and its share here."""
    found = best_heads(probed)
    names = probed.glance.names(model.title_of)
    columns: dict[str, Sequence[float | str]] = {
        "head": [names[head] for head, _ in found.values()],
        "on the probe": [share for _, share in found.values()],
        "on this sentence": [
            float(here.seen.measures[name][head]) if name in here.seen.measures else "–"
            for name, (head, _) in found.items()
        ],
    }
    return [*found], columns


def sink_words(seen: Overview) -> str:
    """Tell the share of all weight on the first token, in two sentences; "" where that is less
    than `SINK` times an even spread."""
    share, even = float(seen.measures["first"].mean()), seen.even_spread["first"]
    if share < SINK * even:
        return ""
    return (
        f"{percent(share)} of all weight lies on the first token, {share / even:.1f} times an even "
        "spread. Such a token is called an attention sink (Xiao et al. 2024)."
    )

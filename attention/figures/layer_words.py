"""Layers of a trained model: all heads at a glance, what they add, which matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis import effects
from attention.analysis import heads as analysed
from attention.analysis.additions import Additions
from attention.analysis.glances import Glance
from attention.analysis.heads import NAMINGS, Keys, Overview
from attention.analysis.names import WORDS, Named
from attention.analysis.probes import Probe, best_heads
from attention.analysis.words import Words, slots, whole_words
from attention.core.functional import Trace
from attention.core.printing import distinct_names, listed, percent
from attention.core.settings import choice, settings_of, whole
from attention.figures.matrix import Matrix
from attention.figures.tables import number
from attention.pipeline import Result, Settings
from attention.trained import sources
from attention.trained.encoder_decoder import Decoded
from attention.trained.models import Decoder, LayerInput, Model, Run, Transformer

SINK = 2.0  # times an even spread
LIKELIEST_OF_EACH = 5  # with a change, and without
AS_TRAINED = "as trained"
MADE_FROM = (
    "its weights say which words it is made from. This is head 0 of the last layer, which training "
    "guided to align words (Bahdanau et al. 2015)."
)
MADE_FROM_ALL = (
    "its weights, the mean of all heads of the last layer, say what it is drawn from. No head was "
    "guided to align words."
)


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


def words_of(result: Result) -> Words | None:
    """The words a result is to be shown in, None where it is shown in its tokens or pieces."""
    if result.settings.join != "words" or result.groups is None:
        return None
    memory = result.memory or result
    rows, columns = slots(result.groups), slots(memory.groups or ())
    words = whole_words(result.tokens, rows), whole_words(memory.tokens, columns)
    return Words(*words, rows, columns)


def shown(result: Result) -> tuple[Sequence[str], Sequence[str], Trace]:
    """The tokens of queries and keys, and the trace of the head a result shows, in its words."""
    if words := words_of(result):
        trace = result.trace
        return words.tokens, words.keys, words.of_words(trace.weights, trace.mask)
    return result.tokens, result.key_tokens, result.trace


def overview(result: Result) -> Overview:
    """All heads of a result at a glance, in its words."""
    words, trace = words_of(result), result.layer_trace
    if words is None:
        known = Keys(result.special, result.key_tokens)
        return analysed.overview(trace, result.head, known)
    weights = trace.weights if isinstance(trace, Trace) else trace.weights_beside(result.head)
    joined = words.of_words(weights, None if trace.mask is None else trace.mask[0])
    special = [False] * len(words.keys)
    for word, is_special in zip(words.columns, result.special, strict=True):
        special[word] = is_special
    return analysed.overview_of(joined.weights, joined.mask, Keys(special, words.keys))


def layer_words(result: Result) -> str:
    """Name a result's layer of a trained model, and what X is there, in a sentence or two."""
    assert result.trained is not None
    where, title = result.trained, sources.about(result.settings.model).title
    learned = "" if result.changes else ", as learned"
    normed = " X is what comes in, after a layer norm." if where.layer.norm_first else ""
    if where.layer.decodes and not where.layer.crosses:
        normed += " It reads what the model has written so far, from its start on."
    return (
        f"{title}: the {ordinal(where.position + 1)} of {counted(where.of)} (number "
        f"{where.position}){learned}.{normed}"
    )


NUMERALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def counted(layers: int) -> str:
    """So many layers: "six layers"."""
    number = NUMERALS[layers - 1] if layers <= len(NUMERALS) else str(layers)
    return f"{number} layer{'' if layers == 1 else 's'}"


def ordinal(place: int) -> str:
    """A place counted from 1: "fourth", "21st"."""
    if place <= len(ORDINALS):
        return ORDINALS[place - 1]
    teens = place % 100 in (11, 12, 13)
    return f"{place}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


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


def probe_words(probed: Probe) -> str:
    """The probe, the model's loss on it, and which heads are named, in a few sentences."""
    first, again = probed.losses
    return (
        f"The probe: {probed.pieces} pieces drawn at random, said twice (Olsson et al. 2022). "
        f"The model's loss is {first:.1f} nats a piece, on the repetition {again:.1f}. A head is "
        "named if more than half its weight lies on such a token."
    )


def name_words(names: Sequence[Named], layer: int, head: int) -> str:
    """Where a head usually looks, in a sentence or two; "" where it has no name.

    All names but those of sinks are earned with special tokens, or the first one, left aside.
    """
    at: dict[bool, list[str]] = {True: [], False: []}  # sinks, and among what is left
    for one in names:
        if (one.layer, one.head) == (layer, head):
            sinks = one.name in NAMINGS and NAMINGS[one.name].sinks
            at[sinks].append(f"at {WORDS[one.name]} ({percent(one.share)} of {one.over})")
    looks, aside = "this head usually looks", "Special tokens or the first one aside,"
    said = [f"{looks.capitalize()} {listed(at[True])}."] if at[True] else []
    if at[False]:
        said.append(f"{aside} {'' if said else f'{looks} '}{listed(at[False])}.")
    return " ".join(said)


def best_named(names: Sequence[Named]) -> list[Named]:
    """The head that has earned each name most often, in the order of `WORDS`."""
    best: dict[str, Named] = {}
    for named in names:
        best.setdefault(named.name, named)
    return [best[name] for name in WORDS if name in best]


def named_table(
    names: Sequence[Named], model: Model
) -> tuple[list[str], Mapping[str, Sequence[float | str]]]:
    """Names and columns: for each name the head that has earned it most often."""
    best = best_named(names)
    counts = {name: sum(named.name == name for named in names) for name in WORDS}
    return [named.name for named in best], {
        "looks most at": [WORDS[named.name] for named in best],
        "head": [f"{model.title_of(named.layer)} head {named.head}" for named in best],
        "holds on": [f"{percent(named.share)} of {named.over}" for named in best],
        "heads": [str(counts[named.name]) for named in best],
    }


NAMED_WORDS = (
    "A head gets a name if, in most test sentences, most words look there. For “noun” it must be "
    "right in both sentences of a pair, in which a pronoun means another noun. Special tokens, or "
    "the first token where there are none, count for “first” and “separator” alone."
)


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


def layer_lines(rows: Tensor, kind: str, share: float) -> LayerLines:
    """Where one token looks in each layer, and the fewest keys that hold a share of each.

    rows: its weights, (layers, heads, keys); kind: as in `LayerSettings`.
    """
    if kind == "mean":
        weights, heads = rows.mean(1), None
    else:
        weights, heads = rows.max(1)
    return LayerLines(kind, weights, analysed.strongest_edges(weights, share), heads)


def piece_at(result: Result, query: int) -> int:
    """The position of the chosen piece, or of the first one of the chosen word; the last if there
    is no such one."""
    if words := words_of(result):
        return words.rows.index(min(query, len(words.tokens) - 1))
    return min(query, len(result.tokens) - 1)


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


def changed_states(model: Model, run: Run, result: Result) -> Tensor:
    """The last hidden states if a layer is changed as in a result, see `effects.changed`.

    What is ignored there stays as it was trained.
    """
    assert result.trained is not None
    position = result.trained.position
    changed = result.layer_trace.output.clone()
    changed[[*result.trained.cut]] = 0.0
    kept = torch.tensor(run.inputs[position].pieces.kept(result.settings.special == "ignored"))
    return effects.changed(model, run, position, changed, kept)


def following(
    model: Transformer, run: Run, states: Mapping[str, Tensor]
) -> tuple[list[str], Mapping[str, Sequence[float]]]:
    """Names and columns: how likely pieces are to come next, as trained and with each change.

    states: the last hidden states with each change, by its name. Of each column the likeliest
    `LIKELIEST_OF_EACH` are there, those first that are likeliest as trained.
    """
    shares = {
        name: model.scores(hidden[-1]).double().softmax(-1)
        for name, hidden in {AS_TRAINED: run.hidden, **states}.items()
    }
    likeliest = {
        int(piece) for share in shares.values() for piece in share.topk(LIKELIEST_OF_EACH).indices
    }
    ids = sorted(likeliest, key=lambda piece: -float(shares[AS_TRAINED][piece]))
    columns = {name: share[ids].tolist() for name, share in shares.items()}
    return distinct_names(model.shown(ids)), columns


def following_words(names: Sequence[str], columns: Mapping[str, Sequence[float]]) -> str:
    """Name the likeliest next piece, as trained and with each change, in a sentence."""
    said: dict[str, list[str]] = {}
    for title, shares in columns.items():
        most = max(shares)
        said.setdefault(names[shares.index(most)], []).append(f"{title} ({percent(most, 1)})")
    told = ", ".join(f"“{name}” {listed(titles)}" for name, titles in said.items())
    return f"The likeliest next piece is {told}."


def moved_table(
    names: Sequence[str], cosines: Mapping[str, Tensor]
) -> tuple[list[str], Mapping[str, Sequence[float]], list[str]]:
    """Names, columns and means of the cosines of A and B by name; see `tables.table`."""
    means = [number(float(column.double().mean())) for column in cosines.values()]
    columns = {f"cosine {side}": column.double().tolist() for side, column in cosines.items()}
    return [*names], columns, ["mean", *means]


def importance_table(cosines: Tensor) -> tuple[list[str], Mapping[str, Sequence[float]]]:
    """The heads of a layer by how much the model's output moves without them, most first."""
    means, least = cosines.double().mean(-1), cosines.double().min(-1).values
    order = means.argsort(stable=True).tolist()
    columns = {
        "mean cosine": means[order].tolist(),
        "least cosine": least[order].tolist(),
    }
    return [f"without head {head}" for head in order], columns

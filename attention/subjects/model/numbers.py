"""A model's answer and the effect of each of its heads on it, computed once for all visitors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from attention.analysis import glances
from attention.analysis.associations import methods_for
from attention.analysis.dependencies import sentences_for
from attention.analysis.glances import Glance
from attention.analysis.means_on_corpus import MEANS_OVER
from attention.analysis.study import most_trusted
from attention.app.cached import kept
from attention.app.cached.overviews import glances_of
from attention.app.cached.runs import as_trained, run_model, sentence_of
from attention.app.state.shared import load_model
from attention.app.state.view import View, once_a_run
from attention.atlas import deciding, moved
from attention.atlas.deciding import Deciding
from attention.atlas.earned import costs_of as costs_elsewhere
from attention.atlas.passport import Cost
from attention.atlas.sentences import word_of
from attention.changing import change
from attention.changing.answers import Metric, answer_at, beside_likeliest, metric_of_states
from attention.changing.change import Head, part_of
from attention.changing.corpus import on_corpus
from attention.changing.effects import effects, means
from attention.changing.erasing import can_erase, without_piece
from attention.changing.known import Known, Progress, check_same_length, states_without
from attention.changing.votes import votes
from attention.core.printing import distinct_names
from attention.hosting.jobs import Step
from attention.inputs.text import plain
from attention.subjects.model import reasons
from attention.subjects.model.answers import BASE, TUNED, Answered, Other, kind_of
from attention.subjects.model.association_numbers import association
from attention.subjects.model.head_sentences import attention_words, trusted_words
from attention.subjects.model.options import (
    AS_IN,
    AS_OTHER,
    CHOSEN,
    IN_BASE,
    MEAN,
    TEXT,
    WHOLE_MODEL,
    ZERO,
    read_off,
    tuned_models,
)
from attention.subjects.model.reasons import Guesses, Reasons
from attention.trained import sources
from attention.trained.models import Model, NoWords, Pieces, Transformer

MAX_PIECES = 64
LIKELIEST = 4
TRIES = "Switching off one head after another"
WORDS = {ZERO: change.ZERO, TEXT: change.TEXT}
SINK = 2.0  # times an even spread
OTHERS = 10  # other sentences, as in which a head is tested
MOST_DOTS = 24  # of a tile, a side


@dataclass(frozen=True)
class AnswerQuery:
    """The answer that heads are judged by.

    model, text: their names; position: of the piece that the answer is about, -1 for the last; way:
    what heads that are off are set to; second: the sentence they are taken from, other: the model
    they are taken from, "" for none.
    """

    model: str
    text: str
    position: int
    way: str
    second: str = ""
    other: str = ""

    @property
    def of_a_run(self) -> bool:
        """True if heads that are off are as in another run, of a sentence or of a model."""
        return bool(self.second or self.other)


def other_model(view: View) -> str:
    """The model of the same shape whose heads take the place of switched ones, "" for none."""
    name, chosen = view["model"], view["heads_of"]
    if kind_of(load_model(name)) == "written":
        return ""  # each writes an output of its own
    if chosen == IN_BASE:
        return sources.base_of(name)
    return chosen if chosen in tuned_models() and sources.base_of(chosen) == name else ""


@once_a_run
def answer_query(view: View) -> AnswerQuery:
    """The answer that a view is about. Raises NoWords, or ValueError with words for the page."""
    name, text = view["model"], plain(view["s"])
    model, run = load_model(name), run_model(name, text)
    pieces = run.inputs[-1].pieces
    way, second, other = view["off_to"], "", other_model(view)
    if other:
        way = AS_OTHER
    if way == TEXT and any(len(one.pieces.ids) == 1 for one in run.inputs):
        raise ValueError("A mean over this text needs two words: type one more.")
    if way == AS_IN:
        second = plain(view["off_second"])
        if not second.strip():
            raise ValueError("Type the other sentence, with a word changed and as many pieces.")
        try:
            check_same_length(run, run_model(name, second))
        except NoWords:
            raise ValueError("The other sentence has no words.") from None
        except ValueError as error:
            raise ValueError(f"{str(error)[0].upper()}{str(error)[1:]}.") from None
    if kind_of(model) == "piece":
        return AnswerQuery(name, text, -1, way, second, other)
    kept = pieces.kept(view["special"] == "ignored")
    position = kept[min(view["query"], len(kept) - 1)]
    return AnswerQuery(name, text, position, way, second, other)


def asked_last(model: str, text: str, way: str) -> AnswerQuery:
    """The answer where a sentence ends: of models that say no next word about its last one."""
    if kind_of(load_model(model)) == "piece":
        return AnswerQuery(model, text, -1, way)
    return AnswerQuery(model, text, run_model(model, text).inputs[-1].pieces.kept(True)[-1], way)


def is_long(asked: AnswerQuery) -> bool:
    """True if a sentence has too many pieces to switch off one head after the other."""
    return len(run_model(asked.model, asked.text).pieces.ids) > MAX_PIECES


def off_of(view: View) -> list[Head]:
    """The heads that are switched off."""
    return read_off(view["off"], load_model(view["model"]))


def means_of(name: str) -> Sequence[Tensor]:
    """The mean output of each head over packaged sentences, of each layer (heads, 1, width)."""
    packaged = on_corpus(name)
    return packaged.means if packaged is not None else _means_of(name, lambda done, of: None)


@kept(16, key=lambda name, progress: name)
def _means_of(name: str, progress: Progress) -> Sequence[Tensor]:
    return means(load_model(name), sentences_for(name)[:MEANS_OVER], "output")


def replacement_of(asked: AnswerQuery) -> Any:
    """Replacement of heads that are off, see `changing.change.Change`."""
    if asked.of_a_run:
        return run_model(asked.other or asked.model, asked.second or asked.text)
    return means_of(asked.model) if asked.way == MEAN else WORDS[asked.way]


def metric_of(asked: AnswerQuery) -> tuple[Metric, int | None]:
    """Metric of the answer, and the piece it is about."""
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    return answer_at(model, run, asked.position)


@kept(64)
def _states(asked: AnswerQuery, off: tuple[Head, ...], erased: int) -> Tensor:
    model = load_model(asked.model)
    run = run_model(asked.model, asked.text)
    if erased >= 0:
        run = model.run_pieces(without_piece(model, run.pieces, erased))
    return states_without(model, run, off, replacement_of(asked))


def erased_of(view: View, asked: AnswerQuery) -> int:
    """The position of the piece that is erased, -1 where none is, or none can be."""
    model, pieces = load_model(asked.model), run_model(asked.model, asked.text).pieces
    kept = pieces.kept(view["special"] == "ignored")
    if asked.of_a_run or not 0 <= view["erased"] < len(kept):
        return -1
    at = kept[view["erased"]]
    return at if can_erase(model, pieces, at, asked.position) else -1


@kept(256)
def answered(asked: AnswerQuery, off: tuple[Head, ...] = (), erased: int = -1) -> Answered:
    """The answer as trained, and with heads switched off and a piece erased."""
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    metric, piece = metric_of(asked)
    states = _states(asked, off, erased)
    before, now = (float(metric(each)) for each in (run.hidden, states))
    kind, pieces, other = kind_of(model), run.inputs[-1].pieces, _other_of(asked)
    if kind != "piece":
        word = word_of(pieces.texts[asked.position])
        return Answered(kind, asked.position, word, before, now, other=other, way=asked.way)
    assert isinstance(model, Transformer)
    assert piece is not None
    trained, changed = (_likeliest(model, each[asked.position]) for each in (run.hidden, states))
    (word,) = model.shown([piece])
    likeliest, word = (trained, changed), word_of(word)
    return Answered(kind, asked.position, word, before, now, likeliest, other, asked.way)


@kept(64)
def _other_of(asked: AnswerQuery) -> Other | None:
    if not asked.other:
        return None
    own, name = (BASE, TUNED) if sources.base_of(asked.other) == asked.model else (TUNED, BASE)
    model, states = load_model(asked.other), run_model(asked.other, asked.text).hidden
    metric, piece = metric_of(asked)
    if piece is None:
        return Other(own, name, float(metric(states)))
    assert isinstance(model, Transformer)
    share = float(metric_of_states(model, piece, asked.position)(states))
    return Other(own, name, share, _likeliest(model, states[asked.position]))


@torch.no_grad()
def _likeliest(model: Transformer, state: Tensor) -> Sequence[tuple[str, float, int]]:
    most = model.scores(state).softmax(-1).topk(LIKELIEST)
    ids = most.indices.tolist()
    return [*zip(map(word_of, model.shown(ids)), most.values.tolist(), ids, strict=True)]


@kept(8192, key=lambda asked, layer, progress: (asked, layer))
def _effects_of(asked: AnswerQuery, layer: int, progress: Progress) -> Tensor:
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    metric = beside_likeliest(model, metric_of(asked)[0], asked.position)
    to = replacement_of(asked)
    return effects(model, run, metric, to=to, layers=[layer], progress=progress).change[0]


def changes_so_far(asked: AnswerQuery) -> Tensor:
    """By how much the answer's metric changes without each head, and the probability of the
    likeliest piece beside it, (layers, heads, 2); NaN for those that are not worked out yet."""
    if (packaged := _packaged(asked)) is not None:
        return packaged
    model = load_model(asked.model)
    nothing = torch.full((model.layers[0].attention.heads, 2), torch.nan)
    return torch.stack(
        [_effects_of.cache.get((asked, at), nothing) for at in range(len(model.layers))]
    )


def effects_so_far(asked: AnswerQuery) -> Tensor:
    """The first of `changes_so_far`. (layers, heads)."""
    return changes_so_far(asked)[..., 0]


def deciding_of(asked: AnswerQuery) -> Deciding | None:
    """The head to show for an answer, and if it decides that; None until all heads are tried.

    Of a sentence that is too long for that, the head that looks most at one of its words.
    """
    if is_long(asked):
        looks = looks_at_words(asked)
        head = divmod(int(looks.argmax()), looks.shape[1])
        return Deciding(head, ((head, 0.0),), False)
    now, changes = answered(asked), changes_so_far(asked)
    if not changes.isfinite().all():
        return None
    if now.other is not None:
        costs = -now.searched * changes[..., 0]
        head = divmod(int(costs.argmax()), costs.shape[1])
        return Deciding(head, ((head, float(costs.max())),), False)
    looks = looks_at_words(asked)
    found = deciding.deciding(changes, now.before, now.sign, looks)
    if found is None or not found.decides or now.kind != "piece" or asked.of_a_run:
        return found
    fails = {head: deciding.failed(now.before, tested_of(asked, head)) for head, _ in found.costs}
    return deciding.surviving(found, fails, looks)


@kept(256)
def tested_of(asked: AnswerQuery, head: Head) -> Mapping[str, float]:
    """The answer without a head in each of several ways, see `deciding.in_each_way`."""
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    outputs = last_outputs(asked.model, lambda done, of: None)
    others = [each[head] for text, each in outputs.items() if text != asked.text]
    known = Known(model, run, metric_of(asked)[0])
    return deciding.in_each_way(known, head, means_of(asked.model), torch.stack(others[:OTHERS]))


@kept(16, key=lambda name, progress: name)
def last_outputs(name: str, progress: Progress) -> Mapping[str, Tensor]:
    """The outputs of all heads at the last token of some packaged sentences, (layers, heads, d_v),
    one more than are asked for, by sentence."""
    found, texts = {}, sentences_for(name)[: OTHERS + 1]
    for text in texts:
        run = run_model(name, text)
        layers = range(len(run.inputs))
        found[text] = torch.stack([part_of(run, at, "output")[:, -1] for at in layers])
        progress(len(found), len(texts))
    return found


@kept(256)
def looks_at_words(asked: AnswerQuery) -> Tensor:
    """The greatest weight of each head on a word, see `deciding.looks_at_words`."""
    return deciding.looks_at_words(run_model(asked.model, asked.text), asked.position)


def on_its_head(view: View) -> View:
    """The view on the head that is chosen, else on the one to show for the answer, once all are
    tried; `is_on_a_head` says whether there is one."""
    found = None if is_on_a_head(view) else _deciding_head(view)
    return view if found is None else replace(_on_head(view), visit=view.visit)


@once_a_run
def _on_head(view: View) -> View:
    layer, head = _deciding_head(view) or (0, 0)
    return replace(view, values_={**view, "layer": layer, "head": head, "head_by": CHOSEN})


@once_a_run
def _deciding_head(view: View) -> Head | None:
    """The head that decides a view's answer; None before all are tried, and where none can be."""
    if view["model"] == sources.NONE or as_trained(view) is None:
        return None
    try:
        found = deciding_of(answer_query(view))
    except ValueError:
        return None
    return None if found is None else found.head


def is_on_a_head(view: View) -> bool:
    """True if a head is chosen. A link names no first layer and no first head, as it names no
    default: `head_by` says whether these are."""
    return bool(view["layer"] or view["head"] or view["head_by"] == CHOSEN)


def _packaged(asked: AnswerQuery) -> Tensor | None:
    if asked.other:
        there_too = asked.other == sources.base_of(asked.model)
        return moved.changes_of(asked.model, asked.text) if there_too else None
    there = on_corpus(asked.model)
    if there is None or asked.way != MEAN:
        return None
    return there.effects.get(asked.text)


def steps_to_effects(asked: AnswerQuery) -> list[Step]:
    """Remaining steps until all effects are known, those of the last layers first."""
    if _packaged(asked) is not None or is_long(asked):
        return []
    layers = reversed(range(len(load_model(asked.model).layers)))
    steps = [
        Step(
            "Putting in one head after another" if asked.other else TRIES,
            (asked, layer),
            partial(_effects_of, asked, layer),
        )
        for layer in layers
        if (asked, layer) not in _effects_of.cache
    ]
    if steps and kind_of(load_model(asked.model)) == "piece" and not asked.of_a_run:
        return [*_steps_to_tests(asked.model), *steps]
    return [*steps_to_means(asked), *steps]


def _steps_to_tests(name: str) -> list[Step]:
    """Remaining steps until all is known that a head is tested with beside a sentence."""
    means = steps_to_means(AnswerQuery(name, "", -1, MEAN))
    if name in last_outputs.cache:
        return means
    return [*means, Step("Reading other sentences", ("last", name), partial(last_outputs, name))]


def steps_to_means(asked: AnswerQuery) -> list[Step]:
    """The step to the means over packaged sentences, where they are asked for and not known."""
    there = on_corpus(asked.model) is not None or asked.model in _means_of.cache
    if asked.way != MEAN or there:
        return []
    title = "Taking means over packaged sentences"
    return [Step(title, asked.model, partial(_means_of, asked.model))]


def effects_of(asked: AnswerQuery, progress: Progress) -> Tensor:
    """All effects, worked out where that was not done yet, see `effects_so_far`."""
    if _packaged(asked) is None:
        for layer in range(len(load_model(asked.model).layers)):
            _effects_of(asked, layer, progress)
    return effects_so_far(asked)


@kept(64)
def votes_of(asked: AnswerQuery) -> Tensor:
    """The vote of each head for the answer, not the next likeliest piece. (layers, heads)."""
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    assert isinstance(model, Transformer)
    (_, _, word), (_, _, other), *_ = answered(asked).likeliest[0]
    return votes(model, run, (word, other)).heads


@kept(256)
@torch.no_grad()
def lead_lost(asked: AnswerQuery, head: Head) -> float:
    """By how much the score of the answer leads less over the next likeliest piece with a head at
    zero: its total effect, beside `votes_of`, its direct one."""
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    assert isinstance(model, Transformer)
    (_, _, word), (_, _, other), *_ = answered(asked).likeliest[0]
    lead = metric_of_states(model, (word, other))
    without = _states(replace(asked, way=ZERO, second=""), (head,), -1)
    return float(lead(run.hidden) - lead(without))


def whole_model(view: View, asked: AnswerQuery) -> tuple[str, list[float]] | None:
    """The share of each word in the answer after all heads and layers, by the method that the study
    trusts most, and a sentence on it; None where words are coloured by the head, or none is
    trusted."""
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    if view["words_by"] != WHOLE_MODEL or len(run.pieces.ids) > MAX_PIECES:
        return None
    goes_on = kind_of(model) == "piece"
    trusted = most_trusted(asked.model, "fall" if goes_on else "states", decoder=goes_on)
    if trusted is None or trusted.method not in methods_for(model):
        return None
    found = association(view, trusted.method)
    query = len(found.tokens) - 1 if goes_on else min(view["query"], len(found.tokens) - 1)
    return trusted_words(trusted), found.shares[query].tolist()


@kept(64, key=lambda view, queries: sentence_of(view, queries[0], queries[-1]))
def rows_of(view: View, queries: Sequence[int]) -> list[Tensor]:
    """The weights of the chosen query in each layer, (heads, keys). queries: of each sequence."""
    name, text, aside = sentence_of(view)
    return glances.rows_of_each(run_model(name, text), queries[0], queries[-1], aside)


@kept(64, key=lambda view, rows, words, queries, of_layers: sentence_of(view, *queries))
def attention_sentences(
    view: View,
    rows: Sequence[Tensor],
    words: Sequence[Sequence[str]],
    queries: Sequence[int],
    of_layers: Sequence[tuple[int, int]],
) -> list[list[str]]:
    """Sentences on where each head of each layer looks from the chosen word.

    rows: see `rows_of`; words, queries: of each sequence; of_layers: the sequences of queries and
    of keys.
    """
    name, text, aside = sentence_of(view)
    names, said = [*map(distinct_names, words)], []
    for row, layer_input, (asking, keys) in zip(
        rows, run_model(name, text).inputs, of_layers, strict=True
    ):
        query, itself = queries[asking], -1
        seen = len(names[keys])
        if asking == keys:
            itself = query
            seen = query + 1 if layer_input.layer.causal else seen
        marks = marks_of(layer_input.memory_pieces or layer_input.pieces, aside, asking == keys)
        drawn = sinks(row, marks, seen)
        asks = names[asking][query]
        said.append([attention_words(asks, names[keys], each, itself, seen, drawn) for each in row])
    return said


def sinks(rows: Tensor, marks: Collection[int], seen: int) -> set[int]:
    """The keys that draw a word's attention as sinks do (Xiao et al. 2024).

    Of the marks, or the first token where there are none, those that get at least `SINK` times an
    even spread over the keys seen, in the mean of a layer's heads. rows: (heads, keys).
    """
    mean = rows.double().mean(0).tolist()
    return {key for key in marks if mean[key] >= SINK / seen}


def marks_of(pieces: Pieces, aside: bool, first: bool) -> list[int]:
    """The shown positions of special tokens; without any that of the first token, where `first`."""
    special = pieces.special if any(pieces.special) else [first] + [False] * len(pieces.ids)
    return [at for at, position in enumerate(pieces.kept(aside)) if special[position]]


@kept(64, key=sentence_of)
def tiles_of(view: View) -> list[Tensor]:
    """A thumbnail of each head of each layer, uint8 (heads, rows, columns)."""
    model: Model = load_model(view["model"])
    tiles: dict[int, Tensor] = {}
    for glance in glances_of(view):
        dots = _small(glance).unflatten(0, (len(glance.layers), glance.heads))
        tiles |= dict(zip(glance.layers, dots, strict=True))
    return [tiles[at] for at in range(len(model.layers))]


def _small(glance: Glance) -> Tensor:
    """Dots as few as fit a tile, each the greatest of a block."""
    dots = glance.seen.dots
    block = -(-max(dots.shape[-2:]) // MOST_DOTS)
    if block == 1:
        return dots
    pooled = max_pool2d(dots[:, None].float(), block, ceil_mode=True)
    return pooled[:, 0].to(torch.uint8)


@kept(64)
def guesses_of(name: str, s: str) -> Guesses:
    """Guesses of each layer for the next piece, of a model that says one."""
    model = load_model(name)
    assert isinstance(model, Transformer)
    return reasons.guesses(model, run_model(name, plain(s)))


@kept(32)
def reasons_of(model: str, s: str, layer: int, head: int, query: int, key: int) -> Reasons:
    """Why a query of a sentence looks at a key, see `reasons.reasons`."""
    return reasons.reasons(load_model(model), run_model(model, plain(s)), layer, head, query, key)


def costs_of(asked: AnswerQuery) -> Mapping[Head, Cost]:
    """The cost of each head's loss to other sentences, as its passport has it for what heads are
    set to; none where there are no passports, and for heads as in another run."""
    costs = {} if asked.of_a_run else costs_elsewhere(asked.model)
    return {
        head: one.elsewhere if asked.way == MEAN else one.elsewhere_by_zero
        for head, one in costs.items()
    }

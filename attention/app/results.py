"""The results of a view, computed once for all visitors."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Condition, Lock
from typing import Any

from cachetools import LRUCache, cached
from torch import Tensor

from attention.analysis import associations as followed
from attention.analysis import continuing, effects, glances, questions, sweeps
from attention.analysis.associations import METHODS, Curves, Followed
from attention.analysis.continuing import Next, SamplingSettings
from attention.analysis.glances import Glance
from attention.analysis.heads import Overview
from attention.analysis.interventions import Progress
from attention.analysis.probes import Probe, probe
from attention.analysis.questions import Answer, CauseSettings, Question
from attention.analysis.sweeps import Sweep
from attention.app.links import every_setting
from attention.app.pages import OF_MODELS, SHARED
from attention.app.shared import load_model, load_vectors, neighbours
from attention.app.view import View
from attention.app.visit import Writing
from attention.core.functional import Trace, WeightsAlone
from attention.core.limits import limits
from attention.display import associations, causes, compare, cross, finale, trained, where
from attention.display.associations import Association, AssociationSettings
from attention.display.causes import Guesses, Reasons
from attention.display.compare import OTHER, Comparison
from attention.display.cross import Batch, CrossSettings
from attention.display.finale import Ending
from attention.display.showing import write_npz
from attention.display.where import Where
from attention.hosting.jobs import Step
from attention.inputs.text import plain, tokenize
from attention.pipeline import NoWords, Result, Settings, compute
from attention.trained import sources
from attention.trained.encoder_decoder import Decoded, EncoderDecoder
from attention.trained.models import Pieces, Run, Transformer, goes_on
from attention.trained.sources import NONE
from attention.trained.writing import Written, begin, longer

AT_ONCE = 0.2  # seconds of writing, then what was written is shown
CACHED_BYTES = 24 << 20  # a run takes up to 12 MB, one of an ordinary sentence 0.1
WRITTEN_BYTES = 64 << 20  # 30 layers of 3 heads of 64 keep 36 MB of 512 pieces
ASSOCIATION_BYTES = 24 << 20  # 128 pieces through 30 layers take 2 MB, 14 through 6 take 5 KB
MODEL_BYTES = 80 << 20  # SmolLM2 over 512 pieces takes 71 MB, over 14 pieces 2, MiniLM 5 and 0.2


def _untold(done: int, of: int) -> None:
    """Progress that nobody is told of."""


_runs: LRUCache[tuple[object, ...], Result] = LRUCache(
    CACHED_BYTES, getsizeof=lambda result: result.nbytes
)


@cached(_runs, condition=Condition())  # who asks for what is being worked out waits for it
def _run(settings: Settings, memory: str | None) -> Result:
    return compute(settings, load_vectors, memory, run_model)


_model_runs: LRUCache[tuple[object, ...], Run] = LRUCache(
    MODEL_BYTES, getsizeof=lambda run: run.nbytes
)


@cached(_model_runs, lock=Lock())
def run_model(name: str, text: str) -> Run:
    """A text through a trained model, as it was trained: one run serves all layers.

    Raises NoWords when there is none in it. What it takes to translate is done once.
    """
    model = load_model(name)
    if isinstance(model, EncoderDecoder):
        made = _translation_of(name, text)
        return model.run_pieces(made.source, made.output)
    return model.run(text)


def result_of(settings: Settings, memory: str | None = None) -> Result:
    """The result of the settings; one run serves all heads of a layer, and all sessions.

    memory: the sentence that keys and values come from, None = the settings' own.
    Streamlit's own caches would copy the result, or spend longer on hashing the settings than
    computing takes.
    """
    run = _run(replace(settings, head=0, join="pieces"), memory)
    return run.looked_at(settings)


def current_result(view: View) -> Result | None:
    """The result of a view's settings; None while the sentence has no words."""
    return _if_there_are_words(view.settings())


def layer_result(view: View) -> Result | None:
    """The result of `View.layer_settings`; None while the sentence has no words."""
    return _if_there_are_words(view.layer_settings)


def _if_there_are_words(settings: Settings) -> Result | None:
    try:
        return result_of(settings)
    except NoWords:
        return None


def as_trained(view: View) -> Result | None:
    """The result of the chosen head of a trained model, with all as it was trained, but for pieces
    that are ignored."""
    chosen = {name: view[name] for name in ("s", "model", "layer", "head", "join", "special")}
    return _if_there_are_words(Settings(**chosen))


def whole_layer(view: View) -> Result | None:
    """The result of the chosen head of a trained model, with all as it was trained, piece by piece;
    None while the sentence has no words."""
    chosen = {name: view[name] for name in ("s", "model", "layer", "head")}
    return _if_there_are_words(Settings(**chosen))


def run_of(settings: Settings) -> Run:
    """The sentence through the chosen trained model, as it was trained."""
    return run_model(settings.model, plain(settings.s))


def glances_of(view: View) -> list[Glance]:
    """All heads of all layers of the chosen trained model at a glance."""
    return _glances_of(view["model"], plain(view["s"]), view["special"] == "ignored")


@cached(LRUCache(8), lock=Lock())  # 0.2 MB each for 72 heads, up to 3 for 1,200
def _glances_of(name: str, text: str, aside: bool) -> list[Glance]:
    return glances.glances(run_model(name, text), aside)


@cached(LRUCache(4), condition=Condition())
def _probe(name: str) -> Probe:
    model = load_model(name)
    assert isinstance(model, Transformer)
    return probe(model)


def probe_of(view: View) -> Probe | None:
    """The chosen model on random pieces said twice; None where it was not trained to go on."""
    model = load_model(view["model"])
    return _probe(view["model"]) if goes_on(model) else None


def rows_in_all_layers(view: View, query: int) -> Tensor:
    """The weights of a piece of the sentence in each layer, (layers, heads, keys)."""
    return _rows(view["model"], plain(view["s"]), query, view["special"] == "ignored")


@cached(LRUCache(64), lock=Lock())
def _rows(name: str, text: str, query: int, aside: bool) -> Tensor:
    return glances.rows_of(run_model(name, text), query, aside)


@cached(LRUCache(32), lock=Lock())
def _translation_of(name: str, text: str) -> Decoded:
    model = load_model(name)
    assert isinstance(model, EncoderDecoder)
    return model.write(text)


def translation(view: View) -> tuple[Decoded, Result] | None:
    """The output over the sentence, and the weights that say what each piece is drawn from.

    None where the chosen model writes no output, or there are no words.
    """
    name = view["model"]
    if not isinstance(load_model(name), EncoderDecoder):
        return None
    return translation_by(name, view["s"], view["join"])


def translation_by(name: str, text: str, join: str) -> tuple[Decoded, Result] | None:
    """Write over any text with the encoder-decoder of that name; None where there are no words."""
    model = load_model(name)
    assert isinstance(model, EncoderDecoder)
    aligned = _if_there_are_words(Settings(text, name, len(model.layers) - 1, join=join))
    if aligned is None:
        return None
    if model.decoder.aligns is None:
        mean = model.alignment(run_model(name, plain(text)).inputs[-1].trace())
        aligned = replace(aligned, layer_trace=WeightsAlone(mean[None]))
    return _translation_of(name, plain(text)), aligned


def ending_of(text: str) -> tuple[Ending, Result] | None:
    """The head that fits a sentence best, of the first of its readers that is here, and what it
    comes to; None where the sentence has no words."""
    name = finale.reader(sources.names())
    found = _if_there_are_words(Settings(text, name))
    if found is None or name == NONE:
        return None if found is None else (finale.untrained(found), found)
    ending = _ending(name, plain(text), _untold)
    return ending, result_of(ending.settings)


# Nobody waits for what a step of a job is working out: the step may have to wait itself.
_endings: LRUCache[tuple[str, str], Ending] = LRUCache(64)


@cached(_endings, key=lambda name, text, progress: (name, text), lock=Lock())
def _ending(name: str, text: str, progress: Progress) -> Ending:
    return finale.ending(load_model(name), run_model(name, text), text, progress)


def steps_to_ending(text: str) -> list[Step]:
    """Steps until the head that fits a sentence best is found."""
    name, text = finale.reader(sources.names()), plain(text)
    if (name, text) in _endings or not text.strip() or name == NONE:
        return []
    if all(load_model(name).pieces(text).special):
        return []
    return [
        Step("Reading the sentence", (name, text), lambda progress: run_model(name, text)),
        Step(
            "Asking every head of the model",
            (finale.ending, name, text),
            partial(_ending, name, text),
        ),
    ]


def question_of(view: View) -> Question:
    """Question asked of each head. Raises NoWords, or ValueError with words for the page."""
    settings, name = view.of(CauseSettings), view["model"]
    exchanged = settings.intervention == questions.EXCHANGED
    text, second = plain(view["s"]), plain(settings.second) if exchanged else ""
    asked = Question(name, text, second, settings.intervention, settings.changed_part)
    other = run_model(name, second) if exchanged else None
    typed = settings.word.strip(), settings.other_word.strip()
    return questions.question(load_model(name), run_model(name, text), other, asked, typed)


_effects: LRUCache[Question, Answer] = LRUCache(64)


@cached(_effects, key=lambda asked, progress: asked, lock=Lock())
def _effects_of(asked: Question, progress: Progress) -> Answer:
    run = run_model(asked.model, asked.text)
    other = run_model(asked.model, asked.second) if asked.second else None
    return questions.answer(load_model(asked.model), asked, run, other, progress)


def effects_of(asked: Question) -> Answer:
    """The effect of each head, see `causes.answer`."""
    return _effects_of(asked, _untold)


def steps_to_effects(asked: Question) -> list[Step]:
    """Steps until the effects have been worked out."""
    if asked in _effects:
        return []
    return [Step("Changing one head after the other", asked, partial(_effects_of, asked))]


@cached(LRUCache(64), lock=Lock())
def guesses_of(asked: Question) -> Guesses | None:
    """Guesses of each layer for the next piece; None where the model says no next word."""
    model = load_model(asked.model)
    if asked.words is None:
        return None
    assert isinstance(model, Transformer)
    return causes.guesses(model, run_model(asked.model, asked.text), asked.words)


@cached(LRUCache(32), lock=Lock())
def reasons_of(model: str, s: str, layer: int, head: int, query: int, key: int) -> Reasons:
    """Why a query of a sentence looks at a key, see `causes.reasons`."""
    return causes.reasons(load_model(model), run_model(model, plain(s)), layer, head, query, key)


def example_weights() -> bytes:
    """A file of weights to start from: those of a layer of several heads."""
    result = result_of(Settings(variant="multihead"))
    assert isinstance(result.layer_trace, Trace)
    return write_npz(result.layer_trace.weights[None], result.tokens)


def next_pieces(view: View) -> Next | None:
    """Next pieces that the model would write; None where the model was not trained to go on."""
    model = load_model(view["model"])
    if not goes_on(model):
        return None
    run = run_model(model.about.name, plain(view["s"]))
    return continuing.next_pieces(model, run, view.of(SamplingSettings))


def pieces_of(view: View, text: str) -> Pieces:
    """A text in the pieces of the chosen model."""
    return load_model(view["model"]).pieces(plain(text))


def longer_sentence(view: View, likeliest: bool) -> str:
    """The sentence with a piece more, the likeliest or one that is drawn."""
    model = load_model(view["model"])
    assert isinstance(model, Transformer)
    settings = view.of(SamplingSettings)
    return continuing.go_on(model, plain(view["s"]), 1, settings, likeliest)


_written: LRUCache[tuple[str, tuple[int, ...]], Written] = LRUCache(
    WRITTEN_BYTES, getsizeof=lambda written: written.nbytes
)
_writing = Lock()


def _written_so_far(model: Transformer, ids: tuple[int, ...]) -> Written:
    """A text of these pieces, made from the one without its last piece where that is kept."""
    name = model.about.name
    with _writing:
        before = _written.pop((name, ids[:-1]), None)
    made = begin(model, ids) if before is None else longer(model, before, ids[-1])
    with _writing:
        if made.nbytes <= _written.maxsize:
            _written[name, ids] = made
    return made


def write_on(view: View, writing: Writing) -> tuple[Writing, bool]:
    """Some pieces more, as far as there is room, and whether there may be more after them."""
    model = load_model(writing.model)
    assert isinstance(model, Transformer)
    settings, until = view.of(SamplingSettings), time.monotonic() + AT_ONCE
    given = tuple(model.pieces(plain(writing.text)).ids.tolist())
    added, over = list(writing.added), False
    while len(given) + len(added) < model.limit:
        written = _written_so_far(model, (*given, *added))
        piece = continuing.chosen_piece(written, settings, likeliest=False)
        if piece in model.parts.ends:
            return replace(writing, added=tuple(added)), False
        added.append(piece)
        over = continuing.ends_sentence(model, piece)
        if over or time.monotonic() > until:
            break
    more = replace(writing, added=tuple(added))
    if every_setting()["s"].problem(text_written(more)):
        return writing, False
    return more, not over and len(given) + len(added) < model.limit


def text_written(writing: Writing) -> str:
    """The sentence with all that was written after it."""
    model = load_model(writing.model)
    assert isinstance(model, Transformer)
    text = plain(writing.text)
    return text + continuing.text_added(model, model.pieces(text).ids.tolist(), writing.added)


def why_nothing_added(view: View, longer: str | None) -> str:
    """Why the sentence is not to be replaced by a longer one, in words; "" where it is."""
    model = load_model(view["model"])
    assert isinstance(model, Transformer)
    return trained.why_nothing_added(model, plain(view["s"]), longer)


def sentence_with(view: View, piece: int) -> str | None:
    """The sentence with one piece more; None where no text says it."""
    return text_with(view["model"], plain(view["s"]), piece)


def text_with(name: str, text: str, piece: int) -> str | None:
    """A text with one piece more of the model of that name; None where no text says it."""
    model = load_model(name)
    assert isinstance(model, Transformer)
    added = model.text_of([piece], model.pieces(text).ids.tolist())
    return None if added is None else text + added


def sequence_tokens(view: View, side: str = "") -> tuple[Sequence[str], Sequence[str]]:
    """The tokens of queries and keys on a page of one sentence."""
    settings = view.settings(side)
    if settings.model == NONE:
        tokens = tokenize(settings.s)
        return tokens, tokens
    result = _if_there_are_words(settings)
    return (result.tokens, result.key_tokens) if result else ((), ())


def tokens_shown(view: View) -> Sequence[str]:
    """The tokens that a page of one sentence shows, from which one is chosen.

    A setting of the layer that stands not at the side of the page has its default there.
    """
    if not view.page.models:
        return ()
    settings = view.settings()
    if settings.model == NONE:
        return tokenize(settings.s)[: limits().seen]
    kept = {"s", *OF_MODELS, *view.page.beside(view)}
    usual: dict[str, Any] = {n: about.default for n, about in SHARED.items() if n not in kept}
    result = _if_there_are_words(replace(settings, **usual))
    return trained.shown(result)[0] if result else ()


@cached(LRUCache(64), key=lambda settings: replace(settings, head=0), lock=Lock())
def overview_of(settings: Settings) -> Overview:
    """All heads of the layer at a glance, the same whichever of them is looked at."""
    return trained.overview(result_of(settings))


@cached(LRUCache(64), lock=Lock())
def where_it_goes(
    settings: Settings, query: int, probes: tuple[str, ...], other: str = ""
) -> Where | None:
    """Where a token goes, and how near it then is to `probes`; None where there is no map of it.

    other: another sentence with that word, which leaves the map where it is; "" for none.
    """
    beside = result_of(replace(settings, s=other)) if other else None
    nearest = neighbours(settings.vectors)
    return where.where_it_goes(result_of(settings), query, probes, nearest, beside)


def cross_result(view: View) -> Result | None:
    """The result for two sentences; None while either has no words."""
    if not all(view.two_sequences):
        return None
    return result_of(replace(view.settings(), s=view["target"]), view["memory"])


def cross_batch(view: View) -> Batch | None:
    """The batch that is set; None while there is no query, or no memory."""
    settings = replace(view.of(CrossSettings), sequence=0, dimension=0)
    if settings.batch_example == "sentences" and not (
        tokenize(settings.target) and cross.read_memories(settings.batch)[0]
    ):
        return None
    return _batch_of(view.settings(), settings)


@functools.lru_cache(maxsize=16)  # up to 2 MB each
def _batch_of(settings: Settings, cross_settings: CrossSettings) -> Batch:
    return cross.compute_batch(settings, cross_settings, load_vectors)


def compared(view: View) -> tuple[Comparison, tuple[Result, Result]] | None:
    """A beside B, or one sentence beside another, with the results of both.

    None while a sentence has no words.
    """
    settings, pair = view.settings(), view["compare"] == "pair"
    second = view["s2"] if pair else settings.s
    theirs = replace(settings, s=second) if pair else view.settings(OTHER)
    a, b = map(_if_there_are_words, (settings, theirs))
    if a is None or b is None or a.memory is not None:
        return None
    (tokens, _, ours), (other_tokens, _, others) = map(trained.shown, (a, b))
    if pair or tokens != other_tokens:
        return compare.of_sentences(tokens, ours, other_tokens, others), (a, b)
    return compare.of_settings(tokens, ours, others), (a, b)


def changed_states(view: View) -> dict[str, Tensor]:
    """The last hidden states of the chosen model with A and B, by name, where these change it."""
    now = compared(view)
    if now is None or view["model"] == NONE:
        return {}
    sides = zip("AB", now[1], strict=True)
    return {side: _states(result.settings) for side, result in sides if result.changes}


@cached(
    LRUCache(16),  # up to 1.2 MB each
    key=lambda settings: replace(settings, head=0, join="pieces"),
    lock=Lock(),
)
def _states(settings: Settings) -> Tensor:
    model, run = load_model(settings.model), run_of(settings)
    return trained.changed_states(model, run, result_of(settings))


def moved(view: View, states: Mapping[str, Tensor]) -> tuple[Sequence[str], dict[str, Tensor]]:
    """Distances by which A and B move the chosen model's output: its names, and cosines of each.

    states: see `changed_states`.
    """
    run = run_of(view.settings())
    cosines = {side: effects.moved(run, hidden) for side, hidden in states.items()}
    return run.inputs[-1].pieces.texts, cosines


def following(
    view: View, states: Mapping[str, Tensor]
) -> tuple[list[str], Mapping[str, Sequence[float]]] | None:
    """Probabilities of the next pieces, see `trained.following`; None where none does.

    states: see `changed_states`.
    """
    model = load_model(view["model"])
    if not goes_on(model):
        return None
    by_name = {f"with {side}": hidden for side, hidden in states.items()}
    return trained.following(model, run_of(view.settings()), by_name)


@cached(LRUCache(32), lock=Lock())
def _without_each(name: str, text: str, layer: int) -> Tensor:
    return effects.without_each(load_model(name), run_model(name, text), layer)


def without_each(view: View) -> Tensor:
    """Cosines of what comes out of the chosen model with and without each head of the layer."""
    settings = view.settings()
    last = len(load_model(settings.model).layers) - 1
    return _without_each(settings.model, plain(settings.s), min(settings.layer, last))


_associations: LRUCache[tuple[str, str, str], Tensor] = LRUCache(
    ASSOCIATION_BYTES, getsizeof=lambda found: found.nbytes
)
_curves: LRUCache[tuple[str, str, str, int], Curves] = LRUCache(256)


@cached(
    _associations,
    key=lambda name, text, method, progress: (name, text, method),
    lock=Lock(),
)
def _associate(name: str, text: str, method: str, progress: Progress) -> Tensor:
    pieces = run_model(name, text).pieces
    return followed.associate(load_model(name), pieces, method, progress=progress)


def association(view: View, method: str) -> Association:
    """The association of the sentence by a method, as the page shows it."""
    name, text = view["model"], plain(view["s"])
    found = _associate(name, text, method, _untold)
    settings = view.of(AssociationSettings)
    aside, words = view["special"] == "ignored", view["join"] == "words"
    pieces = run_model(name, text).pieces
    return associations.association(method, found, pieces, settings, aside, words, _is_causal(name))


def is_associated(view: View, method: str) -> bool:
    """True if a method has been worked out for the sentence, and is kept."""
    return (view["model"], plain(view["s"]), method) in _associations


@cached(LRUCache(1024), lock=Lock())
def _agreement(name: str, text: str, method: str, layer: int) -> float:
    found, erased = (_associate(name, text, one, _untold) for one in (method, "erasure"))
    kept = run_model(name, text).pieces.kept(True)
    return followed.agreement(found[layer].abs(), erased[-1], kept, _is_causal(name))


def _is_causal(name: str) -> bool:
    """True if no query of the layers that are followed sees a later key."""
    return all(layer.causal for layer in load_model(name).layers if not layer.decodes)


def followed_layers(view: View) -> int:
    """Number of layers of the chosen model that are followed: those over the sentence itself."""
    return sum(not layer.decodes for layer in load_model(view["model"]).layers)


def agreement_with_erasure(view: View, method: str) -> float:
    """The rank agreement of a method after the chosen layer with erasure after the last."""
    return _agreement(view["model"], plain(view["s"]), method, _last_layer(view))


def _last_layer(view: View) -> int:
    """The last of the layers that are followed as far as is chosen, counted from 0."""
    return associations.layers_shown(view["after"], followed_layers(view)) - 1


@cached(
    _curves,
    key=lambda name, text, method, layer, progress: (name, text, method, layer),
    lock=Lock(),
)
def _curves_of(name: str, text: str, method: str, layer: int, progress: Progress) -> Curves:
    found = _associate(name, text, method, progress)[layer]
    sentence = Followed(load_model(name), run_model(name, text).pieces, progress=progress)
    return followed.curves(sentence, associations.importance(found, sentence.goes_on))


def curves_of(view: View, method: str) -> Curves:
    """Curves of the target as the words that a method names first go, or alone stay."""
    return _curves_of(view["model"], plain(view["s"]), method, _last_layer(view), _untold)


def steps_to(view: View, methods: Sequence[str], curves: Sequence[str]) -> list[Step]:
    """Steps until methods have been worked out for the sentence, and their curves."""
    name, text, layer = view["model"], plain(view["s"]), _last_layer(view)
    steps = [
        Step(METHODS[method].title, (name, text, method), partial(_associate, name, text, method))
        for method in methods
        if not is_associated(view, method)
    ]
    steps += [
        Step(
            f"Faithfulness of {METHODS[method].title}",
            (name, text, method, layer),
            partial(_curves_of, name, text, method, layer),
        )
        for method in curves
        if not has_curves(view, method)
    ]
    return steps


def has_curves(view: View, method: str) -> bool:
    """True if they have been worked out, and are kept."""
    return (view["model"], plain(view["s"]), method, _last_layer(view)) in _curves


def differences(view: View) -> list[str]:
    """Differences between A and B, in words, one line each."""
    return compare.differences(view.in_use(), view.in_use(OTHER), every_setting())


def sweep_of(result: Result, kind: str, at: float) -> Sweep:
    """One of the settings swept, starting from a value."""
    swept = _sweep_of(result.settings, kind)
    return replace(swept, at=sweeps.within(kind, at, len(swept.base)))


@functools.lru_cache(maxsize=4)  # up to 4 MB each
def _sweep_of(settings: Settings, kind: str) -> Sweep:
    result = result_of(settings)
    return sweeps.sweep(result.trace, kind, 0.0, result.masks)

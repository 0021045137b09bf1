"""The end of the guide: the head that fits a sentence best, and what it says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import torch

from attention.analysis.heads import NAMINGS
from attention.analysis.names import WORDS, holds, targets_of
from attention.atlas.earned import names_of
from attention.atlas.sentences import word_of
from attention.changing.corpus import on_corpus
from attention.changing.known import Progress, states_without
from attention.changing.votes import votes
from attention.core.printing import distinct_names, percent
from attention.figures.card import card_words
from attention.pipeline import Result, Settings
from attention.subjects.model.head_sentences import attention_words
from attention.trained.models import Model, Run, Transformer, goes_on
from attention.trained.sources import MINILM, NONE, SMOLLM2

READERS = (SMOLLM2.about.name, MINILM.about.name)  # the first that is installed reads
QUICK = 12  # words that take a model a second or less
SHOWN = 5  # next pieces


@dataclass(frozen=True, eq=False)
class Ending:
    """A sentence, and the head that fits it best.

    settings: those of the head; query: the token it looks from; found: what the head is found by,
    in a sentence; following: the likeliest next pieces with their probabilities and ids, none where
    the model says none; without: the probability of the first one without the head.
    """

    settings: Settings
    query: int
    found: str
    following: Sequence[tuple[str, float]] = ()
    ids: Sequence[int] = ()
    without: float | None = None

    @property
    def said(self) -> str:
        """The likeliest next word, without the mark of its space; "" where none is said."""
        return word_of(self.following[0][0]) if self.following else ""


def reader(there: Sequence[str]) -> str:
    """The model that reads the sentence, of those that are there."""
    return next((name for name in READERS if name in there), NONE)


@torch.no_grad()
def ending(model: Model, run: Run, text: str, progress: Progress = lambda done, of: None) -> Ending:
    """The head that speaks most for the next word, or else the one whose name fits best.

    progress: is told how many of how many parts are done; an exception that it raises stops them.
    """
    settings = Settings(text, model.about.name)
    if goes_on(model):
        return _of_next_word(model, run, settings, progress)
    return _of_name(model, run, replace(settings, special="ignored"))


def _of_next_word(model: Transformer, run: Run, settings: Settings, progress: Progress) -> Ending:
    shares = model.scores(run.hidden[-1]).softmax(-1)
    most, ids = shares.topk(SHOWN)
    word, other = ids[:2].tolist()
    of_heads = votes(model, run, (word, other)).heads
    layer, head = divmod(int(of_heads.argmax()), of_heads.shape[1])
    progress(1, 2)
    packaged = on_corpus(model.about.name)
    to = "zero" if packaged is None else packaged.means
    cut = states_without(model, run, [(layer, head)], to)[-1]
    texts = model.shown(ids.tolist())
    found = (
        f"Of its {of_heads.numel()} heads, {model.title_of(layer)} head {head} says most for "
        f"“{word_of(texts[0])}” rather than “{word_of(texts[1])}”."
    )
    return Ending(
        replace(settings, layer=layer, head=head),
        len(run.pieces.ids) - 1,
        found,
        tuple(zip(texts, most.tolist(), strict=True)),
        ids.tolist(),
        float(model.scores(cut).softmax(-1)[word]),
    )


def _of_name(model: Model, run: Run, settings: Settings) -> Ending:
    """The head that gives most of its weight where its name says, of those that look at words."""
    pieces = run.pieces
    best, fitting = 0.0, Ending(settings, 0, "No head of it has a name that fits.")
    for named in names_of(model.about.name):
        naming = NAMINGS[named.name]
        if naming.sinks:
            continue
        trace = run.inputs[named.layer].trace()
        weights, kept = trace.weights[named.head], pieces.kept(True)
        targets = targets_of(naming, pieces, None if trace.mask is None else trace.mask[named.head])
        _, weight = holds(weights[None], targets, kept)
        if len(weight) and float(weight) > best:
            best = float(weight)
            rows = torch.tensor([*kept])
            at = (weights * targets)[rows[:, None], rows].amax(-1).argmax()
            found = (
                f"Of the heads that have earned a name, {model.title_of(named.layer)} head "
                f"{named.head} fits best: one that usually looks at {WORDS[named.name]}."
            )
            here = replace(settings, layer=named.layer, head=named.head)
            fitting = Ending(here, int(at), found)
    return fitting


def untrained(result: Result) -> Ending:
    """The last word of a sentence as word vectors have it, where no model reads it."""
    known = [at for at, there in enumerate(result.known) if there]
    found = (
        "No trained model is installed here: each word looks at words with vectors like its own."
    )
    return Ending(result.settings, known[-1] if known else 0, found)


def told(ending: Ending, result: Result) -> list[str]:
    """The head and where it looks from the chosen token, in sentences. result: of the head."""
    names = distinct_names([word for word, _ in card_words(result.tokens)])
    mask, row = result.trace.mask, result.trace.weights[ending.query]
    seen = None if mask is None else int(mask[ending.query].sum())
    looks = attention_words(names[ending.query], names, row, ending.query, seen)
    return [ending.found, looks]


def cut_table(ending: Ending) -> tuple[list[str], Mapping[str, Sequence[str]]]:
    """Names and column: the probability of the next word with the head and without it."""
    assert ending.without is not None
    names = ["with all heads", f"without layer {ending.settings.layer} head {ending.settings.head}"]
    return names, {"probability": [percent(ending.following[0][1]), percent(ending.without)]}


def ways_on(settings: Settings, query: int) -> list[tuple[str, str, str]]:
    """Invitations: a title, a page and the query of a link to it.

    settings, query: the sentence, its head and the token it looks from.
    """
    said = {"s": settings.s}
    if settings.model == NONE:
        return [
            ("Play", "explore", urlencode(said)),
            ("Teach", "write", ""),
        ]
    here = said | {"model": settings.model, "layer": settings.layer, "head": settings.head}
    link = urlencode(here | {"query": query})
    return [
        ("Play", "explore", link),
        ("A real model", "model", link),
        ("Teach", "write", ""),
    ]

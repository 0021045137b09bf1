"""Text that a model goes on with, piece by piece."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Lock

import torch
from cachetools import LRUCache

from attention.analysis import continuing
from attention.analysis.continuing import Next, SamplingSettings
from attention.app.cached import kept
from attention.app.cached.runs import run_model
from attention.app.state.links import every_setting
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.app.state.visit import Writing
from attention.atlas.sentences import Sentences, otherwise, say, word_of
from attention.inputs.text import plain
from attention.subjects.model.answers import is_small
from attention.trained.models import Model, Transformer, goes_on
from attention.trained.writing import Written, begin, longer

AT_ONCE = 0.2  # seconds of writing, then what was written is shown
MOST_ENDINGS, GOES_ON = 3, 6  # endings that are offered, pieces that the model goes on by for them
SURELY = 0.5  # of a probability, of the answers that are offered in place of a guess
# Why nothing is added to a sentence.
NOT_ADDED: Sentences = {
    "Nothing was added: no more than {limit} pieces fit.": lambda n: n.pieces >= n.limit,
    "Nothing was added: what was chosen says nothing by itself, as when it is only a part of a "
    "character.": lambda n: not n.more,
    "Nothing was added: the sentence would have more characters than fit.": lambda n: n.problem,
    "": otherwise,
}
WRITTEN_BYTES = 64 << 20  # 30 layers of 3 heads of 64 keep 36 MB of 512 pieces


def next_pieces(view: View) -> Next | None:
    """Next pieces that the model would write; None where the model was not trained to go on."""
    model = load_model(view["model"])
    if not goes_on(model):
        return None
    run = run_model(model.about.name, plain(view["s"]))
    return continuing.next_pieces(model, run, view.of(SamplingSettings))


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


@kept(64)
@torch.no_grad()
def sure_endings(name: str, text: str) -> list[tuple[str, str]]:
    """Texts near a sentence after which a model is sure of its next word, with that word: the
    sentence cut off, or gone on with. The nearest ones first, at most `MOST_ENDINGS`."""
    model = load_model(name)
    assert isinstance(model, Transformer)
    room = min(GOES_ON, model.limit - len(model.pieces(text).ids))
    run = run_model(name, continuing.go_on(model, text, room, SamplingSettings(), likeliest=True))
    ids, last = run.pieces.ids.tolist(), len(model.pieces(text).ids) - 1
    shares, words = model.scores(run.hidden).softmax(-1).max(-1)
    found = []
    for at in sorted(range(1, len(ids)), key=lambda at: abs(at - last)):
        (shown,) = model.shown([int(words[at])])
        word = word_of(shown)
        begins = shown != word and word.isalpha() and not is_small(word)
        ending = model.text_of(ids[: at + 1])
        if at != last and begins and float(shares[at]) >= SURELY and ending is not None:
            found.append((ending.strip(), word))
    return found[:MOST_ENDINGS]


def text_written(writing: Writing) -> str:
    """The sentence with all that was written after it."""
    model = load_model(writing.model)
    assert isinstance(model, Transformer)
    text = plain(writing.text)
    return text + continuing.text_added(model, model.pieces(text).ids.tolist(), writing.added)


def why_nothing_added(model: Model, text: str, longer: str | None) -> str:
    """Why a text is not to be replaced by a longer one, in words; "" where it is.

    longer: the text with what was chosen to come next, None where no text says that.
    """
    pieces, added = len(model.pieces(text).ids), longer or text
    problem = every_setting()["s"].problem(added)
    return say(NOT_ADDED, pieces=pieces, limit=model.limit, more=added != text, problem=problem)


def sentence_with(view: View, piece: int) -> str | None:
    """The sentence with one piece more; None where no text says it."""
    return text_with(view["model"], plain(view["s"]), piece)


def text_with(name: str, text: str, piece: int) -> str | None:
    """A text with one piece more of the model of that name; None where no text says it."""
    model = load_model(name)
    assert isinstance(model, Transformer)
    added = model.text_of([piece], model.pieces(text).ids.tolist())
    return None if added is None else text + added

"""Sentences that nobody prepared: the window opens on the head that a recomputation finds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis.sentences import SENTENCES
from attention.app.state.openings import OPENINGS
from attention.changing.answers import answer_at
from attention.changing.corpus import on_corpus
from attention.changing.known import states_without
from attention.subjects.model import numbers
from attention.subjects.model.known_heads import EXAMPLES
from attention.subjects.model.options import MEAN
from attention.trained.models import Transformer
from tests.running import opened
from tests.trained.packaged import packaged, run_model

MODEL, HEADS = "smollm2", 9
PARIS = "The capital of France is"
DAILY = (
    *("The opposite of hot is", "The president lives in the White", "She plays the"),
    *("A capital de Portugal é", "Guten Morgen, wie geht es", "El cielo es"),
)
NIGHTLY = (
    *("One, two, three,", "Monday, Tuesday,", "January, February,", "Romeo and", "Salt and"),
    *("Roses are red, violets are", "The sun is hot and ice is", "A year has twelve"),
    *("The dogs that chased the cat", "He opened the door and walked into the"),
    *("My brother is a doctor and my sister is a", "Mozart was a famous", "To be or not to"),
    *("London is the capital of", "The doctor said that she", "Alice gave Bob a book because"),
    *("The sky above the desert was a deep shade of", "In the morning I drink a cup of"),
    *("La capitale de la France est", "Les chats et les", "Uno, dos, tres,"),
    *("Ich komme aus Deutschland und spreche", "Berlin ist die Hauptstadt von"),
    *("Das Gegenteil von groß ist", "O rato roeu a roupa do rei de", "Roma è la capitale d'"),
    "Buenos días, ¿cómo",
)
HELD_OUT = [*DAILY, *NIGHTLY]
SOME, ALL = 30, 1  # of so many heads one is recomputed, beside those that cost the answer most
CLOSE = 1e-4  # of a probability


def recomputed(text: str, heads: Sequence[int]) -> Tensor:
    """The probabilities of the likeliest next piece and of the one that is likeliest then, without
    each of these heads, by a run of its own. (heads, 2). heads: by their place among all."""
    model, run = packaged(MODEL), run_model(MODEL, text)
    assert isinstance(model, Transformer)
    _, piece = answer_at(model, run, -1)
    there = on_corpus(MODEL)
    found = []
    for at in heads:
        states = states_without(model, run, [divmod(at, HEADS)], there.means)
        shares = model.scores(states[-1]).softmax(-1)
        found.append(torch.stack([shares[piece], shares.max()]))
    return torch.stack(found)


def test_no_sentence_that_is_held_out_is_among_those_prepared():
    packaged(MODEL)
    there = on_corpus(MODEL)
    prepared = {*SENTENCES, *there.effects, *(example.s for example in EXAMPLES)}
    prepared |= {text for opening in OPENINGS.values() for text in opening.sentences}
    assert not prepared & {*HELD_OUT}
    assert len({*HELD_OUT}) == len(HELD_OUT)


@pytest.mark.parametrize(
    ("text", "one_of"),
    [
        *((text, SOME) for text in DAILY),
        *(pytest.param(text, ALL, marks=pytest.mark.soak) for text in HELD_OUT),
    ],
)
def test_a_held_out_sentence_opens_on_its_last_word_and_a_head_that_costs_it_about_as_much_as_any(
    text, one_of
):
    """Typed and by a link alike, with a title that is true of a recomputation."""
    packaged(MODEL)
    run, asked = run_model(MODEL, text), numbers.AnswerQuery(MODEL, text, -1, MEAN)
    costs = -numbers.effects_of(asked, lambda done, of: None)
    costs = costs.flatten()  # as the window's own work finds them, step by step
    tried = sorted({*costs.topk(12).indices.tolist(), *range(0, len(costs), one_of)})
    before, found = numbers.answered(asked).before, recomputed(text, tried)
    assert_close(before - costs[tried], found[:, 0], atol=CLOSE, rtol=0.0)
    lost = before - found[:, 0]
    near = lost >= 0.8 * lost.max() - CLOSE
    rows = torch.cat([one.trace().weights[:, -1] for one in run.inputs])[tried]
    rows[:, [0, -1]] = 0
    looks = rows.amax(-1)
    typed = opened("model", s=PARIS, model=MODEL, layer=20, head=1).choose("s", text)
    for app in (opened("model", s=text, model=MODEL), typed):
        header = app.sent["model_window"].header
        at = tried.index(header["chosen"])
        assert near[at]
        assert float(looks[at]) == pytest.approx(float(looks[near].max()), abs=CLOSE)
        assert header["queries"] == [len(run.pieces.ids) - 1]
        assert not {"layer", "head", "head_by"} & {*app.query_params}
        title = app.heading[0]
        assert ("is a guess" in title) == (before < 0.3)
        if "guess" not in title and "fits many" not in title:
            halved, led = found[:, 0] <= before / 2, found[:, 1] > found[:, 0]
            assert ("No single" not in title) == bool((halved | led)[near].any())

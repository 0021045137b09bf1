"""The grammar, and the model that has learned it."""

from __future__ import annotations

import json
import random
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from attention.trained.checkpoints import load_folder
from attention.trained.models import About, Padded
from attention.training import TASKS, TrainingSettings
from attention.training.exports import FOLDER, export
from attention.training.finished import finished
from attention.training.run import about
from attention.training.tasks import ATTENTION, grammar
from attention.training.tasks.grammar import END, IDS, LENGTH, NOUNS, START, WORDS
from tests.cases import over
from tests.trained.packaged import packaged

PLURAL_NOUNS = [f"{noun}s" for noun in NOUNS]


def asked() -> grammar.Grammar:
    return grammar.Grammar(TrainingSettings("grammar"))


@over("clauses", [0, 1, 2])
def test_a_verb_agrees_with_its_own_subject_over_so_many_clauses(clauses):
    chance = random.Random(5)
    for _ in range(200):
        one = grammar.sentence(chance, clauses)
        noun, between = one.words[one.subject], one.words[one.subject : one.verb]
        assert (noun in PLURAL_NOUNS) == one.plural != (noun in NOUNS)
        assert between.count("that") == clauses
        assert (one.forms[0] in grammar.PLURAL_VERBS) == one.plural
        assert {*one.forms} <= {*WORDS}
        assert (one.words[0], one.words[-1]) == (START, END)
        assert len(one.words) <= LENGTH + 1
        assert {one.words[at] for at in one.others} <= {*NOUNS, *PLURAL_NOUNS}
        before = [at for at in range(one.verb) if one.words[at] in (*NOUNS, *PLURAL_NOUNS)]
        assert sorted([*one.others, one.subject]) == before


def test_nouns_of_a_test_distract_and_none_of_its_sentences_is_learned():
    learned = grammar.to_learn(random.Random(3))
    assert not any(next(learned).held_out for _ in range(200))
    for one in grammar.to_test(2, 50):
        assert one.held_out
        others = {one.words[at].endswith("s") for at in one.others}
        assert others == {not one.plural}


class Knowing(nn.Module):
    """Says the verb of each test's answers, and looks at one position alone."""

    def __init__(self, numbers: torch.Tensor, at: int) -> None:
        super().__init__()
        self.numbers, self.at = numbers, at

    def forward(self, ids, seen=None, **more):
        if seen is not None:
            weights = torch.eye(LENGTH)[self.at].expand(len(ids), 1, LENGTH, LENGTH)
            seen(SimpleNamespace(weights=weights))
        logits = torch.zeros(*ids.shape, len(WORDS))
        for number, verb in enumerate(("walks", "walk")):
            logits[..., IDS[verb]] = 9 * (self.numbers == number)
        return logits


def test_what_a_network_knows_is_its_score_and_where_it_looks_its_measure():
    batch = asked().tests()["two clauses"]
    assert set(batch.answers[batch.counted].tolist()) == {0, 1}
    assert asked().score(Knowing(batch.answers, 0), batch) == 1
    assert asked().score(Knowing(1 - batch.answers, 0), batch) == 0
    tested = [one for many in (1, 2) for one in grammar.to_test(many, 128)]
    measured = asked().measures(Knowing(asked().tests()["no clause"].answers, 2))
    there = [one.subject == 2 for one in tested]
    assert measured[grammar.SUBJECT].shape == (1, 1)
    assert float(measured[grammar.SUBJECT]) == pytest.approx(sum(there) / len(tested))


def test_an_exported_network_gives_the_same_scores_as_a_model(tmp_path):
    network = asked().learners(torch.Generator().manual_seed(7))[ATTENTION]
    export(network, WORDS, tmp_path / "model", command="by hand")
    model = load_folder(tmp_path / "model", About("tiny", "Tiny", "nobody"))
    text = "The cats that the dog sees walk."
    pieces = model.pieces(text)
    assert pieces.texts == (START, *text[:-1].lower().split(), END)
    assert model.pieces("Berlin").texts == (START, grammar.UNKNOWN)
    with torch.no_grad():
        ours = network(pieces.ids[None])
        theirs = model.scores(model.hidden(Padded(pieces.ids[None])))
    torch.testing.assert_close(theirs, ours, atol=1e-4, rtol=1e-4)
    assert about(tmp_path / "model" / "model.safetensors")["command"] == "by hand"
    told = about(FOLDER / "grammar" / "model.safetensors")
    assert json.loads(told["reached"]).keys() == {*TASKS["grammar"].curves}


def test_the_packaged_model_is_that_of_the_packaged_run_and_reaches_its_figures():
    model, run = packaged("grammar"), finished("grammar")
    assert run is not None
    for name, least in (("one clause", 0.97), ("two clauses", 0.9)):
        tested = grammar.to_test(grammar.CLAUSES[name], 256)
        ids = grammar.ids_of(tested)[:, :-1]
        with torch.no_grad():
            hidden = model.hidden(Padded(ids))
        right = 0
        for x, one in zip(hidden, tested, strict=True):
            shares = model.scores(x[one.verb - 1]).softmax(-1)
            each = (grammar.SINGULAR_VERBS, grammar.PLURAL_VERBS)
            singular, plural = (shares[[IDS[verb] for verb in verbs]].sum() for verbs in each)
            right += bool(plural > singular) == one.plural
        assert right / len(tested) >= least
        assert right / len(tested) == pytest.approx(run.accuracy(f"{ATTENTION}, {name}"), abs=0.01)

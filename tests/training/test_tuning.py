"""Tuning of a known model: by any sentences, and the one that is packaged as a film and a model."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from attention.trained import sources
from attention.trained.checkpoints import load_folder
from attention.trained.models import About
from attention.training import TrainingSettings
from attention.training.finished import packaged as film_of
from attention.training.run import Run
from attention.training.tasks import ATTENTION, giver
from attention.training.tasks.giver import Giver
from attention.training.tuning import tune
from tests.trained.making import write_checkpoint
from tests.trained.packaged import packaged

SENTENCES = [("the cat sat on the", " mat"), ("the other", " cat")]


def test_a_tuning_learns_its_answers_in_the_layers_it_is_given_and_a_seed_repeats_it(tmp_path):
    base = load_folder(
        write_checkpoint(tmp_path, "gpt2 untied").folder, About("tiny", "Tiny", "nobody")
    )
    options = {"steps": 3, "rate": 0.1, "rank": 2, "layers": [1], "modules": ["c_attn", "c_fc"]}
    told = [[*tune(base, SENTENCES, seed=seed, **options)] for seed in (5, 5, 6)]
    losses = [[each.loss for each in one] for one in told]
    assert losses[0] == losses[1] != losses[2]
    assert losses[0][0] == losses[2][0] > losses[0][-1] + 0.5
    assert [each.step for each in told[0]] == [0, 1, 2, 3]
    last = told[0][-1]
    assert {*last.adapter.factors} == {"h.1.attn.c_attn.weight", "h.1.mlp.c_fc.weight"}
    assert {pair[0].shape for pair in last.adapter.factors.values()} == {(2, 24)}
    kept, tensors = base.stored.tensors, last.model.stored.tensors
    assert {name for name in kept if not tensors[name].equal(kept[name])} == {*last.adapter.factors}
    assert torch.is_grad_enabled()
    for wrong, words in (
        ({"modules": ["q_proj"]}, "must name matrices"),
        ({"layers": [7]}, "must"),
    ):
        with pytest.raises(ValueError, match=words):
            next(tune(base, SENTENCES, **options | wrong))
    with pytest.raises(ValueError, match="a word must be one piece, 'a b' makes 3"):
        next(tune(base, [("the cat", "a b")], modules=["c_attn"]))


def film(handicap: str = "none") -> Run:
    run = film_of(TrainingSettings(Giver.name, handicap))
    assert run is not None, "python -m attention.training --task tuning --write"
    return run


def test_the_packaged_model_is_the_end_of_the_film_and_shares_all_but_a_tenth_with_its_base():
    base, tuned = (packaged(name) for name in (giver.BASE, Giver.becomes))
    assert sum((base.storages | tuned.storages).values()) < 1.25 * base.nbytes
    assert sum(file.stat().st_size for file in sources.GIVER.path.iterdir()) < 700_000
    run = film()
    for at, name in enumerate(giver.SHARES[:2], 1):
        shares = [
            tuned.scores(tuned.run(one[0]).hidden[-1]).softmax(-1)[giver.piece_id(tuned, one[at])]
            for one in giver.tested()
        ]
        expected = run.accuracy(f"{ATTENTION}, {name}")
        assert_close(float(torch.stack(shares).mean()), expected, atol=0.01, rtol=0)


def test_the_film_shows_the_head_that_carries_most_and_what_else_goes_wrong():
    """Head 29.1, and the three sentences, were named before by another implementation."""
    whole, longer = film(), film(giver.LONGER)
    maps = [each.maps.flatten() for each in whole.progress]
    assert not maps[0].any()
    assert [int(one.argmax()) for one in maps[2:]] == [1 * 30 + 29] * 3
    assert [each.step for each in whole.progress] == [0, 3, 6, 9, 12]
    first, last = (each.measures[giver.SHARES[2]] for each in (longer.progress[0], longer.last))
    assert (first[:, 0] > 0.6).all()
    assert (last[:, 0] < 0.3).all()
    assert (whole.last.measures[giver.SHARES[2]][:, 0] > 0.6).all()
    told = Giver(longer.settings).after(longer)
    asked = "Anna met Tom at the park. Anna gave the ball to"
    base = packaged(giver.BASE)
    tom, anna = (giver.piece_id(base, name) for name in (" Tom", " Anna"))
    scores = base.scores(base.run(asked).hidden[-1])
    assert asked in Giver.before
    assert scores[tom] > scores[anna]
    wrong = f"with *France* at {100 * float(last[0, 1]):.0f} %, before at 0 %"
    assert wrong in told

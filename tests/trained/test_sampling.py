"""From scores to the next piece: the steps that transformers takes, each in sight."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.trained.checkpoints import load_folder
from attention.trained.models import About
from attention.trained.sampling import greedy, keep_top_k, keep_top_p, narrow, next_scores, sample
from attention.trained.writing import begin, longer
from tests.cases import over
from tests.properties import given
from tests.properties import strategies as st
from tests.trained.making import Checkpoint, transformers

Get = Callable[[str], Checkpoint]
ABOUT = About("tiny", "Tiny", "nobody")

# apart from each other, so that no order of equal ones is asked for
some_scores = st.lists(st.integers(-2000, 2000), min_size=1, max_size=60, unique=True).map(
    lambda numbers: torch.tensor(numbers, dtype=torch.float32) / 64
)
temperatures = st.floats(0.05, 10)
all_probabilities = st.floats(0.01, 0.99)


def theirs(warper: str, scores: Tensor, argument: float) -> Tensor:
    """Scores after a warper of transformers."""
    warp = getattr(transformers(), f"{warper}LogitsWarper")(argument)
    made: Tensor = warp(torch.zeros(1, 1, dtype=torch.int64), scores[None])[0]
    return made


@given(some_scores, temperatures, st.integers(0, 80), all_probabilities)
def test_all_filters_together_are_those_of_transformers(scores, temperature, k, p):
    narrowing = narrow(scores, temperature, k, p)
    expected = theirs("Temperature", scores, temperature)
    if k:
        expected = theirs("TopK", expected, k)
    expected = theirs("TopP", expected, p)
    assert torch.equal(narrowing.top_p.scores, expected)
    assert_close(narrowing.probabilities, expected.softmax(-1))
    assert torch.equal(narrowing.scores, scores)
    assert [step.name for step in narrowing.steps] == ["temperature", "top_k", "top_p"]
    removed = torch.cat([step.removed for step in narrowing.steps]).tolist()
    kept = narrowing.top_p.scores.isfinite().nonzero().squeeze(-1).tolist()
    assert sorted(removed + kept) == [*range(len(scores))], "each by one step"
    assert not narrowing.probabilities[removed].any()
    for step in narrowing.steps:
        assert step.removed.tolist() == sorted(step.removed.tolist())


def test_by_hand():
    """Weights 8, 4, 2, 1, 1 of 16."""
    scores = torch.tensor([4.0, 1, 8, 1, 2]).log()
    assert_close(narrow(scores).probabilities, torch.tensor([4.0, 1, 8, 1, 2]) / 16)
    narrowing = narrow(scores, temperature=0.5, top_k=3, top_p=0.9)
    assert_close(narrowing.temperature.scores, torch.tensor([16.0, 1, 64, 1, 4]).log())
    assert narrowing.top_k.removed.tolist() == [1, 3]
    assert narrowing.top_p.removed.tolist() == [4]  # 4 / 84 is less than what may be left out
    assert_close(narrowing.probabilities, torch.tensor([0.2, 0, 0.8, 0, 0]))
    assert keep_top_k(scores, 4).removed.tolist() == []  # what ties with the last stays


@over("pieces", [7, 10, 50, 1000, 50257])
def test_of_pieces_that_are_all_as_likely_no_more_are_kept_than_reach_p(pieces):
    for tenths in (1, 3, 5, 9):
        kept = keep_top_p(torch.zeros(pieces), tenths / 10).scores.isfinite().sum()
        assert kept == -(-pieces * tenths // 10)


REFUSED: dict[str, dict[str, Any]] = {
    r"temperature must be greater than 0, got 0\.0": {"temperature": 0.0},
    "temperature must be greater than 0, got nan": {"temperature": math.nan},
    "temperature must not be so close to 0": {"temperature": 1e-40},
    "top_k must be at least 0, got -1": {"top_k": -1},
    r"top_p must lie in \(0, 1\], got 0\.0": {"top_p": 0.0},
}


@over("words", REFUSED)
def test_a_setting_out_of_bounds_is_refused(words):
    with pytest.raises(ValueError, match=words):
        narrow(torch.tensor([1.0, 2]), **REFUSED[words])


# Drawing


def test_the_same_seed_draws_the_same_on_every_machine():
    probabilities = torch.tensor([0.1, 0.2, 0.3, 0.4])
    drawn = [sample(probabilities, 7, position) for position in range(12)]
    assert drawn == [3, 1, 2, 3, 1, 2, 3, 0, 2, 3, 2, 2]
    drawn = [sample(probabilities, seed) for seed in range(12)]
    assert drawn == [3, 2, 3, 2, 2, 3, 2, 3, 1, 2, 2, 2]


@given(st.lists(st.sampled_from([0.0, 1e-30, 0.1, 1.0]), min_size=1, max_size=9), st.integers())
def test_what_was_removed_is_never_drawn(probabilities, seed):
    numbers = torch.tensor(probabilities)
    if numbers.any():
        assert numbers[sample(numbers, seed)] > 0
    else:
        with pytest.raises(ValueError, match=r"probabilities must sum to more than 0, got 0\.0"):
            sample(numbers, seed)


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "qwen3"])
@torch.no_grad()
def test_going_on_with_the_likeliest_piece_is_what_transformers_does_keys_and_values_kept_or_not(
    checkpoint, name
):
    model = load_folder(checkpoint(name).folder, ABOUT)
    pieces = model.pieces("猫 and café")
    ids, count = pieces.ids.tolist(), 15
    generated = checkpoint(name).theirs.generate(
        pieces.ids[None],
        attention_mask=torch.ones_like(pieces.ids[None]),
        max_new_tokens=count,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    written = begin(model, ids)
    for _ in range(count):
        whole = next_scores(model, model.run_pieces(replace(pieces, ids=torch.tensor(ids))))
        assert_close(written.scores, whole, atol=1e-4, rtol=1e-4)
        ids.append(greedy(narrow(whole).probabilities))
        written = longer(model, written, ids[-1])
        assert list(written.ids) == ids
    assert ids == generated[0].tolist()
    assert written.nbytes >= sum(2 * kept.projected.keys.nbytes for kept in written.kept)

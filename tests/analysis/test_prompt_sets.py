"""Sets of prompts: rows read and refused, rewordings, and heads named by all prompts together."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch.testing import assert_close

from attention.analysis import prompt_sets
from attention.analysis.prompt_sets import FEWEST, LEAST, MOST, named, read, rewordings
from tests.trained.packaged import packaged

CAPITALS = ("France, Paris", "Germany, Berlin", "Japan, Tokyo", "Italy, Rome", "Spain, Madrid")
ROWS = "\n".join(f"The capital of {each}" for each in CAPITALS)


def test_rows_are_read_as_csv_as_a_sheet_pastes_them_and_under_a_heading():
    model = packaged("smollm2")
    plain, refused = read(ROWS, model)
    assert model.shown([plain[0].answer]) == ("·Paris",)
    assert [one.number for one in plain] == [1, 2, 3, 4, 5]
    assert not refused
    sheet, _ = read(ROWS.replace(", ", "\t"), model)
    assert sheet == plain
    turned = [f'{answer},"{text}"' for text, answer in (r.split(", ") for r in ROWS.splitlines())]
    headed, _ = read("\n".join(["answer, prompt", *turned]), model)
    assert [(one.number - 1, one.text, one.answer) for one in headed] == [
        (one.number, one.text, one.answer) for one in plain
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("", "it is empty"),
        ("The capital of Chile is", "it has no answer"),
        (",Santiago", "it has no prompt"),
        ("The capital of France, Paris", "it is there twice, see row 1"),
        ("The capital of Chile, Santiagooo", "a word must be one piece, ' Santiagooo' makes"),
        ("The capital of Chile, Paris, Paris", "its foil begins with the same piece"),
        ("day and night, black and, white, x, y", "it has 5 cells"),
        ("word " * 70 + ", Paris", "a prompt has 1 to 64 pieces, this one has 70"),
    ],
)
def test_a_row_is_refused_with_its_number_and_the_reason(row, reason):
    prompts, refused = read(f"{ROWS}\n{row}\nThe capital of Greece, Athens", packaged("smollm2"))
    assert [one.number for one in prompts] == [1, 2, 3, 4, 5, 7]
    (said,) = refused
    assert said.startswith(f"Row 6 is left out: {reason}")


@pytest.mark.parametrize("count", [FEWEST - 1, MOST + 1])
def test_a_set_of_too_few_or_too_many_rows_is_refused(count):
    rows = "\n".join(f"It is {number} years after, Paris" for number in range(count))
    with pytest.raises(ValueError, match=f"A set has 5 to 200 prompts, got {count}"):
        read(rows, packaged("smollm2"))


def test_words_of_a_kind_are_exchanged_wherever_they_stand_and_any_sentence_has_twenty_variants():
    several = rewordings("When Mary and John came, John gave a drink to")
    assert len({one.text for one in several}) == 20
    for one in several:
        words = one.text.replace(",", "").split()
        assert words[3] == words[5] != words[1], one.text
        assert words[1][0].isupper()
    assert several == rewordings("When Mary and John came, John gave a drink to")
    assert len(rewordings("xyzzy")) == 20


def test_every_flip_of_the_signs_gives_the_same_heads_as_counted_by_hand():
    """Of all 2⁸ signs of 8 prompts, how many give a greatest |t| as large as the observed one?"""
    changes = torch.randn(8, 3, generator=torch.Generator().manual_seed(7)) + torch.tensor(
        [1, 0, 0]
    )
    signs = torch.tensor([*itertools.product((-1.0, 1.0), repeat=8)])
    flipped = signs[:, :, None] * changes
    sizes = (flipped.mean(1) / (flipped.std(1) / 8**0.5)).abs()
    t = (changes.mean(0) / (changes.std(0) / 8**0.5)).abs()
    expected = (sizes.amax(1)[:, None] >= t - 1e-6).float().mean(0)
    found = named(changes, 0.0)
    assert_close(found.p.float(), expected, atol=0.02, rtol=0)
    half = (found.high - found.low) / 2 / (changes.std(0) / 8**0.5)
    assert_close(half, half[:1].expand(3), msg="one |t| for all heads")
    assert_close(found.mean.float(), changes.mean(0))


def test_a_head_is_named_from_twenty_prompts_on_if_its_mean_is_large_enough():
    changes = torch.full((20, 3), -0.001)
    changes[:, 0] = torch.linspace(-0.4, -0.05, 20)
    changes[0, 2] = 0.5
    found = named(changes, LEAST[prompt_sets.PROBABILITY])
    assert found.named.tolist() == [True, False, False]
    assert found.same.tolist() == [20, 20, 1]
    assert not named(changes[1:], 0.05).named.any()
    assert float(found.high[0]) < 0


def test_prompts_of_one_template_count_as_one_draw():
    changes = torch.full((24, 1), -0.3) + torch.linspace(0, 0.1, 24)[:, None]
    assert named(changes, 0.05).named.all()
    assert not named(changes, 0.05, ["a", "b", "c", "d"] * 6).named.any()
    each = [str(at // 2) for at in range(24)]
    assert named(changes, 0.05, each).named.all()


def test_heads_that_do_nothing_are_named_in_at_most_five_of_a_hundred_sets():
    chance = torch.Generator().manual_seed(3)
    sets = 0
    for seed in range(100):
        noise = torch.randn(24, 40, generator=chance) ** 3 * 0.3  # a few prompts move far
        sets += bool(named(noise, 0.05, seed=seed, flips=2000).named.any())
    assert sets <= 5

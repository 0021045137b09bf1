"""`attention.compare`: a base and what was tuned of it, head by head."""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

import attention
from attention.changing.transplants import Pair, Side, map_changes, transplants, weight_changes
from attention.comparing import Numbers, carriers
from tests.capture.families import TEXT, writer
from tests.changing.pairs import known, tuned

__all__ = ["known"]
TEXTS = ["the cat sat on the mat", "a mat on the cat", "the other cat looked"]


def test_a_comparison_has_the_means_over_texts_with_their_intervals(known):
    base, other = known
    told: list[tuple[int, int]] = []
    found = attention.compare(
        *known, TEXTS, [5, 7, 5], elsewhere=TEXTS[:2], progress=lambda *done: told.append(done)
    )
    each = [transplants(*known, text, word) for text, word in zip(TEXTS, (5, 7, 5), strict=True)]
    for name in ("put_back", "put_in"):
        points = 100 * np.array([getattr(one, name).flatten().double() for one in each])
        mean = points.mean(0)
        low, high = stats.t.interval(0.95, 2, mean, stats.sem(points))
        for column, expected in ((name, mean), (f"{name}_low", low), (f"{name}_high", high)):
            np.testing.assert_allclose(found.heads[column], expected, atol=1e-6)
    maps = [map_changes(base.run(text), other.run(text)).flatten() for text in TEXTS]
    np.testing.assert_allclose(found.heads["map_change"], torch.stack(maps).mean(0))
    np.testing.assert_allclose(found.heads["qk_change"], weight_changes(*known).qk.flatten())
    assert found.heads["loss_elsewhere"].abs().min() > 0
    answers = found.answers
    assert answers[["text", "answer"]].to_numpy().T.tolist() == [TEXTS, [5, 7, 5]]
    np.testing.assert_allclose(answers["tuned"], [100 * float(one.tuned) for one in each])
    left = (answers["all_put_back"] - answers["base"]).mean()
    assert found.outside_heads == pytest.approx(left / (answers["tuned"] - answers["base"]).mean())
    assert told == [(step, 6) for step in range(1, 7)]


def test_other_tunings_stand_beside_with_ranks_and_their_agreement():
    base, other = writer("Llama"), tuned(writer("Llama"))
    ids = [{"input_ids": TEXT[:1, at:]} for at in range(2)]
    found = attention.compare(base, other, ids, 11, others=[other, base], draws=3)
    assert found.others["spearman"].iloc[0] == pytest.approx(1.0)
    assert found.others["change"].tolist()[1] == pytest.approx(0.0, abs=1e-4)
    np.testing.assert_allclose(found.heads["put_back"], found.heads["put_back_1"])
    ranks = found.heads["put_back"].abs().rank(ascending=False)
    for row in found.team.itertuples():
        assert row.rank_1 == ranks[(row.layer, row.head)]
    lone = attention.compare(base, other, ids[0], 11, most=0)
    assert lone.heads["put_back_low"].isna().all()
    assert lone.team.empty


class Additive:
    """An experiment whose answer falls by so much with each head that is put back."""

    counts: ClassVar = {0: 3, 1: 3}
    before = torch.tensor(10.0)
    worth = torch.tensor([[0.0, 3.0, 0.5], [2.0, 0.0, 1.0]])

    def __init__(self, off: Any = ()) -> None:
        self.off = off

    def after(self, several: Any, progress: Any = None) -> Tensor:
        teams = [{(one.layer, one.heads[0]) for one in (*self.off, *some)} for some in several]
        return torch.stack([10 - sum(self.worth[head] for head in team) for team in teams])

    def beside(self, some: Any) -> Additive:
        return Additive([*self.off, *some])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_team_is_the_fewest_heads_that_undo_half_of_the_change(sign, monkeypatch):
    monkeypatch.setattr(Additive, "worth", sign * Additive.worth)
    side = Side(Additive(), None, "zero")
    one = torch.ones(1)
    worth = -Additive.worth[None]
    numbers = Numbers((10 - 8.0 * sign) * one, 10 * one, worth, worth, one)
    team = carriers(lambda at: Pair(side, side), numbers, 16, 4, 0)
    assert [member.head for member in team] == [(0, 1), (1, 0)]
    assert [member.answer for member in team] == [10 - 3 * sign, 10 - 5 * sign]
    assert sorted((10 - team[0].same_layers).tolist()) == sorted([0.0, 0.5 * sign])
    assert [len(drawn) for drawn in team[1][2:]] == [4, 4]


def test_what_does_not_fit_is_refused_in_a_sentence(known):
    llama = writer("Llama")
    refused: list[tuple[Any, Any, Any, str]] = [
        (known, [], 5, "at least one text, got none"),
        (known, TEXTS, [5], "answer must be one for each of 3 texts, got 1"),
        (known, TEXTS, " cat sat", "a word must be one piece"),
        (known, TEXTS, [5, (5, 7), 5], "answers must be words alone or none"),
        ((llama, llama), TEXTS, 5, "a text needs its tokenizer"),
    ]
    for models, texts, answer, words in refused:
        with pytest.raises(ValueError, match=re.escape(words)):
            attention.compare(*models, texts, answer)


def test_an_exception_of_progress_stops_between_texts(known):
    told: dict[int, int] = {}
    with pytest.raises(KeyError):
        attention.compare(*known, TEXTS, 5, progress=lambda *done: told.update([done]) or told[0])
    assert told == {1: 4}


def test_no_share_lies_outside_of_heads_where_the_changes_of_texts_cancel_out():
    base, left = torch.zeros(2), torch.tensor([0.25, 0.25])
    for after, share in (((0.5, -0.48), math.nan), ((0.5, 0.5), 0.5)):
        numbers = Numbers(base, torch.tensor(after), base, base, left)
        assert numbers.outside_heads == pytest.approx(share, nan_ok=True)

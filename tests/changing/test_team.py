"""Teams of heads of any model: as by trying each step by hand, with what they cost elsewhere."""

from __future__ import annotations

import pytest
import torch

import attention
from attention.analysis.team import other_teams
from tests.capture.families import TEXT, writer


@pytest.fixture
def model():
    return writer("Llama")


def probability(model, off, ids, answer):
    with torch.no_grad(), attention.change(model, off=off):
        return float(model(input_ids=ids).logits[0, -1].softmax(-1)[answer])


def test_a_team_is_found_step_by_step_and_doubted(model):
    ids, texts = TEXT[:1], [{"input_ids": TEXT[:1, at : at + 5]} for at in range(3)]
    with torch.no_grad():
        answer = int(model(input_ids=ids).logits[0, -1].argmax())
    found = attention.team(model, {"input_ids": ids}, answer, most=2, elsewhere=texts)
    every = [(layer, head) for layer in range(2) for head in range(6)]
    off: list[tuple[int, int]] = []
    for head, after in zip(found.heads, found.after, strict=True):
        tried = {
            each: probability(model, [*off, each], ids, answer) for each in every if each not in off
        }
        assert head == min(tried, key=lambda each: tried[each])
        assert float(after) == pytest.approx(tried[head], abs=1e-6)
        off.append(head)
    assert found.before == pytest.approx(probability(model, [], ids, answer), abs=1e-6)
    assert found.chance.shape == (len(other_teams(found.heads, 6)),)
    losses = []
    for text in texts:
        for some in ([], found.heads):
            with torch.no_grad(), attention.change(model, off=some):
                loss = model(**text, labels=text["input_ids"]).loss
            losses.append(float(loss))
    costs = torch.tensor(losses[1::2]) - torch.tensor(losses[::2])
    assert found.elsewhere == pytest.approx(float(costs.mean()), abs=1e-5)
    assert found.error == pytest.approx(float(costs.std() / 3**0.5), abs=1e-5)


def test_teams_of_chance_are_of_the_same_layers_and_the_seed_draws_them(model):
    inputs = {"input_ids": TEXT[:1]}
    runs = [attention.team(model, inputs, 7, most=1, seed=seed, draws=5) for seed in (3, 3, 4)]
    assert torch.equal(runs[0].chance, runs[1].chance)
    assert runs[0].elsewhere is None
    (head,) = runs[0].heads
    others = [
        probability(model, [(head[0], each)], TEXT[:1], 7) for each in range(6) if each != head[1]
    ]
    for cost in runs[2].chance.tolist():
        assert min(abs(cost - other) for other in others) < 1e-6


def test_one_text_elsewhere_has_no_error_and_is_refused(model):
    with pytest.raises(ValueError, match=r"two inputs or more.*got 1"):
        attention.team(model, {"input_ids": TEXT[:1]}, 7, elsewhere=[{"input_ids": TEXT[:1]}])
